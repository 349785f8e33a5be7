//! Programs that set options to what Linux takes, and to what it does not.

use super::Log;
use super::tokio;

use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream, UdpSocket};
use tokio::time::sleep;

const ANY: &str = "127.0.0.1:0";

/// Within a byte and beyond it, -1 and -2 as the kernel sees them, and both ends of an `int`.
const VALUES: [u32; 15] = [
    0,
    1,
    2,
    3,
    4,
    7,
    127,
    128,
    255,
    256,
    300,
    u32::MAX,
    u32::MAX - 1,
    i32::MAX.cast_unsigned(),
    i32::MIN.cast_unsigned(),
];

async fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind(ANY).await.unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    (client, listener.accept().await.unwrap().0)
}

/// An option over all values: what setting says, and what it reads as then.
fn sweep(
    log: &Log,
    name: &str,
    set: impl Fn(u32) -> io::Result<()>,
    get: impl Fn() -> io::Result<u32>,
) {
    log.result(name, get());
    for value in VALUES {
        log.done(&format!("{name} = {value}"), set(value));
        log.result(name, get());
    }
}

pub(crate) async fn times_to_live_have_bounds(log: Log) {
    let (client, _server) = pair().await;
    sweep(&log, "tcp", |value| client.set_ttl(value), || client.ttl());
    for address in [ANY, "[::1]:0"] {
        let socket = UdpSocket::bind(address).await.unwrap();
        sweep(&log, address, |value| socket.set_ttl(value), || socket.ttl());
    }
}

pub(crate) async fn a_listener_checks_its_ttl(log: Log) {
    let listener = TcpListener::bind(ANY).await.unwrap();
    sweep(&log, "listener", |value| listener.set_ttl(value), || listener.ttl());
    listener.set_ttl(9).unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    log.result("client", client.ttl());
    log.result("accepted", listener.accept().await.unwrap().0.ttl());
}

pub(crate) async fn tcp_keeps_bits_of_the_class_of_service(log: Log) {
    let (v4, v6) = (TcpSocket::new_v4().unwrap(), TcpSocket::new_v6().unwrap());
    sweep(&log, "tos", |value| v4.set_tos_v4(value), || v4.tos_v4());
    sweep(&log, "tos on v6", |value| v6.set_tos_v4(value), || v6.tos_v4());
    sweep(&log, "class", |value| v6.set_tclass_v6(value), || v6.tclass_v6());
}

pub(crate) async fn datagrams_keep_all_of_the_class_of_service(log: Log) {
    let v4 = UdpSocket::bind(ANY).await.unwrap();
    let v6 = UdpSocket::bind("[::1]:0").await.unwrap();
    sweep(&log, "tos", |value| v4.set_tos_v4(value), || v4.tos_v4());
    sweep(&log, "tos on v6", |value| v6.set_tos_v4(value), || v6.tos_v4());
    sweep(&log, "class", |value| v6.set_tclass_v6(value), || v6.tclass_v6());
}

pub(crate) async fn options_of_the_other_family(log: Log) {
    let tcp = TcpSocket::new_v4().unwrap();
    sweep(&log, "tcp", |value| tcp.set_tclass_v6(value), || tcp.tclass_v6());
    let udp = UdpSocket::bind(ANY).await.unwrap();
    sweep(&log, "udp", |value| udp.set_tclass_v6(value), || udp.tclass_v6());
    for on in [false, true] {
        log.done("loop", udp.set_multicast_loop_v6(on));
        log.result("loop", udp.multicast_loop_v6());
    }
    let v6 = UdpSocket::bind("[::1]:0").await.unwrap();
    for on in [false, true] {
        log.done("loop", v6.set_multicast_loop_v6(on));
        log.result("loop", v6.multicast_loop_v6());
        log.done("loop of v4", v6.set_multicast_loop_v4(on));
        log.result("loop of v4", v6.multicast_loop_v4());
    }
}

