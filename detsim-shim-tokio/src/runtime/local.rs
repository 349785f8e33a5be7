//! Runtimes for tasks that stay on one thread.

use super::shared::Shared;
use super::{Builder, EnterGuard, Handle, RuntimeMetrics};
use crate::task::JoinHandle;
use std::future::Future;
use std::io;
use std::marker::PhantomData;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use std::time::Duration;

/// A `current_thread` runtime whose tasks need not be `Send`.
///
/// # Examples
/// ```
/// use detsim_shim_tokio::{runtime::LocalRuntime, task::spawn_local};
/// use std::rc::Rc;
/// let runtime = LocalRuntime::new().unwrap();
/// let shared = Rc::new(7);
/// let other = Rc::clone(&shared);
/// let seven = runtime.block_on(async { spawn_local(async move { *other }).await.unwrap() });
/// assert_eq!(seven, *shared);
/// ```
#[derive(Debug)]
pub struct LocalRuntime {
    handle: Handle,
    _this_thread: PhantomData<*mut u8>,
}

/// What a [`LocalRuntime`] is built with, beside the builder's settings: nothing yet.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct LocalOptions {
    _this_thread: PhantomData<*mut u8>,
}

impl LocalRuntime {
    pub(super) fn new_of(shared: Arc<Shared>) -> Self {
        Self { handle: Handle::new(shared), _this_thread: PhantomData }
    }

    /// A runtime with everything on.
    ///
    /// # Errors
    /// As [`Builder::build_local`].
    #[track_caller]
    pub fn new() -> io::Result<Self> {
        Builder::new_current_thread().enable_all().build_local(LocalOptions::default())
    }

    /// A handle to it.
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Spawns a task on it.
    #[track_caller]
    pub fn spawn_local<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        self.handle.shared().spawns_in().spawn_local(future)
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

    /// Drops its tasks, and waits for nothing.
    pub fn shutdown_background(self) {
        self.handle.shared().shut_down();
    }

    /// Measures it.
    pub fn metrics(&self) -> RuntimeMetrics {
        self.handle.metrics()
    }
}

impl Drop for LocalRuntime {
    #[track_caller]
    fn drop(&mut self) {
        self.handle.shared().shut_down_for(None);
    }
}

impl UnwindSafe for LocalRuntime {}
impl RefUnwindSafe for LocalRuntime {}
