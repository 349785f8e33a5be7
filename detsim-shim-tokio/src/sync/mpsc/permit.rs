//! Promised places of a channel.
//!
//! Owns: [`Permit`], [`PermitIterator`] and [`OwnedPermit`]. Invariant: a promise is used or given back.

use super::bounded::Sender;
use super::ends::Tx;
use std::fmt;
use std::iter::FusedIterator;
use std::panic::Location;

/// A place that is promised to one message. Dropping it gives the place back.
#[must_use = "a place that is not used is given back"]
pub struct Permit<'a, T> {
    tx: &'a Tx<T>,
}

impl<'a, T> Permit<'a, T> {
    pub(super) fn new(tx: &'a Tx<T>) -> Self {
        Self { tx }
    }

    /// Sends at once.
    #[track_caller]
    pub fn send(self, value: T) {
        let tx = self.tx;
        std::mem::forget(self);
        tx.send_promised(value, Location::caller());
    }
}

impl<T> Drop for Permit<'_, T> {
    fn drop(&mut self) {
        self.tx.chan().unreserve(1);
    }
}

impl<T> fmt::Debug for Permit<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit").finish_non_exhaustive()
    }
}

/// Places that are promised, one after the other. Dropping it gives back those that are left.
#[must_use = "places that are not used are given back"]
pub struct PermitIterator<'a, T> {
    tx: &'a Tx<T>,
    left: usize,
}

impl<'a, T> PermitIterator<'a, T> {
    pub(super) fn new(tx: &'a Tx<T>, left: usize) -> Self {
        Self { tx, left }
    }
}

impl<'a, T> Iterator for PermitIterator<'a, T> {
    type Item = Permit<'a, T>;

    fn next(&mut self) -> Option<Permit<'a, T>> {
        self.left = self.left.checked_sub(1)?;
        Some(Permit::new(self.tx))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<T> ExactSizeIterator for PermitIterator<'_, T> {}
impl<T> FusedIterator for PermitIterator<'_, T> {}

impl<T> Drop for PermitIterator<'_, T> {
    fn drop(&mut self) {
        if self.left > 0 {
            self.tx.chan().unreserve(self.left);
        }
    }
}

impl<T> fmt::Debug for PermitIterator<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PermitIterator").field("capacity", &self.left).finish_non_exhaustive()
    }
}

/// As [`Permit`], with the sender that it came from.
#[must_use = "a place that is not used is given back"]
pub struct OwnedPermit<T> {
    /// `None` once the place was used or given back.
    tx: Option<Tx<T>>,
}

impl<T> OwnedPermit<T> {
    pub(super) fn new(tx: Tx<T>) -> Self {
        Self { tx: Some(tx) }
    }

    fn take(&mut self) -> Tx<T> {
        self.tx.take().expect("invariant: a permit that can be used was not used before")
    }

    /// Sends at once, and gives the sender back.
    #[track_caller]
    pub fn send(mut self, value: T) -> Sender<T> {
        let tx = self.take();
        tx.send_promised(value, Location::caller());
        Sender::new(tx)
    }

    /// Gives the place back, and the sender.
    pub fn release(mut self) -> Sender<T> {
        let tx = self.take();
        tx.chan().unreserve(1);
        Sender::new(tx)
    }

    /// Whether both are of one channel.
    pub fn same_channel(&self, other: &Self) -> bool {
        self.tx.as_ref().zip(other.tx.as_ref()).is_some_and(|(a, b)| a.is_same(b))
    }

    /// Whether the sender is of this channel.
    pub fn same_channel_as_sender(&self, sender: &Sender<T>) -> bool {
        self.tx.as_ref().is_some_and(|tx| tx.is_same(sender.tx()))
    }
}

impl<T> Drop for OwnedPermit<T> {
    fn drop(&mut self) {
        if let Some(tx) = self.tx.take() {
            tx.chan().unreserve(1);
        }
    }
}

impl<T> fmt::Debug for OwnedPermit<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedPermit").finish_non_exhaustive()
    }
}
