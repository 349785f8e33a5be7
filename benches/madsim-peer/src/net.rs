//! Raft's datagrams on madsim's own network, by its cheapest door: `Endpoint`'s raw messages, which
//! are boxed and not encoded.
//!
//! madsim adds at least 1 ms to each send and each receive, so a run here has somewhat fewer events
//! than elsewhere; and a receive that a timeout cancels in that time loses its message.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::net::SocketAddr;
use std::time::Duration;

use bench_raft::core::{Message, NODES, NodeId};
use madsim::net::{Endpoint as MadsimEndpoint, NetSim};
use madsim::runtime::{NodeHandle, Runtime};
use madsim::time::TimeHandle;
use tokio::time::timeout;

use crate::raft::Letter;

/// Endpoints sort what they receive by tag; one is enough here.
const TAG: u64 = 1;

thread_local! {
    static NODES_OF_RUN: RefCell<Vec<NodeHandle>> = const { RefCell::new(Vec::new()) };
    /// madsim's clock starts above zero.
    static START: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// One node's place in the network.
pub(crate) struct Endpoint(MadsimEndpoint);

/// Runs five connected nodes until the supervisor and all of them have ended.
pub(crate) fn run_nodes<F>(
    runtime: &Runtime,
    node: impl Fn(NodeId, Endpoint) -> F + Clone + Send + Sync + 'static,
    supervisor: impl Future<Output = ()>,
) where
    F: Future<Output = ()> + Send + 'static,
{
    let handle = runtime.handle().clone();
    runtime.block_on(async {
        START.set(TimeHandle::current().elapsed());
        let make = |id| handle.create_node().ip(address(id).ip()).build();
        let nodes: Vec<_> = NodeId::all().map(make).collect();
        let spawn_node = |(id, place): (_, &NodeHandle)| {
            let node = node.clone();
            place.spawn(async move { node(id, bind(id).await).await })
        };
        let handles: Vec<_> = NodeId::all().zip(&nodes).map(spawn_node).collect();
        NODES_OF_RUN.set(nodes);
        supervisor.await;
        for handle in handles {
            handle.await.expect("no node panics");
        }
        NODES_OF_RUN.take();
    });
}

async fn bind(id: NodeId) -> Endpoint {
    Endpoint(MadsimEndpoint::bind(address(id)).await.expect("the port is free"))
}

pub(crate) fn now_ns() -> u64 {
    let elapsed = TimeHandle::current().elapsed() - START.get();
    u64::try_from(elapsed.as_nanos()).expect("eight seconds")
}

/// From now on, or no longer, messages to and from the node are lost.
pub(crate) fn isolate(id: NodeId, cut: bool) {
    let node = NODES_OF_RUN.with_borrow(|nodes| nodes[id.index()].id());
    let net = NetSim::current();
    if cut { net.clog_node(node) } else { net.unclog_node(node) }
}

impl Endpoint {
    pub(crate) async fn send(&mut self, to: NodeId, message: Message) {
        let sent = self.0.send_to_raw(address(to), TAG, Box::new(message)).await;
        sent.expect("the simulated network is up");
    }

    /// The next message, or `None` once the time has come.
    pub(crate) async fn receive_until(&mut self, at_ns: u64) -> Option<Letter> {
        let left = Duration::from_nanos(at_ns.saturating_sub(now_ns()));
        let received = timeout(left, self.0.recv_from_raw(TAG)).await.ok()?;
        let (payload, from) = received.expect("the simulated network is up");
        Some((sender(from), *payload.downcast().expect("only messages are sent")))
    }
}

fn address(id: NodeId) -> SocketAddr {
    let last = u8::try_from(id.index() + 1).expect("a small number");
    SocketAddr::from(([10, 0, 0, last], 9))
}

fn sender(address: SocketAddr) -> NodeId {
    let number = NodeId::all().position(|id| self::address(id) == address);
    NodeId::new(number.unwrap_or(NODES))
}
