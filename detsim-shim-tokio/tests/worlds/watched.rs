//! Programs that have tokio watch std's sockets by their descriptors.

use super::Log;
use super::tokio;

use std::io::{ErrorKind, Read, Write};
use std::mem::MaybeUninit;
use std::net::{Shutdown, TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsRawFd;
use std::time::Duration;

use socket2::SockRef;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::time::{sleep, timeout};

const ANY: &str = "127.0.0.1:0";
const BOTH: Interest = Interest::READABLE.add(Interest::WRITABLE);

#[expect(deprecated, reason = "the form that every tokio 1 has")]
fn watched<T: AsRawFd>(inner: T, interest: Interest) -> AsyncFd<T> {
    AsyncFd::with_interest(inner, interest).unwrap()
}

/// A connection, both ends of which never wait.
fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind(ANY).unwrap();
    let a = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let b = listener.accept().unwrap().0;
    a.set_nonblocking(true).unwrap();
    b.set_nonblocking(true).unwrap();
    (a, b)
}

pub(crate) async fn an_echo_over_watched_streams_of_std(log: Log) {
    let listener = TcpListener::bind(ANY).unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    let listener = watched(listener, Interest::READABLE);
    let server = tokio::spawn(async move {
        let accept = |listener: &TcpListener| listener.accept();
        let (stream, _) = listener.async_io(Interest::READABLE, accept).await.unwrap();
        stream.set_nonblocking(true).unwrap();
        let stream = watched(stream, BOTH);
        let mut buffer = [0; 64];
        loop {
            let read = |mut stream: &TcpStream| stream.read(&mut buffer);
            let bytes = stream.async_io(Interest::READABLE, read).await.unwrap();
            if bytes == 0 {
                return stream.get_ref().shutdown(Shutdown::Write).unwrap();
            }
            let write = |mut stream: &TcpStream| stream.write(&buffer[..bytes]);
            stream.async_io(Interest::WRITABLE, write).await.unwrap();
        }
    });
    let stream = TcpStream::connect(address).unwrap();
    stream.set_nonblocking(true).unwrap();
    let stream = watched(stream, BOTH);
    for part in ["one", "two", "three"] {
        stream.get_ref().write_all(part.as_bytes()).unwrap();
        let mut back = [0; 8];
        let read = |mut stream: &TcpStream| stream.read(&mut back);
        let bytes = stream.async_io(Interest::READABLE, read).await.unwrap();
        log.add(String::from_utf8_lossy(&back[..bytes]));
    }
    stream.get_ref().shutdown(Shutdown::Write).unwrap();
    server.await.unwrap();
    sleep(Duration::from_millis(20)).await;
    let mut guard = stream.readable().await.unwrap();
    log.add(guard.ready().is_read_closed());
    let read = guard.try_io(|stream| stream.get_ref().read(&mut [0; 8])).unwrap();
    log.result("end", read);
}

pub(crate) async fn changes_of_a_watched_stream_are_told_once(log: Log) {
    let (a, mut b) = pair();
    let a = watched(a, Interest::READABLE);
    let brief = Duration::from_millis(30);
    log.add(timeout(brief, a.readable()).await.is_err());
    b.write_all(b"abcd").unwrap();
    let mut guard = a.readable().await.unwrap();
    log.done("part", a.get_ref().read_exact(&mut [0; 2]));
    guard.clear_ready();
    // What is left is no change.
    log.add(timeout(brief, a.readable()).await.is_err());
    b.write_all(b"e").unwrap();
    let mut guard = timeout(brief, a.readable()).await.unwrap().unwrap();
    log.done("rest", a.get_ref().read_exact(&mut [0; 3]));
    let empty = guard.try_io(|a| a.get_ref().read(&mut [0]));
    log.add(empty.is_err());
    drop(b);
    let guard = a.readable().await.unwrap();
    log.add(format!("{:?}", guard.ready()));
}

pub(crate) async fn a_writer_waits_by_its_descriptor(log: Log) {
    let (a, mut b) = pair();
    let a = watched(a, Interest::WRITABLE);
    let mut written = 0;
    loop {
        let mut guard = a.writable().await.unwrap();
        match guard.try_io(|a| a.get_ref().write(&[7; 65_536])) {
            Ok(bytes) => written += bytes.unwrap(),
            Err(_would_block) => break,
        }
        sleep(Duration::from_millis(1)).await;
    }
    log.add(written > 65_536);
    let reader = tokio::spawn(async move {
        let (mut buffer, mut read) = (vec![0; 65_536], 0);
        while read < written {
            match b.read(&mut buffer) {
                Ok(bytes) => read += bytes,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    sleep(Duration::from_millis(1)).await;
                }
                Err(error) => panic!("{error}"),
            }
        }
    });
    a.writable().await.unwrap().retain_ready();
    log.add("writable again");
    reader.await.unwrap();
}

pub(crate) async fn an_error_of_a_watched_socket_is_told(log: Log) {
    let socket = UdpSocket::bind(ANY).unwrap();
    socket.set_nonblocking(true).unwrap();
    socket.connect(ANY).unwrap();
    let socket = watched(socket, BOTH);
    let error = timeout(Duration::from_millis(20), socket.ready(Interest::ERROR));
    log.add(error.await.is_err());
    // Nobody has port 0.
    log.result("sent", socket.get_ref().send(b"hello"));
    let guard = socket.ready(Interest::ERROR).await.unwrap();
    log.add(format!("{:?}", guard.ready()));
    log.result("told", socket.get_ref().send(b"hello"));
    log.done("named", socket.get_ref().send_to(b"hello", ANY));
}

fn take_urgent(from: &TcpStream) -> std::io::Result<usize> {
    SockRef::from(from).recv_out_of_band(&mut [MaybeUninit::uninit(); 8])
}

pub(crate) async fn an_urgent_byte_is_told_and_is_no_part_of_the_stream(log: Log) {
    let (a, b) = pair();
    let a = watched(a, Interest::READABLE.add(Interest::PRIORITY));
    log.result("nothing yet", take_urgent(a.get_ref()));
    log.result("sent", SockRef::from(&b).send_out_of_band(b"hello"));
    let mut guard = a.ready(Interest::PRIORITY).await.unwrap();
    log.add(guard.ready().is_priority());
    guard.clear_ready();
    let mut told = [0; 8];
    let bytes = a.get_ref().read(&mut told).unwrap();
    log.add(String::from_utf8_lossy(&told[..bytes]));
    log.result("taken", take_urgent(a.get_ref()));
    log.result("once", take_urgent(a.get_ref()));
    log.result("alone", SockRef::from(&b).send_out_of_band(b"!"));
    a.ready(Interest::PRIORITY).await.unwrap().retain_ready();
    log.result("taken", take_urgent(a.get_ref()));
    log.result("stream", a.get_ref().read(&mut told));
}
