//! Addresses as C has them.
//!
//! Owns: [`Named`], whom a call names, and its shapes. The path of a local socket ends with its first zero
//! byte; an abstract name is all the bytes that there are.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::ptr;
use std::slice;

use libc::{
    AF_INET, AF_INET6, AF_UNIX, AF_UNSPEC, c_int, sa_family_t, sockaddr, sockaddr_in, sockaddr_in6,
    sockaddr_un, socklen_t,
};

/// Whom a call names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Named {
    Internet(SocketAddr),
    /// A path, or an abstract name behind a zero byte; empty for a socket without a name.
    Local(Vec<u8>),
    /// Nobody any more.
    Nobody,
}

impl From<SocketAddr> for Named {
    fn from(address: SocketAddr) -> Self {
        Self::Internet(address)
    }
}

/// Where the name of a local socket begins.
const NAME_AT: usize = size_of::<sa_family_t>();

/// An address of IP in the memory of C: either kind fits.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) union Address {
    any: sockaddr,
    v4: sockaddr_in,
    v6: sockaddr_in6,
}

impl Address {
    /// An address, and how many bytes of it count.
    pub(super) fn of(address: SocketAddr) -> (Self, socklen_t) {
        match address {
            SocketAddr::V4(address) => {
                let v4 = sockaddr_in {
                    sin_family: AF_INET as _,
                    sin_port: address.port().to_be(),
                    sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes(address.ip().octets()) },
                    sin_zero: [0; 8],
                };
                (Self { v4 }, size_of::<sockaddr_in>() as socklen_t)
            }
            SocketAddr::V6(address) => {
                let v6 = sockaddr_in6 {
                    sin6_family: AF_INET6 as _,
                    sin6_port: address.port().to_be(),
                    sin6_flowinfo: address.flowinfo(),
                    sin6_addr: libc::in6_addr { s6_addr: address.ip().octets() },
                    sin6_scope_id: address.scope_id(),
                };
                (Self { v6 }, size_of::<sockaddr_in6>() as socklen_t)
            }
        }
    }

    /// The family: `AF_INET` or `AF_INET6`.
    pub(super) fn family(&self) -> c_int {
        // SAFETY: every kind begins with its family.
        c_int::from(unsafe { self.any.sa_family })
    }
}

/// Reads an address; `None` where it is of another kind or too short.
///
/// # Safety
/// `from` is null or valid for reads of `len` bytes.
pub(super) unsafe fn read(from: *const sockaddr, len: socklen_t) -> Option<Named> {
    let has = |bytes: usize| len as usize >= bytes;
    if from.is_null() || !has(NAME_AT) {
        return None;
    }
    // SAFETY: the caller vouches for as many bytes; where they are is not aligned by any rule.
    let family = c_int::from(unsafe { from.cast::<sa_family_t>().read_unaligned() });
    match family {
        AF_INET if has(size_of::<sockaddr_in>()) => {
            // SAFETY: as above; every bit pattern is one.
            let v4 = unsafe { from.cast::<sockaddr_in>().read_unaligned() };
            let ip = Ipv4Addr::from(v4.sin_addr.s_addr.to_ne_bytes());
            Some(Named::Internet(SocketAddrV4::new(ip, u16::from_be(v4.sin_port)).into()))
        }
        AF_INET6 if has(size_of::<sockaddr_in6>()) => {
            // SAFETY: as above.
            let v6 = unsafe { from.cast::<sockaddr_in6>().read_unaligned() };
            let ip = Ipv6Addr::from(v6.sin6_addr.s6_addr);
            let port = u16::from_be(v6.sin6_port);
            let v6 = SocketAddrV6::new(ip, port, v6.sin6_flowinfo, v6.sin6_scope_id);
            Some(Named::Internet(v6.into()))
        }
        AF_UNIX if !has(size_of::<sockaddr_un>() + 1) => {
            // SAFETY: as above.
            let name = unsafe {
                slice::from_raw_parts(from.cast::<u8>().add(NAME_AT), len as usize - NAME_AT)
            };
            Some(Named::Local(name_in(name).to_vec()))
        }
        AF_UNSPEC => Some(Named::Nobody),
        _ => None,
    }
}

fn name_in(bytes: &[u8]) -> &[u8] {
    match bytes.iter().position(|byte| *byte == 0) {
        None | Some(0) => bytes,
        Some(end) => &bytes[..end],
    }
}

/// Writes an address where the caller wants it, cut to the room there is, with its whole length.
///
/// # Safety
/// `to` and `len` are null, or `to` is valid for writes of `*len` bytes.
pub(super) unsafe fn write(address: &Named, to: *mut sockaddr, len: *mut socklen_t) {
    if to.is_null() || len.is_null() {
        return;
    }
    let (ip, local);
    let (from, size) = match address {
        Named::Internet(address) => {
            ip = Address::of(*address);
            ((&raw const ip.0).cast::<u8>(), ip.1)
        }
        Named::Local(name) => {
            local = local_shape(name);
            (local.as_ptr(), local.len() as socklen_t)
        }
        Named::Nobody => (ptr::null(), 0),
    };
    // SAFETY: the caller vouches for the room; no more than there is is written.
    unsafe {
        let room = (*len).min(size) as usize;
        if room > 0 {
            ptr::copy_nonoverlapping(from, to.cast::<u8>(), room);
        }
        *len = size;
    }
}

/// As much of a `sockaddr_un` as counts. A path ends with a zero.
fn local_shape(name: &[u8]) -> Vec<u8> {
    let end: &[u8] = if name.first().is_some_and(|first| *first != 0) { &[0] } else { &[] };
    [&(AF_UNIX as sa_family_t).to_ne_bytes(), name, end].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_comes_back_as_it_was() {
        let internet = ["10.0.0.1:80", "[fd00::7%3]:65535", "0.0.0.0:0"];
        let internet = internet.map(|text| Named::Internet(text.parse().unwrap()));
        let local =
            [&b"/tmp/socket"[..], b"\0abstract\0", b""].map(|name| Named::Local(name.to_vec()));
        for address in internet.into_iter().chain(local) {
            let (mut room, mut len) = ([0_u8; 128], 128);
            let place = room.as_mut_ptr().cast::<sockaddr>();
            // SAFETY: the room is as long as it says.
            unsafe { write(&address, place, &raw mut len) };
            // SAFETY: as above.
            assert_eq!(unsafe { read(place, len) }, Some(address.clone()));
            if matches!(address, Named::Internet(_)) {
                // SAFETY: as above, of fewer bytes.
                assert_eq!(unsafe { read(place, len - 1) }, None);
            }
        }
    }

    #[test]
    fn a_path_ends_with_its_zero_or_with_its_place() {
        let mut place = [b'x'; 2 + 109];
        place[..2].copy_from_slice(&(AF_UNIX as sa_family_t).to_ne_bytes());
        // SAFETY: the place is as long as it says.
        let read = |place: &[u8], len| unsafe { read(place.as_ptr().cast(), len) };
        assert_eq!(read(&place, 2 + 108), Some(Named::Local(vec![b'x'; 108])));
        assert_eq!(read(&place, 2 + 109), None);
        place[5] = 0;
        assert_eq!(read(&place, 2 + 108), Some(Named::Local(b"xxx".to_vec())));
    }
}
