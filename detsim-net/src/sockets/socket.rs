//! A socket in the hands of a program.
//!
//! Owns: [`Socket`] and its calls: those that try, and those that wait. Does not own: what a call does
//! (`tcp/calls.rs` and others). Invariants: each call is one section and one operation for the
//! scheduler; a call that waits stands in the wait graph with its end, its line, and the one who used
//! the other end last; dropping a socket closes it.

use std::fmt;
use std::io::{self, IoSlice, IoSliceMut};
use std::net::{IpAddr, SocketAddr};
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::task::{Context, Poll};

use detsim_executor::{In, Kernel, Object, OpKind, ResourceKind, storable, yield_with};

use super::dispatch::Begins;
use super::how::How;
use super::{SocketKey, SocketKind, Sockets, World, leave};
use crate::errno::{Errno, Result};
use crate::options::Options;
use crate::tcp::calls::Readiness;
use crate::tcp::{State, TcpSocket};
use crate::udp::UdpSocket;
use crate::waits::{About, Side, Ticket};

/// A socket of a simulation. Dropping it closes it.
///
/// Its errors are those of Linux, with their numbers. A call that waits gives
/// [`io::ErrorKind::WouldBlock`] in its form that only tries.
pub struct Socket {
    pub(super) sockets: Sockets,
    pub(super) key: SocketKey,
    /// It is whoever's has it, not lent.
    pub(super) closes: bool,
}

impl Sockets {
    /// A new socket of TCP, of whoever runs.
    ///
    /// # Panics
    /// Where the simulation has ended.
    #[track_caller]
    pub fn tcp(&self, is_v6: bool) -> Socket {
        let object = Object::new(ResourceKind::TcpStream, Location::caller());
        let kind = SocketKind::Tcp(TcpSocket { is_v6, state: State::Closed { local: None } });
        self.open(kind, object)
    }

    /// A new socket of UDP, of whoever runs.
    ///
    /// # Panics
    /// Where the simulation has ended.
    #[track_caller]
    pub fn udp(&self, is_v6: bool) -> Socket {
        let object = Object::new(ResourceKind::UdpSocket, Location::caller());
        self.open(SocketKind::Udp(UdpSocket::new(is_v6)), object)
    }

    #[track_caller]
    pub(crate) fn open(&self, kind: SocketKind, object: Object) -> Socket {
        let is_v6 = match &kind {
            SocketKind::Tcp(tcp) => tcp.is_v6,
            SocketKind::Udp(udp) => udp.is_v6,
            SocketKind::Unix(_) => false,
        };
        let options = Options { multicast_all_v4: !is_v6, ..Options::default() };
        let key = self.with(|world, kernel| world.open(kernel, kind, object, options));
        match key {
            Some(key) => Socket { sockets: self.clone(), key, closes: true },
            None => panic!("{ENDED}"),
        }
    }
}

const ENDED: &str = "detsim: a socket is opened where its simulation does not run; it has ended, or \
                     runs on another thread; open sockets in its tasks";

impl Socket {
    // ------------------------------------------------------------ addresses

    /// Gives it an address; port 0 means a free one.
    ///
    /// # Errors
    /// EADDRINUSE, EADDRNOTAVAIL, EINVAL for one that has an address already.
    pub fn bind(&self, address: SocketAddr) -> io::Result<()> {
        self.call(|world, kernel, key| world.bind(kernel, key, address))
    }

    /// Takes connections from now on, `backlog` of them unaccepted.
    ///
    /// # Errors
    /// EADDRINUSE where another listens there.
    #[track_caller]
    pub fn listen(&self, backlog: u32) -> io::Result<()> {
        let site = Location::caller();
        self.call(|world, kernel, key| {
            let kind = match world.entry(key)?.kind {
                SocketKind::Unix(_) => {
                    world.unix_listen(key, backlog)?;
                    ResourceKind::UnixListener
                }
                _ => {
                    world.tcp_listen(kernel, key, backlog)?;
                    ResourceKind::TcpListener
                }
            };
            world.entry_mut(key)?.object = Object::new(kind, site);
            Ok(())
        })
    }

    /// Lets the task that runs be stopped, as before any other operation.
    pub fn poll_point(&self, cx: &mut Context<'_>, how: How<'_>) -> Poll<()> {
        self.poll(cx, how, |_, _, _| Ok(())).map(drop)
    }

