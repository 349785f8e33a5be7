//! `select!`.
//!
//! The macro goes over its branches one by one (`@branch`), giving each the number and the name of the
//! next entry of a table, and then expands at once (`@poll`). The outputs travel from the poll to the
//! handlers in an enum, so that the futures are gone, and what they borrowed is free, when a handler
//! runs.

/// Waits for the first of several branches, drops the others, and runs its handler.
///
/// A branch is `pattern = future, if precondition => handler`. Where the output does not match the
/// pattern, or the precondition is false, the branch is disabled; where all are, `else => ..` runs.
/// The branch that is polled first is a choice of the run, unless `biased;` stands in front.
///
/// # Panics
/// Where all branches are disabled and there is no `else`.
///
/// # Examples
/// ```
/// use detsim_shim_tokio::{select, time::{Duration, sleep}};
/// let sim = detsim_executor::Sim::new(7);
/// let first = sim.block_on(async {
///     select! {
///         () = sleep(Duration::from_secs(9)) => "long",
///         () = sleep(Duration::from_secs(1)) => "short",
///     }
/// });
/// assert_eq!(first.unwrap(), "short");
/// ```
#[macro_export]
macro_rules! select {
    (@poll { $order:ident [ $pins:tt $($table:tt)* ]
        $( ($number:tt $name:ident $future:ident) $pattern:pat = $init:expr, if $condition:expr => $handler:expr, )+
    } $else:expr) => {{
        #[allow(clippy::all, dead_code)]
        enum __DetsimSelected<$($name),+> {
            $( $name($name), )+
            Disabled,
        }
        // Moved from hand to hand: what was borrowed once would stay in the future for good.
        let branches = $crate::macros::support::Branches::<
            $crate::macros::support::MaskOf<{ [$($number),+].len() > 32 }>,
        >::default();
        $( let branches = if $condition { branches } else { branches.without($number) }; )+
        let mut branches = branches;
        #[allow(unused_mut)] // a pattern may borrow from it mutably
        let mut selected = {
            // Bound as they stand first, so that what they borrow from lives as long.
            $( let $future = $init; )+
            let futures = $crate::macros::support::Nil;
            $( let futures = $crate::macros::support::List::and(
                futures,
                $crate::macros::support::IntoFuture::into_future($future),
            ); )+
            let mut futures = $crate::macros::support::pin!(futures);
            $crate::macros::support::poll_fn(move |cx| {
                let mut turn = $crate::macros::support::ready!(branches.begin(
                    [$($number),+].len() as u32,
                    $crate::macros::support::$order(),
                    cx,
                ));
                let $pins = $crate::macros::support::List::split(futures.as_mut());
                while let ::core::option::Option::Some(branch) = branches.advance(&mut turn) {
                    match branch {
                        $( #[allow(unreachable_code)] $number => {
                            let poll = $crate::macros::support::Future::poll($future.as_mut(), cx);
                            // `continue` makes an output that nothing else says the type of a `()`.
                            let output = match poll {
                                $crate::macros::support::Poll::Ready(output) => output,
                                $crate::macros::support::Poll::Pending => {
                                    if branches.pends(branch) {
                                        return $crate::macros::support::Poll::Pending;
                                    }
                                    continue;
                                }
                            };
                            branches.disable(branch);
                            #[allow(unused_variables, unused_mut)]
                            let matches = match &output {
                                $crate::select_priv_clean_pattern!($pattern) => true,
                                _ => false,
                            };
                            if matches {
                                return $crate::macros::support::Poll::Ready(
                                    __DetsimSelected::$name(output),
                                );
                            }
                        } )+
                        _ => ::core::unreachable!("a branch beyond the last"),
                    }
                }
                match branches.is_pending(&turn) {
                    true => $crate::macros::support::Poll::Pending,
                    false => $crate::macros::support::Poll::Ready(__DetsimSelected::Disabled),
                }
            })
            .await
        };
        match selected {
            $( __DetsimSelected::$name($pattern) => $handler, )+
            __DetsimSelected::Disabled => $else,
            _ => ::core::unreachable!("an output that did match its pattern"),
        }
    }};
    (@branch { $($done:tt)* }) => {
        $crate::select!(@poll { $($done)* }
            ::core::panic!("all branches are disabled and there is no else branch"))
    };
    (@branch { $($done:tt)* } else => $else:expr $(,)?) => {
        $crate::select!(@poll { $($done)* } $else)
    };
    (@branch { $order:ident [ $pins:tt ($number:tt $name:ident) $($table:tt)* ] $($done:tt)* }
        $pattern:pat = $init:expr, if $condition:expr => $handler:block, $($rest:tt)*) => {
        $crate::select!(@branch { $order [ ($pins, mut future) $($table)* ] $($done)*
            ($number $name future) $pattern = $init, if $condition => $handler, } $($rest)*)
    };
    (@branch { $order:ident [ $pins:tt ($number:tt $name:ident) $($table:tt)* ] $($done:tt)* }
        $pattern:pat = $init:expr => $handler:block, $($rest:tt)*) => {
        $crate::select!(@branch { $order [ ($pins, mut future) $($table)* ] $($done)*
            ($number $name future) $pattern = $init, if true => $handler, } $($rest)*)
    };
    (@branch { $order:ident [ $pins:tt ($number:tt $name:ident) $($table:tt)* ] $($done:tt)* }
        $pattern:pat = $init:expr, if $condition:expr => $handler:block $($rest:tt)*) => {
        $crate::select!(@branch { $order [ ($pins, mut future) $($table)* ] $($done)*
            ($number $name future) $pattern = $init, if $condition => $handler, } $($rest)*)
    };
    (@branch { $order:ident [ $pins:tt ($number:tt $name:ident) $($table:tt)* ] $($done:tt)* }
        $pattern:pat = $init:expr => $handler:block $($rest:tt)*) => {
        $crate::select!(@branch { $order [ ($pins, mut future) $($table)* ] $($done)*
            ($number $name future) $pattern = $init, if true => $handler, } $($rest)*)
    };
    (@branch { $order:ident [ $pins:tt ($number:tt $name:ident) $($table:tt)* ] $($done:tt)* }
        $pattern:pat = $init:expr, if $condition:expr => $handler:expr) => {
        $crate::select!(@branch { $order [ ($pins, mut future) $($table)* ] $($done)*
            ($number $name future) $pattern = $init, if $condition => $handler, })
    };
    (@branch { $order:ident [ $pins:tt ($number:tt $name:ident) $($table:tt)* ] $($done:tt)* }
        $pattern:pat = $init:expr => $handler:expr) => {
        $crate::select!(@branch { $order [ ($pins, mut future) $($table)* ] $($done)*
            ($number $name future) $pattern = $init, if true => $handler, })
    };
    (@branch { $order:ident [ $pins:tt ($number:tt $name:ident) $($table:tt)* ] $($done:tt)* }
        $pattern:pat = $init:expr, if $condition:expr => $handler:expr, $($rest:tt)*) => {
        $crate::select!(@branch { $order [ ($pins, mut future) $($table)* ] $($done)*
            ($number $name future) $pattern = $init, if $condition => $handler, } $($rest)*)
    };
    (@branch { $order:ident [ $pins:tt ($number:tt $name:ident) $($table:tt)* ] $($done:tt)* }
        $pattern:pat = $init:expr => $handler:expr, $($rest:tt)*) => {
        $crate::select!(@branch { $order [ ($pins, mut future) $($table)* ] $($done)*
            ($number $name future) $pattern = $init, if true => $handler, } $($rest)*)
    };
    (@branch { $order:ident [ $pins:tt ] $($done:tt)* } $($rest:tt)+) => {
        ::core::compile_error!("select! takes at most 64 branches")
    };
    ($(biased;)? else => $else:expr $(,)?) => {{ $else }};
    (biased; $pattern:pat = $($rest:tt)*) => {
        $crate::select!(@table is_biased; $pattern = $($rest)*)
    };
    (@table $order:ident; $($rest:tt)*) => {
        $crate::select!(@branch { $order [ ()
        (0 B0) (1 B1) (2 B2) (3 B3) (4 B4) (5 B5) (6 B6) (7 B7) (8 B8) (9 B9) (10 B10) (11 B11)
        (12 B12) (13 B13) (14 B14) (15 B15) (16 B16) (17 B17) (18 B18) (19 B19) (20 B20)
        (21 B21) (22 B22) (23 B23) (24 B24) (25 B25) (26 B26) (27 B27) (28 B28) (29 B29)
        (30 B30) (31 B31) (32 B32) (33 B33) (34 B34) (35 B35) (36 B36) (37 B37) (38 B38)
        (39 B39) (40 B40) (41 B41) (42 B42) (43 B43) (44 B44) (45 B45) (46 B46) (47 B47)
        (48 B48) (49 B49) (50 B50) (51 B51) (52 B52) (53 B53) (54 B54) (55 B55) (56 B56)
        (57 B57) (58 B58) (59 B59) (60 B60) (61 B61) (62 B62) (63 B63)
        ] } $($rest)*)
    };
    ($pattern:pat = $($rest:tt)*) => {
        $crate::select!(@table is_fair; $pattern = $($rest)*)
    };
    () => {
        ::core::compile_error!("select! requires at least one branch.")
    };
}
