//! What a test attribute says about its test.
//!
//! Owns: [`Spec`], the plain data that `#[detsim::test]` builds at the call site, and its defaults.
//! Does not own: what the environment says ([`crate::config`]) nor which of the two wins (the
//! sweep decides: the environment does). Invariant: a spec holds no state, so the parent and all
//! of its workers build equal ones.

use std::time::Duration;

use detsim_executor::rng::{fold, hash_bytes};

/// The seeds of a `#[detsim::test]` that names no number: enough to shake out what fails once in
/// some tens of runs, few enough that a project can put the attribute on every test.
pub const SEEDS_DEFAULT: u64 = 100;

/// One test: its name, where it stands, and the arguments of its attribute.
///
/// # Examples
/// ```
/// use detsim::__private::Spec;
/// let spec = Spec::new("pool::tests::drains", "src/pool.rs", 12).seeds(2000).strategy("random");
/// assert_eq!(spec.test_name(), "tests::drains");
/// ```
#[derive(Clone, Debug)]
pub struct Spec {
    pub(crate) path: &'static str,
    pub(crate) file: &'static str,
    pub(crate) line: u32,
    pub(crate) seeds: u64,
    pub(crate) strategy: Option<&'static str>,
    pub(crate) max_steps: Option<u64>,
    pub(crate) preempt: Option<&'static str>,
    pub(crate) start_paused: bool,
    pub(crate) flavor: Option<&'static str>,
    pub(crate) worker_threads: Option<usize>,
    pub(crate) built: Built,
    pub(crate) seed: Option<u64>,
    pub(crate) unhandled_panic: Option<&'static str>,
    pub(crate) runtime_name: Option<&'static str>,
    pub(crate) leaks: Option<&'static str>,
    pub(crate) crash: Option<&'static str>,
    pub(crate) minimize: bool,
    pub(crate) limits: Limits,
}

/// How a test came to run on the simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Built {
    /// It calls the simulator, and is built as any other test.
    Plain,
    /// By cargo with `--cfg detsim` among the compiler's flags.
    Cfg,
    /// By `cargo detsim`.
    Graph,
}

/// What bounds one seed and one sweep in the real world.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Wall time without one step of the kernel after which a run is stopped.
    pub(crate) stuck_after: Duration,
    /// Memory that one run may map beyond what its worker had mapped.
    pub(crate) memory_bytes: u64,
    /// Failing seeds after which a sweep ends.
    pub(crate) failures_max: usize,
}

impl Limits {
    const DEFAULT: Self =
        Self { stuck_after: Duration::from_secs(10), memory_bytes: 4 << 30, failures_max: 10 };
}

impl Spec {
    /// The test at `path`, which is `module_path!()`, `::` and the function's name, standing at
    /// `file` and `line`. It runs [`SEEDS_DEFAULT`] seeds.
    pub const fn new(path: &'static str, file: &'static str, line: u32) -> Self {
        Self {
            path,
            file,
            line,
            seeds: SEEDS_DEFAULT,
            strategy: None,
            max_steps: None,
            preempt: None,
            start_paused: false,
            flavor: None,
            worker_threads: None,
            built: Built::Plain,
            seed: None,
            unhandled_panic: None,
            leaks: None,
            runtime_name: None,
            crash: None,
            minimize: false,
            limits: Limits::DEFAULT,
        }
    }

    /// How many seeds a sweep runs, from seed 0 on.
    ///
    /// # Panics
    /// Where `seeds` is 0: such a test would pass without having run.
    #[must_use]
    #[track_caller]
    pub const fn seeds(mut self, seeds: u64) -> Self {
        assert!(seeds > 0, "detsim: seeds = 0; such a test runs nothing; give at least 1");
        self.seeds = seeds;
        self
    }

    /// The scheduler of every run: `random` or `fifo`.
    #[must_use]
    pub const fn strategy(mut self, strategy: &'static str) -> Self {
        self.strategy = Some(strategy);
        self
    }

    /// The steps after which a run is stopped as a livelock.
    #[must_use]
    pub const fn max_steps(mut self, max_steps: u64) -> Self {
        self.max_steps = Some(max_steps);
        self
    }

    /// Where tasks may be preempted: `ops` or `await`.
    #[must_use]
    pub const fn preempt(mut self, preempt: &'static str) -> Self {
        self.preempt = Some(preempt);
        self
    }

    /// Whether the clock starts paused.
    #[must_use]
    pub const fn start_paused(mut self, start_paused: bool) -> Self {
        self.start_paused = start_paused;
        self
    }

