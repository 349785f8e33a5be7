//! Runtimes.
//!
//! Mirrors `tokio::runtime`. Owns: builders, runtimes, handles, which runtime is the current one, and
//! the run of a thread that nobody opened. Does not own: tasks and the order in which they run, which
//! are the kernel's; a runtime is a group of tasks there.
//!
//! A `multi_thread` runtime has one thread: its tasks take turns, and may be stopped before every operation,
//! which is more than several would do to them. Who blocks on it does so on another, as programs see by
//! their thread-locals; only the runtime of the run itself (`#[tokio::test]`, `#[tokio::main]`) has its tasks
//! on the thread of the run. The tasks of a `current_thread` runtime run while somebody blocks on it, and
//! let others run only where they wait.

mod builder;
mod handle;
mod hooks;
mod id;
mod local;
mod metrics;
mod owner;
mod place;
pub(crate) mod scope;
mod settings;
mod shared;
pub(crate) mod world;

pub use builder::Builder;
pub use handle::{EnterGuard, Handle, TryCurrentError};
pub use id::Id;
pub use local::{LocalOptions, LocalRuntime};
pub use metrics::RuntimeMetrics;
pub use owner::Runtime;
pub use settings::RuntimeFlavor;
pub(crate) use settings::{Kind, Settings};
pub(crate) use shared::{NEEDS_CURRENT_THREAD, Shared};
pub use tokio::runtime::is_rt_shutdown_err;

/// What waits for io is told that where its runtime has been shut down.
#[cfg(any(feature = "io-std", feature = "net"))]
pub(crate) fn gone() -> std::io::Error {
    std::io::Error::other(crate::context::SHUT_DOWN)
}

/// The number of the worker that runs the current task, from 0 on; `None` outside of a task.
///
/// As on tokio: what somebody blocks on runs on no worker of a `multi_thread` runtime, and on the one
/// of a `current_thread` runtime where its owner blocks. A simulated task stays on one worker.
///
/// # Examples
/// ```
/// use detsim_shim_tokio::runtime::{Builder, worker_index};
/// let runtime = Builder::new_multi_thread().worker_threads(4).build().unwrap();
/// let (main, task) = runtime.block_on(async {
///     let task = detsim_shim_tokio::spawn(async { worker_index() });
///     (worker_index(), task.await.unwrap())
/// });
/// assert!(main.is_none() && task.is_some_and(|index| index < 4));
/// ```
pub fn worker_index() -> Option<usize> {
    scope::current()?.worker_index()
}
