//! Addresses as C has them.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::ptr;

use libc::{AF_INET, AF_INET6, c_int, sockaddr, sockaddr_in, sockaddr_in6, socklen_t};

/// An address in the memory of C: either kind fits.
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
pub(super) unsafe fn read(from: *const sockaddr, len: socklen_t) -> Option<SocketAddr> {
    let has = |bytes: usize| len as usize >= bytes;
    if from.is_null() || !has(size_of::<libc::sa_family_t>()) {
        return None;
    }
    // SAFETY: the caller vouches for as many bytes; where they are is not aligned by any rule.
    let family = c_int::from(unsafe { from.cast::<libc::sa_family_t>().read_unaligned() });
    match family {
        AF_INET if has(size_of::<sockaddr_in>()) => {
            // SAFETY: as above; every bit pattern is one.
            let v4 = unsafe { from.cast::<sockaddr_in>().read_unaligned() };
            let ip = Ipv4Addr::from(v4.sin_addr.s_addr.to_ne_bytes());
            Some(SocketAddrV4::new(ip, u16::from_be(v4.sin_port)).into())
        }
        AF_INET6 if has(size_of::<sockaddr_in6>()) => {
            // SAFETY: as above.
            let v6 = unsafe { from.cast::<sockaddr_in6>().read_unaligned() };
            let ip = Ipv6Addr::from(v6.sin6_addr.s6_addr);
            let port = u16::from_be(v6.sin6_port);
            Some(SocketAddrV6::new(ip, port, v6.sin6_flowinfo, v6.sin6_scope_id).into())
        }
        _ => None,
    }
}

/// Writes an address where the caller wants it, cut to the room there is, with its whole length.
///
/// # Safety
/// `to` and `len` are null, or `to` is valid for writes of `*len` bytes.
pub(super) unsafe fn write(address: SocketAddr, to: *mut sockaddr, len: *mut socklen_t) {
    if to.is_null() || len.is_null() {
        return;
    }
    let (shape, size) = Address::of(address);
    // SAFETY: the caller vouches for the room; no more than there is is written.
    unsafe {
        let room = (*len).min(size) as usize;
        ptr::copy_nonoverlapping((&raw const shape).cast::<u8>(), to.cast::<u8>(), room);
        *len = size;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_comes_back_as_it_was() {
        for text in ["10.0.0.1:80", "[fd00::7%3]:65535", "0.0.0.0:0"] {
            let address: SocketAddr = text.parse().unwrap();
            let (shape, len) = Address::of(address);
            let place = (&raw const shape).cast::<sockaddr>();
            // SAFETY: the shape is as long as it says.
            assert_eq!(unsafe { read(place, len) }, Some(address));
            // SAFETY: as above, of fewer bytes.
            assert_eq!(unsafe { read(place, len - 1) }, None);
            let (mut room, mut size) = ([0_u8; 64], 64);
            // SAFETY: the room is as long as it says.
            unsafe { write(address, room.as_mut_ptr().cast(), &raw mut size) };
            assert_eq!(size, len);
            // SAFETY: as above.
            assert_eq!(unsafe { read(room.as_ptr().cast(), size) }, Some(address));
        }
    }
}
