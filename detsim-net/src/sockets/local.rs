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
use crate::unix::{Datagrams, Name, Unix, Whom};
use crate::waits::Side;

impl Sockets {
    /// A local socket that may become a stream or a listener.
    ///
    /// # Panics
    /// Where the simulation has ended.
    #[track_caller]
    pub fn unix_stream(&self) -> Socket {
        let object = Object::new(ResourceKind::UnixStream, Location::caller());
        self.open(SocketKind::Unix(Unix::Closed { name: Name::default() }), object)
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
    /// Is it a local one, of streams or datagrams?
    ///
    /// # Errors
    /// EBADF where its node has stopped.
    pub fn is_local(&self) -> io::Result<bool> {
        self.look(|world, key| Ok(matches!(world.entry(key)?.kind, SocketKind::Unix(_))))
    }

    /// Does it take and give local datagrams?
    ///
    /// # Errors
    /// EBADF where its node has stopped.
    pub fn is_local_datagram(&self) -> io::Result<bool> {
        let is_it = |kind: &SocketKind| matches!(kind, SocketKind::Unix(Unix::Datagrams(_)));
        self.look(|world, key| Ok(is_it(&world.entry(key)?.kind)))
    }

    /// Gives a local socket a name: an abstract one, behind a zero byte; or, where `file` is the number of a
    /// file that was made for it, a path. An empty one means any abstract name that nobody has.
    ///
    /// # Errors
    /// EADDRINUSE; EINVAL for a socket that has a name.
    pub fn bind_name(&self, name: Vec<u8>, file: Option<u64>) -> io::Result<()> {
        self.call(|world, _, key| world.unix_bind(key, name, file))
    }

    /// Its name, as it was bound; empty for none.
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

    /// Connects to whoever listens there, where the task may be stopped first.
    ///
    /// # Errors
    /// As [`Self::try_connect_name`].
    pub fn poll_connect_name(
        &self,
        cx: &mut Context<'_>,
        how: How<'_>,
        whom: &Whom,
    ) -> Poll<io::Result<()>> {
        let site = how.site;
        let object = || Object::new(ResourceKind::UnixStream, site);
        let connected = self.poll(cx, how, |world, kernel, key| {
            match world.unix_connect(kernel, key, whom, object) {
                Err(Errno::AGAIN) => Ok(Err(Errno::AGAIN)),
                other => other.map(Ok),
            }
        });
        connected.map(|connected| Ok(connected??))
    }

    /// Connects to whoever listens there.
    ///
    /// # Errors
    /// ECONNREFUSED; EAGAIN while the queue of who listens is full; EPROTOTYPE for one that takes datagrams.
    #[track_caller]
    pub fn try_connect_name(&self, whom: &Whom) -> io::Result<()> {
        let site = Location::caller();
        let object = || Object::new(ResourceKind::UnixStream, site);
        self.attempt(OpKind::Connect, Side::Write, |world, kernel, key| {
            world.unix_connect(kernel, key, whom, object)
        })
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
        accepted.map_ok(|(key, from)| (self.owning(key), from))
    }

    /// As [`Self::poll_accept_name`], without waiting.
    ///
    /// # Errors
    /// EAGAIN; EINVAL where it does not listen.
    #[track_caller]
    pub fn try_accept_name(&self) -> io::Result<(Self, Vec<u8>)> {
        let accepted = self.attempt(OpKind::Accept, Side::Read, |world, kernel, key| {
            world.unix_accept(kernel, key)
        });
        accepted.map(|(key, from)| (self.owning(key), from))
    }

    fn owning(&self, key: SocketKey) -> Self {
        Self { sockets: self.sockets.clone(), key, closes: true }
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

    /// From now on a local socket for datagrams talks to whoever is there, or, with `None`, to nobody.
    ///
    /// # Errors
    /// ECONNREFUSED; EPROTOTYPE for one that takes streams; EPERM for one that talks to another.
    pub fn set_peer_name(&self, whom: Option<&Whom>) -> io::Result<()> {
        self.call(|world, kernel, key| world.datagram_connect(kernel, key, whom))
    }

    /// Sends a local datagram without waiting, to the peer where nobody is named.
    ///
    /// # Errors
    /// EAGAIN while the receiver's queue is full; ENOTCONN, ECONNREFUSED, EMSGSIZE, EPERM.
    #[track_caller]
    pub fn try_send_name(&self, to: Option<&Whom>, data: &[u8]) -> io::Result<usize> {
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
        to: Option<&Whom>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll(cx, how, |world, kernel, key| world.datagram_send(kernel, key, to, data))
    }

    /// Takes a local datagram without waiting, or only looks at it: how long it is, of which as much is there
    /// as there is room for, and the name of who sent it.
    ///
    /// # Errors
    /// EAGAIN.
    #[track_caller]
    pub fn try_receive_name(&self, buffer: &mut [u8], peeks: bool) -> io::Result<(usize, Vec<u8>)> {
        self.attempt(OpKind::Recv, Side::Read, |world, kernel, key| {
            world.datagram_receive(kernel, key, buffer, peeks)
        })
    }

    /// As [`Self::try_receive_name`], taking it, and waiting for one.
    ///
    /// # Errors
    /// EBADF where its node has stopped.
    pub fn poll_receive_name(
        &self,
        cx: &mut Context<'_>,
        how: How<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<(usize, Vec<u8>)>> {
        self.poll(cx, how, |world, kernel, key| world.datagram_receive(kernel, key, buffer, false))
    }

    /// Closes directions of a local socket, or of one of UDP: [read, write].
    ///
    /// # Errors
    /// ENOTCONN for one of UDP that has no peer, which is closed all the same; EBADF where its node has stopped.
    pub fn shutdown_ways(&self, shut: [bool; 2]) -> io::Result<()> {
        self.call(|world, kernel, key| match world.entry(key)?.kind {
            SocketKind::Udp(_) => world.udp_shutdown(kernel, key, shut),
            _ => world.unix_shutdown(kernel, key, shut),
        })
    }

    /// Whether a socket for datagrams is closed for reading: a receive that may wait gives 0 bytes then, where
    /// one that only tries still gives EAGAIN.
    ///
    /// # Errors
    /// EBADF where its node has stopped.
    pub fn is_shut_for_reading(&self) -> io::Result<bool> {
        self.look(|world, key| {
            Ok(match &world.entry(key)?.kind {
                SocketKind::Udp(udp) => udp.shut[0],
                SocketKind::Unix(Unix::Datagrams(datagrams)) => datagrams.shut[0],
                _ => false,
            })
        })
    }
}
