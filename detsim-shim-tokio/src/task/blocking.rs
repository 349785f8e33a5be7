//! Closures that may block their thread.
//!
//! Mirrors tokio's. Owns: [`spawn_blocking`] and [`block_in_place`]. Does not own: threads, and the
//! bound on how many closures run at a time, which are the kernel's. Invariant: one thread runs at a
//! time, so a closure that does not block runs to its end before anybody else goes on.

use crate::context;
use crate::runtime::{Handle, RuntimeFlavor};
use crate::task::JoinHandle;
use std::time::Duration;

/// Runs a closure on a thread of its own, on the current runtime. It may block; meanwhile the others run.
/// Once it has begun it cannot be aborted; a simulation that ends unwinds it where it waits.
///
/// # Panics
/// Where there is no runtime, in tokio's words.
///
/// # Examples
/// ```
/// use detsim_shim_tokio::task::spawn_blocking;
/// let sim = detsim_executor::Sim::new(7);
/// let sum = sim.block_on(async { spawn_blocking(|| 1 + 1).await.unwrap() });
/// assert_eq!(sum.unwrap(), 2);
/// ```
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
    JoinHandle::new(shared.sim().spawn_in(shared.group(), detsim_executor::blocking(f)))
}

/// Runs a closure that may block in the task that calls: where it does, the other tasks run on.
///
/// # Panics
/// On a `current_thread` runtime, in tokio's words.
///
/// # Examples
/// ```
/// use detsim_shim_tokio::task::block_in_place;
/// let sim = detsim_executor::Sim::new(7);
/// assert_eq!(sim.block_on(async { block_in_place(|| 2) }).unwrap(), 2);
/// ```
#[track_caller]
pub fn block_in_place<F, R>(f: F) -> R
where
    F: FnOnce() -> R,
{
    let runtime = Handle::try_current().unwrap_or_else(|_| context::missing());
    assert!(
        runtime.runtime_flavor() == RuntimeFlavor::MultiThread,
        "can call blocking only when running on the multi-threaded runtime"
    );
    detsim_executor::block_in_place(f)
}

/// Shuts a runtime down, and waits for its blocking work, for so long at most.
pub(crate) fn shut_down_blocking(handle: &Handle, _limit: Option<Duration>) {
    handle.shared().shut_down();
}
