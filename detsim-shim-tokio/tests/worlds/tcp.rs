//! Programs on TCP.

use super::Log;
use super::tokio;

use std::io::{self, IoSlice, IoSliceMut};
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, Interest};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::time::{sleep, timeout};

async fn listener() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

async fn pair() -> (TcpStream, TcpStream) {
    let (listener, address) = listener().await;
    let client = TcpStream::connect(address).await.unwrap();
    (client, listener.accept().await.unwrap().0)
}

/// Long enough for anything on loopback to arrive.
async fn settle() {
    sleep(Duration::from_millis(20)).await;
}

fn code(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or(-1)
}

async fn read_text(stream: &mut TcpStream) -> String {
    let mut text = String::new();
    match stream.read_to_string(&mut text).await {
        Ok(_) => text,
        Err(error) => format!("{text} then error {}", code(&error)),
    }
}

pub(crate) async fn echoes(log: Log) {
    let (mut client, mut server) = pair().await;
    let served = tokio::spawn(async move {
        let mut buf = [0; 5];
        server.read_exact(&mut buf).await.unwrap();
        server.write_all(&buf).await.unwrap();
    });
    client.write_all(b"hello").await.unwrap();
    log.add(read_text(&mut client).await);
    served.await.unwrap();
}

pub(crate) async fn a_write_needs_no_flush(log: Log) {
    let (mut client, mut server) = pair().await;
    log.result("write", client.write(b"abc").await);
    let mut buf = [0; 3];
    log.result("read", server.read_exact(&mut buf).await);
    log.add(String::from_utf8_lossy(&buf));
}

pub(crate) async fn eight_bytes_through_a_buffer_of_one(log: Log) {
    let (mut client, mut server) = pair().await;
    client.write_all(b"12345678").await.unwrap();
    drop(client);
    let mut buf = [0; 1];
    for _ in 0..9 {
        log.result("read", server.read(&mut buf).await);
        log.add(buf[0]);
    }
}

pub(crate) async fn half_close_echoes(log: Log) {
    let (mut client, mut server) = pair().await;
    let served = tokio::spawn(async move {
        let request = read_text(&mut server).await;
        server.write_all(request.to_uppercase().as_bytes()).await.unwrap();
    });
    client.write_all(b"request").await.unwrap();
    log.done("shutdown", client.shutdown().await);
    log.add(read_text(&mut client).await);
    served.await.unwrap();
}

pub(crate) async fn the_end_comes_after_everything_written(log: Log) {
    let (mut client, mut server) = pair().await;
    let served = tokio::spawn(async move {
        server.write_all(&vec![7; 300_000]).await.unwrap();
    });
    let mut all = Vec::new();
    log.result("read", client.read_to_end(&mut all).await);
    log.add(all.iter().all(|byte| *byte == 7));
    served.await.unwrap();
}

pub(crate) async fn writes_of_one_peer_run_together(log: Log) {
    let (mut client, mut server) = pair().await;
    for part in ["a", "bc", "def"] {
        client.write_all(part.as_bytes()).await.unwrap();
    }
    settle().await;
    let mut buf = [0; 16];
    log.result("read", server.read(&mut buf).await);
    log.add(String::from_utf8_lossy(&buf[..6]));
}

pub(crate) async fn a_connect_needs_no_accept(log: Log) {
    let (listener, address) = listener().await;
    let mut client = TcpStream::connect(address).await.unwrap();
    log.result("write", client.write(b"early").await);
    let (mut server, from) = listener.accept().await.unwrap();
    log.add(from == client.local_addr().unwrap());
    drop(client);
    log.add(read_text(&mut server).await);
}

pub(crate) async fn a_connect_to_nobody_is_refused(log: Log) {
    let (listener, address) = listener().await;
    drop(listener);
    log.done("connect", TcpStream::connect(address).await);
}

pub(crate) async fn many_refused_connects_keep_nothing(log: Log) {
    let (listener, address) = listener().await;
    drop(listener);
    let mut refused = 0;
    for _ in 0..500 {
        refused += i32::from(TcpStream::connect(address).await.is_err());
    }
    log.add(refused);
}

