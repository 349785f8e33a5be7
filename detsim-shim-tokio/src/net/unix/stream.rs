//! A local stream.
//!
//! Mirrors tokio's. Owns: [`UnixStream`]. Does not own: its halves (`split.rs`, `split_owned.rs`).

use std::fmt;
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::os::unix::net;
use std::panic::Location;
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use detsim_executor::OpKind;
use detsim_net::{How, Socket, Sockets};
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf, Ready};
use tokio::net::unix::SocketAddr;

use crate::net::descriptor::{Descriptor, no_peer, no_std};
use crate::net::ready::{self, Site, wait};
use crate::net::unix::split::{self, ReadHalf, WriteHalf};
use crate::net::unix::split_owned::{self, OwnedReadHalf, OwnedWriteHalf};
use crate::net::unix::ucred::UCred;
use crate::net::unix::{address_of, name_of, name_of_address};
use crate::net::world;

/// A local stream. Dropping it closes it.
pub struct UnixStream {
    socket: Socket,
    descriptor: Descriptor,
    /// Where it came from, for calls that have no line of the program's.
    site: Site,
}

impl UnixStream {
    /// Connects to whoever listens under a path.
    ///
    /// # Errors
    /// ENOENT, ECONNREFUSED.
    #[track_caller]
    pub fn connect<P: AsRef<Path>>(path: P) -> impl Future<Output = io::Result<Self>> + use<P> {
        let (site, name) = (Location::caller(), name_of(path.as_ref()));
        async move { Self::connect_name(name?, site).await }
    }

    /// Connects to whoever listens under an address.
    ///
    /// # Errors
    /// As [`Self::connect`].
    #[track_caller]
    pub fn connect_addr(address: &SocketAddr) -> impl Future<Output = io::Result<Self>> + use<> {
        let (site, name) = (Location::caller(), name_of_address(address));
        async move { Self::connect_name(name, site).await }
    }

    async fn connect_name(name: Vec<u8>, site: Site) -> io::Result<Self> {
        let socket = world::open(Sockets::unix_stream);
        Self::connecting(socket, Descriptor::default(), name, site).await
    }

    pub(super) async fn connecting(
        socket: Socket,
        descriptor: Descriptor,
        name: Vec<u8>,
        site: Site,
    ) -> io::Result<Self> {
        let connect = wait(&socket, OpKind::Connect, site, |cx, how| {
            socket.poll_connect_name(cx, how, &name)
        });
        connect.await?;
        Ok(Self { socket, descriptor, site })
    }

    pub(super) fn new(socket: Socket, site: Site) -> Self {
        Self { socket, descriptor: Descriptor::default(), site }
    }

    /// Two sockets, connected.
    ///
    /// # Errors
    /// None in a simulation.
    ///
    /// # Panics
    /// Outside of a simulation, in tokio's words.
    #[track_caller]
    pub fn pair() -> io::Result<(Self, Self)> {
        let site = Location::caller();
        let [a, b] = world::open(Sockets::unix_pair).map(|socket| Self::new(socket, site));
        Ok((a, b))
    }

    /// # Errors
    /// Always: the peer of a stream of std is not simulated.
    ///
    /// # Panics
    /// Outside of a simulation, in tokio's words.
    #[track_caller]
    pub fn from_std(stream: net::UnixStream) -> io::Result<Self> {
        world::open(|_| drop(stream));
        Err(no_peer("UnixStream"))
    }

    /// # Errors
    /// Always: a simulated socket stays in its simulation.
    pub fn into_std(self) -> io::Result<net::UnixStream> {
        Err(no_std("UnixStream"))
    }

    /// Who is at the other end: this process, as all that is simulated.
    ///
    /// # Errors
    /// Where the process cannot look at itself.
    pub fn peer_cred(&self) -> io::Result<UCred> {
        UCred::own()
    }

