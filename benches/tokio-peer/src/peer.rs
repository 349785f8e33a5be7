//! tokio's side of the workload texts: mostly its own names.
//!
//! tokio has no nodes; its empty simulation is a runtime with five tasks.

use std::future::Future;
use std::hint::black_box;

use bench_raft::core::NodeId;
use tokio::runtime::Builder;

use crate::net;

pub(crate) use crate::net::{Endpoint, isolate, now_ns};
pub(crate) use tokio::spawn;
pub(crate) use tokio::sync::Notify;
pub(crate) use tokio::sync::mpsc::channel;
pub(crate) use tokio::task::yield_now;
pub(crate) use tokio::time::{sleep, timeout};

/// A file system in memory.
pub(crate) const DISK: &str = "/dev/shm";

pub(crate) type JoinHandle = tokio::task::JoinHandle<()>;

/// Runs `future` on a fresh runtime. There is no scheduling choice here that a seed could move.
pub(crate) fn simulate<T>(_seed: u64, future: impl Future<Output = T>) -> T {
    let runtime = Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.expect("a runtime without I/O asks nothing of the system").block_on(future)
}

pub(crate) async fn join(handle: JoinHandle) {
    handle.await.expect("no task panics or is aborted");
}

pub(crate) fn empty_simulation(seed: u64) {
    simulate(seed, async {
        let handles: [JoinHandle; 5] = std::array::from_fn(|node| {
            spawn(async move {
                black_box(node);
            })
        });
        for handle in handles {
            join(handle).await;
        }
    });
}

pub(crate) fn raft_simulation<F>(
    seed: u64,
    node: impl Fn(NodeId, Endpoint) -> F,
    supervisor: impl Future<Output = ()>,
) where
    F: Future<Output = ()> + Send + 'static,
{
    simulate(seed, net::run_nodes(seed, node, supervisor));
}
