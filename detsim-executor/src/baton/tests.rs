//! Polls that are put aside, and closures that block.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::panic::Location;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::thread;
use std::time::Duration;

use super::host::suspend_ready;
use super::{block_in_place, block_on, blocking};
use crate::{Sim, SimTime, context, sleep_until, yield_now};

/// Stops the current task in the middle of its poll, for as long as the scheduler likes.
#[track_caller]
fn hold() {
    suspend_ready(Location::caller());
}

type Log = Rc<RefCell<Vec<String>>>;

fn log(log: &Log, text: impl Into<String>) {
    log.borrow_mut().push(text.into());
}

#[test]
fn a_task_that_is_held_lets_the_others_run() {
    let mut orders = std::collections::BTreeSet::new();
    for seed in 0..50 {
        let run = || {
            let sim = Sim::new(seed);
            let seen = Log::default();
            for name in ["a", "b"] {
                let seen = Rc::clone(&seen);
                drop(sim.spawn(name, async move {
                    let before = thread::current().id();
                    for n in 0..3 {
                        log(&seen, format!("{name}{n}"));
                        hold();
                    }
                    assert_eq!(thread::current().id(), before);
                }));
            }
            let report = sim.run().unwrap();
            let seen = seen.borrow().join(" ");
            (seen, report)
        };
        let (first, second) = (run(), run());
        assert_eq!(first, second);
        orders.insert(first.0);
    }
    assert!(orders.len() > 15, "{orders:?}");
}

#[test]
fn a_wake_during_a_hold_reaches_what_was_polled_before_it() {
    for seed in 0..50 {
        let sim = Sim::new(seed);
        let ended = sim.block_on(async {
            let (flag, waker) = (Rc::new(Cell::new(false)), Rc::new(RefCell::new(None)));
            let (set, waiter) = (Rc::clone(&flag), Rc::clone(&waker));
            drop(context::spawn("other", async move {
                set.set(true);
                waiter.take().into_iter().for_each(Waker::wake);
            }));
            let mut held = false;
            poll_fn(move |cx| {
                if flag.get() {
                    return Poll::Ready(());
                }
                waker.replace(Some(cx.waker().clone()));
                if !std::mem::replace(&mut held, true) {
                    hold();
                }
                Poll::Pending
            })
            .await;
        });
        assert_eq!(ended, Ok(()), "seed {seed}");
    }
}

#[test]
fn a_drive_returns_on_the_thread_it_began_on() {
    for seed in 0..50 {
        let home = thread::current().id();
        let sim = Sim::new(seed);
        let ended = Rc::new(Cell::new(false));
        let other = Rc::clone(&ended);
        drop(sim.spawn("holds", async move {
            (0..3).for_each(|_| hold());
            yield_now().await;
            other.set(true);
        }));
        sim.block_on(async {
            hold();
            yield_now().await;
        })
        .unwrap();
        assert_eq!(thread::current().id(), home);
        sim.run().unwrap();
        assert!(ended.get());
    }
}

#[test]
fn a_closure_runs_on_a_thread_of_its_own_and_may_block() {
    let sim = Sim::new(1);
    let handle = sim.spawn(
        "closure",
        blocking(|| {
            let me = thread::current().id();
            block_on(sleep_until(SimTime::from_secs(5)));
            assert_eq!(thread::current().id(), me);
            me
        }),
    );
    let out = sim.block_on(async {
        sleep_until(SimTime::from_secs(1)).await;
        assert_eq!(context::now().as_nanos() / 1_000_000_000, 1);
        handle.await.unwrap()
    });
    assert_ne!(out.unwrap(), thread::current().id());
    assert!(sim.now() >= SimTime::from_secs(5));
}

#[test]
fn a_panic_of_a_closure_reaches_whoever_joins() {
    let sim = Sim::new(1);
    let handle = sim.spawn("closure", blocking(|| panic!("in the closure")));
    let error = sim.block_on(handle).unwrap().unwrap_err();
    assert!(error.is_panic() && error.to_string().contains("in the closure"), "{error}");
}

#[test]
fn a_closure_is_aborted_until_it_has_begun() {
    let sim = Sim::new(1);
    let begun = sim.spawn("begun", blocking(|| block_on(yield_now())));
    sim.run().unwrap();
    let fresh = sim.spawn("fresh", blocking(|| ()));
    fresh.abort();
    assert!(sim.block_on(fresh).unwrap().unwrap_err().is_cancelled());
    assert!(sim.block_on(begun).unwrap().is_ok());
    let sleeps = sim.spawn("sleeps", blocking(|| block_on(sleep_until(SimTime::from_secs(9)))));
    let out = sim.block_on(async move {
        sleep_until(SimTime::from_secs(1)).await;
        sleeps.abort();
        sleeps.await
    });
    assert!(out.unwrap().is_ok());
}

struct Tells(Arc<Mutex<Vec<&'static str>>>, &'static str);

impl Drop for Tells {
    fn drop(&mut self) {
        self.0.lock().unwrap().push(self.1);
    }
}

#[test]
fn a_run_that_ends_unwinds_who_waits() {
    let dropped = Arc::new(Mutex::new(Vec::new()));
    let sim = Sim::new(1);
    let tells = |what| Tells(Arc::clone(&dropped), what);
    let (closure, task) = (tells("closure"), tells("task"));
    drop(sim.spawn(
        "closure",
        blocking(move || {
            let _tells = closure;
            block_on(std::future::pending::<()>());
        }),
    ));
    drop(sim.spawn("task", async move {
        let _tells = task;
        block_in_place(|| block_on(std::future::pending::<()>()));
    }));
    let failure = sim.block_on(sleep_until(SimTime::from_secs(1)));
    assert_eq!(failure, Ok(()));
    drop(sim);
    dropped.lock().unwrap().sort_unstable();
    assert_eq!(*dropped.lock().unwrap(), ["closure", "task"]);
}

