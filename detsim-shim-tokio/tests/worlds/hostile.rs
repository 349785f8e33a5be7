//! Programs that ask for trouble.

use super::Log;
use super::tokio;

use std::io::{IoSlice, IoSliceMut};
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream, UdpSocket};
use tokio::time::{sleep, timeout};

const ANY: &str = "127.0.0.1:0";

async fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind(ANY).await.unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    (client, listener.accept().await.unwrap().0)
}

/// Long enough for anything on loopback to arrive.
async fn settle() {
    sleep(Duration::from_millis(20)).await;
}

pub(crate) async fn a_half_close_behind_much_that_nobody_has_read(log: Log) {
    let (mut client, mut server) = pair().await;
    client.write_all(&[7; 1_000_000]).await.unwrap();
    log.done("shutdown", client.shutdown().await);
    log.done("late", client.write(b"x").await);
    settle().await;
    server.write_all(b"go on").await.unwrap();
    let mut all = Vec::new();
    log.result("all", server.read_to_end(&mut all).await);
    drop(server);
    log.result("answer", client.read_to_end(&mut all).await);
    log.add(all.len());
}

pub(crate) async fn a_reset_in_the_middle_of_a_write(log: Log) {
    let (mut client, mut server) = pair().await;
    let writer = tokio::spawn(async move {
        let error = loop {
            if let Err(error) = client.write(&[7; 65_536]).await {
                break error;
            }
        };
        let again = client.write(b"x").await.unwrap_err();
        let read = client.read(&mut [0]).await;
        (error.raw_os_error(), again.raw_os_error(), read.map_err(|e| e.raw_os_error()))
    });
    server.read_exact(&mut [0; 1_000]).await.unwrap();
    // It fills up, and the writer waits.
    settle().await;
    drop(server);
    log.add(format!("{:?}", writer.await.unwrap()));
}

pub(crate) async fn a_backlog_that_is_full(log: Log) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(ANY.parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let brief = Duration::from_millis(200);
    let mut streams = Vec::new();
    for _ in 0..4 {
        let stream = timeout(brief, TcpStream::connect(address)).await;
        log.add(stream.is_ok());
        streams.extend(stream);
    }
    for _ in 0..3 {
        log.add(timeout(brief, listener.accept()).await.is_ok());
    }
    log.add(timeout(brief, TcpStream::connect(address)).await.is_ok());
}

pub(crate) async fn more_parts_than_one_call_takes(log: Log) {
    let (mut client, mut server) = pair().await;
    let parts = vec![IoSlice::new(b"xy"); 2_000];
    log.result("written", client.write_vectored(&parts).await);
    log.result("tried", client.try_write_vectored(&parts));
    log.result("none", client.write_vectored(&[]).await);
    log.result("empty", client.write_vectored(&[IoSlice::new(b"")]).await);
    settle().await;
    let mut rooms = vec![[0; 2]; 3_000];
    let mut rooms: Vec<IoSliceMut<'_>> = rooms.iter_mut().map(|r| IoSliceMut::new(r)).collect();
    log.result("read", server.try_read_vectored(&mut rooms));
    log.result("nothing", server.try_read_vectored(&mut []));
    let mut all = vec![0; 2_048];
    log.result("rest", server.read_exact(&mut all).await);
}

pub(crate) async fn peeking_again_and_again(log: Log) {
    let (mut client, mut server) = pair().await;
    client.write_all(b"abc").await.unwrap();
    for room in [1, 2, 8, 0] {
        log.result("peek", server.peek(&mut vec![0; room]).await);
    }
    client.write_all(b"de").await.unwrap();
    settle().await;
    log.result("peek", server.peek(&mut [0; 8]).await);
    log.result("read", server.read(&mut [0; 2]).await);
    log.result("peek", server.peek(&mut [0; 8]).await);
    drop(client);
    settle().await;
    log.result("peek", server.peek(&mut [0; 8]).await);
    log.result("read", server.read(&mut [0; 8]).await);
    for _ in 0..2 {
        log.result("peek", server.peek(&mut [0; 8]).await);
    }
}

