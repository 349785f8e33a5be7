//! Programs over descriptors of the system: what they are ready for, and who is told.

use super::Log;
use super::tokio;

use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::unix::AsyncFd;
use tokio::io::{Interest, Ready};
use tokio::spawn;
use tokio::sync::oneshot;
use tokio::time::timeout;

/// A pair of sockets, one of them watched.
fn pair() -> (AsyncFd<UnixStream>, UnixStream) {
    let (a, b) = UnixStream::pair().unwrap();
    a.set_nonblocking(true).unwrap();
    b.set_nonblocking(true).unwrap();
    (watched(a, Interest::READABLE | Interest::WRITABLE).unwrap(), b)
}

#[expect(deprecated, reason = "the form that every tokio 1 has")]
fn watched<T: AsRawFd>(inner: T, interest: Interest) -> io::Result<AsyncFd<T>> {
    AsyncFd::with_interest(inner, interest)
}

async fn is_readable(fd: &AsyncFd<UnixStream>) -> bool {
    let readable = async { fd.readable().await.unwrap().retain_ready() };
    timeout(Duration::from_millis(5), readable).await.is_ok()
}

pub(crate) async fn a_pair_is_writable_then_readable(log: Log) {
    let (a, mut b) = pair();
    a.writable().await.unwrap().retain_ready();
    log.add(is_readable(&a).await);
    b.write_all(b"hello").unwrap();
    let mut guard = a.readable().await.unwrap();
    log.add(format!("{:?}", guard.ready()));
    let mut told = [0; 9];
    let read = guard.try_io(|a| a.get_ref().read(&mut told)).unwrap().unwrap();
    log.add(String::from_utf8_lossy(&told[..read]));
}

pub(crate) async fn what_was_ready_is_until_somebody_clears_it(log: Log) {
    let (a, mut b) = pair();
    b.write_all(b"x").unwrap();
    let mut guard = a.readable().await.unwrap();
    a.get_ref().read_exact(&mut [0]).unwrap();
    log.add(is_readable(&a).await);
    guard.clear_ready();
    log.add(is_readable(&a).await);
    b.write_all(b"y").unwrap();
    log.add(is_readable(&a).await);
}

pub(crate) async fn a_guard_clears_nothing_newer(log: Log) {
    let (a, mut b) = pair();
    b.write_all(b"x").unwrap();
    let mut old = a.readable().await.unwrap();
    a.get_ref().read_exact(&mut [0]).unwrap();
    a.readable().await.unwrap().clear_ready();
    b.write_all(b"y").unwrap();
    a.readable().await.unwrap().retain_ready();
    old.clear_ready();
    log.add(is_readable(&a).await);
}

pub(crate) async fn a_part_of_what_is_ready_is_cleared(log: Log) {
    let (a, mut b) = pair();
    b.write_all(b"x").unwrap();
    a.readable().await.unwrap().retain_ready();
    let mut guard = a.ready(Interest::READABLE | Interest::WRITABLE).await.unwrap();
    log.add(format!("{:?}", guard.ready()));
    guard.clear_ready_matching(Ready::READABLE);
    log.add(format!("{:?}", guard.ready()));
    let mut guard = a.ready(Interest::READABLE | Interest::WRITABLE).await.unwrap();
    log.add(format!("{:?}", guard.ready()));
    guard.clear_ready();
}

pub(crate) async fn tries_call_only_what_may_succeed(log: Log) {
    let (mut a, mut b) = pair();
    tokio::task::yield_now().await;
    log.done("nothing", a.try_io(Interest::READABLE, |mut a| a.read(&mut [0])));
    b.write_all(b"xy").unwrap();
    a.readable().await.unwrap().retain_ready();
    log.result("one", a.try_io(Interest::READABLE, |mut a| a.read(&mut [0])));
    log.result("two", a.try_io_mut(Interest::READABLE, |a| a.read(&mut [0])));
    log.result("empty", a.try_io(Interest::READABLE, |mut a| a.read(&mut [0])));
    let mut called = false;
    let mut call = |_: &UnixStream| {
        called = true;
        Ok(())
    };
    log.done("cleared", a.try_io(Interest::READABLE, &mut call));
    log.add(called);
}

