//! Streams, listeners and datagrams of the network: every method, by its type.
#![expect(clippy::type_complexity, reason = "these are the types")]
#![expect(dead_code, reason = "it is compiled, not called")]
#![expect(deprecated, reason = "it is there all the same")]

use super::tokio;
use crate::parity::any;
use std::io;
use std::net::{self, IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, IntoRawFd};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf, Ready};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf, ReadHalf, ReuniteError, WriteHalf};
use tokio::net::{TcpListener, TcpSocket, TcpStream, ToSocketAddrs, UdpSocket, lookup_host};

listener_rows!(tcp_listener_rows tcp_listener_waits: TcpListener TcpStream);

pub(in crate::parity) fn tcp_listener() {
    let _: fn(&TcpListener) -> io::Result<u32> = TcpListener::ttl;
    let _: fn(&TcpListener, u32) -> io::Result<()> = TcpListener::set_ttl;
}

pub(in crate::parity) async fn tcp_listener_binds() {
    let _: io::Result<TcpListener> = TcpListener::bind(any::<&str>()).await;
}

socket_rows!(tcp_stream_as_socket tcp_stream_waits: TcpStream poll_read_ready poll_write_ready);
stream_rows!(tcp_stream_rows: TcpStream);

pub(in crate::parity) fn tcp_stream() {
    let _: fn(&TcpStream, &mut Context<'_>, &mut ReadBuf<'_>) -> Poll<io::Result<usize>> =
        TcpStream::poll_peek;
    let _: [fn(&TcpStream) -> io::Result<bool>; 2] = [TcpStream::nodelay, TcpStream::quickack];
    let _: [fn(&TcpStream, bool) -> io::Result<()>; 2] =
        [TcpStream::set_nodelay, TcpStream::set_quickack];
    let _: fn(&TcpStream) -> io::Result<Option<Duration>> = TcpStream::linger;
    let _: fn(&TcpStream, Option<Duration>) -> io::Result<()> = TcpStream::set_linger;
    let _: fn(&TcpStream) -> io::Result<()> = TcpStream::set_zero_linger;
    let _: fn(&TcpStream) -> io::Result<u32> = TcpStream::ttl;
    let _: fn(&TcpStream, u32) -> io::Result<()> = TcpStream::set_ttl;
}

pub(in crate::parity) async fn tcp_stream_connects() {
    let _: io::Result<TcpStream> = TcpStream::connect(any::<&str>()).await;
    let _: io::Result<usize> = TcpStream::peek(any::<&TcpStream>(), any::<&mut [u8]>()).await;
}

pub(in crate::parity) fn tcp_socket() {
    let _: [fn() -> io::Result<TcpSocket>; 2] = [TcpSocket::new_v4, TcpSocket::new_v6];
    let _: [fn(&TcpSocket, bool) -> io::Result<()>; 4] = [
        TcpSocket::set_keepalive,
        TcpSocket::set_reuseaddr,
        TcpSocket::set_reuseport,
        TcpSocket::set_nodelay,
    ];
    let _: [fn(&TcpSocket) -> io::Result<bool>; 4] =
        [TcpSocket::keepalive, TcpSocket::reuseaddr, TcpSocket::reuseport, TcpSocket::nodelay];
    let _: [fn(&TcpSocket, u32) -> io::Result<()>; 5] = [
        TcpSocket::set_send_buffer_size,
        TcpSocket::set_recv_buffer_size,
        TcpSocket::set_tclass_v6,
        TcpSocket::set_tos_v4,
        TcpSocket::set_tos,
    ];
    let _: [fn(&TcpSocket) -> io::Result<u32>; 5] = [
        TcpSocket::send_buffer_size,
        TcpSocket::recv_buffer_size,
        TcpSocket::tclass_v6,
        TcpSocket::tos_v4,
        TcpSocket::tos,
    ];
    let _: fn(&TcpSocket, Option<Duration>) -> io::Result<()> = TcpSocket::set_linger;
    let _: fn(&TcpSocket) -> io::Result<()> = TcpSocket::set_zero_linger;
    let _: fn(&TcpSocket) -> io::Result<Option<Duration>> = TcpSocket::linger;
    let _: fn(&TcpSocket) -> io::Result<Option<Vec<u8>>> = TcpSocket::device;
    let _: fn(&TcpSocket, Option<&[u8]>) -> io::Result<()> = TcpSocket::bind_device;
    let _: fn(&TcpSocket) -> io::Result<SocketAddr> = TcpSocket::local_addr;
    let _: fn(&TcpSocket) -> io::Result<Option<io::Error>> = TcpSocket::take_error;
    let _: fn(&TcpSocket, SocketAddr) -> io::Result<()> = TcpSocket::bind;
    let _: fn(TcpSocket, u32) -> io::Result<TcpListener> = TcpSocket::listen;
    let _: fn(net::TcpStream) -> TcpSocket = TcpSocket::from_std_stream;
}

