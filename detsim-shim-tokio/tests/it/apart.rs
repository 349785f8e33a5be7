//! A runtime of several threads: what blocks on it, and local tasks, stay on their thread, and the others
//! are on another.

use detsim_executor::Sim;
use detsim_shim_tokio as tokio;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::sync::{Barrier, mpsc, oneshot};
use tokio::task::{self, LocalSet};
use tokio::time::sleep;

fn here() -> ThreadId {
    thread::current().id()
}

/// Runs a program on a runtime of several threads, under many schedules.
fn sweep<F: Future<Output = ()>>(program: impl Fn() -> F) {
    for seed in 0..100 {
        let sim = Sim::new(seed);
        sim.enter(|| {
            let runtime = Runtime::new().unwrap();
            LocalSet::new().block_on(&runtime, program());
        });
        assert_eq!(sim.failure().map(|failure| failure.to_string()), None, "seed {seed}");
    }
}

/// Asserts where it is dropped.
struct Stays(ThreadId);

impl Drop for Stays {
    fn drop(&mut self) {
        assert_eq!(self.0, here());
    }
}

#[test]
fn each_is_on_its_thread_under_every_schedule() {
    sweep(|| async {
        let home = here();
        let (tx, mut rx) = mpsc::channel(1);
        let barrier = Arc::new(Barrier::new(4));
        for _ in 0..3 {
            let (tx, barrier) = (tx.clone(), Arc::clone(&barrier));
            tokio::spawn(async move {
                for turn in 0..5 {
                    assert_ne!(here(), home, "a task is on a worker");
                    tx.send(turn).await.unwrap();
                }
                barrier.wait().await;
                assert_ne!(here(), home);
            });
        }
        drop(tx);
        let local = task::spawn_local(async move {
            let stays = Rc::new(Stays(home));
            while rx.recv().await.is_some() {
                assert_eq!((here(), stays.0), (home, home), "a local task stays");
            }
            sleep(Duration::from_millis(1)).await;
            assert_eq!(here(), home);
        });
        barrier.wait().await;
        assert_eq!(here(), home);
        local.await.unwrap();
    });
}

#[test]
fn what_goes_goes_on_its_thread() {
    sweep(|| async {
        let home = here();
        let never = task::spawn_local(async move {
            let _stays = Stays(home);
            std::future::pending::<()>().await;
        });
        let panics = task::spawn_local(async move {
            let _stays = Stays(home);
            task::yield_now().await;
            panic!("as it is to");
        });
        task::yield_now().await;
        let aborts = never.abort_handle();
        tokio::spawn(async move { aborts.abort() }).await.unwrap();
        assert!(never.await.unwrap_err().is_cancelled());
        let payload = panics.await.unwrap_err().into_panic();
        assert_eq!(*payload.downcast::<&str>().unwrap(), "as it is to");
        // Nobody waits for this one: it goes with its set.
        drop(task::spawn_local(async move {
            let _stays = Stays(home);
            std::future::pending::<()>().await;
        }));
        task::yield_now().await;
    });
}

#[test]
fn a_local_task_that_blocks_keeps_its_thread() {
    thread_local! {
        static INSIDE: Cell<bool> = const { Cell::new(false) };
    }
    sweep(|| async {
        let lock = Arc::new(Mutex::new(0));
        let (go, gone) = oneshot::channel();
        let other = Arc::clone(&lock);
        let holder = tokio::spawn(async move {
            let mut count = other.lock().unwrap();
            // A place to be stopped at, with the lock.
            let _sent = go.send(());
            *count += 1;
        });
        let blocks = |lock: Arc<Mutex<i32>>| async move {
            assert!(!INSIDE.replace(true), "no other task of the thread runs while one blocks it");
            *lock.lock().unwrap() += 1;
            INSIDE.set(false);
        };
        let locals = [0, 1].map(|_| task::spawn_local(blocks(Arc::clone(&lock))));
        gone.await.unwrap();
        blocks(Arc::clone(&lock)).await;
        for local in locals {
            local.await.unwrap();
        }
        holder.await.unwrap();
        assert_eq!(*lock.lock().unwrap(), 4);
    });
}

#[test]
fn workers_end_with_their_runtime() {
    struct Tells(mpsc::UnboundedSender<ThreadId>);
    impl Drop for Tells {
        fn drop(&mut self) {
            self.0.send(here()).unwrap();
        }
    }
    thread_local! {
        static OF_WORKER: RefCell<Option<Tells>> = const { RefCell::new(None) };
    }
    for _ in 0..3 {
        let (tx, mut rx) = mpsc::unbounded_channel();
        let runtime = Runtime::new().unwrap();
        let worker = runtime.block_on(async {
            let worker = async {
                OF_WORKER.set(Some(Tells(tx)));
                here()
            };
            tokio::spawn(worker).await.unwrap()
        });
        assert!(rx.try_recv().is_err(), "it works for the runtime until that goes");
        drop(runtime);
        assert_eq!(rx.try_recv(), Ok(worker));
    }
}

#[test]
fn who_blocks_for_good_is_told_where() {
    let sim = Sim::new(1);
    let told = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        sim.enter(|| {
            Runtime::new().unwrap().block_on(async {
                let (_tx, rx) = oneshot::channel::<()>();
                let _ = rx.await;
            });
        });
    }));
    let report = detsim_executor::message_of(&*told.unwrap_err());
    assert!(report.starts_with("DEADLOCK") && report.contains("apart.rs:"), "{report}");
    assert_eq!(report.matches(" at tests/it/apart.rs").count(), 1, "of the poll alone: {report}");
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let run = |seed| {
        let sim = Sim::new(seed);
        sim.enter(|| {
            let runtime = Runtime::new().unwrap();
            LocalSet::new().block_on(&runtime, async {
                let tasks = [0; 4].map(|_| tokio::spawn(async { task::yield_now().await }));
                let local = task::spawn_local(async { task::yield_now().await });
                for task in tasks {
                    task.await.unwrap();
                }
                local.await.unwrap();
            });
        });
        sim.hash()
    };
    assert_eq!((run(3), run(4)), (run(3), run(4)));
    assert_ne!(run(3), run(4));
}
