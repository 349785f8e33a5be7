//! Programs on UDP.

use super::Log;
use super::tokio;

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::Interest;
use tokio::net::UdpSocket;
use tokio::time::{sleep, timeout};

const ANY: &str = "127.0.0.1:0";

async fn bound() -> (UdpSocket, SocketAddr) {
    let socket = UdpSocket::bind(ANY).await.unwrap();
    let address = socket.local_addr().unwrap();
    (socket, address)
}

/// Two sockets, connected.
async fn pair() -> (UdpSocket, UdpSocket) {
    let ((a, of_a), (b, of_b)) = (bound().await, bound().await);
    a.connect(of_b).await.unwrap();
    b.connect(of_a).await.unwrap();
    (a, b)
}

/// An address that nobody has.
async fn nobody() -> SocketAddr {
    bound().await.1
}

async fn settle() {
    sleep(Duration::from_millis(20)).await;
}

pub(crate) async fn a_datagram_arrives_whole(log: Log) {
    let ((a, from), (b, to)) = (bound().await, bound().await);
    log.result("send", a.send_to(b"hello", to).await);
    let mut buf = [0; 64];
    let (bytes, sender) = b.recv_from(&mut buf).await.unwrap();
    log.add(String::from_utf8_lossy(&buf[..bytes]));
    log.add(sender == from);
}

pub(crate) async fn what_does_not_fit_is_lost(log: Log) {
    let (a, b) = pair().await;
    a.send(b"abcdef").await.unwrap();
    a.send(b"next").await.unwrap();
    let mut buf = [0; 2];
    log.result("recv", b.recv(&mut buf).await);
    log.add(String::from_utf8_lossy(&buf));
    log.result("recv", b.recv(&mut [0; 16]).await);
}

pub(crate) async fn an_empty_datagram_is_one(log: Log) {
    let (a, b) = pair().await;
    log.result("send", a.send(b"").await);
    log.result("recv", b.recv(&mut [0; 4]).await);
}

pub(crate) async fn the_largest_datagram(log: Log) {
    let (a, b) = pair().await;
    log.result("send", a.send(&vec![0; 65_507]).await);
    log.result("recv", b.recv(&mut vec![0; 70_000]).await);
    log.result("send", a.send(&vec![0; 65_508]).await);
}

pub(crate) async fn sending_to_nobody_is_told_to_who_is_connected(log: Log) {
    let (a, _) = bound().await;
    a.connect(nobody().await).await.unwrap();
    for _ in 0..3 {
        // The second one hears of the first, and is not sent.
        log.result("send", a.send(b"x").await);
        settle().await;
    }
    log.result("recv", a.recv(&mut [0; 4]).await);
}

pub(crate) async fn sending_to_nobody_is_not_told_to_others(log: Log) {
    let (a, _) = bound().await;
    let to = nobody().await;
    for _ in 0..3 {
        log.result("send", a.send_to(b"x", to).await);
        settle().await;
    }
}

pub(crate) async fn a_connected_socket_hears_its_peer_only(log: Log) {
    let (a, b) = pair().await;
    let (stranger, _) = bound().await;
    stranger.send_to(b"stranger", a.local_addr().unwrap()).await.unwrap();
    settle().await;
    b.send(b"friend").await.unwrap();
    let mut buf = [0; 16];
    let bytes = a.recv(&mut buf).await.unwrap();
    log.add(String::from_utf8_lossy(&buf[..bytes]));
    log.add(timeout(Duration::from_millis(20), a.recv(&mut buf)).await.is_err());
}

pub(crate) async fn a_full_queue_drops_the_newest(log: Log) {
    let (a, b) = pair().await;
    for n in 0..4_000_u32 {
        a.send(&n.to_le_bytes()).await.unwrap();
    }
    settle().await;
    let (mut buf, mut got) = ([0; 4], Vec::new());
    while let Ok(4) = b.try_recv(&mut buf) {
        got.push(u32::from_le_bytes(buf));
    }
    log.add(got.len() < 4_000 && got.len() > 50);
    log.add(got.iter().all(|n| *n < 3_999));
}

