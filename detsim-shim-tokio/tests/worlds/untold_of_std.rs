//! Programs that give tokio sockets of std, of which its driver knows nothing yet.

use super::Log;
use super::tokio;
use super::untold::{at_once, turn};

use std::io::Write;
use std::net;
use std::os::unix::net as local;

use tokio::io::AsyncReadExt;
use tokio::net::{TcpStream, UdpSocket, UnixDatagram, UnixStream};

pub(crate) async fn a_stream_of_std_is_new_to_tokio(log: Log) {
    let (mut a, b) = local::UnixStream::pair().unwrap();
    b.set_nonblocking(true).unwrap();
    a.write_all(b"hello").unwrap();
    let mut b = UnixStream::from_std(b).unwrap();
    let mut buf = [0; 8];
    log.result("read", b.try_read(&mut buf));
    log.result("write", b.try_write(b"x"));
    at_once(&log, "read", b.read(&mut buf));
    turn().await;
    at_once(&log, "read", b.read(&mut buf));
    a.write_all(b"more").unwrap();
    at_once(&log, "read", b.read(&mut buf));
    log.result("write", b.try_write(b"x"));
    turn().await;
    at_once(&log, "read", b.read(&mut buf));
}

pub(crate) async fn a_connection_of_std_is_new_to_tokio(log: Log) {
    let listener = net::TcpListener::bind("127.0.0.1:0").unwrap();
    let mut a = net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (b, _) = listener.accept().unwrap();
    b.set_nonblocking(true).unwrap();
    a.write_all(b"hello").unwrap();
    turn().await;
    let mut b = TcpStream::from_std(b).unwrap();
    let mut buf = [0; 8];
    log.result("read", b.try_read(&mut buf));
    log.result("write", b.try_write(b"x"));
    at_once(&log, "read", b.read(&mut buf));
    turn().await;
    at_once(&log, "read", b.read(&mut buf));
    log.result("write", b.try_write(b"x"));
}

pub(crate) async fn datagrams_of_std_are_new_to_tokio(log: Log) {
    let a = net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let b = net::UdpSocket::bind("127.0.0.1:0").unwrap();
    b.set_nonblocking(true).unwrap();
    let mut buf = [0; 8];
    a.send_to(b"std", b.local_addr().unwrap()).unwrap();
    log.result("recv", b.recv(&mut buf));
    a.send_to(b"tokio", b.local_addr().unwrap()).unwrap();
    let b = UdpSocket::from_std(b).unwrap();
    log.result("recv", b.try_recv(&mut buf));
    turn().await;
    log.result("recv", b.try_recv(&mut buf));
    let (c, d) = local::UnixDatagram::pair().unwrap();
    d.set_nonblocking(true).unwrap();
    c.send(b"local").unwrap();
    let d = UnixDatagram::from_std(d).unwrap();
    log.result("recv", d.try_recv(&mut buf));
    turn().await;
    log.result("recv", d.try_recv(&mut buf));
}
