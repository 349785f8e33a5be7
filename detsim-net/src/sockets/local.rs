//! Local sockets and pipes in the hands of a program.
//!
//! Owns: the calls that only they have. Does not own: reading, writing and readiness, which they share
//! with the others (`socket.rs`).

use std::io;
use std::panic::Location;
use std::task::{Context, Poll};

use detsim_executor::{Object, OpKind, ResourceKind};

use super::{How, Socket, SocketKey, SocketKind, Sockets};
use crate::errno::Errno;
use crate::unix::{Datagrams, Name, Unix};
use crate::waits::Side;

impl Sockets {
    /// A local socket that may become a stream or a listener.
    ///
    /// # Panics
    /// Where the simulation has ended.
    #[track_caller]
    pub fn unix_stream(&self) -> Socket {
        let object = Object::new(ResourceKind::UnixStream, Location::caller());
        self.open(SocketKind::Unix(Unix::Closed { name: Name::new() }), object)
    }

    /// A local socket for datagrams.
    ///
    /// # Panics
    /// Where the simulation has ended.
    #[track_caller]
    pub fn unix_datagram(&self) -> Socket {
        let object = Object::new(ResourceKind::UnixDatagram, Location::caller());
        self.open(SocketKind::Unix(Unix::Datagrams(Datagrams::default())), object)
    }

    /// Two local sockets for datagrams, connected.
    ///
    /// # Panics
    /// Where the simulation has ended.
    #[track_caller]
    pub fn unix_datagram_pair(&self) -> [Socket; 2] {
        let [a, b] = [self.unix_datagram(), self.unix_datagram()];
        self.with(|world, _| {
            world.set_datagram_peer(a.key, b.key);
            world.set_datagram_peer(b.key, a.key);
        });
        [a, b]
    }

    /// Two local streams, connected.
    ///
    /// # Panics
    /// Where the simulation has ended.
    #[track_caller]
    pub fn unix_pair(&self) -> [Socket; 2] {
        let site = Location::caller();
        let objects = [(); 2].map(|()| Object::new(ResourceKind::UnixStream, site));
        self.both(self.with(|world, kernel| world.unix_pair(kernel, objects)))
    }

    /// The two ends of a pipe: the writing one first.
    ///
    /// # Panics
    /// Where the simulation has ended.
    #[track_caller]
    pub fn pipe(&self) -> [Socket; 2] {
        let site = Location::caller();
        let objects = [(); 2].map(|()| Object::new(ResourceKind::Pipe, site));
        self.both(self.with(|world, kernel| world.pipe(kernel, objects)))
    }

    #[track_caller]
    fn both(&self, keys: Option<[SocketKey; 2]>) -> [Socket; 2] {
        let keys = keys.expect("detsim: sockets are opened where their simulation runs");
        keys.map(|key| Socket { sockets: self.clone(), key, closes: true })
    }
}

impl Socket {
    /// Gives a local socket a name: a path, or, behind a zero byte, an abstract one.
    ///
    /// # Errors
    /// EADDRINUSE, EINVAL for one that has a name.
    pub fn bind_name(&self, name: Vec<u8>) -> io::Result<()> {
        self.call(|world, _, key| world.unix_bind(key, name))
    }

    /// Its name; empty for none.
    ///
    /// # Errors
    /// EBADF where its node has stopped.
    pub fn local_name(&self) -> io::Result<Vec<u8>> {
        self.look(|world, key| world.unix_local(key))
    }

    /// The name of its peer; empty for none.
    ///
    /// # Errors
    /// ENOTCONN.
    pub fn peer_name(&self) -> io::Result<Vec<u8>> {
        self.look(|world, key| world.unix_peer(key))
    }

    /// Connects to whoever listens under a name, waiting for room in the queue.
    ///
    /// # Errors
    /// ENOENT, ECONNREFUSED.
    pub fn poll_connect_name(
        &self,
        cx: &mut Context<'_>,
        how: How<'_>,
        name: &Vec<u8>,
    ) -> Poll<io::Result<()>> {
        let site = how.site;
        let object = || Object::new(ResourceKind::UnixStream, site);
        self.poll(cx, how, |world, kernel, key| world.unix_connect(kernel, key, name, object))
    }

    /// Takes a stream, with the name of its peer.
    ///
    /// # Errors
    /// EINVAL where it does not listen.
    pub fn poll_accept_name(
        &self,
        cx: &mut Context<'_>,
        how: How<'_>,
    ) -> Poll<io::Result<(Self, Vec<u8>)>> {
        let accepted = self.poll(cx, how, |world, kernel, key| world.unix_accept(kernel, key));
        accepted
            .map_ok(|(key, from)| (Self { sockets: self.sockets.clone(), key, closes: true }, from))
    }

    /// Takes what was written into a pipe and not read, by either end of it.
    ///
    /// # Errors
    /// EOPNOTSUPP for what is no pipe.
    pub fn take_unread(&self) -> io::Result<Vec<u8>> {
        self.call(|world, _, key| match *world.unix(key)? {
            Unix::Sender(channel) | Unix::Receiver(channel) => world.take_unread(channel),
            _ => Err(Errno::NOT_SUPPORTED),
        })
    }

    /// From now on a local socket for datagrams talks to whoever has a name.
    ///
    /// # Errors
    /// ENOENT, ECONNREFUSED, EPROTOTYPE.
    pub fn set_peer_name(&self, name: &Vec<u8>) -> io::Result<()> {
        self.call(|world, _, key| world.datagram_connect(key, name))
    }

    /// Sends a local datagram without waiting, to the peer where no name is given.
    ///
    /// # Errors
    /// EAGAIN while the receiver's queue is full; ENOTCONN, ECONNREFUSED, EMSGSIZE.
    #[track_caller]
    pub fn try_send_name(&self, to: Option<&Vec<u8>>, data: &[u8]) -> io::Result<usize> {
        self.attempt(OpKind::Send, Side::Write, |world, kernel, key| {
            world.datagram_send(kernel, key, to, data)
        })
    }

    /// As [`Self::try_send_name`], waiting for room.
    ///
    /// # Errors
    /// As [`Self::try_send_name`].
    pub fn poll_send_name(
        &self,
        cx: &mut Context<'_>,
        how: How<'_>,
        to: Option<&Vec<u8>>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll(cx, how, |world, kernel, key| world.datagram_send(kernel, key, to, data))
    }

    /// Takes a local datagram without waiting: its length, and the name of who sent it.
    ///
    /// # Errors
    /// EAGAIN.
    #[track_caller]
    pub fn try_receive_name(&self, buffer: &mut [u8]) -> io::Result<(usize, Vec<u8>)> {
        self.attempt(OpKind::Recv, Side::Read, |world, kernel, key| {
            world.datagram_receive(kernel, key, buffer)
        })
    }

    /// As [`Self::try_receive_name`], waiting for a datagram.
    ///
    /// # Errors
    /// EBADF where its node has stopped.
    pub fn poll_receive_name(
        &self,
        cx: &mut Context<'_>,
        how: How<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<(usize, Vec<u8>)>> {
        self.poll(cx, how, |world, kernel, key| world.datagram_receive(kernel, key, buffer))
    }

    /// Closes directions of a local socket for datagrams: [read, write].
    ///
    /// # Errors
    /// EBADF where its node has stopped.
    pub fn shutdown_datagrams(&self, shut: [bool; 2]) -> io::Result<()> {
        self.call(|world, kernel, key| world.datagram_shutdown(kernel, key, shut))
    }
}
