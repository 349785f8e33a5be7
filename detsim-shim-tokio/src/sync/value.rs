//! A value that whoever has the permits may touch.
//!
//! Owns: [`Guarded`], a value and its semaphore, and [`Held`], the way to the value while all permits
//! are held. Does not own: how permits are come by ([`super::batch_semaphore`]), or the way to the value
//! for those who share it ([`Shared`]). Invariants: the semaphore of a `Guarded` has `all` permits, is
//! never closed, and is given no others; a `Held` has all of them and a `Shared` at least one, so there
//! is one `Held`, or any number of `Shared`s, at a time; and what they point to outlives them, because
//! their permit borrows or owns the `Guarded`. One section of the semaphore's cell ends before the next
//! begins, which orders one holder's accesses before the next one's.
#![expect(
    unsafe_code,
    reason = "a value is reached through a pointer by whoever holds the permits"
)]

mod shared;

use crate::sync::batch_semaphore::{Acquire, Closed, Permit, Semaphore};
use crate::sync::holders::Key;
use detsim_executor::{ResourceKind, Role};
use std::cell::UnsafeCell;
use std::fmt;
use std::future::poll_fn;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::ptr::NonNull;
use std::sync::Arc;
use std::task::{Context, Poll};

pub(super) use shared::{Shared, Sharing, share_owned, try_share_owned};

/// A value and the permits to touch it.
pub(super) struct Guarded<T: ?Sized> {
    semaphore: Semaphore,
    all: u32,
    value: UnsafeCell<T>,
}

// SAFETY: a shared `Guarded` hands `&mut T` to one holder at a time, on whatever thread; so it does no
// more than send `T` from thread to thread. Whoever hands out `&T` to several asks for `T: Sync`.
unsafe impl<T: ?Sized + Send> Sync for Guarded<T> {}

/// A lock: what a [`Guarded`] is part of.
pub(super) trait Lock {
    type Value: ?Sized;

    fn guarded(&self) -> &Guarded<Self::Value>;
}

impl<T> Guarded<T> {
    #[track_caller]
    pub(super) fn new(kind: ResourceKind, all: u32, value: T) -> Self {
        Self { semaphore: Semaphore::new(kind, all as usize), all, value: UnsafeCell::new(value) }
    }

    #[track_caller]
    pub(super) const fn const_new(kind: ResourceKind, all: u32, value: T) -> Self {
        let semaphore = Semaphore::const_new(kind, all as usize);
        Self { semaphore, all, value: UnsafeCell::new(value) }
    }

    pub(super) fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized> Guarded<T> {
    pub(super) fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }

    /// Waits for all permits.
    #[inline]
    pub(super) fn hold(&self, role: Role, site: &'static Location<'static>) -> Holding<'_, T> {
        Holding { acquire: self.semaphore.acquire(self.all, role, site), guarded: self }
    }

    /// Takes all permits, if they are free.
    pub(super) fn try_hold(
        &self,
        role: Role,
        site: &'static Location<'static>,
    ) -> Option<Held<Permit<'_>, T>> {
        Some(self.held(self.semaphore.try_acquire(self.all, role, site).ok()?))
    }

    /// The value, for all permits of this semaphore.
    #[inline]
    fn held<'a>(&'a self, permit: Permit<'a>) -> Held<Permit<'a>, T> {
        Held { permit, value: pointer(&self.value), _invariant: PhantomData }
    }
}

/// A wait for all permits of a value.
pub(super) struct Holding<'a, T: ?Sized> {
    acquire: Acquire<'a>,
    guarded: &'a Guarded<T>,
}

impl<'a, T: ?Sized> Holding<'a, T> {
    #[inline]
    pub(super) fn poll(&mut self, cx: &Context<'_>) -> Poll<Held<Permit<'a>, T>> {
        match self.acquire.poll(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Ok(permit)) => Poll::Ready(self.guarded.held(permit)),
            Poll::Ready(Err(Closed)) => unreachable!("the semaphore of a value is never closed"),
        }
    }
}

