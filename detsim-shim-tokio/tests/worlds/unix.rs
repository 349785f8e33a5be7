//! Programs on local sockets and pipes.

use super::Log;
use super::tokio;

use std::io;
use std::pin::pin;
use std::task::{Context, Waker};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, Interest};
use tokio::net::unix::pipe;
use tokio::net::{UnixDatagram, UnixListener, UnixStream};
use tokio::time::timeout;

/// An abstract name of one program: no file is left behind.
fn name(program: &str) -> String {
    format!("\0detsim-worlds-{program}-{}", std::process::id())
}

/// A path of one program: tokio takes no abstract name for datagrams.
fn path(program: &str) -> String {
    format!("/tmp/detsim-worlds-{program}-{}", std::process::id())
}

async fn read_text(stream: &mut UnixStream) -> String {
    let mut text = String::new();
    match stream.read_to_string(&mut text).await {
        Ok(_) => text,
        Err(error) => format!("{text} then error {:?}", error.raw_os_error()),
    }
}

pub(crate) async fn a_pair_talks(log: Log) {
    let (mut a, mut b) = UnixStream::pair().unwrap();
    log.result("write", a.write(b"ping").await);
    let mut buf = [0; 8];
    log.result("read", b.read(&mut buf).await);
    drop(a);
    log.result("read", b.read(&mut buf).await);
    log.result("write", b.write(b"x").await);
}

pub(crate) async fn listeners_are_found_by_name(log: Log) {
    let name = name("found");
    let listener = UnixListener::bind(&name).unwrap();
    let mut client = UnixStream::connect(&name).await.unwrap();
    let (mut server, from) = listener.accept().await.unwrap();
    log.add(from.is_unnamed());
    client.write_all(b"hello").await.unwrap();
    client.shutdown().await.unwrap();
    log.add(read_text(&mut server).await);
    log.add(client.peer_addr().unwrap().as_abstract_name().is_some());
}

pub(crate) async fn names_of_nobody(log: Log) {
    log.done("connect", UnixStream::connect(name("nobody")).await);
    log.done("connect", UnixStream::connect("/nowhere/to/be/found").await);
    let kept = name("kept");
    let _listener = UnixListener::bind(&kept).unwrap();
    log.done("bind", UnixListener::bind(&kept));
}

pub(crate) async fn a_closed_listener_refuses(log: Log) {
    let name = name("closed");
    drop(UnixListener::bind(&name).unwrap());
    log.done("connect", UnixStream::connect(&name).await);
}

pub(crate) async fn unread_bytes_reset_a_local_stream(log: Log) {
    let (mut a, b) = UnixStream::pair().unwrap();
    a.write_all(b"unread").await.unwrap();
    drop(b);
    let mut buf = [0; 1];
    log.result("read", a.read(&mut buf).await);
    log.result("read", a.read(&mut buf).await);
}

pub(crate) async fn a_local_half_close(log: Log) {
    let (mut a, mut b) = UnixStream::pair().unwrap();
    a.write_all(b"last").await.unwrap();
    a.shutdown().await.unwrap();
    log.result("write", a.write(b"x").await);
    log.add(read_text(&mut b).await);
    b.write_all(b"answer").await.unwrap();
    drop(b);
    log.add(read_text(&mut a).await);
}

pub(crate) async fn a_local_writer_waits(log: Log) {
    let (mut a, mut b) = UnixStream::pair().unwrap();
    let writer = tokio::spawn(async move { a.write_all(&vec![1; 4 << 20]).await.unwrap() });
    let mut all = Vec::new();
    log.result("read", b.read_to_end(&mut all).await);
    writer.await.unwrap();
}

pub(crate) async fn local_halves(log: Log) {
    let (a, mut b) = UnixStream::pair().unwrap();
    let (read, mut write) = a.into_split();
    write.write_all(b"half").await.unwrap();
    drop(write);
    log.add(read_text(&mut b).await);
    b.write_all(b"other").await.unwrap();
    let mut buf = [0; 8];
    read.readable().await.unwrap();
    log.result("read", read.try_read(&mut buf));
}

