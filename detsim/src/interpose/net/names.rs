//! `getaddrinfo` and `freeaddrinfo`: names that code looks up which knows nothing of us.
//!
//! Owns: the two functions, and the lists that ours gives. Does not own: names, which are `detsim_net`'s,
//! nor how long a lookup takes. Invariants: a list is freed by whoever made it, wherever the call comes
//! from: ours carry a flag that libc refuses; a name is asked for once a call, addresses and ports are
//! read as they stand.

use std::ffi::{CStr, CString};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::ptr::null_mut;

use detsim_executor::{context, threads};
use detsim_net::{LookupError, Sockets};
use libc::{AF_INET, AF_INET6, AF_UNSPEC, addrinfo, c_char, c_int};

use super::set_errno;
use super::shapes::Address;
use crate::console;
use crate::interpose::real::real;

/// In the flags of a list that is ours.
const OURS: c_int = 1 << 30;

/// One address of a list.
#[repr(C)]
struct Entry {
    info: addrinfo,
    address: Address,
}

/// What is asked for.
struct Question {
    name: Option<String>,
    port: u16,
    family: c_int,
    kind: c_int,
    protocol: c_int,
    flags: c_int,
}

/// libc's `getaddrinfo`.
///
/// # Safety
/// As of libc's: `node` and `service` are null or end in a zero, `hints` is null or valid, `to` is valid
/// for the write.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn getaddrinfo(
    node: *const c_char,
    service: *const c_char,
    hints: *const addrinfo,
    to: *mut *mut addrinfo,
) -> c_int {
    // SAFETY: the caller vouches for its arguments.
    let ask = move || unsafe { Question::read(node, service, hints) };
    let answer = move || ask().and_then(|question| question.answer());
    match threads::blocked(answer) {
        None => real!(
            getaddrinfo: fn(*const c_char, *const c_char, *const addrinfo, *mut *mut addrinfo) -> c_int,
            node, service, hints, to
        ),
        Some(Ok(Ok(list))) => {
            // SAFETY: the caller vouches for the place.
            unsafe { to.write(list.0) };
            0
        }
        Some(Ok(Err(error))) => error,
        Some(Err(failure)) => {
            console::error(&failure.to_string());
            libc::EAI_FAIL
        }
    }
}

/// libc's `freeaddrinfo`.
///
/// # Safety
/// As of libc's: `list` is null or came from `getaddrinfo`, and is not used again.
#[unsafe(no_mangle)]
unsafe extern "C" fn freeaddrinfo(list: *mut addrinfo) {
    // SAFETY: the caller vouches for the list, whose first entry is one in any case.
    if list.is_null() || unsafe { (*list).ai_flags } & OURS == 0 {
        return real!(freeaddrinfo: fn(*mut addrinfo) -> (), list);
    }
    let mut next = list;
    while !next.is_null() {
        // SAFETY: the flag says that the entry is one of `List::push`.
        let entry = unsafe { Box::from_raw(next.cast::<Entry>()) };
        if !entry.info.ai_canonname.is_null() {
            // SAFETY: `List::of` put it there.
            drop(unsafe { CString::from_raw(entry.info.ai_canonname) });
        }
        next = entry.info.ai_next;
    }
}

impl Question {
    /// # Safety
    /// As of [`getaddrinfo`].
    unsafe fn read(
        node: *const c_char,
        service: *const c_char,
        hints: *const addrinfo,
    ) -> Result<Self, c_int> {
        // SAFETY: the caller vouches for both.
        let [name, service] = [node, service].map(|text| unsafe { text_of(text) });
        // SAFETY: the caller vouches for them.
        let hints = unsafe { hints.as_ref() };
        let (flags, family, kind, protocol) = match hints {
            Some(h) => (h.ai_flags, h.ai_family, h.ai_socktype, h.ai_protocol),
            None => (0, AF_UNSPEC, 0, 0),
        };
        if name.is_none() && service.is_none() {
            return Err(libc::EAI_NONAME);
        }
        if flags & OURS != 0 {
            return Err(libc::EAI_BADFLAGS);
        }
        if ![AF_UNSPEC, AF_INET, AF_INET6].contains(&family) {
            return Err(libc::EAI_FAMILY);
        }
        let port = service.map_or(Ok(0), |service| port_of(&service))?;
        Ok(Self { name, port, family, kind, protocol, flags })
    }

    fn answer(&self) -> Result<List, c_int> {
        let suits = |ip: &IpAddr| match self.family {
            AF_INET => ip.is_ipv4(),
            AF_INET6 => ip.is_ipv6(),
            _ => true,
        };
        let mut addresses = self.addresses()?;
        addresses.retain(suits);
        match addresses.is_empty() {
            true => Err(libc::EAI_NODATA),
            false => Ok(List::of(self, &addresses)),
        }
    }

