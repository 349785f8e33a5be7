//! The semaphore.
//!
//! Mirrors tokio's. Owns: [`Semaphore`] and its permits. Does not own: the queue and the fairness
//! ([`super::batch_semaphore`]).

use crate::blocking::block_on;
use crate::sync::batch_semaphore as batch;
use crate::sync::holders::Key;
use detsim_executor::{ResourceKind, Role};
use std::future::{Future, poll_fn};
use std::marker::PhantomPinned;
use std::mem;
use std::panic::Location;
use std::pin::Pin;
use std::ptr;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::{AcquireError, TryAcquireError};

/// Permits that are taken and given back. First come, first served, however many one asks for.
///
/// # Examples
/// ```
/// use detsim_shim_tokio::sync::Semaphore;
/// let sim = detsim_executor::Sim::new(7);
/// let left = sim.block_on(async {
///     let semaphore = Semaphore::new(3);
///     let _two = semaphore.acquire_many(2).await.unwrap();
///     semaphore.available_permits()
/// });
/// assert_eq!(left.unwrap(), 1);
/// ```
#[derive(Debug)]
pub struct Semaphore {
    inner: batch::Semaphore,
}

/// Permits of a [`Semaphore`]; dropping it gives them back.
#[must_use]
#[clippy::has_significant_drop]
#[derive(Debug)]
pub struct SemaphorePermit<'a> {
    semaphore: &'a Semaphore,
    key: Key,
    permits: usize,
}

/// As [`SemaphorePermit`], of a semaphore in an [`Arc`], which it keeps alive.
#[must_use]
#[clippy::has_significant_drop]
#[derive(Debug)]
pub struct OwnedSemaphorePermit {
    semaphore: Arc<Semaphore>,
    key: Key,
    permits: usize,
}

impl Semaphore {
    /// The most permits a semaphore can have.
    pub const MAX_PERMITS: usize = batch::PERMITS_MAX;

    /// A semaphore with so many permits.
    ///
    /// # Panics
    /// Where `permits` is above [`Self::MAX_PERMITS`].
    #[track_caller]
    pub fn new(permits: usize) -> Self {
        Self { inner: batch::Semaphore::new(ResourceKind::Semaphore, permits) }
    }

    /// A semaphore with so many permits, for a static.
    ///
    /// # Panics
    /// Where `permits` is above [`Self::MAX_PERMITS`].
    #[track_caller]
    pub const fn const_new(permits: usize) -> Self {
        Self { inner: batch::Semaphore::const_new(ResourceKind::Semaphore, permits) }
    }

    /// How many permits are free.
    pub fn available_permits(&self) -> usize {
        self.inner.available()
    }

    /// Adds permits.
    ///
    /// # Panics
    /// Where there would be more than [`Self::MAX_PERMITS`].
    #[track_caller]
    pub fn add_permits(&self, n: usize) {
        self.inner.add(n);
    }

    /// Takes away free permits for good: how many there were, at most `n`.
    pub fn forget_permits(&self, n: usize) -> usize {
        self.inner.forget(n)
    }

