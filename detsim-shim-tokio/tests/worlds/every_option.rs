//! Every option that socket2 has, of every kind of socket: what it reads as, what it may be set to. Those that a
//! simulation refuses to turn on are tested elsewhere.

use super::Log;
use super::tokio;

use std::fmt::{Debug, Display};
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use socket2::{Domain, Protocol, SockRef, Socket, Type};

/// The kinds that go through the internet.
fn kinds() -> [(&'static str, Socket); 4] {
    let open = |of, kind, protocol| Socket::new(of, kind, Some(protocol)).unwrap();
    [
        ("tcp", open(Domain::IPV4, Type::STREAM, Protocol::TCP)),
        ("tcp6", open(Domain::IPV6, Type::STREAM, Protocol::TCP)),
        ("udp", open(Domain::IPV4, Type::DGRAM, Protocol::UDP)),
        ("udp6", open(Domain::IPV6, Type::DGRAM, Protocol::UDP)),
    ]
}

fn shown<T: Debug>(log: &Log, name: &str, result: io::Result<T>) {
    log.result(name, result.map(|value| format!("{value:?}")));
}

/// An option: what it reads as before anybody sets it, and after each of these.
fn turn<T: Debug, V: Copy + Display>(
    log: &Log,
    name: &str,
    values: &[V],
    set: impl Fn(V) -> io::Result<()>,
    get: impl Fn() -> io::Result<T>,
) {
    shown(log, name, get());
    for value in values {
        log.done(&format!("{name} = {value}"), set(*value));
        shown(log, name, get());
    }
}

/// A row of options that take values of one kind.
macro_rules! turns {
    ($log:ident, $socket:ident, $values:expr, $($set:ident $get:ident)+) => { $(
        turn($log, stringify!($get), &$values, |value| $socket.$set(value), || $socket.$get());
    )+ };
}

const NUMBERS: [u32; 7] = [0, 1, 2, 64, 255, 256, u32::MAX];

fn of_the_socket(log: &Log, socket: &Socket) {
    turns!(log, socket, [true, false],
        set_broadcast broadcast
        set_keepalive keepalive
        set_reuse_address reuse_address
        set_reuse_port reuse_port);
    turns!(log, socket, [0, 1, 6], set_priority priority);
    turns!(log, socket, [0, 1, 4_096, 1 << 16],
        set_recv_buffer_size recv_buffer_size
        set_send_buffer_size send_buffer_size);
    turns!(log, socket, [false], set_out_of_band_inline out_of_band_inline set_passcred passcred);
    for time in [None, Some(Duration::from_millis(20)), Some(Duration::from_micros(1)), None] {
        log.done("read timeout", socket.set_read_timeout(time));
        shown(log, "read timeout", socket.read_timeout());
        log.done("write timeout", socket.set_write_timeout(time));
        shown(log, "write timeout", socket.write_timeout());
    }
    for time in [None, Some(Duration::from_millis(1_500)), None] {
        log.done("linger", socket.set_linger(time));
        shown(log, "linger", socket.linger());
    }
    shown(log, "error", socket.take_error().map(|error| error.map(|error| error.to_string())));
    shown(log, "listens", socket.is_listener());
    shown(log, "domain", socket.domain());
    shown(log, "type", socket.r#type());
    shown(log, "protocol", socket.protocol());
    shown(log, "device", socket.device());
    shown(log, "non-blocking", socket.nonblocking());
    log.done("non-blocking", socket.set_nonblocking(true));
    shown(log, "non-blocking", socket.nonblocking());
}

fn of_ipv4(log: &Log, socket: &Socket) {
    turns!(log, socket, [true, false],
        set_multicast_all_v4 multicast_all_v4
        set_multicast_loop_v4 multicast_loop_v4
        set_recv_tos_v4 recv_tos_v4);
    turns!(log, socket, NUMBERS,
        set_multicast_ttl_v4 multicast_ttl_v4
        set_ttl_v4 ttl_v4
        set_tos_v4 tos_v4);
    shown(log, "interface", socket.multicast_if_v4());
    log.done("interface", socket.set_multicast_if_v4(&Ipv4Addr::LOCALHOST));
    shown(log, "interface", socket.multicast_if_v4());
    log.done("interface", socket.set_multicast_if_v4(&Ipv4Addr::new(192, 0, 2, 77)));
    shown(log, "header", socket.header_included_v4());
}

fn of_ipv6(log: &Log, socket: &Socket) {
    turns!(log, socket, [true, false],
        set_multicast_all_v6 multicast_all_v6
        set_multicast_loop_v6 multicast_loop_v6
        set_only_v6 only_v6
        set_recv_tclass_v6 recv_tclass_v6
        set_recv_hoplimit_v6 recv_hoplimit_v6);
    turns!(log, socket, NUMBERS,
        set_multicast_hops_v6 multicast_hops_v6
        set_unicast_hops_v6 unicast_hops_v6
        set_tclass_v6 tclass_v6);
    turns!(log, socket, [0, 1, 77_777], set_multicast_if_v6 multicast_if_v6);
}

fn of_tcp(log: &Log, socket: &Socket) {
    turns!(log, socket, [true, false],
        set_tcp_nodelay tcp_nodelay
        set_tcp_cork tcp_cork
        set_tcp_quickack tcp_quickack
        set_tcp_thin_linear_timeouts tcp_thin_linear_timeouts);
    turns!(log, socket, [0, 1, 128 << 10], set_tcp_notsent_lowat tcp_notsent_lowat);
    turns!(log, socket, [0, 87, 88, 1_000, 32_768], set_tcp_mss tcp_mss);
    for millis in [0, 1, 5_000] {
        let time = Some(Duration::from_millis(millis));
        log.done("user timeout", socket.set_tcp_user_timeout(time));
        shown(log, "user timeout", socket.tcp_user_timeout());
    }
    shown(log, "idle", socket.tcp_keepalive_time());
    shown(log, "interval", socket.tcp_keepalive_interval());
    shown(log, "retries", socket.tcp_keepalive_retries());
    log.done("congestion", socket.set_tcp_congestion(b"reno"));
    log.done("congestion", socket.set_tcp_congestion(b"no such"));
    let name = socket.tcp_congestion();
    let name = name.map(|name| String::from_utf8_lossy(&name).trim_end_matches('\0').to_owned());
    log.result("congestion", name);
}

/// The options of one level, of all kinds.
macro_rules! levels {
    ($($program:ident: $of:ident)+) => { $(
        pub(crate) async fn $program(log: Log) {
            for (name, socket) in kinds() {
                log.add(name);
                $of(&log, &socket);
            }
        }
    )+ };
}

levels! {
    options_of_sockets: of_the_socket
    options_of_ipv4: of_ipv4
    options_of_ipv6: of_ipv6
    options_of_tcp: of_tcp
}

pub(crate) async fn groups_are_joined_and_left(log: Log) {
    let (v4, none) = (Ipv4Addr::new(239, 1, 2, 3), Ipv4Addr::UNSPECIFIED);
    let v6 = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 0x77);
    let source = Ipv4Addr::new(192, 0, 2, 1);
    for (name, socket) in kinds() {
        log.add(name);
        for _ in 0..2 {
            log.done("join", socket.join_multicast_v4(&v4, &Ipv4Addr::LOCALHOST));
        }
        for _ in 0..2 {
            log.done("leave", socket.leave_multicast_v4(&v4, &Ipv4Addr::LOCALHOST));
        }
        log.done("no group", socket.join_multicast_v4(&source, &Ipv4Addr::LOCALHOST));
        for _ in 0..2 {
            log.done("join v6", socket.join_multicast_v6(&v6, 1));
        }
        for _ in 0..2 {
            log.done("leave v6", socket.leave_multicast_v6(&v6, 1));
        }
        log.done("no group of v6", socket.join_multicast_v6(&Ipv6Addr::LOCALHOST, 1));
        let on = socket2::InterfaceIndexOrAddress::Index(1);
        log.done("join by number", socket.join_multicast_v4_n(&v4, &on));
        log.done("leave by number", socket.leave_multicast_v4_n(&v4, &on));
        log.done("leave", socket.leave_multicast_v4(&v4, &none));
    }
}

/// What is asked of the sockets of tokio, by their descriptors.
pub(crate) async fn sockets_of_tokio_know_what_they_are(log: Log) {
    for address in ["127.0.0.1:0", "[::1]:0"] {
        let udp = tokio::net::UdpSocket::bind(address).await.unwrap();
        let listener = tokio::net::TcpListener::bind(address).await.unwrap();
        let at = listener.local_addr().unwrap();
        let client = tokio::net::TcpStream::connect(at).await.unwrap();
        let (server, _) = listener.accept().await.unwrap();
        let sockets =
            [(&udp).into(), (&listener).into(), (&client).into(), SockRef::from(&server)];
        for socket in sockets {
            shown(&log, "listens", socket.is_listener());
            shown(&log, "domain", socket.domain());
            shown(&log, "type", socket.r#type());
            shown(&log, "protocol", socket.protocol());
            shown(&log, "only", socket.only_v6());
            shown(&log, "cork", socket.tcp_cork());
            shown(&log, "linger", socket.linger());
            shown(&log, "ttl", socket.ttl_v4());
            log.done("only, late", socket.set_only_v6(false));
        }
    }
}

/// Whether each hears what is sent to a group.
async fn heard(log: &Log, sockets: &[(&str, &tokio::net::UdpSocket)]) {
    for (name, socket) in sockets {
        let mut buf = [0; 8];
        let received = tokio::time::timeout(Duration::from_millis(20), socket.recv(&mut buf));
        let hears = received.await.is_ok();
        log.add(format!("{name} {hears}"));
    }
}

pub(crate) async fn a_group_is_heard_by_its_host(log: Log) {
    let (group, lo) = (Ipv4Addr::new(239, 7, 7, 7), Ipv4Addr::LOCALHOST);
    let open = |ip: Ipv4Addr, port: u16| {
        let socket = Socket::new(Domain::IPV4, Type::DGRAM, None).unwrap();
        socket.set_reuse_address(true).unwrap();
        socket.set_nonblocking(true).unwrap();
        socket.bind(&std::net::SocketAddr::from((ip, port)).into()).unwrap();
        tokio::net::UdpSocket::from_std(socket.into()).unwrap()
    };
    let member = open(Ipv4Addr::UNSPECIFIED, 0);
    let port = member.local_addr().unwrap().port();
    let other = open(Ipv4Addr::UNSPECIFIED, port);
    let modest = open(Ipv4Addr::UNSPECIFIED, port);
    let [at_address, at_group] = [lo, group].map(|ip| open(ip, port));
    let sender = open(lo, 0);
    SockRef::from(&sender).set_multicast_if_v4(&lo).unwrap();
    let all: [(&str, &tokio::net::UdpSocket); 5] = [
        ("member", &member),
        ("other", &other),
        ("modest", &modest),
        ("at an address", &at_address),
        ("at the group", &at_group),
    ];
    log.done("nobody is a member", sender.send_to(b"x", (group, port)).await);
    heard(&log, &all).await;
    member.join_multicast_v4(group, lo).unwrap();
    log.done("modest", SockRef::from(&modest).set_multicast_all_v4(false));
    log.done("one is a member", sender.send_to(b"x", (group, port)).await);
    heard(&log, &all).await;
    at_address.join_multicast_v4(group, lo).unwrap();
    modest.join_multicast_v4(group, lo).unwrap();
    log.done("three are members", sender.send_to(b"x", (group, port)).await);
    heard(&log, &all).await;
}

pub(crate) async fn one_datagram_always_fits(log: Log) {
    let receiver = tokio::net::UdpSocket::bind("127.0.0.1:0").await.unwrap();
    SockRef::from(&receiver).set_recv_buffer_size(0).unwrap();
    let sender = tokio::net::UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let to = receiver.local_addr().unwrap();
    for _ in 0..2 {
        log.result("send", sender.send_to(&[7; 20_000], to).await);
    }
    tokio::time::sleep(Duration::from_millis(10)).await;
    log.result("receive", receiver.try_recv(&mut [0; 30_000]));
    log.result("receive", receiver.try_recv(&mut [0; 30_000]));
}
