//! A connection.
//!
//! Mirrors tokio's. Owns: [`TcpStream`]. Does not own: its halves (`split.rs`, `split_owned.rs`).

use std::io;
use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use detsim_executor::OpKind;
use detsim_net::{How, Number, Options, Socket};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::net::addr::{ToSocketAddrs, each};
use crate::net::descriptor::{Descriptor, into_fd, no_peer, taken};
use crate::net::ready::{Site, point, wait};
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
        let socket = world::tcp(address.is_ipv6())?;
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

    /// A connection of std that was made in this run, taken over with what it has; or a simulated socket in
    /// place of one that is connected to nobody.
    ///
    /// # Errors
    /// Where it is connected to a peer that is not simulated, or has other descriptors (`try_clone`).
    ///
    /// # Panics
    /// Outside of a simulation, in tokio's words.
    #[track_caller]
    pub fn from_std(stream: std::net::TcpStream) -> io::Result<Self> {
        if let Some(socket) = taken(stream.as_raw_fd()) {
            let (socket, site) = (socket?, Location::caller());
            let descriptor = Descriptor::given_for(stream, &socket);
            return Ok(Self { socket, descriptor, site });
        }
        let socket = world::tcp(stream.local_addr().is_ok_and(|local| local.is_ipv6()))?;
        match stream.peer_addr() {
            Ok(_) => Err(no_peer("TcpStream")),
            Err(_) => {
                let descriptor = Descriptor::given(stream);
                Ok(Self { socket, descriptor, site: Location::caller() })
            }
        }
    }

    /// The connection as one of std's, whose calls do not wait unless it is told to.
    ///
    /// # Errors
    /// Where the process has no descriptors left; always, where std's sockets are the system's own.
    pub fn into_std(self) -> io::Result<std::net::TcpStream> {
        into_fd(self.socket, "TcpStream").map(std::net::TcpStream::from)
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

    crate::net::methods::ready!();
    crate::net::methods::readable!(poll_read_ready);
    crate::net::methods::writable!(poll_write_ready);
    crate::net::methods::operations!();

    // ------------------------------------------------------------ bytes

    crate::net::methods::reads!();
    crate::net::methods::writes!();

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

    crate::net::methods::shared!();

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
        self.options(Options::linger)
    }

    /// Sets `SO_LINGER`, in whole seconds: with zero, closing resets the connection.
    ///
    /// # Errors
    /// EBADF where its node has stopped.
    #[deprecated = "dropping a socket that lingers blocks the thread; `set_zero_linger` does not"]
    pub fn set_linger(&self, linger: Option<Duration>) -> io::Result<()> {
        self.set_options(|options| options.set_linger(linger))
    }

    /// Closing resets the connection.
    ///
    /// # Errors
    /// EBADF where its node has stopped.
    pub fn set_zero_linger(&self) -> io::Result<()> {
        self.set_options(|options| options.set_linger(Some(Duration::ZERO)))
    }

    crate::net::methods::numbers! {
        /// `IP_TTL`.
        ttl, set_ttl = Ttl;
    }

    fn options<R>(&self, look: impl FnOnce(&Options) -> R) -> io::Result<R> {
        self.socket.options(look)
    }

    fn set_options(&self, change: impl FnOnce(&mut Options)) -> io::Result<()> {
        self.socket.set_options(change)
    }

    fn number(&self, number: Number) -> io::Result<i32> {
        self.socket.number(number)
    }

    fn set_number(&self, number: Number, value: i32) -> io::Result<()> {
        self.socket.set_number(number, value)
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

crate::net::methods::try_from_std!(std::net::TcpStream, TcpStream);
crate::net::methods::stream!(TcpStream);
crate::net::methods::lent!(TcpStream);
