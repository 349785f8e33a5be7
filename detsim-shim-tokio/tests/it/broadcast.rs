//! Channels from many to all.

use crate::{in_order, sweep};
use detsim_shim_tokio as tokio;
use futures::FutureExt;
use std::cell::Cell;
use std::rc::Rc;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::sync::broadcast::{self, Sender};

#[test]
fn every_receiver_gets_everything_in_order() {
    sweep(50, || async {
        let (sender, receiver) = broadcast::channel(16);
        let receivers: Vec<_> = [receiver, sender.subscribe()]
            .into_iter()
            .map(|mut receiver| {
                tokio::spawn(async move {
                    let mut got = Vec::new();
                    while let Ok(message) = receiver.recv().await {
                        got.push(message);
                    }
                    got
                })
            })
            .collect();
        for half in 0..2 {
            let sender = sender.clone();
            tokio::spawn(async move {
                for number in 0..4 {
                    assert_eq!(sender.send((half, number)).unwrap(), 2);
                }
            })
            .await
            .unwrap();
        }
        drop(sender);
        let all: Vec<_> = (0..2).flat_map(|half| (0..4).map(move |n| (half, n))).collect();
        for receiver in receivers {
            assert_eq!(receiver.await.unwrap(), all);
        }
    });
}

#[test]
fn who_is_too_far_behind_is_told_how_much_it_lost() {
    in_order(async {
        let (sender, mut receiver) = broadcast::channel(2);
        (0..5).for_each(|n| drop(sender.send(n)));
        assert_eq!((receiver.len(), sender.len()), (5, 2));
        assert_eq!(receiver.recv().await, Err(RecvError::Lagged(3)));
        assert_eq!((receiver.recv().await, receiver.try_recv()), (Ok(3), Ok(4)));
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
        assert!(receiver.is_empty() && sender.is_empty());
        drop(sender);
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Closed));
        assert_eq!(receiver.recv().await, Err(RecvError::Closed));
    });
}

#[test]
fn a_message_is_dropped_when_the_last_receiver_has_had_it() {
    #[derive(Clone)]
    struct Counted(Rc<Cell<i32>>);
    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.set(self.0.get() + 1);
        }
    }
    let dropped = Rc::new(Cell::new(0));
    let (sender, mut one) = broadcast::channel(4);
    let other = one.resubscribe();
    assert_eq!(sender.send(Counted(Rc::clone(&dropped))).ok(), Some(2));
    drop(one.try_recv());
    assert_eq!((dropped.get(), sender.len()), (1, 1));
    drop(other);
    assert_eq!((dropped.get(), sender.len()), (2, 0));
}

#[test]
fn senders_that_do_not_count_and_senders_that_wait() {
    in_order(async {
        let sender = Sender::new(4);
        assert!(sender.send(1).is_err() && sender.closed().now_or_never().is_some());
        let receiver = sender.subscribe();
        let weak = sender.downgrade();
        assert_eq!((weak.strong_count(), receiver.sender_weak_count()), (1, 1));
        let again = weak.upgrade().unwrap();
        drop(sender);
        let (_, ()) = tokio::join!(again.closed(), async { drop(receiver) });
        drop(again);
        assert!(weak.upgrade().is_none());
    });
}

#[test]
fn a_wait_that_is_given_up_loses_nothing() {
    in_order(async {
        let (sender, mut receiver) = broadcast::channel(4);
        assert!(receiver.recv().now_or_never().is_none());
        sender.send(1).unwrap();
        assert_eq!(receiver.recv().now_or_never(), Some(Ok(1)));
    });
}

#[test]
fn threads_without_a_run_lose_nothing() {
    let (sender, mut receiver) = broadcast::channel(1024);
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let sender = sender.clone();
            let sends = move || (0..500).for_each(|n| assert_eq!(sender.send(n).unwrap(), 1));
            std::thread::Builder::new().spawn(sends).unwrap()
        })
        .collect();
    drop(sender);
    let got: u32 = std::iter::from_fn(|| receiver.blocking_recv().ok()).sum();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(got, 2 * (0..500).sum::<u32>());
}
