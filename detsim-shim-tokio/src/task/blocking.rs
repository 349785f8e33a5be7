//! Closures that may block their thread.
//!
//! Mirrors tokio's. Owns: [`spawn_blocking`] and [`block_in_place`]. Does not own: threads, and the
//! bound on how many closures run at a time, which are the kernel's. Invariant: one thread runs at a
//! time, so a closure that does not block runs to its end before anybody else goes on.

use crate::runtime::Handle;
use crate::task::JoinHandle;
use crate::task::local::is_in_local_set;

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
    handle.shared().spawns_in().spawn_blocking(f)
}

/// Runs a closure that may block in the task that calls: where it does, the other tasks run on.
///
/// # Panics
/// In a task of a `current_thread` runtime, in what its owner blocks on, and in a `LocalSet`, in tokio's
/// words.
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
    let runtime = Handle::current();
    assert!(
        runtime.shared().lets_block() && !is_in_local_set(),
        "can call blocking only when running on the multi-threaded runtime"
    );
    detsim_executor::block_in_place(f)
}