pub(in crate::parity) async fn tcp_socket_waits() {
    let _: io::Result<TcpStream> =
        TcpSocket::connect(any::<TcpSocket>(), any::<SocketAddr>()).await;
}

read_half_rows!(tcp_read_half tcp_read_half_waits: ReadHalf<'static>);
read_half_rows!(tcp_owned_read_half tcp_owned_read_half_waits: OwnedReadHalf);
write_half_rows!(tcp_write_half tcp_write_half_waits: WriteHalf<'static>);
write_half_rows!(tcp_owned_write_half tcp_owned_write_half_waits: OwnedWriteHalf);

pub(in crate::parity) async fn tcp_read_halves_peek() {
    let _: fn(
        &mut ReadHalf<'static>,
        &mut Context<'_>,
        &mut ReadBuf<'_>,
    ) -> Poll<io::Result<usize>> = ReadHalf::poll_peek;
    let _: fn(&mut OwnedReadHalf, &mut Context<'_>, &mut ReadBuf<'_>) -> Poll<io::Result<usize>> =
        OwnedReadHalf::poll_peek;
    let _: io::Result<usize> =
        ReadHalf::peek(any::<&mut ReadHalf<'static>>(), any::<&mut [u8]>()).await;
}

socket_rows!(udp_socket_as_socket udp_socket_waits: UdpSocket poll_send_ready poll_recv_ready);
datagram_rows!(udp_socket_rows udp_socket_receives: UdpSocket);

pub(in crate::parity) fn udp_socket() {
    let _: fn(&UdpSocket) -> io::Result<SocketAddr> = UdpSocket::try_peek_sender;
    let _: fn(&UdpSocket, &mut Context<'_>, &mut ReadBuf<'_>) -> Poll<io::Result<()>> =
        UdpSocket::poll_peek;
    let _: fn(&UdpSocket, &mut [u8]) -> io::Result<usize> = UdpSocket::try_peek;
    let _: fn(&UdpSocket, &mut Context<'_>, &[u8], SocketAddr) -> Poll<io::Result<usize>> =
        UdpSocket::poll_send_to;
    let _: fn(&UdpSocket, &[u8], SocketAddr) -> io::Result<usize> = UdpSocket::try_send_to;
    let _: fn(&UdpSocket, &mut Context<'_>, &mut ReadBuf<'_>) -> Poll<io::Result<SocketAddr>> =
        UdpSocket::poll_peek_from;
    let _: fn(&UdpSocket, &mut [u8]) -> io::Result<(usize, SocketAddr)> = UdpSocket::try_peek_from;
    let _: fn(&UdpSocket, &mut Context<'_>) -> Poll<io::Result<SocketAddr>> =
        UdpSocket::poll_peek_sender;
    let _: [fn(&UdpSocket) -> io::Result<bool>; 3] =
        [UdpSocket::broadcast, UdpSocket::multicast_loop_v4, UdpSocket::multicast_loop_v6];
    let _: [fn(&UdpSocket, bool) -> io::Result<()>; 3] = [
        UdpSocket::set_broadcast,
        UdpSocket::set_multicast_loop_v4,
        UdpSocket::set_multicast_loop_v6,
    ];
    let _: [fn(&UdpSocket) -> io::Result<u32>; 5] = [
        UdpSocket::multicast_ttl_v4,
        UdpSocket::tclass_v6,
        UdpSocket::ttl,
        UdpSocket::tos_v4,
        UdpSocket::tos,
    ];
    let _: [fn(&UdpSocket, u32) -> io::Result<()>; 5] = [
        UdpSocket::set_multicast_ttl_v4,
        UdpSocket::set_tclass_v6,
        UdpSocket::set_ttl,
        UdpSocket::set_tos_v4,
        UdpSocket::set_tos,
    ];
    let _: fn(&UdpSocket) -> io::Result<Option<Vec<u8>>> = UdpSocket::device;
    let _: fn(&UdpSocket, Option<&[u8]>) -> io::Result<()> = UdpSocket::bind_device;
    let _: [fn(&UdpSocket, Ipv4Addr, Ipv4Addr) -> io::Result<()>; 2] =
        [UdpSocket::join_multicast_v4, UdpSocket::leave_multicast_v4];
    let _: [fn(&UdpSocket, &Ipv6Addr, u32) -> io::Result<()>; 2] =
        [UdpSocket::join_multicast_v6, UdpSocket::leave_multicast_v6];
}

pub(in crate::parity) async fn udp_socket_binds() {
    let _: io::Result<UdpSocket> = UdpSocket::bind(any::<&str>()).await;
    let _: io::Result<()> = UdpSocket::connect(any::<&UdpSocket>(), any::<&str>()).await;
    let _: io::Result<usize> =
        UdpSocket::send_to(any::<&UdpSocket>(), any::<&[u8]>(), any::<&str>()).await;
    let _: io::Result<usize> = UdpSocket::peek(any::<&UdpSocket>(), any::<&mut [u8]>()).await;
    let _: io::Result<(usize, SocketAddr)> =
        UdpSocket::peek_from(any::<&UdpSocket>(), any::<&mut [u8]>()).await;
    let _: io::Result<SocketAddr> = UdpSocket::peek_sender(any::<&UdpSocket>()).await;
}

fn descriptor<T: AsFd + AsRawFd>() {}

fn stream<T: AsyncRead + AsyncWrite + AsRef<T>>() {}

fn addresses<T: ToSocketAddrs>() {}

pub(in crate::parity) fn tcp_traits() {
    descriptor::<TcpListener>();
    descriptor::<TcpSocket>();
    descriptor::<TcpStream>();
    descriptor::<UdpSocket>();
    stream::<TcpStream>();
    let _ = TcpSocket::from_raw_fd;
    let _: fn(TcpSocket) -> i32 = TcpSocket::into_raw_fd;
    reads::<ReadHalf<'static>>();
    reads::<OwnedReadHalf>();
    writes::<WriteHalf<'static>>();
    writes::<OwnedWriteHalf>();
    addresses::<SocketAddr>();
    addresses::<SocketAddrV4>();
    addresses::<SocketAddrV6>();
    addresses::<(IpAddr, u16)>();
    addresses::<(Ipv4Addr, u16)>();
    addresses::<(Ipv6Addr, u16)>();
    addresses::<&[SocketAddr]>();
    addresses::<(&str, u16)>();
    addresses::<(String, u16)>();
    addresses::<String>();
    addresses::<&str>();
}

fn reads<T: AsyncRead>() {}

fn writes<T: AsyncWrite>() {}

pub(in crate::parity) async fn lookups() -> io::Result<impl Iterator<Item = SocketAddr>> {
    lookup_host("localhost:80").await
}
