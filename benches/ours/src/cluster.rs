//! detsim's side of the workloads on sockets: the shim's sockets, on nodes of a `Sim` made here.

use std::cell::Cell;
use std::future::Future;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::time::Duration;

use detsim::{Net, NetFaults, NodeBuilder, Sim};

pub(crate) use tokio::net::{TcpListener, TcpStream, UdpSocket};
pub(crate) use tokio::time::sleep;

pub(crate) type Program = Box<dyn Fn() -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync>;

/// Seeds whose faults a workload is measured under. Some of those that follow cut two nodes off from each
/// other so often that their connection gives up, as Linux's do; the texts know of no such end.
const ROUGH_SEEDS: u64 = 50;

/// Runs nodes, until all clients have ended.
pub(crate) fn run(seed: u64, servers: Vec<Program>, clients: Vec<Program>) {
    let sim = Sim::new(seed);
    set_conditions(&Net::of(&sim));
    let mut handles = Vec::new();
    let waited_for = servers.len();
    for (number, program) in servers.into_iter().chain(clients).enumerate() {
        let node = NodeBuilder::new(format!("n{number}")).ip(address(number).ip()).build(&sim);
        handles.push(node.spawn("main", program()));
    }
    let clients = handles.split_off(waited_for);
    let all = async move {
        for client in clients {
            client.await.expect("no client panics");
        }
    };
    sim.block_on(all).unwrap_or_else(|failure| panic!("{failure}"));
    std::hint::black_box(sim.hash());
}

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Conditions {
    /// Nothing, as on the peers.
    Peers,
    /// Nothing but what always does: short reads and writes, as often as the seed has it.
    Fair,
    /// Whatever the seed has in store, but for resets: the texts know of no connection that is reset.
    Rough,
}

thread_local! {
    static CONDITIONS: Cell<Conditions> = const { Cell::new(Conditions::Peers) };
}

fn set_conditions(net: &Net) {
    let (delay_min, delay_max) = (Duration::from_millis(1), Duration::from_millis(10));
    let fair = NetFaults { delay_min, delay_max, ..NetFaults::default() };
    match CONDITIONS.get() {
        Conditions::Peers => net.set_faults(&NetFaults { short_rate: Some(0.0), ..fair }),
        Conditions::Fair => net.set_faults(&fair),
        Conditions::Rough => {
            net.draw_faults();
            net.set_reset_rate(0.0);
        }
    }
}

/// Work under these conditions: an equal share for each of some seeds.
pub(crate) fn shared(conditions: Conditions, work: fn(u64, u64), operations: u64) {
    CONDITIONS.set(conditions);
    (0..ROUGH_SEEDS).for_each(|seed| work(seed, operations / ROUGH_SEEDS));
    CONDITIONS.set(Conditions::Peers);
}

/// Sends a datagram.
pub(crate) async fn send(socket: &UdpSocket, to: SocketAddr, bytes: &[u8]) {
    socket.send_to(bytes, to).await.expect("a datagram can be sent");
}

/// Where a node is.
pub(crate) fn address(node: usize) -> SocketAddr {
    let [high, low] = (node as u16 + 1).to_be_bytes();
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 9, high, low)), 7_000)
}

/// Where a node is to itself.
pub(crate) fn own(node: usize) -> SocketAddr {
    address(node)
}
