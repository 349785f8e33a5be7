//! Programs on abstract names, on sockets without a name, and on what a queue holds.

use super::Log;
use super::tokio;

use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixDatagram, UnixListener, UnixSocket, UnixStream};
use tokio::time::timeout;

fn name(program: &str) -> String {
    format!("\0detsim-worlds-{program}-{}", std::process::id())
}

fn address(program: &str) -> SocketAddr {
    SocketAddr::from_abstract_name(&name(program).as_bytes()[1..]).unwrap()
}

pub(crate) async fn abstract_names_meet_in_every_spelling(log: Log) {
    let name = name("spelling");
    let listener = UnixListener::bind_addr(&address("spelling").into()).unwrap();
    log.add(listener.local_addr().unwrap().as_abstract_name() == Some(&name.as_bytes()[1..]));
    let mut client = UnixStream::connect(&name).await.unwrap();
    let (mut server, from) = listener.accept().await.unwrap();
    log.add(from.is_unnamed());
    client.write_all(b"x").await.unwrap();
    log.result("read", server.read(&mut [0; 4]).await);
    log.done("address", UnixStream::connect_addr(&address("spelling").into()).await);
    let socket = UnixSocket::new_stream().unwrap();
    log.done("socket", socket.connect(&name).await);
    log.done("longer", UnixStream::connect(format!("{name}\0")).await);
    log.done("twice", UnixListener::bind(&name));
    let socket = UnixSocket::new_datagram().unwrap();
    log.done("datagram", socket.bind(&name));
    drop(listener);
    log.done("gone", UnixStream::connect(&name).await);
    log.done("free", UnixListener::bind(&name));
}

pub(crate) async fn tokio_takes_no_abstract_name_for_datagrams(log: Log) {
    let name = name("datagram");
    let text = |result: io::Result<_>| result.map_or_else(|e: io::Error| e.to_string(), |()| "ok".into());
    log.add(text(UnixDatagram::bind(&name).map(drop)));
    let socket = UnixSocket::new_datagram().unwrap();
    socket.bind(&name).unwrap();
    let a = socket.datagram().unwrap();
    let b = UnixDatagram::unbound().unwrap();
    log.add(text(b.connect(&name)));
    log.add(text(b.send_to(b"x", &name).await.map(drop)));
    log.add(text(b.try_send_to(b"x", &name).map(drop)));
    log.add(a.local_addr().unwrap().as_abstract_name() == Some(&name.as_bytes()[1..]));
}

pub(crate) async fn names_for_who_does_not_care(log: Log) {
    let bound = UnixDatagram::bind("").unwrap();
    let name = bound.local_addr().unwrap();
    let name = name.as_abstract_name().unwrap();
    log.add(name.len());
    log.add(name.iter().all(u8::is_ascii_hexdigit));
    let other = UnixDatagram::bind("").unwrap();
    log.add(other.local_addr().unwrap().as_abstract_name() == Some(name));
    let listener = UnixListener::bind("").unwrap();
    log.add(listener.local_addr().unwrap().as_abstract_name().is_some());
    let socket = UnixSocket::new_stream().unwrap();
    log.done("first", socket.bind(""));
    log.done("again", socket.bind(""));
    log.done("another", socket.bind("/tmp/of-nobody-at-all"));
    log.add(std::path::Path::new("/tmp/of-nobody-at-all").exists());
    log.done("to nobody", UnixStream::connect("").await);
    let unbound = UnixDatagram::unbound().unwrap();
    log.add(unbound.local_addr().unwrap().is_unnamed());
    log.done("peer", unbound.peer_addr());
    let unnamed = UnixSocket::new_stream().unwrap();
    log.done("listen", unnamed.listen(1));
}

pub(crate) async fn a_full_queue_of_connections_refuses_to_wait(log: Log) {
    let name = name("queue");
    let socket = UnixSocket::new_stream().unwrap();
    socket.bind(&name).unwrap();
    let listener = socket.listen(1).unwrap();
    let mut clients = Vec::new();
    for _ in 0..4 {
        match UnixStream::connect(&name).await {
            Ok(client) => clients.push(client),
            Err(error) => log.add(format!("{:?}", error.raw_os_error())),
        }
    }
    log.add(clients.len());
    log.done("accept", listener.accept().await);
    log.done("room", UnixStream::connect(&name).await);
    log.done("none", UnixStream::connect(&name).await);
}

pub(crate) async fn streams_and_datagrams_do_not_mix(log: Log) {
    let (of_stream, of_datagram) = (name("stream"), name("dgram"));
    let listener = UnixListener::bind(&of_stream).unwrap();
    let socket = UnixSocket::new_datagram().unwrap();
    socket.bind(&of_datagram).unwrap();
    let _datagram = socket.datagram().unwrap();
    log.done("stream to datagrams", UnixStream::connect(&of_datagram).await);
    let client = UnixSocket::new_stream().unwrap();
    client.bind(name("client")).unwrap();
    let client = client.connect(&of_stream).await.unwrap();
    let (server, from) = listener.accept().await.unwrap();
    log.add(from.is_unnamed());
    let known = server.peer_addr().unwrap();
    log.add(known.as_abstract_name() == Some(&name("client").as_bytes()[1..]));
    log.add(client.peer_addr().unwrap().as_abstract_name().is_some());
    log.done("to no listener", UnixStream::connect(name("client")).await);
    drop(client);
    log.add(server.peer_addr().unwrap().as_abstract_name() == known.as_abstract_name());
    log.done("free", UnixListener::bind(name("client")));
}

