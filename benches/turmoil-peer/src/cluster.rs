//! turmoil's side of the workloads on sockets: its own sockets, on hosts of a `Sim` made here, at its
//! default tick of a millisecond.

use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::time::Duration;

pub(crate) use tokio::time::sleep;
pub(crate) use turmoil::net::{TcpListener, TcpStream, UdpSocket};

pub(crate) type Program = Box<dyn Fn() -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync>;

const PORT: u16 = 7_000;

pub(crate) fn run(seed: u64, servers: Vec<Program>, clients: Vec<Program>) {
    let mut builder = turmoil::Builder::new();
    builder.rng_seed(seed).simulation_duration(Duration::from_secs(100_000));
    builder.min_message_latency(Duration::from_millis(1));
    builder.max_message_latency(Duration::from_millis(10));
    let mut sim = builder.build();
    let waited_for = servers.len();
    for (number, program) in servers.into_iter().chain(clients).enumerate() {
        let main = program();
        let ended = async move {
            main.await;
            Ok(())
        };
        match number < waited_for {
            true => {
                let once = std::cell::Cell::new(Some(ended));
                sim.host(name(number), move || once.take().expect("no host is restarted"));
            }
            false => sim.client(name(number), ended),
        }
    }
    sim.run().expect("all clients end");
}

/// Sends a datagram.
pub(crate) async fn send(socket: &UdpSocket, to: SocketAddr, bytes: &[u8]) {
    socket.send_to(bytes, to).await.expect("a datagram can be sent");
}

/// Where a node is to others.
pub(crate) fn address(node: usize) -> SocketAddr {
    let ip = turmoil::lookup(name(node));
    SocketAddr::new(ip, PORT)
}

/// What a host may bind: it has no other address of its own.
pub(crate) fn own(_node: usize) -> SocketAddr {
    SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), PORT)
}

fn name(node: usize) -> String {
    format!("n{node}")
}
