//! Blocking work.
//!
//! Owns: [`spawn_blocking`] and [`block_in_place`]. A closure is the one poll of a task: nothing else
//! runs before it has returned.

use crate::context;
use crate::runtime::{Handle, RuntimeFlavor};
use crate::task::JoinHandle;
use std::time::Duration;

/// Runs a closure where it may block, on the current runtime.
///
/// # Panics
/// Where there is none, in tokio's words.
#[track_caller]
pub fn spawn_blocking<F, R>(f: F) -> JoinHandle<R>
where
    F: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
{
    spawn_blocking_on(&Handle::current(), f)
}

#[track_caller]
pub(crate) fn spawn_blocking_on<F, R>(handle: &Handle, f: F) -> JoinHandle<R>
where
    F: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
{
    let shared = handle.shared();
    JoinHandle::new(shared.sim().spawn_in(shared.group(), async move { f() }))
}

/// Runs a closure that may block, in a task.
///
/// # Panics
/// On a `current_thread` runtime, in tokio's words.
#[track_caller]
pub fn block_in_place<F: FnOnce() -> R, R>(f: F) -> R {
    let runtime = Handle::try_current().unwrap_or_else(|_| context::missing());
    assert!(
        runtime.runtime_flavor() == RuntimeFlavor::MultiThread,
        "can call blocking only when running on the multi-threaded runtime"
    );
    f()
}

/// Shuts a runtime down, and waits for its blocking work, for so long at most.
pub(crate) fn shut_down_blocking(handle: &Handle, _limit: Option<Duration>) {
    handle.shared().shut_down();
}