fn pointer<T: ?Sized>(value: &UnsafeCell<T>) -> NonNull<T> {
    // SAFETY: the pointer of a reference is not null.
    unsafe { NonNull::new_unchecked(value.get()) }
}

/// Waits for all permits of a lock that is shared.
pub(super) async fn hold_owned<L: Lock + ?Sized>(
    owner: Arc<L>,
    role: Role,
    site: &'static Location<'static>,
) -> Held<OwnedPermit<L>, L::Value> {
    let mut holding = owner.guarded().hold(role, site);
    let Held { permit, .. } = poll_fn(|cx| holding.poll(cx)).await;
    let key = permit.into_key();
    drop(holding);
    OwnedPermit { count: owner.guarded().all, owner, key }.hold()
}

/// Takes all permits of a lock that is shared, if they are free.
pub(super) fn try_hold_owned<L: Lock + ?Sized>(
    owner: Arc<L>,
    role: Role,
    site: &'static Location<'static>,
) -> Option<Held<OwnedPermit<L>, L::Value>> {
    let Held { permit, .. } = owner.guarded().try_hold(role, site)?;
    let key = permit.into_key();
    Some(OwnedPermit { count: owner.guarded().all, owner, key }.hold())
}

/// Permits that keep what they belong to alive.
pub(super) struct OwnedPermit<L: Lock + ?Sized> {
    owner: Arc<L>,
    key: Key,
    count: u32,
}

impl<L: Lock + ?Sized> OwnedPermit<L> {
    fn hold(self) -> Held<Self, L::Value> {
        let value = pointer(&self.owner.guarded().value);
        Held { permit: self, value, _invariant: PhantomData }
    }

    pub(super) fn owner(&self) -> &Arc<L> {
        &self.owner
    }
}

impl<L: Lock + ?Sized> Drop for OwnedPermit<L> {
    fn drop(&mut self) {
        let key = std::mem::replace(&mut self.key, Key::NOBODY);
        self.owner.guarded().semaphore.release(key, self.count as usize);
    }
}

/// A value, or a part of it, and all permits to touch it.
pub(super) struct Held<P, U: ?Sized> {
    permit: P,
    value: NonNull<U>,
    _invariant: PhantomData<*mut U>,
}

// SAFETY: the pointer is the only way to the value, as a `&mut U` would be.
unsafe impl<P: Send, U: ?Sized + Send> Send for Held<P, U> {}
// SAFETY: a shared `Held` gives `&U` and nothing else.
unsafe impl<P: Sync, U: ?Sized + Sync> Sync for Held<P, U> {}

impl<P, U: ?Sized> Held<P, U> {
    pub(super) fn permit(&self) -> &P {
        &self.permit
    }

    /// A part of the value.
    pub(super) fn map<V: ?Sized>(mut self, f: impl FnOnce(&mut U) -> &mut V) -> Held<P, V> {
        let value = NonNull::from(f(&mut self));
        Held { permit: self.permit, value, _invariant: PhantomData }
    }

    /// A part of the value, where there is one.
    pub(super) fn try_map<V: ?Sized>(
        mut self,
        f: impl FnOnce(&mut U) -> Option<&mut V>,
    ) -> Result<Held<P, V>, Self> {
        match f(&mut self).map(NonNull::from) {
            Some(value) => Ok(Held { permit: self.permit, value, _invariant: PhantomData }),
            None => Err(self),
        }
    }
}

impl<P, U: ?Sized> Deref for Held<P, U> {
    type Target = U;
    #[inline]
    fn deref(&self) -> &U {
        // SAFETY: the permits are held, so the value lives and nobody else is at it.
        unsafe { self.value.as_ref() }
    }
}

impl<P, U: ?Sized> DerefMut for Held<P, U> {
    #[inline]
    fn deref_mut(&mut self) -> &mut U {
        // SAFETY: as in `deref`, and this is borrowed mutably.
        unsafe { self.value.as_mut() }
    }
}

impl<P, U: ?Sized + fmt::Debug> fmt::Debug for Held<P, U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<P, U: ?Sized + fmt::Display> fmt::Display for Held<P, U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
