//! The guards of those who write to a part of the value.

use super::{Exclusive, OwnedExclusive, RwLock};
use crate::sync::guards::guards;
use std::marker::PhantomData;
use std::sync::Arc;

/// A part of the value of a [`RwLock`], to write; dropping it unlocks.
#[must_use = "if unused the RwLock will immediately unlock"]
#[clippy::has_significant_drop]
pub struct RwLockMappedWriteGuard<'a, T: ?Sized> {
    held: Exclusive<'a, T>,
    /// As in tokio `Send` and `Sync` only where a lock of such parts can be shared.
    _lock: PhantomData<&'a std::sync::RwLock<T>>,
}

/// As [`RwLockMappedWriteGuard`], of a lock in an [`Arc`], which it keeps alive.
#[must_use = "if unused the RwLock will immediately unlock"]
#[clippy::has_significant_drop]
pub struct OwnedRwLockMappedWriteGuard<T: ?Sized, U: ?Sized = T> {
    held: OwnedExclusive<T, U>,
    /// As in tokio `Send` and `Sync` only where a lock of such parts can be shared.
    _lock: PhantomData<Arc<std::sync::RwLock<U>>>,
}

impl<'a, T: ?Sized> RwLockMappedWriteGuard<'a, T> {
    pub(super) fn new(held: Exclusive<'a, T>) -> Self {
        Self { held, _lock: PhantomData }
    }

    /// A guard of a part of this part.
    pub fn map<F, U: ?Sized>(this: Self, f: F) -> RwLockMappedWriteGuard<'a, U>
    where
        F: FnOnce(&mut T) -> &mut U,
    {
        RwLockMappedWriteGuard::new(this.held.map(f))
    }

    /// A guard of a part of this part, where there is one.
    ///
    /// # Errors
    /// This guard, where there is none.
    pub fn try_map<F, U: ?Sized>(this: Self, f: F) -> Result<RwLockMappedWriteGuard<'a, U>, Self>
    where
        F: FnOnce(&mut T) -> Option<&mut U>,
    {
        this.held.try_map(f).map(RwLockMappedWriteGuard::new).map_err(Self::new)
    }
}

impl<T: ?Sized, U: ?Sized> OwnedRwLockMappedWriteGuard<T, U> {
    pub(super) fn new(held: OwnedExclusive<T, U>) -> Self {
        Self { held, _lock: PhantomData }
    }

    /// A guard of a part of this part.
    pub fn map<F, V: ?Sized>(this: Self, f: F) -> OwnedRwLockMappedWriteGuard<T, V>
    where
        F: FnOnce(&mut U) -> &mut V,
    {
        OwnedRwLockMappedWriteGuard::new(this.held.map(f))
    }

    /// A guard of a part of this part, where there is one.
    ///
    /// # Errors
    /// This guard, where there is none.
    pub fn try_map<F, V: ?Sized>(
        this: Self,
        f: F,
    ) -> Result<OwnedRwLockMappedWriteGuard<T, V>, Self>
    where
        F: FnOnce(&mut U) -> Option<&mut V>,
    {
        this.held.try_map(f).map(OwnedRwLockMappedWriteGuard::new).map_err(Self::new)
    }

    /// The lock.
    pub fn rwlock(this: &Self) -> &Arc<RwLock<T>> {
        this.held.permit().owner()
    }
}

guards! {
    [T: ?Sized] RwLockMappedWriteGuard<'_, T> => mut T;
    [T: ?Sized, U: ?Sized] OwnedRwLockMappedWriteGuard<T, U> => mut U;
}
