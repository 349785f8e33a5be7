//! What is done with local sockets otherwise than with those of IP.
//!
//! Owns: `socketpair`, and how a local socket connects, sends and receives. Does not own: the functions of libc
//! that come here (`calls.rs`), nor how names lead to files (`crate::local`).

use std::io::{self, IoSlice};
use std::rc::Rc;

use detsim_executor::threads;
use detsim_net::{Family, Socket, Sockets};
use libc::{AF_INET, AF_INET6, AF_UNIX, SOCK_DGRAM, SOCK_STREAM, c_int};

use super::calls::{Received, Wants, read};
use super::shapes::Named;
use super::table::{self, Known};
use super::waits::{Call, make, make_unless_shut};
use crate::interpose::fs::system;
use crate::local::find;

fn errno(number: c_int) -> io::Error {
    io::Error::from_raw_os_error(number)
}

/// Family and kind of the real socket that a descriptor of this one has: options that the simulation knows
/// nothing of are its own.
pub(super) fn family_of(socket: &Socket) -> (c_int, c_int) {
    if let Ok(Family { is_v6, is_tcp }) = socket.family() {
        let family = if is_v6 { AF_INET6 } else { AF_INET };
        return (family, if is_tcp { SOCK_STREAM } else { SOCK_DGRAM });
    }
    let is_datagram = socket.is_local_datagram().unwrap_or(false);
    (AF_UNIX, if is_datagram { SOCK_DGRAM } else { SOCK_STREAM })
}

/// libc's `socketpair`. The system's own pair gives the descriptors.
///
/// # Safety
/// As of libc's: there is room for two.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn socketpair(
    family: c_int,
    kind: c_int,
    protocol: c_int,
    to: *mut c_int,
) -> c_int {
    let made = system!(SYS_socketpair, family, kind, protocol, to) as c_int;
    let open = match kind & !(libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK) {
        SOCK_STREAM => Sockets::unix_pair,
        SOCK_DGRAM => Sockets::unix_datagram_pair,
        _ => return made,
    };
    if made == 0 && family == AF_UNIX {
        // SAFETY: the system has just written both.
        let fds = unsafe { [*to, *to.add(1)] };
        let never_waits = kind & libc::SOCK_NONBLOCK != 0;
        threads::inside(|| {
            let Some(sockets) = Sockets::current() else { return };
            for (fd, socket) in fds.into_iter().zip(open(&sockets)) {
                table::put(fd, Rc::new(Known::own(socket, never_waits)));
            }
        });
    }
    made
}

/// Connects, or, of a socket for datagrams, says whom it talks to.
pub(super) fn connect(known: &Known, to: &Named) -> io::Result<()> {
    let is_datagram = known.with(Socket::is_local_datagram)?;
    match to {
        Named::Local(name) if is_datagram => {
            known.with(|socket| socket.set_peer_name(Some(&find(name))))
        }
        Named::Local(name) => {
            let waits = !known.never_waits.get();
            make(known, Call::CONNECT, waits, |socket| socket.try_connect_name(&find(name)))
        }
        Named::Nobody if is_datagram => known.with(|socket| socket.set_peer_name(None)),
        _ => Err(errno(libc::EINVAL)),
    }
}

/// Receives bytes of a stream or a datagram.
pub(super) fn receive(known: &Known, to: &mut [u8], wants: Wants) -> io::Result<Received> {
    if wants.urgent {
        return Err(errno(libc::EOPNOTSUPP));
    }
    let named = |name: Vec<u8>| if name.is_empty() { Named::Nobody } else { Named::Local(name) };
    if !known.with(Socket::is_local_datagram)? {
        let len = read(known, to, wants)?;
        let from = known.with(Socket::peer_name).map_or(Named::Nobody, named);
        return Ok(Received { len, from, is_cut: false });
    }
    let receive = |socket: &Socket| socket.try_receive_name(to, wants.peeks);
    let Some((whole, from)) = make_unless_shut(known, wants.waits, receive)? else {
        return Ok(Received { len: 0, from: Named::Nobody, is_cut: false });
    };
    let fits = whole.min(to.len());
    let len = if wants.length { whole } else { fits };
    Ok(Received { len, from: named(from), is_cut: fits < whole })
}

/// Sends parts, as bytes of a stream or as a datagram.
pub(super) fn send(
    known: &Known,
    parts: &[IoSlice<'_>],
    to: Option<&Named>,
    waits: bool,
) -> io::Result<usize> {
    if !known.with(Socket::is_local_datagram)? {
        if to.is_some() {
            let is_connected = known.with(Socket::peer_name).is_ok();
            return Err(errno(if is_connected { libc::EISCONN } else { libc::EOPNOTSUPP }));
        }
        return make(known, Call::SEND, waits, |socket| socket.try_write(parts));
    }
    let name = match to {
        None => None,
        Some(Named::Local(name)) => Some(name),
        Some(_) => return Err(errno(libc::EINVAL)),
    };
    let whole: Vec<u8> = parts.iter().flat_map(|part| part.iter().copied()).collect();
    make(known, Call::SEND, waits, |socket| {
        let whom = name.map(|name| find(name));
        socket.try_send_name(whom.as_ref(), &whole)
    })
}

/// See [`super::link_in`].
pub(super) fn link_in() {
    std::hint::black_box(socketpair as *const ());
}
