//! A simulated socket that somebody watches by its descriptor.
//!
//! Owns: [`Watched`], what tokio's `AsyncFd` asks of one. Does not own: who waits.

use std::io;
use std::os::fd::RawFd;
use std::task::Waker;

use detsim_net::{Alias, Ticket};

use super::epoll::look;
use super::ready::EITHER;
use super::table;
use crate::poller::{Happened, Wanted};

/// See the module's documentation.
#[derive(Debug)]
pub struct Watched {
    fd: RawFd,
    socket: Alias,
    wanted: Wanted,
}

/// The simulated socket behind a descriptor; `None` where it is the system's.
///
/// # Errors
/// EEXIST where it is watched already.
pub fn watch(fd: RawFd, wanted: Wanted) -> Option<io::Result<Watched>> {
    super::link_in();
    let socket = table::find(fd)?.alias();
    Some(match table::set_watched(fd, true) {
        true => Err(io::Error::from_raw_os_error(libc::EEXIST)),
        false => Ok(Watched { fd, socket, wanted }),
    })
}

impl Drop for Watched {
    fn drop(&mut self) {
        table::set_watched(self.fd, false);
    }
}

impl Watched {
    /// How often something has happened to it, and what is so now; `None` where it is closed.
    pub fn look(&self) -> Option<(u32, Happened)> {
        let (changes, state) = self.socket.with(|socket| look(socket, self.wanted.bits())).ok()?;
        Some((changes, Happened::of(0, u32::from(state as u16))))
    }

    /// Wakes `waker` when something happens to it next.
    pub fn enlist(&self, ticket: &mut Ticket, waker: Waker) {
        self.socket.with(|socket| socket.enlist(EITHER.op, EITHER.side, ticket, waker));
    }

    /// Takes that back.
    pub fn forget(&self, ticket: &Ticket) {
        self.socket.with(|socket| socket.forget(ticket));
    }
}
