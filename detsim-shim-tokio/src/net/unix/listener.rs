//! A local socket that takes connections.
//!
//! Mirrors tokio's. Owns: [`UnixListener`].

use std::io;
use std::os::unix::net;
use std::panic::Location;
use std::path::Path;
use std::task::{Context, Poll};

use detsim_executor::OpKind;
use detsim_net::{How, Socket, Sockets};
use tokio::net::unix::SocketAddr;

use crate::net::descriptor::{Descriptor, no_std};
use crate::net::ready::wait;
use crate::net::unix::stream::UnixStream;
use crate::net::unix::{address_of, name_of, name_of_address};
use crate::net::world;

/// Connections that may wait to be accepted, as tokio asks for them.
const BACKLOG: u32 = 1024;

/// A local socket that takes connections.
pub struct UnixListener {
    socket: Socket,
    descriptor: Descriptor,
}

impl UnixListener {
    /// Listens under a path.
    ///
    /// # Errors
    /// EADDRINUSE.
    ///
    /// # Panics
    /// Outside of a simulation, in tokio's words.
    #[track_caller]
    pub fn bind<P: AsRef<Path>>(path: P) -> io::Result<Self> {
        Self::bind_name(name_of(path.as_ref())?, Descriptor::default())
    }

    /// Listens under an address.
    ///
    /// # Errors
    /// As [`Self::bind`].
    #[track_caller]
    pub fn bind_addr(address: &SocketAddr) -> io::Result<Self> {
        Self::bind_name(name_of_address(address), Descriptor::default())
    }

    #[track_caller]
    fn bind_name(name: Vec<u8>, descriptor: Descriptor) -> io::Result<Self> {
        let socket = world::open(Sockets::unix_stream)?;
        socket.bind_name(name)?;
        Self::listening(socket, BACKLOG, descriptor)
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

    /// A simulated socket that listens under the same address. The given one is kept for its descriptor.
    ///
    /// # Errors
    /// As [`Self::bind`].
    #[track_caller]
    pub fn from_std(listener: net::UnixListener) -> io::Result<Self> {
        let name = name_of_address(&listener.local_addr()?.into());
        Self::bind_name(name, Descriptor::given(listener))
    }

    /// # Errors
    /// Always: a simulated socket stays in its simulation.
    pub fn into_std(self) -> io::Result<net::UnixListener> {
        Err(no_std("UnixListener"))
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
            Ok((UnixStream::new(socket, site), address_of(&from)?))
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
            Ok((UnixStream::new(socket, site), address_of(&from)?))
        })
    }
}

crate::net::methods::try_from_std!(net::UnixListener, UnixListener);
crate::net::methods::addressed!(UnixListener);
crate::net::methods::descriptor!(UnixListener);