    /// Waits for a permit. Cancel safe: a wait that is given up loses its place in the queue.
    ///
    /// # Errors
    /// Where the semaphore is closed.
    #[track_caller]
    pub fn acquire(&self) -> impl Future<Output = Result<SemaphorePermit<'_>, AcquireError>> {
        self.acquire_many(1)
    }

    /// Waits for `n` permits, all of them.
    ///
    /// # Errors
    /// Where the semaphore is closed.
    #[track_caller]
    pub fn acquire_many(
        &self,
        n: u32,
    ) -> impl Future<Output = Result<SemaphorePermit<'_>, AcquireError>> {
        let acquire = self.inner.acquire(n, Role::Holds, Location::caller());
        Acquire { acquire, semaphore: self, permits: n, _pinned: PhantomPinned }
    }

    /// Blocks the thread as [`Self::acquire`] waits.
    ///
    /// # Errors
    /// Where the semaphore is closed.
    ///
    /// # Panics
    /// In a task.
    #[track_caller]
    pub fn blocking_acquire(&self) -> Result<SemaphorePermit<'_>, AcquireError> {
        block_on(self.acquire())
    }

    /// Blocks the thread as [`Self::acquire_many`] waits.
    ///
    /// # Errors
    /// Where the semaphore is closed.
    ///
    /// # Panics
    /// In a task.
    #[track_caller]
    pub fn blocking_acquire_many(&self, n: u32) -> Result<SemaphorePermit<'_>, AcquireError> {
        block_on(self.acquire_many(n))
    }

    /// Takes a permit, if one is free.
    ///
    /// # Errors
    /// Where none is, or the semaphore is closed.
    #[track_caller]
    pub fn try_acquire(&self) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        self.try_acquire_many(1)
    }

    /// Takes `n` permits, if that many are free.
    ///
    /// # Errors
    /// Where fewer are, or the semaphore is closed.
    #[track_caller]
    pub fn try_acquire_many(&self, n: u32) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        let key = self.inner.try_acquire(n, Role::Holds, Location::caller())?.into_key();
        Ok(SemaphorePermit { semaphore: self, key, permits: n as usize })
    }

    /// As [`Self::acquire`], with a permit that keeps the semaphore alive.
    ///
    /// # Errors
    /// Where the semaphore is closed.
    #[track_caller]
    pub fn acquire_owned(
        self: Arc<Self>,
    ) -> impl Future<Output = Result<OwnedSemaphorePermit, AcquireError>> {
        self.acquire_many_owned(1)
    }

    /// As [`Self::acquire_many`], with a permit that keeps the semaphore alive.
    ///
    /// # Errors
    /// Where the semaphore is closed.
    #[track_caller]
    pub fn acquire_many_owned(
        self: Arc<Self>,
        n: u32,
    ) -> impl Future<Output = Result<OwnedSemaphorePermit, AcquireError>> {
        let site = Location::caller();
        async move {
            let mut acquire = self.inner.acquire(n, Role::Holds, site);
            let key = poll_fn(|cx| acquire.poll(cx)).await?.into_key();
            drop(acquire);
            Ok(OwnedSemaphorePermit { semaphore: self, key, permits: n as usize })
        }
    }

    /// Blocks the thread as [`Self::acquire_owned`] waits.
    ///
    /// # Errors
    /// Where the semaphore is closed.
    ///
    /// # Panics
    /// In a task.
    #[track_caller]
    pub fn blocking_acquire_owned(self: Arc<Self>) -> Result<OwnedSemaphorePermit, AcquireError> {
        block_on(self.acquire_owned())
    }

    /// Blocks the thread as [`Self::acquire_many_owned`] waits.
    ///
    /// # Errors
    /// Where the semaphore is closed.
    ///
    /// # Panics
    /// In a task.
    #[track_caller]
    pub fn blocking_acquire_many_owned(
        self: Arc<Self>,
        n: u32,
    ) -> Result<OwnedSemaphorePermit, AcquireError> {
        block_on(self.acquire_many_owned(n))
    }

    /// As [`Self::try_acquire`], with a permit that keeps the semaphore alive.
    ///
    /// # Errors
    /// Where no permit is free, or the semaphore is closed.
    #[track_caller]
    pub fn try_acquire_owned(self: Arc<Self>) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        self.try_acquire_many_owned(1)
    }

    /// As [`Self::try_acquire_many`], with a permit that keeps the semaphore alive.
    ///
    /// # Errors
    /// Where fewer permits are free, or the semaphore is closed.
    #[track_caller]
    pub fn try_acquire_many_owned(
        self: Arc<Self>,
        n: u32,
    ) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        let key = self.inner.try_acquire(n, Role::Holds, Location::caller())?.into_key();
        Ok(OwnedSemaphorePermit { semaphore: self, key, permits: n as usize })
    }

    /// From now on nobody gets permits; whoever waits is told.
    pub fn close(&self) {
        self.inner.close();
    }

    /// Whether [`Self::close`] was called.
    pub fn is_closed(&self) -> bool {
        self.inner.is_closed()
    }
}

pin_project_lite::pin_project! {
    /// A wait for permits. As in tokio not `Unpin`.
    struct Acquire<'a> {
        acquire: batch::Acquire<'a>,
        semaphore: &'a Semaphore,
        permits: u32,
        #[pin]
        _pinned: PhantomPinned,
    }
}

impl<'a> Future for Acquire<'a> {
    type Output = Result<SemaphorePermit<'a>, AcquireError>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let (semaphore, permits) = (*this.semaphore, *this.permits as usize);
        match this.acquire.poll(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Err(closed)) => Poll::Ready(Err(closed.into())),
            Poll::Ready(Ok(permit)) => {
                Poll::Ready(Ok(SemaphorePermit { semaphore, key: permit.into_key(), permits }))
            }
        }
    }
}

/// What both kinds of permit do.
macro_rules! permits {
    ($( [$($generics:tt)*] $permit:ty, $same:expr; )+) => { $(
        impl<$($generics)*> $permit {
            /// The permits are gone for good.
            pub fn forget(mut self) {
                self.permits = 0;
                let key = mem::replace(&mut self.key, Key::NOBODY);
                self.semaphore.inner.abandon(key);
            }

            /// Takes over the permits of another one.
            ///
            /// # Panics
            /// Where they are of another semaphore.
            #[track_caller]
            pub fn merge(&mut self, mut other: Self) {
                assert!($same(self, &other), "merging permits from different semaphore instances");
                self.permits += mem::take(&mut other.permits);
                self.semaphore.inner.shift(&mut other.key, 0, &mut self.key, self.permits);
            }

            /// `n` of the permits; `None` where there are not that many.
            pub fn split(&mut self, n: usize) -> Option<Self> {
                self.permits = self.permits.checked_sub(n)?;
                let mut key = Key::NOBODY;
                self.semaphore.inner.shift(&mut self.key, self.permits, &mut key, n);
                Some(Self { semaphore: self.semaphore.clone(), key, permits: n })
            }

            /// How many permits these are.
            pub fn num_permits(&self) -> usize {
                self.permits
            }
        }

        impl<$($generics)*> Drop for $permit {
            fn drop(&mut self) {
                if self.permits > 0 {
                    let key = mem::replace(&mut self.key, Key::NOBODY);
                    self.semaphore.inner.release(key, self.permits);
                }
            }
        }
    )+ };
}

permits! {
    ['a] SemaphorePermit<'a>, |a: &Self, b: &Self| ptr::eq(a.semaphore, b.semaphore);
    [] OwnedSemaphorePermit, |a: &Self, b: &Self| Arc::ptr_eq(&a.semaphore, &b.semaphore);
}

impl SemaphorePermit<'_> {
    /// The semaphore.
    pub fn semaphore(&self) -> &Semaphore {
        self.semaphore
    }
}

impl OwnedSemaphorePermit {
    /// The semaphore.
    pub fn semaphore(&self) -> &Arc<Semaphore> {
        &self.semaphore
    }
}
