//! The guards of those who write.

use super::{
    Exclusive, OwnedExclusive, OwnedRwLockMappedWriteGuard, OwnedRwLockReadGuard, RwLock,
    RwLockMappedWriteGuard, RwLockReadGuard,
};
use crate::sync::guards::guards;
use std::marker::PhantomData;
use std::sync::Arc;

/// The value of a [`RwLock`], to write; dropping it unlocks.
#[must_use = "if unused the RwLock will immediately unlock"]
#[clippy::has_significant_drop]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    held: Exclusive<'a, T>,
    /// As in tokio `Send` and `Sync` only where the lock can be shared.
    _lock: PhantomData<&'a std::sync::RwLock<T>>,
}

/// As [`RwLockWriteGuard`], of a lock in an [`Arc`], which it keeps alive.
#[must_use = "if unused the RwLock will immediately unlock"]
#[clippy::has_significant_drop]
pub struct OwnedRwLockWriteGuard<T: ?Sized> {
    pub(super) held: OwnedExclusive<T, T>,
}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    pub(super) fn new(held: Exclusive<'a, T>) -> Self {
        Self { held, _lock: PhantomData }
    }

    /// A guard of a part of the value.
    pub fn map<F, U: ?Sized>(this: Self, f: F) -> RwLockMappedWriteGuard<'a, U>
    where
        F: FnOnce(&mut T) -> &mut U,
    {
        RwLockMappedWriteGuard::new(this.held.map(f))
    }

    /// A guard to read a part of the value, which others may then read as well.
    pub fn downgrade_map<F, U: ?Sized>(this: Self, f: F) -> RwLockReadGuard<'a, U>
    where
        F: FnOnce(&T) -> &U,
    {
        RwLockReadGuard { held: this.held.downgrade(f) }
    }

    /// A guard of a part of the value, where there is one.
    ///
    /// # Errors
    /// This guard, where there is none.
    pub fn try_map<F, U: ?Sized>(this: Self, f: F) -> Result<RwLockMappedWriteGuard<'a, U>, Self>
    where
        F: FnOnce(&mut T) -> Option<&mut U>,
    {
        this.held.try_map(f).map(RwLockMappedWriteGuard::new).map_err(Self::new)
    }

    /// A guard to read a part of the value, where there is one; others may then read as well.
    ///
    /// # Errors
    /// This guard, where there is none.
    pub fn try_downgrade_map<F, U: ?Sized>(this: Self, f: F) -> Result<RwLockReadGuard<'a, U>, Self>
    where
        F: FnOnce(&T) -> Option<&U>,
    {
        let read = this.held.try_downgrade(f);
        read.map(|held| RwLockReadGuard { held }).map_err(Self::new)
    }

    /// A guard of the type of those of parts.
    pub fn into_mapped(this: Self) -> RwLockMappedWriteGuard<'a, T> {
        RwLockMappedWriteGuard::new(this.held)
    }

    /// A guard to read, without anybody writing in between. Others may then read as well.
    pub fn downgrade(self) -> RwLockReadGuard<'a, T> {
        Self::downgrade_map(self, |value| value)
    }
}

impl<T: ?Sized> OwnedRwLockWriteGuard<T> {
    /// A guard of a part of the value.
    pub fn map<F, U: ?Sized>(this: Self, f: F) -> OwnedRwLockMappedWriteGuard<T, U>
    where
        F: FnOnce(&mut T) -> &mut U,
    {
        OwnedRwLockMappedWriteGuard::new(this.held.map(f))
    }

    /// A guard to read a part of the value, which others may then read as well.
    pub fn downgrade_map<F, U: ?Sized>(this: Self, f: F) -> OwnedRwLockReadGuard<T, U>
    where
        F: FnOnce(&T) -> &U,
    {
        OwnedRwLockReadGuard { held: this.held.downgrade(f) }
    }

    /// A guard of a part of the value, where there is one.
    ///
    /// # Errors
    /// This guard, where there is none.
    pub fn try_map<F, U: ?Sized>(
        this: Self,
        f: F,
    ) -> Result<OwnedRwLockMappedWriteGuard<T, U>, Self>
    where
        F: FnOnce(&mut T) -> Option<&mut U>,
    {
        let mapped = this.held.try_map(f);
        mapped.map(OwnedRwLockMappedWriteGuard::new).map_err(|held| Self { held })
    }

    /// A guard to read a part of the value, where there is one; others may then read as well.
    ///
    /// # Errors
    /// This guard, where there is none.
    pub fn try_downgrade_map<F, U: ?Sized>(
        this: Self,
        f: F,
    ) -> Result<OwnedRwLockReadGuard<T, U>, Self>
    where
        F: FnOnce(&T) -> Option<&U>,
    {
        let read = this.held.try_downgrade(f);
        read.map(|held| OwnedRwLockReadGuard { held }).map_err(|held| Self { held })
    }

    /// A guard of the type of those of parts.
    pub fn into_mapped(this: Self) -> OwnedRwLockMappedWriteGuard<T> {
        OwnedRwLockMappedWriteGuard::new(this.held)
    }

    /// A guard to read, without anybody writing in between. Others may then read as well.
    pub fn downgrade(self) -> OwnedRwLockReadGuard<T> {
        Self::downgrade_map(self, |value| value)
    }

    /// The lock.
    pub fn rwlock(this: &Self) -> &Arc<RwLock<T>> {
        this.held.permit().owner()
    }
}

guards! {
    [T: ?Sized] RwLockWriteGuard<'_, T> => mut T;
    [T: ?Sized] OwnedRwLockWriteGuard<T> => mut T;
}
