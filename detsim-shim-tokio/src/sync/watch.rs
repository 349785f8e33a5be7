//! Channels that keep the last value only.
//!
//! Mirrors tokio's. Owns: the ends [`Sender`] and [`Receiver`], and [`Ref`]. Does not own: versions, and
//! who waits for the next (`core`). The value itself is in a lock of the standard library, since a
//! [`Ref`] borrows from it while anything may happen, as in tokio.
//!
//! Invariants: the version of the value changes while the value is locked, so whoever has it locked
//! knows its version; a value is never touched in a section.

mod core;
mod receiver;
mod sender;

use std::fmt;
use std::ops::Deref;
use std::panic::Location;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use self::core::Core;

pub use receiver::Receiver;
pub use sender::Sender;
pub use tokio::sync::watch::error;

/// A channel that keeps the last value only. Receivers have seen the first one.
///
/// # Examples
/// ```
/// use detsim_shim_tokio::{spawn, sync::watch};
/// let sim = detsim_executor::Sim::new(7);
/// let seen = sim.block_on(async {
///     let (sender, mut receiver) = watch::channel("old");
///     drop(spawn(async move { sender.send("new") }));
///     receiver.changed().await.unwrap();
///     *receiver.borrow_and_update()
/// });
/// assert_eq!(seen.unwrap(), "new");
/// ```
#[track_caller]
pub fn channel<T>(init: T) -> (Sender<T>, Receiver<T>) {
    let core = Core::new(Location::caller());
    let shared = Arc::new(Shared { value: RwLock::new(init), core });
    (Sender::first(Arc::clone(&shared)), Receiver::new(shared))
}

/// What all ends share.
struct Shared<T> {
    value: RwLock<T>,
    core: Core,
}

impl<T> Shared<T> {
    /// The value. A panic of who changed it before leaves it as it was then.
    fn read(&self) -> RwLockReadGuard<'_, T> {
        self.value.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, T> {
        self.value.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: fmt::Debug> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let looks = self.core.looks();
        f.debug_struct("Shared")
            .field("value", &self.value)
            .field("version", &looks.version)
            .field("is_closed", &(looks.senders == 0))
            .field("ref_count_rx", &looks.receivers)
            .finish()
    }
}

/// The value, borrowed. While it is, nobody can send.
#[derive(Debug)]
pub struct Ref<'a, T> {
    inner: RwLockReadGuard<'a, T>,
    has_changed: bool,
}

impl<T> Ref<'_, T> {
    /// Whether the receiver that it was borrowed from had not seen the value before.
    pub fn has_changed(&self) -> bool {
        self.has_changed
    }
}

impl<T> Deref for Ref<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.inner
    }
}
