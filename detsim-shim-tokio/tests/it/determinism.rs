//! The same seed gives the same run, and a stop is never seen by whoever polls.

use detsim_executor::{RunHash, Sim, SimConfig, Strategy};
use detsim_shim_tokio as tokio;
use futures::FutureExt;
use std::future::{poll_fn, ready};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use tokio::sync::{
    Barrier, Mutex, Notify, OnceCell, RwLock, Semaphore, SetOnce, broadcast, mpsc, oneshot, watch,
};
use tokio::time::{Duration, timeout};

/// What three tasks share.
struct Shared {
    mutex: Mutex<u32>,
    rwlock: RwLock<u32>,
    semaphore: Semaphore,
    notify: Notify,
    barrier: Barrier,
    once: OnceCell<u32>,
    set: SetOnce<u32>,
    bounded: mpsc::Sender<u32>,
    unbounded: mpsc::UnboundedSender<u32>,
    to_all: broadcast::Sender<u32>,
    last: watch::Sender<u32>,
}

/// Takes every lock and sends on every kind of channel.
async fn uses_everything(number: u32, shared: Arc<Shared>, done: oneshot::Sender<u32>) {
    let mut changes = shared.last.subscribe();
    let mut from_all = shared.to_all.subscribe();
    shared.barrier.wait().await;
    *shared.mutex.lock().await += number;
    let seen = *shared.rwlock.read().await;
    *shared.rwlock.write().await = seen + number;
    let permit = shared.semaphore.acquire_many(1 + number % 2).await.unwrap();
    shared.bounded.send(number).await.unwrap();
    shared.unbounded.send(*shared.once.get_or_init(|| ready(number)).await).unwrap();
    drop(permit);
    shared.to_all.send(number).unwrap();
    drop(shared.set.set(number));
    shared.last.send_modify(|last| *last = *last * 3 + number);
    changes.changed().await.unwrap();
    tokio::select! {
        got = from_all.recv() => drop(got),
        () = shared.notify.notified() => {}
    }
    shared.notify.notify_one();
    let last = *changes.borrow();
    done.send(*shared.set.wait().await + last + *shared.mutex.lock().await).unwrap();
}

async fn three_tasks() {
    let ((bounded, mut one), (unbounded, mut other)) =
        (mpsc::channel(1), mpsc::unbounded_channel());
    let shared = Arc::new(Shared {
        mutex: Mutex::new(0),
        rwlock: RwLock::new(0),
        semaphore: Semaphore::new(2),
        notify: Notify::new(),
        barrier: Barrier::new(3),
        once: OnceCell::new(),
        set: SetOnce::new(),
        bounded,
        unbounded,
        to_all: broadcast::channel(4).0,
        last: watch::channel(0).0,
    });
    let tasks = [1, 2, 3].map(|number| {
        let (done, result) = oneshot::channel();
        drop(tokio::spawn(uses_everything(number, Arc::clone(&shared), done)));
        result
    });
    drop(shared);
    while one.recv().await.is_some() && other.recv().await.is_some() {}
    for task in tasks {
        task.await.unwrap();
    }
}

fn hash(seed: u64) -> RunHash {
    let sim = Sim::new(seed);
    sim.block_on(three_tasks()).unwrap();
    sim.hash()
}

#[test]
fn every_lock_and_channel_gives_the_same_trace_a_thousand_times() {
    let first = hash(7);
    assert!((0..1_000).all(|_| hash(7) == first));
    assert!((0..20).any(|seed| hash(seed) != first), "seeds differ");
}

/// tokio's answers, where a program asks a future once.
async fn asks_once() {
    let (mutex, notify) = (Mutex::new(1), Notify::new());
    let (sender, mut receiver) = mpsc::channel(1);
    assert!(mutex.lock().now_or_never().is_some() && sender.send(1).now_or_never().is_some());
    assert_eq!(receiver.recv().now_or_never(), Some(Some(1)));
    sender.send(2).await.unwrap();
    let first = tokio::select! { biased;
        got = receiver.recv() => got,
        () = ready(()) => None,
    };
    assert_eq!(first, Some(2), "the first branch was ready");
    notify.notify_one();
    let noted = async { notify.notified().await };
    assert_eq!(timeout(Duration::ZERO, noted).await, Ok(()));
    assert_eq!(timeout(Duration::ZERO, async { *mutex.lock().await }).await, Ok(1));
    sender.send(3).await.unwrap();
    let mut got = pin!(receiver.recv());
    let once = poll_fn(|cx| match got.as_mut().poll(cx) {
        Poll::Ready(got) => Poll::Ready(got),
        Poll::Pending => Poll::Ready(None),
    });
    assert_eq!(once.now_or_never(), Some(Some(3)));
}

/// Others that would run in between, if a stop let them be seen.
async fn asks_once_among_others() {
    let others = [(); 3].map(|()| tokio::spawn(asks_once()));
    asks_once().await;
    for other in others {
        other.await.unwrap();
    }
}

#[test]
fn whoever_asks_once_is_never_told_of_a_stop() {
    for (name, strategy) in Strategy::ALL {
        for seed in 0..10_000 {
            let mut config = SimConfig::default();
            config.strategy = strategy;
            let ended = Sim::with_config(seed, config).block_on(asks_once_among_others());
            assert!(ended.is_ok(), "{name}, seed {seed}:\n{}", ended.unwrap_err());
        }
    }
}
