//! A socket in the hands of code that blocks its thread, and knows nothing of tasks.
//!
//! Owns: the forms of calls that only try, how whoever blocks joins those who wait ([`Socket::enlist`]), and
//! [`Alias`], by which a socket is found that somebody else has. Does not own: blocking itself, nor
//! descriptors.

use std::fmt;
use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::panic::Location;
use std::task::Waker;

use detsim_executor::{Hold, Object, OpKind, ResourceKind};

use super::socket::Socket;
use super::{Owner, SocketKey, SocketKind, Sockets};
use crate::tcp::calls::Readiness;
use crate::waits::{About, Side, Ticket};

/// Names a socket that somebody else has, and closes.
#[derive(Clone)]
pub struct Alias {
    sockets: Sockets,
    key: SocketKey,
}

impl Alias {
    /// Lends the socket. Where it is closed by now its calls give EBADF.
    pub fn with<R>(&self, f: impl FnOnce(&Socket) -> R) -> R {
        let socket = Socket { sockets: self.sockets.clone(), key: self.key, closes: false };
        f(&socket)
    }
}

impl fmt::Debug for Alias {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Alias").finish_non_exhaustive()
    }
}

impl Sockets {
    /// A socket waits from now on for the owner of [`Self::opening_for`].
    pub fn adopt(&self, socket: &Socket) {
        self.with(|world, _| {
            let number = world.opens_for;
            if let Some(entry) = world.sockets.get_mut(socket.key) {
                entry.owner = Owner { number, gone: None };
            }
        });
    }
}

impl Socket {
    /// A name for it, for whoever has it not.
    pub fn alias(&self) -> Alias {
        Alias { sockets: self.sockets.clone(), key: self.key }
    }

    /// Does it take and give datagrams?
    ///
    /// # Errors
    /// EBADF where its node has stopped.
    pub fn is_udp(&self) -> io::Result<bool> {
        self.look(|world, key| Ok(matches!(world.entry(key)?.kind, SocketKind::Udp(_))))
    }

    /// Is it one of IPv6?
    ///
    /// # Errors
    /// EBADF where its node has stopped.
    pub fn is_v6(&self) -> io::Result<bool> {
        self.look(|world, key| {
            Ok(match &world.entry(key)?.kind {
                SocketKind::Tcp(tcp) => tcp.is_v6,
                SocketKind::Udp(udp) => udp.is_v6,
                SocketKind::Unix(_) => false,
            })
        })
    }

    /// What it is ready for, whatever anybody remembers.
    ///
    /// # Errors
    /// EBADF where its node has stopped.
    pub fn is_ready_for(&self) -> io::Result<Readiness> {
        self.look(|world, key| world.truth(key))
    }

    /// How often something has happened to it, so that whoever asks for changes alone hears of each.
    ///
    /// # Errors
    /// EBADF where its node has stopped.
    pub fn changes(&self) -> io::Result<u32> {
        self.look(|world, key| Ok(world.entry(key)?.changes))
    }

    /// Takes a connection, without waiting.
    ///
    /// # Errors
    /// EAGAIN; EINVAL where it does not listen.
    #[track_caller]
    pub fn try_accept(&self) -> io::Result<(Self, SocketAddr)> {
        let mut object = Some(Object::new(ResourceKind::TcpStream, Location::caller()));
        let accepted = self.attempt(OpKind::Accept, Side::Read, |world, kernel, key| {
            world.accept(kernel, key, &mut object)
        });
        accepted
            .map(|(key, from)| (Self { sockets: self.sockets.clone(), key, closes: true }, from))
    }

    /// Whether a connect has ended, and how.
    ///
    /// # Errors
    /// EAGAIN while it has not; ECONNREFUSED, ETIMEDOUT.
    #[track_caller]
    pub fn try_connected(&self) -> io::Result<()> {
        self.attempt(OpKind::Connect, Side::Write, |world, _, key| world.tcp_connected(key))
    }

    /// Reads without taking, and without waiting.
    ///
    /// # Errors
    /// As [`Self::try_read`].
    #[track_caller]
    pub fn try_peek(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut buffers = [IoSliceMut::new(buffer)];
        self.attempt(OpKind::Recv, Side::Read, |world, kernel, key| {
            world.read(kernel, key, &mut buffers, true)
        })
    }

    /// Whether the task that runs is to be held before an operation.
    pub fn holds_before(&self, op: OpKind) -> Option<Hold> {
        let hold = self.sockets.with(|world, kernel| {
            let entry = world.sockets.get_mut(self.key)?;
            kernel.holds_before(&mut entry.object, op)
        });
        hold.flatten()
    }

    /// The task that runs waits for an end, until `waker` is woken or the wait is taken back
    /// ([`Self::forget`]). Nothing may happen between a call that gave EAGAIN and this.
    #[track_caller]
    pub fn enlist(&self, op: OpKind, side: Side, ticket: &mut Ticket, waker: Waker) {
        let about = About { side, op, site: Location::caller(), parties: &[], is_told: false };
        self.join_waiting(about, Some(ticket), waker);
    }
}
