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

pub(in crate::parity) fn tcp_listener() {
    let _: fn(&TcpListener, &mut Context<'_>) -> Poll<io::Result<(TcpStream, SocketAddr)>> =
        TcpListener::poll_accept;
    let _: fn(net::TcpListener) -> io::Result<TcpListener> = TcpListener::from_std;
    let _: fn(TcpListener) -> io::Result<net::TcpListener> = TcpListener::into_std;
    let _: fn(&TcpListener) -> io::Result<SocketAddr> = TcpListener::local_addr;
    let _: fn(&TcpListener) -> io::Result<u32> = TcpListener::ttl;
    let _: fn(&TcpListener, u32) -> io::Result<()> = TcpListener::set_ttl;
}

pub(in crate::parity) async fn tcp_listener_waits() {
    let _: io::Result<TcpListener> = TcpListener::bind(any::<&str>()).await;
    let _: io::Result<(TcpStream, SocketAddr)> = TcpListener::accept(any::<&TcpListener>()).await;
}

pub(in crate::parity) fn tcp_stream() {
    let _: fn(net::TcpStream) -> io::Result<TcpStream> = TcpStream::from_std;
    let _: fn(TcpStream) -> io::Result<net::TcpStream> = TcpStream::into_std;
    let _: [fn(&TcpStream) -> io::Result<SocketAddr>; 2] =
        [TcpStream::local_addr, TcpStream::peer_addr];
    let _: fn(&TcpStream) -> io::Result<Option<io::Error>> = TcpStream::take_error;
    let _: fn(&TcpStream, &mut Context<'_>, &mut ReadBuf<'_>) -> Poll<io::Result<usize>> =
        TcpStream::poll_peek;
    let _: [fn(&TcpStream, &mut Context<'_>) -> Poll<io::Result<()>>; 2] =
        [TcpStream::poll_read_ready, TcpStream::poll_write_ready];
    let _: fn(&TcpStream, &mut [u8]) -> io::Result<usize> = TcpStream::try_read;
    let _: fn(&TcpStream, &mut [io::IoSliceMut<'_>]) -> io::Result<usize> =
        TcpStream::try_read_vectored;
    let _: fn(&TcpStream, &[u8]) -> io::Result<usize> = TcpStream::try_write;
    let _: fn(&TcpStream, &[io::IoSlice<'_>]) -> io::Result<usize> = TcpStream::try_write_vectored;
    let _: [fn(&TcpStream) -> io::Result<bool>; 2] = [TcpStream::nodelay, TcpStream::quickack];
    let _: [fn(&TcpStream, bool) -> io::Result<()>; 2] =
        [TcpStream::set_nodelay, TcpStream::set_quickack];
    let _: fn(&TcpStream) -> io::Result<Option<Duration>> = TcpStream::linger;
    let _: fn(&TcpStream, Option<Duration>) -> io::Result<()> = TcpStream::set_linger;
    let _: fn(&TcpStream) -> io::Result<()> = TcpStream::set_zero_linger;
    let _: fn(&TcpStream) -> io::Result<u32> = TcpStream::ttl;
    let _: fn(&TcpStream, u32) -> io::Result<()> = TcpStream::set_ttl;
    let _: fn(&mut TcpStream) -> (ReadHalf<'_>, WriteHalf<'_>) = TcpStream::split;
    let _: fn(TcpStream) -> (OwnedReadHalf, OwnedWriteHalf) = TcpStream::into_split;
    let _: io::Result<usize> = TcpStream::try_read_buf(any::<&TcpStream>(), any::<&mut Vec<u8>>());
    let _: io::Result<u8> =
        TcpStream::try_io(any::<&TcpStream>(), any::<Interest>(), any::<fn() -> io::Result<u8>>());
}

pub(in crate::parity) async fn tcp_stream_waits() {
    let _: io::Result<TcpStream> = TcpStream::connect(any::<&str>()).await;
    let _: io::Result<Ready> = TcpStream::ready(any::<&TcpStream>(), any::<Interest>()).await;
    let _: io::Result<()> = TcpStream::readable(any::<&TcpStream>()).await;
    let _: io::Result<()> = TcpStream::writable(any::<&TcpStream>()).await;
    let _: io::Result<u8> = TcpStream::async_io(
        any::<&TcpStream>(),
        any::<Interest>(),
        any::<fn() -> io::Result<u8>>(),
    )
    .await;
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

pub(in crate::parity) fn tcp_read_half() {
    let _: fn(
        &mut ReadHalf<'static>,
        &mut Context<'_>,
        &mut ReadBuf<'_>,
    ) -> Poll<io::Result<usize>> = ReadHalf::poll_peek;
    let _: fn(&ReadHalf<'static>, &mut [u8]) -> io::Result<usize> = ReadHalf::try_read;
    let _: fn(&ReadHalf<'static>, &mut [io::IoSliceMut<'_>]) -> io::Result<usize> =
        ReadHalf::try_read_vectored;
    let _: [fn(&ReadHalf<'static>) -> io::Result<SocketAddr>; 2] =
        [ReadHalf::peer_addr, ReadHalf::local_addr];
    let _: io::Result<usize> =
        ReadHalf::try_read_buf(any::<&ReadHalf<'static>>(), any::<&mut Vec<u8>>());
}

pub(in crate::parity) async fn tcp_read_half_waits() {
    let _: io::Result<usize> =
        ReadHalf::peek(any::<&mut ReadHalf<'static>>(), any::<&mut [u8]>()).await;
    let _: io::Result<Ready> =
        ReadHalf::ready(any::<&ReadHalf<'static>>(), any::<Interest>()).await;
    let _: io::Result<()> = ReadHalf::readable(any::<&ReadHalf<'static>>()).await;
}

pub(in crate::parity) fn tcp_write_half() {
    let _: fn(&WriteHalf<'static>, &[u8]) -> io::Result<usize> = WriteHalf::try_write;
    let _: fn(&WriteHalf<'static>, &[io::IoSlice<'_>]) -> io::Result<usize> =
        WriteHalf::try_write_vectored;
    let _: [fn(&WriteHalf<'static>) -> io::Result<SocketAddr>; 2] =
        [WriteHalf::peer_addr, WriteHalf::local_addr];
}

pub(in crate::parity) async fn tcp_write_half_waits() {
    let _: io::Result<Ready> =
        WriteHalf::ready(any::<&WriteHalf<'static>>(), any::<Interest>()).await;
    let _: io::Result<()> = WriteHalf::writable(any::<&WriteHalf<'static>>()).await;
}

pub(in crate::parity) fn tcp_owned_read_half() {
    let _: fn(OwnedReadHalf, OwnedWriteHalf) -> Result<TcpStream, ReuniteError> =
        OwnedReadHalf::reunite;
    let _: fn(&mut OwnedReadHalf, &mut Context<'_>, &mut ReadBuf<'_>) -> Poll<io::Result<usize>> =
        OwnedReadHalf::poll_peek;
    let _: fn(&OwnedReadHalf, &mut [u8]) -> io::Result<usize> = OwnedReadHalf::try_read;
    let _: fn(&OwnedReadHalf, &mut [io::IoSliceMut<'_>]) -> io::Result<usize> =
        OwnedReadHalf::try_read_vectored;
    let _: [fn(&OwnedReadHalf) -> io::Result<SocketAddr>; 2] =
        [OwnedReadHalf::peer_addr, OwnedReadHalf::local_addr];
    let _: io::Result<usize> =
        OwnedReadHalf::try_read_buf(any::<&OwnedReadHalf>(), any::<&mut Vec<u8>>());
}

pub(in crate::parity) async fn tcp_owned_read_half_waits() {
    let _: io::Result<usize> =
        OwnedReadHalf::peek(any::<&mut OwnedReadHalf>(), any::<&mut [u8]>()).await;
    let _: io::Result<Ready> =
        OwnedReadHalf::ready(any::<&OwnedReadHalf>(), any::<Interest>()).await;
    let _: io::Result<()> = OwnedReadHalf::readable(any::<&OwnedReadHalf>()).await;
}

pub(in crate::parity) fn tcp_owned_write_half() {
    let _: fn(OwnedWriteHalf, OwnedReadHalf) -> Result<TcpStream, ReuniteError> =
        OwnedWriteHalf::reunite;
    let _: fn(OwnedWriteHalf) = OwnedWriteHalf::forget;
    let _: fn(&OwnedWriteHalf, &[u8]) -> io::Result<usize> = OwnedWriteHalf::try_write;
    let _: fn(&OwnedWriteHalf, &[io::IoSlice<'_>]) -> io::Result<usize> =
        OwnedWriteHalf::try_write_vectored;
    let _: [fn(&OwnedWriteHalf) -> io::Result<SocketAddr>; 2] =
        [OwnedWriteHalf::peer_addr, OwnedWriteHalf::local_addr];
}

pub(in crate::parity) async fn tcp_owned_write_half_waits() {
    let _: io::Result<Ready> =
        OwnedWriteHalf::ready(any::<&OwnedWriteHalf>(), any::<Interest>()).await;
    let _: io::Result<()> = OwnedWriteHalf::writable(any::<&OwnedWriteHalf>()).await;
}

pub(in crate::parity) fn udp_socket() {
    let _: fn(net::UdpSocket) -> io::Result<UdpSocket> = UdpSocket::from_std;
    let _: fn(UdpSocket) -> io::Result<net::UdpSocket> = UdpSocket::into_std;
    let _: [fn(&UdpSocket) -> io::Result<SocketAddr>; 3] =
        [UdpSocket::local_addr, UdpSocket::peer_addr, UdpSocket::try_peek_sender];
    let _: [fn(&UdpSocket, &mut Context<'_>) -> Poll<io::Result<()>>; 2] =
        [UdpSocket::poll_send_ready, UdpSocket::poll_recv_ready];
    let _: fn(&UdpSocket, &mut Context<'_>, &[u8]) -> Poll<io::Result<usize>> =
        UdpSocket::poll_send;
    let _: fn(&UdpSocket, &[u8]) -> io::Result<usize> = UdpSocket::try_send;
    let _: [fn(&UdpSocket, &mut Context<'_>, &mut ReadBuf<'_>) -> Poll<io::Result<()>>; 2] =
        [UdpSocket::poll_recv, UdpSocket::poll_peek];
    let _: [fn(&UdpSocket, &mut [u8]) -> io::Result<usize>; 2] =
        [UdpSocket::try_recv, UdpSocket::try_peek];
    let _: fn(&UdpSocket, &mut Context<'_>, &[u8], SocketAddr) -> Poll<io::Result<usize>> =
        UdpSocket::poll_send_to;
    let _: fn(&UdpSocket, &[u8], SocketAddr) -> io::Result<usize> = UdpSocket::try_send_to;
    let _: [fn(&UdpSocket, &mut Context<'_>, &mut ReadBuf<'_>) -> Poll<io::Result<SocketAddr>>; 2] =
        [UdpSocket::poll_recv_from, UdpSocket::poll_peek_from];
    let _: [fn(&UdpSocket, &mut [u8]) -> io::Result<(usize, SocketAddr)>; 2] =
        [UdpSocket::try_recv_from, UdpSocket::try_peek_from];
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
    let _: fn(&UdpSocket) -> io::Result<Option<io::Error>> = UdpSocket::take_error;
    let _: io::Result<usize> = UdpSocket::try_recv_buf(any::<&UdpSocket>(), any::<&mut Vec<u8>>());
    let _: io::Result<(usize, SocketAddr)> =
        UdpSocket::try_recv_buf_from(any::<&UdpSocket>(), any::<&mut Vec<u8>>());
    let _: io::Result<u8> =
        UdpSocket::try_io(any::<&UdpSocket>(), any::<Interest>(), any::<fn() -> io::Result<u8>>());
}

pub(in crate::parity) async fn udp_socket_waits() {
    let _: io::Result<UdpSocket> = UdpSocket::bind(any::<&str>()).await;
    let _: io::Result<()> = UdpSocket::connect(any::<&UdpSocket>(), any::<&str>()).await;
    let _: io::Result<Ready> = UdpSocket::ready(any::<&UdpSocket>(), any::<Interest>()).await;
    let _: io::Result<()> = UdpSocket::writable(any::<&UdpSocket>()).await;
    let _: io::Result<usize> = UdpSocket::send(any::<&UdpSocket>(), any::<&[u8]>()).await;
    let _: io::Result<()> = UdpSocket::readable(any::<&UdpSocket>()).await;
    let _: io::Result<usize> = UdpSocket::recv(any::<&UdpSocket>(), any::<&mut [u8]>()).await;
    let _: io::Result<usize> =
        UdpSocket::recv_buf(any::<&UdpSocket>(), any::<&mut Vec<u8>>()).await;
    let _: io::Result<(usize, SocketAddr)> =
        UdpSocket::recv_buf_from(any::<&UdpSocket>(), any::<&mut Vec<u8>>()).await;
    let _: io::Result<usize> =
        UdpSocket::send_to(any::<&UdpSocket>(), any::<&[u8]>(), any::<&str>()).await;
    let _: io::Result<(usize, SocketAddr)> =
        UdpSocket::recv_from(any::<&UdpSocket>(), any::<&mut [u8]>()).await;
    let _: io::Result<u8> = UdpSocket::async_io(
        any::<&UdpSocket>(),
        any::<Interest>(),
        any::<fn() -> io::Result<u8>>(),
    )
    .await;
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
    let _: fn(net::TcpListener) -> io::Result<TcpListener> = TcpListener::try_from;
    let _: fn(net::TcpStream) -> io::Result<TcpStream> = TcpStream::try_from;
    let _: fn(net::UdpSocket) -> io::Result<UdpSocket> = UdpSocket::try_from;
    let _ = TcpSocket::from_raw_fd;
    let _: fn(TcpSocket) -> i32 = TcpSocket::into_raw_fd;
    let _: for<'a> fn(&'a ReadHalf<'static>) -> &'a TcpStream = AsRef::as_ref;
    let _: for<'a> fn(&'a WriteHalf<'static>) -> &'a TcpStream = AsRef::as_ref;
    let _: fn(&OwnedReadHalf) -> &TcpStream = AsRef::as_ref;
    let _: fn(&OwnedWriteHalf) -> &TcpStream = AsRef::as_ref;
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