    /// Its own address.
    ///
    /// # Errors
    /// EBADF where its node has stopped.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.look(|world, key| world.local(key))
    }

    /// The address of its peer.
    ///
    /// # Errors
    /// ENOTCONN.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.look(|world, key| world.peer(key))
    }

    /// Takes the error that is pending.
    ///
    /// # Errors
    /// EBADF where its node has stopped.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        let error = self.look(|world, key| world.pending_error(key))?;
        Ok(error.map(io::Error::from))
    }

    // ------------------------------------------------------------ connecting

    /// Begins to connect; [`Self::poll_connected`] tells how it ends.
    ///
    /// # Errors
    /// EADDRNOTAVAIL where no port is free, EAFNOSUPPORT.
    pub fn connect(&self, to: SocketAddr) -> io::Result<()> {
        self.call(|world, kernel, key| world.tcp_connect(kernel, key, to))
    }

    /// Waits for the end of a connect.
    ///
    /// # Errors
    /// ECONNREFUSED, ETIMEDOUT.
    pub fn poll_connected(&self, cx: &mut Context<'_>, how: How<'_>) -> Poll<io::Result<()>> {
        self.poll(cx, how, |world, _, key| world.tcp_connected(key))
    }

    /// Takes a connection, with the address of its peer.
    ///
    /// # Errors
    /// EINVAL where it does not listen.
    #[track_caller]
    pub fn poll_accept(
        &self,
        cx: &mut Context<'_>,
        how: How<'_>,
    ) -> Poll<io::Result<(Self, SocketAddr)>> {
        let object = Object::new(ResourceKind::TcpStream, how.site);
        let mut object = Some(object);
        let accepted =
            self.poll(cx, how, |world, kernel, key| world.accept(kernel, key, &mut object));
        accepted
            .map_ok(|(key, from)| (Self { sockets: self.sockets.clone(), key, closes: true }, from))
    }

    // ------------------------------------------------------------ bytes

    /// Reads, without waiting.
    ///
    /// # Errors
    /// EAGAIN, ECONNRESET.
    pub fn try_read(&self, buffers: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        self.attempt(OpKind::Recv, Side::Read, |world, kernel, key| {
            world.read(kernel, key, buffers, false)
        })
    }

    /// Reads without taking, waiting for something to read.
    ///
    /// # Errors
    /// As [`Self::poll_read`].
    pub fn poll_peek(
        &self,
        cx: &mut Context<'_>,
        how: How<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let mut buffers = [IoSliceMut::new(buffer)];
        self.poll(cx, how, |world, kernel, key| world.read(kernel, key, &mut buffers, true))
    }

    /// Writes, without waiting.
    ///
    /// # Errors
    /// EAGAIN, EPIPE, ECONNRESET.
    pub fn try_write(&self, buffers: &[IoSlice<'_>]) -> io::Result<usize> {
        self.attempt(OpKind::Send, Side::Write, |world, kernel, key| {
            world.write(kernel, key, buffers)
        })
    }

    /// Says that nothing more will be written.
    ///
    /// # Errors
    /// ENOTCONN where it was never connected.
    pub fn shutdown(&self) -> io::Result<()> {
        self.attempt(OpKind::Close, Side::Write, |world, kernel, key| {
            match world.entry(key)?.kind {
                SocketKind::Unix(_) => world.unix_shutdown(kernel, key, [false, true]),
                _ => world.tcp_shutdown(kernel, key),
            }
        })
    }

    // ------------------------------------------------------------ datagrams

    /// From now on a socket for datagrams talks to one peer.
    ///
    /// # Errors
    /// EAFNOSUPPORT.
    pub fn set_peer(&self, to: SocketAddr) -> io::Result<()> {
        self.call(|world, _, key| world.udp_connect(key, to))
    }

    /// Sends a datagram, to the peer where no other is named. It never waits.
    ///
    /// # Errors
    /// EMSGSIZE, EDESTADDRREQ, EACCES; ECONNREFUSED for one that went before.
    #[track_caller]
    pub fn try_send(&self, to: Option<SocketAddr>, data: &[u8]) -> io::Result<usize> {
        self.attempt(OpKind::Send, Side::Write, |world, kernel, key| {
            world.udp_send(kernel, key, to, data)
        })
    }

    /// As [`Self::try_send`], where the task may be stopped first.
    ///
    /// # Errors
    /// As [`Self::try_send`].
    pub fn poll_send(
        &self,
        cx: &mut Context<'_>,
        how: How<'_>,
        to: Option<SocketAddr>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll(cx, how, |world, kernel, key| world.udp_send(kernel, key, to, data))
    }

    /// Takes a datagram without waiting, or only looks at it: its bytes, as many as there is room for,
    /// and who sent it.
    ///
    /// # Errors
    /// EAGAIN; ECONNREFUSED for one that was sent.
    #[track_caller]
    pub fn try_receive(&self, buffer: &mut [u8], peeks: bool) -> io::Result<(usize, SocketAddr)> {
        self.attempt(OpKind::Recv, Side::Read, |world, kernel, key| {
            world.receive(kernel, key, buffer, peeks)
        })
    }

    /// As [`Self::try_receive`], waiting for a datagram.
    ///
    /// # Errors
    /// ECONNREFUSED for one that was sent.
    pub fn poll_receive(
        &self,
        cx: &mut Context<'_>,
        how: How<'_>,
        buffer: &mut [u8],
        peeks: bool,
    ) -> Poll<io::Result<(usize, SocketAddr)>> {
        self.poll(cx, how, |world, kernel, key| world.receive(kernel, key, buffer, peeks))
    }

    /// Joins a group, or leaves it.
    ///
    /// # Errors
    /// EINVAL for what is no group, EADDRINUSE for one joined before, EADDRNOTAVAIL for one that was not.
    pub fn set_member(&self, group: IpAddr, is_member: bool) -> io::Result<()> {
        self.call(|world, _, key| world.udp_group(key, group, is_member))
    }

    // ------------------------------------------------------------ readiness

    /// Waits until one of the ends that are asked for is ready.
    ///
    /// # Errors
    /// EBADF where its node has stopped.
    pub fn poll_ready(
        &self,
        cx: &mut Context<'_>,
        how: How<'_>,
        [reads, writes]: [bool; 2],
    ) -> Poll<io::Result<Readiness>> {
        let side = match (reads, writes) {
            (true, true) => Side::Either,
            (false, true) => Side::Write,
            _ => Side::Read,
        };
        // As in tokio: who only waits for readiness, as a future, may do so as often as it likes.
        let costs = how.ticket.is_none();
        self.poll(cx, How { side, costs, ..how }, |world, kernel, key| {
            let ready = world.remembered(Some(kernel), key)?;
            // No operation makes tokio forget that a direction is closed.
            let met = (reads && (ready.readable || ready.read_closed))
                || (writes && (ready.writable || ready.write_closed));
            if met { Ok(ready) } else { Err(Errno::AGAIN) }
        })
    }

    /// What tokio would still take it to be ready for.
    ///
    /// # Errors
    /// EBADF where its node has stopped.
    pub fn readiness(&self) -> io::Result<Readiness> {
        let mut section = self.sockets.world.enter();
        let (world, kernel) = section.both();
        world.remembered(kernel.as_deref(), self.key).map_err(io::Error::from)
    }

    /// What tokio would take for ready is not: an operation of the program's own has found out.
    pub fn clear_ready(&self, [read, write]: [bool; 2]) {
        self.sockets.with(|world, _| {
            if let Ok(entry) = world.entry_mut(self.key) {
                entry.ready[0] &= !read;
                entry.ready[1] &= !write;
                entry.denied[0] |= read;
                entry.denied[1] |= write;
            }
        });
    }

    /// Takes the wait of a future back that is given up.
    pub fn forget(&self, ticket: &Ticket) {
        let Some(ticket) = ticket.0 else { return };
        let mut section = self.sockets.world.enter();
        let (world, kernel) = section.both();
        let waker = world
            .sockets
            .get_mut(self.key)
            .and_then(|entry| entry.waits.cancel(kernel, &mut entry.object, ticket));
        section.dispose(waker);
    }

    // ------------------------------------------------------------ how

    pub(super) fn call<R>(
        &self,
        f: impl FnOnce(&mut World, &mut Kernel, SocketKey) -> Result<R>,
    ) -> io::Result<R> {
        let result = self.sockets.with(|world, kernel| f(world, kernel, self.key));
        result.unwrap_or(Err(Errno::BAD_FILE)).map_err(io::Error::from)
    }

    /// What takes no kernel, and so can be asked where the simulation does not run.
    pub(super) fn look<R>(
        &self,
        f: impl FnOnce(&mut World, SocketKey) -> Result<R>,
    ) -> io::Result<R> {
        f(&mut self.sockets.world.enter(), self.key).map_err(io::Error::from)
    }

    /// An operation that does not wait.
    #[track_caller]
    pub(crate) fn attempt<R>(
        &self,
        op: OpKind,
        side: Side,
        f: impl FnOnce(&mut World, &mut Kernel, SocketKey) -> Result<R>,
    ) -> io::Result<R> {
        let site = Location::caller();
        self.call(|world, kernel, key| {
            let result = f(world, kernel, key);
            world.note(kernel, key, op, side, site, result.as_ref().err().copied());
            result
        })
    }

    /// An operation that waits until it can be done.
    #[inline]
    pub(super) fn poll<R>(
        &self,
        cx: &mut Context<'_>,
        how: How<'_>,
        mut f: impl FnMut(&mut World, &mut Kernel, SocketKey) -> Result<R>,
    ) -> Poll<io::Result<R>> {
        let How { side, op, site, mut ticket, costs } = how;
        let mut foreign = None;
        loop {
            let mut section = self.sockets.world.enter();
            let (world, Some(kernel)) = section.both() else {
                return Poll::Ready(Err(Errno::BAD_FILE.into()));
            };
            match world.begins(kernel, self.key, op, side, cx) {
                Begins::Now => {}
                Begins::Later => return Poll::Pending,
                Begins::Never(gone) => return Poll::Ready(Err(gone())),
            }
            let is_broke = costs && !kernel.has_budget();
            if is_broke || world.must_be_told(kernel, self.key, op, side) {
                drop(section);
                yield_with(cx.waker());
                return Poll::Pending;
            }
            let result = f(world, kernel, self.key);
            let error = result.as_ref().err().copied();
            world.note(kernel, self.key, op, side, site, error);
            if error != Some(Errno::AGAIN) {
                if costs {
                    kernel.spend_budget();
                }
                leave(&mut section);
                return Poll::Ready(result.map_err(io::Error::from));
            }
            if let Some(waker) = storable(cx, &mut foreign) {
                let about = About { side, op, site, parties: &[], is_told: false };
                self.wait(&mut section, about, ticket.as_deref_mut(), waker);
                return Poll::Pending;
            }
            drop(section);
            foreign = Some(cx.waker().clone());
        }
    }

    fn wait(
        &self,
        section: &mut In<'_, World>,
        about: About<'_>,
        ticket: Option<&mut Ticket>,
        waker: std::task::Waker,
    ) {
        let (world, Some(kernel)) = section.both() else { return };
        let party = world.other_party(self.key, about.side);
        let is_told = world.end_of(self.key).is_ok();
        let Some(entry) = world.sockets.get_mut(self.key) else { return };
        let place = entry.waits.place(ticket);
        let about = About { parties: party.as_slice(), is_told, ..about };
        let old = entry.waits.wait(kernel, &mut entry.object, place, about, waker);
        leave(section);
        section.dispose(old);
    }
}

