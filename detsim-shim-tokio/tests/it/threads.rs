//! Threads, and the locks of std, inside of a run: the facade puts them under the baton.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_types, reason = "std's clock is among what is tested")]

use detsim_executor::{Failure, Sim, SimTime};
use detsim_shim_tokio as tokio;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Barrier, Condvar, Mutex, OnceLock, RwLock, mpsc};
use std::thread;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task::{block_in_place, spawn_blocking, yield_now};

/// What each of the runs gives; the same twice.
fn outcomes<T, F>(runs: u64, make: impl Fn() -> F) -> Vec<Result<T, Failure>>
where
    T: PartialEq + std::fmt::Debug + 'static,
    F: Future<Output = T> + 'static,
{
    let run = |seed| {
        let sim = Sim::new(seed);
        let ended = sim.block_on(make());
        (ended, sim.hash())
    };
    let check = |seed| {
        let first = run(seed);
        assert_eq!(first, run(seed), "seed {seed} repeats");
        first.0
    };
    (0..runs).map(check).collect()
}

#[test]
fn two_std_mutexes_taken_in_two_orders() {
    let run = || async {
        let locks = Arc::new((Mutex::new(0), Mutex::new(0)));
        let notify = Arc::new(Notify::new());
        let tasks = [false, true].map(|turned| {
            let (locks, notify) = (Arc::clone(&locks), Arc::clone(&notify));
            tokio::spawn(async move {
                let (first, second) =
                    if turned { (&locks.1, &locks.0) } else { (&locks.0, &locks.1) };
                let mut first = first.lock().unwrap();
                notify.notify_one();
                *first += *second.lock().unwrap();
            })
        });
        for task in tasks {
            task.await.unwrap();
        }
    };
    let outcomes = outcomes(200, run);
    let failures: Vec<&Failure> = outcomes.iter().filter_map(|end| end.as_ref().err()).collect();
    assert!((1..200).contains(&failures.len()), "{}", failures.len());
    for failure in failures {
        assert_eq!(failure.verdict(), "deadlock");
        let text = failure.to_string();
        for task in ["task 1", "task 2"] {
            assert!(text.contains(task), "{text}");
        }
        assert!(text.matches("blocking wait").count() == 2, "{text}");
        assert!(text.contains("threads.rs"), "the stacks are shown: {text}");
    }
}

#[test]
fn two_closures_over_a_std_channel() {
    let run = || async {
        let (sender, receiver) = mpsc::channel();
        let reads = spawn_blocking(move || receiver.iter().collect::<Vec<u32>>());
        let sends = [1, 2].map(|number| {
            let sender = sender.clone();
            spawn_blocking(move || sender.send(number).unwrap())
        });
        drop(sender);
        for send in sends {
            send.await.unwrap();
        }
        reads.await.unwrap()
    };
    let seen: BTreeSet<Vec<u32>> = outcomes(200, run).into_iter().map(Result::unwrap).collect();
    assert_eq!(seen, BTreeSet::from([vec![1, 2], vec![2, 1]]));
}

#[test]
fn threads_that_a_run_starts_are_part_of_it() {
    let run = || async {
        let order = Arc::new(Mutex::new(Vec::new()));
        let threads = [1, 2, 3].map(|number| {
            let order = Arc::clone(&order);
            thread::spawn(move || {
                order.lock().unwrap().push(number);
                thread::yield_now();
                order.lock().unwrap().push(number);
                number
            })
        });
        let sum: u32 = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
        assert_eq!(sum, 6);
        Arc::into_inner(order).unwrap().into_inner().unwrap()
    };
    let seen: BTreeSet<Vec<u32>> = outcomes(100, run).into_iter().map(Result::unwrap).collect();
    assert!(seen.len() > 20, "{seen:?}");
}

#[test]
fn what_std_makes_of_waiting_works_in_a_run() {
    let run = || async {
        let pair = Arc::new((Mutex::new(false), Condvar::new()));
        let (other, met) = (Arc::clone(&pair), Arc::new(Barrier::new(2)));
        let meets = Arc::clone(&met);
        let thread = thread::spawn(move || {
            thread::sleep(Duration::from_secs(60));
            *other.0.lock().unwrap() = true;
            other.1.notify_all();
            meets.wait();
            thread::park_timeout(Duration::from_secs(60));
        });
        let began = std::time::Instant::now();
        let set = pair.1.wait_while(pair.0.lock().unwrap(), |set| !*set).unwrap();
        assert!(*set && began.elapsed() >= Duration::from_secs(60));
        drop(set);
        let (lock, none) = (Mutex::new(()), Condvar::new());
        let waited = none.wait_timeout(lock.lock().unwrap(), Duration::from_secs(9)).unwrap();
        assert!(waited.1.timed_out());
        met.wait();
        thread.join().unwrap();
        let counts = RwLock::new(0);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| *counts.write().unwrap() += 1);
            }
        });
        assert_eq!(*counts.read().unwrap(), 3);
    };
    assert!(outcomes(30, run).iter().all(Result::is_ok));
}

