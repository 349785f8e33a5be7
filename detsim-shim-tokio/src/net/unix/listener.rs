//! A local socket that takes connections.
//!
//! Mirrors tokio's. Owns: [`UnixListener`].

use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::net;
use std::panic::Location;
use std::path::Path;
use std::task::{Context, Poll};

use detsim::__private::local;
use detsim_executor::OpKind;
use detsim_net::{How, Socket, Sockets};
use tokio::net::unix::SocketAddr;

use crate::net::descriptor::{Descriptor, into_fd, taken};
use crate::net::ready::wait;
use crate::net::unix::stream::UnixStream;
use crate::net::unix::{address_of, name_of, name_of_address};
use crate::net::world;

/// Connections that may wait to be accepted: tokio asks for as many as the system has room for.
const BACKLOG: u32 = u32::MAX;

/// A local socket that takes connections.
pub struct UnixListener {
    socket: Socket,
    descriptor: Descriptor,
}

impl UnixListener {
    /// Listens under a path, where it makes a file.
    ///
    /// # Errors
    /// EADDRINUSE where there is a file, of a socket that is long closed too; those of walking a path.
    ///
    /// # Panics
    /// Outside of a simulation, in tokio's words.
    #[track_caller]
    pub fn bind<P: AsRef<Path>>(path: P) -> io::Result<Self> {
        Self::bind_name(name_of(path.as_ref())?)
    }

    /// Listens under an address.
    ///
    /// # Errors
    /// As [`Self::bind`].
    #[track_caller]
    pub fn bind_addr(address: &SocketAddr) -> io::Result<Self> {
        Self::bind_name(name_of_address(address))
    }

    #[track_caller]
    fn bind_name(name: Vec<u8>) -> io::Result<Self> {
        let socket = world::open(Sockets::unix_stream)?;
        world::inside(|| local::bind(&socket, name))?;
        Self::listening(socket, BACKLOG, Descriptor::default())
    }

    #[track_caller]
    pub(super) fn listening(
        socket: Socket,
        backlog: u32,
        descriptor: Descriptor,
    ) -> io::Result<Self> {
        socket.listen(backlog)?;
        Ok(Self { socket, descriptor })
    }

    /// A listener of std that was made in this run, taken over with what it has; or, in place of one of the
    /// system's, a simulated socket that listens under the same name. The given one is kept for its
    /// descriptor.
    ///
    /// # Errors
    /// As [`Self::bind`].
    ///
    /// # Panics
    /// Outside of a simulation, in tokio's words.
    #[track_caller]
    pub fn from_std(listener: net::UnixListener) -> io::Result<Self> {
        if let Some(socket) = taken(listener.as_raw_fd()) {
            let socket = socket?;
            let descriptor = Descriptor::given_for(listener, &socket);
            return Ok(Self { socket, descriptor });
        }
        let name = name_of_address(&listener.local_addr()?.into());
        let socket = world::open(Sockets::unix_stream)?;
        world::inside(|| local::bind_in_place(&socket, name))?;
        Self::listening(socket, BACKLOG, Descriptor::given(listener))
    }

    /// The listener as one of std's, whose calls do not wait unless it is told to.
    ///
    /// # Errors
    /// Where the process has no descriptors left; always, where std's sockets are the system's own.
    pub fn into_std(self) -> io::Result<net::UnixListener> {
        into_fd(self.socket, "UnixListener").map(net::UnixListener::from)
    }

    /// The address it listens under.
    ///
    /// # Errors
    /// EBADF where its node has stopped.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        address_of(&self.socket.local_name()?)
    }

    /// Takes the error that is pending: there is never one.
    ///
    /// # Errors
    /// EBADF where its node has stopped.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        self.socket.take_error()
    }

    /// Takes a connection, with the address of its peer.
    ///
    /// # Errors
    /// EBADF where its node has stopped.
    #[track_caller]
    pub fn accept(&self) -> impl Future<Output = io::Result<(UnixStream, SocketAddr)>> + '_ {
        let site = Location::caller();
        async move {
            let socket = &self.socket;
            let accepted =
                wait(socket, OpKind::Accept, site, |cx, how| socket.poll_accept_name(cx, how));
            let (socket, from) = accepted.await?;
            Ok((UnixStream::new(socket, site), shown_to_tokio(&from)?))
        }
    }

    /// Polls for a connection.
    ///
    /// # Errors
    /// As [`Self::accept`].
    #[track_caller]
    pub fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<(UnixStream, SocketAddr)>> {
        let site = Location::caller();
        let accepted = self.socket.poll_accept_name(cx, How::poller_at(OpKind::Accept, site));
        accepted.map(|accepted| {
            let (socket, from) = accepted?;
            Ok((UnixStream::new(socket, site), shown_to_tokio(&from)?))
        })
    }
}

/// The address of a peer that was accepted. tokio takes an abstract name for none.
fn shown_to_tokio(from: &[u8]) -> io::Result<SocketAddr> {
    address_of(if from.starts_with(b"\0") { b"" } else { from })
}

crate::net::methods::try_from_std!(net::UnixListener, UnixListener);
crate::net::methods::addressed!(UnixListener);
crate::net::methods::lent!(UnixListener);
