//! Locks, channels and notifications.
//!
//! Mirrors `tokio::sync`. Owns: the primitives, whose waits the wait graph knows. Does not own: their
//! errors, which are tokio's own.
//!
//! Each primitive is a state in a biased cell of the kernel (`Bound`), with an `Object` for its
//! identity and a queue of those who wait. A future of one asks to be stopped before its
//! operation, records the operation once it has taken place, and waits in the queue until it is
//! granted what it waits for. Invariant: no value and no foreign waker of a user is dropped, cloned or
//! woken inside a section.

mod barrier;
pub(crate) mod batch_semaphore;
pub mod broadcast;
mod errors;
mod guards;
mod holders;
pub(crate) mod last;
pub mod mpsc;
mod mutex;
mod notify;
mod once_cell;
pub mod oneshot;
mod pair;
mod point;
pub(crate) mod queue;
mod ring;
mod rwlock;
mod semaphore;
mod set_once;
pub(crate) mod until;
mod value;
pub mod watch;

pub use tokio::sync::*;

/// Futures that have a name.
pub mod futures {
    pub use super::notify::{Notified, OwnedNotified};
}

pub use barrier::{Barrier, BarrierWaitResult};
pub use mutex::{MappedMutexGuard, Mutex, MutexGuard, OwnedMappedMutexGuard, OwnedMutexGuard};
pub use notify::Notify;
pub use once_cell::OnceCell;
pub use rwlock::{
    OwnedRwLockMappedWriteGuard, OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock,
    RwLockMappedWriteGuard, RwLockReadGuard, RwLockWriteGuard,
};
pub use semaphore::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};
pub use set_once::{SetOnce, SetOnceError};
