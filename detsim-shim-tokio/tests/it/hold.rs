//! Preemption in the middle of a poll: bugs that a switch at `.await` alone cannot show.
//!
//! Each kernel is found in under 200 runs of the default strategy, and its cure in none.

use detsim_executor::{Sim, SimConfig};
use detsim_shim_tokio as tokio;
use std::cell::Cell;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex as StdMutex};
use tokio::sync::{
    Mutex, Notify, OnceCell, RwLock, Semaphore, SetOnce, broadcast, mpsc, oneshot, watch,
};
use tokio::task::{spawn_blocking, yield_now};

/// Runs that a bug has to show in.
const RUNS: u64 = 200;

/// How many of the runs fail.
fn failing<F: Future<Output = ()> + 'static>(make: impl Fn() -> F) -> usize {
    let fails = |seed: &u64| {
        let run = || {
            let run = |recorded: bool| {
                let mut config = SimConfig::default();
                config.record = recorded;
                let sim = Sim::with_config(*seed, config);
                let ended = sim.block_on(make()).map_err(|failure| failure.to_string());
                (ended, sim.hash())
            };
            let first = run(false);
            assert_eq!(first.1, run(true).1, "recording changes nothing");
            first.0
        };
        run().is_err()
    };
    (0..RUNS).filter(fails).count()
}

#[test]
fn a_flag_checked_before_notified_is_created() {
    let run = |cured: bool| {
        move || async move {
            let (flag, notify) = (Arc::new(AtomicBool::new(false)), Arc::new(Notify::new()));
            let other = (Arc::clone(&flag), Arc::clone(&notify));
            tokio::spawn(async move {
                other.0.store(true, SeqCst);
                other.1.notify_waiters();
            });
            if cured {
                let notified = notify.notified();
                if !flag.load(SeqCst) {
                    notified.await;
                }
            } else if !flag.load(SeqCst) {
                notify.notified().await;
            }
        }
    };
    let found = failing(run(false));
    assert!(found > 0, "{found}");
    assert_eq!(failing(run(true)), 0);
}

#[test]
fn a_lost_update_between_two_uncontended_locks() {
    let run = |cured: bool| {
        move || async move {
            let count = Arc::new(Mutex::new(0));
            let add = |count: Arc<Mutex<u32>>| async move {
                if cured {
                    *count.lock().await += 1;
                } else {
                    let seen = *count.lock().await;
                    *count.lock().await = seen + 1;
                }
            };
            let other = tokio::spawn(add(Arc::clone(&count)));
            add(Arc::clone(&count)).await;
            other.await.unwrap();
            assert_eq!(*count.lock().await, 2);
        }
    };
    let found = failing(run(false));
    assert!(found > 0, "{found}");
    assert_eq!(failing(run(true)), 0);
}

#[test]
fn a_permit_lost_on_cancel() {
    /// Gives its permit back by hand: a task that is dropped in between keeps it for good.
    async fn work(permits: Arc<Semaphore>) {
        permits.acquire().await.unwrap().forget();
        yield_now().await;
        permits.add_permits(1);
    }
    let run = |cured: bool| {
        move || async move {
            let permits = Arc::new(Semaphore::new(1));
            let task = tokio::spawn(work(Arc::clone(&permits)));
            yield_now().await;
            if !cured {
                task.abort();
            }
            drop(task.await);
            drop(permits.acquire().await.unwrap());
        }
    };
    let found = failing(run(false));
    assert!(found > 0, "{found}");
    assert_eq!(failing(run(true)), 0);
}

#[test]
fn a_select_that_drops_a_half_read_frame() {
    /// Two words make a frame.
    async fn frame(words: &mut mpsc::Receiver<u32>, half: &mut Option<u32>) -> (u32, u32) {
        let first = match half.take() {
            Some(first) => first,
            None => words.recv().await.unwrap(),
        };
        *half = Some(first);
        let second = words.recv().await.unwrap();
        (half.take().unwrap(), second)
    }
    let run = |cured: bool| {
        move || async move {
            let (sender, mut words) = mpsc::channel(8);
            let (ticks, mut ticked) = mpsc::channel(8);
            tokio::spawn(async move {
                for word in 0..8 {
                    sender.send(word).await.unwrap();
                }
            });
            tokio::spawn(async move {
                // Whoever has all frames listens no more.
                while ticks.send(()).await.is_ok() {
                    yield_now().await;
                }
            });
            let (mut half, mut frames) = (None, 0);
            while frames < 4 {
                let mut lost = None;
                let kept = if cured { &mut half } else { &mut lost };
                tokio::select! {
                    (first, second) = frame(&mut words, kept) => {
                        assert_eq!((first % 2, second), (0, first + 1));
                        frames += 1;
                    }
                    Some(()) = ticked.recv() => {}
                }
            }
        }
    };
    let found = failing(run(false));
    assert!(found > 0, "{found}");
    assert_eq!(failing(run(true)), 0);
}

