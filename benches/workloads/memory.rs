//! What a long run leaves in memory: growth of the resident set over many operations.
//!
//! The first tenth of each flat check is a warm-up, so that tables which grow to their working size
//! once are not counted. Resident memory is what the kernel says, so the allocator's share is in.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use bench_common::clock::resident_bytes;

use crate::peer;
use crate::workloads::SEED;

/// Longer than any check runs, in virtual time.
const FAR_OFF: Duration = Duration::from_secs(3_600);

/// Bytes by which the process grows over so many operations of a check.
pub(crate) fn growth(check: &str, operations: u64) -> Option<i64> {
    let n = operations;
    match check {
        "memory-finished" => Some(peer::simulate(SEED, after_warm_up(n, finish_tasks))),
        "memory-repolled" => Some(peer::simulate(SEED, repoll_one_sleep(n))),
        "memory-timeouts" => Some(peer::simulate(SEED, after_warm_up(n, end_timeouts_early))),
        "memory-parked" => Some(peer::simulate(SEED, park_tasks(n))),
        _ => None,
    }
}

/// Growth over the last nine tenths of `operations`.
async fn after_warm_up<F: Future<Output = ()>>(operations: u64, repeat: fn(u64) -> F) -> i64 {
    let warm_up = operations / 10;
    repeat(warm_up).await;
    let before = resident_bytes();
    repeat(operations - warm_up).await;
    grown_since(before)
}

async fn finish_tasks(tasks: u64) {
    for _ in 0..tasks {
        peer::join(peer::spawn(async {})).await;
    }
}

async fn end_timeouts_early(timeouts: u64) {
    for _ in 0..timeouts {
        let ended = peer::timeout(FAR_OFF, peer::yield_now()).await;
        assert!(ended.is_ok(), "a yield does not take an hour");
    }
}

/// One sleep stays pinned while it is polled again and again, as the losing arm of a loop's select
/// is. Yields in between, so that no poll of the task runs for long.
async fn repoll_one_sleep(polls: u64) -> i64 {
    let mut sleep = pin!(peer::sleep(FAR_OFF));
    let mut before = resident_bytes();
    for poll in 0..polls {
        poll_fn(|cx| {
            assert!(sleep.as_mut().poll(cx).is_pending(), "the sleep is far off");
            Poll::Ready(())
        })
        .await;
        if poll % 64 == 0 {
            peer::yield_now().await;
        }
        if poll == polls / 10 {
            before = resident_bytes();
        }
    }
    grown_since(before)
}

/// Tasks parked on one `Notify`, less the bytes of their futures and of the handles kept here.
async fn park_tasks(tasks: u64) -> i64 {
    let (gate, mut future_bytes) = (Arc::new(peer::Notify::new()), 0);
    let mut handles = Vec::with_capacity(usize::try_from(tasks).expect("fits in memory"));
    let before = resident_bytes();
    for _ in 0..tasks {
        let gate = Arc::clone(&gate);
        let future = async move { gate.notified().await };
        future_bytes += size_of_val(&future) + size_of::<peer::JoinHandle>();
        handles.push(peer::spawn(future));
    }
    // The clock moves once every task waits.
    peer::sleep(Duration::from_secs(1)).await;
    let grown = grown_since(before);
    gate.notify_waiters();
    for handle in handles {
        peer::join(handle).await;
    }
    grown - signed(future_bytes as u64)
}

fn grown_since(before: u64) -> i64 {
    signed(resident_bytes()) - signed(before)
}

fn signed(bytes: u64) -> i64 {
    i64::try_from(bytes).expect("no memory is that large")
}
