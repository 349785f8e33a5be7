//! Programs whose sockets for datagrams are shut in one direction or both. An async receive of one that is
//! shut for reading is none of them: tokio turns in a circle there and never comes back.

use super::Log;
use super::tokio;

use std::net::{Shutdown, UdpSocket};
use std::os::unix::net::UnixDatagram;
use std::thread;
use std::time::Duration;

use socket2::SockRef;
use tokio::io::{Interest, Ready};
use tokio::net;

const ANY: &str = "127.0.0.1:0";

fn udp_pair() -> (UdpSocket, UdpSocket) {
    let [a, b] = [ANY, ANY].map(|any| UdpSocket::bind(any).unwrap());
    a.connect(b.local_addr().unwrap()).unwrap();
    b.connect(a.local_addr().unwrap()).unwrap();
    (a, b)
}

/// What blocks and what does not, of one kind of socket as of the other.
macro_rules! receives {
    ($log:ident, $a:ident, $b:ident) => {
        $b.send(b"queued").unwrap();
        $log.done("shut", SockRef::from(&$a).shutdown(Shutdown::Read));
        $log.result("queued", $a.recv(&mut [0; 8]));
        $log.result("blocks", $a.recv(&mut [0; 8]));
        $log.result("peer", $b.send(b"later"));
        $a.set_nonblocking(true).unwrap();
        $log.result("later", $a.recv(&mut [0; 8]));
        $log.result("does not block", $a.recv(&mut [0; 8]));
        $a.set_nonblocking(false).unwrap();
        $a.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        $log.result("in time", $a.recv(&mut [0; 8]));
        $log.result("sends", $a.send(b"x"));
        $log.done("again", SockRef::from(&$a).shutdown(Shutdown::Both));
        $log.result("sends no more", $a.send(b"x"));
        $log.result("sends nothing either", $a.send(b""));
        $log.result("peer", $b.recv(&mut [0; 8]));
    };
}

pub(crate) async fn datagrams_of_udp_shut_for_reading(log: Log) {
    let (a, b) = udp_pair();
    receives!(log, a, b);
}

pub(crate) async fn local_datagrams_shut_for_reading(log: Log) {
    let (a, b) = UnixDatagram::pair().unwrap();
    receives!(log, a, b);
}

pub(crate) async fn a_socket_without_a_peer_is_shut_all_the_same(log: Log) {
    let (a, b) = (UdpSocket::bind(ANY).unwrap(), UdpSocket::bind(ANY).unwrap());
    let to = b.local_addr().unwrap();
    log.done("shut", SockRef::from(&a).shutdown(Shutdown::Read));
    log.result("blocks", a.recv(&mut [0; 8]));
    log.result("sends", a.send_to(b"x", to));
    log.done("shut", SockRef::from(&a).shutdown(Shutdown::Write));
    log.result("sends no more", a.send_to(b"x", to));
    a.connect(to).unwrap();
    log.result("nor to a peer", a.send(b"x"));
    log.result("too much", a.send(&[0; 65_508]));
}

pub(crate) async fn a_thread_that_receives_hears_of_a_shutdown(log: Log) {
    let (a, _b) = udp_pair();
    let receiver = a.try_clone().unwrap();
    let received = thread::spawn(move || receiver.recv(&mut [0; 8]).map_err(|e| e.kind()));
    tokio::time::sleep(Duration::from_millis(20)).await;
    SockRef::from(&a).shutdown(Shutdown::Read).unwrap();
    log.add(format!("{:?}", received.join().unwrap()));
}

async fn told(log: &Log, ready: impl Future<Output = std::io::Result<Ready>>) {
    // What was shut is told by the next turn of the driver.
    tokio::time::sleep(Duration::from_millis(5)).await;
    log.add(format!("{:?}", ready.await.unwrap()));
}

pub(crate) async fn tries_of_what_is_shut_find_nothing(log: Log) {
    let both = Interest::READABLE | Interest::WRITABLE;
    let (a, b) = net::UnixDatagram::pair().unwrap();
    b.send(b"queued").await.unwrap();
    log.done("shut", a.shutdown(Shutdown::Read));
    told(&log, a.ready(both)).await;
    log.result("queued", a.recv(&mut [0; 8]).await);
    for _ in 0..2 {
        log.result("try", a.try_recv(&mut [0; 8]));
        log.done("readable", a.readable().await);
    }
    told(&log, a.ready(both)).await;
    log.done("shut", a.shutdown(Shutdown::Both));
    told(&log, a.ready(both)).await;
    log.result("send", a.send(b"x").await);

    let (a, b) = udp_pair();
    a.set_nonblocking(true).unwrap();
    let a = net::UdpSocket::from_std(a).unwrap();
    b.send(b"queued").unwrap();
    log.done("shut", SockRef::from(&a).shutdown(Shutdown::Read));
    told(&log, a.ready(both)).await;
    log.result("queued", a.recv(&mut [0; 8]).await);
    log.result("try", a.try_recv(&mut [0; 8]));
    log.done("readable", a.readable().await);
    log.done("shut", SockRef::from(&a).shutdown(Shutdown::Write));
    told(&log, a.ready(both)).await;
    log.result("send", a.send(b"x").await);
}

pub(crate) async fn a_stream_that_is_shut_for_writing_is_not_closed_yet(log: Log) {
    let both = Interest::READABLE | Interest::WRITABLE;
    let (a, b) = net::UnixStream::pair().unwrap();
    SockRef::from(&a).shutdown(Shutdown::Write).unwrap();
    told(&log, a.ready(both)).await;
    told(&log, b.ready(both)).await;
    SockRef::from(&b).shutdown(Shutdown::Write).unwrap();
    told(&log, a.ready(both)).await;
    told(&log, b.ready(both)).await;
}
