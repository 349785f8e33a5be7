//! What the attributes expand to, on tokio itself.
//!
//! Owns: one run on a runtime of tokio's. Does not own: seeds, schedules, or anything of the
//! simulator, none of which is part of a program that is built without `--cfg detsim`.

use std::fmt;
use std::future::Future;
use std::io::{Write, stderr};
use tokio::runtime::{Builder, Runtime};

/// What the attribute of a test or a program says, as far as it means something to tokio.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    path: &'static str,
    flavor: Option<&'static str>,
    start_paused: bool,
}

/// A setting of sweeps and schedules: it means nothing to a single run, which says that it is one.
macro_rules! of_sweeps {
    ($($name:ident: $type:ty),*) => { $(
        #[doc = concat!("`", stringify!($name), "` is for sweeps.")]
        #[must_use]
        pub const fn $name(self, _: $type) -> Self {
            self
        }
    )* };
}

impl Spec {
    /// The function at `path`.
    pub const fn new(path: &'static str, _file: &'static str, _line: u32) -> Self {
        Self { path, flavor: None, start_paused: false }
    }

    of_sweeps!(seeds: u64, seed: u64, strategy: &'static str, max_steps: u64, preempt: &'static str);

    /// The runtime: `multi_thread` or `current_thread`.
    #[must_use]
    pub const fn flavor(mut self, flavor: &'static str) -> Self {
        self.flavor = Some(flavor);
        self
    }

    /// Whether the clock starts paused.
    #[must_use]
    pub const fn start_paused(mut self, start_paused: bool) -> Self {
        self.start_paused = start_paused;
        self
    }

    /// The name that the test harness knows the test by.
    fn name(&self) -> &'static str {
        self.path.split_once("::").map_or(self.path, |(_, name)| name)
    }

    fn runtime(&self, flavor: &'static str) -> Runtime {
        let mut builder = builder(self.flavor.unwrap_or(flavor));
        builder.enable_all();
        if self.start_paused {
            pause(&mut builder);
        }
        builder.build().expect("failed building the Runtime")
    }
}

#[cfg(feature = "rt-multi-thread")]
const OF_PROGRAMS: &str = "multi_thread";
#[cfg(not(feature = "rt-multi-thread"))]
const OF_PROGRAMS: &str = "current_thread";

fn builder(flavor: &str) -> Builder {
    match flavor {
        #[cfg(feature = "rt-multi-thread")]
        "multi_thread" => Builder::new_multi_thread(),
        "current_thread" => Builder::new_current_thread(),
        other => panic!(
            "detsim: flavor = \"{other}\" on tokio itself; its feature is off; turn on rt-multi-thread"
        ),
    }
}

#[cfg(feature = "test-util")]
fn pause(builder: &mut Builder) {
    builder.start_paused(true);
}

#[cfg(not(feature = "test-util"))]
fn pause(_: &mut Builder) {
    panic!("detsim: start_paused = true on tokio itself; its feature is off; turn on test-util")
}

/// What a test may return.
pub trait TestOutput {
    /// Ends the test where it failed.
    fn check(self);
}

impl TestOutput for () {
    fn check(self) {}
}

impl<E: fmt::Debug> TestOutput for Result<(), E> {
    #[track_caller]
    fn check(self) {
        if let Err(error) = self {
            panic!("Error: {error:?}")
        }
    }
}

/// Runs a test, once, and says so in a line that the test harness does not keep to itself.
///
/// # Panics
/// Where the test fails.
pub fn test<F>(spec: Spec, make: impl Fn() -> F + 'static)
where
    F: Future<Output: TestOutput> + 'static,
{
    let line = format!(
        "detsim: {} ran once on real tokio; build with RUSTFLAGS=\"--cfg detsim\" to sweep seeds\n",
        spec.name()
    );
    // Where nobody can read it, it is not missed.
    let _written = stderr().write_all(line.as_bytes());
    spec.runtime("current_thread").block_on(make()).check();
}

/// Runs a program.
///
/// # Panics
/// Where it panics.
pub fn main<F: Future>(spec: Spec, make: impl FnOnce() -> F) -> F::Output {
    spec.runtime(OF_PROGRAMS).block_on(make())
}
