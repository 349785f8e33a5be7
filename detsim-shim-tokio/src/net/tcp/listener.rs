//! A socket that takes connections.
//!
//! Mirrors tokio's. Owns: [`TcpListener`].

use std::io;
use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use std::panic::Location;
use std::task::{Context, Poll};

use detsim_executor::OpKind;
use detsim_net::{How, Number, Socket};

use crate::net::addr::{ToSocketAddrs, each};
use crate::net::descriptor::{Descriptor, into_fd, taken};
use crate::net::ready::{Site, point, wait};
use crate::net::tcp::stream::TcpStream;
use crate::net::world;

/// Connections that may wait to be accepted, as tokio asks for them.
const BACKLOG: u32 = 1024;

/// A socket that takes connections.
pub struct TcpListener {
    socket: Socket,
    descriptor: Descriptor,
}

impl TcpListener {
    /// Listens on an address; port 0 means a free one.
    ///
    /// # Errors
    /// As Linux has it: EADDRINUSE, EADDRNOTAVAIL; or a name that cannot be resolved.
    #[track_caller]
    pub fn bind<A: ToSocketAddrs>(address: A) -> impl Future<Output = io::Result<Self>> + use<A> {
        let (site, target) = (Location::caller(), address.target());
        async move { each(target, |address| Self::bind_at(address, site)).await }
    }

    async fn bind_at(address: SocketAddr, site: Site) -> io::Result<Self> {
        let socket = world::tcp(address.is_ipv6())?;
        point(&socket, OpKind::Start, site).await;
        Self::listening(socket, address, Descriptor::default())
    }

    #[track_caller]
    fn listening(socket: Socket, address: SocketAddr, descriptor: Descriptor) -> io::Result<Self> {
        socket.set_options(|options| options.reuse_address = true)?;
        socket.bind(address)?;
        socket.listen(BACKLOG)?;
        Ok(Self { socket, descriptor })
    }

    pub(super) fn new(socket: Socket, descriptor: Descriptor) -> Self {
        Self { socket, descriptor }
    }

    /// Takes a connection, with the address of its peer.
    ///
    /// # Errors
    /// EBADF where its node has stopped.
    #[track_caller]
    pub fn accept(&self) -> impl Future<Output = io::Result<(TcpStream, SocketAddr)>> + '_ {
        let site = Location::caller();
        async move {
            let socket = &self.socket;
            let accepted =
                wait(socket, OpKind::Accept, site, |cx, how| socket.poll_accept(cx, how)).await?;
            Ok((TcpStream::new(accepted.0, site), accepted.1))
        }
    }

    /// Polls for a connection.
    ///
    /// # Errors
    /// As [`Self::accept`].
    #[track_caller]
    pub fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<(TcpStream, SocketAddr)>> {
        let site = Location::caller();
        let how = How::poller_at(OpKind::Accept, site);
        let accepted = world::inside(|| self.socket.poll_accept(cx, how));
        accepted.map_ok(|(socket, from)| (TcpStream::new(socket, site), from))
    }

    /// A listener of std that was made in this run, taken over with what it has; or, in place of one of the
    /// system's, a simulated socket that listens on the same address of the node that runs. The given
    /// one is kept for its descriptor.
    ///
    /// # Errors
    /// As [`Self::bind`].
    ///
    /// # Panics
    /// Outside of a simulation, in tokio's words.
    #[track_caller]
    pub fn from_std(listener: std::net::TcpListener) -> io::Result<Self> {
        if let Some(socket) = taken(listener.as_raw_fd()) {
            let socket = socket?;
            let descriptor = Descriptor::given_for(listener, &socket);
            return Ok(Self::new(socket, descriptor));
        }
        let address = listener.local_addr()?;
        let socket = world::tcp(address.is_ipv6())?;
        Self::listening(socket, address, Descriptor::given(listener))
    }

    /// The listener as one of std's, whose calls do not wait unless it is told to.
    ///
    /// # Errors
    /// Where the process has no descriptors left; always, where std's sockets are the system's own.
    pub fn into_std(self) -> io::Result<std::net::TcpListener> {
        into_fd(self.socket, "TcpListener").map(std::net::TcpListener::from)
    }

    /// The address it listens on.
    ///
    /// # Errors
    /// EBADF where its node has stopped.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    crate::net::methods::numbers! {
        /// `IP_TTL`.
        ttl, set_ttl = Ttl;
    }

    fn number(&self, number: Number) -> io::Result<i32> {
        self.socket.number(number)
    }

    fn set_number(&self, number: Number, value: i32) -> io::Result<()> {
        self.socket.set_number(number, value)
    }
}

crate::net::methods::try_from_std!(std::net::TcpListener, TcpListener);
crate::net::methods::addressed!(TcpListener);
crate::net::methods::lent!(TcpListener);
