//! A value that several read at a time.
//!
//! Owns: [`Shared`], the way to a value while one of its permits is held, come by with that permit or
//! made of a [`Held`] that gives the others back. Does not own: the value ([`super`]).

use super::{Guarded, Held, Lock, OwnedPermit, pointer};
use crate::sync::batch_semaphore::{Acquire, Closed, Permit};
use detsim_executor::Role;
use std::fmt;
use std::future::poll_fn;
use std::ops::Deref;
use std::panic::Location;
use std::ptr::NonNull;
use std::sync::Arc;
use std::task::{Context, Poll};

/// A value, or a part of it, and one of the permits to look at it.
pub(crate) struct Shared<P, U: ?Sized> {
    permit: P,
    value: NonNull<U>,
}

// SAFETY: the pointer is as good as a `&U`.
unsafe impl<P: Send, U: ?Sized + Sync> Send for Shared<P, U> {}
// SAFETY: as above; `U: Send` is tokio's demand, not ours.
unsafe impl<P: Sync, U: ?Sized + Send + Sync> Sync for Shared<P, U> {}

impl<T: ?Sized> Guarded<T> {
    /// Waits for one permit.
    #[inline]
    pub(crate) fn share(&self, site: &'static Location<'static>) -> Sharing<'_, T> {
        Sharing { acquire: self.semaphore.acquire(1, Role::Reads, site), guarded: self }
    }

    /// Takes one permit, if one is free.
    pub(crate) fn try_share(
        &self,
        site: &'static Location<'static>,
    ) -> Option<Shared<Permit<'_>, T>> {
        let permit = self.semaphore.try_acquire(1, Role::Reads, site).ok()?;
        Some(Shared { permit, value: pointer(&self.value) })
    }
}

/// A wait for one permit of a value.
pub(crate) struct Sharing<'a, T: ?Sized> {
    acquire: Acquire<'a>,
    guarded: &'a Guarded<T>,
}

impl<'a, T: ?Sized> Sharing<'a, T> {
    #[inline]
    pub(crate) fn poll(&mut self, cx: &Context<'_>) -> Poll<Shared<Permit<'a>, T>> {
        match self.acquire.poll(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Ok(permit)) => {
                Poll::Ready(Shared { permit, value: pointer(&self.guarded.value) })
            }
            Poll::Ready(Err(Closed)) => unreachable!("the semaphore of a value is never closed"),
        }
    }
}

/// Waits for one permit of a lock that is shared.
pub(crate) async fn share_owned<L: Lock + ?Sized>(
    owner: Arc<L>,
    site: &'static Location<'static>,
) -> Shared<OwnedPermit<L>, L::Value> {
    let mut sharing = owner.guarded().share(site);
    let Shared { permit, .. } = poll_fn(|cx| sharing.poll(cx)).await;
    let key = permit.into_key();
    drop(sharing);
    OwnedPermit { owner, key, count: 1 }.share()
}

/// Takes one permit of a lock that is shared, if one is free.
pub(crate) fn try_share_owned<L: Lock + ?Sized>(
    owner: Arc<L>,
    site: &'static Location<'static>,
) -> Option<Shared<OwnedPermit<L>, L::Value>> {
    let Shared { permit, .. } = owner.guarded().try_share(site)?;
    let key = permit.into_key();
    Some(OwnedPermit { owner, key, count: 1 }.share())
}

impl<L: Lock + ?Sized> OwnedPermit<L> {
    fn share(self) -> Shared<Self, L::Value> {
        let value = pointer(&self.owner.guarded().value);
        Shared { permit: self, value }
    }
}

/// All permits of a value, of which all but one can be given back.
pub(crate) trait Downgrade {
    fn downgrade(&mut self);
}

impl Downgrade for Permit<'_> {
    fn downgrade(&mut self) {
        Permit::downgrade(self);
    }
}

impl<L: Lock + ?Sized> Downgrade for OwnedPermit<L> {
    fn downgrade(&mut self) {
        let given = std::mem::replace(&mut self.count, 1) - 1;
        self.owner.guarded().semaphore.downgrade(&self.key, given);
    }
}

impl<P: Downgrade, U: ?Sized> Held<P, U> {
    /// A part of the value, to look at, with the other permits given back.
    pub(crate) fn downgrade<V: ?Sized>(self, f: impl FnOnce(&U) -> &V) -> Shared<P, V> {
        let value = NonNull::from(f(&self));
        self.shared(value)
    }

    /// A part of the value, where there is one, to look at, with the other permits given back.
    pub(crate) fn try_downgrade<V: ?Sized>(
        self,
        f: impl FnOnce(&U) -> Option<&V>,
    ) -> Result<Shared<P, V>, Self> {
        match f(&self).map(NonNull::from) {
            Some(value) => Ok(self.shared(value)),
            None => Err(self),
        }
    }

    fn shared<V: ?Sized>(mut self, value: NonNull<V>) -> Shared<P, V> {
        self.permit.downgrade();
        Shared { permit: self.permit, value }
    }
}

impl<P, U: ?Sized> Shared<P, U> {
    pub(crate) fn permit(&self) -> &P {
        &self.permit
    }

    /// A part of the value.
    pub(crate) fn map<V: ?Sized>(self, f: impl FnOnce(&U) -> &V) -> Shared<P, V> {
        let value = NonNull::from(f(&self));
        Shared { permit: self.permit, value }
    }

    /// A part of the value, where there is one.
    pub(crate) fn try_map<V: ?Sized>(
        self,
        f: impl FnOnce(&U) -> Option<&V>,
    ) -> Result<Shared<P, V>, Self> {
        match f(&self).map(NonNull::from) {
            Some(value) => Ok(Shared { permit: self.permit, value }),
            None => Err(self),
        }
    }
}

impl<P, U: ?Sized> Deref for Shared<P, U> {
    type Target = U;
    #[inline]
    fn deref(&self) -> &U {
        // SAFETY: a permit is held, so the value lives and nobody writes to it.
        unsafe { self.value.as_ref() }
    }
}

impl<P, U: ?Sized + fmt::Debug> fmt::Debug for Shared<P, U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<P, U: ?Sized + fmt::Display> fmt::Display for Shared<P, U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
