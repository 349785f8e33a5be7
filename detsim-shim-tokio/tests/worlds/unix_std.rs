//! Programs on local sockets of std.

use super::Log;
use super::tokio;

use std::fs;
use std::io::{IoSlice, IoSliceMut, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener, UnixStream};
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use socket2::SockRef;
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// A path of one program.
fn path(program: &str) -> PathBuf {
    PathBuf::from(format!("/tmp/detsim-worlds-std-{program}-{}", std::process::id()))
}

pub(crate) async fn a_listener_of_std_has_a_file(log: Log) {
    let path = path("file");
    let listener = UnixListener::bind(&path).unwrap();
    log.add(fs::metadata(&path).unwrap().file_type().is_socket());
    log.add(listener.local_addr().unwrap().as_pathname() == Some(&path));
    log.done("twice", UnixListener::bind(&path));
    log.done("datagram", UnixDatagram::bind(&path));
    log.done("of tokio", tokio::net::UnixListener::bind(&path));
    let mut client = UnixStream::connect(&path).unwrap();
    let (mut server, from) = listener.accept().unwrap();
    log.add(from.is_unnamed());
    log.add(client.peer_addr().unwrap().as_pathname() == Some(&path));
    log.add(client.local_addr().unwrap().is_unnamed());
    log.add(server.local_addr().unwrap().as_pathname() == Some(&path));
    client.write_all(b"hello").unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    let mut text = String::new();
    log.result("read", server.read_to_string(&mut text));
    log.add(text);
    drop((listener, server));
    log.result("rest", client.read(&mut [0; 1]));
    log.done("stale", UnixStream::connect(&path));
    log.done("write", client.write(b"x"));
    fs::remove_file(&path).unwrap();
    log.done("gone", UnixStream::connect(&path));
}

pub(crate) async fn std_and_tokio_meet_at_a_file(log: Log) {
    let path = path("meet");
    let listener = tokio::net::UnixListener::bind(&path).unwrap();
    let at = path.clone();
    let client = thread::spawn(move || {
        let mut client = UnixStream::connect(at).unwrap();
        client.write_all(b"to tokio").unwrap();
        let mut told = [0; 6];
        client.read_exact(&mut told).unwrap();
        String::from_utf8_lossy(&told).into_owned()
    });
    let (mut server, _) = listener.accept().await.unwrap();
    let mut told = [0; 8];
    server.read_exact(&mut told).await.unwrap();
    log.add(String::from_utf8_lossy(&told));
    server.write_all(b"to std").await.unwrap();
    log.add(client.join().unwrap());
    fs::remove_file(&path).unwrap();
    drop(listener);

    let listener = UnixListener::bind(&path).unwrap();
    let server = thread::spawn(move || {
        let (mut server, _) = listener.accept().unwrap();
        let mut all = Vec::new();
        server.read_to_end(&mut all).unwrap();
        all.len()
    });
    let mut client = tokio::net::UnixStream::connect(&path).await.unwrap();
    client.write_all(&vec![7; 500_000]).await.unwrap();
    drop(client);
    log.add(server.join().unwrap());
    fs::remove_file(&path).unwrap();
}

pub(crate) async fn local_sockets_of_std_become_tokios_and_back(log: Log) {
    let path = path("become");
    let listener = UnixListener::bind(&path).unwrap();
    listener.set_nonblocking(true).unwrap();
    log.done("nobody", listener.accept());
    let waiting = UnixStream::connect(&path).unwrap();
    let listener = tokio::net::UnixListener::from_std(listener).unwrap();
    let (server, _) = listener.accept().await.unwrap();
    log.add(server.local_addr().unwrap().as_pathname() == Some(&path));
    waiting.set_nonblocking(true).unwrap();
    let mut client = tokio::net::UnixStream::from_std(waiting).unwrap();
    client.write_all(b"abc").await.unwrap();
    let mut server = server.into_std().unwrap();
    server.set_nonblocking(false).unwrap();
    let mut told = [0; 3];
    server.read_exact(&mut told).unwrap();
    log.add(String::from_utf8_lossy(&told));
    server.write_all(b"defg").unwrap();
    log.result("back", client.read(&mut [0; 8]).await);
    let listener = listener.into_std().unwrap();
    log.done("nobody", listener.accept());
    let _client = UnixStream::connect(&path).unwrap();
    log.done("somebody", listener.accept());
    fs::remove_file(&path).unwrap();

    let (a, b) = UnixDatagram::pair().unwrap();
    a.set_nonblocking(true).unwrap();
    let a = tokio::net::UnixDatagram::from_std(a).unwrap();
    b.send(b"datagram").unwrap();
    log.result("recv", a.recv(&mut [0; 16]).await);
    let a = a.into_std().unwrap();
    log.result("none", a.recv(&mut [0; 16]));
    b.send(b"more").unwrap();
    log.result("recv", a.recv(&mut [0; 16]));
}