pub(crate) async fn a_connected_datagram_socket_hears_its_peer_alone(log: Log) {
    let path = |name: &str| format!("/tmp/detsim-worlds-alone-{name}-{}", std::process::id());
    let [a, b, c] = ["a", "b", "c"].map(|name| UnixDatagram::bind(path(name)).unwrap());
    a.send_to(b"early", path("b")).await.unwrap();
    b.connect(path("c")).unwrap();
    log.result("early", b.recv(&mut [0; 8]).await);
    log.done("send", a.send_to(b"x", path("b")).await);
    log.done("connect", a.connect(path("b")));
    log.done("peer", c.send_to(b"x", path("b")).await);
    log.result("recv", b.recv(&mut [0; 8]).await);
    // Whoever talks to another from now on hears nothing of the first any more.
    c.connect(path("b")).unwrap();
    c.send(b"unheard").await.unwrap();
    b.connect(path("a")).unwrap();
    log.done("nothing", b.try_recv(&mut [0; 8]));
    log.done("told", c.send(b"x").await);
    log.done("not heard", c.send(b"x").await);
    for name in ["a", "b", "c"] {
        std::fs::remove_file(path(name)).unwrap();
    }
}

/// How many datagrams can be sent that nobody reads.
async fn fill(sender: &UnixDatagram, len: usize) -> usize {
    let datagram = vec![b'x'; len];
    let mut sent = 0;
    while let Ok(Ok(_)) = timeout(Duration::from_millis(5), sender.send(&datagram)).await {
        sent += 1;
    }
    sent
}

pub(crate) async fn queues_of_datagrams_have_bounds(log: Log) {
    let path = |name: &str| format!("/tmp/detsim-worlds-bounds-{name}-{}", std::process::id());
    let receiver = UnixDatagram::bind(path("r")).unwrap();
    let sender = UnixDatagram::unbound().unwrap();
    sender.connect(path("r")).unwrap();
    log.add(fill(&sender, 1).await);
    let other = UnixDatagram::unbound().unwrap();
    other.connect(path("r")).unwrap();
    log.add(fill(&other, 1).await);
    log.result("one less", receiver.recv(&mut [0; 2]).await);
    log.add(fill(&other, 1).await);
    for len in [1, 100, 1_000, 3_000] {
        let (a, _b) = UnixDatagram::pair().unwrap();
        log.add(format!("{len}: {}", fill(&a, len).await));
    }
    let (a, _b) = UnixDatagram::pair().unwrap();
    log.done("the longest", a.send(&vec![0; 212_960]).await);
    let (a, _b) = UnixDatagram::pair().unwrap();
    log.done("too long", a.send(&vec![0; 212_961]).await);
    std::fs::remove_file(path("r")).unwrap();
}

pub(crate) async fn a_closed_peer_of_datagrams_is_told_once(log: Log) {
    let (a, b) = UnixDatagram::pair().unwrap();
    b.send(b"last").await.unwrap();
    drop(b);
    log.result("what was sent", a.recv(&mut [0; 8]).await);
    log.add(timeout(Duration::from_millis(5), a.recv(&mut [0; 8])).await.is_err());
    log.done("refused", a.send(b"x").await);
    log.done("nobody", a.send(b"x").await);
    let (a, b) = UnixDatagram::pair().unwrap();
    a.shutdown(std::net::Shutdown::Read).unwrap();
    log.done("not read", b.send(b"x").await);
    b.shutdown(std::net::Shutdown::Write).unwrap();
    log.done("not written", b.send(b"x").await);
}

/// A receiver whose queue another has filled, and two that are connected to it and have found it full.
async fn full(name: &str) -> (UnixDatagram, [UnixDatagram; 2]) {
    let path = format!("/tmp/detsim-worlds-full-{name}-{}", std::process::id());
    let receiver = UnixDatagram::bind(&path).unwrap();
    let open = || {
        let sender = UnixDatagram::unbound().unwrap();
        sender.connect(&path).unwrap();
        sender
    };
    let filler = open();
    fill(&filler, 1).await;
    let waiting = [open(), open()];
    for sender in &waiting {
        assert!(timeout(Duration::from_millis(5), sender.send(b"full")).await.is_err());
    }
    std::fs::remove_file(&path).unwrap();
    (receiver, waiting)
}

pub(crate) async fn who_waits_for_room_is_told(log: Log) {
    let (receiver, [a, b]) = full("told").await;
    let reads = async {
        tokio::time::sleep(Duration::from_millis(10)).await;
        for _ in 0..3 {
            receiver.recv(&mut [0; 8]).await.unwrap();
        }
    };
    let (sent, writable, ()) = tokio::join!(a.send(b"room"), b.writable(), reads);
    log.result("sent", sent);
    log.done("writable", writable);
    log.result("sent", b.try_send(b"too"));
}

pub(crate) async fn who_waits_for_room_is_told_that_nobody_is_left(log: Log) {
    let (receiver, [a, b]) = full("left").await;
    let ends = async {
        tokio::time::sleep(Duration::from_millis(10)).await;
        drop(receiver);
    };
    let (sent, writable, ()) = tokio::join!(a.send(b"room"), b.writable(), ends);
    log.result("sent", sent);
    log.done("writable", writable);
    log.result("refused", b.try_send(b"too"));
}
