//! Channels with a bound.
//!
//! Owns: the names and the errors of tokio's bounded channel. Does not own: what it does
//! ([`super::chan`]).

use super::chan::{Closing, Receiving, Refused, Sending};
use super::ends::{self, Recv, Rx, Send, Tx, WeakTx};
use super::permit::{OwnedPermit, Permit, PermitIterator};
use crate::blocking::block_on;
use crate::time::{Duration, timeout};
use std::fmt;
use std::future::{Future, poll_fn};
use std::marker::PhantomPinned;
use std::panic::Location;
use std::task::{Context, Poll};
use tokio::sync::mpsc::error::{SendError, SendTimeoutError, TryRecvError, TrySendError};

/// A channel with places for `buffer` messages. Who waits to send is served in the order of waiting.
///
/// # Panics
/// Where `buffer` is 0, or more than a semaphore has permits.
///
/// # Examples
/// ```
/// use detsim_shim_tokio::{spawn, sync::mpsc};
/// let sim = detsim_executor::Sim::new(7);
/// let sum = sim.block_on(async {
///     let (sender, mut receiver) = mpsc::channel(2);
///     spawn(async move {
///         for number in 1..=10 {
///             sender.send(number).await.unwrap();
///         }
///     });
///     let mut sum = 0;
///     while let Some(number) = receiver.recv().await {
///         sum += number;
///     }
///     sum
/// });
/// assert_eq!(sum.unwrap(), 55);
/// ```
#[track_caller]
pub fn channel<T>(buffer: usize) -> (Sender<T>, Receiver<T>) {
    assert!(buffer > 0, "mpsc bounded channel requires buffer > 0");
    let max = crate::sync::Semaphore::MAX_PERMITS;
    assert!(buffer <= max, "a semaphore may not have more than MAX_PERMITS permits ({max})");
    let (tx, rx) = ends::channel(buffer);
    (Sender { tx }, Receiver { rx })
}

/// Sends to a bounded channel. The channel stays open until all of them are dropped.
pub struct Sender<T> {
    tx: Tx<T>,
}

/// A [`Sender`] that does not keep the channel open.
pub struct WeakSender<T> {
    tx: WeakTx<T>,
}

/// Receives from a bounded channel.
pub struct Receiver<T> {
    rx: Rx<T>,
}

impl<T> Sender<T> {
    pub(super) fn new(tx: Tx<T>) -> Self {
        Self { tx }
    }

    pub(super) fn tx(&self) -> &Tx<T> {
        &self.tx
    }

    /// Waits for a place and sends. Cancel safe: a message that is given up was not sent.
    ///
    /// # Errors
    /// The message again, where the receiver is gone or closed.
    #[track_caller]
    pub fn send(&self, value: T) -> impl Future<Output = Result<(), SendError<T>>> {
        Send {
            sending: Sending::new(&self.tx.chan, 1, Location::caller()),
            slot: self.tx.items.full(value),
            pinned: PhantomPinned,
        }
    }

    /// Waits until the receiver is gone or closed.
    #[track_caller]
    pub fn closed(&self) -> impl Future<Output = ()> {
        let site = Location::caller();
        async move {
            let mut closing = Closing::new(self.tx.chan(), site);
            poll_fn(|cx| closing.poll(cx)).await
        }
    }

