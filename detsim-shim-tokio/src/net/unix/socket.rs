//! A local socket that is nothing in particular yet.
//!
//! Mirrors tokio's. Owns: [`UnixSocket`].

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::panic::Location;
use std::path::Path;

use detsim::__private::local;
use detsim_net::{Socket, Sockets};

use crate::net::descriptor::{Descriptor, into_fd, taken};
use crate::net::unix::datagram::UnixDatagram;
use crate::net::unix::listener::UnixListener;
use crate::net::unix::raw_name_of;
use crate::net::unix::stream::UnixStream;
use crate::net::world;

const OF_SYSTEM: &str = "detsim: a local socket of the operating system takes no simulated one's place; its \
                         peers are not simulated; make it in the run, or use UnixSocket as it is";

/// A local socket that is nothing in particular yet.
#[derive(Debug)]
pub struct UnixSocket {
    socket: Socket,
    is_stream: bool,
    descriptor: Descriptor,
}

impl UnixSocket {
    /// For datagrams.
    ///
    /// # Errors
    /// None in a simulation.
    ///
    /// # Panics
    /// Outside of a simulation, in tokio's words.
    #[track_caller]
    pub fn new_datagram() -> io::Result<Self> {
        let socket = world::open(Sockets::unix_datagram)?;
        Ok(Self { socket, is_stream: false, descriptor: Descriptor::default() })
    }

    /// For streams.
    ///
    /// # Errors
    /// None in a simulation.
    ///
    /// # Panics
    /// Outside of a simulation, in tokio's words.
    #[track_caller]
    pub fn new_stream() -> io::Result<Self> {
        let socket = world::open(Sockets::unix_stream)?;
        Ok(Self { socket, is_stream: true, descriptor: Descriptor::default() })
    }

    /// The simulated socket behind a descriptor.
    ///
    /// # Errors
    /// Where there is none, or where other descriptors have it too.
    #[track_caller]
    pub(in crate::net) fn from_fd(fd: OwnedFd) -> io::Result<Self> {
        let socket = taken(fd.as_raw_fd()).unwrap_or_else(|| Err(io::Error::other(OF_SYSTEM)))?;
        let is_stream = !socket.is_local_datagram()?;
        let descriptor = Descriptor::given_for(fd, &socket);
        Ok(Self { socket, is_stream, descriptor })
    }

    /// Its descriptor, with the simulated socket behind it.
    pub(in crate::net) fn into_fd(self) -> io::Result<OwnedFd> {
        into_fd(self.socket, "UnixSocket")
    }

    /// Gives it a name.
    ///
    /// # Errors
    /// EADDRINUSE, EINVAL.
    pub fn bind(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let name = raw_name_of(path.as_ref())?;
        world::inside(|| local::bind(&self.socket, name))
    }

    /// Takes connections from now on, `backlog` of them unaccepted.
    ///
    /// # Errors
    /// Where it is for datagrams, in tokio's words; EINVAL where it has no name.
    #[track_caller]
    pub fn listen(self, backlog: u32) -> io::Result<UnixListener> {
        if !self.is_stream {
            return Err(io::Error::other("listen cannot be called on a datagram socket"));
        }
        UnixListener::listening(self.socket, backlog, self.descriptor)
    }

    /// Connects.
    ///
    /// # Errors
    /// Where it is for datagrams, in tokio's words; ENOENT, ECONNREFUSED.
    #[track_caller]
    pub fn connect(self, path: impl AsRef<Path>) -> impl Future<Output = io::Result<UnixStream>> {
        let (site, name) = (Location::caller(), raw_name_of(path.as_ref()));
        async move {
            if !self.is_stream {
                return Err(io::Error::other("connect cannot be called on a datagram socket"));
            }
            UnixStream::connecting(self.socket, self.descriptor, name?, site).await
        }
    }

    /// The socket for datagrams that it is.
    ///
    /// # Errors
    /// Where it is for streams, in tokio's words.
    #[track_caller]
    pub fn datagram(self) -> io::Result<UnixDatagram> {
        if self.is_stream {
            return Err(io::Error::other("datagram cannot be called on a stream socket"));
        }
        Ok(UnixDatagram::new(self.socket, self.descriptor))
    }
}

crate::net::methods::lent!(UnixSocket);
