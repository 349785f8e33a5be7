//! Channels without a bound.
//!
//! Owns: the names and the errors of tokio's unbounded channel. Does not own: what it does
//! ([`super::chan`]).

use super::bounded::try_recv_error;
use super::chan::{Closing, Receiving, UNBOUNDED};
use super::ends::{self, Recv, Rx, Tx, WeakTx};
use crate::blocking::block_on;
use std::fmt;
use std::future::{Future, poll_fn};
use std::marker::PhantomPinned;
use std::panic::Location;
use std::task::{Context, Poll};
use tokio::sync::mpsc::error::{SendError, TryRecvError};

/// A channel with a place for every message.
///
/// # Examples
/// ```
/// use detsim_shim_tokio::sync::mpsc::unbounded_channel;
/// let (sender, mut receiver) = unbounded_channel();
/// sender.send("hello").unwrap();
/// drop(sender);
/// let sim = detsim_executor::Sim::new(7);
/// let both = sim.block_on(async move { (receiver.recv().await, receiver.recv().await) });
/// assert_eq!(both.unwrap(), (Some("hello"), None));
/// ```
#[track_caller]
pub fn unbounded_channel<T>() -> (UnboundedSender<T>, UnboundedReceiver<T>) {
    let (tx, rx) = ends::channel(UNBOUNDED);
    (UnboundedSender { tx }, UnboundedReceiver { rx })
}

/// Sends to an unbounded channel. The channel stays open until all of them are dropped.
pub struct UnboundedSender<T> {
    tx: Tx<T>,
}

/// An [`UnboundedSender`] that does not keep the channel open.
pub struct WeakUnboundedSender<T> {
    tx: WeakTx<T>,
}

/// Receives from an unbounded channel.
pub struct UnboundedReceiver<T> {
    rx: Rx<T>,
}

impl<T> UnboundedSender<T> {
    /// Sends.
    ///
    /// # Errors
    /// The message again, where the receiver is gone or closed.
    #[track_caller]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        let sent = self.tx.try_send(message, Location::caller());
        sent.map_err(|(_, message)| SendError(message))
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

    /// Whether the receiver is gone or closed.
    pub fn is_closed(&self) -> bool {
        self.tx.chan().looks().closed
    }

    /// Whether both are of one channel.
    pub fn same_channel(&self, other: &Self) -> bool {
        self.tx.is_same(&other.tx)
    }

    /// A sender that does not keep the channel open.
    #[must_use = "Downgrade creates a WeakSender without destroying the original non-weak sender."]
    pub fn downgrade(&self) -> WeakUnboundedSender<T> {
        WeakUnboundedSender { tx: self.tx.downgrade() }
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

impl<T> Clone for UnboundedSender<T> {
    fn clone(&self) -> Self {
        Self { tx: self.tx.clone() }
    }
}

impl<T> fmt::Debug for UnboundedSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnboundedSender").field("chan", self.tx.chan()).finish()
    }
}

impl<T> WeakUnboundedSender<T> {
    /// A sender, unless all of them were dropped.
    pub fn upgrade(&self) -> Option<UnboundedSender<T>> {
        self.tx.upgrade().map(|tx| UnboundedSender { tx })
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

impl<T> Clone for WeakUnboundedSender<T> {
    fn clone(&self) -> Self {
        Self { tx: self.tx.clone() }
    }
}

impl<T> fmt::Debug for WeakUnboundedSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakUnboundedSender").finish_non_exhaustive()
    }
}

impl<T> UnboundedReceiver<T> {
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

impl<T> fmt::Debug for UnboundedReceiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnboundedReceiver").field("chan", self.rx.chan()).finish()
    }
}
