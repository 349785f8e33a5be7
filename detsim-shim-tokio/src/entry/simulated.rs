//! What the attributes expand to, simulated.
//!
//! Owns: a program's `async fn main` as the first task of a simulation. Does not own: tests and sweeps,
//! seeds and settings, which are the facade's.

#[path = "scoped.rs"]
pub(crate) mod scoped;

pub use detsim::__private::{Spec, TestOutput};

use crate::runtime::{Kind, Settings, Shared, world};
use detsim::__private::Built;
use std::future::Future;

/// `cargo detsim` says by the value of the cfg that it is the one who builds.
const BUILT: Built = if cfg!(detsim = "graph") { Built::Graph } else { Built::Cfg };

/// Runs a test: a sweep over its seeds.
///
/// # Panics
/// Where a seed fails.
#[track_caller]
pub fn test<F>(spec: Spec, make: impl Fn() -> F + Sync + 'static)
where
    F: Future<Output: TestOutput> + 'static,
{
    let settings = Settings::of(&spec, Kind::CurrentThread);
    detsim::__private::run_async(spec.built(BUILT), move || {
        let (test, settings) = (make(), settings.clone());
        async move {
            Shared::root_of(&world::here(), settings);
            test.await
        }
    });
}

/// Runs a program, once. What it spawned and did not wait for ends with it, as with a runtime.
///
/// # Panics
/// Where the run fails: with the report.
#[track_caller]
pub fn main<F: Future>(spec: Spec, make: impl FnOnce() -> F) -> F::Output {
    let settings = Settings::of(&spec, Kind::MultiThread);
    let ended = detsim::__private::main(spec, |sim| {
        Shared::root_of(sim, settings);
        scoped::block_on(sim, make())
    });
    ended.unwrap_or_else(|failure| panic!("{failure}"))
}