    /// The runtime that the test asks for: `multi_thread` or `current_thread`.
    #[must_use]
    pub const fn flavor(mut self, flavor: &'static str) -> Self {
        self.flavor = Some(flavor);
        self
    }

    /// The worker threads that the simulated runtime claims to have.
    #[must_use]
    pub const fn worker_threads(mut self, worker_threads: usize) -> Self {
        self.worker_threads = Some(worker_threads);
        self
    }

    /// The one seed of a `main`, unless the environment says another.
    #[must_use]
    pub const fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// What a panic in a task does to the runtime: `ignore` or `shutdown_runtime`.
    #[must_use]
    pub const fn unhandled_panic(mut self, behavior: &'static str) -> Self {
        self.unhandled_panic = Some(behavior);
        self
    }

    /// What a task that is alive when the test has ended means: `fail` or `ignore`.
    #[must_use]
    pub const fn leaks(mut self, leaks: &'static str) -> Self {
        self.leaks = Some(leaks);
        self
    }

    /// The name of the simulated runtime.
    #[must_use]
    pub const fn runtime_name(mut self, name: &'static str) -> Self {
        self.runtime_name = Some(name);
        self
    }

    /// What a loss of power may leave on the disks of a run, by the word of a
    /// [`CrashProfile`](detsim_fs::CrashProfile); or `exhaustive`: seed 0 loses no power and counts the
    /// sets of survivors that its losses could leave, seed `n` loses it at the `n`th of them, and nothing
    /// else differs between seeds.
    #[must_use]
    pub const fn crash(mut self, crash: &'static str) -> Self {
        self.crash = Some(crash);
        self
    }

    /// Whether a failing run is cut down to the choices that matter, at the end of the sweep.
    #[must_use]
    pub const fn minimize(mut self, minimize: bool) -> Self {
        self.minimize = minimize;
        self
    }

    /// This is a `#[tokio::test]`: it runs one seed unless it, or the environment, says more.
    #[must_use]
    pub const fn tokio_test(mut self) -> Self {
        self.seeds = 1;
        self
    }

    /// How the test was built, which its reproduce line must repeat; by plain cargo unless said.
    #[must_use]
    pub const fn built(mut self, built: Built) -> Self {
        self.built = built;
        self
    }

    /// The wall time without one step of the kernel after which a run is stopped and named as
    /// spinning or hanging; 10 s unless said. Rounded up to whole ticks of a tenth of it.
    #[must_use]
    pub const fn stuck_after(mut self, stuck_after: Duration) -> Self {
        self.limits.stuck_after = stuck_after;
        self
    }

    /// The bytes of address space that one run may map beyond what its worker has mapped; 4 GiB
    /// unless said. The allocation that would exceed it fails, as on a machine without memory.
    #[must_use]
    pub const fn memory_bytes(mut self, memory_bytes: u64) -> Self {
        self.limits.memory_bytes = memory_bytes;
        self
    }

    /// The failing seeds after which a sweep ends; 10 unless said.
    #[must_use]
    pub const fn failures_max(mut self, failures_max: usize) -> Self {
        self.limits.failures_max = failures_max;
        self
    }

    /// Whether the clock is to start paused.
    pub fn starts_paused(&self) -> bool {
        self.start_paused
    }

    /// What was said by [`Spec::flavor`].
    pub fn runtime_flavor(&self) -> Option<&'static str> {
        self.flavor
    }

    /// What was said by [`Spec::worker_threads`].
    pub fn runtime_threads(&self) -> Option<usize> {
        self.worker_threads
    }

    /// What was said by [`Spec::unhandled_panic`].
    pub fn on_unhandled_panic(&self) -> Option<&'static str> {
        self.unhandled_panic
    }

    /// What was said by [`Spec::runtime_name`].
    pub fn named_runtime(&self) -> Option<&'static str> {
        self.runtime_name
    }

    /// Whether the test needs `--cfg detsim` among the flags of the compiler.
    pub(crate) fn needs_cfg(&self) -> bool {
        self.built == Built::Cfg
    }

    /// Tells this test from every other of its binary.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only workers ask"))]
    pub(crate) fn id(&self) -> u64 {
        let place = fold(hash_bytes(self.file.as_bytes()), u64::from(self.line));
        fold(hash_bytes(self.path.as_bytes()), place)
    }

    /// The name that the test harness knows the test by: its path without the crate.
    pub fn test_name(&self) -> &'static str {
        self.path.split_once("::").map_or(self.path, |(_, name)| name)
    }
}