pub(crate) async fn a_dropped_listener_refuses(log: Log) {
    let (listener, address) = listener().await;
    let client = TcpStream::connect(address).await;
    log.done("connect", client.as_ref().map(drop).map_err(|error| error.kind().into()));
    let (server, _) = listener.accept().await.unwrap();
    drop(listener);
    log.done("connect", TcpStream::connect(address).await);
    drop(server);
}

pub(crate) async fn what_waits_to_be_accepted_is_reset_with_its_listener(log: Log) {
    let (listener, address) = listener().await;
    let mut client = TcpStream::connect(address).await.unwrap();
    settle().await;
    drop(listener);
    settle().await;
    let mut buf = [0; 1];
    log.result("read", client.read(&mut buf).await);
    log.result("read", client.read(&mut buf).await);
}

pub(crate) async fn a_client_that_is_gone_is_accepted_all_the_same(log: Log) {
    let (listener, address) = listener().await;
    drop(TcpStream::connect(address).await.unwrap());
    let second = TcpStream::connect(address).await.unwrap();
    settle().await;
    let (mut first, _) = listener.accept().await.unwrap();
    log.add(read_text(&mut first).await);
    let (_, from) = listener.accept().await.unwrap();
    log.add(from == second.local_addr().unwrap());
}

pub(crate) async fn unread_bytes_make_a_reset(log: Log) {
    let (mut client, server) = pair().await;
    client.write_all(b"nobody reads this").await.unwrap();
    settle().await;
    drop(server);
    settle().await;
    let mut buf = [0; 1];
    log.result("read", client.read(&mut buf).await);
    log.result("read", client.read(&mut buf).await);
    log.result("write", client.write(b"x").await);
}

pub(crate) async fn a_reset_comes_once_then_the_end(log: Log) {
    let (mut client, server) = pair().await;
    server.set_zero_linger().unwrap();
    drop(server);
    settle().await;
    let mut buf = [0; 1];
    for _ in 0..3 {
        log.result("read", client.read(&mut buf).await);
    }
}

pub(crate) async fn zero_linger_resets(log: Log) {
    let (mut client, server) = pair().await;
    server.set_zero_linger().unwrap();
    drop(server);
    settle().await;
    log.result("write", client.write(b"x").await);
    log.result("write", client.write(b"x").await);
    log.done("shutdown", client.shutdown().await);
}

pub(crate) async fn what_arrived_before_a_reset_is_read(log: Log) {
    let (mut client, mut server) = pair().await;
    server.write_all(b"last words").await.unwrap();
    settle().await;
    server.set_zero_linger().unwrap();
    drop(server);
    settle().await;
    let mut buf = [0; 16];
    log.result("read", client.read(&mut buf).await);
    log.result("read", client.read(&mut buf).await);
    log.result("read", client.read(&mut buf).await);
}

pub(crate) async fn writing_to_who_has_closed_ends_in_a_broken_pipe(log: Log) {
    let (mut client, server) = pair().await;
    drop(server);
    settle().await;
    for _ in 0..3 {
        log.result("write", client.write(b"x").await);
        settle().await;
    }
    log.result("read", client.read(&mut [0; 1]).await);
}

pub(crate) async fn writing_after_a_shutdown(log: Log) {
    let (mut client, mut server) = pair().await;
    client.shutdown().await.unwrap();
    log.result("write", client.write(b"x").await);
    log.result("read", server.read(&mut [0; 1]).await);
    log.result("write", server.write(b"y").await);
    log.result("read", client.read(&mut [0; 1]).await);
}

pub(crate) async fn shutting_down_twice_is_fine(log: Log) {
    let (mut client, server) = pair().await;
    log.done("shutdown", client.shutdown().await);
    log.done("shutdown", client.shutdown().await);
    drop(server);
    settle().await;
    log.done("shutdown", client.shutdown().await);
}

pub(crate) async fn reading_goes_on_after_a_shutdown(log: Log) {
    let (mut client, mut server) = pair().await;
    client.shutdown().await.unwrap();
    server.write_all(b"still here").await.unwrap();
    drop(server);
    log.add(read_text(&mut client).await);
}