pub(crate) async fn a_pair_of_std(log: Log) {
    let (mut a, mut b) = UnixStream::pair().unwrap();
    log.add(format!("{:?} {:?}", a.local_addr().unwrap(), a.peer_addr().unwrap()));
    let (one, two) = (IoSlice::new(b"abc"), IoSlice::new(b"defgh"));
    log.result("vectored", a.write_vectored(&[one, two]));
    let (mut one, mut two) = ([0; 2], [0; 9]);
    let mut parts = [IoSliceMut::new(&mut one), IoSliceMut::new(&mut two)];
    log.result("vectored", b.read_vectored(&mut parts));
    log.add(String::from_utf8_lossy(&[&one[..], &two].concat()));
    b.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    log.result("in time", b.read(&mut one));
    b.set_nonblocking(true).unwrap();
    log.result("at once", b.read(&mut one));
    let mut clone = b.try_clone().unwrap();
    drop(b);
    a.write_all(b"x").unwrap();
    log.result("clone", clone.read(&mut two));
    log.add(clone.take_error().unwrap().is_none());
    clone.shutdown(Shutdown::Read).unwrap();
    log.done("broken", a.write(b"x"));
    log.result("the end", clone.read(&mut one));
    clone.write_all(b"unread").unwrap();
    drop(a);
    log.done("broken", clone.write(b"x"));
    let (mut a, b) = UnixStream::pair().unwrap();
    a.write_all(b"unread").unwrap();
    drop(b);
    log.done("reset", a.read(&mut one));
    log.done("the end", a.read(&mut one));
}

pub(crate) async fn datagrams_of_std_by_path(log: Log) {
    let [at_a, at_b] = ["a", "b"].map(path);
    let (a, b) = (UnixDatagram::bind(&at_a).unwrap(), UnixDatagram::bind(&at_b).unwrap());
    let unbound = UnixDatagram::unbound().unwrap();
    log.result("send", a.send_to(b"from a", &at_b));
    let (len, from) = b.recv_from(&mut [0; 16]).unwrap();
    log.add(format!("{len} {}", from.as_pathname() == Some(&at_a)));
    log.result("unbound", unbound.send_to(b"from nobody", &at_b));
    let (len, from) = b.recv_from(&mut [0; 4]).unwrap();
    log.add(format!("{len} {}", from.is_unnamed()));
    log.done("no peer", unbound.send(b"x"));
    unbound.connect(&at_a).unwrap();
    log.add(unbound.peer_addr().unwrap().as_pathname() == Some(&at_a));
    log.result("send", unbound.send(b"peer"));
    a.set_nonblocking(true).unwrap();
    log.result("recv", a.recv(&mut [0; 16]));
    log.result("none", a.recv(&mut [0; 16]));
    drop(a);
    log.done("refused", unbound.send(b"x"));
    log.done("stale", unbound.send_to(b"x", &at_a));
    log.done("stream", UnixStream::connect(&at_b));
    fs::remove_file(&at_a).unwrap();
    log.done("missing", unbound.send_to(b"x", &at_a));
    fs::remove_file(&at_b).unwrap();
    log.done("in the wrong place", UnixDatagram::bind("/tmp/no-such-dir-at-all/s"));
}

