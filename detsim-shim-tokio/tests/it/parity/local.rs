//! Sockets of one host, and pipes: every method, by its type.
#![expect(clippy::type_complexity, reason = "these are the types")]
#![expect(dead_code, reason = "it is compiled, not called")]

use super::tokio;
use crate::parity::any;
use std::fs::File;
use std::io;
use std::net::Shutdown;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, IntoRawFd, OwnedFd};
use std::os::unix::net;
use std::path::Path;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf, Ready};
use tokio::net::unix::{
    self, OwnedReadHalf, OwnedWriteHalf, ReadHalf, ReuniteError, SocketAddr, UCred, WriteHalf, pipe,
};
use tokio::net::{UnixDatagram, UnixListener, UnixSocket, UnixStream};

pub(in crate::parity) fn unix_listener() {
    let _: fn(&SocketAddr) -> io::Result<UnixListener> = UnixListener::bind_addr;
    let _: fn(net::UnixListener) -> io::Result<UnixListener> = UnixListener::from_std;
    let _: fn(UnixListener) -> io::Result<net::UnixListener> = UnixListener::into_std;
    let _: fn(&UnixListener) -> io::Result<SocketAddr> = UnixListener::local_addr;
    let _: fn(&UnixListener) -> io::Result<Option<io::Error>> = UnixListener::take_error;
    let _: fn(&UnixListener, &mut Context<'_>) -> Poll<io::Result<(UnixStream, SocketAddr)>> =
        UnixListener::poll_accept;
    let _: io::Result<UnixListener> = UnixListener::bind(any::<&Path>());
}

pub(in crate::parity) async fn unix_listener_waits() {
    let _: io::Result<(UnixStream, SocketAddr)> =
        UnixListener::accept(any::<&UnixListener>()).await;
}

pub(in crate::parity) fn unix_stream() {
    let _: [fn(&UnixStream, &mut Context<'_>) -> Poll<io::Result<()>>; 2] =
        [UnixStream::poll_read_ready, UnixStream::poll_write_ready];
    let _: fn(&UnixStream, &mut [u8]) -> io::Result<usize> = UnixStream::try_read;
    let _: fn(&UnixStream, &mut [io::IoSliceMut<'_>]) -> io::Result<usize> =
        UnixStream::try_read_vectored;
    let _: fn(&UnixStream, &[u8]) -> io::Result<usize> = UnixStream::try_write;
    let _: fn(&UnixStream, &[io::IoSlice<'_>]) -> io::Result<usize> =
        UnixStream::try_write_vectored;
    let _: fn(net::UnixStream) -> io::Result<UnixStream> = UnixStream::from_std;
    let _: fn(UnixStream) -> io::Result<net::UnixStream> = UnixStream::into_std;
    let _: fn() -> io::Result<(UnixStream, UnixStream)> = UnixStream::pair;
    let _: [fn(&UnixStream) -> io::Result<SocketAddr>; 2] =
        [UnixStream::local_addr, UnixStream::peer_addr];
    let _: fn(&UnixStream) -> io::Result<UCred> = UnixStream::peer_cred;
    let _: fn(&UnixStream) -> io::Result<Option<io::Error>> = UnixStream::take_error;
    let _: fn(&mut UnixStream) -> (ReadHalf<'_>, WriteHalf<'_>) = UnixStream::split;
    let _: fn(UnixStream) -> (OwnedReadHalf, OwnedWriteHalf) = UnixStream::into_split;
    let _: io::Result<usize> =
        UnixStream::try_read_buf(any::<&UnixStream>(), any::<&mut Vec<u8>>());
    let _: io::Result<u8> = UnixStream::try_io(
        any::<&UnixStream>(),
        any::<Interest>(),
        any::<fn() -> io::Result<u8>>(),
    );
}

pub(in crate::parity) async fn unix_stream_waits() {
    let _: io::Result<UnixStream> = UnixStream::connect(any::<&Path>()).await;
    let _: io::Result<UnixStream> = UnixStream::connect_addr(any::<&SocketAddr>()).await;
    let _: io::Result<Ready> = UnixStream::ready(any::<&UnixStream>(), any::<Interest>()).await;
    let _: io::Result<()> = UnixStream::readable(any::<&UnixStream>()).await;
    let _: io::Result<()> = UnixStream::writable(any::<&UnixStream>()).await;
    let _: io::Result<u8> = UnixStream::async_io(
        any::<&UnixStream>(),
        any::<Interest>(),
        any::<fn() -> io::Result<u8>>(),
    )
    .await;
}

pub(in crate::parity) fn unix_socket() {
    let _: [fn() -> io::Result<UnixSocket>; 2] = [UnixSocket::new_datagram, UnixSocket::new_stream];
    let _: fn(UnixSocket, u32) -> io::Result<UnixListener> = UnixSocket::listen;
    let _: fn(UnixSocket) -> io::Result<UnixDatagram> = UnixSocket::datagram;
    let _: io::Result<()> = UnixSocket::bind(any::<&UnixSocket>(), any::<&Path>());
}

pub(in crate::parity) async fn unix_socket_waits() {
    let _: io::Result<UnixStream> = UnixSocket::connect(any::<UnixSocket>(), any::<&Path>()).await;
}

pub(in crate::parity) fn local_read_half() {
    let _: fn(&ReadHalf<'static>, &mut [u8]) -> io::Result<usize> = ReadHalf::try_read;
    let _: fn(&ReadHalf<'static>, &mut [io::IoSliceMut<'_>]) -> io::Result<usize> =
        ReadHalf::try_read_vectored;
    let _: [fn(&ReadHalf<'static>) -> io::Result<SocketAddr>; 2] =
        [ReadHalf::peer_addr, ReadHalf::local_addr];
    let _: io::Result<usize> =
        ReadHalf::try_read_buf(any::<&ReadHalf<'static>>(), any::<&mut Vec<u8>>());
}

pub(in crate::parity) async fn local_read_half_waits() {
    let _: io::Result<Ready> =
        ReadHalf::ready(any::<&ReadHalf<'static>>(), any::<Interest>()).await;
    let _: io::Result<()> = ReadHalf::readable(any::<&ReadHalf<'static>>()).await;
}

pub(in crate::parity) fn local_write_half() {
    let _: fn(&WriteHalf<'static>, &[u8]) -> io::Result<usize> = WriteHalf::try_write;
    let _: fn(&WriteHalf<'static>, &[io::IoSlice<'_>]) -> io::Result<usize> =
        WriteHalf::try_write_vectored;
    let _: [fn(&WriteHalf<'static>) -> io::Result<SocketAddr>; 2] =
        [WriteHalf::peer_addr, WriteHalf::local_addr];
}

pub(in crate::parity) async fn local_write_half_waits() {
    let _: io::Result<Ready> =
        WriteHalf::ready(any::<&WriteHalf<'static>>(), any::<Interest>()).await;
    let _: io::Result<()> = WriteHalf::writable(any::<&WriteHalf<'static>>()).await;
}

pub(in crate::parity) fn local_owned_read_half() {
    let _: fn(OwnedReadHalf, OwnedWriteHalf) -> Result<UnixStream, ReuniteError> =
        OwnedReadHalf::reunite;
    let _: fn(&OwnedReadHalf, &mut [u8]) -> io::Result<usize> = OwnedReadHalf::try_read;
    let _: fn(&OwnedReadHalf, &mut [io::IoSliceMut<'_>]) -> io::Result<usize> =
        OwnedReadHalf::try_read_vectored;
    let _: [fn(&OwnedReadHalf) -> io::Result<SocketAddr>; 2] =
        [OwnedReadHalf::peer_addr, OwnedReadHalf::local_addr];
    let _: io::Result<usize> =
        OwnedReadHalf::try_read_buf(any::<&OwnedReadHalf>(), any::<&mut Vec<u8>>());
}

pub(in crate::parity) async fn local_owned_read_half_waits() {
    let _: io::Result<Ready> =
        OwnedReadHalf::ready(any::<&OwnedReadHalf>(), any::<Interest>()).await;
    let _: io::Result<()> = OwnedReadHalf::readable(any::<&OwnedReadHalf>()).await;
}

pub(in crate::parity) fn local_owned_write_half() {
    let _: fn(OwnedWriteHalf, OwnedReadHalf) -> Result<UnixStream, ReuniteError> =
        OwnedWriteHalf::reunite;
    let _: fn(OwnedWriteHalf) = OwnedWriteHalf::forget;
    let _: fn(&OwnedWriteHalf, &[u8]) -> io::Result<usize> = OwnedWriteHalf::try_write;
    let _: fn(&OwnedWriteHalf, &[io::IoSlice<'_>]) -> io::Result<usize> =
        OwnedWriteHalf::try_write_vectored;
    let _: [fn(&OwnedWriteHalf) -> io::Result<SocketAddr>; 2] =
        [OwnedWriteHalf::peer_addr, OwnedWriteHalf::local_addr];
}

pub(in crate::parity) async fn local_owned_write_half_waits() {
    let _: io::Result<Ready> =
        OwnedWriteHalf::ready(any::<&OwnedWriteHalf>(), any::<Interest>()).await;
    let _: io::Result<()> = OwnedWriteHalf::writable(any::<&OwnedWriteHalf>()).await;
}

pub(in crate::parity) fn unix_datagram() {
    let _: [fn(&UnixDatagram, &mut Context<'_>) -> Poll<io::Result<()>>; 2] =
        [UnixDatagram::poll_send_ready, UnixDatagram::poll_recv_ready];
    let _: fn() -> io::Result<(UnixDatagram, UnixDatagram)> = UnixDatagram::pair;
    let _: fn(net::UnixDatagram) -> io::Result<UnixDatagram> = UnixDatagram::from_std;
    let _: fn(UnixDatagram) -> io::Result<net::UnixDatagram> = UnixDatagram::into_std;
    let _: fn() -> io::Result<UnixDatagram> = UnixDatagram::unbound;
    let _: fn(&UnixDatagram, &[u8]) -> io::Result<usize> = UnixDatagram::try_send;
    let _: fn(&UnixDatagram, &mut [u8]) -> io::Result<usize> = UnixDatagram::try_recv;
    let _: fn(&UnixDatagram, &mut Context<'_>, &mut ReadBuf<'_>) -> Poll<io::Result<SocketAddr>> =
        UnixDatagram::poll_recv_from;
    let _: fn(&UnixDatagram, &mut Context<'_>, &[u8]) -> Poll<io::Result<usize>> =
        UnixDatagram::poll_send;
    let _: fn(&UnixDatagram, &mut Context<'_>, &mut ReadBuf<'_>) -> Poll<io::Result<()>> =
        UnixDatagram::poll_recv;
    let _: fn(&UnixDatagram, &mut [u8]) -> io::Result<(usize, SocketAddr)> =
        UnixDatagram::try_recv_from;
    let _: [fn(&UnixDatagram) -> io::Result<SocketAddr>; 2] =
        [UnixDatagram::local_addr, UnixDatagram::peer_addr];
    let _: fn(&UnixDatagram) -> io::Result<Option<io::Error>> = UnixDatagram::take_error;
    let _: fn(&UnixDatagram, Shutdown) -> io::Result<()> = UnixDatagram::shutdown;
    let _: io::Result<UnixDatagram> = UnixDatagram::bind(any::<&Path>());
    let _: io::Result<()> = UnixDatagram::connect(any::<&UnixDatagram>(), any::<&Path>());
    let _: io::Result<usize> =
        UnixDatagram::try_send_to(any::<&UnixDatagram>(), any::<&[u8]>(), any::<&Path>());
    let _: io::Result<(usize, SocketAddr)> =
        UnixDatagram::try_recv_buf_from(any::<&UnixDatagram>(), any::<&mut Vec<u8>>());
    let _: io::Result<usize> =
        UnixDatagram::try_recv_buf(any::<&UnixDatagram>(), any::<&mut Vec<u8>>());
    let _: Poll<io::Result<usize>> = UnixDatagram::poll_send_to(
        any::<&UnixDatagram>(),
        any::<&mut Context<'_>>(),
        any::<&[u8]>(),
        any::<&Path>(),
    );
    let _: io::Result<u8> = UnixDatagram::try_io(
        any::<&UnixDatagram>(),
        any::<Interest>(),
        any::<fn() -> io::Result<u8>>(),
    );
}

pub(in crate::parity) async fn unix_datagram_waits() {
    let _: io::Result<Ready> = UnixDatagram::ready(any::<&UnixDatagram>(), any::<Interest>()).await;
    let _: io::Result<()> = UnixDatagram::writable(any::<&UnixDatagram>()).await;
    let _: io::Result<()> = UnixDatagram::readable(any::<&UnixDatagram>()).await;
    let _: io::Result<usize> = UnixDatagram::send(any::<&UnixDatagram>(), any::<&[u8]>()).await;
    let _: io::Result<usize> = UnixDatagram::recv(any::<&UnixDatagram>(), any::<&mut [u8]>()).await;
    let _: io::Result<(usize, SocketAddr)> =
        UnixDatagram::recv_buf_from(any::<&UnixDatagram>(), any::<&mut Vec<u8>>()).await;
    let _: io::Result<usize> =
        UnixDatagram::recv_buf(any::<&UnixDatagram>(), any::<&mut Vec<u8>>()).await;
    let _: io::Result<usize> =
        UnixDatagram::send_to(any::<&UnixDatagram>(), any::<&[u8]>(), any::<&Path>()).await;
    let _: io::Result<(usize, SocketAddr)> =
        UnixDatagram::recv_from(any::<&UnixDatagram>(), any::<&mut [u8]>()).await;
    let _: io::Result<u8> = UnixDatagram::async_io(
        any::<&UnixDatagram>(),
        any::<Interest>(),
        any::<fn() -> io::Result<u8>>(),
    )
    .await;
}

pub(in crate::parity) fn pipes() {
    use pipe::*;
    let _: fn() -> OpenOptions = OpenOptions::new;
    let _: [fn(&mut OpenOptions, bool) -> &mut OpenOptions; 2] =
        [OpenOptions::read_write, OpenOptions::unchecked];
    let _: io::Result<Receiver> = OpenOptions::open_receiver(any::<&OpenOptions>(), any::<&Path>());
    let _: io::Result<Sender> = OpenOptions::open_sender(any::<&OpenOptions>(), any::<&Path>());
}

pub(in crate::parity) fn sender() {
    use pipe::*;
    let _: [fn(File) -> io::Result<Sender>; 2] = [Sender::from_file, Sender::from_file_unchecked];
    let _: [fn(OwnedFd) -> io::Result<Sender>; 2] =
        [Sender::from_owned_fd, Sender::from_owned_fd_unchecked];
    let _: fn(&Sender, &mut Context<'_>) -> Poll<io::Result<()>> = Sender::poll_write_ready;
    let _: fn(&Sender, &[u8]) -> io::Result<usize> = Sender::try_write;
    let _: fn(&Sender, &[io::IoSlice<'_>]) -> io::Result<usize> = Sender::try_write_vectored;
    let _: [fn(Sender) -> io::Result<OwnedFd>; 2] =
        [Sender::into_blocking_fd, Sender::into_nonblocking_fd];
    let _: io::Result<u8> = Sender::try_io(any::<&Sender>(), any::<fn() -> io::Result<u8>>());
}

pub(in crate::parity) async fn sender_waits() {
    use pipe::*;
    let _: io::Result<Ready> = Sender::ready(any::<&Sender>(), any::<Interest>()).await;
    let _: io::Result<()> = Sender::writable(any::<&Sender>()).await;
}

pub(in crate::parity) fn receiver() {
    use pipe::*;
    let _: [fn(File) -> io::Result<Receiver>; 2] =
        [Receiver::from_file, Receiver::from_file_unchecked];
    let _: [fn(OwnedFd) -> io::Result<Receiver>; 2] =
        [Receiver::from_owned_fd, Receiver::from_owned_fd_unchecked];
    let _: fn(&Receiver, &mut Context<'_>) -> Poll<io::Result<()>> = Receiver::poll_read_ready;
    let _: fn(&Receiver, &mut [u8]) -> io::Result<usize> = Receiver::try_read;
    let _: fn(&Receiver, &mut [io::IoSliceMut<'_>]) -> io::Result<usize> =
        Receiver::try_read_vectored;
    let _: [fn(Receiver) -> io::Result<OwnedFd>; 2] =
        [Receiver::into_blocking_fd, Receiver::into_nonblocking_fd];
    let _: io::Result<u8> = Receiver::try_io(any::<&Receiver>(), any::<fn() -> io::Result<u8>>());
    let _: io::Result<usize> = Receiver::try_read_buf(any::<&Receiver>(), any::<&mut Vec<u8>>());
}

pub(in crate::parity) async fn receiver_waits() {
    use pipe::*;
    let _: io::Result<Ready> = Receiver::ready(any::<&Receiver>(), any::<Interest>()).await;
    let _: io::Result<()> = Receiver::readable(any::<&Receiver>()).await;
}

pub(in crate::parity) fn socket_addr() {
    let _: fn(&SocketAddr) -> bool = SocketAddr::is_unnamed;
    let _: fn(&SocketAddr) -> Option<&Path> = SocketAddr::as_pathname;
    let _: fn(&SocketAddr) -> Option<&[u8]> = SocketAddr::as_abstract_name;
}

pub(in crate::parity) fn u_cred() {
    let _: fn(&UCred) -> unix::uid_t = UCred::uid;
    let _: fn(&UCred) -> unix::gid_t = UCred::gid;
    let _: fn(&UCred) -> Option<unix::pid_t> = UCred::pid;
}

fn descriptor<T: AsFd + AsRawFd>() {}

fn stream<T: AsyncRead + AsyncWrite + AsRef<T>>() {}

fn reads<T: AsyncRead>() {}

fn writes<T: AsyncWrite>() {}

pub(in crate::parity) fn local_traits() {
    descriptor::<UnixDatagram>();
    descriptor::<UnixListener>();
    descriptor::<UnixSocket>();
    descriptor::<UnixStream>();
    descriptor::<pipe::Receiver>();
    descriptor::<pipe::Sender>();
    stream::<UnixStream>();
    let _: fn() -> io::Result<(pipe::Sender, pipe::Receiver)> = pipe::pipe;
    let _: fn(net::UnixDatagram) -> io::Result<UnixDatagram> = UnixDatagram::try_from;
    let _: fn(net::UnixListener) -> io::Result<UnixListener> = UnixListener::try_from;
    let _: fn(net::UnixStream) -> io::Result<UnixStream> = UnixStream::try_from;
    let _: fn(net::SocketAddr) -> SocketAddr = SocketAddr::from;
    let _: fn(SocketAddr) -> net::SocketAddr = net::SocketAddr::from;
    let _ = UnixSocket::from_raw_fd;
    let _: fn(UnixSocket) -> i32 = UnixSocket::into_raw_fd;
    let _: for<'a> fn(&'a ReadHalf<'static>) -> &'a UnixStream = AsRef::as_ref;
    let _: for<'a> fn(&'a WriteHalf<'static>) -> &'a UnixStream = AsRef::as_ref;
    let _: fn(&OwnedReadHalf) -> &UnixStream = AsRef::as_ref;
    let _: fn(&OwnedWriteHalf) -> &UnixStream = AsRef::as_ref;
    reads::<ReadHalf<'static>>();
    reads::<OwnedReadHalf>();
    reads::<pipe::Receiver>();
    writes::<WriteHalf<'static>>();
    writes::<OwnedWriteHalf>();
    writes::<pipe::Sender>();
}
