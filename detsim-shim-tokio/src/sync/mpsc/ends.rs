//! The two ends of a channel, with the type of its messages.
//!
//! Owns: [`Tx`] and [`Rx`], what bounded and unbounded channels have in common. Does not own: what a
//! channel does ([`super::chan`]). Invariant: messages that nobody received are dropped with the
//! receiver, outside of any section.

use super::chan::{Chan, Looks, Receiving, Refused, Sending, Wait};
use crate::sync::ring::{Items, Slot, ring};
use std::future::Future;
use std::marker::PhantomPinned;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::mpsc::error::SendError;

/// A channel of `capacity` places.
#[track_caller]
pub(super) fn channel<T>(capacity: usize) -> (Tx<T>, Rx<T>) {
    let (ring, items) = ring::<T>();
    let chan = Arc::new(Chan::new(ring, capacity));
    (Tx { chan: Arc::clone(&chan), items: items.clone() }, Rx { chan, items })
}

/// A sender.
pub(super) struct Tx<T> {
    pub(super) chan: Arc<Chan>,
    pub(super) items: Items<T>,
}

/// A sender that does not keep the channel open.
pub(super) struct WeakTx<T> {
    chan: Arc<Chan>,
    items: Items<T>,
}

/// The receiver.
pub(super) struct Rx<T> {
    pub(super) chan: Arc<Chan>,
    pub(super) items: Items<T>,
}

impl<T> Tx<T> {
    #[inline]
    pub(super) fn chan(&self) -> &Chan {
        &self.chan
    }

    /// Sends at once, or gives the message back.
    #[inline]
    pub(super) fn try_send(
        &self,
        message: T,
        site: &'static Location<'static>,
    ) -> Result<(), (Refused, T)> {
        let mut slot = self.items.full(message);
        let sent = self.chan.try_send(slot.seen(), site);
        sent.map_err(|refused| (refused, unsent(&mut slot)))
    }

    /// Sends in a place that was promised.
    pub(super) fn send_promised(&self, message: T, site: &'static Location<'static>) {
        let mut slot = self.items.full(message);
        self.chan.send_promised(slot.seen(), site);
    }

    pub(super) fn downgrade(&self) -> WeakTx<T> {
        self.chan.add_weak();
        WeakTx { chan: Arc::clone(&self.chan), items: self.items.clone() }
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.chan, &other.chan)
    }
}

fn unsent<T>(slot: &mut Slot<T>) -> T {
    slot.take().expect("invariant: a message that was not sent is still in its slot")
}

impl<T> Clone for Tx<T> {
    fn clone(&self) -> Self {
        self.chan.add_sender();
        Self { chan: Arc::clone(&self.chan), items: self.items.clone() }
    }
}

impl<T> Drop for Tx<T> {
    fn drop(&mut self) {
        self.chan.leave_sender();
    }
}

impl<T> WeakTx<T> {
    pub(super) fn upgrade(&self) -> Option<Tx<T>> {
        let upgraded = self.chan.upgrade();
        upgraded.then(|| Tx { chan: Arc::clone(&self.chan), items: self.items.clone() })
    }

    pub(super) fn looks(&self) -> Looks {
        self.chan.looks()
    }
}

impl<T> Clone for WeakTx<T> {
    fn clone(&self) -> Self {
        self.chan.add_weak();
        Self { chan: Arc::clone(&self.chan), items: self.items.clone() }
    }
}

impl<T> Drop for WeakTx<T> {
    fn drop(&mut self) {
        self.chan.leave_weak();
    }
}

impl<T> Rx<T> {
    pub(super) fn chan(&self) -> &Chan {
        &self.chan
    }

    pub(super) fn try_recv(&mut self, site: &'static Location<'static>) -> Result<T, Refused> {
        let mut slot = self.items.empty();
        self.chan.try_recv(slot.seen(), site)?;
        Ok(received(&mut slot))
    }