    /// Its own address.
    ///
    /// # Errors
    /// EBADF where its node has stopped.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        address_of(&self.socket.local_name()?)
    }

    /// The address of its peer.
    ///
    /// # Errors
    /// ENOTCONN where the connection is no more.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        address_of(&self.socket.peer_name()?)
    }

    /// Takes the error that is pending.
    ///
    /// # Errors
    /// EBADF where its node has stopped.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        self.socket.take_error()
    }

    // ------------------------------------------------------------ readiness

    /// Waits until it is ready for something of interest.
    ///
    /// # Errors
    /// EBADF where its node has stopped.
    #[track_caller]
    pub fn ready(&self, interest: Interest) -> impl Future<Output = io::Result<Ready>> + '_ {
        ready::ready(&self.socket, interest, Location::caller())
    }

    /// Waits until it may be read.
    ///
    /// # Errors
    /// As [`Self::ready`].
    #[track_caller]
    pub fn readable(&self) -> impl Future<Output = io::Result<()>> + '_ {
        let ready = self.ready(Interest::READABLE);
        async move { ready.await.map(drop) }
    }

    /// Waits until it may be written.
    ///
    /// # Errors
    /// As [`Self::ready`].
    #[track_caller]
    pub fn writable(&self) -> impl Future<Output = io::Result<()>> + '_ {
        let ready = self.ready(Interest::WRITABLE);
        async move { ready.await.map(drop) }
    }

    /// Polls for being readable.
    ///
    /// # Errors
    /// As [`Self::ready`].
    pub fn poll_read_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready::poll_ready(&self.socket, cx, self.site, [true, false])
    }

    /// Polls for being writable.
    ///
    /// # Errors
    /// As [`Self::ready`].
    pub fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready::poll_ready(&self.socket, cx, self.site, [false, true])
    }

    /// An operation of the program's own on the descriptor, where the socket is ready for it.
    ///
    /// # Errors
    /// Those of `f`; `WouldBlock` where the socket is not ready.
    pub fn try_io<R>(
        &self,
        interest: Interest,
        f: impl FnOnce() -> io::Result<R>,
    ) -> io::Result<R> {
        ready::try_io(&self.socket, interest, f)
    }

    /// As [`Self::try_io`], again and again until it does not have to wait.
    ///
    /// # Errors
    /// Those of `f`.
    #[track_caller]
    pub fn async_io<R>(
        &self,
        interest: Interest,
        f: impl FnMut() -> io::Result<R>,
    ) -> impl Future<Output = io::Result<R>> {
        ready::async_io(&self.socket, interest, Location::caller(), f)
    }

    // ------------------------------------------------------------ bytes

    /// Reads without waiting.
    ///
    /// # Errors
    /// `WouldBlock` where there is nothing to read; ECONNRESET.
    #[track_caller]
    pub fn try_read(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.socket.try_read(&mut [IoSliceMut::new(buf)])
    }

    /// Reads into several buffers without waiting.
    ///
    /// # Errors
    /// As [`Self::try_read`].
    #[track_caller]
    pub fn try_read_vectored(&self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        self.socket.try_read(bufs)
    }

    /// Reads behind what the buffer holds, without waiting.
    ///
    /// # Errors
    /// As [`Self::try_read`].
    #[cfg(feature = "io-util")]
    #[track_caller]
    pub fn try_read_buf<B: bytes::BufMut>(&self, buf: &mut B) -> io::Result<usize> {
        ready::read_buf(buf, |room| self.try_read(room))
    }

    /// Writes without waiting.
    ///
    /// # Errors
    /// `WouldBlock` where there is no room; EPIPE, ECONNRESET.
    #[track_caller]
    pub fn try_write(&self, buf: &[u8]) -> io::Result<usize> {
        self.socket.try_write(&[IoSlice::new(buf)])
    }

    /// Writes from several buffers without waiting.
    ///
    /// # Errors
    /// As [`Self::try_write`].
    #[track_caller]
    pub fn try_write_vectored(&self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
        self.socket.try_write(bufs)
    }

    pub(super) fn poll_read_shared(
        &self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let how = How::poller_at(OpKind::Recv, self.site);
        let mut bufs = [IoSliceMut::new(buf.initialize_unfilled())];
        let read = ready!(self.socket.poll_read(cx, how, &mut bufs))?;
        buf.advance(read);
        Poll::Ready(Ok(()))
    }

    pub(super) fn poll_write_shared(
        &self,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.socket.poll_write(cx, How::poller_at(OpKind::Send, self.site), bufs)
    }

    pub(super) fn shutdown_write(&self) -> io::Result<()> {
        self.socket.shutdown()
    }

    // ------------------------------------------------------------ halves

    /// Its two directions, borrowed.
    pub fn split(&mut self) -> (ReadHalf<'_>, WriteHalf<'_>) {
        split::split(self)
    }

    /// Its two directions, each to be moved to where it is used. Dropping the writing one says that
    /// nothing more will be written.
    pub fn into_split(self) -> (OwnedReadHalf, OwnedWriteHalf) {
        split_owned::split(self)
    }
}

impl TryFrom<net::UnixStream> for UnixStream {
    type Error = io::Error;

    #[track_caller]
    fn try_from(stream: net::UnixStream) -> io::Result<Self> {
        Self::from_std(stream)
    }
}

impl AsyncRead for UnixStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.poll_read_shared(cx, buf)
    }
}

impl AsyncWrite for UnixStream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_shared(cx, &[IoSlice::new(buf)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_shared(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.shutdown_write())
    }
}

impl AsRef<Self> for UnixStream {
    fn as_ref(&self) -> &Self {
        self
    }
}

impl fmt::Debug for UnixStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (addr, peer) = (self.local_addr().ok(), self.peer_addr().ok());
        f.debug_struct("UnixStream").field("addr", &addr).field("peer", &peer).finish()
    }
}

impl AsFd for UnixStream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.fd()
    }
}

impl AsRawFd for UnixStream {
    fn as_raw_fd(&self) -> RawFd {
        self.descriptor.raw_fd()
    }
}
