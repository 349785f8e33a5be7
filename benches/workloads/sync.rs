//! Every channel and every lock of tokio's, and closures on threads of their own.
//!
//! One text for detsim and for tokio: the crate that includes this calls its tokio `tokio`, and supplies
//! `crate::peer` with `simulate(seed, future)`.
//!
//! Each is measured over [`SEEDS`]: detsim draws for each run how often tasks are stopped before an
//! operation. Invariant: nobody depends on the order in which tasks run, and what one operation is
//! holds for both.

use std::hint::black_box;
use std::sync::Arc;

use bench_common::Work;
use tokio::sync::{
    Barrier, Mutex, Notify, OnceCell, RwLock, Semaphore, SetOnce, broadcast, mpsc, oneshot, watch,
};
use tokio::task::{JoinHandle, spawn_blocking, yield_now};

use crate::peer;

const SEEDS: u64 = 10;
/// Tasks that share a lock, or one end of a channel.
const TASKS: u64 = 8;
/// Messages of a broadcast between two pauses in which all receivers catch up.
const BATCH: u64 = 8;

/// Does so many operations of a workload.
pub(crate) fn run(name: &str, operations: u64) -> Option<Work> {
    let share = operations / SEEDS;
    let each = share / TASKS;
    match name {
        "mpsc-unbounded" => over_seeds(|| unbounded(each)),
        "oneshot" => over_seeds(|| requests(each)),
        "broadcast" => over_seeds(|| broadcasts(share / TASKS / BATCH)),
        "watch" => over_seeds(|| watches(share)),
        "notify" => over_seeds(|| notifies(share)),
        "mutex" => over_seeds(|| mutex(each, Held::Briefly)),
        "mutex-held" => over_seeds(|| mutex(each, Held::OverAYield)),
        "rwlock" => over_seeds(|| rwlock(each)),
        "semaphore" => over_seeds(|| semaphore(each)),
        "barrier" => over_seeds(|| barrier(each)),
        "once-cell" => over_seeds(|| once_cells(each)),
        "set-once" => over_seeds(|| set_onces(each)),
        "blocking" => over_seeds(|| closures(share)),
        _ => return None,
    }
    Some(Work::of(operations))
}

fn over_seeds<F: Future<Output = ()> + 'static>(work: impl Fn() -> F) {
    (0..SEEDS).for_each(|seed| peer::simulate(seed, work()));
}

/// Tasks send, one receives. An operation is a message.
async fn unbounded(each: u64) {
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let senders = tasks(|task| {
        let sender = sender.clone();
        async move { (0..each).for_each(|n| sender.send(task * each + n).expect("it receives")) }
    });
    drop(sender);
    while let Some(message) = receiver.recv().await {
        black_box(message);
    }
    join(senders).await;
}

/// Tasks ask a server, and wait for its answers. An operation is a question with its answer.
async fn requests(each: u64) {
    let (questions, mut asked) = mpsc::channel::<(u64, oneshot::Sender<u64>)>(16);
    let clients = tasks(|_| {
        let questions = questions.clone();
        async move {
            for n in 0..each {
                let (answer, answered) = oneshot::channel();
                questions.send((n, answer)).await.expect("the server is there");
                assert_eq!(answered.await, Ok(n + 1));
            }
        }
    });
    drop(questions);
    while let Some((n, answer)) = asked.recv().await {
        answer.send(n + 1).expect("the client waits");
    }
    join(clients).await;
}

/// All receivers get all messages. An operation is a message that was received.
async fn broadcasts(batches: u64) {
    let (sender, _) = broadcast::channel(2 * BATCH as usize);
    let caught_up = Arc::new(Semaphore::new(0));
    let receivers = tasks(|_| {
        let (mut receiver, caught_up) = (sender.subscribe(), Arc::clone(&caught_up));
        async move {
            for _ in 0..batches {
                for _ in 0..BATCH {
                    black_box(receiver.recv().await.expect("it is sent, and kept"));
                }
                caught_up.add_permits(1);
            }
        }
    });
    for n in 0..batches * BATCH {
        sender.send(n).expect("they receive");
        if n % BATCH == BATCH - 1 {
            caught_up.acquire_many(TASKS as u32).await.expect("it stays open").forget();
        }
    }
    join(receivers).await;
}

