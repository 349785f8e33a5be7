//! madsim's side of the workloads on sockets: madsim-tokio's sockets, on nodes of a `Runtime` made here.
//! Its default latency is the 1 to 10 ms that all peers have.

use std::future::Future;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::pin::Pin;

use madsim::Config;
use madsim::runtime::Runtime;

pub(crate) use tokio::net::{TcpListener, TcpStream, UdpSocket};
pub(crate) use tokio::time::sleep;

pub(crate) type Program = Box<dyn Fn() -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync>;

pub(crate) fn run(seed: u64, servers: Vec<Program>, clients: Vec<Program>) {
    let runtime = Runtime::with_seed_and_config(seed, Config::default());
    let handle = runtime.handle().clone();
    let waited_for = servers.len();
    let mut nodes = Vec::new();
    let mut handles = Vec::new();
    for (number, program) in servers.into_iter().chain(clients).enumerate() {
        let node = handle.create_node().ip(address(number).ip()).build();
        handles.push(node.spawn(async move { program().await }));
        nodes.push(node);
    }
    let clients = handles.split_off(waited_for);
    runtime.block_on(async {
        for client in clients {
            client.await.expect("no client panics");
        }
    });
}

/// Sends a datagram.
pub(crate) async fn send(socket: &UdpSocket, to: SocketAddr, bytes: &[u8]) {
    socket.send_to(to, bytes).await.expect("a datagram can be sent");
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
