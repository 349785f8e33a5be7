//! Preemption: a point before every operation, and none that a program could tell from a suspension.

use crate::sweep;
use detsim_executor::{Preempt, Sim, SimConfig};
use detsim_shim_tokio as tokio;
use futures::FutureExt;
use std::collections::BTreeSet;
use std::sync::Arc;
use tokio::sync::{Mutex, Notify, Semaphore, mpsc, oneshot};
use tokio::time::{Duration, timeout};

/// A counter that is read under one lock and written under another.
async fn loses_an_update() -> u32 {
    let count = Arc::new(Mutex::new(0));
    let add = || {
        let count = Arc::clone(&count);
        tokio::spawn(async move {
            let seen = *count.lock().await;
            *count.lock().await = seen + 1;
        })
    };
    let (one, two) = (add(), add());
    one.await.unwrap();
    two.await.unwrap();
    *Arc::into_inner(count).unwrap().get_mut()
}

fn outcomes(preempt: Preempt) -> BTreeSet<u32> {
    let run = |seed| {
        let mut config = SimConfig::default();
        config.preempt = preempt;
        Sim::with_config(seed, config).block_on(loses_an_update()).unwrap()
    };
    (0..200).map(run).collect()
}

#[test]
fn an_update_is_lost_between_two_locks_that_nobody_contends() {
    assert_eq!(outcomes(Preempt::Ops), BTreeSet::from([1, 2]));
    assert_eq!(outcomes(Preempt::Await), BTreeSet::from([2]));
}

#[test]
fn what_is_ready_is_ready_for_combinators_of_others() {
    // Their wakers, or their one poll, are not the task's own: no stop is taken there.
    sweep(200, || async {
        let (sender, mut receiver) = mpsc::channel(1);
        assert_eq!(sender.send(1).now_or_never(), Some(Ok(())));
        assert_eq!(receiver.recv().now_or_never(), Some(Some(1)));
        let (mutex, semaphore, notify) = (Mutex::new(1), Semaphore::new(1), Notify::new());
        assert!(mutex.lock().now_or_never().is_some());
        assert!(semaphore.acquire().now_or_never().is_some());
        notify.notify_one();
        assert!(notify.notified().now_or_never().is_some());
        let (sender, receiver) = oneshot::channel();
        sender.send(1).unwrap();
        assert_eq!(receiver.now_or_never(), Some(Ok(1)));
    });
}

#[test]
fn a_stop_is_never_a_timeout() {
    sweep(500, || async {
        let mutex = Mutex::new(1);
        for _ in 0..5 {
            assert!(timeout(Duration::ZERO, mutex.lock()).await.is_ok());
        }
    });
}

#[test]
fn a_biased_select_takes_its_first_ready_branch() {
    sweep(500, || async {
        let (first, second) = (Semaphore::new(9), Semaphore::new(9));
        for _ in 0..5 {
            tokio::select! {
                biased;
                permit = first.acquire() => drop(permit),
                _ = second.acquire() => panic!("the second branch came first"),
            }
        }
    });
}