pub(crate) async fn a_peer_that_does_not_read_stops_the_writer(log: Log) {
    let (client, _server) = pair().await;
    let block = vec![0; 1 << 20];
    let mut taken = 0;
    let stopped = loop {
        client.writable().await.unwrap();
        let error = match client.try_write(&block) {
            Ok(n) => {
                taken += n;
                continue;
            }
            Err(error) => error,
        };
        // What is under way makes room when it arrives.
        if timeout(Duration::from_millis(50), client.writable()).await.is_err() {
            break error;
        }
    };
    log.add(stopped.kind());
    log.add((64 << 10..64 << 20).contains(&taken));
    log.add(timeout(Duration::from_millis(50), client.writable()).await.is_err());
}

pub(crate) async fn a_blocked_writer_goes_on(log: Log) {
    let (mut client, mut server) = pair().await;
    let writer = tokio::spawn(async move {
        client.write_all(&vec![1; 20 << 20]).await.unwrap();
    });
    settle().await;
    let mut all = Vec::new();
    log.result("read", server.read_to_end(&mut all).await);
    writer.await.unwrap();
}

pub(crate) async fn the_same_address_twice(log: Log) {
    let (_listener, address) = listener().await;
    log.done("bind", TcpListener::bind(address).await);
    let wildcard = SocketAddr::from(([0, 0, 0, 0], address.port()));
    log.done("bind", TcpListener::bind(wildcard).await);
    let second = TcpSocket::new_v4().unwrap();
    second.set_reuseport(true).unwrap();
    log.done("bind", second.bind(address));
}

pub(crate) async fn a_port_is_free_when_its_listener_is_gone(log: Log) {
    let (listener, address) = listener().await;
    let _client = TcpStream::connect(address).await.unwrap();
    let (_server, _) = listener.accept().await.unwrap();
    drop(listener);
    // A connection lives on; tokio sets SO_REUSEADDR.
    log.done("bind", TcpListener::bind(address).await);
}

pub(crate) async fn ports_are_chosen_and_differ(log: Log) {
    let (_a, a) = listener().await;
    let (_b, b) = listener().await;
    log.add(a.port() != 0 && b.port() != 0 && a != b);
    let client = TcpStream::connect(a).await.unwrap();
    log.add(client.local_addr().unwrap().port() >= 32_768);
}

