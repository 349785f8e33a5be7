//! Addresses as C has them.

use std::net::SocketAddr;

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