pub(crate) async fn groups_have_bounds(log: Log) {
    for address in [ANY, "[::1]:0"] {
        let socket = UdpSocket::bind(address).await.unwrap();
        let set = |value| socket.set_multicast_ttl_v4(value);
        sweep(&log, address, set, || socket.multicast_ttl_v4());
    }
}

#[expect(deprecated, reason = "what it does is what is tested")]
pub(crate) async fn lingering_is_whole_seconds(log: Log) {
    let (client, _server) = pair().await;
    let socket = TcpSocket::new_v4().unwrap();
    let times = [0, 1, 400, 999, 1_000, 1_500, 3_000].map(Duration::from_millis);
    let long = [i32::MAX as u64, 1 << 32, (1 << 32) + 5].map(Duration::from_secs);
    for time in times.into_iter().chain(long).map(Some).chain([None]) {
        log.done("linger", client.set_linger(time));
        log.add(format!("{:?}", client.linger()));
        log.done("linger", socket.set_linger(time));
        log.add(format!("{:?}", socket.linger()));
    }
    client.set_zero_linger().unwrap();
    log.add(format!("{:?}", client.linger()));
    client.set_linger(None).unwrap();
}

#[expect(deprecated, reason = "what it does is what is tested")]
pub(crate) async fn less_than_a_second_of_lingering_resets(log: Log) {
    for time in [400, 1_400] {
        let (mut client, mut server) = pair().await;
        client.set_linger(Some(Duration::from_millis(time))).unwrap();
        client.write_all(b"bye").await.unwrap();
        sleep(Duration::from_millis(20)).await;
        drop(client);
        sleep(Duration::from_millis(20)).await;
        log.result("read", server.read(&mut [0; 8]).await);
        log.result("read", server.read(&mut [0; 8]).await);
    }
}

pub(crate) async fn a_name_of_nobody_has_a_kind(log: Log) {
    let error = TcpStream::connect("no-such-name.invalid:80").await.unwrap_err();
    log.add(format!("{:?} {:?}", error.kind(), error.raw_os_error()));
    log.add(error.to_string().starts_with("failed to lookup address information: "));
}

/// By the descriptor, as a program does that wants more than tokio offers.
pub(crate) async fn options_are_checked_by_socket2(log: Log) {
    let (client, _server) = pair().await;
    let socket = socket2::SockRef::from(&client);
    sweep(&log, "ttl", |value| socket.set_ttl_v4(value), || socket.ttl_v4());
    sweep(&log, "tos", |value| socket.set_tos_v4(value), || socket.tos_v4());
    log.result("ttl", client.ttl());
    for seconds in [0, 1, 32_767, 32_768] {
        let seconds = Duration::from_secs(seconds);
        let alive = socket2::TcpKeepalive::new().with_interval(seconds);
        log.done("interval", socket.set_tcp_keepalive(&alive));
        log.add(format!("{:?}", socket.tcp_keepalive_interval()));
    }
    for count in [0, 1, 127, 128] {
        let alive = socket2::TcpKeepalive::new().with_retries(count);
        log.done("count", socket.set_tcp_keepalive(&alive));
        log.add(format!("{:?}", socket.tcp_keepalive_retries()));
    }
}

pub(crate) async fn hops_of_v6_are_no_ttl(log: Log) {
    let udp = UdpSocket::bind("[::1]:0").await.unwrap();
    let tcp = TcpListener::bind("[::1]:0").await.unwrap();
    for socket in [socket2::SockRef::from(&udp), socket2::SockRef::from(&tcp)] {
        let set = |value| socket.set_unicast_hops_v6(value);
        sweep(&log, "hops", set, || socket.unicast_hops_v6());
        log.result("ttl", socket.ttl_v4());
    }
    let v4 = UdpSocket::bind(ANY).await.unwrap();
    log.done("v4", socket2::SockRef::from(&v4).set_unicast_hops_v6(7));
    log.result("v4", socket2::SockRef::from(&v4).unicast_hops_v6());
}
