//! Datagrams for tokio, which has no simulated network: each message under way is a short task that
//! sleeps on the virtual clock and then hands it over.
//!
//! One network for each run, in a thread-local, as simulators keep theirs.

use std::cell::RefCell;
use std::future::Future;
use std::time::Duration;

use bench_common::Random;
use bench_raft::core::{Message, NodeId, NodeSet};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{Instant, timeout_at};

use crate::raft::Letter;

const LATENCY_NS: [u64; 2] = [1_000_000, 8_000_000];

thread_local! {
    static NET: RefCell<Option<Net>> = const { RefCell::new(None) };
}

struct Net {
    start: Instant,
    random: Random,
    inboxes: Vec<UnboundedSender<Letter>>,
    cut_off: NodeSet,
}

/// One node's place in the network.
pub(crate) struct Endpoint {
    id: NodeId,
    inbox: UnboundedReceiver<Letter>,
}

/// Runs five connected nodes until the supervisor and all of them have ended.
pub(crate) async fn run_nodes<F>(
    seed: u64,
    node: impl Fn(NodeId, Endpoint) -> F,
    supervisor: impl Future<Output = ()>,
) where
    F: Future<Output = ()> + Send + 'static,
{
    let (inboxes, endpoints): (Vec<_>, Vec<_>) = NodeId::all().map(connect).unzip();
    let (start, random, cut_off) = (Instant::now(), Random::new(seed), NodeSet::EMPTY);
    NET.set(Some(Net { start, random, inboxes, cut_off }));
    let spawn_node = |endpoint: Endpoint| tokio::spawn(node(endpoint.id, endpoint));
    let handles: Vec<_> = endpoints.into_iter().map(spawn_node).collect();
    supervisor.await;
    for handle in handles {
        handle.await.expect("no node panics");
    }
    NET.set(None);
}

fn connect(id: NodeId) -> (UnboundedSender<Letter>, Endpoint) {
    let (sender, inbox) = unbounded_channel();
    (sender, Endpoint { id, inbox })
}

pub(crate) fn now_ns() -> u64 {
    let elapsed = with_net(|net| net.start.elapsed());
    u64::try_from(elapsed.as_nanos()).expect("eight seconds")
}

/// From now on, or no longer, messages to and from the node are lost on arrival.
pub(crate) fn isolate(id: NodeId, cut: bool) {
    with_net(|net| net.cut_off = if cut { NodeSet::only(id) } else { NodeSet::EMPTY });
}

impl Endpoint {
    pub(crate) async fn send(&mut self, to: NodeId, message: Message) {
        let from = self.id;
        let [min, max] = LATENCY_NS;
        let latency = Duration::from_nanos(with_net(|net| net.random.between(min, max)));
        tokio::spawn(async move {
            tokio::time::sleep(latency).await;
            deliver(from, to, message);
        });
    }

    /// The next message, or `None` once the time has come.
    pub(crate) async fn receive_until(&mut self, at_ns: u64) -> Option<Letter> {
        let at = with_net(|net| net.start) + Duration::from_nanos(at_ns);
        timeout_at(at, self.inbox.recv()).await.ok().flatten()
    }
}

fn deliver(from: NodeId, to: NodeId, message: Message) {
    with_net(|net| {
        if !net.cut_off.contains(from) && !net.cut_off.contains(to) {
            // A node that has ended takes no more letters.
            let _ = net.inboxes[to.index()].send((from, message));
        }
    });
}

fn with_net<R>(use_it: impl FnOnce(&mut Net) -> R) -> R {
    NET.with_borrow_mut(|net| use_it(net.as_mut().expect("invariant: set for the whole run")))
}
