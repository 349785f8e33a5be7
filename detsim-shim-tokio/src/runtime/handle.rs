//! Handles to runtimes.

use super::scope::{self, Leaves};
use super::shared::Shared;
use super::{Id, RuntimeFlavor, RuntimeMetrics};
use crate::context;
use crate::task::{self, JoinHandle};
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::{Arc, MutexGuard};

/// Names a runtime, and does with it whatever needs no owner. A runtime that was shut down drops what
/// is spawned on it.
///
/// # Examples
/// ```
/// use detsim_shim_tokio::runtime::{Builder, Handle};
/// let runtime = Builder::new_current_thread().build().unwrap();
/// let sum = runtime.block_on(async {
///     let handle = Handle::current();
///     handle.spawn(async { 1 + 1 }).await.unwrap()
/// });
/// assert_eq!(sum, 2);
/// ```
#[derive(Clone, Debug)]
pub struct Handle {
    shared: Arc<Shared>,
}

/// While it lives, the runtime is the current one here. Made by [`Handle::enter`].
#[derive(Debug)]
#[must_use = "Creating and dropping a guard does nothing"]
pub struct EnterGuard<'a> {
    _leaves: Leaves,
    /// Of the handle, and of this thread: as in tokio not `Send`, but `Sync`.
    _handle: PhantomData<(&'a Handle, MutexGuard<'static, ()>)>,
}

impl Handle {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// The current runtime.
    ///
    /// # Panics
    /// Where there is none, in tokio's words.
    #[track_caller]
    pub fn current() -> Self {
        match scope::current() {
            Some(shared) => Self::new(shared),
            None => context::missing(),
        }
    }

    /// The current runtime.
    ///
    /// # Errors
    /// Where there is none.
    pub fn try_current() -> Result<Self, TryCurrentError> {
        scope::current().map(Self::new).ok_or(TryCurrentError(()))
    }

    /// Makes it the current one, until the guard is dropped.
    pub fn enter(&self) -> EnterGuard<'_> {
        EnterGuard { _leaves: scope::enter(&self.shared), _handle: PhantomData }
    }

    /// Spawns a task on the runtime.
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.shared.spawns_in().spawn(future)
    }

    /// Runs a closure where it may block.
    #[track_caller]
    pub fn spawn_blocking<F, R>(&self, func: F) -> JoinHandle<R>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        task::spawn_blocking_on(self, func)
    }

    /// Blocks this thread until the future has ended. The tasks of a `current_thread` runtime do not run
    /// meanwhile, unless its owner blocks on it too.
    ///
    /// # Panics
    /// In a task, in tokio's words, and where the run fails.
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.shared.block_on(false, future)
    }

    /// How the runtime runs its tasks.
    pub fn runtime_flavor(&self) -> RuntimeFlavor {
        self.shared.settings().kind.flavor()
    }

    /// The name of the runtime as a number.
    pub fn id(&self) -> Id {
        self.shared.id()
    }

    /// The name that it was given.
    pub fn name(&self) -> Option<&str> {
        self.shared.settings().name.as_deref()
    }

    /// Measures the runtime.
    pub fn metrics(&self) -> RuntimeMetrics {
        RuntimeMetrics::new(self.clone())
    }
}

impl UnwindSafe for Handle {}
impl RefUnwindSafe for Handle {}

/// There is no current runtime.
pub struct TryCurrentError(());

impl TryCurrentError {
    /// Whether that is because none was entered.
    pub fn is_missing_context(&self) -> bool {
        true
    }

    /// Whether that is because the thread is ending.
    pub fn is_thread_local_destroyed(&self) -> bool {
        !self.is_missing_context()
    }
}

impl fmt::Debug for TryCurrentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TryCurrentError { kind: NoContext }")
    }
}

impl fmt::Display for TryCurrentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(context::MISSING)
    }
}

impl std::error::Error for TryCurrentError {}