#[test]
fn locals_of_a_thread_are_dropped_before_it_is_joined() {
    struct Counts(Arc<AtomicU32>);
    impl Drop for Counts {
        fn drop(&mut self) {
            thread::yield_now();
            self.0.fetch_add(1, SeqCst);
        }
    }
    thread_local! {
        static LOCAL: std::cell::RefCell<Option<Counts>> = const { std::cell::RefCell::new(None) };
    }
    let run = || async {
        let count = Arc::new(AtomicU32::new(0));
        let counts = Counts(Arc::clone(&count));
        thread::spawn(move || LOCAL.set(Some(counts))).join().unwrap();
        count.load(SeqCst)
    };
    assert!(outcomes(20, run).into_iter().all(|count| count == Ok(1)));
}

#[test]
fn a_run_that_ends_unwinds_its_threads() {
    struct Tells(Arc<AtomicU32>);
    impl Drop for Tells {
        fn drop(&mut self) {
            self.0.fetch_add(1, SeqCst);
        }
    }
    for seed in 0..20 {
        let dropped = Arc::new(AtomicU32::new(0));
        let sim = Sim::new(seed);
        let tells = [(); 3].map(|()| Tells(Arc::clone(&dropped)));
        sim.block_on(async move {
            let (sender, receiver) = mpsc::channel::<()>();
            let [parks, receives, scopes] = tells;
            thread::spawn(move || {
                let _tells = parks;
                thread::park();
            });
            thread::spawn(move || {
                let _tells = receives;
                receiver.recv()
            });
            tokio::spawn(async move {
                let _tells = scopes;
                block_in_place(|| {
                    thread::scope(|scope| {
                        scope.spawn(thread::park);
                    });
                });
            });
            std::mem::forget(sender);
            tokio::time::sleep(Duration::from_secs(1)).await;
        })
        .unwrap();
        drop(sim);
        assert_eq!(dropped.load(SeqCst), 3, "seed {seed}");
    }
}

#[test]
fn a_run_that_ends_takes_threads_out_of_all_that_std_waits_in() {
    let waits: [(&str, fn()); 10] = [
        ("sleep", || thread::sleep(Duration::from_secs(3_600))),
        ("park", || thread::park_timeout(Duration::from_secs(3_600))),
        ("join", || thread::spawn(thread::park).join().unwrap()),
        ("scope", || thread::scope(|scope| drop(scope.spawn(thread::park)))),
        ("Mutex", || {
            static LOCK: Mutex<()> = Mutex::new(());
            std::mem::forget(LOCK.lock());
            drop(LOCK.lock());
        }),
        ("RwLock", || {
            static LOCK: RwLock<()> = RwLock::new(());
            std::mem::forget(LOCK.write());
            drop(LOCK.read());
        }),
        ("Condvar", || {
            let (lock, condition) = (Mutex::new(()), Condvar::new());
            drop(condition.wait_while(lock.lock().unwrap(), |()| true));
        }),
        ("Barrier", || assert!(!Barrier::new(2).wait().is_leader())),
        ("channel", || {
            let (sender, receiver) = mpsc::channel::<()>();
            assert!(receiver.recv_timeout(Duration::from_secs(3_600)).is_err());
            drop(sender);
        }),
        ("OnceLock", || {
            static CELL: OnceLock<()> = OnceLock::new();
            let scoped = || CELL.get_or_init(thread::park);
            thread::scope(|scope| [scope.spawn(scoped), scope.spawn(scoped)].len());
        }),
    ];
    for (name, wait) in waits {
        for seed in 0..10 {
            let sim = Sim::new(seed);
            sim.block_on(async move {
                thread::spawn(wait);
                spawn_blocking(wait);
                tokio::time::sleep(Duration::from_secs(1)).await;
            })
            .unwrap_or_else(|failure| panic!("{name}, seed {seed}: {failure}"));
        }
    }
}

#[test]
fn nobody_parks_with_what_others_left_on_the_thread() {
    for seed in 0..20 {
        let sim = Sim::new(seed);
        sim.block_on(async {
            // One leaves a token, and two of the run before were unwound out of their waits.
            spawn_blocking(|| thread::current().unpark()).await.unwrap();
            tokio::spawn(async { block_in_place(thread::park) });
            spawn_blocking(thread::park);
            yield_now().await;
            let parks = spawn_blocking(|| thread::park_timeout(Duration::from_secs(5)));
            parks.await.unwrap();
        })
        .unwrap();
        assert!(sim.now() >= SimTime::from_secs(5), "seed {seed}");
    }
}

#[test]
fn runs_of_two_threads_may_share_a_lock() {
    const TIMES: u32 = 2_000;
    let count = Arc::new(Mutex::new(0));
    let runs = [1, 2].map(|seed| {
        let count = Arc::clone(&count);
        thread::spawn(move || {
            Sim::new(seed).block_on(async move {
                for _ in 0..TIMES {
                    let mut count = count.lock().unwrap();
                    // Long enough for the other one to stop spinning.
                    (0..1_000).for_each(|_| std::hint::spin_loop());
                    *count += 1;
                }
            })
        })
    });
    for run in runs {
        assert_eq!(run.join().unwrap(), Ok(()));
    }
    assert_eq!(*count.lock().unwrap(), 2 * TIMES);
}
