//! Ports: how many connections they serve, and who of several who share one gets what comes.

use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use detsim_executor::OpKind;
use detsim_net::{How, Socket, Sockets};

use crate::tcp::{Pair, accept, sleep};

const LOOPBACK: &str = "127.0.0.1:80";
/// Linux's ephemeral ports.
const EPHEMERAL: usize = 28_232;

fn at(address: &str) -> SocketAddr {
    address.parse().unwrap()
}

fn listen_at(address: &str) -> Socket {
    let listener = Sockets::current().unwrap().tcp(false);
    listener.set_options(|options| options.reuse_port = true).unwrap();
    listener.bind(at(address)).unwrap();
    listener.listen(4_096).unwrap();
    listener
}

async fn connect_to(address: &str) -> io::Result<Socket> {
    let socket = Sockets::current().unwrap().tcp(false);
    socket.connect(at(address))?;
    poll_fn(|cx| socket.poll_connected(cx, How::poller(OpKind::Connect))).await?;
    Ok(socket)
}

/// Connects and closes, so many times; how often that went well.
async fn short_connections(listener: &Socket, address: &str, many: usize, gap: Duration) -> usize {
    for done in 0..many {
        let Ok(client) = connect_to(address).await else { return done };
        drop(client);
        drop(accept(listener).await);
        if !gap.is_zero() {
            sleep(gap).await;
        }
    }
    many
}

#[test]
fn a_port_that_waits_is_taken_again_on_loopback_after_a_second() {
    let pair = Pair::recorded(1, false);
    let done = pair.run(async {}, async {
        let listener = listen_at(LOOPBACK);
        short_connections(&listener, LOOPBACK, 30_000, Duration::from_micros(40)).await
    });
    assert_eq!(done, 30_000);
    assert!(pair.sim.now().as_millis() < 10_000, "{:?}", pair.sim.now());
}

#[test]
fn a_port_that_waits_serves_other_peers_and_none_that_binds_it() {
    let pair = Pair::recorded(1, false);
    pair.run(async {}, async {
        // Not loopback: what waits, waits for a minute.
        let own = "10.0.0.1:80";
        let (listener, other) = (listen_at(own), listen_at("10.0.0.1:81"));
        let gap = Duration::from_micros(40);
        assert_eq!(short_connections(&listener, own, EPHEMERAL + 1, gap).await, EPHEMERAL);
        let error = connect_to(own).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AddrNotAvailable);
        assert_eq!(short_connections(&other, "10.0.0.1:81", 100, gap).await, 100);
        let binds = Sockets::current().unwrap().tcp(false).bind(at("0.0.0.0:0"));
        assert_eq!(binds.unwrap_err().kind(), io::ErrorKind::AddrInUse);
        sleep(Duration::from_secs(61)).await;
        assert_eq!(short_connections(&listener, own, 100, gap).await, 100);
    });
}

#[test]
fn an_open_connection_has_its_port_against_its_like_alone() {
    let pair = Pair::recorded(1, false);
    pair.run(async {}, async {
        let (listener, other) = (listen_at(LOOPBACK), listen_at("127.0.0.1:81"));
        // A port in the middle that somebody has bound, and one that somebody listens at.
        let bound = Sockets::current().unwrap().tcp(false);
        bound.bind(at("127.0.0.1:40000")).unwrap();
        let third = listen_at("127.0.0.1:40001");
        let mut open = Vec::new();
        for _ in 0..EPHEMERAL - 2 {
            open.push((connect_to(LOOPBACK).await.unwrap(), accept(&listener).await));
        }
        let error = connect_to(LOOPBACK).await.map(drop).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AddrNotAvailable);
        for _ in 0..EPHEMERAL - 2 {
            let client = connect_to("127.0.0.1:81").await.unwrap();
            let port = client.local_addr().unwrap().port();
            assert!(port != 40_000 && port != 40_001, "{port}");
            open.push((client, accept(&other).await));
        }
        assert!(connect_to("127.0.0.1:81").await.is_err());
        drop((bound, third));
        assert!(connect_to("127.0.0.1:81").await.is_ok());
    });
}

/// How many of so many connects each of the listeners gets.
async fn parts(listeners: &[Socket], address: &str, many: usize) -> Vec<usize> {
    let mut parts = vec![0; listeners.len()];
    for _ in 0..many {
        let _client = connect_to(address).await.unwrap();
        for (part, listener) in parts.iter_mut().zip(listeners) {
            *part += usize::from(listener.try_accept().is_ok());
        }
    }
    parts
}

#[test]
fn listeners_that_share_a_port_share_its_clients() {
    let pair = Pair::new(1);
    pair.run(async {}, async {
        for (address, many) in [(LOOPBACK, 2), ("127.0.0.1:81", 5)] {
            let listeners: Vec<Socket> = (0..many).map(|_| listen_at(address)).collect();
            let parts = parts(&listeners, address, many * 32).await;
            assert_eq!(parts.iter().sum::<usize>(), many * 32);
            assert!(parts.iter().all(|part| (16..=48).contains(part)), "{parts:?}");
        }
        // Of the more exact address, one has all.
        let listeners = ["0.0.0.0:82", "0.0.0.0:82", "127.0.0.1:82"].map(listen_at);
        assert_eq!(parts(&listeners, "127.0.0.1:82", 32).await, [0, 0, 32]);
    });
}

fn udp_at(address: SocketAddr) -> Socket {
    let socket = Sockets::current().unwrap().udp(false);
    socket.set_options(|options| options.reuse_port = true).unwrap();
    socket.bind(address).unwrap();
    socket
}

fn waits(socket: &Socket) -> usize {
    (0..).take_while(|_| socket.try_receive(&mut [0; 8], false).is_ok()).count()
}

#[test]
fn datagrams_are_shared_except_those_of_a_peer() {
    let pair = Pair::new(1);
    pair.run(async {}, async {
        let to = at("127.0.0.1:53");
        let sockets = [udp_at(to), udp_at(to), udp_at(to)];
        let clients: Vec<Socket> = (0..96).map(|_| udp_at(at("127.0.0.1:0"))).collect();
        let send = |client: &Socket| assert_eq!(client.try_send(Some(to), b"x").unwrap(), 1);
        clients.iter().for_each(send);
        let first: Vec<usize> = sockets.iter().map(waits).collect();
        assert_eq!(first.iter().sum::<usize>(), 96);
        assert!(first.iter().all(|part| (16..=48).contains(part)), "{first:?}");
        // The same addresses, the same parts.
        clients.iter().for_each(send);
        assert_eq!(sockets.iter().map(waits).collect::<Vec<_>>(), first);
        // Who is connected to one of them hears that one, and nobody else does.
        sockets[1].set_peer(clients[0].local_addr().unwrap()).unwrap();
        (0..8).for_each(|_| send(&clients[0]));
        assert_eq!(sockets.iter().map(waits).collect::<Vec<_>>(), [0, 8, 0]);
        clients[1..].iter().for_each(send);
        let rest: Vec<usize> = sockets.iter().map(waits).collect();
        assert!(rest[0] > 30 && rest[1] == 0 && rest[2] > 30, "{rest:?}");
    });
}
