//! Building runtimes.
//!
//! Owns: [`Builder`], every stable setter of tokio's. A setter does what it says, or its documentation
//! says why it cannot matter here.

use super::settings::{Kind, Settings};
use super::shared::Shared;
use super::{LocalOptions, LocalRuntime, Runtime};
use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// Builds a runtime.
///
/// # Examples
/// ```
/// use detsim_shim_tokio::runtime::Builder;
/// let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
/// assert_eq!(runtime.metrics().num_workers(), 2);
/// assert_eq!(runtime.block_on(async { 1 + 1 }), 2);
/// ```
pub struct Builder {
    settings: Settings,
}

impl Builder {
    /// A runtime whose tasks run while somebody blocks on it.
    pub fn new_current_thread() -> Self {
        Self { settings: Settings::new(Kind::CurrentThread) }
    }

    /// A runtime whose tasks run all the time, and interleave at every operation.
    pub fn new_multi_thread() -> Self {
        Self { settings: Settings::new(Kind::MultiThread) }
    }

    /// Turns on everything that there is: time and io.
    pub fn enable_all(&mut self) -> &mut Self {
        self.enable_io().enable_time()
    }

    /// Turns on io.
    pub fn enable_io(&mut self) -> &mut Self {
        self.settings.io = true;
        self
    }

    /// Turns on timers. A runtime without panics where one is made, as tokio's does.
    pub fn enable_time(&mut self) -> &mut Self {
        self.settings.time = true;
        self
    }

    /// The workers of a `multi_thread` runtime. The simulated ones do not limit how tasks interleave;
    /// the number shows in [`metrics`](super::RuntimeMetrics), [`worker_index`](super::worker_index) and
    /// how often the callbacks of threads are called.
    ///
    /// # Panics
    /// Where it is 0.
    #[track_caller]
    pub fn worker_threads(&mut self, val: usize) -> &mut Self {
        assert!(val > 0, "Worker threads cannot be set to 0");
        self.settings.workers = Some(val);
        self
    }

    /// The most closures that may block at a time; others wait until one has ended. The run has one pool
    /// for all of its runtimes: the one that was built last, of those that name a number, decides.
    ///
    /// # Panics
    /// Where it is 0.
    #[track_caller]
    pub fn max_blocking_threads(&mut self, val: usize) -> &mut Self {
        assert!(val > 0, "Max blocking threads cannot be set to 0");
        self.settings.blocking_max = Some(val);
        self
    }

    /// The name of the runtime's threads. Those that tasks run on, and that closures block, belong to the
    /// run, whichever runtime they work for: std shows this name nowhere.
    pub fn thread_name(&mut self, _val: impl Into<String>) -> &mut Self {
        self
    }

    /// What would name each of the runtime's threads, none of which has a name of its own here: see
    /// [`Self::thread_name`].
    pub fn thread_name_fn<F>(&mut self, _f: F) -> &mut Self
    where
        F: Fn() -> String + Send + Sync + 'static,
    {
        self
    }

    /// The name of the runtime.
    ///
    /// # Panics
    /// Where it has nothing but white space.
    #[track_caller]
    pub fn name(&mut self, val: impl Into<String>) -> &mut Self {
        let val = val.into();
        assert!(!val.trim().is_empty(), "runtime name shouldn't be empty");
        self.settings.name = Some(val);
        self
    }

    /// The stack of the runtime's threads. Those that tasks run on, and that closures block, belong to the
    /// run: each has one of std's usual size, which is what tokio's have that nobody sets.
    pub fn thread_stack_size(&mut self, _val: usize) -> &mut Self {
        self
    }

    /// Called for each thread that starts: the workers of a `multi_thread` runtime when it is built.
    pub fn on_thread_start<F>(&mut self, f: F) -> &mut Self
    where
        F: Fn() + Send + Sync + 'static,
    {
        self.settings.hooks.start = Some(Arc::new(f));
        self
    }

