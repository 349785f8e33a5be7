//! Cells that are initialised once.
//!
//! Mirrors tokio's. Owns: [`OnceCell`]. Does not own: who may initialise ([`super::batch_semaphore`]).
//! Invariants: who holds the one permit may put the value in; the semaphore is closed once it is there.

use crate::sync::batch_semaphore::{Closed, Permit, Semaphore};
use detsim_executor::{ResourceKind, Role};
use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::Location;
use std::sync::OnceLock;
use tokio::sync::{SetError, TryAcquireError};

/// A value that is put in once, by whoever comes first; the others wait for it.
///
/// # Examples
/// ```
/// use detsim_shim_tokio::{join, sync::OnceCell, task::yield_now};
/// let sim = detsim_executor::Sim::new(7);
/// let same = sim.block_on(async {
///     let cell = OnceCell::new();
///     let make = || async { yield_now().await; 3 };
///     let (one, other) = join!(cell.get_or_init(make), cell.get_or_init(make));
///     std::ptr::eq(one, other)
/// });
/// assert!(same.unwrap());
/// ```
pub struct OnceCell<T> {
    /// The value of a cell that was made with one.
    given: Option<T>,
    set: OnceLock<T>,
    semaphore: Semaphore,
}

impl<T> OnceCell<T> {
    /// A cell without a value.
    #[track_caller]
    pub fn new() -> Self {
        let semaphore = Semaphore::new(ResourceKind::OnceCell, 1);
        Self { given: None, set: OnceLock::new(), semaphore }
    }

    /// A cell without a value, for a static.
    #[track_caller]
    pub const fn const_new() -> Self {
        let semaphore = Semaphore::const_new(ResourceKind::OnceCell, 1);
        Self { given: None, set: OnceLock::new(), semaphore }
    }

    /// A cell with this value, or without one.
    #[track_caller]
    pub fn new_with(value: Option<T>) -> Self {
        value.map_or_else(Self::new, Self::from)
    }

    /// A cell with a value, for a static.
    #[track_caller]
    pub const fn const_new_with(value: T) -> Self {
        let semaphore = Semaphore::const_closed(ResourceKind::OnceCell);
        Self { given: Some(value), set: OnceLock::new(), semaphore }
    }

    /// Whether the value is there.
    pub fn initialized(&self) -> bool {
        self.semaphore.is_closed()
    }

    /// The value, if it is there.
    pub fn get(&self) -> Option<&T> {
        if self.initialized() { self.value() } else { None }
    }

    fn value(&self) -> Option<&T> {
        self.given.as_ref().or_else(|| self.set.get())
    }

    /// The value, if it is there, to change it.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.given.as_mut().or_else(|| self.set.get_mut())
    }

    /// Puts the value in.
    ///
    /// # Errors
    /// The value again, where there is one already, or somebody is about to put one in.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), SetError<T>> {
        match self.semaphore.try_acquire(1, Role::Holds, Location::caller()) {
            Ok(permit) => {
                self.put(value, permit);
                Ok(())
            }
            Err(TryAcquireError::NoPermits) => Err(SetError::InitializingError(value)),
            Err(TryAcquireError::Closed) => Err(SetError::AlreadyInitializedError(value)),
        }
    }

    fn put(&self, value: T, permit: Permit<'_>) -> &T {
        assert!(
            self.set.set(value).is_ok(),
            "invariant: who has the permit puts in the first value"
        );
        self.semaphore.close();
        self.semaphore.abandon(permit.into_key());
        self.there()
    }

    fn there(&self) -> &T {
        self.value().expect("invariant: the semaphore of a cell with a value is closed, no other")
    }

    /// The value; where there is none, the one that `f` gives. Whoever else asks meanwhile waits,
    /// and is the next to try where this one is given up.
    #[track_caller]
    pub fn get_or_init<F, Fut>(&self, f: F) -> impl Future<Output = &T>
    where
        F: FnOnce() -> Fut,
        Fut: Future<Output = T>,
    {
        let site = Location::caller();
        async move {
            match self.permit(site).await {
                Ok(permit) => self.put(f().await, permit),
                Err(Closed) => self.there(),
            }
        }
    }

    /// The value; where there is none, the one that `f` gives, unless that is an error.
    ///
    /// # Errors
    /// That of `f`. The next that asks tries again.
    #[track_caller]
    pub fn get_or_try_init<E, F, Fut>(&self, f: F) -> impl Future<Output = Result<&T, E>>
    where
        F: FnOnce() -> Fut,
        Fut: Future<Output = Result<T, E>>,
    {
        let site = Location::caller();
        async move {
            match self.permit(site).await {
                Ok(permit) => Ok(self.put(f().await?, permit)),
                Err(Closed) => Ok(self.there()),
            }
        }
    }

    /// Waits for the right to put the value in; an error where it is there.
    async fn permit(&self, site: &'static Location<'static>) -> Result<Permit<'_>, Closed> {
        let mut acquire = self.semaphore.acquire(1, Role::Holds, site);
        poll_fn(|cx| acquire.poll(cx)).await
    }

    /// The value of a cell that is no longer needed.
    pub fn into_inner(self) -> Option<T> {
        self.given.or_else(|| self.set.into_inner())
    }

    /// The value, which is then no longer there.
    #[track_caller]
    pub fn take(&mut self) -> Option<T> {
        std::mem::take(self).into_inner()
    }
}

impl<T> Default for OnceCell<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new()
    }
}

impl<T> From<T> for OnceCell<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        let semaphore = Semaphore::closed(ResourceKind::OnceCell);
        Self { given: Some(value), set: OnceLock::new(), semaphore }
    }
}

impl<T: Clone> Clone for OnceCell<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        Self::new_with(self.get().cloned())
    }
}

impl<T: PartialEq> PartialEq for OnceCell<T> {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl<T: Eq> Eq for OnceCell<T> {}

impl<T: fmt::Debug> fmt::Debug for OnceCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnceCell").field("value", &self.get()).finish()
    }
}
