//! Programs that ask a socket for what it cannot know within this poll: the driver turns between polls.

use super::Log;
use super::tokio;

use std::fmt::Display;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, Interest};
use tokio::net::unix::pipe;
use tokio::net::{TcpListener, TcpStream, UdpSocket, UnixDatagram, UnixStream};
use tokio::time::sleep;

/// What a future gives when it is polled once, as no task.
pub(crate) fn at_once<T: Display>(log: &Log, call: &str, future: impl Future<Output = io::Result<T>>) {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Pending => log.add(format!("{call}: pending")),
        Poll::Ready(result) => drop(log.result(call, result)),
    }
}

/// The driver turns.
pub(crate) async fn turn() {
    sleep(Duration::from_millis(5)).await;
}

async fn datagrams() -> (UdpSocket, UdpSocket) {
    let a = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let b = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    a.connect(b.local_addr().unwrap()).await.unwrap();
    b.connect(a.local_addr().unwrap()).await.unwrap();
    (a, b)
}

pub(crate) async fn a_new_socket_for_datagrams_is_ready_when_the_driver_has_turned(log: Log) {
    let a = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let own = a.local_addr().unwrap();
    log.result("send", a.try_send_to(b"x", own));
    at_once(&log, "send", a.send_to(b"x", own));
    log.result("again", a.try_send_to(b"x", own));
    turn().await;
    log.result("send", a.try_send_to(b"x", own));
    at_once(&log, "send", a.send_to(b"x", own));
}

pub(crate) async fn a_datagram_is_seen_when_the_driver_has_turned(log: Log) {
    let (a, b) = datagrams().await;
    turn().await;
    let mut buf = [0; 8];
    log.result("send", a.try_send(b"one"));
    log.result("recv", b.try_recv(&mut buf));
    at_once(&log, "recv", b.recv(&mut buf));
    at_once(&log, "peek", b.peek(&mut buf));
    turn().await;
    at_once(&log, "peek", b.peek(&mut buf));
    log.result("recv", b.try_recv(&mut buf));
    // It is known to be ready until a call finds that it is not.
    log.result("send", a.try_send(b"two"));
    log.result("recv", b.try_recv(&mut buf));
    log.result("recv", b.try_recv(&mut buf));
    log.result("send", a.try_send(b"three"));
    log.result("recv", b.try_recv(&mut buf));
    turn().await;
    at_once(&log, "recv", b.recv(&mut buf));
}

pub(crate) async fn a_pair_of_streams_may_be_written_at_once(log: Log) {
    let (a, mut b) = UnixStream::pair().unwrap();
    let mut buf = [0; 8];
    log.result("write", a.try_write(b"hello"));
    log.result("read", b.try_read(&mut buf));
    at_once(&log, "read", b.read(&mut buf));
    turn().await;
    at_once(&log, "read", b.read(&mut buf));
    log.result("write", b.try_write(b"back"));
}

pub(crate) async fn a_short_read_ends_what_is_known(log: Log) {
    let (a, mut b) = UnixStream::pair().unwrap();
    let mut buf = [0; 8];
    log.result("write", a.try_write(b"one"));
    turn().await;
    at_once(&log, "read", b.read(&mut buf));
    log.result("write", a.try_write(b"two"));
    at_once(&log, "read", b.read(&mut buf));
    turn().await;
    at_once(&log, "read", b.read(&mut buf));
}

pub(crate) async fn a_full_read_does_not(log: Log) {
    let (a, mut b) = UnixStream::pair().unwrap();
    let mut buf = [0; 3];
    log.result("write", a.try_write(b"one"));
    turn().await;
    at_once(&log, "read", b.read(&mut buf));
    log.result("write", a.try_write(b"two"));
    at_once(&log, "read", b.read(&mut buf));
    at_once(&log, "read", b.read(&mut buf));
}

pub(crate) async fn a_pair_for_datagrams_may_be_sent_to_at_once(log: Log) {
    let (a, b) = UnixDatagram::pair().unwrap();
    let mut buf = [0; 8];
    log.result("send", a.try_send(b"one"));
    log.result("recv", b.try_recv(&mut buf));
    at_once(&log, "recv", b.recv(&mut buf));
    turn().await;
    at_once(&log, "recv", b.recv(&mut buf));
}