#[test]
fn a_value_sent_and_a_flag_set_after_it() {
    let run = || async {
        let (sender, receiver) = oneshot::channel();
        let ready = Arc::new(AtomicU32::new(0));
        let other = Arc::clone(&ready);
        tokio::spawn(async move {
            sender.send(()).unwrap();
            Notify::new().notify_one();
            other.store(1, SeqCst);
        });
        receiver.await.unwrap();
        assert_eq!(ready.load(SeqCst), 1);
    };
    assert!(failing(run) > 0);
}

/// Two tasks run `act` on the same object.
async fn twice<S: Send + Sync + 'static>(shared: S, act: impl Fn(&S) + Copy + Send + 'static) {
    let shared = Arc::new(shared);
    let other = Arc::clone(&shared);
    let task = tokio::spawn(async move { act(&other) });
    act(&shared);
    task.await.unwrap();
}

#[test]
fn a_watched_value_read_and_then_replaced() {
    let run = |cured: bool| {
        move || async move {
            static WINNERS: AtomicU32 = AtomicU32::new(0);
            WINNERS.store(0, SeqCst);
            let act = move |sender: &watch::Sender<u32>| {
                let wins = match cured {
                    true => sender.send_if_modified(|value| std::mem::replace(value, 1) == 0),
                    false => *sender.borrow() == 0 && sender.send_replace(1) < 2,
                };
                WINNERS.fetch_add(u32::from(wins), SeqCst);
            };
            twice(watch::Sender::new(0), act).await;
            assert_eq!(WINNERS.load(SeqCst), 1);
        }
    };
    assert!(failing(run(false)) > 0);
    assert_eq!(failing(run(true)), 0);
}

#[test]
fn a_broadcast_to_receivers_that_were_counted_before() {
    let run = |cured: bool| {
        move || async move {
            let (sender, receiver) = broadcast::channel(1);
            let leaves = tokio::spawn(async move { drop(receiver) });
            if sender.receiver_count() > 0 {
                let sent = sender.send(7);
                assert!(cured || sent.is_ok());
            }
            leaves.await.unwrap();
        }
    };
    assert!(failing(run(false)) > 0);
    assert_eq!(failing(run(true)), 0);
}

#[test]
fn a_lost_update_between_a_read_lock_and_a_write_lock() {
    async fn add(lock: &RwLock<u32>, cured: bool) {
        loop {
            let Ok(seen) = lock.try_read().map(|value| *value) else {
                yield_now().await;
                continue;
            };
            match lock.try_write() {
                Ok(value) if cured && *value != seen => {}
                Ok(mut value) => return *value = seen + 1,
                Err(_) => {}
            }
            yield_now().await;
        }
    }
    let run = |cured: bool| {
        move || async move {
            let lock = Arc::new(RwLock::new(0));
            let other = Arc::clone(&lock);
            let task = tokio::spawn(async move { add(&other, cured).await });
            add(&lock, cured).await;
            task.await.unwrap();
            assert_eq!(*lock.read().await, 2);
        }
    };
    assert!(failing(run(false)) > 0);
    assert_eq!(failing(run(true)), 0);
}

#[test]
fn a_cell_found_empty_and_then_set() {
    let run = |cured: bool| {
        move || async move {
            let act = move |cell: &SetOnce<u32>| {
                if cell.get().is_none() {
                    let set = cell.set(7);
                    assert!(cured || set.is_ok());
                }
            };
            twice(SetOnce::new(), act).await;
            let act = move |cell: &OnceCell<u32>| {
                if !cell.initialized() {
                    let set = cell.set(7);
                    assert!(cured || set.is_ok());
                }
            };
            twice(OnceCell::new(), act).await;
        }
    };
    assert!(failing(run(false)) > 0);
    assert_eq!(failing(run(true)), 0);
}

