//! A connection.
//!
//! Mirrors tokio's. Owns: [`TcpStream`]. Does not own: its halves (`split.rs`, `split_owned.rs`).

use std::fmt;
use std::io::{self, IoSlice, IoSliceMut};
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use detsim_executor::OpKind;
use detsim_net::{How, Options, Socket};
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf, Ready};

use crate::net::addr::{ToSocketAddrs, each};
use crate::net::descriptor::{Descriptor, no_peer, no_std};
use crate::net::ready::{self, Site, point, wait};
use crate::net::tcp::split::{self, ReadHalf, WriteHalf};
use crate::net::tcp::split_owned::{self, OwnedReadHalf, OwnedWriteHalf};
use crate::net::world;

/// A connection. Dropping it closes it.
pub struct TcpStream {
    socket: Socket,
    descriptor: Descriptor,
    /// Where it came from, for calls that have no line of the program's.
    site: Site,
}

impl TcpStream {
    /// Connects.
    ///
    /// # Errors
    /// As Linux has it: ECONNREFUSED, ETIMEDOUT; or a name that cannot be resolved.
    #[track_caller]
    pub fn connect<A: ToSocketAddrs>(
        address: A,
    ) -> impl Future<Output = io::Result<Self>> + use<A> {
        let (site, target) = (Location::caller(), address.target());
        async move { each(target, |address| Self::connect_at(address, site)).await }
    }

    async fn connect_at(address: SocketAddr, site: Site) -> io::Result<Self> {
        let socket = world::tcp(address.is_ipv6());
        point(&socket, OpKind::Connect, site).await;
        Self::connecting(socket, Descriptor::default(), address, site).await
    }

    pub(super) async fn connecting(
        socket: Socket,
        descriptor: Descriptor,
        address: SocketAddr,
        site: Site,
    ) -> io::Result<Self> {
        socket.connect(address)?;
        wait(&socket, OpKind::Connect, site, |cx, how| socket.poll_connected(cx, how)).await?;
        Ok(Self { socket, descriptor, site })
    }

    pub(super) fn new(socket: Socket, site: Site) -> Self {
        Self { socket, descriptor: Descriptor::default(), site }
    }

    /// # Errors
    /// Always: a connected socket of std has a peer that is not simulated.
    ///
    /// # Panics
    /// Outside of a simulation, in tokio's words.
    #[track_caller]
    pub fn from_std(stream: std::net::TcpStream) -> io::Result<Self> {
        let socket = world::tcp(stream.local_addr().is_ok_and(|local| local.is_ipv6()));
        match stream.peer_addr() {
            Ok(_) => Err(no_peer("TcpStream")),
            Err(_) => {
                let descriptor = Descriptor::given(stream);
                Ok(Self { socket, descriptor, site: Location::caller() })
            }
        }
    }

    /// # Errors
    /// Always: a simulated socket stays in its simulation.
    pub fn into_std(self) -> io::Result<std::net::TcpStream> {
        Err(no_std("TcpStream"))
    }

    /// Its own address.
    ///
    /// # Errors
    /// EBADF where its node has stopped.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// The address of its peer.
    ///
    /// # Errors
    /// ENOTCONN where the connection is no more.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.socket.peer_addr()
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

    /// Reads without taking.
    ///
    /// # Errors
    /// ECONNRESET, ETIMEDOUT.
    #[track_caller]
    pub fn peek<'a>(&'a self, buf: &'a mut [u8]) -> impl Future<Output = io::Result<usize>> + 'a {
        let site = Location::caller();
        async move {
            let socket = &self.socket;
            wait(socket, OpKind::Recv, site, |cx, how| socket.poll_peek(cx, how, buf)).await
        }
    }

    /// Polls for something to read, without taking it.
    ///
    /// # Errors
    /// As [`Self::peek`].
    pub fn poll_peek(
        &self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<usize>> {
        let how = How::poller_at(OpKind::Recv, self.site);
        let peeked = ready!(self.socket.poll_peek(cx, how, buf.initialize_unfilled()))?;
        buf.advance(peeked);
        Poll::Ready(Ok(peeked))
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

    // ------------------------------------------------------------ options

    /// `TCP_NODELAY`.
    ///
    /// # Errors
    /// EBADF where its node has stopped.
    pub fn nodelay(&self) -> io::Result<bool> {
        self.options(|options| options.nodelay)
    }

    /// Sets `TCP_NODELAY`: small segments do not wait for company.
    ///
    /// # Errors
    /// EBADF where its node has stopped.
    pub fn set_nodelay(&self, nodelay: bool) -> io::Result<()> {
        self.set_options(|options| options.nodelay = nodelay)
    }

    /// `TCP_QUICKACK`.
    ///
    /// # Errors
    /// EBADF where its node has stopped.
    pub fn quickack(&self) -> io::Result<bool> {
        self.options(|options| options.quickack)
    }

    /// Sets `TCP_QUICKACK`. Acknowledgements are quick in any case.
    ///
    /// # Errors
    /// EBADF where its node has stopped.
    pub fn set_quickack(&self, quickack: bool) -> io::Result<()> {
        self.set_options(|options| options.quickack = quickack)
    }

    /// `SO_LINGER`.
    ///
    /// # Errors
    /// EBADF where its node has stopped.
    pub fn linger(&self) -> io::Result<Option<Duration>> {
        self.options(|options| options.linger)
    }

    /// Sets `SO_LINGER`: with zero, closing resets the connection.
    ///
    /// # Errors
    /// EBADF where its node has stopped.
    pub fn set_linger(&self, linger: Option<Duration>) -> io::Result<()> {
        self.set_options(|options| options.linger = linger)
    }

    /// Closing resets the connection.
    ///
    /// # Errors
    /// EBADF where its node has stopped.
    pub fn set_zero_linger(&self) -> io::Result<()> {
        self.set_options(|options| options.linger = Some(Duration::ZERO))
    }

    /// `IP_TTL`.
    ///
    /// # Errors
    /// EBADF where its node has stopped.
    pub fn ttl(&self) -> io::Result<u32> {
        self.options(|options| options.ttl)
    }

    /// Sets `IP_TTL`.
    ///
    /// # Errors
    /// EBADF where its node has stopped.
    pub fn set_ttl(&self, ttl: u32) -> io::Result<()> {
        self.set_options(|options| options.ttl = ttl)
    }

    fn options<R>(&self, look: impl FnOnce(&Options) -> R) -> io::Result<R> {
        self.socket.options(look)
    }

    fn set_options(&self, change: impl FnOnce(&mut Options)) -> io::Result<()> {
        self.socket.set_options(change)
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

impl TryFrom<std::net::TcpStream> for TcpStream {
    type Error = io::Error;

    #[track_caller]
    fn try_from(stream: std::net::TcpStream) -> io::Result<Self> {
        Self::from_std(stream)
    }
}

impl AsyncRead for TcpStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.poll_read_shared(cx, buf)
    }
}

impl AsyncWrite for TcpStream {
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

impl AsRef<Self> for TcpStream {
    fn as_ref(&self) -> &Self {
        self
    }
}

impl fmt::Debug for TcpStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (addr, peer) = (self.local_addr().ok(), self.peer_addr().ok());
        f.debug_struct("TcpStream").field("addr", &addr).field("peer", &peer).finish()
    }
}

impl AsFd for TcpStream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.fd()
    }
}

impl AsRawFd for TcpStream {
    fn as_raw_fd(&self) -> RawFd {
        self.descriptor.raw_fd()
    }
}