    /// Called for each thread that stops: the workers of a `multi_thread` runtime when it is shut down.
    pub fn on_thread_stop<F>(&mut self, f: F) -> &mut Self
    where
        F: Fn() + Send + Sync + 'static,
    {
        self.settings.hooks.stop = Some(Arc::new(f));
        self
    }

    /// Called for each worker when nothing can go on before the clock moves. What it wakes or spawns
    /// goes on then.
    pub fn on_thread_park<F>(&mut self, f: F) -> &mut Self
    where
        F: Fn() + Send + Sync + 'static,
    {
        self.settings.hooks.park = Some(Arc::new(f));
        self
    }

    /// Called for each worker when something can go on after that.
    pub fn on_thread_unpark<F>(&mut self, f: F) -> &mut Self
    where
        F: Fn() + Send + Sync + 'static,
    {
        self.settings.hooks.unpark = Some(Arc::new(f));
        self
    }

    /// How long an idle thread for blocking work is kept, which shows in nothing but real time.
    pub fn thread_keep_alive(&mut self, _duration: Duration) -> &mut Self {
        self
    }

    /// How often tokio looks into its global queue. Here there is one set of ready tasks, from which the
    /// strategy of the run picks: nothing is looked at more rarely than something else.
    ///
    /// # Panics
    /// Where it is 0.
    #[track_caller]
    pub fn global_queue_interval(&mut self, val: u32) -> &mut Self {
        assert!(val > 0, "global_queue_interval must be greater than 0");
        self
    }

    /// How often tokio looks for timers and io. Here they are looked at before every poll.
    ///
    /// # Panics
    /// Where it is 0.
    #[track_caller]
    pub fn event_interval(&mut self, val: u32) -> &mut Self {
        assert!(val > 0, "event_interval must be greater than 0");
        self
    }

    /// How many events of io tokio takes at once. Here each of them happens at its own moment.
    ///
    /// # Panics
    /// Where it is 0.
    #[track_caller]
    pub fn max_io_events_per_tick(&mut self, capacity: usize) -> &mut Self {
        assert!(capacity > 0, "max_io_events_per_tick must be non-zero");
        self
    }

    /// The same while tasks are ready.
    ///
    /// # Panics
    /// Where it is 0.
    #[track_caller]
    pub fn max_io_events_per_busy_tick(&mut self, capacity: usize) -> &mut Self {
        assert!(capacity > 0, "max_io_events_per_busy_tick must be non-zero");
        self
    }

    /// Whether the clock starts paused. The run has one clock: it is paused while somebody blocks on
    /// this runtime.
    pub fn start_paused(&mut self, start_paused: bool) -> &mut Self {
        self.settings.start_paused = start_paused;
        self
    }

    /// Makes the runtime, in the run of this thread.
    ///
    /// # Errors
    /// None: there is nothing that could be missing.
    #[track_caller]
    pub fn build(&mut self) -> io::Result<Runtime> {
        self.check();
        Ok(Runtime::new_of(Shared::build(self.settings.clone())))
    }

    /// Makes a runtime for tasks that stay on this thread.
    ///
    /// # Errors
    /// As [`Self::build`].
    ///
    /// # Panics
    /// Where the runtime is a `multi_thread` one.
    #[track_caller]
    pub fn build_local(&mut self, _options: LocalOptions) -> io::Result<LocalRuntime> {
        let multi = self.settings.kind == Kind::MultiThread;
        assert!(!multi, "multi_thread is not supported for LocalRuntime");
        let settings = Settings { kind: Kind::Local, ..self.settings.clone() };
        Ok(LocalRuntime::new_of(Shared::build(settings)))
    }

    #[track_caller]
    fn check(&self) {
        let Settings { kind, start_paused, .. } = self.settings;
        assert!(
            !(start_paused && kind == Kind::MultiThread),
            "cannot start a multi_thread runtime with a paused clock"
        );
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.settings.fmt(f)
    }
}
