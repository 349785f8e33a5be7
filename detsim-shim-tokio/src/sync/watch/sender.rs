//! The end that changes the value.

use super::core::Closing;
use super::error::SendError;
use super::{Receiver, Ref, Shared, channel};
use detsim_executor::OpKind;
use std::future::{Future, poll_fn};
use std::mem;
use std::panic::Location;
use std::sync::Arc;

/// Changes the value. The channel is open until all of them are dropped.
#[derive(Debug)]
pub struct Sender<T> {
    shared: Arc<Shared<T>>,
}

impl<T> Sender<T> {
    /// The sender of a channel without a receiver.
    #[track_caller]
    pub fn new(init: T) -> Self {
        channel(init).0
    }

    /// The first one of a channel.
    pub(super) fn first(shared: Arc<Shared<T>>) -> Self {
        Self { shared }
    }

    /// Puts another value in place of the one that is there.
    ///
    /// # Errors
    /// The value again, where there is no receiver.
    #[track_caller]
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        if self.receiver_count() == 0 {
            return Err(SendError(value));
        }
        self.send_replace(value);
        Ok(())
    }

    /// Changes the value, with or without receivers.
    #[track_caller]
    pub fn send_modify<F>(&self, modify: F)
    where
        F: FnOnce(&mut T),
    {
        self.send_if_modified(|value| {
            modify(value);
            true
        });
    }

    /// Changes the value, and tells receivers where `modify` gives true; what it gives.
    #[track_caller]
    pub fn send_if_modified<F>(&self, modify: F) -> bool
    where
        F: FnOnce(&mut T) -> bool,
    {
        self.shared.core.before(OpKind::Send);
        let mut value = self.shared.write();
        if !modify(&mut value) {
            return false;
        }
        self.shared.core.publish(Location::caller());
        drop(value);
        self.shared.core.announce();
        true
    }

    /// Puts another value in place of the one that was there, with or without receivers; the old one.
    #[track_caller]
    pub fn send_replace(&self, mut value: T) -> T {
        self.send_modify(|old| mem::swap(old, &mut value));
        value
    }

    /// The value.
    pub fn borrow(&self) -> Ref<'_, T> {
        self.shared.core.before(OpKind::Read);
        Ref { inner: self.shared.read(), has_changed: false }
    }

    /// Whether there is no receiver.
    pub fn is_closed(&self) -> bool {
        self.receiver_count() == 0
    }

    /// Waits until there is no receiver. Cancel safe.
    #[track_caller]
    pub fn closed(&self) -> impl Future<Output = ()> {
        let site = Location::caller();
        async move {
            // The value's type is part of the future, as in tokio.
            let mut closing = Closing::new(&self.shared.core, site);
            poll_fn(|cx| closing.poll(cx)).await
        }
    }

    /// One more receiver, which has seen the value that is there.
    pub fn subscribe(&self) -> Receiver<T> {
        Receiver::subscribe(Arc::clone(&self.shared))
    }

    /// How many receivers there are.
    pub fn receiver_count(&self) -> usize {
        self.shared.core.looks().receivers
    }

    /// How many senders there are.
    pub fn sender_count(&self) -> usize {
        self.shared.core.looks().senders
    }

    /// Whether both are of one channel.
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.shared.core.add_sender();
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<T: Default> Default for Sender<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.shared.core.leave_sender();
    }
}
