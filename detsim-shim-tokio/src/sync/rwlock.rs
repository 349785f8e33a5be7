//! The lock for many readers or one writer.
//!
//! Mirrors tokio's. Owns: [`RwLock`] and the ways to lock it. Does not own: the guards (`read`, `write`,
//! `mapped`), the permits and their queue ([`super::batch_semaphore`]), or how a guard reaches the value
//! ([`super::value`]). Invariant: a reader takes one permit, a writer all of them, first come, first
//! served; so a writer that waits keeps out all readers that come after it.

mod mapped;
mod read;
mod write;

use crate::blocking::block_on;
use crate::sync::batch_semaphore::Permit;
use crate::sync::errors;
use crate::sync::value::{self, Guarded, Held, Holding, OwnedPermit, Sharing};
use detsim_executor::{ResourceKind, Role};
use std::fmt;
use std::future::Future;
use std::marker::{PhantomData, PhantomPinned};
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::TryLockError;

pub use mapped::{OwnedRwLockMappedWriteGuard, RwLockMappedWriteGuard};
pub use read::{OwnedRwLockReadGuard, RwLockReadGuard};
pub use write::{OwnedRwLockWriteGuard, RwLockWriteGuard};

/// The most readers there can be at a time.
const READERS_MAX: u32 = u32::MAX >> 3;

/// A lock that many may hold to read, or one to write, while their tasks wait. First come, first
/// served: who comes to read waits behind who waits to write.
///
/// # Examples
/// ```
/// use detsim_shim_tokio::sync::RwLock;
/// let sim = detsim_executor::Sim::new(7);
/// let sum = sim.block_on(async {
///     let lock = RwLock::new(1);
///     *lock.write().await += 1;
///     let (one, other) = (lock.read().await, lock.read().await);
///     *one + *other
/// });
/// assert_eq!(sum.unwrap(), 4);
/// ```
pub struct RwLock<T: ?Sized> {
    /// Several readers have `&T` at a time: `Sync` only where `T` is.
    _shared: PhantomData<T>,
    guarded: Guarded<T>,
}

impl<T: ?Sized> value::Lock for RwLock<T> {
    type Value = T;

    fn guarded(&self) -> &Guarded<T> {
        &self.guarded
    }
}

impl<T> RwLock<T> {
    /// An unlocked lock.
    #[track_caller]
    pub fn new(value: T) -> Self {
        Self::with_max_readers(value, READERS_MAX)
    }

    /// An unlocked lock for at most `max_reads` readers at a time.
    ///
    /// # Panics
    /// Where `max_reads` is 0 or above `u32::MAX >> 3`.
    #[track_caller]
    pub fn with_max_readers(value: T, max_reads: u32) -> Self {
        check(max_reads);
        let guarded = Guarded::new(ResourceKind::RwLock, max_reads, value);
        Self { guarded, _shared: PhantomData }
    }

    /// An unlocked lock, for a static.
    #[track_caller]
    pub const fn const_new(value: T) -> Self {
        Self::const_with_max_readers(value, READERS_MAX)
    }

    /// An unlocked lock for at most `max_reads` readers at a time, for a static.
    ///
    /// # Panics
    /// Where `max_reads` is 0 or above `u32::MAX >> 3`.
    #[track_caller]
    pub const fn const_with_max_readers(value: T, max_reads: u32) -> Self {
        check(max_reads);
        let guarded = Guarded::const_new(ResourceKind::RwLock, max_reads, value);
        Self { guarded, _shared: PhantomData }
    }

    /// The value.
    pub fn into_inner(self) -> T {
        self.guarded.into_inner()
    }
}

#[track_caller]
const fn check(max_reads: u32) {
    assert!(max_reads > 0, "a RwLock may not be created with 0 readers");
    assert!(
        max_reads <= READERS_MAX,
        "a RwLock may not be created with more than 536870911 readers"
    );
}