    /// Sends, if there is a place.
    ///
    /// # Errors
    /// The message again, where there is none, or the receiver is gone or closed.
    #[track_caller]
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        let sent = self.tx.try_send(message, Location::caller());
        sent.map_err(|(refused, message)| try_error(refused, message))
    }

    /// Waits for a place and sends, for `timeout` at most.
    ///
    /// # Errors
    /// The message again, where no place came in time, or the receiver is gone or closed.
    #[track_caller]
    pub fn send_timeout(
        &self,
        value: T,
        duration: Duration,
    ) -> impl Future<Output = Result<(), SendTimeoutError<T>>> {
        let reserved = timeout(duration, self.reserve());
        async move {
            match reserved.await {
                Ok(Ok(permit)) => {
                    permit.send(value);
                    Ok(())
                }
                Ok(Err(_)) => Err(SendTimeoutError::Closed(value)),
                Err(_) => Err(SendTimeoutError::Timeout(value)),
            }
        }
    }

    /// Blocks the thread until there is a place, and sends.
    ///
    /// # Errors
    /// The message again, where the receiver is gone or closed.
    ///
    /// # Panics
    /// In a task.
    #[track_caller]
    pub fn blocking_send(&self, value: T) -> Result<(), SendError<T>> {
        block_on(self.send(value))
    }

    /// Whether the receiver is gone or closed.
    pub fn is_closed(&self) -> bool {
        self.tx.chan().looks().closed
    }

    /// Waits for a place, and has it promised.
    ///
    /// # Errors
    /// Where the receiver is gone or closed.
    #[track_caller]
    pub fn reserve(&self) -> impl Future<Output = Result<Permit<'_, T>, SendError<()>>> {
        let mut sending = Sending::new(self.tx.chan(), 1, Location::caller());
        async move {
            let promised = poll_fn(|cx| sending.poll_reserve(cx)).await;
            promised.then(|| Permit::new(&self.tx)).ok_or(SendError(()))
        }
    }

    /// Waits for `n` places, and has them promised.
    ///
    /// # Errors
    /// Where the receiver is gone or closed, or the channel has fewer places.
    #[track_caller]
    pub fn reserve_many(
        &self,
        n: usize,
    ) -> impl Future<Output = Result<PermitIterator<'_, T>, SendError<()>>> {
        let mut sending = Sending::new(self.tx.chan(), n, Location::caller());
        async move {
            let promised = poll_fn(|cx| sending.poll_reserve(cx)).await;
            promised.then(|| PermitIterator::new(&self.tx, n)).ok_or(SendError(()))
        }
    }

    /// Waits for a place, and has it promised to the permit, which keeps the sender.
    ///
    /// # Errors
    /// Where the receiver is gone or closed.
    #[track_caller]
    pub fn reserve_owned(self) -> impl Future<Output = Result<OwnedPermit<T>, SendError<()>>> {
        let site = Location::caller();
        async move {
            let mut sending = Sending::new(self.tx.chan(), 1, site);
            let promised = poll_fn(|cx| sending.poll_reserve(cx)).await;
            drop(sending);
            promised.then(|| OwnedPermit::new(self.tx)).ok_or(SendError(()))
        }
    }

    /// Has a place promised, if there is one.
    ///
    /// # Errors
    /// Where there is none, or the receiver is gone or closed.
    pub fn try_reserve(&self) -> Result<Permit<'_, T>, TrySendError<()>> {
        self.tx.chan().try_reserve(1).map_err(|refused| try_error(refused, ()))?;
        Ok(Permit::new(&self.tx))
    }

    /// Has `n` places promised, if there are that many.
    ///
    /// # Errors
    /// Where there are fewer, or the receiver is gone or closed.
    pub fn try_reserve_many(&self, n: usize) -> Result<PermitIterator<'_, T>, TrySendError<()>> {
        self.tx.chan().try_reserve(n).map_err(|refused| try_error(refused, ()))?;
        Ok(PermitIterator::new(&self.tx, n))
    }

    /// Has a place promised to the permit, which keeps the sender.
    ///
    /// # Errors
    /// The sender again, where there is none, or the receiver is gone or closed.
    pub fn try_reserve_owned(self) -> Result<OwnedPermit<T>, TrySendError<Self>> {
        match self.tx.chan().try_reserve(1) {
            Ok(()) => Ok(OwnedPermit::new(self.tx)),
            Err(refused) => Err(try_error(refused, self)),
        }
    }

    /// Whether both are of one channel.
    pub fn same_channel(&self, other: &Self) -> bool {
        self.tx.is_same(&other.tx)
    }

    /// How many places are neither in use nor promised.
    pub fn capacity(&self) -> usize {
        self.tx.chan().looks().free
    }

    /// A sender that does not keep the channel open.
    #[must_use = "Downgrade creates a WeakSender without destroying the original non-weak sender."]
    pub fn downgrade(&self) -> WeakSender<T> {
        WeakSender { tx: self.tx.downgrade() }
    }

    /// How many places there are.
    pub fn max_capacity(&self) -> usize {
        self.tx.chan().looks().places
    }

    /// How many senders there are.
    pub fn strong_count(&self) -> usize {
        self.tx.chan().looks().senders
    }

    /// How many weak senders there are.
    pub fn weak_count(&self) -> usize {
        self.tx.chan().looks().weak
    }
}

