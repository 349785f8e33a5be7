//! `select!`, `join!` and `try_join!`.

use crate::{in_order, sweep};
use detsim_executor::Sim;
use detsim_shim_tokio as tokio;
use std::collections::BTreeSet;
use std::future::{pending, ready};
use std::task::Poll;
use tokio::sync::{mpsc, oneshot};
use tokio::task::yield_now;
use tokio::time::{Duration, sleep};
use tokio::{join, select, try_join};

#[test]
fn the_branch_that_is_first_is_a_choice() {
    let first = |seed| {
        let program = async {
            select! { n = ready(0) => n, n = ready(1) => n, n = ready(2) => n }
        };
        Sim::new(seed).block_on(program).unwrap()
    };
    assert_eq!((0..50).map(first).collect::<BTreeSet<i32>>(), BTreeSet::from([0, 1, 2]));
    let again = |seed| (first(seed), first(seed));
    assert!((0..50).map(again).all(|(one, two)| one == two));
}

#[test]
fn biased_means_in_order() {
    sweep(50, || async {
        let taken = select! { biased; n = ready(1) => n, n = ready(2) => n };
        assert_eq!(taken, 1);
    });
}

#[test]
fn every_form_of_branch_is_understood() {
    in_order(async {
        let (sender, mut receiver) = mpsc::channel(4);
        sender.send(Some(1)).await.unwrap();
        let mut seen = Vec::new();
        let mut open = true;
        while open {
            select! {
                Some(Some(n)) = receiver.recv() => { seen.push(n); let _sent = sender.try_send(None); }
                Some(ref mut n @ (None | Some(2))) = async { None::<Option<i32>> }, if !seen.is_empty() => {
                    *n = None;
                },
                _ = pending::<()>(), if false => unreachable!(),
                else => open = false,
            }
        }
        assert_eq!(seen, [1]);
        let only_else = select! { else => 7 };
        assert_eq!(only_else, 7);
        let last = select! { mut n = ready(1) => { n += 1; n } };
        assert_eq!(last, 2);
    });
}

#[test]
fn a_branch_borrows_from_what_it_makes() {
    in_order(async {
        select! { n = &mut ready(3), if true => assert_eq!(n, 3) }
    });
}

#[test]
fn the_output_of_a_branch_that_is_never_polled_needs_no_type() {
    in_order(async {
        let never = std::future::poll_fn(|_| panic!("polled"));
        select! {
            _ = never, if false => unreachable!(),
            _ = ready(()) => (),
        }
    });
}

#[test]
fn a_branch_that_never_waits_does_not_starve_the_others() {
    sweep(30, || async {
        let (sender, mut receiver) = mpsc::channel(1);
        let busy = async {
            loop {
                sender.send(1).await.unwrap();
                receiver.recv().await.unwrap();
            }
        };
        select! { biased; () = busy => {}, () = yield_now() => {} }
    });
}

#[test]
fn a_task_without_budget_does_not_go_on_in_another_branch() {
    in_order(async {
        while tokio::task::coop::has_budget_remaining() {
            tokio::task::coop::consume_budget().await;
        }
        let mut select = Box::pin(async {
            select! { biased; () = tokio::task::coop::consume_budget() => 1, () = ready(()) => 2 }
        });
        let first = std::future::poll_fn(|cx| Poll::Ready(select.as_mut().poll(cx))).await;
        assert_eq!((first, select.await), (Poll::Pending, 1));
    });
}

#[test]
#[should_panic = "all branches are disabled and there is no else branch"]
fn nothing_left_to_wait_for_is_a_panic() {
    in_order(async {
        select! { Some(()) = ready(None) => {} }
    });
}

#[test]
fn the_others_are_dropped_before_the_handler_runs() {
    in_order(async {
        let mut text = String::from("a");
        let (sender, receiver) = oneshot::channel::<()>();
        select! {
            _ = async { text.push('b'); pending::<()>().await; drop(sender) } => {}
            _ = sleep(Duration::from_millis(1)) => { text.push('c'); }
        }
        assert_eq!(text, "abc");
        assert!(receiver.await.is_err());
    });
}

#[test]
fn handlers_await_return_and_break() {
    async fn early(number: u8) -> Result<u8, &'static str> {
        for _ in 0..3 {
            select! {
                n = ready(number), if number == 0 => { yield_now().await; break_even(n)?; }
                n = ready(number), if number == 1 => return Ok(n + 10),
                _ = ready(()), if number == 2 => break,
                _ = ready(()), if number > 2 => continue,
            }
        }
        Ok(number)
    }
    fn break_even(_: u8) -> Result<(), &'static str> {
        Err("even")
    }
    let got = in_order(async { [early(0).await, early(1).await, early(2).await, early(3).await] });
    assert_eq!(got, [Err("even"), Ok(11), Ok(2), Ok(3)]);
}

#[test]
fn there_may_be_sixty_four_branches() {
    macro_rules! many {
        ($($n:literal)*) => { select! { $( n = ready($n) => n, )* } };
    }
    sweep(20, || async {
        let taken: u8 = many!(
            0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32
            33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61
            62 63
        );
        assert!(taken < 64);
    });
}

#[test]
fn no_half_read_frame_is_lost_by_a_stop() {
    // A branch that is stopped goes on where it was: its future is not dropped.
    sweep(200, || async {
        let (sender, mut receiver) = mpsc::channel(1);
        drop(tokio::spawn(async move {
            for n in 0..10 {
                sender.send(n).await.unwrap();
            }
        }));
        let mut got = Vec::new();
        loop {
            select! {
                n = receiver.recv() => match n {
                    Some(n) => got.push(n),
                    None => break,
                },
                _ = sleep(Duration::from_secs(1)) => unreachable!("messages come at once"),
            }
        }
        assert_eq!(got, (0..10).collect::<Vec<_>>());
    });
}

#[test]
fn join_waits_for_all() {
    sweep(50, || async {
        let (sender, receiver) = oneshot::channel();
        let (got, (), text) = join!(
            receiver,
            async {
                yield_now().await;
                sender.send(1).unwrap();
            },
            ready("text"),
        );
        assert_eq!((got, text), (Ok(1), "text"));
        assert_eq!((join!(biased; ready(1)), join!()), ((1,), ()));
    });
}

#[test]
fn try_join_ends_with_the_first_error() {
    in_order(async {
        let (sender, mut receiver) = oneshot::channel::<u8>();
        let failed: Result<(u8, ()), &str> = try_join!(
            async {
                pending::<()>().await;
                drop(sender);
                Ok(1)
            },
            async { Err("no") },
        );
        assert_eq!(failed, Err("no"));
        assert!(receiver.try_recv().is_err_and(|error| error.to_string() == "channel closed"));
        let fine: Result<_, &str> = try_join!(async { Ok(1) }, async { Ok("b") });
        assert_eq!(fine, Ok((1, "b")));
    });
}

#[test]
fn pin_is_tokios() {
    in_order(async {
        let future = async { 3 };
        tokio::pin!(future);
        assert_eq!((&mut future).await, 3);
    });
}
