//! madsim's side of the workload texts: madsim-tokio's names, on a `Runtime` made here.
//!
//! The runtime is made on the calling thread. madsim's test macro starts an OS thread for each seed
//! instead, which would add some 20 us to every simulation.

use std::future::Future;
use std::hint::black_box;

use bench_raft::core::NodeId;
use madsim::Config;
use madsim::runtime::Runtime;

use crate::net;

pub(crate) use crate::net::{Endpoint, isolate, now_ns};
pub(crate) use tokio::spawn;
pub(crate) use tokio::sync::Notify;
pub(crate) use tokio::sync::mpsc::channel;
pub(crate) use tokio::task::yield_now;
pub(crate) use tokio::time::{sleep, timeout};

pub(crate) type JoinHandle = tokio::task::JoinHandle<()>;

/// Runs `future` on madsim's main node.
pub(crate) fn simulate<T>(seed: u64, future: impl Future<Output = T>) -> T {
    runtime(seed).block_on(future)
}

pub(crate) async fn join(handle: JoinHandle) {
    handle.await.expect("no task panics or is aborted");
}

pub(crate) fn empty_simulation(seed: u64) {
    let runtime = runtime(seed);
    let handles: [JoinHandle; 5] = std::array::from_fn(|node| {
        runtime.create_node().build().spawn(async move {
            black_box(node);
        })
    });
    runtime.block_on(async {
        for handle in handles {
            join(handle).await;
        }
    });
}

pub(crate) fn raft_simulation<F>(
    seed: u64,
    node: impl Fn(NodeId, Endpoint) -> F + Clone + Send + Sync + 'static,
    supervisor: impl Future<Output = ()>,
) where
    F: Future<Output = ()> + Send + 'static,
{
    net::run_nodes(&runtime(seed), node, supervisor);
}

fn runtime(seed: u64) -> Runtime {
    Runtime::with_seed_and_config(seed, Config::default())
}
