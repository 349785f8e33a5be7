//! A local stream.
//!
//! Mirrors tokio's. Owns: [`UnixStream`]. Does not own: its halves (`split.rs`, `split_owned.rs`).

use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::net;
use std::panic::Location;
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll};

use detsim::__private::local;
use detsim_executor::{OpKind, yield_now};
use detsim_net::{Socket, Sockets};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::unix::SocketAddr;

use crate::net::descriptor::{Descriptor, into_fd, no_peer, taken};
use crate::net::ready::{Site, wait};
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
    /// ENOENT, ECONNREFUSED, EACCES; `WouldBlock` while the queue of who listens is full.
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
        let socket = world::open(Sockets::unix_stream)?;
        Self::connecting(socket, Descriptor::default(), name, site).await
    }

    pub(super) async fn connecting(
        socket: Socket,
        descriptor: Descriptor,
        name: Vec<u8>,
        site: Site,
    ) -> io::Result<Self> {
        let connect = wait(&socket, OpKind::Connect, site, |cx, how| {
            socket.poll_connect_name(cx, how, &local::find(&name))
        });
        connect.await?;
        // As on tokio, which asks the system whether it is there only when others have run.
        yield_now().await;
        match socket.take_error()? {
            Some(error) => Err(error),
            None => Ok(Self { socket, descriptor, site }),
        }
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
        let [a, b] = world::open(Sockets::unix_pair)?.map(|socket| Self::new(socket, site));
        [&a, &b].into_iter().for_each(|end| end.socket.register([false, true]));
        Ok((a, b))
    }

    /// A connection of std that was made in this run, taken over with what it has.
    ///
    /// # Errors
    /// For one of the system's: its peer is not simulated.
    ///
    /// # Panics
    /// Outside of a simulation, in tokio's words.
    #[track_caller]
    pub fn from_std(stream: net::UnixStream) -> io::Result<Self> {
        if let Some(socket) = taken(stream.as_raw_fd()) {
            let (socket, site) = (socket?, Location::caller());
            let descriptor = Descriptor::given_for(stream, &socket);
            return Ok(Self { socket, descriptor, site });
        }
        world::open(|_| drop(stream))?;
        Err(no_peer("UnixStream"))
    }

    /// The connection as one of std's, whose calls do not wait unless it is told to.
    ///
    /// # Errors
    /// Where the process has no descriptors left; always, where std's sockets are the system's own.
    pub fn into_std(self) -> io::Result<net::UnixStream> {
        into_fd(self.socket, "UnixStream").map(net::UnixStream::from)
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

    crate::net::methods::ready!();
    crate::net::methods::readable!(poll_read_ready);
    crate::net::methods::writable!(poll_write_ready);
    crate::net::methods::operations!();

    // ------------------------------------------------------------ bytes

    crate::net::methods::reads!();
    crate::net::methods::writes!();
    crate::net::methods::shared!();

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

crate::net::methods::try_from_std!(net::UnixStream, UnixStream);
crate::net::methods::stream!(UnixStream);
crate::net::methods::lent!(UnixStream);