/// Two tasks show each other how far they are. An operation is a value that was seen.
async fn watches(values: u64) {
    let (mine, mut seen) = watch::channel(0);
    let (theirs, mut answers) = watch::channel(0);
    let other = tokio::spawn(async move {
        for _ in 0..values / 2 {
            seen.changed().await.expect("it is shown");
            let value = *seen.borrow_and_update();
            theirs.send(value).expect("it is watched");
        }
    });
    for value in 1..=values / 2 {
        mine.send(value).expect("it is watched");
        answers.changed().await.expect("it is shown");
        assert_eq!(*answers.borrow_and_update(), value);
    }
    join(vec![other]).await;
}

/// Two tasks notify each other in turn. An operation is a notification.
async fn notifies(times: u64) {
    let pair = Arc::new((Notify::new(), Notify::new()));
    let theirs = Arc::clone(&pair);
    let other = tokio::spawn(async move {
        for _ in 0..times / 2 {
            theirs.0.notified().await;
            theirs.1.notify_one();
        }
    });
    for _ in 0..times / 2 {
        pair.0.notify_one();
        pair.1.notified().await;
    }
    join(vec![other]).await;
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Held {
    Briefly,
    OverAYield,
}

/// Tasks count under one lock. An operation is a lock with its unlock.
async fn mutex(each: u64, held: Held) {
    let count = Arc::new(Mutex::new(0));
    let all = tasks(|_| {
        let count = Arc::clone(&count);
        async move {
            for _ in 0..each {
                let mut count = count.lock().await;
                if held == Held::OverAYield {
                    yield_now().await;
                }
                *count += 1;
            }
        }
    });
    join(all).await;
    assert_eq!(*count.lock().await, TASKS * each);
}

/// Tasks read, and now and then one writes. An operation is a lock with its unlock.
async fn rwlock(each: u64) {
    let count = Arc::new(RwLock::new(0));
    let all = tasks(|task| {
        let count = Arc::clone(&count);
        async move {
            for n in 0..each {
                if n % TASKS == task {
                    *count.write().await += 1;
                } else {
                    black_box(*count.read().await);
                }
            }
        }
    });
    join(all).await;
}

/// Tasks share half as many permits, each for a while. An operation is a permit that was had.
async fn semaphore(each: u64) {
    let permits = Arc::new(Semaphore::new(TASKS as usize / 2));
    let all = tasks(|_| {
        let permits = Arc::clone(&permits);
        async move {
            for _ in 0..each {
                let _permit = permits.acquire().await.expect("it stays open");
                yield_now().await;
            }
        }
    });
    join(all).await;
}

/// Tasks wait for each other. An operation is a wait of one.
async fn barrier(each: u64) {
    let barrier = Arc::new(Barrier::new(TASKS as usize));
    let all = tasks(|_| {
        let barrier = Arc::clone(&barrier);
        async move {
            for _ in 0..each {
                barrier.wait().await;
            }
        }
    });
    join(all).await;
}

/// All tasks want the values of cells, which whoever is first at one puts in after a while. An operation is
/// a value that was had.
async fn once_cells(each: u64) {
    let cells: Arc<[OnceCell<u64>]> = (0..each).map(|_| OnceCell::new()).collect();
    let all = tasks(|_| {
        let cells = Arc::clone(&cells);
        async move {
            for (n, cell) in (0..each).zip(cells.iter()) {
                let find = || async move {
                    yield_now().await;
                    n
                };
                assert_eq!(*cell.get_or_init(find).await, n);
            }
        }
    });
    join(all).await;
}

/// All tasks wait for the values of cells, which each puts in in turn. An operation is a value that was had.
async fn set_onces(each: u64) {
    let cells: Arc<[SetOnce<u64>]> = (0..each).map(|_| SetOnce::new()).collect();
    let all = tasks(|task| {
        let cells = Arc::clone(&cells);
        async move {
            for (n, cell) in (0..each).zip(cells.iter()) {
                if n % TASKS == task {
                    yield_now().await;
                    cell.set(n).expect("it is this task's turn");
                }
                assert_eq!(*cell.wait().await, n);
            }
        }
    });
    join(all).await;
}

/// Closures on threads where they may block, one after the other. An operation is a closure.
async fn closures(times: u64) {
    for n in 0..times {
        assert_eq!(spawn_blocking(move || n).await.expect("it does not panic"), n);
    }
}

fn tasks<F: Future<Output = ()> + Send + 'static>(
    task: impl FnMut(u64) -> F,
) -> Vec<JoinHandle<()>> {
    (0..TASKS).map(task).map(tokio::spawn).collect()
}

async fn join(tasks: Vec<JoinHandle<()>>) {
    for task in tasks {
        task.await.expect("no task panics or is aborted");
    }
}
