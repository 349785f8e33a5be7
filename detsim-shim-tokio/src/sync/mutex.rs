//! The mutex.
//!
//! Mirrors tokio's. Owns: [`Mutex`] and its guards' names. Does not own: the permit and its queue
//! ([`super::batch_semaphore`]), or how a guard reaches the value ([`super::value`]).

use crate::blocking::block_on;
use crate::sync::batch_semaphore::Permit;
use crate::sync::errors;
use crate::sync::guards::guards;
use crate::sync::value::{self, Guarded, Held, Holding, OwnedPermit};
use detsim_executor::{ResourceKind, Role};
use std::fmt;
use std::future::Future;
use std::marker::{PhantomData, PhantomPinned};
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::TryLockError;

/// A lock that may be held while its task waits. First come, first served.
///
/// # Examples
/// ```
/// use detsim_shim_tokio::sync::Mutex;
/// let sim = detsim_executor::Sim::new(7);
/// let count = sim.block_on(async {
///     let mutex = Mutex::new(1);
///     *mutex.lock().await += 1;
///     mutex.into_inner()
/// });
/// assert_eq!(count.unwrap(), 2);
/// ```
pub struct Mutex<T: ?Sized> {
    guarded: Guarded<T>,
}

/// The value of a locked [`Mutex`]; dropping it unlocks.
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct MutexGuard<'a, T: ?Sized> {
    mutex: &'a Mutex<T>,
    held: Held<Permit<'a>, T>,
}

/// As [`MutexGuard`], of a mutex in an [`Arc`], which it keeps alive.
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct OwnedMutexGuard<T: ?Sized> {
    held: Held<OwnedPermit<Mutex<T>>, T>,
}

/// A part of the value of a locked [`Mutex`]; dropping it unlocks.
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct MappedMutexGuard<'a, T: ?Sized> {
    held: Held<Permit<'a>, T>,
}

/// As [`MappedMutexGuard`], of a mutex in an [`Arc`], which it keeps alive.
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct OwnedMappedMutexGuard<T: ?Sized, U: ?Sized = T> {
    held: Held<OwnedPermit<Mutex<T>>, U>,
    /// As in tokio `Sync` only where the whole value is.
    _whole: PhantomData<Box<T>>,
}

impl<T: ?Sized> value::Lock for Mutex<T> {
    type Value = T;

    fn guarded(&self) -> &Guarded<T> {
        &self.guarded
    }
}

impl<T> Mutex<T> {
    /// An unlocked mutex.
    #[track_caller]
    pub fn new(value: T) -> Self {
        Self { guarded: Guarded::new(ResourceKind::Mutex, 1, value) }
    }

    /// An unlocked mutex, for a static.
    #[track_caller]
    pub const fn const_new(value: T) -> Self {
        Self { guarded: Guarded::const_new(ResourceKind::Mutex, 1, value) }
    }

    /// The value.
    pub fn into_inner(self) -> T {
        self.guarded.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Waits for the lock. Cancel safe: a wait that is given up loses its place in the queue.
    #[track_caller]
    pub fn lock(&self) -> impl Future<Output = MutexGuard<'_, T>> {
        let holding = self.guarded.hold(Role::Holds, Location::caller());
        Lock { holding, mutex: self, _pinned: PhantomPinned }
    }

    /// As [`Self::lock`], with a guard that keeps the mutex alive.
    #[track_caller]
    pub fn lock_owned(self: Arc<Self>) -> impl Future<Output = OwnedMutexGuard<T>> {
        let held = value::hold_owned(self, Role::Holds, Location::caller());
        async move { OwnedMutexGuard { held: held.await } }
    }

    /// Blocks the thread until it has the lock.
    ///
    /// # Panics
    /// In a task.
    #[track_caller]
    pub fn blocking_lock(&self) -> MutexGuard<'_, T> {
        block_on(self.lock())
    }

    /// As [`Self::blocking_lock`], with a guard that keeps the mutex alive.
    ///
    /// # Panics
    /// In a task.
    #[track_caller]
    pub fn blocking_lock_owned(self: Arc<Self>) -> OwnedMutexGuard<T> {
        block_on(self.lock_owned())
    }

    /// Takes the lock, if it is free and nobody waits for it.
    ///
    /// # Errors
    /// Where it is not.
    #[track_caller]
    pub fn try_lock(&self) -> Result<MutexGuard<'_, T>, TryLockError> {
        let held = self.guarded.try_hold(Role::Holds, Location::caller());
        let held = held.ok_or_else(errors::try_lock)?;
        Ok(MutexGuard { mutex: self, held })
    }

    /// As [`Self::try_lock`], with a guard that keeps the mutex alive.
    ///
    /// # Errors
    /// Where the lock is not free.
    #[track_caller]
    pub fn try_lock_owned(self: Arc<Self>) -> Result<OwnedMutexGuard<T>, TryLockError> {
        let held = value::try_hold_owned(self, Role::Holds, Location::caller());
        let held = held.ok_or_else(errors::try_lock)?;
        Ok(OwnedMutexGuard { held })
    }

    /// The value, without locking: nobody else can be at it.
    pub fn get_mut(&mut self) -> &mut T {
        self.guarded.get_mut()
    }
}