#[test]
fn a_hold_keeps_what_the_thread_has() {
    thread_local! {
        static LOCAL: Cell<u32> = const { Cell::new(0) };
    }
    for seed in 0..100 {
        let sim = Sim::new(seed);
        let held = Rc::new(Cell::new(false));
        let seen = Rc::clone(&held);
        sim.block_on(async move {
            let notify = Arc::new(Notify::new());
            let order = Arc::new(StdMutex::new(Vec::new()));
            let tasks = [0, 1, 2].map(|number| {
                let (notify, order) = (Arc::clone(&notify), Arc::clone(&order));
                tokio::spawn(async move {
                    LOCAL.set(number);
                    let before = std::thread::current().id();
                    for _ in 0..4 {
                        order.lock().unwrap().push(number);
                        notify.notify_one();
                    }
                    assert_eq!(std::thread::current().id(), before);
                })
            });
            for task in tasks {
                task.await.unwrap();
            }
            let order = order.lock().unwrap();
            let switches = order.windows(2).filter(|pair| pair[0] != pair[1]).count();
            seen.set(switches > 2);
        })
        .unwrap();
        if held.get() {
            return;
        }
    }
    panic!("no task was ever held");
}

#[test]
fn a_run_that_fails_unwinds_whoever_is_held() {
    let (mut failures, dropped) = (0, Arc::new(AtomicU32::new(0)));
    struct Tells(Arc<AtomicU32>);
    impl Drop for Tells {
        fn drop(&mut self) {
            self.0.fetch_add(1, SeqCst);
        }
    }
    for seed in 0..100 {
        let sim = Sim::new(seed);
        for _ in 0..2 {
            let tells = Tells(Arc::clone(&dropped));
            drop(sim.spawn("holds", async move {
                let lock = Mutex::new(tells);
                for _ in 0..5 {
                    drop(lock.lock().await);
                    Notify::new().notify_one();
                }
            }));
        }
        drop(sim.spawn("fails", async { panic!("at once") }));
        failures += usize::from(sim.run().is_err());
        drop(sim);
        assert_eq!(dropped.swap(0, SeqCst), 2, "seed {seed}");
    }
    assert_eq!(failures, 100);
}

#[test]
fn a_blocking_closure_may_be_held_too() {
    let run = || async {
        let order = Arc::new(StdMutex::new(Vec::new()));
        let closures = [1, 2].map(|number| {
            let order = Arc::clone(&order);
            spawn_blocking(move || {
                for _ in 0..3 {
                    order.lock().unwrap().push(number);
                    Notify::new().notify_one();
                }
            })
        });
        for closure in closures {
            closure.await.unwrap();
        }
        let order = order.lock().unwrap();
        assert!(order.starts_with(&[1, 1, 1]) || order.starts_with(&[2, 2, 2]), "{order:?}");
    };
    let found = failing(run);
    assert!((1..200).contains(&found), "{found}");
}

#[test]
fn nothing_is_held_while_it_unwinds() {
    for seed in 0..100 {
        let sim = Sim::new(seed);
        let caught = sim.block_on(async {
            tokio::spawn(async { Notify::new().notify_one() });
            let lock = Mutex::new(());
            let guard = lock.lock().await;
            catch_unwind(AssertUnwindSafe(|| {
                let _guard = guard;
                panic!("with a lock");
            }))
            .is_err()
        });
        assert_eq!(caught, Ok(true));
    }
}

#[test]
fn a_stop_between_two_holds_of_a_poll_is_not_the_end() {
    let run = || async {
        let (request, mut requests) = mpsc::unbounded_channel::<oneshot::Sender<u32>>();
        let (answer, answered) = oneshot::channel();
        let done = Notify::new();
        let task = tokio::spawn(async move {
            requests.recv().await.unwrap().send(1).unwrap();
            assert!(requests.recv().await.is_some());
        });
        let asks = async {
            request.send(answer).unwrap();
            assert_eq!(answered.await, Ok(1));
            done.notify_one();
        };
        // Waits for the first of the two after a hold of its own.
        let waits = async {
            request.send(oneshot::channel().0).unwrap();
            done.notified().await;
        };
        futures::future::join(asks, waits).await;
        task.await.unwrap();
    };
    assert_eq!(failing(run), 0);
}

#[test]
fn a_wake_during_a_hold_is_not_lost() {
    let run = || async {
        let (first, answer) = oneshot::channel();
        let (second, other) = oneshot::channel();
        let task = tokio::spawn(async move {
            first.send(1).unwrap();
            other.await.unwrap()
        });
        // A combinator that is not tokio's: what it polled first is ready while it is held later.
        let sent = futures::future::join(answer, async { second.send(2).unwrap() });
        assert_eq!(sent.await.0, Ok(1));
        assert_eq!(task.await.unwrap(), 2);
    };
    assert_eq!(failing(run), 0);
}