impl Socket {
    /// As one of those who wait, for whoever has no `Context`.
    pub(super) fn join_waiting(
        &self,
        about: About<'_>,
        ticket: Option<&mut Ticket>,
        waker: std::task::Waker,
    ) {
        self.wait(&mut self.sockets.world.enter(), about, ticket, waker);
    }
}

impl World {
    /// Takes a connection, and makes a socket of it.
    pub(super) fn accept(
        &mut self,
        kernel: &mut Kernel,
        key: SocketKey,
        object: &mut Option<Object>,
    ) -> Result<(SocketKey, SocketAddr)> {
        let (connection, from) = self.tcp_accept(key)?;
        let listener = self.entry(key)?;
        let (node, owner, options) = (listener.node, listener.owner, listener.options.clone());
        let is_v6 = self.tcp(key)?.is_v6;
        let state = State::Connection { key: connection, side: 1 };
        let kind = SocketKind::Tcp(TcpSocket { is_v6, state });
        let object = object.take().ok_or(Errno::AGAIN)?;
        let socket = self.open(kernel, kind, object, options);
        let entry = self.entry_mut(socket)?;
        // tokio takes an accepted connection for readable until a read finds nothing.
        (entry.node, entry.owner) = (node, owner);
        entry.assume([true, true]);
        self.tcp_adopt(connection, socket);
        Ok((socket, self.shown(socket, from)))
    }
}

impl UnwindSafe for Socket {}
impl RefUnwindSafe for Socket {}

impl Drop for Socket {
    fn drop(&mut self) {
        if !self.closes {
            return;
        }
        let closed = self.sockets.with(|world, kernel| world.close(kernel, self.key));
        if closed.is_none() {
            self.sockets.world.enter().closed.push(self.key);
        }
    }
}

impl fmt::Debug for Socket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Socket").finish_non_exhaustive()
    }
}