#[test]
fn a_closure_that_does_not_end_is_named() {
    let sim = Sim::new(1);
    drop(sim.spawn(
        "stubborn",
        blocking(|| {
            loop {
                let wait = || block_on(std::future::pending::<()>());
                drop(std::panic::catch_unwind(wait));
            }
        }),
    ));
    sim.block_on(sleep_until(SimTime::from_secs(1))).unwrap();
    let failure = sim.finish().unwrap_err().to_string();
    assert!(failure.contains("task 0 \"stubborn\" does not end"), "{failure}");
}

#[test]
fn a_blocked_thread_is_part_of_a_deadlock() {
    let sim = Sim::new(1);
    drop(sim.spawn("closure", blocking(|| block_on(std::future::pending::<()>()))));
    let failure = sim.run().unwrap_err();
    assert_eq!(failure.verdict(), "deadlock");
    let text = failure.to_string();
    assert!(text.contains("task 0 \"closure\""), "{text}");
    assert!(text.contains("baton/tests.rs"), "{text}");
}

#[test]
fn a_run_that_is_to_stop_says_who_blocks_it() {
    let sim = Sim::new(1);
    drop(sim.spawn("blocks", async {
        block_in_place(|| block_on(sleep_until(SimTime::from_secs(9))));
    }));
    let failure = sim.run_until(SimTime::from_secs(1)).unwrap_err().to_string();
    assert!(failure.contains("task 0 \"blocks\" blocks the thread"), "{failure}");
}

#[test]
fn time_moves_while_a_task_blocks() {
    let sim = Sim::new(1);
    let called = Rc::new(Cell::new(false));
    let flag = Rc::clone(&called);
    sim.after(Duration::from_secs(1), move || flag.set(true));
    drop(sim.spawn("blocks", async {
        block_in_place(|| block_on(sleep_until(SimTime::from_secs(9))));
    }));
    sim.run().unwrap();
    assert!(called.get() && sim.now() >= SimTime::from_secs(9));
}

#[test]
fn a_panic_in_a_held_task_is_its_own() {
    let sim = Sim::new(1);
    let handle = sim.spawn("panics", async {
        hold();
        panic!("after the hold");
    });
    let error = sim.block_on(handle).unwrap().unwrap_err();
    assert!(error.to_string().contains("after the hold"));
}

#[test]
fn an_abort_of_a_held_task_waits_for_the_end_of_its_poll() {
    for seed in 0..20 {
        let sim = Sim::new(seed);
        let reached = Rc::new(Cell::new(0));
        let count = Rc::clone(&reached);
        let held = sim.spawn("held", async move {
            count.set(1);
            hold();
            count.set(2);
            std::future::pending::<()>().await;
        });
        let abort = held.abort_handle();
        drop(sim.spawn("aborts", async move {
            yield_now().await;
            abort.abort();
        }));
        let error = sim.block_on(held).unwrap().unwrap_err();
        assert!(error.is_cancelled());
        assert_ne!(reached.get(), 1);
    }
}

#[test]
fn closures_wait_for_a_place_in_the_pool() {
    let sim = Sim::new(1);
    sim.with(|kernel| kernel.set_blocking_max(2));
    let at_once = Arc::new(Mutex::new((0, 0)));
    let closures: Vec<_> = (0..5)
        .map(|_| {
            let at_once = Arc::clone(&at_once);
            sim.spawn(
                "closure",
                blocking(move || {
                    let change = |by: i32| {
                        let mut at_once = at_once.lock().unwrap();
                        at_once.0 += by;
                        at_once.1 = at_once.1.max(at_once.0);
                    };
                    change(1);
                    block_on(yield_now());
                    change(-1);
                }),
            )
        })
        .collect();
    closures[4].abort();
    sim.run().unwrap();
    let ended = closures.into_iter().map(|handle| sim.block_on(handle).unwrap().is_ok());
    assert_eq!(ended.collect::<Vec<_>>(), [true, true, true, true, false]);
    assert_eq!(*at_once.lock().unwrap(), (0, 2));
}

#[test]
fn closures_find_no_thread_locals_of_another_run() {
    struct Counts(Cell<u32>);
    impl Drop for Counts {
        fn drop(&mut self) {
            DROPPED.fetch_add(1, Relaxed);
        }
    }
    static DROPPED: AtomicU32 = AtomicU32::new(0);
    thread_local! {
        static COUNTS: Counts = const { Counts(Cell::new(0)) };
    }
    let count = || COUNTS.with(|counts| counts.0.replace(counts.0.get() + 1));
    let run = || {
        let sim = Sim::new(1);
        // Others go on with the loop meanwhile, on threads that no closure of the next run gets.
        let polls = sim.spawn("polls", async move {
            hold();
            yield_now().await;
            count()
        });
        let counts = sim.block_on(async move {
            hold();
            let both = (
                blocking(move || {
                    block_on(yield_now());
                    count()
                }),
                blocking(count),
            );
            let (first, second) = futures::join!(both.0, both.1);
            [first, second, blocking(count).await]
        });
        assert!(polls.is_finished());
        counts.unwrap()
    };
    let first = run();
    assert_eq!(first.iter().sum::<u32>(), 1, "two threads, one of which ran two");
    for runs in 1..20 {
        assert_eq!(run(), first);
        assert_eq!(DROPPED.load(Relaxed), 2 * runs, "those of the run before have ended");
    }
}