impl<T: ?Sized> RwLock<T> {
    /// Waits until it may read. Cancel safe: a wait that is given up loses its place in the queue.
    #[track_caller]
    pub fn read(&self) -> impl Future<Output = RwLockReadGuard<'_, T>> {
        let sharing = self.guarded.share(Location::caller());
        Read { sharing, _lock: PhantomData, _pinned: PhantomPinned }
    }

    /// Blocks the thread until it may read.
    ///
    /// # Panics
    /// In a task.
    #[track_caller]
    pub fn blocking_read(&self) -> RwLockReadGuard<'_, T> {
        block_on(self.read())
    }

    /// As [`Self::read`], with a guard that keeps the lock alive.
    #[track_caller]
    pub fn read_owned(self: Arc<Self>) -> impl Future<Output = OwnedRwLockReadGuard<T>> {
        let shared = value::share_owned(self, Location::caller());
        async move { OwnedRwLockReadGuard { held: shared.await } }
    }

    /// Reads, if nobody writes or waits to write.
    ///
    /// # Errors
    /// Where somebody does.
    #[track_caller]
    pub fn try_read(&self) -> Result<RwLockReadGuard<'_, T>, TryLockError> {
        let shared = self.guarded.try_share(Location::caller());
        Ok(RwLockReadGuard { held: shared.ok_or_else(errors::try_lock)? })
    }

    /// As [`Self::try_read`], with a guard that keeps the lock alive.
    ///
    /// # Errors
    /// Where somebody writes or waits to write.
    #[track_caller]
    pub fn try_read_owned(self: Arc<Self>) -> Result<OwnedRwLockReadGuard<T>, TryLockError> {
        let shared = value::try_share_owned(self, Location::caller());
        Ok(OwnedRwLockReadGuard { held: shared.ok_or_else(errors::try_lock)? })
    }

    /// Waits until it may write. Cancel safe: a wait that is given up loses its place in the queue.
    #[track_caller]
    pub fn write(&self) -> impl Future<Output = RwLockWriteGuard<'_, T>> {
        let holding = self.guarded.hold(Role::Writes, Location::caller());
        Write { holding, _lock: PhantomData, _pinned: PhantomPinned }
    }

    /// Blocks the thread until it may write.
    ///
    /// # Panics
    /// In a task.
    #[track_caller]
    pub fn blocking_write(&self) -> RwLockWriteGuard<'_, T> {
        block_on(self.write())
    }

    /// As [`Self::write`], with a guard that keeps the lock alive.
    #[track_caller]
    pub fn write_owned(self: Arc<Self>) -> impl Future<Output = OwnedRwLockWriteGuard<T>> {
        let held = value::hold_owned(self, Role::Writes, Location::caller());
        async move { OwnedRwLockWriteGuard { held: held.await } }
    }

    /// Writes, if nobody holds the lock or waits for it.
    ///
    /// # Errors
    /// Where somebody does.
    #[track_caller]
    pub fn try_write(&self) -> Result<RwLockWriteGuard<'_, T>, TryLockError> {
        let held = self.guarded.try_hold(Role::Writes, Location::caller());
        Ok(RwLockWriteGuard::new(held.ok_or_else(errors::try_lock)?))
    }

    /// As [`Self::try_write`], with a guard that keeps the lock alive.
    ///
    /// # Errors
    /// Where somebody holds the lock or waits for it.
    #[track_caller]
    pub fn try_write_owned(self: Arc<Self>) -> Result<OwnedRwLockWriteGuard<T>, TryLockError> {
        let held = value::try_hold_owned(self, Role::Writes, Location::caller());
        Ok(OwnedRwLockWriteGuard { held: held.ok_or_else(errors::try_lock)? })
    }

    /// The value, without locking: nobody else can be at it.
    pub fn get_mut(&mut self) -> &mut T {
        self.guarded.get_mut()
    }
}

pin_project_lite::pin_project! {
    /// A wait to read. As in tokio not `Unpin`.
    struct Read<'a, T: ?Sized> {
        sharing: Sharing<'a, T>,
        _lock: PhantomData<&'a RwLock<T>>,
        #[pin]
        _pinned: PhantomPinned,
    }
}

impl<'a, T: ?Sized> Future for Read<'a, T> {
    type Output = RwLockReadGuard<'a, T>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project().sharing.poll(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(held) => Poll::Ready(RwLockReadGuard { held }),
        }
    }
}

pin_project_lite::pin_project! {
    /// A wait to write. As in tokio not `Unpin`.
    struct Write<'a, T: ?Sized> {
        holding: Holding<'a, T>,
        _lock: PhantomData<&'a RwLock<T>>,
        #[pin]
        _pinned: PhantomPinned,
    }
}

impl<'a, T: ?Sized> Future for Write<'a, T> {
    type Output = RwLockWriteGuard<'a, T>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project().holding.poll(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(held) => Poll::Ready(RwLockWriteGuard::new(held)),
        }
    }
}

/// What a guard that borrows the lock has to itself.
type Exclusive<'a, U> = Held<Permit<'a>, U>;

/// What a guard that keeps the lock alive has to itself.
type OwnedExclusive<T, U> = Held<OwnedPermit<RwLock<T>>, U>;

impl<T> From<T> for RwLock<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: Default> Default for RwLock<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("RwLock");
        match self.try_read() {
            Ok(guard) => shown.field("data", &&*guard),
            Err(_) => shown.field("data", &format_args!("<locked>")),
        };
        shown.finish()
    }
}