pub(crate) async fn an_operation_is_repeated_until_it_need_not_wait(log: Log) {
    let (a, mut b) = pair();
    let reader = spawn(async move {
        let mut calls = 0;
        let mut told = [0; 4];
        let read = |mut a: &UnixStream| {
            calls += 1;
            a.read(&mut told)
        };
        let read = a.async_io(Interest::READABLE, read).await.unwrap();
        (read, told, calls)
    });
    tokio::task::yield_now().await;
    b.write_all(b"abc").unwrap();
    let (read, told, calls) = reader.await.unwrap();
    log.add(format!("{read} {told:?} after {calls}"));
}

pub(crate) async fn the_end_of_the_peer_is_seen_and_stays(log: Log) {
    let (a, b) = pair();
    drop(b);
    let mut guard = a.readable().await.unwrap();
    log.add(format!("{:?}", guard.ready()));
    guard.clear_ready();
    let guard = a.readable().await.unwrap();
    log.add(format!("{:?}", guard.ready()));
    log.result("read", a.get_ref().read(&mut [0]));
}

pub(crate) async fn a_full_socket_is_writable_when_it_is_read(log: Log) {
    let (a, mut b) = pair();
    let mut written = 0;
    loop {
        let mut guard = a.writable().await.unwrap();
        match guard.try_io(|a| a.get_ref().write(&[7; 4096])) {
            Ok(bytes) => written += bytes.unwrap(),
            Err(_) => break,
        }
    }
    log.add(written > 0);
    let (full, is_full) = oneshot::channel();
    let writer = spawn(async move {
        full.send(()).unwrap();
        a.writable().await.map(|mut guard| guard.retain_ready())?;
        // It is open as long as it is read from.
        io::Result::Ok(a)
    });
    is_full.await.unwrap();
    let mut read = 0;
    while let Ok(bytes) = b.read(&mut [0; 4096]) {
        read += bytes;
    }
    log.add(read == written);
    log.done("writable", writer.await.unwrap());
}

pub(crate) async fn all_who_wait_are_told(log: Log) {
    let (a, mut b) = pair();
    let a = Arc::new(a);
    let wait = |_| {
        let a = Arc::clone(&a);
        spawn(async move { a.readable().await.unwrap().clear_ready() })
    };
    let waiting = (0..5).map(wait).collect::<Vec<_>>();
    tokio::task::yield_now().await;
    tokio::time::sleep(Duration::from_millis(1)).await;
    b.write_all(b"x").unwrap();
    for wait in waiting {
        log.add(wait.await.is_ok());
    }
}

pub(crate) async fn a_wait_that_is_given_up_leaves_nothing(log: Log) {
    let (a, mut b) = pair();
    for _ in 0..3 {
        log.add(is_readable(&a).await);
    }
    b.write_all(b"x").unwrap();
    log.add(is_readable(&a).await);
}

pub(crate) async fn what_cannot_be_watched_is_refused(log: Log) {
    struct Nothing;
    impl AsRawFd for Nothing {
        fn as_raw_fd(&self) -> RawFd {
            -1
        }
    }
    log.done("no descriptor", watched(Nothing, Interest::READABLE));
    let (a, _b) = pair();
    log.done("twice", watched(a.as_raw_fd(), Interest::READABLE));
    let inner = a.into_inner();
    log.done("again", watched(inner, Interest::READABLE));
}

pub(crate) async fn dropping_closes(log: Log) {
    let (a, mut b) = pair();
    log.done("open", b.read(&mut [0]));
    drop(a);
    log.result("closed", b.read(&mut [0]));
}
