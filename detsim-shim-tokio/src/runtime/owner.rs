//! A runtime's owner.

use super::shared::Shared;
use super::{Builder, EnterGuard, Handle, RuntimeMetrics};
use crate::task::JoinHandle;
use std::future::Future;
use std::io;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use std::time::Duration;

/// A runtime. Dropping it drops its tasks, and waits for blocking work that has begun.
///
/// # Examples
/// ```
/// use detsim_shim_tokio::runtime::Runtime;
/// let runtime = Runtime::new().unwrap();
/// let task = runtime.spawn(async { 7 });
/// assert_eq!(runtime.block_on(task).unwrap(), 7);
/// ```
#[derive(Debug)]
pub struct Runtime {
    handle: Handle,
}

impl Runtime {
    pub(super) fn new_of(shared: Arc<Shared>) -> Self {
        Self { handle: Handle::new(shared) }
    }

    /// A `multi_thread` runtime with everything on.
    ///
    /// # Errors
    /// As [`Builder::build`].
    #[track_caller]
    pub fn new() -> io::Result<Self> {
        Builder::new_multi_thread().enable_all().build()
    }

    /// A handle to it.
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Spawns a task on it.
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.handle.spawn(future)
    }

    /// Runs a closure where it may block.
    #[track_caller]
    pub fn spawn_blocking<F, R>(&self, func: F) -> JoinHandle<R>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        self.handle.spawn_blocking(func)
    }

    /// Blocks this thread until the future has ended, and runs the runtime's tasks meanwhile.
    ///
    /// A thread that is part of no run becomes part of the runtime's for so long. It waits until the one that
    /// made the runtime blocks on anything, or has ended: who drives the run is one thread at a time. When it
    /// comes is up to the system, so that such a run does not repeat.
    ///
    /// # Panics
    /// In a task, in tokio's words; where the future panics; where the run fails, with the report.
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.handle.shared().block_on(true, future)
    }

    /// Makes it the current one, until the guard is dropped.
    pub fn enter(&self) -> EnterGuard<'_> {
        self.handle.enter()
    }

    /// Drops its tasks, and waits for blocking work that has begun, for so long at most.
    #[track_caller]
    pub fn shutdown_timeout(self, duration: Duration) {
        self.handle.shared().shut_down_for(Some(duration));
    }

    /// Drops its tasks, and waits for nothing. It may be called in a task.
    pub fn shutdown_background(self) {
        self.handle.shared().shut_down_in_background();
    }

    /// Measures it.
    pub fn metrics(&self) -> RuntimeMetrics {
        self.handle.metrics()
    }
}

impl Drop for Runtime {
    #[track_caller]
    fn drop(&mut self) {
        self.handle.shared().shut_down_for(None);
    }
}

impl UnwindSafe for Runtime {}
impl RefUnwindSafe for Runtime {}
