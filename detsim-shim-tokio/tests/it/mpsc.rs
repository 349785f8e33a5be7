//! Channels from many to one.

use crate::{in_order, sweep};
use detsim_shim_tokio as tokio;
use futures::FutureExt;
use futures::executor::block_on;
use std::rc::Rc;
use tokio::sync::mpsc::error::{SendTimeoutError, TryRecvError, TrySendError};
use tokio::sync::mpsc::{channel, unbounded_channel};
use tokio::task::yield_now;
use tokio::time::Duration;

#[test]
fn every_message_arrives_once_and_in_the_order_of_its_sender() {
    sweep(100, || async {
        let (sender, mut receiver) = channel(2);
        for task in 0..3 {
            let sender = sender.clone();
            drop(tokio::spawn(async move {
                for number in 0..10 {
                    sender.send((task, number)).await.unwrap();
                }
            }));
        }
        drop(sender);
        let mut next = [0; 3];
        while let Some((task, number)) = receiver.recv().await {
            assert_eq!(number, next[task]);
            next[task] += 1;
        }
        assert_eq!(next, [10; 3]);
    });
}

#[test]
fn who_waits_longest_sends_first() {
    let got = in_order(async {
        let (sender, mut receiver) = channel(1);
        sender.send(0).await.unwrap();
        for number in 1..=3 {
            let sender = sender.clone();
            drop(tokio::spawn(async move { sender.send(number).await }));
        }
        yield_now().await;
        assert_eq!(receiver.recv().await, Some(0));
        // The place is promised to the first that waits.
        assert_eq!(sender.try_send(9), Err(TrySendError::Full(9)));
        let mut got = Vec::new();
        while got.len() < 3 {
            got.push(receiver.recv().await.unwrap());
        }
        got
    });
    assert_eq!(got, [1, 2, 3]);
}

#[test]
fn a_send_that_is_given_up_sends_nothing() {
    in_order(async {
        let (sender, mut receiver) = channel(1);
        sender.try_send(1).unwrap();
        let (mut first, mut second) = (Box::pin(sender.send(2)), Box::pin(sender.send(3)));
        assert!(first.as_mut().now_or_never().is_none());
        assert!(second.as_mut().now_or_never().is_none());
        assert_eq!(receiver.recv().await, Some(1));
        drop(first); // it had been promised the place, and never knew
        second.await.unwrap();
        assert_eq!(receiver.recv().await, Some(3));
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    });
}

#[test]
fn a_receive_that_is_given_up_takes_nothing() {
    in_order(async {
        let (sender, mut receiver) = channel(1);
        let mut waits = Box::pin(receiver.recv());
        assert!(waits.as_mut().now_or_never().is_none());
        sender.send(1).await.unwrap();
        drop(waits);
        assert_eq!(receiver.recv().await, Some(1));
    });
}

#[test]
fn a_receiver_that_goes_gives_messages_back() {
    in_order(async {
        let message = Rc::new(());
        let (sender, receiver) = channel(1);
        sender.try_send(Rc::clone(&message)).unwrap();
        let mut waits = Box::pin(sender.send(Rc::clone(&message)));
        assert!(waits.as_mut().now_or_never().is_none());
        let permit_after = sender.clone();
        drop(receiver);
        assert!(waits.await.is_err());
        assert_eq!(Rc::strong_count(&message), 1);
        assert!(sender.is_closed());
        sender.closed().await;
        assert!(permit_after.reserve().await.is_err());
        assert!(matches!(sender.try_send(message), Err(TrySendError::Closed(_))));
    });
}

#[test]
fn a_closed_receiver_takes_what_was_promised() {
    in_order(async {
        let (sender, mut receiver) = channel(3);
        sender.send(1).await.unwrap();
        let permit = sender.reserve().await.unwrap();
        let unused = sender.reserve().await.unwrap();
        receiver.close();
        assert!(receiver.is_closed() && sender.is_closed());
        assert!(sender.send(9).await.is_err());
        assert_eq!(receiver.recv().await, Some(1));
        assert!(receiver.recv().now_or_never().is_none());
        permit.send(2);
        assert_eq!(receiver.recv().await, Some(2));
        let mut last = Box::pin(receiver.recv());
        assert!(last.as_mut().now_or_never().is_none());
        drop(unused);
        assert_eq!(last.await, None);
    });
}