pub(crate) async fn local_datagrams(log: Log) {
    let (a, b) = UnixDatagram::pair().unwrap();
    log.result("send", a.send(b"first").await);
    log.result("send", a.send(b"second").await);
    let mut buf = [0; 3];
    log.result("recv", b.recv(&mut buf).await);
    log.result("recv", b.recv(&mut [0; 16]).await);
    log.result("recv", b.try_recv(&mut buf));
}

pub(crate) async fn local_datagrams_by_name(log: Log) {
    let [path_a, path_b] = ["a", "b"].map(path);
    let (a, b) = (UnixDatagram::bind(&path_a).unwrap(), UnixDatagram::bind(&path_b).unwrap());
    log.result("send", a.send_to(b"x", &path_b).await);
    let (bytes, from) = b.recv_from(&mut [0; 4]).await.unwrap();
    log.add(bytes);
    log.add(from.as_pathname() == Some(path_a.as_ref()));
    log.result("send", a.send_to(b"x", path("none")).await);
    log.result("send", a.send(b"x").await);
    for path in [path_a, path_b] {
        // A simulated socket leaves no file behind.
        drop(std::fs::remove_file(path));
    }
}

pub(crate) async fn a_full_local_queue_waits(log: Log) {
    let (a, b) = UnixDatagram::pair().unwrap();
    let mut sent = 0;
    while a.try_send(b"x").is_ok() {
        sent += 1;
    }
    log.add((5..500).contains(&sent));
    log.add(timeout(Duration::from_millis(10), a.send(b"x")).await.is_err());
    while b.try_recv(&mut [0; 4]).is_ok() {}
    log.add(timeout(Duration::from_secs(5), a.send(b"x")).await.is_ok());
}

pub(crate) async fn a_pipe_carries_bytes(log: Log) {
    let (mut sender, mut receiver) = pipe::pipe().unwrap();
    sender.write_all(b"through the pipe").await.unwrap();
    drop(sender);
    let mut text = String::new();
    log.result("read", receiver.read_to_string(&mut text).await);
    log.add(text);
}

pub(crate) async fn a_pipe_without_a_reader_breaks(log: Log) {
    let (mut sender, receiver) = pipe::pipe().unwrap();
    drop(receiver);
    log.result("write", sender.write(b"x").await);
}

pub(crate) async fn a_full_pipe_waits(log: Log) {
    let (sender, mut receiver) = pipe::pipe().unwrap();
    let mut written = 0;
    loop {
        sender.writable().await.unwrap();
        match sender.try_write(&[0; 4096]) {
            Ok(n) => written += n,
            Err(_) => break,
        }
        if written >= 65_536 {
            break;
        }
    }
    log.add(written);
    log.result("write", sender.try_write(b"x"));
    receiver.read_exact(&mut [0; 8192]).await.unwrap();
    log.add(sender.ready(Interest::WRITABLE).await.unwrap().is_writable());
}

pub(crate) async fn an_end_of_a_pipe_is_taken_out(log: Log) {
    use std::io::{Read, Write};
    let (mut sender, mut receiver) = pipe::pipe().unwrap();
    sender.write_all(b"inside, ").await.unwrap();
    let mut file = std::fs::File::from(sender.into_blocking_fd().unwrap());
    file.write_all(b"outside").unwrap();
    drop(file);
    let mut text = String::new();
    log.result("read", receiver.read_to_string(&mut text).await);
    log.add(text);

    let (mut sender, receiver) = pipe::pipe().unwrap();
    sender.write_all(b"inside, ").await.unwrap();
    let mut file = std::fs::File::from(receiver.into_blocking_fd().unwrap());
    sender.write_all(b"inside still").await.unwrap();
    drop(sender);
    let mut text = String::new();
    log.result("read", file.read_to_string(&mut text));
    log.add(text);
}

