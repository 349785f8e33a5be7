//! detsim's side of the workload texts: the shim's names, on a `Sim` made here.
//!
//! No sweep and no worker process: what is measured is a run. Everything that a run has by default
//! is on: names, nodes, choices, the hash.

use std::future::Future;
use std::hint::black_box;

use detsim::Sim;

pub(crate) use tokio::spawn;
pub(crate) use tokio::sync::Notify;
pub(crate) use tokio::sync::mpsc::channel;
pub(crate) use tokio::task::yield_now;
pub(crate) use tokio::time::{sleep, timeout};

/// Of the simulated disk.
pub(crate) const DISK: &str = "/tmp";

pub(crate) type JoinHandle = tokio::task::JoinHandle<()>;

/// Runs `future` as the main task of a world of this seed.
pub(crate) fn simulate<T>(seed: u64, future: impl Future<Output = T> + 'static) -> T {
    // Files of std are the run's from now on, as under the attributes.
    drop(detsim::__private::disks());
    let sim = Sim::new(seed);
    let output = sim.block_on(future).unwrap_or_else(|failure| panic!("{failure}"));
    black_box(sim.hash());
    output
}

pub(crate) async fn join(handle: JoinHandle) {
    handle.await.expect("no task panics or is aborted");
}

pub(crate) fn empty_simulation(seed: u64) {
    let sim = Sim::new(seed);
    for name in ["n1", "n2", "n3", "n4", "n5"] {
        // Nobody waits for it; the run ends when all have ended.
        drop(sim.node(name).spawn("trivial", async move {
            black_box(name);
        }));
    }
    let report = sim.run().unwrap_or_else(|failure| panic!("{failure}"));
    assert_eq!(report.completed, 5, "each node's task ran");
    black_box(report.hash);
}