pub(crate) async fn peeking_at_a_reset(log: Log) {
    let (client, server) = pair().await;
    client.set_zero_linger().unwrap();
    drop(client);
    settle().await;
    log.result("peek", server.peek(&mut [0; 8]).await);
    log.result("peek", server.peek(&mut [0; 8]).await);
    log.done("error", server.take_error().map(|error| assert!(error.is_none())));
}

/// A socket that asked for nothing.
fn bare(address: SocketAddr) -> std::io::Result<TcpSocket> {
    let socket = TcpSocket::new_v4()?;
    socket.bind(address)?;
    Ok(socket)
}

pub(crate) async fn a_port_in_time_wait(log: Log) {
    let socket = bare(ANY.parse().unwrap()).unwrap();
    let address = socket.local_addr().unwrap();
    let listener = socket.listen(8).unwrap();
    let mut client = TcpStream::connect(address).await.unwrap();
    let (server, _) = listener.accept().await.unwrap();
    log.done("while it listens", bare(address));
    drop(listener);
    log.done("while it is connected", bare(address));
    // The server closes first.
    drop(server);
    log.result("end", client.read(&mut [0]).await);
    drop(client);
    settle().await;
    log.done("in TIME_WAIT", bare(address));
    let again = TcpSocket::new_v4().unwrap();
    again.set_reuseaddr(true).unwrap();
    log.done("by force", again.bind(address));
    log.done("listens", again.listen(8));
}

pub(crate) async fn addresses_that_nobody_can_have(log: Log) {
    for to in ["255.255.255.255:80", "224.0.0.1:80", "127.0.0.1:0", "[::1]:0"] {
        log.done(to, TcpStream::connect(to).await);
    }
    let socket = UdpSocket::bind(ANY).await.unwrap();
    log.done("broadcast", socket.connect("255.255.255.255:80").await);
    log.done("port 0", socket.connect("127.0.0.1:0").await);
    log.done("named", socket.send_to(b"x", "127.0.0.1:0").await);
    log.done("v6", socket.connect("[::1]:7").await);
    log.done("v6 to v4", socket.send_to(b"x", "[::1]:7").await);
}

pub(crate) async fn a_socket_that_talks_to_itself(log: Log) {
    let socket = UdpSocket::bind(ANY).await.unwrap();
    let own = socket.local_addr().unwrap();
    socket.connect(own).await.unwrap();
    log.result("sent", socket.send(b"me").await);
    log.result("received", socket.recv(&mut [0; 8]).await);
    // It hears nobody else.
    let other = UdpSocket::bind(ANY).await.unwrap();
    log.result("other", other.send_to(b"you", own).await);
    settle().await;
    log.result("nothing", socket.try_recv(&mut [0; 8]));
    // Who is connected may write to others all the same, and be connected anew.
    log.result("elsewhere", socket.send_to(b"hey", other.local_addr().unwrap()).await);
    log.result("heard", other.recv(&mut [0; 8]).await);
    socket.connect(other.local_addr().unwrap()).await.unwrap();
    log.result("again", other.send_to(b"four", own).await);
    log.result("heard", socket.recv(&mut [0; 8]).await);
}

pub(crate) async fn datagrams_without_room(log: Log) {
    let a = UdpSocket::bind(ANY).await.unwrap();
    let b = UdpSocket::bind(ANY).await.unwrap();
    let to = b.local_addr().unwrap();
    for text in ["one", "", "three"] {
        a.send_to(text.as_bytes(), to).await.unwrap();
    }
    settle().await;
    log.result("peek", b.peek(&mut []).await);
    log.result("none", b.recv(&mut []).await);
    log.result("empty", b.recv(&mut [0; 8]).await);
    log.result("peek", b.try_peek(&mut [0; 2]));
    log.result("read", b.try_recv(&mut [0; 2]));
    log.result("gone", b.try_recv(&mut [0; 2]));
}

