//! `join!` and `try_join!`.

/// Waits for several futures in one task, and gives a tuple of their outputs.
///
/// The futures are polled in an order that starts one further each time; in their own order after
/// `biased;`.
///
/// # Examples
/// ```
/// let sim = detsim_executor::Sim::new(7);
/// let both = sim.block_on(async { detsim_shim_tokio::join!(async { 1 }, async { "one" }) });
/// assert_eq!(both.unwrap(), (1, "one"));
/// ```
#[macro_export]
macro_rules! join {
    (@ { $order:ident $pins:tt $( ($branch:ident $future:expr) )+ }) => {{
        let branches = $crate::macros::support::Nil;
        $( let branches = $crate::macros::support::List::and(
            branches,
            $crate::macros::support::maybe_done($future),
        ); )+
        let mut branches = $crate::macros::support::pin!(branches);
        let mut order = $crate::macros::support::$order();
        $crate::macros::support::poll_fn(move |cx| {
            let mut rotation =
                $crate::macros::support::Order::rotation(&mut order, branches.as_mut());
            let $pins = $crate::macros::support::List::split(branches.as_mut());
            'all: loop {
                $( match rotation.visit() {
                    $crate::macros::support::Visit::Pass => {}
                    $crate::macros::support::Visit::End => break 'all,
                    $crate::macros::support::Visit::Poll => {
                        if $branch.as_mut().poll(cx).is_pending()
                            && rotation.pends($branch.as_mut())
                        {
                            return $crate::macros::support::Poll::Pending;
                        }
                    }
                } )+
            }
            match rotation.is_pending() {
                true => $crate::macros::support::Poll::Pending,
                false => $crate::macros::support::Poll::Ready((
                    $( $branch.as_mut().take().expect("expected completed future"), )+
                )),
            }
        })
        .await
    }};
    (@ { $order:ident $pins:tt $($done:tt)* } $future:expr, $($rest:tt)*) => {
        $crate::join!(@ { $order ($pins, mut branch) $($done)* (branch $future) } $($rest)*)
    };
    ($(biased;)?) => { async {}.await };
    (biased; $($future:expr),+ $(,)?) => { $crate::join!(@ { biased () } $($future,)+) };
    ($($future:expr),+ $(,)?) => { $crate::join!(@ { fair () } $($future,)+) };
}

/// Waits for several futures of results in one task: a tuple of their values, or the first error.
///
/// # Examples
/// ```
/// use detsim_shim_tokio::try_join;
/// let sim = detsim_executor::Sim::new(7);
/// let out: Result<(u8, u8), &str> =
///     sim.block_on(async { try_join!(async { Ok(1) }, async { Err("no") }) }).unwrap();
/// assert_eq!(out, Err("no"));
/// ```
#[macro_export]
macro_rules! try_join {
    (@ { $order:ident $pins:tt $( ($branch:ident $future:expr) )+ }) => {{
        let branches = $crate::macros::support::Nil;
        $( let branches = $crate::macros::support::List::and(
            branches,
            $crate::macros::support::maybe_done($future),
        ); )+
        let mut branches = $crate::macros::support::pin!(branches);
        let mut order = $crate::macros::support::$order();
        $crate::macros::support::poll_fn(move |cx| {
            let mut rotation =
                $crate::macros::support::Order::rotation(&mut order, branches.as_mut());
            let $pins = $crate::macros::support::List::split(branches.as_mut());
            'all: loop {
                $( match rotation.visit() {
                    $crate::macros::support::Visit::Pass => {}
                    $crate::macros::support::Visit::End => break 'all,
                    $crate::macros::support::Visit::Poll => {
                        if $branch.as_mut().poll(cx).is_pending() {
                            if rotation.pends($branch.as_mut()) {
                                return $crate::macros::support::Poll::Pending;
                            }
                        } else if $branch
                            .as_mut()
                            .output()
                            .expect("expected completed future")
                            .is_err()
                        {
                            let failed = $branch.as_mut().take();
                            return $crate::macros::support::Poll::Ready(::core::result::Result::Err(
                                failed.and_then(::core::result::Result::err).expect("an error"),
                            ));
                        }
                    }
                } )+
            }
            match rotation.is_pending() {
                true => $crate::macros::support::Poll::Pending,
                false => $crate::macros::support::Poll::Ready(::core::result::Result::Ok((
                    $( $branch
                        .as_mut()
                        .take()
                        .and_then(::core::result::Result::ok)
                        .expect("expected completed future"), )+
                ))),
            }
        })
        .await
    }};
    (@ { $order:ident $pins:tt $($done:tt)* } $future:expr, $($rest:tt)*) => {
        $crate::try_join!(@ { $order ($pins, mut branch) $($done)* (branch $future) } $($rest)*)
    };
    ($(biased;)?) => { async { ::core::result::Result::Ok(()) }.await };
    (biased; $($future:expr),+ $(,)?) => { $crate::try_join!(@ { biased () } $($future,)+) };
    ($($future:expr),+ $(,)?) => { $crate::try_join!(@ { fair () } $($future,)+) };
}
