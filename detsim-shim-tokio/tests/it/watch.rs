//! Channels that keep the last value only.

use crate::{in_order, sweep};
use detsim_executor::Sim;
use detsim_shim_tokio as tokio;
use futures::FutureExt;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use tokio::sync::watch;

#[test]
fn the_last_value_is_seen_whatever_was_missed() {
    sweep(100, || async {
        let (sender, mut receiver) = watch::channel(0);
        drop(tokio::spawn(async move {
            for number in 1..=5 {
                sender.send(number).unwrap();
                tokio::task::yield_now().await;
            }
        }));
        let mut seen = vec![0];
        while receiver.changed().await.is_ok() {
            seen.push(*receiver.borrow_and_update());
        }
        assert!(seen.is_sorted() && seen.last() == Some(&5), "{seen:?}");
    });
}

#[test]
fn versions_are_counted_per_receiver() {
    in_order(async {
        let (sender, mut one) = watch::channel(1);
        let mut other = one.clone();
        assert!(!one.has_changed().unwrap());
        sender.send(2).unwrap();
        assert!(one.borrow().has_changed() && one.has_changed().unwrap());
        assert!(one.borrow_and_update().has_changed());
        assert!(!one.has_changed().unwrap() && other.has_changed().unwrap());
        one.mark_changed();
        assert!(one.changed().now_or_never().is_some());
        other.mark_unchanged();
        assert!(other.changed().now_or_never().is_none());
        assert!(!sender.send_if_modified(|_| false) && !other.has_changed().unwrap());
        assert_eq!(sender.send_replace(3), 2);
        drop(sender);
        assert!(other.has_changed().is_err());
        assert_eq!((other.changed().await.is_ok(), other.changed().await.is_ok()), (true, false));
    });
}

#[test]
fn a_wait_for_a_value_may_be_over_at_once() {
    in_order(async {
        let (sender, mut receiver) = watch::channel(1);
        assert_eq!(*receiver.wait_for(|n| *n == 1).await.unwrap(), 1);
        let send = async {
            sender.send(2).unwrap();
            tokio::task::yield_now().await;
            sender.send(3).unwrap();
        };
        let (found, ()) =
            tokio::join!(async { *receiver.wait_for(|n| *n == 3).await.unwrap() }, send);
        assert_eq!(found, 3);
        drop(sender);
        assert!(receiver.wait_for(|n| *n == 4).await.is_err());
        assert!(receiver.wait_for(|n| *n == 3).await.is_ok(), "the last value counts");
    });
}

#[test]
fn a_sender_waits_for_the_last_receiver_to_go() {
    in_order(async {
        let (sender, receiver) = watch::channel(());
        let other = sender.subscribe();
        let closed = async {
            sender.closed().await;
            sender.send(()).is_err()
        };
        let leave = async {
            drop(receiver);
            tokio::task::yield_now().await;
            drop(other);
        };
        assert!(tokio::join!(closed, leave).0 && sender.is_closed());
        assert_eq!((sender.receiver_count(), sender.subscribe().is_closed()), (0, false));
    });
}

#[test]
fn a_panic_while_it_is_changed_poisons_nothing() {
    let (sender, receiver) = watch::channel(1);
    let panics = std::panic::AssertUnwindSafe(|| sender.send_modify(|_| panic!("planned")));
    assert!(std::panic::catch_unwind(panics).is_err());
    assert!(!receiver.has_changed().unwrap());
    sender.send(2).unwrap();
    assert_eq!(*receiver.borrow(), 2);
}

#[test]
fn which_receiver_is_woken_first_is_a_choice() {
    let order = |seed| {
        let log = Arc::new(Mutex::new(Vec::new()));
        let mut config = detsim_executor::SimConfig::default();
        config.strategy = detsim_executor::Strategy::Fifo;
        let sim = Sim::with_config(seed, config);
        let (sender, receiver) = watch::channel(());
        for number in 0..3 {
            let (mut receiver, log) = (receiver.clone(), Arc::clone(&log));
            drop(sim.spawn("", async move {
                receiver.changed().await.unwrap();
                log.lock().unwrap().push(number);
            }));
        }
        drop(sim.spawn("", async move { sender.send(()).unwrap() }));
        sim.run().unwrap();
        log.lock().unwrap().clone()
    };
    assert_eq!((0..30).map(order).collect::<BTreeSet<_>>().len(), 3);
    assert!((0..30).all(|seed| order(seed) == order(seed)));
}
