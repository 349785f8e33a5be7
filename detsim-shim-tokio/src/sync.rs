//! Locks, channels and notifications.
//!
//! Mirrors `tokio::sync`. Owns: the primitives whose waits the wait graph knows. Does not own:
//! `broadcast`, `watch`, `RwLock`, `Barrier` and the once cells, which are tokio's own still: they
//! work, since they need no runtime, but a report knows nothing of their holders.
//!
//! Each primitive is a state in a biased cell of the kernel (`Bound`), with an `Object` for its
//! identity and a queue of those who wait. A future of one asks to be stopped before its
//! operation, records the operation once it has taken place, and waits in the queue until it is
//! granted what it waits for. Invariant: no value and no foreign waker of a user is dropped, cloned or
//! woken inside a section.

mod batch_semaphore;
mod errors;
mod holders;
pub mod mpsc;
mod mutex;
mod notify;
pub mod oneshot;
mod queue;
mod ring;
mod semaphore;
mod value;

pub use tokio::sync::*;

/// Futures that have a name.
pub mod futures {
    pub use super::notify::{Notified, OwnedNotified};
}

pub use mutex::{MappedMutexGuard, Mutex, MutexGuard, OwnedMappedMutexGuard, OwnedMutexGuard};
pub use notify::Notify;
pub use semaphore::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};