#[test]
fn places_are_promised_and_given_back() {
    in_order(async {
        let (sender, mut receiver) = channel(3);
        let two: Vec<_> = sender.reserve_many(2).await.unwrap().collect();
        assert_eq!((sender.capacity(), sender.max_capacity(), receiver.len()), (1, 3, 0));
        assert_eq!(sender.try_reserve_many(2).unwrap_err(), TrySendError::Full(()));
        assert!(sender.reserve_many(4).await.is_err());
        two.into_iter().for_each(|permit| permit.send(1));
        let owned = sender.clone().reserve_owned().await.unwrap();
        assert!(owned.same_channel_as_sender(&sender));
        assert!(sender.clone().try_reserve_owned().is_err());
        let again = owned.send(2);
        assert!(again.same_channel(&sender) && !receiver.is_empty());
        assert_eq!(receiver.recv().await, Some(1));
        drop(again.try_reserve_owned().unwrap().release());
        let mut buffer = Vec::new();
        assert_eq!(receiver.recv_many(&mut buffer, 9).await, 2);
        assert_eq!((buffer, receiver.capacity()), (vec![1, 2], 3));
    });
}

#[test]
fn a_send_may_take_too_long() {
    in_order(async {
        let (sender, mut receiver) = channel(1);
        let brief = Duration::from_millis(1);
        sender.send_timeout(1, brief).await.unwrap();
        assert_eq!(sender.send_timeout(2, brief).await, Err(SendTimeoutError::Timeout(2)));
        receiver.close();
        assert_eq!(sender.send_timeout(3, brief).await, Err(SendTimeoutError::Closed(3)));
        assert_eq!(receiver.recv().await, Some(1));
        assert_eq!(receiver.recv().await, None);
    });
}

#[test]
fn many_are_received_at_once() {
    in_order(async {
        let (sender, mut receiver) = unbounded_channel();
        let mut buffer = Vec::new();
        assert_eq!(receiver.recv_many(&mut buffer, 0).await, 0);
        (0..5).for_each(|number| sender.send(number).unwrap());
        assert_eq!(receiver.recv_many(&mut buffer, 3).await, 3);
        drop(sender);
        assert_eq!(receiver.recv_many(&mut buffer, 9).await, 2);
        assert_eq!(receiver.recv_many(&mut buffer, 9).await, 0);
        assert_eq!(buffer, [0, 1, 2, 3, 4]);
    });
}

#[test]
fn weak_senders_do_not_keep_it_open() {
    let (sender, mut receiver) = channel::<u8>(1);
    let weak = sender.downgrade();
    let twice = weak.clone();
    assert_eq!((sender.strong_count(), sender.weak_count()), (1, 2));
    let strong = weak.upgrade().unwrap();
    assert_eq!((receiver.sender_strong_count(), receiver.sender_weak_count()), (2, 2));
    drop((sender, strong));
    assert!(twice.upgrade().is_none() && receiver.is_closed());
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
    let (sender, mut receiver) = unbounded_channel::<u8>();
    let weak = sender.downgrade();
    drop(sender);
    assert!(weak.upgrade().is_none());
    assert_eq!(block_on(receiver.recv()), None);
}

#[test]
fn messages_that_nobody_received_are_dropped() {
    let message = Rc::new(());
    let (sender, mut receiver) = unbounded_channel();
    (0..20).for_each(|_| sender.send(Rc::clone(&message)).unwrap());
    drop(receiver.try_recv());
    drop(receiver);
    assert_eq!(Rc::strong_count(&message), 1);
    assert!(sender.send(message).is_err());
}

#[test]
fn messages_need_not_live_for_ever() {
    let text = String::from("borrowed");
    let (sender, mut receiver) = unbounded_channel::<&str>();
    sender.send(&text).unwrap();
    assert_eq!(receiver.try_recv(), Ok(text.as_str()));
}

#[test]
#[should_panic = "mpsc bounded channel requires buffer > 0"]
fn a_channel_without_places_is_refused() {
    let _ends = channel::<u8>(0);
}

#[test]
fn the_ends_cross_threads_as_tokios_do() {
    fn both<T: Send + Sync + Unpin>(_: &T) {}
    let ends = channel::<std::cell::Cell<std::marker::PhantomPinned>>(1);
    both(&ends);
    fn send<T: Send>(_: T) {}
    let (sender, mut receiver) = channel::<std::cell::Cell<u8>>(1);
    send(sender.send(std::cell::Cell::new(1)));
    send(receiver.recv());
    send(sender.reserve());
}
