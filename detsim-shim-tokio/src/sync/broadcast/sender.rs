//! The end that sends.

use super::core::Closing;
use super::error::SendError;
use super::{Receiver, Shared, lock};
use detsim_executor::OpKind;
use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::Location;
use std::sync::Arc;

/// Sends to all receivers. The channel is open until all of them are dropped.
pub struct Sender<T> {
    shared: Arc<Shared<T>>,
}

/// A [`Sender`] that does not keep the channel open.
pub struct WeakSender<T> {
    shared: Arc<Shared<T>>,
}

impl<T> Sender<T> {
    /// The sender of a channel without a receiver.
    ///
    /// # Panics
    /// As [`channel`](super::channel).
    #[track_caller]
    pub fn new(capacity: usize) -> Self {
        Self { shared: Shared::new(capacity, 0, Location::caller()) }
    }

    /// The first one of a channel.
    pub(super) fn first(shared: Arc<Shared<T>>) -> Self {
        Self { shared }
    }

    /// Sends to all receivers: to how many. Those that are furthest behind lose a message.
    ///
    /// # Errors
    /// The message again, where there is no receiver.
    #[track_caller]
    pub fn send(&self, value: T) -> Result<usize, SendError<T>> {
        let shared = &*self.shared;
        shared.core.before(OpKind::Send);
        let mut turn = lock(&shared.turn);
        let mut place = shared.place(*turn);
        let Some((receivers, waited_for)) = shared.core.publish(Location::caller()) else {
            return Err(SendError(value));
        };
        (place.position, place.missing) = (*turn, receivers);
        let old = place.message.replace(value);
        *turn += 1;
        drop(place);
        drop(turn);
        // Wakers may do anything, and so may destructors: no lock is held from here on.
        if waited_for {
            shared.core.announce();
        }
        drop(old);
        Ok(receivers)
    }

    /// One more receiver, of what is sent from now on.
    #[track_caller]
    pub fn subscribe(&self) -> Receiver<T> {
        Receiver::subscribe(Arc::clone(&self.shared))
    }

    /// A sender that does not keep the channel open.
    #[must_use = "Downgrade creates a WeakSender without destroying the original non-weak sender."]
    pub fn downgrade(&self) -> WeakSender<T> {
        self.shared.core.add_weak();
        WeakSender { shared: Arc::clone(&self.shared) }
    }

    /// How many messages are kept that not all receivers had.
    pub fn len(&self) -> usize {
        let next = self.shared.core.looks().next;
        let capacity = self.shared.places.len() as u64;
        // Receivers have them in order: those that all had come before those that some had not.
        let (mut had, mut missing) = (0, capacity);
        while had < missing {
            let middle = had.midpoint(missing);
            let position = next.wrapping_sub(capacity).wrapping_add(middle);
            match self.shared.place(position).missing {
                0 => had = middle + 1,
                _ => missing = middle,
            }
        }
        (capacity - had) as usize
    }

    /// Whether all receivers had all messages.
    pub fn is_empty(&self) -> bool {
        let next = self.shared.core.looks().next;
        self.shared.place(next.wrapping_sub(1)).missing == 0
    }

    /// How many receivers there are.
    pub fn receiver_count(&self) -> usize {
        self.shared.core.looks().receivers
    }

    /// Whether both are of one channel.
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// Waits until there is no receiver. Cancel safe.
    #[track_caller]
    pub fn closed(&self) -> impl Future<Output = ()> {
        let site = Location::caller();
        async move {
            let mut closing = Closing::new(&self.shared.core, site);
            poll_fn(|cx| closing.poll(cx)).await
        }
    }

    /// How many senders there are.
    pub fn strong_count(&self) -> usize {
        self.shared.core.looks().senders
    }

    /// How many weak senders there are.
    pub fn weak_count(&self) -> usize {
        self.shared.core.looks().weak
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.shared.core.add_sender();
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.shared.core.leave_sender();
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("broadcast::Sender")
    }
}

impl<T> WeakSender<T> {
    /// A sender, unless all of them were dropped.
    #[must_use]
    pub fn upgrade(&self) -> Option<Sender<T>> {
        let upgraded = self.shared.core.upgrade();
        upgraded.then(|| Sender { shared: Arc::clone(&self.shared) })
    }

    /// How many senders there are.
    pub fn strong_count(&self) -> usize {
        self.shared.core.looks().senders
    }

    /// How many weak senders there are.
    pub fn weak_count(&self) -> usize {
        self.shared.core.looks().weak
    }
}

impl<T> Clone for WeakSender<T> {
    fn clone(&self) -> Self {
        self.shared.core.add_weak();
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<T> Drop for WeakSender<T> {
    fn drop(&mut self) {
        self.shared.core.leave_weak();
    }
}

impl<T> fmt::Debug for WeakSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("broadcast::WeakSender")
    }
}
