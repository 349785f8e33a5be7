//! Channels for one value.

use crate::{in_order, sweep};
use detsim_shim_tokio as tokio;
use futures::FutureExt;
use std::rc::Rc;
use tokio::sync::oneshot::{self, error::TryRecvError};
use tokio::task::yield_now;

#[test]
fn a_value_arrives() {
    sweep(50, || async {
        let (sender, receiver) = oneshot::channel();
        let sends = tokio::spawn(async move { sender.send(3) });
        assert_eq!(receiver.await, Ok(3));
        sends.await.unwrap().unwrap();
    });
}

#[test]
fn a_sender_that_goes_is_an_error() {
    in_order(async {
        let (sender, receiver) = oneshot::channel::<u8>();
        let waits = tokio::spawn(receiver);
        yield_now().await;
        drop(sender);
        assert_eq!(waits.await.unwrap().unwrap_err().to_string(), "channel closed");
    });
}

#[test]
fn a_receiver_that_goes_gives_the_value_back() {
    in_order(async {
        let (mut sender, receiver) = oneshot::channel();
        assert!(sender.closed().now_or_never().is_none() && !sender.is_closed());
        let drops = tokio::spawn(async move { drop(receiver) });
        sender.closed().await;
        assert!(sender.is_closed());
        assert_eq!(sender.send(3), Err(3));
        drops.await.unwrap();
    });
}

#[test]
fn it_can_be_tried_closed_and_drained() {
    let (sender, mut receiver) = oneshot::channel();
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    assert!(receiver.is_empty());
    sender.send(1).unwrap();
    assert!(!receiver.is_empty());
    receiver.close();
    assert_eq!(receiver.try_recv(), Ok(1));
    assert!(receiver.is_terminated());
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Closed));

    let (sender, mut receiver) = oneshot::channel();
    receiver.close();
    assert_eq!(sender.send(1), Err(1));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Closed));
}

#[test]
fn a_value_that_nobody_took_is_dropped() {
    let value = Rc::new(());
    let (sender, receiver) = oneshot::channel();
    sender.send(Rc::clone(&value)).unwrap();
    drop(receiver);
    assert_eq!(Rc::strong_count(&value), 1);
}

#[test]
#[should_panic = "called after complete"]
fn it_is_not_polled_after_its_output() {
    let (sender, mut receiver) = oneshot::channel();
    sender.send(1).unwrap();
    assert_eq!((&mut receiver).now_or_never(), Some(Ok(1)));
    let _again = (&mut receiver).now_or_never();
}