pub(crate) async fn peeking_takes_no_datagram(log: Log) {
    let (a, b) = pair().await;
    a.send(b"look").await.unwrap();
    let mut buf = [0; 8];
    log.result("peek", b.peek(&mut buf).await);
    log.add(b.peek_from(&mut buf).await.unwrap().0);
    log.add(b.peek_sender().await.unwrap() == a.local_addr().unwrap());
    log.result("recv", b.recv(&mut buf).await);
}

pub(crate) async fn tries_do_not_wait(log: Log) {
    let (a, b) = pair().await;
    let mut buf = [0; 8];
    log.result("recv", b.try_recv(&mut buf));
    b.writable().await.unwrap();
    log.result("send", a.try_send(b"now"));
    b.readable().await.unwrap();
    log.result("recv", b.try_recv(&mut buf));
    log.result("recv", b.try_recv(&mut buf));
}

pub(crate) async fn no_peer_no_send(log: Log) {
    let (a, _) = bound().await;
    log.result("send", a.send(b"x").await);
    log.result("peer", a.peer_addr());
    log.result("send", a.send_to(b"x", "127.0.0.1:0").await);
}

pub(crate) async fn broadcasts_need_permission(log: Log) {
    let (a, _) = bound().await;
    log.result("send", a.send_to(b"x", "255.255.255.255:9").await);
    log.add(a.broadcast().unwrap());
}

pub(crate) async fn the_same_port_twice(log: Log) {
    let (_a, address) = bound().await;
    log.done("bind", UdpSocket::bind(address).await);
    let wildcard = SocketAddr::from(([0, 0, 0, 0], address.port()));
    log.done("bind", UdpSocket::bind(wildcard).await);
}

pub(crate) async fn a_dropped_socket_frees_its_port(log: Log) {
    let (a, address) = bound().await;
    drop(a);
    log.done("bind", UdpSocket::bind(address).await);
}

pub(crate) async fn datagrams_reach_a_wildcard(log: Log) {
    let wild = UdpSocket::bind("0.0.0.0:0").await.unwrap();
    let (a, from) = bound().await;
    let port = wild.local_addr().unwrap().port();
    a.send_to(b"x", ("127.0.0.1", port)).await.unwrap();
    let (bytes, sender) = wild.recv_from(&mut [0; 4]).await.unwrap();
    log.add(bytes);
    log.add(sender == from);
    log.add(wild.local_addr().unwrap().ip());
}

pub(crate) async fn both_families_meet(log: Log) {
    let wild = UdpSocket::bind("[::]:0").await.unwrap();
    let (a, _) = bound().await;
    let port = wild.local_addr().unwrap().port();
    a.send_to(b"x", ("127.0.0.1", port)).await.unwrap();
    let (_, sender) = wild.recv_from(&mut [0; 4]).await.unwrap();
    log.add(sender.ip());
}

pub(crate) async fn options_of_datagrams(log: Log) {
    let (a, _) = bound().await;
    log.result("ttl", a.ttl());
    a.set_ttl(3).unwrap();
    log.result("ttl", a.ttl());
    log.result("loop", a.multicast_loop_v4());
    log.result("multicast ttl", a.multicast_ttl_v4());
    a.set_broadcast(true).unwrap();
    log.result("broadcast", a.broadcast());
    log.add(format!("{:?}", a.take_error().unwrap()));
}

pub(crate) async fn readiness_of_datagrams(log: Log) {
    let (a, b) = pair().await;
    log.add(a.ready(Interest::WRITABLE).await.unwrap().is_writable());
    log.add(timeout(Duration::from_millis(10), b.readable()).await.is_err());
    a.send(b"x").await.unwrap();
    log.add(b.ready(Interest::READABLE).await.unwrap().is_readable());
}

pub(crate) async fn requests_and_answers(log: Log) {
    let (server, address) = bound().await;
    let served = tokio::spawn(async move {
        let mut buf = [0; 16];
        for _ in 0..3 {
            let (bytes, from) = server.recv_from(&mut buf).await.unwrap();
            buf[..bytes].reverse();
            server.send_to(&buf[..bytes], from).await.unwrap();
        }
    });
    let (client, _) = bound().await;
    client.connect(address).await.unwrap();
    for word in ["abc", "de", "f"] {
        client.send(word.as_bytes()).await.unwrap();
        let mut buf = [0; 16];
        let bytes = client.recv(&mut buf).await.unwrap();
        log.add(String::from_utf8_lossy(&buf[..bytes]));
    }
    served.await.unwrap();
}
