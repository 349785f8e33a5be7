//! The functions on addresses of sockets: their own, and those of their peers.

use std::io;
use std::net::SocketAddr;

use detsim_net::Socket;
use libc::{c_int, sockaddr, socklen_t};

use super::calls::{done, inside};
use super::shapes::{self, Named};
use super::table;
use crate::interpose::fs::system;

/// libc's `bind`.
///
/// # Safety
/// As of libc's: the address is valid for its length.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn bind(fd: c_int, address: *const sockaddr, len: socklen_t) -> c_int {
    let Some(known) = table::find(fd) else {
        return system!(SYS_bind, fd, address, len) as c_int;
    };
    // SAFETY: the caller vouches for the address.
    let address = unsafe { address_of(address, len) };
    done(address.and_then(|address| inside(|| known.with(|socket| binds(socket, address)))))
}

fn binds(socket: &Socket, address: Named) -> io::Result<()> {
    match (address, socket.is_local()?) {
        (Named::Internet(address), false) => socket.bind(address),
        (Named::Local(name), true) => crate::local::bind(socket, name),
        _ => Err(io::Error::from_raw_os_error(libc::EINVAL)),
    }
}

/// # Safety
/// As of [`shapes::read`].
pub(super) unsafe fn address_of(address: *const sockaddr, len: socklen_t) -> io::Result<Named> {
    // SAFETY: the caller vouches for the address.
    let address = unsafe { shapes::read(address, len) };
    address.ok_or_else(|| io::Error::from_raw_os_error(libc::EINVAL))
}

/// libc's `getsockname`.
///
/// # Safety
/// As of libc's.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn getsockname(
    fd: c_int,
    to: *mut sockaddr,
    len: *mut socklen_t,
) -> c_int {
    let Some(known) = table::find(fd) else {
        return system!(SYS_getsockname, fd, to, len) as c_int;
    };
    let address = inside(|| known.with(own_address));
    // SAFETY: the caller vouches for the place.
    done(address.map(|address| unsafe { shapes::write(&address, to, len) }))
}

/// One that has no address yet has that of nobody.
fn own_address(socket: &Socket) -> io::Result<Named> {
    if socket.is_local()? {
        return socket.local_name().map(Named::Local);
    }
    match socket.local_addr() {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
            let nobody: [SocketAddr; 2] = [([0, 0, 0, 0], 0).into(), ([0; 16], 0).into()];
            Ok(nobody[usize::from(socket.is_v6()?)].into())
        }
        known => known.map(Named::Internet),
    }
}

fn peer_address(socket: &Socket) -> io::Result<Named> {
    match socket.is_local()? {
        true => socket.peer_name().map(Named::Local),
        false => socket.peer_addr().map(Named::Internet),
    }
}

/// libc's `getpeername`.
///
/// # Safety
/// As of libc's.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn getpeername(
    fd: c_int,
    to: *mut sockaddr,
    len: *mut socklen_t,
) -> c_int {
    let Some(known) = table::find(fd) else {
        return system!(SYS_getpeername, fd, to, len) as c_int;
    };
    let address = inside(|| known.with(peer_address));
    // SAFETY: the caller vouches for the place.
    done(address.map(|address| unsafe { shapes::write(&address, to, len) }))
}

/// A socket for datagrams that has no address gets one when it needs it.
pub(super) fn bind_late(socket: &Socket) -> io::Result<()> {
    match socket.local_addr() {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
            let any: [SocketAddr; 2] = [([0, 0, 0, 0], 0).into(), ([0; 16], 0).into()];
            socket.bind(any[usize::from(socket.is_v6()?)])
        }
        known => known.map(drop),
    }
}

/// See [`super::link_in`].
pub(super) fn link_in() {
    std::hint::black_box(bind as *const ());
}
