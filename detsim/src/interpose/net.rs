//! The network: what libc's calls of a run do is done on the simulated sockets and names of its node.
//!
//! Owns: sockets of std and of whatever else links to libc: which descriptors are simulated
//! (`net/table.rs`), the functions on them (`net/calls.rs`,
//! `net/addresses.rs`, `net/messages.rs`, `net/local.rs`), how they wait (`net/waits.rs`,
//! `net/ready.rs`, `net/epoll.rs`), their options (`net/options.rs`); lookups of names (`net/names.rs`); what C calls an
//! address (`net/shapes.rs`); and the door through which tokio's types take such a socket, or become one.
//! Does not own: what a call does, which is `detsim_net`'s.
//!
//! A socket for a stream or for datagrams, of IPv4 or IPv6 or a local one, is the simulation's where it is made
//! in a run. Its descriptor is a real one, which leads nowhere that anybody listens. Raw sockets, and local
//! ones for packets in order, are the system's.
//!
//! Invariants: outside a run every function does what libc's does; no function panics, takes a lock or
//! allocates on that way.

#![expect(unsafe_code, reason = "functions that libc's callers link to")]

mod addresses;
pub(super) mod calls;
mod epoll;
mod local;
mod messages;
mod names;
mod options;
pub(super) mod ready;
mod shapes;
mod table;
mod waits;
mod watched;

use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

use detsim_net::Socket;
use table::Known;
pub use watched::{Watched, watch};

fn set_errno(errno: libc::c_int) {
    // SAFETY: the place is this thread's own.
    unsafe { *libc::__errno_location() = errno };
}

/// The simulated socket behind a descriptor, for one of tokio's types;
/// `None` where there is none. The descriptor stays open, for whoever asks for one.
///
/// # Errors
/// Where other descriptors have it too.
pub fn take(fd: RawFd) -> Option<io::Result<Socket>> {
    link_in();
    let taken = table::take(fd)?;
    Some(taken.map_err(|()| {
        io::Error::other(
            "detsim: the socket has other descriptors (try_clone, dup), which cannot stay behind; \
             drop them first",
        )
    }))
}

/// A descriptor for a socket of one of tokio's types, which becomes one of std's.
///
/// # Errors
/// Where the process has no descriptors left.
pub fn give(socket: Socket) -> io::Result<OwnedFd> {
    link_in();
    let fd = calls::descriptor(Known::own(socket, true))?;
    // SAFETY: the descriptor is new, and nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// A real socket of the same kind, that leads nowhere.
///
/// # Errors
/// Where the process has no descriptors left.
pub fn real_like(socket: &Socket) -> io::Result<OwnedFd> {
    let fd = calls::real_like(socket)?;
    // SAFETY: the descriptor is new, and nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// From now on what is done with a descriptor is done with this socket, which somebody else has.
pub fn lend(fd: RawFd, socket: &Socket) {
    table::put(fd, std::rc::Rc::new(Known::lent(socket.alias())));
}

/// Has the linker take these functions, where nothing else of their file is used.
pub(crate) fn link_in() {
    addresses::link_in();
    calls::link_in();
    epoll::link_in();
    local::link_in();
    messages::link_in();
    names::link_in();
    options::link_in();
    ready::link_in();
}

#[cfg(test)]
mod messaged;
#[cfg(test)]
mod polled;
#[cfg(test)]
mod tests;