pub(crate) async fn both_families_meet_at_a_wildcard(log: Log) {
    let listener = TcpListener::bind("[::]:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let v4 = TcpStream::connect(("127.0.0.1", port)).await;
    log.done("connect", v4.as_ref().map(drop).map_err(|error| error.kind().into()));
    let v6 = TcpStream::connect(("::1", port)).await;
    log.done("connect", v6.as_ref().map(drop).map_err(|error| error.kind().into()));
    for _ in 0..2 {
        let (_, from) = listener.accept().await.unwrap();
        log.add(from.ip());
    }
}

pub(crate) async fn the_other_family_is_not_there(log: Log) {
    let (_listener, address) = listener().await;
    log.done("connect", TcpStream::connect(("::1", address.port())).await);
    let socket = TcpSocket::new_v6().unwrap();
    log.done("bind", socket.bind("127.0.0.1:0".parse().unwrap()));
}

pub(crate) async fn addresses_agree(log: Log) {
    let (client, server) = pair().await;
    log.add(client.local_addr().unwrap() == server.peer_addr().unwrap());
    log.add(client.peer_addr().unwrap() == server.local_addr().unwrap());
    log.add(client.local_addr().unwrap().ip());
}

pub(crate) async fn an_address_of_nobody(log: Log) {
    log.done("bind", TcpListener::bind("192.0.2.1:0").await);
}

pub(crate) async fn names_resolve(log: Log) {
    let (listener, address) = listener().await;
    let connected = TcpStream::connect(("localhost", address.port())).await;
    log.done("connect", connected);
    let (_, from) = listener.accept().await.unwrap();
    log.add(from.ip());
    let written = TcpStream::connect(address.to_string()).await;
    log.done("connect", written);
    let both = [SocketAddr::from(([127, 0, 0, 1], 1)), address];
    log.done("connect", TcpStream::connect(&both[..]).await);
}

pub(crate) async fn bad_addresses(log: Log) {
    for address in ["127.0.0.1", "127.0.0.1:x", "127.0.0.1:65536"] {
        let error = TcpStream::connect(address).await.unwrap_err();
        log.add(format!("{:?}: {error}", error.kind()));
    }
    let none: [SocketAddr; 0] = [];
    let error = TcpListener::bind(&none[..]).await.unwrap_err();
    log.add(format!("{:?}: {error}", error.kind()));
}

pub(crate) async fn peeking_takes_nothing(log: Log) {
    let (mut client, mut server) = pair().await;
    client.write_all(b"peekaboo").await.unwrap();
    settle().await;
    let mut buf = [0; 4];
    log.result("peek", server.peek(&mut buf).await);
    log.result("peek", server.peek(&mut buf).await);
    drop(client);
    log.add(read_text(&mut server).await);
    log.result("peek", server.peek(&mut buf).await);
}

pub(crate) async fn calls_of_no_bytes(log: Log) {
    let (mut client, mut server) = pair().await;
    log.result("write", client.write(b"").await);
    let nothing = timeout(Duration::from_millis(10), server.read(&mut [])).await;
    log.add(nothing.is_err());
    client.write_all(b"z").await.unwrap();
    settle().await;
    log.result("read", server.read(&mut []).await);
    log.result("read", server.read(&mut [0; 8]).await);
}

pub(crate) async fn try_calls_do_not_wait(log: Log) {
    let (client, server) = pair().await;
    let mut buf = [0; 8];
    log.result("read", server.try_read(&mut buf));
    log.result("write", client.try_write(b"ping"));
    settle().await;
    server.readable().await.unwrap();
    log.result("read", server.try_read(&mut buf));
    log.result("read", server.try_read(&mut buf));
    drop(client);
    settle().await;
    server.readable().await.unwrap();
    log.result("read", server.try_read(&mut buf));
}

pub(crate) async fn readiness_follows_the_bytes(log: Log) {
    let (mut client, server) = pair().await;
    let quick = Duration::from_millis(20);
    log.add(timeout(quick, client.readable()).await.is_err());
    log.add(client.ready(Interest::WRITABLE).await.unwrap().is_writable());
    let mut buf = [0; 8];
    log.result("read", server.try_read(&mut buf));
    log.add(timeout(quick, server.readable()).await.is_err());
    client.write_all(b"go").await.unwrap();
    log.add(server.ready(Interest::READABLE).await.unwrap().is_readable());
    server.try_read(&mut buf).unwrap();
    drop(client);
    settle().await;
    log.add(server.ready(Interest::READABLE).await.unwrap().is_read_closed());
}

pub(crate) async fn split_halves_work(log: Log) {
    let (mut client, mut server) = pair().await;
    let (mut read, mut write) = server.split();
    client.write_all(b"question").await.unwrap();
    client.shutdown().await.unwrap();
    let mut text = String::new();
    log.result("read", read.read_to_string(&mut text).await);
    write.write_all(text.as_bytes()).await.unwrap();
    write.shutdown().await.unwrap();
    log.add(read_text(&mut client).await);
}

pub(crate) async fn owned_halves_close_and_reunite(log: Log) {
    let (mut client, server) = pair().await;
    let (read, write) = server.into_split();
    let (other_read, other_write) = pair().await.0.into_split();
    log.add(read.reunite(other_write).unwrap_err());
    drop((other_read, write));
    log.add(read_text(&mut client).await);
    let (read, write) = client.into_split();
    log.add(read.reunite(write).is_ok());
}

pub(crate) async fn options_are_kept(log: Log) {
    let (client, _server) = pair().await;
    log.result("nodelay", client.nodelay());
    client.set_nodelay(true).unwrap();
    log.result("nodelay", client.nodelay());
    log.result("ttl", client.ttl());
    client.set_ttl(12).unwrap();
    log.result("ttl", client.ttl());
    log.add(format!("{:?}", client.linger().unwrap()));
    log.add(format!("{:?}", client.take_error().unwrap()));
    let socket = TcpSocket::new_v4().unwrap();
    log.result("sndbuf", socket.send_buffer_size());
    socket.set_send_buffer_size(10_000).unwrap();
    log.result("sndbuf", socket.send_buffer_size());
    log.result("rcvbuf", socket.recv_buffer_size());
    socket.set_recv_buffer_size(1).unwrap();
    log.result("rcvbuf", socket.recv_buffer_size());
    log.result("reuseaddr", socket.reuseaddr());
    log.result("local", socket.local_addr());
}

pub(crate) async fn a_socket_binds_before_it_connects(log: Log) {
    let (listener, address) = listener().await;
    let socket = TcpSocket::new_v4().unwrap();
    log.done("bind", socket.bind("127.0.0.1:0".parse().unwrap()));
    let local = socket.local_addr().unwrap();
    let client = socket.connect(address).await.unwrap();
    log.add(client.local_addr().unwrap() == local);
    let (_, from) = listener.accept().await.unwrap();
    log.add(from == local);
}

pub(crate) async fn vectored_calls(log: Log) {
    let (mut client, server) = pair().await;
    let parts = [IoSlice::new(b"ab"), IoSlice::new(b""), IoSlice::new(b"cde")];
    log.result("write", client.write_vectored(&parts).await);
    settle().await;
    server.readable().await.unwrap();
    let (mut first, mut second) = ([0; 3], [0; 8]);
    let mut bufs = [IoSliceMut::new(&mut first), IoSliceMut::new(&mut second)];
    log.result("read", server.try_read_vectored(&mut bufs));
    log.add(String::from_utf8_lossy(&first));
    log.add(String::from_utf8_lossy(&second[..2]));
}

pub(crate) async fn cancelled_accepts_lose_nothing(log: Log) {
    let (listener, address) = listener().await;
    log.add(timeout(Duration::from_millis(5), listener.accept()).await.is_err());
    let _client = TcpStream::connect(address).await.unwrap();
    log.add(timeout(Duration::from_secs(5), listener.accept()).await.is_ok());
}

pub(crate) async fn cancelled_reads_lose_nothing(log: Log) {
    let (mut client, mut server) = pair().await;
    let mut buf = [0; 4];
    log.add(timeout(Duration::from_millis(5), server.read(&mut buf)).await.is_err());
    client.write_all(b"late").await.unwrap();
    log.result("read", server.read_exact(&mut buf).await);
}

pub(crate) async fn a_bound_socket_is_not_bound_again(log: Log) {
    let socket = TcpSocket::new_v4().unwrap();
    let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
    log.done("bind", socket.bind(any));
    log.done("bind", socket.bind(any));
    let listener = socket.listen(8).unwrap();
    log.add(listener.local_addr().unwrap().port() != 0);
}

pub(crate) async fn a_copy_in_both_directions(log: Log) {
    let (mut left, mut left_proxy) = pair().await;
    let (mut right_proxy, mut right) = pair().await;
    let proxy = tokio::spawn(async move {
        tokio::io::copy_bidirectional(&mut left_proxy, &mut right_proxy).await.unwrap()
    });
    left.write_all(b"to the right").await.unwrap();
    left.shutdown().await.unwrap();
    log.add(read_text(&mut right).await);
    right.write_all(b"to the left").await.unwrap();
    drop(right);
    log.add(read_text(&mut left).await);
    let (there, back) = proxy.await.unwrap();
    log.add(format!("{there} {back}"));
}

pub(crate) async fn a_server_with_a_task_per_connection(log: Log) {
    let (listener, address) = listener().await;
    let server = tokio::spawn(async move {
        for _ in 0..5 {
            let (mut stream, _) = listener.accept().await.unwrap();
            drop(tokio::spawn(async move {
                let n = stream.read_u32().await.unwrap();
                stream.write_u32(n * n).await.unwrap();
            }));
        }
    });
    let clients = (0..5).map(|n| {
        tokio::spawn(async move {
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.write_u32(n).await.unwrap();
            stream.read_u32().await.unwrap()
        })
    });
    for client in clients.collect::<Vec<_>>() {
        log.add(client.await.unwrap());
    }
    server.await.unwrap();
}

pub(crate) async fn timeouts_around_reads(log: Log) {
    let (client, mut server) = pair().await;
    let mut buf = [0; 1];
    log.add(timeout(Duration::from_millis(10), server.read(&mut buf)).await.is_err());
    drop(client);
    log.add(timeout(Duration::from_secs(5), server.read(&mut buf)).await.is_ok());
}

pub(crate) async fn an_unspecified_target_is_here(log: Log) {
    let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let client = TcpStream::connect(address).await.unwrap();
    log.add(client.peer_addr().unwrap().ip());
    log.add(listener.accept().await.unwrap().1.ip());
}