pub(crate) async fn abstract_names_of_std(log: Log) {
    let name = format!("detsim-worlds-std-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let listener = UnixListener::bind_addr(&address).unwrap();
    log.add(listener.local_addr().unwrap().as_abstract_name() == Some(name.as_bytes()));
    log.done("twice", UnixListener::bind_addr(&address));
    log.done("std", UnixStream::connect_addr(&address));
    log.done("tokio", tokio::net::UnixStream::connect(format!("\0{name}")).await);
    log.done("accept", listener.accept());
    log.done("accept", listener.accept());
    drop(listener);
    log.done("gone", UnixStream::connect_addr(&address));
    let a = UnixDatagram::bind_addr(&address).unwrap();
    let b = UnixDatagram::unbound().unwrap();
    log.result("send", b.send_to_addr(b"x", &address));
    log.result("recv", a.recv(&mut [0; 4]));
    b.connect_addr(&address).unwrap();
    log.result("send", b.send(b"yz"));
    log.result("recv", a.recv(&mut [0; 4]));
}

pub(crate) async fn whoever_waits_in_a_thread_is_woken(log: Log) {
    let path = path("threads");
    let listener = UnixListener::bind(&path).unwrap();
    let server = thread::spawn(move || {
        let mut sum = 0;
        for client in listener.incoming().take(3) {
            let mut told = Vec::new();
            client.unwrap().read_to_end(&mut told).unwrap();
            sum += told.len();
        }
        sum
    });
    for len in [1, 10, 300_000] {
        let mut client = UnixStream::connect(&path).unwrap();
        client.write_all(&vec![1; len]).unwrap();
    }
    log.add(server.join().unwrap());
    fs::remove_file(&path).unwrap();
    let (a, b) = UnixDatagram::pair().unwrap();
    let sender = thread::spawn(move || {
        for number in 0..2_000_u16 {
            a.send(&number.to_be_bytes()).unwrap();
        }
    });
    let mut last = [0; 2];
    let in_order = (0..2_000_u16).all(|number| {
        b.recv(&mut last).unwrap();
        u16::from_be_bytes(last) == number
    });
    log.add(in_order);
    sender.join().unwrap();
}

pub(crate) async fn local_sockets_are_watched_by_their_descriptors(log: Log) {
    let (a, mut b) = UnixStream::pair().unwrap();
    a.set_nonblocking(true).unwrap();
    let a = watched(a).unwrap();
    b.write_all(b"xyz").unwrap();
    let mut guard = a.readable().await.unwrap();
    log.add(format!("{:?}", guard.try_io(|a| a.get_ref().read(&mut [0; 8])).unwrap().ok()));
    drop(b);
    let mut guard = a.readable().await.unwrap();
    log.add(format!("{:?}", guard.try_io(|a| a.get_ref().read(&mut [0; 8])).unwrap().ok()));
    let (c, d) = tokio::net::UnixStream::pair().unwrap();
    let kind = |socket: SockRef<'_>| format!("{:?} {:?}", socket.domain(), socket.r#type());
    log.add(kind(SockRef::from(&c)));
    log.add(kind(SockRef::from(&UnixDatagram::unbound().unwrap())));
    log.add(d.peer_cred().unwrap().pid() == Some(std::process::id().cast_signed()));
}

#[expect(deprecated, reason = "the form that every tokio 1 has")]
fn watched(socket: UnixStream) -> std::io::Result<AsyncFd<UnixStream>> {
    AsyncFd::new(socket)
}

pub(crate) async fn all_that_is_asked_for_is_waited_for(log: Log) {
    let local = UnixStream::pair().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let tcp = (client, listener.accept().unwrap().0);
    waits_for_all(&log, local.0, local.1);
    waits_for_all(&log, tcp.0, tcp.1);
}

fn waits_for_all(log: &Log, mut from: impl Write + Send + 'static, to: impl AsFd) {
    let receive = |len, flags| {
        let mut room = Vec::with_capacity(len);
        let got = SockRef::from(&to).recv_with_flags(room.spare_capacity_mut(), flags);
        log.result("recv", got);
    };
    let writer = thread::spawn(move || {
        for part in [&b"abc"[..], b"def", b"gh"] {
            from.write_all(part).unwrap();
            thread::sleep(Duration::from_millis(20));
        }
    });
    receive(6, libc::MSG_WAITALL);
    receive(6, libc::MSG_WAITALL);
    receive(6, libc::MSG_WAITALL | libc::MSG_DONTWAIT);
    writer.join().unwrap();
}
