//! Runs full of tasks that are stopped in the middle of their polls, while others abort and drop them,
//! panic, block, and start threads: the same seed does the same. In a process of its own: threads of two
//! runs at once would meet at locks that std keeps for all threads.
#![cfg(all(detsim, target_os = "linux"))]

use detsim_executor::{RunHash, Sim};
use detsim_shim_tokio as tokio;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex as StdMutex};
use std::thread;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::{Mutex, Notify, Semaphore, mpsc, watch};
use tokio::task::{JoinHandle, block_in_place, spawn_blocking, yield_now};
use tokio::time::sleep;

const SEEDS: u64 = 1_000;
const TASKS: u64 = 6;
const ROUNDS: u64 = 6;
/// The task that does, if it is not aborted before.
const PANICS: u64 = 3;

/// What all tasks share. None of its operations waits for a task that may be dropped.
struct World {
    log: StdMutex<Vec<(u64, &'static str)>>,
    notify: Notify,
    count: Mutex<u64>,
    permits: Semaphore,
    shown: watch::Sender<u64>,
    sent: mpsc::UnboundedSender<u64>,
}

impl World {
    /// Does what tasks are stopped before, in the middle of a poll.
    fn touch(&self, task: u64, what: &'static str) {
        self.notify.notify_one();
        self.log.lock().unwrap().push((task, what));
        self.shown.send_replace(task);
        let _nobody_listens_any_more = self.sent.send(task);
        drop(self.permits.try_acquire());
        drop(self.count.try_lock());
    }
}

/// Is stopped while it is dropped, too.
struct Guard(Arc<World>, u64);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.touch(self.1, "dropped");
    }
}

async fn work(world: Arc<World>, task: u64) {
    let _guard = Guard(Arc::clone(&world), task);
    for round in 0..ROUNDS {
        world.touch(task, "goes on");
        match (task + round) % 7 {
            0 => *world.count.lock().await += 1,
            1 => block_in_place(|| Handle::current().block_on(sleep(Duration::from_millis(task)))),
            2 => {
                let inner = Arc::clone(&world);
                let closure = move || inner.touch(task, "blocks");
                spawn_blocking(closure).await.unwrap();
            }
            3 => {
                let inner = Arc::clone(&world);
                let thread = thread::spawn(move || {
                    inner.touch(task, "is a thread");
                    thread::sleep(Duration::from_millis(1));
                    inner.touch(task, "ends");
                });
                block_in_place(|| thread.join()).unwrap();
            }
            4 => drop(catch_unwind(AssertUnwindSafe(|| {
                let _guard = Guard(Arc::clone(&world), task);
                resume_unwind(Box::new(task));
            }))),
            5 if task == PANICS => resume_unwind(Box::new("it panics after it was held")),
            _ => yield_now().await,
        }
    }
}

fn run(seed: u64) -> (RunHash, Vec<(u64, &'static str)>) {
    let (sent, mut received) = mpsc::unbounded_channel();
    let world = Arc::new(World {
        log: StdMutex::default(),
        notify: Notify::new(),
        count: Mutex::new(0),
        permits: Semaphore::new(2),
        shown: watch::Sender::new(0),
        sent,
    });
    let shared = Arc::clone(&world);
    let sim = Sim::new(seed);
    let ended = sim.block_on(async move {
        let tasks: Vec<JoinHandle<()>> =
            (0..TASKS).map(|task| tokio::spawn(work(Arc::clone(&shared), task))).collect();
        for (n, task) in (0..).zip(tasks) {
            shared.touch(TASKS, "looks on");
            if (seed + n).is_multiple_of(4) {
                task.abort();
            }
            // A panic that nobody hears of would fail the run.
            if !(seed + n).is_multiple_of(3) || n == PANICS {
                drop(task.await);
            }
        }
        while received.try_recv().is_ok() {}
    });
    assert_eq!(ended, Ok(()), "seed {seed}");
    // Whoever stands in the middle of a poll, or waits, is unwound.
    let hash = sim.hash();
    drop(sim);
    let log = std::mem::take(&mut *world.log.lock().unwrap());
    (hash, log)
}

#[test]
fn a_thousand_seeds_full_of_holds_do_the_same_twice() {
    for seed in 0..SEEDS {
        let (hash, log) = run(seed);
        assert!(log.len() > 20, "seed {seed}: {log:?}");
        assert_eq!((hash, log), run(seed), "seed {seed}");
    }
}