fn try_error<M>(refused: Refused, message: M) -> TrySendError<M> {
    match refused {
        Refused::Closed => TrySendError::Closed(message),
        Refused::Full => TrySendError::Full(message),
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Self { tx: self.tx.clone() }
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").field("chan", self.tx.chan()).finish()
    }
}

impl<T> WeakSender<T> {
    /// A sender, unless all of them were dropped.
    pub fn upgrade(&self) -> Option<Sender<T>> {
        self.tx.upgrade().map(Sender::new)
    }

    /// How many senders there are.
    pub fn strong_count(&self) -> usize {
        self.tx.looks().senders
    }

    /// How many weak senders there are.
    pub fn weak_count(&self) -> usize {
        self.tx.looks().weak
    }
}

impl<T> Clone for WeakSender<T> {
    fn clone(&self) -> Self {
        Self { tx: self.tx.clone() }
    }
}

impl<T> fmt::Debug for WeakSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakSender").finish_non_exhaustive()
    }
}

impl<T> Receiver<T> {
    /// Waits for a message; `None` once no more can come. Cancel safe: no message is lost.
    #[track_caller]
    pub fn recv(&mut self) -> impl Future<Output = Option<T>> {
        Recv {
            receiving: Receiving::new(&self.rx.chan, Location::caller()),
            items: &self.rx.items,
            pinned: PhantomPinned,
        }
    }

    /// Waits for a message and appends what is there to `buffer`, at most `limit`. How many; 0 once
    /// no more can come.
    #[track_caller]
    pub fn recv_many(&mut self, buffer: &mut Vec<T>, limit: usize) -> impl Future<Output = usize> {
        self.rx.recv_many(buffer, limit, Location::caller())
    }

    /// A message, if there is one.
    ///
    /// # Errors
    /// Where there is none yet, or none can come any more.
    #[track_caller]
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        self.rx.try_recv(Location::caller()).map_err(try_recv_error)
    }

    /// Blocks the thread until there is a message; `None` once no more can come.
    ///
    /// # Panics
    /// In a task.
    #[track_caller]
    pub fn blocking_recv(&mut self) -> Option<T> {
        block_on(self.recv())
    }

    /// Blocks the thread as [`Self::recv_many`] waits.
    ///
    /// # Panics
    /// In a task.
    #[track_caller]
    pub fn blocking_recv_many(&mut self, buffer: &mut Vec<T>, limit: usize) -> usize {
        block_on(self.recv_many(buffer, limit))
    }

    /// Takes no new messages; those that are there can still be received.
    pub fn close(&mut self) {
        self.rx.chan().close();
    }

    /// Whether no new messages can come: it was closed, or all senders were dropped.
    pub fn is_closed(&self) -> bool {
        let looks = self.rx.chan().looks();
        looks.closed || looks.senders == 0
    }

    /// Whether no message is there.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many messages are there.
    pub fn len(&self) -> usize {
        self.rx.chan().looks().messages
    }

    /// How many places are neither in use nor promised.
    pub fn capacity(&self) -> usize {
        self.rx.chan().looks().free
    }

    /// How many places there are.
    pub fn max_capacity(&self) -> usize {
        self.rx.chan().looks().places
    }

    /// Polls for a message.
    #[track_caller]
    pub fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<T>> {
        self.rx.poll_recv(cx, Location::caller())
    }

    /// Polls for messages, as [`Self::recv_many`].
    #[track_caller]
    pub fn poll_recv_many(
        &mut self,
        cx: &mut Context<'_>,
        buffer: &mut Vec<T>,
        limit: usize,
    ) -> Poll<usize> {
        self.rx.poll_recv_many(cx, buffer, limit, Location::caller())
    }

    /// How many senders there are.
    pub fn sender_strong_count(&self) -> usize {
        self.rx.chan().looks().senders
    }

    /// How many weak senders there are.
    pub fn sender_weak_count(&self) -> usize {
        self.rx.chan().looks().weak
    }
}

pub(super) fn try_recv_error(refused: Refused) -> TryRecvError {
    match refused {
        Refused::Closed => TryRecvError::Disconnected,
        Refused::Full => TryRecvError::Empty,
    }
}

impl<T> Unpin for Receiver<T> {}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").field("chan", self.rx.chan()).finish()
    }
}
