//! Tasks, timers and channels: the costs that every simulated program pays.
//!
//! Invariant: each function does exactly as many operations as it is told, in futures that are
//! `Send`, because tokio and madsim ask for that.

use std::hint::black_box;
use std::time::Duration;

use bench_common::Random;

use crate::peer;

/// So many tasks share `polls` yields evenly. An operation is one poll; spawning is in the figure.
pub(crate) async fn yields(tasks: u64, polls: u64) {
    let share = split_evenly(polls, tasks);
    let spinner = |_task| async move {
        for _ in 0..share {
            peer::yield_now().await;
        }
    };
    run_all((0..tasks).map(spinner)).await;
}

/// Spawns and joins trivial tasks, `alive` of them at a time. An operation is one task.
pub(crate) async fn spawn_and_join(alive: u64, tasks: u64) {
    let mut handles = Vec::with_capacity(usize::try_from(alive).expect("a small number"));
    for _ in 0..split_evenly(tasks, alive) {
        handles.extend((0..alive).map(|task| {
            peer::spawn(async move {
                black_box(task);
            })
        }));
        for handle in handles.drain(..) {
            peer::join(handle).await;
        }
    }
}

/// So many tasks share `timers` sleeps of 1 to 1,000 ms each. An operation is one sleep.
pub(crate) async fn timers(tasks: u64, timers: u64) {
    let share = split_evenly(timers, tasks);
    let sleeper = |task| async move {
        let mut random = Random::new(task);
        for _ in 0..share {
            peer::sleep(Duration::from_millis(random.between(1, 1_000))).await;
        }
    };
    run_all((0..tasks).map(sleeper)).await;
}

/// So many producers share `messages` sends into one bounded channel. An operation is one message.
pub(crate) async fn many_to_one(producers: u64, capacity: usize, messages: u64) {
    let share = split_evenly(messages, producers);
    let (sender, mut receiver) = peer::channel(capacity);
    let handles: Vec<_> = (0..producers)
        .map(|producer| {
            let sender = sender.clone();
            peer::spawn(async move {
                for message in 0..share {
                    sender.send(producer * share + message).await.expect("the receiver is there");
                }
            })
        })
        .collect();
    drop(sender);
    let mut received = 0;
    while let Some(message) = receiver.recv().await {
        black_box(message);
        received += 1;
    }
    assert_eq!(received, messages, "the channel lost or repeated a message");
    for handle in handles {
        peer::join(handle).await;
    }
}

/// Spawns every future, then waits for every one.
async fn run_all<F>(futures: impl Iterator<Item = F>)
where
    F: Future<Output = ()> + Send + 'static,
{
    let handles: Vec<_> = futures.map(peer::spawn).collect();
    for handle in handles {
        peer::join(handle).await;
    }
}

pub(crate) fn split_evenly(operations: u64, among: u64) -> u64 {
    assert_eq!(operations % among, 0, "{operations} operations do not split among {among}");
    operations / among
}