pub(crate) async fn ports_that_overlap(log: Log) {
    let all = TcpListener::bind("0.0.0.0:0").await.unwrap();
    let port = all.local_addr().unwrap().port();
    log.done("one of all", TcpListener::bind(("127.0.0.1", port)).await);
    log.done("the other family", TcpListener::bind(("::1", port)).await);
    log.done("both families", TcpListener::bind(("::", port)).await);
    drop(all);
    let one = TcpListener::bind(("127.0.0.1", port)).await.unwrap();
    log.done("all of one", TcpListener::bind(("0.0.0.0", port)).await);
    log.done("another of all", TcpListener::bind(("127.0.0.2", port)).await);
    drop(one);
    let all = UdpSocket::bind("0.0.0.0:0").await.unwrap();
    let port = all.local_addr().unwrap().port();
    log.done("a datagram's", UdpSocket::bind(("127.0.0.1", port)).await);
    log.done("a stream's", TcpListener::bind(("127.0.0.1", port)).await);
}

pub(crate) async fn a_storm_of_clients_that_are_gone(log: Log) {
    let listener = TcpListener::bind(ANY).await.unwrap();
    let address = listener.local_addr().unwrap();
    for number in 0..60 {
        let mut client = TcpStream::connect(address).await.unwrap();
        match number % 3 {
            0 => client.set_zero_linger().unwrap(),
            1 => client.write_all(b"hello").await.unwrap(),
            _ => {}
        }
    }
    settle().await;
    let mut counts = [0; 3];
    for _ in 0..60 {
        let (mut stream, _) = listener.accept().await.unwrap();
        match stream.read(&mut [0; 8]).await {
            Ok(0) => counts[0] += 1,
            Ok(_) => counts[1] += 1,
            Err(error) => {
                log.add(format!("{:?}", error.raw_os_error()));
                counts[2] += 1;
            }
        }
    }
    log.add(format!("{counts:?}"));
    log.add(timeout(Duration::from_millis(10), listener.accept()).await.is_err());
}

async fn connected_to_itself() -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(ANY.parse().unwrap()).unwrap();
    let own = socket.local_addr().unwrap();
    socket.connect(own).await.unwrap()
}

pub(crate) async fn a_stream_that_is_connected_to_itself(log: Log) {
    let mut stream = connected_to_itself().await;
    log.add(stream.local_addr().unwrap() == stream.peer_addr().unwrap());
    log.result("nothing", stream.try_read(&mut [0; 8]));
    log.result("write", stream.write(b"myself").await);
    settle().await;
    let mut buf = [0; 16];
    log.result("peek", stream.peek(&mut buf).await);
    log.result("read", stream.read(&mut buf).await);
    log.add(String::from_utf8_lossy(&buf[..6]));
    // Much at once, in both halves.
    let (mut read, mut write) = stream.split();
    let whole = vec![7; 3_000_000];
    let writing = async {
        write.write_all(&whole).await.unwrap();
        write.shutdown().await.unwrap();
    };
    let mut back = Vec::new();
    let (count, ()) = tokio::join!(read.read_to_end(&mut back), writing);
    log.result("all", count);
    log.add(back == whole);
    log.result("write", stream.write(b"x").await);
    log.result("the end", stream.read(&mut buf).await);
}

pub(crate) async fn a_stream_of_its_own_that_nobody_reads_fills_up(log: Log) {
    let mut stream = connected_to_itself().await;
    let own = stream.local_addr().unwrap();
    let mut written = 0;
    loop {
        match stream.try_write(&[1; 65_536]) {
            Ok(bytes) => written += bytes,
            // What is on its way may make room.
            Err(_) => {
                let writable = stream.writable();
                if timeout(Duration::from_millis(300), writable).await.is_err() {
                    break;
                }
            }
        }
    }
    log.add(written > 100_000);
    let mut back = vec![0; written];
    log.result("read", stream.read_exact(&mut back).await.map(|read| read == written));
    log.add(back.iter().all(|byte| *byte == 1));
    stream.write_all(b"unread").await.unwrap();
    settle().await;
    drop(stream);
    // Closed with bytes unread, it leaves nothing behind.
    settle().await;
    log.done("again", TcpListener::bind(own).await);
}

pub(crate) async fn a_stream_of_its_own_keeps_its_port_for_a_while(log: Log) {
    let mut stream = connected_to_itself().await;
    let own = stream.local_addr().unwrap();
    stream.shutdown().await.unwrap();
    log.result("the end", stream.read(&mut [0; 8]).await);
    drop(stream);
    settle().await;
    let socket = TcpSocket::new_v4().unwrap();
    log.done("again", socket.bind(own));
}
