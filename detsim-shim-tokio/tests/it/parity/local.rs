//! Sockets of one host, and pipes: every method, by its type.
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

listener_rows!(unix_listener_rows unix_listener_waits: UnixListener UnixStream);

pub(in crate::parity) fn unix_listener() {
    let _: fn(&SocketAddr) -> io::Result<UnixListener> = UnixListener::bind_addr;
    let _: fn(&UnixListener) -> io::Result<Option<io::Error>> = UnixListener::take_error;
    let _: io::Result<UnixListener> = UnixListener::bind(any::<&Path>());
}

socket_rows!(unix_stream_as_socket unix_stream_waits: UnixStream poll_read_ready poll_write_ready);
stream_rows!(unix_stream_rows: UnixStream);

pub(in crate::parity) fn unix_stream() {
    let _: fn() -> io::Result<(UnixStream, UnixStream)> = UnixStream::pair;
    let _: fn(&UnixStream) -> io::Result<UCred> = UnixStream::peer_cred;
}

pub(in crate::parity) async fn unix_stream_connects() {
    let _: io::Result<UnixStream> = UnixStream::connect(any::<&Path>()).await;
    let _: io::Result<UnixStream> = UnixStream::connect_addr(any::<&SocketAddr>()).await;
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

read_half_rows!(local_read_half local_read_half_waits: ReadHalf<'static>);
read_half_rows!(local_owned_read_half local_owned_read_half_waits: OwnedReadHalf);
write_half_rows!(local_write_half local_write_half_waits: WriteHalf<'static>);
write_half_rows!(local_owned_write_half local_owned_write_half_waits: OwnedWriteHalf);

socket_rows!(unix_datagram_as_socket unix_datagram_waits: UnixDatagram poll_send_ready poll_recv_ready);
datagram_rows!(unix_datagram_rows unix_datagram_receives: UnixDatagram);

pub(in crate::parity) fn unix_datagram() {
    let _: fn() -> io::Result<(UnixDatagram, UnixDatagram)> = UnixDatagram::pair;
    let _: fn() -> io::Result<UnixDatagram> = UnixDatagram::unbound;
    let _: fn(&UnixDatagram, Shutdown) -> io::Result<()> = UnixDatagram::shutdown;
    let _: io::Result<UnixDatagram> = UnixDatagram::bind(any::<&Path>());
    let _: io::Result<()> = UnixDatagram::connect(any::<&UnixDatagram>(), any::<&Path>());
    let _: io::Result<usize> =
        UnixDatagram::try_send_to(any::<&UnixDatagram>(), any::<&[u8]>(), any::<&Path>());
    let _: Poll<io::Result<usize>> = UnixDatagram::poll_send_to(
        any::<&UnixDatagram>(),
        any::<&mut Context<'_>>(),
        any::<&[u8]>(),
        any::<&Path>(),
    );
}

pub(in crate::parity) async fn unix_datagram_sends() {
    let _: io::Result<usize> =
        UnixDatagram::send_to(any::<&UnixDatagram>(), any::<&[u8]>(), any::<&Path>()).await;
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
    let _: fn(net::SocketAddr) -> SocketAddr = SocketAddr::from;
    let _: fn(SocketAddr) -> net::SocketAddr = net::SocketAddr::from;
    let _ = UnixSocket::from_raw_fd;
    let _: fn(UnixSocket) -> i32 = UnixSocket::into_raw_fd;
    reads::<ReadHalf<'static>>();
    reads::<OwnedReadHalf>();
    reads::<pipe::Receiver>();
    writes::<WriteHalf<'static>>();
    writes::<OwnedWriteHalf>();
    writes::<pipe::Sender>();
}
