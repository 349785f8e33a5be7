//! The guards of those who read.

use super::RwLock;
use crate::sync::batch_semaphore::Permit;
use crate::sync::guards::guards;
use crate::sync::value::{OwnedPermit, Shared};
use std::sync::Arc;

/// The value of a [`RwLock`], or a part of it, to read; dropping it unlocks.
#[must_use = "if unused the RwLock will immediately unlock"]
#[clippy::has_significant_drop]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    pub(super) held: Shared<Permit<'a>, T>,
}

/// As [`RwLockReadGuard`], of a lock in an [`Arc`], which it keeps alive.
#[must_use = "if unused the RwLock will immediately unlock"]
#[clippy::has_significant_drop]
pub struct OwnedRwLockReadGuard<T: ?Sized, U: ?Sized = T> {
    pub(super) held: Shared<OwnedPermit<RwLock<T>>, U>,
}

impl<'a, T: ?Sized> RwLockReadGuard<'a, T> {
    /// A guard of a part of the value.
    pub fn map<F, U: ?Sized>(this: Self, f: F) -> RwLockReadGuard<'a, U>
    where
        F: FnOnce(&T) -> &U,
    {
        RwLockReadGuard { held: this.held.map(f) }
    }

    /// A guard of a part of the value, where there is one.
    ///
    /// # Errors
    /// This guard, where there is none.
    pub fn try_map<F, U: ?Sized>(this: Self, f: F) -> Result<RwLockReadGuard<'a, U>, Self>
    where
        F: FnOnce(&T) -> Option<&U>,
    {
        let mapped = this.held.try_map(f);
        mapped.map(|held| RwLockReadGuard { held }).map_err(|held| Self { held })
    }
}

impl<T: ?Sized, U: ?Sized> OwnedRwLockReadGuard<T, U> {
    /// A guard of a part of the value.
    pub fn map<F, V: ?Sized>(this: Self, f: F) -> OwnedRwLockReadGuard<T, V>
    where
        F: FnOnce(&U) -> &V,
    {
        OwnedRwLockReadGuard { held: this.held.map(f) }
    }

    /// A guard of a part of the value, where there is one.
    ///
    /// # Errors
    /// This guard, where there is none.
    pub fn try_map<F, V: ?Sized>(this: Self, f: F) -> Result<OwnedRwLockReadGuard<T, V>, Self>
    where
        F: FnOnce(&U) -> Option<&V>,
    {
        let mapped = this.held.try_map(f);
        mapped.map(|held| OwnedRwLockReadGuard { held }).map_err(|held| Self { held })
    }

    /// The lock.
    pub fn rwlock(this: &Self) -> &Arc<RwLock<T>> {
        this.held.permit().owner()
    }
}

guards! {
    [T: ?Sized] RwLockReadGuard<'_, T> => T;
    [T: ?Sized, U: ?Sized] OwnedRwLockReadGuard<T, U> => U;
}