pub(crate) async fn a_new_local_socket_waits_for_the_driver(log: Log) {
    let dir = std::env::temp_dir().join(format!("untold-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let path = dir.join("a");
    let _ = std::fs::remove_file(&path);
    let (a, b) = (UnixDatagram::bind(&path).unwrap(), UnixDatagram::unbound().unwrap());
    log.result("send", b.try_send_to(b"x", &path));
    at_once(&log, "send", b.send_to(b"x", &path));
    turn().await;
    log.result("send", b.try_send_to(b"x", &path));
    let mut buf = [0; 8];
    log.result("recv", a.try_recv(&mut buf));
    turn().await;
    log.result("recv", a.try_recv(&mut buf));
    std::fs::remove_file(&path).unwrap();
}

pub(crate) async fn a_new_pipe_waits_for_the_driver(log: Log) {
    let (mut sender, mut receiver) = pipe::pipe().unwrap();
    let mut buf = [0; 8];
    log.result("write", sender.try_write(b"one"));
    at_once(&log, "write", sender.write(b"one"));
    turn().await;
    log.result("write", sender.try_write(b"one"));
    log.result("read", receiver.try_read(&mut buf));
    at_once(&log, "read", receiver.read(&mut buf));
    turn().await;
    at_once(&log, "read", receiver.read(&mut buf));
}

pub(crate) async fn what_is_accepted_may_be_used_at_once(log: Log) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    log.result("write", client.try_write(b"hello"));
    turn().await;
    let (server, _) = listener.accept().await.unwrap();
    let mut buf = [0; 8];
    log.result("read", server.try_read(&mut buf));
    log.result("write", server.try_write(b"back"));
}

pub(crate) async fn readiness_is_told_by_the_driver(log: Log) {
    let new = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    at_once(&log, "writable", async { new.writable().await.map(|()| "") });
    log.result("try_io", new.try_io(Interest::WRITABLE, || Ok("called")));
    let (a, b) = datagrams().await;
    turn().await;
    log.result("try_io", a.try_io(Interest::WRITABLE, || Ok("called")));
    log.result("send", a.try_send(b"x"));
    let both = Interest::READABLE | Interest::WRITABLE;
    at_once(&log, "ready", async { b.ready(both).await.map(|ready| format!("{ready:?}")) });
    at_once(&log, "readable", async { b.readable().await.map(|()| "") });
    turn().await;
    at_once(&log, "ready", async { b.ready(both).await.map(|ready| format!("{ready:?}")) });
}

pub(crate) async fn who_waits_for_either_end_is_told_of_one(log: Log) {
    let a = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let both = Interest::READABLE | Interest::WRITABLE;
    at_once(&log, "ready", async { a.ready(both).await.map(|ready| format!("{ready:?}")) });
    log.add(format!("{:?}", a.ready(both).await.unwrap()));
}

pub(crate) async fn whoever_was_woken_has_been_told(log: Log) {
    let (sender, mut receiver) = pipe::pipe().unwrap();
    turn().await;
    let mut buf = [0; 8];
    let mut read = Box::pin(receiver.read(&mut buf));
    let woken = Arc::new(Woken::default());
    let waker = Waker::from(Arc::clone(&woken));
    let mut cx = Context::from_waker(&waker);
    log.add(read.as_mut().poll(&mut cx).is_pending());
    log.result("write", sender.try_write(b"one"));
    while !woken.0.load(Ordering::Relaxed) {
        tokio::task::yield_now().await;
    }
    log.add(format!("{:?}", read.as_mut().poll(&mut cx).map(Result::unwrap)));
}

#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

pub(crate) async fn a_task_talks_to_itself(log: Log) {
    let (a, b) = datagrams().await;
    let (mut c, mut d) = UnixStream::pair().unwrap();
    let mut buf = [0; 8];
    for _ in 0..3 {
        a.send(b"datagram").await.unwrap();
        log.result("recv", b.recv(&mut buf).await);
        c.write_all(b"bytes").await.unwrap();
        log.result("read", d.read(&mut buf).await);
    }
}