    fn addresses(&self) -> Result<Vec<IpAddr>, c_int> {
        let Some(name) = &self.name else {
            return Ok(match self.flags & libc::AI_PASSIVE {
                0 => vec![Ipv6Addr::LOCALHOST.into(), Ipv4Addr::LOCALHOST.into()],
                _ => vec![Ipv4Addr::UNSPECIFIED.into(), Ipv6Addr::UNSPECIFIED.into()],
            });
        };
        if let Ok(ip) = name.parse() {
            return Ok(vec![ip]);
        }
        if self.flags & libc::AI_NUMERICHOST != 0 || name.is_empty() {
            return Err(libc::EAI_NONAME);
        }
        look_up(name)
    }

    /// The kinds of sockets that an address is given for.
    fn kinds(&self) -> Vec<(c_int, c_int)> {
        let all = [
            (libc::SOCK_STREAM, libc::IPPROTO_TCP),
            (libc::SOCK_DGRAM, libc::IPPROTO_UDP),
            (libc::SOCK_RAW, libc::IPPROTO_IP),
        ];
        let suits = |(kind, protocol): &(c_int, c_int)| {
            [0, *kind].contains(&self.kind) && [0, *protocol].contains(&self.protocol)
        };
        all.into_iter().filter(suits).collect()
    }
}

/// Asks the simulated resolver, and waits for it.
fn look_up(name: &str) -> Result<Vec<IpAddr>, c_int> {
    let gone = || {
        set_errno(libc::EIO);
        libc::EAI_SYSTEM
    };
    if threads::is_gone() {
        threads::fail_call();
        return Err(gone());
    }
    let lookup = Sockets::current().and_then(|sockets| sockets.lookup(name));
    let lookup = lookup.ok_or(libc::EAI_FAIL)?;
    if !lookup.takes.is_zero() && !threads::pass_time(context::now() + lookup.takes) {
        return Err(gone());
    }
    lookup.addresses.map_err(|error| match error {
        LookupError::Unknown => libc::EAI_NONAME,
        LookupError::TryAgain => libc::EAI_AGAIN,
    })
}

/// # Safety
/// `text` is null or ends in a zero.
unsafe fn text_of(text: *const c_char) -> Option<String> {
    // SAFETY: the caller vouches for it.
    let text = (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) })?;
    Some(text.to_string_lossy().into_owned())
}

/// A port by its number, or by one of the names that programs use.
fn port_of(service: &str) -> Result<u16, c_int> {
    let known = [("domain", 53), ("ftp", 21), ("http", 80), ("https", 443), ("ssh", 22)];
    let by_name = known.into_iter().find(|(name, _)| *name == service).map(|(_, port)| port);
    by_name.or_else(|| service.parse().ok()).ok_or(libc::EAI_SERVICE)
}

/// A list of addresses, as C has it.
struct List(*mut addrinfo);

impl List {
    fn of(question: &Question, addresses: &[IpAddr]) -> Self {
        let mut list = Self(null_mut());
        // From the last to the first, each in front of those behind it.
        for ip in addresses.iter().rev() {
            for (kind, protocol) in question.kinds().into_iter().rev() {
                list.push(SocketAddr::new(*ip, question.port), kind, protocol);
            }
        }
        let canonical = question.name.as_ref().filter(|_| question.flags & libc::AI_CANONNAME != 0);
        // SAFETY: the first entry, where there is one, is nobody else's yet.
        if let (Some(name), Some(first)) = (canonical, unsafe { list.0.as_mut() })
            && let Ok(name) = CString::new(name.as_str())
        {
            first.ai_canonname = name.into_raw();
        }
        list
    }

    fn push(&mut self, address: SocketAddr, kind: c_int, protocol: c_int) {
        let (address, len) = Address::of(address);
        let info = addrinfo {
            ai_flags: OURS,
            ai_family: address.family(),
            ai_socktype: kind,
            ai_protocol: protocol,
            ai_addrlen: len,
            ai_addr: null_mut(),
            ai_canonname: null_mut(),
            ai_next: self.0,
        };
        let entry = Box::into_raw(Box::new(Entry { info, address }));
        // SAFETY: the entry is whole, and nobody else's yet.
        unsafe { (*entry).info.ai_addr = (&raw mut (*entry).address).cast() };
        self.0 = entry.cast();
    }
}

/// See [`super::link_in`].
pub(super) fn link_in() {
    std::hint::black_box(getaddrinfo as *const ());
}

#[cfg(test)]
mod tests;
