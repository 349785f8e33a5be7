//! Programs that share ports, or use many of them.

use super::Log;
use super::tokio;

use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket, TcpStream, UdpSocket};
use tokio::time::timeout;

const ANY: &str = "127.0.0.1:0";
const MOMENT: Duration = Duration::from_millis(20);

fn shared_listener(address: SocketAddr) -> TcpListener {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_reuseport(true).unwrap();
    socket.bind(address).unwrap();
    socket.listen(256).unwrap()
}

async fn accepted(listener: &TcpListener) -> usize {
    let mut all = 0;
    while timeout(MOMENT, listener.accept()).await.is_ok() {
        all += 1;
    }
    all
}

pub(crate) async fn clients_are_shared_by_listeners(log: Log) {
    let one = shared_listener(ANY.parse().unwrap());
    let two = shared_listener(one.local_addr().unwrap());
    let mut clients = Vec::new();
    for _ in 0..64 {
        clients.push(TcpStream::connect(one.local_addr().unwrap()).await.unwrap());
    }
    let parts = [accepted(&one).await, accepted(&two).await];
    log.add(format!("{} {}", parts.iter().sum::<usize>(), parts.iter().all(|part| *part >= 8)));
}

fn shared_socket(address: SocketAddr) -> UdpSocket {
    let kind = socket2::Type::DGRAM;
    let socket = socket2::Socket::new(socket2::Domain::IPV4, kind, None).unwrap();
    socket.set_reuse_port(true).unwrap();
    socket.set_nonblocking(true).unwrap();
    socket.bind(&address.into()).unwrap();
    UdpSocket::from_std(socket.into()).unwrap()
}

async fn received(socket: &UdpSocket) -> usize {
    let mut all = 0;
    while timeout(MOMENT, socket.recv(&mut [0; 8])).await.is_ok() {
        all += 1;
    }
    all
}

pub(crate) async fn datagrams_are_shared_by_sockets(log: Log) {
    let one = shared_socket(ANY.parse().unwrap());
    let to = one.local_addr().unwrap();
    let two = shared_socket(to);
    let mut clients = Vec::new();
    for _ in 0..64 {
        let client = UdpSocket::bind(ANY).await.unwrap();
        client.send_to(b"x", to).await.unwrap();
        clients.push(client);
    }
    let parts = [received(&one).await, received(&two).await];
    log.add(format!("{} {}", parts.iter().sum::<usize>(), parts.iter().all(|part| *part >= 8)));
    // Who is connected to one of them hears all of it.
    for (at, client) in clients.iter().enumerate().take(8) {
        two.connect(client.local_addr().unwrap()).await.unwrap();
        client.send_to(b"y", to).await.unwrap();
        log.add(format!("{at}: {}", two.recv(&mut [0; 8]).await.unwrap()));
    }
    log.add(format!("left: {}", received(&one).await));
}

pub(crate) async fn many_short_connections(log: Log) {
    let listener = TcpListener::bind(ANY).await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut done = 0;
    for _ in 0..3_000 {
        drop(TcpStream::connect(address).await.unwrap());
        drop(listener.accept().await.unwrap());
        done += 1;
    }
    log.add(format!("{done}"));
}