pin_project_lite::pin_project! {
    /// A wait for the lock. As in tokio not `Unpin`.
    struct Lock<'a, T: ?Sized> {
        holding: Holding<'a, T>,
        mutex: &'a Mutex<T>,
        #[pin]
        _pinned: PhantomPinned,
    }
}

impl<'a, T: ?Sized> Future for Lock<'a, T> {
    type Output = MutexGuard<'a, T>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        match this.holding.poll(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(held) => Poll::Ready(MutexGuard { mutex: this.mutex, held }),
        }
    }
}

impl<T> From<T> for Mutex<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: Default> Default for Mutex<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Mutex");
        match self.try_lock() {
            Ok(guard) => shown.field("data", &&*guard),
            Err(_) => shown.field("data", &format_args!("<locked>")),
        };
        shown.finish()
    }
}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// A guard of a part of the value.
    pub fn map<U: ?Sized, F>(this: Self, f: F) -> MappedMutexGuard<'a, U>
    where
        F: FnOnce(&mut T) -> &mut U,
    {
        MappedMutexGuard { held: this.held.map(f) }
    }

    /// A guard of a part of the value, where there is one.
    ///
    /// # Errors
    /// This guard, where there is none.
    pub fn try_map<U: ?Sized, F>(this: Self, f: F) -> Result<MappedMutexGuard<'a, U>, Self>
    where
        F: FnOnce(&mut T) -> Option<&mut U>,
    {
        let mutex = this.mutex;
        let mapped = this.held.try_map(f);
        mapped.map(|held| MappedMutexGuard { held }).map_err(|held| Self { mutex, held })
    }

    /// The mutex.
    pub fn mutex(this: &Self) -> &'a Mutex<T> {
        this.mutex
    }
}

impl<T: ?Sized> OwnedMutexGuard<T> {
    /// A guard of a part of the value.
    pub fn map<U: ?Sized, F>(this: Self, f: F) -> OwnedMappedMutexGuard<T, U>
    where
        F: FnOnce(&mut T) -> &mut U,
    {
        OwnedMappedMutexGuard::new(this.held.map(f))
    }

    /// A guard of a part of the value, where there is one.
    ///
    /// # Errors
    /// This guard, where there is none.
    pub fn try_map<U: ?Sized, F>(this: Self, f: F) -> Result<OwnedMappedMutexGuard<T, U>, Self>
    where
        F: FnOnce(&mut T) -> Option<&mut U>,
    {
        let mapped = this.held.try_map(f);
        mapped.map(OwnedMappedMutexGuard::new).map_err(|held| Self { held })
    }

    /// The mutex.
    pub fn mutex(this: &Self) -> &Arc<Mutex<T>> {
        this.held.permit().owner()
    }
}

impl<'a, T: ?Sized> MappedMutexGuard<'a, T> {
    /// A guard of a part of this part.
    pub fn map<U: ?Sized, F>(this: Self, f: F) -> MappedMutexGuard<'a, U>
    where
        F: FnOnce(&mut T) -> &mut U,
    {
        MappedMutexGuard { held: this.held.map(f) }
    }

    /// A guard of a part of this part, where there is one.
    ///
    /// # Errors
    /// This guard, where there is none.
    pub fn try_map<U: ?Sized, F>(this: Self, f: F) -> Result<MappedMutexGuard<'a, U>, Self>
    where
        F: FnOnce(&mut T) -> Option<&mut U>,
    {
        let mapped = this.held.try_map(f);
        mapped.map(|held| MappedMutexGuard { held }).map_err(|held| Self { held })
    }
}

impl<T: ?Sized, U: ?Sized> OwnedMappedMutexGuard<T, U> {
    fn new(held: Held<OwnedPermit<Mutex<T>>, U>) -> Self {
        Self { held, _whole: PhantomData }
    }

    /// A guard of a part of this part.
    pub fn map<S: ?Sized, F>(this: Self, f: F) -> OwnedMappedMutexGuard<T, S>
    where
        F: FnOnce(&mut U) -> &mut S,
    {
        OwnedMappedMutexGuard::new(this.held.map(f))
    }

    /// A guard of a part of this part, where there is one.
    ///
    /// # Errors
    /// This guard, where there is none.
    pub fn try_map<S: ?Sized, F>(this: Self, f: F) -> Result<OwnedMappedMutexGuard<T, S>, Self>
    where
        F: FnOnce(&mut U) -> Option<&mut S>,
    {
        this.held.try_map(f).map(OwnedMappedMutexGuard::new).map_err(Self::new)
    }
}

guards! {
    [T: ?Sized] MutexGuard<'_, T> => mut T;
    [T: ?Sized] OwnedMutexGuard<T> => mut T;
    [T: ?Sized] MappedMutexGuard<'_, T> => mut T;
    [T: ?Sized, U: ?Sized] OwnedMappedMutexGuard<T, U> => mut U;
}