    pub(super) fn poll_recv(
        &mut self,
        cx: &Context<'_>,
        site: &'static Location<'static>,
    ) -> Poll<Option<T>> {
        let mut slot = self.items.empty();
        let polled = Wait::new(&self.chan, site).poll(cx, slot.seen());
        polled.map(|there| there.then(|| received(&mut slot)))
    }

    /// Waits for a first message and takes what there is, at most `limit`; how many.
    pub(super) fn poll_recv_many(
        &mut self,
        cx: &Context<'_>,
        buffer: &mut Vec<T>,
        limit: usize,
        site: &'static Location<'static>,
    ) -> Poll<usize> {
        if limit == 0 {
            return Poll::Ready(0);
        }
        let Some(first) = std::task::ready!(self.poll_recv(cx, site)) else {
            return Poll::Ready(0);
        };
        buffer.push(first);
        Poll::Ready(1 + self.take_more(buffer, limit - 1, site))
    }

    /// Waits for a first message and takes what there is, at most `limit`; how many.
    pub(super) async fn recv_many(
        &mut self,
        buffer: &mut Vec<T>,
        limit: usize,
        site: &'static Location<'static>,
    ) -> usize {
        if limit == 0 {
            return 0;
        }
        let receiving = Receiving::new(&self.chan, site);
        let recv = Recv { receiving, items: &self.items, pinned: PhantomPinned };
        let Some(first) = recv.await else { return 0 };
        buffer.push(first);
        1 + self.take_more(buffer, limit - 1, site)
    }

    fn take_more(
        &mut self,
        buffer: &mut Vec<T>,
        limit: usize,
        site: &'static Location<'static>,
    ) -> usize {
        let before = buffer.len();
        buffer.extend((0..limit).map_while(|_| self.try_recv(site).ok()));
        buffer.len() - before
    }
}

fn received<T>(slot: &mut Slot<T>) -> T {
    slot.take().expect("invariant: a message that was received is in its slot")
}

impl<T> Drop for Rx<T> {
    fn drop(&mut self) {
        self.chan.leave_receiver();
        Rest(self).drop_all();
    }
}

/// The messages that nobody received. Where the destructor of one panics, the others follow it.
struct Rest<'a, T>(&'a Rx<T>);

impl<T> Rest<'_, T> {
    fn drop_all(&self) {
        let mut slot = self.0.items.empty();
        while self.0.chan.drain(slot.seen()) {
            drop(slot.take());
        }
    }
}

impl<T> Drop for Rest<'_, T> {
    fn drop(&mut self) {
        self.drop_all();
    }
}

pin_project_lite::pin_project! {
    /// A message on its way. As in tokio not `Unpin`. Built in place by who sends: where the user's
    /// crate is not optimised, each function on the way costs a copy.
    pub(super) struct Send<'a, T> {
        pub(super) sending: Sending<'a>,
        pub(super) slot: Slot<T>,
        #[pin]
        pub(super) pinned: PhantomPinned,
    }
}

impl<T> Future for Send<'_, T> {
    type Output = Result<(), SendError<T>>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        match this.sending.poll_send(cx, this.slot.seen()) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(true) => Poll::Ready(Ok(())),
            Poll::Ready(false) => Poll::Ready(Err(SendError(unsent(this.slot)))),
        }
    }
}

pin_project_lite::pin_project! {
    /// A wait for a message. As in tokio not `Unpin`. Built in place, as [`Send`].
    pub(super) struct Recv<'a, T> {
        pub(super) receiving: Receiving<'a>,
        pub(super) items: &'a Items<T>,
        #[pin]
        pub(super) pinned: PhantomPinned,
    }
}

impl<T> Future for Recv<'_, T> {
    type Output = Option<T>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let mut slot = this.items.empty();
        match this.receiving.poll(cx, slot.seen()) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(_) => Poll::Ready(slot.take()),
        }
    }
}