pub(crate) async fn pipes_of_the_system_carry_bytes(log: Log) {
    let (reads, writes) = io::pipe().unwrap();
    let mut receiver = pipe::Receiver::from_owned_fd(reads.into()).unwrap();
    let mut sender = pipe::Sender::from_owned_fd(writes.into()).unwrap();
    log.done("too early", receiver.try_read(&mut [0]));
    let reader = tokio::spawn(async move {
        let mut text = String::new();
        receiver.read_to_string(&mut text).await.map(|_| text)
    });
    tokio::task::yield_now().await;
    sender.write_all(b"through ").await.unwrap();
    sender.write_all(&[b'x'; 100_000]).await.unwrap();
    drop(sender);
    let text = reader.await.unwrap().unwrap();
    log.add(format!("{} {}", &text[..8], text.len()));
}

pub(crate) async fn what_is_no_end_of_a_pipe_is_refused(log: Log) {
    let (reads, writes) = io::pipe().unwrap();
    let text = |error: io::Error| error.to_string();
    log.add(text(pipe::Sender::from_owned_fd(reads.into()).unwrap_err()));
    log.add(text(pipe::Receiver::from_owned_fd(writes.into()).unwrap_err()));
    let (socket, _peer) = std::os::unix::net::UnixStream::pair().unwrap();
    log.add(text(pipe::Receiver::from_owned_fd(socket.into()).unwrap_err()));
}

pub(crate) async fn a_pipe_of_the_system_breaks(log: Log) {
    let (reads, writes) = io::pipe().unwrap();
    let mut sender = pipe::Sender::from_owned_fd(writes.into()).unwrap();
    drop(reads);
    log.result("write", sender.write(b"x").await);
    log.add(format!("{:?}", sender.ready(Interest::WRITABLE).await.unwrap().is_write_closed()));
}

pub(crate) async fn who_waits_to_be_accepted_is_reset(log: Log) {
    let path = path("reset");
    let listener = UnixListener::bind(&path).unwrap();
    let mut stream = UnixStream::connect(&path).await.unwrap();
    drop(listener);
    log.result("read", stream.read(&mut [0]).await);
    log.result("again", stream.read(&mut [0]).await);
    drop(std::fs::remove_file(&path));
}

pub(crate) async fn tries_leave_readiness_as_it_is(log: Log) {
    let (a, b) = UnixStream::pair().unwrap();
    let mut written = 0;
    loop {
        a.writable().await.unwrap();
        match a.try_write(&[7; 4_000]) {
            Ok(bytes) => written += bytes,
            Err(error) => break log.add(format!("{:?}", error.kind())),
        }
    }
    log.add(timeout(Duration::from_millis(1), a.writable()).await.is_err());
    let mut read = 0;
    while read < written {
        b.readable().await.unwrap();
        read += b.try_read(&mut [0; 3_000]).unwrap_or(0);
    }
    log.add(b.ready(Interest::READABLE).await.unwrap().is_readable());
    log.done("nothing", b.try_read(&mut [0]));
    log.add(timeout(Duration::from_millis(1), b.readable()).await.is_err());
}

pub(crate) async fn readiness_is_asked_for_as_often_as_one_likes(log: Log) {
    let (sender, _receiver) = pipe::pipe().unwrap();
    sender.writable().await.unwrap();
    let mut cx = Context::from_waker(Waker::noop());
    let mut is_ready = || pin!(sender.writable()).poll(&mut cx).is_ready();
    log.add((0..500).filter(|_| is_ready()).count());
}

pub(crate) async fn what_a_program_denies_is_not_ready(log: Log) {
    let (sender, _receiver) = pipe::pipe().unwrap();
    sender.writable().await.unwrap();
    log.done("denied", sender.try_io(|| io::Result::<()>::Err(io::ErrorKind::WouldBlock.into())));
    log.done("still", sender.try_io(|| Ok(())));
    log.add(timeout(Duration::from_millis(5), sender.writable()).await.is_err());
}
