//! Spawning.

use crate::runtime::scope;
use crate::task::JoinHandle;
use detsim_executor::context;
use std::future::Future;

/// Spawns a task on the current runtime, and the node of whoever runs. It runs whether or not its handle
/// is polled; a panic in it reaches the handle, and fails the run where the handle is gone.
///
/// # Panics
/// Outside of a runtime, in tokio's words.
///
/// # Examples
/// ```
/// use detsim_shim_tokio as tokio;
/// let sim = detsim_executor::Sim::new(7);
/// let sum = sim.block_on(async { tokio::spawn(async { 1 + 1 }).await.unwrap() });
/// assert_eq!(sum.unwrap(), 2);
/// ```
#[track_caller]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    if scope::is_plain() {
        return JoinHandle::new(context::spawn("", future));
    }
    match scope::spawns_in() {
        None => JoinHandle::new(context::spawn("", future)),
        Some(place) => place.spawn(future),
    }
}
