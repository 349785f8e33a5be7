//! `getsockopt` and `setsockopt`.
//!
//! What the simulation knows of is set there and read from there; everything else is the real descriptor's,
//! which nobody asks for more.

use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use detsim_net::{Number, Options, Socket};
use libc::{
    IPPROTO_IP, IPPROTO_IPV6, IPPROTO_TCP, SO_BROADCAST, SO_ERROR, SO_KEEPALIVE, SO_LINGER,
    SO_RCVBUF, SO_RCVTIMEO, SO_REUSEADDR, SO_REUSEPORT, SO_SNDBUF, SO_SNDTIMEO, SOL_SOCKET, c_int,
    c_void, socklen_t,
};

use super::calls::{done, inside};
use super::table::{self, Known};
use crate::interpose::fs::system;

/// libc's `setsockopt`.
///
/// # Safety
/// As of libc's: `value` is valid for `len` bytes.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn setsockopt(
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *const c_void,
    len: socklen_t,
) -> c_int {
    let real = || system!(SYS_setsockopt, fd, level, name, value, len) as c_int;
    let Some(known) = table::find(fd) else { return real() };
    // SAFETY: the caller vouches for the value.
    if let Some((group, joins)) = unsafe { group_of((level, name), value, len) } {
        return done(inside(|| known.with(|socket| socket.set_member(group, joins))));
    }
    // SAFETY: as above.
    let turns_on = || unsafe { Value::read(value, len) }.is_some_and(Value::is_on);
    if is_refused((level, name)) && turns_on() {
        return done(Err(io::Error::from_raw_os_error(libc::ENOPROTOOPT)));
    }
    let real = real();
    // What sockets of this kind have not, the real one has not either; values are judged by the simulation.
    if real < 0 && has_no_such_option() {
        return real;
    }
    // SAFETY: as above.
    let set = unsafe { Value::read(value, len) }
        .map_or(Ok(false), |value| inside(|| set(&known, (level, name), value)));
    match set {
        Ok(false) => real,
        set => done(set.map(drop)),
    }
}

/// Options that would change what a program sees, and that the simulation has not.
fn is_refused(option: (c_int, c_int)) -> bool {
    matches!(
        option,
        (
            SOL_SOCKET,
            libc::SO_OOBINLINE
                | libc::SO_PASSCRED
                | libc::SO_ATTACH_FILTER
                | libc::SO_ATTACH_BPF
                | libc::SO_ATTACH_REUSEPORT_CBPF
                | libc::SO_ATTACH_REUSEPORT_EBPF
        ) | (
            IPPROTO_IP,
            libc::IP_FREEBIND
                | libc::IP_TRANSPARENT
                | libc::IP_ADD_SOURCE_MEMBERSHIP
                | libc::IP_DROP_SOURCE_MEMBERSHIP
                | libc::IP_BLOCK_SOURCE
                | libc::IP_UNBLOCK_SOURCE
        ) | (IPPROTO_IPV6, libc::IPV6_FREEBIND | libc::IPV6_TRANSPARENT)
            | (IPPROTO_TCP, libc::TCP_FASTOPEN_CONNECT | libc::TCP_REPAIR)
    )
}

/// Whether the call that failed last did so because such a socket has no such option.
fn has_no_such_option() -> bool {
    let errno = io::Error::last_os_error().raw_os_error();
    matches!(errno, Some(libc::ENOPROTOOPT | libc::EOPNOTSUPP))
}

/// The group that is joined, or left, where the option says that; on whichever interface.
///
/// # Safety
/// `value` is null or valid for reads of `len` bytes.
unsafe fn group_of(
    option: (c_int, c_int),
    value: *const c_void,
    len: socklen_t,
) -> Option<(IpAddr, bool)> {
    let (is_v6, joins) = match option {
        (IPPROTO_IP, libc::IP_ADD_MEMBERSHIP) => (false, true),
        (IPPROTO_IP, libc::IP_DROP_MEMBERSHIP) => (false, false),
        (IPPROTO_IPV6, libc::IPV6_ADD_MEMBERSHIP) => (true, true),
        (IPPROTO_IPV6, libc::IPV6_DROP_MEMBERSHIP) => (true, false),
        _ => return None,
    };
    let size = if is_v6 { size_of::<libc::ipv6_mreq>() } else { size_of::<libc::ip_mreq>() };
    if value.is_null() || (len as usize) < size {
        return None;
    }
    // SAFETY: the caller vouches for as many bytes; each kind begins with the group.
    let group = unsafe {
        match is_v6 {
            true => IpAddr::from(value.cast::<[u8; 16]>().read_unaligned()),
            false => IpAddr::from(value.cast::<[u8; 4]>().read_unaligned()),
        }
    };
    Some((group, joins))
}

/// What an option is set to.
#[derive(Clone, Copy)]
struct Value {
    number: c_int,
    /// The second number, of a time or of lingering.
    second: c_int,
    is_pair: bool,
    time: Option<Duration>,
}

impl Value {
    /// # Safety
    /// `value` is null or valid for reads of `len` bytes.
    unsafe fn read(value: *const c_void, len: socklen_t) -> Option<Self> {
        let at = |offset: usize| {
            let has = !value.is_null() && len as usize >= offset + size_of::<c_int>();
            // SAFETY: the caller vouches for as many bytes.
            has.then(|| unsafe { value.byte_add(offset).cast::<c_int>().read_unaligned() })
        };
        let is_time = !value.is_null() && len as usize == size_of::<libc::timeval>();
        let time = is_time.then(|| {
            // SAFETY: as above.
            let time = unsafe { value.cast::<libc::timeval>().read_unaligned() };
            let micros = u32::try_from(time.tv_usec).unwrap_or(0);
            Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), micros.saturating_mul(1_000))
        });
        let brief = || {
            let is_byte = !value.is_null() && len == 1;
            // SAFETY: as above.
            is_byte.then(|| c_int::from(unsafe { value.cast::<u8>().read() }))
        };
        Some(Self {
            number: at(0).or_else(brief)?,
            second: at(size_of::<c_int>()).unwrap_or(0),
            is_pair: at(size_of::<c_int>()).is_some(),
            time,
        })
    }

    fn is_on(self) -> bool {
        self.number != 0
    }

    /// The address of an interface: alone, or behind the group of an `ip_mreq`.
    fn interface(self) -> Ipv4Addr {
        Ipv4Addr::from((if self.is_pair { self.second } else { self.number }).to_ne_bytes())
    }
}

/// Sets an option; false where it is none of the simulation's.
fn set(known: &Known, option: (c_int, c_int), value: Value) -> io::Result<bool> {
    if let (SOL_SOCKET, SO_RCVTIMEO | SO_SNDTIMEO) = option {
        let mut limits = known.limits.get();
        limits[usize::from(option.1 == SO_SNDTIMEO)] = value.time.filter(|time| !time.is_zero());
        known.limits.set(limits);
        return Ok(true);
    }
    if let Some(number) = number(option) {
        known.with(|socket| socket.set_number(number, value.number))?;
        return Ok(true);
    }
    if option == (IPPROTO_IP, libc::IP_MULTICAST_IF) {
        known.with(|socket| socket.set_multicast_interface(value.interface()))?;
        return Ok(true);
    }
    let is_bound = || known.with(Socket::local_addr).is_ok_and(|local| local.port() != 0);
    if option == (IPPROTO_IPV6, libc::IPV6_V6ONLY) && is_bound() {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    }
    let mut is_known = true;
    known.with(|socket| socket.set_options(|options| is_known = change(options, option, value)))?;
    Ok(is_known)
}

/// The option as one that Linux checks.
fn number(option: (c_int, c_int)) -> Option<Number> {
    Some(match option {
        (IPPROTO_TCP, libc::TCP_KEEPIDLE) => Number::KeepIdle,
        (IPPROTO_TCP, libc::TCP_KEEPINTVL) => Number::KeepInterval,
        (IPPROTO_TCP, libc::TCP_KEEPCNT) => Number::KeepCount,
        (IPPROTO_TCP, libc::TCP_USER_TIMEOUT) => Number::UserTimeout,
        (IPPROTO_IP, libc::IP_TTL) => Number::Ttl,
        (IPPROTO_IP, libc::IP_TOS) => Number::Tos,
        (IPPROTO_IP, libc::IP_MULTICAST_TTL) => Number::MulticastTtl,
        (IPPROTO_IPV6, libc::IPV6_TCLASS) => Number::TrafficClass,
        (IPPROTO_IPV6, libc::IPV6_UNICAST_HOPS) => Number::UnicastHops,
        (IPPROTO_IPV6, libc::IPV6_MULTICAST_HOPS) => Number::MulticastHops,
        (IPPROTO_IPV6, libc::IPV6_MULTICAST_LOOP) => Number::MulticastLoopV6,
        _ => return None,
    })
}

fn change(options: &mut Options, option: (c_int, c_int), value: Value) -> bool {
    let number = value.number.unsigned_abs();
    match option {
        (SOL_SOCKET, SO_BROADCAST) => options.broadcast = value.is_on(),
        (SOL_SOCKET, SO_KEEPALIVE) => options.keepalive = value.is_on(),
        (SOL_SOCKET, SO_LINGER) => {
            let seconds = i64::from(value.second).cast_unsigned();
            options.set_linger(value.is_on().then(|| Duration::from_secs(seconds)));
        }
        (SOL_SOCKET, SO_RCVBUF) => options.set_receive_buffer_size(number),
        (SOL_SOCKET, SO_REUSEADDR) => options.reuse_address = value.is_on(),
        (SOL_SOCKET, SO_REUSEPORT) => options.reuse_port = value.is_on(),
        (SOL_SOCKET, SO_SNDBUF) => options.set_send_buffer_size(number),
        (IPPROTO_TCP, libc::TCP_NODELAY) => options.nodelay = value.is_on(),
        (IPPROTO_IP, libc::IP_RECVERR) | (IPPROTO_IPV6, libc::IPV6_RECVERR) => {
            options.receives_errors = value.is_on();
        }
        (IPPROTO_IP, libc::IP_MULTICAST_LOOP) => options.multicast_loop_v4 = value.is_on(),
        (IPPROTO_IP, libc::IP_MULTICAST_ALL) => options.multicast_all_v4 = value.is_on(),
        (IPPROTO_IPV6, libc::IPV6_MULTICAST_ALL) => options.multicast_all_v6 = value.is_on(),
        (IPPROTO_IPV6, libc::IPV6_V6ONLY) => options.only_v6 = value.is_on(),
        _ => return false,
    }
    true
}

/// libc's `getsockopt`.
///
/// # Safety
/// As of libc's: `value` is valid for writes of `*len` bytes.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn getsockopt(
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *mut c_void,
    len: *mut socklen_t,
) -> c_int {
    let real = || system!(SYS_getsockopt, fd, level, name, value, len) as c_int;
    let Some(known) = table::find(fd) else { return real() };
    if (level, name) == (SOL_SOCKET, libc::SO_PEERCRED) && known.with(Socket::peer_name).is_ok() {
        // SAFETY: the caller vouches for the place.
        return unsafe { put_own_credentials(value, len) };
    }
    let of_kind = real();
    if of_kind < 0 && has_no_such_option() {
        return of_kind;
    }
    let found = inside(|| known.with(|socket| number_of(socket, (level, name))));
    match found {
        Ok(None) => of_kind,
        Ok(Some(number)) => {
            // SAFETY: the caller vouches for the place; no more than fits is written.
            unsafe {
                let room = (*len as usize).min(size_of::<c_int>());
                let from = (&raw const number).cast::<u8>();
                std::ptr::copy_nonoverlapping(from, value.cast::<u8>(), room);
                *len = room as socklen_t;
            }
            0
        }
        Err(error) => done(Err(error)),
    }
}

/// Whoever is at the other end of a local socket is this process, as all that is simulated.
///
/// # Safety
/// `to` is valid for writes of `*len` bytes.
unsafe fn put_own_credentials(to: *mut c_void, len: *mut socklen_t) -> c_int {
    // SAFETY: the calls take nothing, and never fail.
    let own =
        unsafe { libc::ucred { pid: libc::getpid(), uid: libc::geteuid(), gid: libc::getegid() } };
    // SAFETY: the caller vouches for the place; no more than fits is written.
    unsafe {
        let room = (*len as usize).min(size_of::<libc::ucred>());
        let from = (&raw const own).cast::<u8>();
        std::ptr::copy_nonoverlapping(from, to.cast::<u8>(), room);
        *len = room as socklen_t;
    }
    0
}

/// The number that an option reads as; `None` where it is none, or none of the simulation's.
fn number_of(socket: &Socket, option: (c_int, c_int)) -> io::Result<Option<c_int>> {
    if option == (SOL_SOCKET, SO_ERROR) {
        let error = socket.take_error()?;
        return Ok(Some(error.and_then(|error| error.raw_os_error()).unwrap_or(0)));
    }
    if let Some(number) = number(option) {
        return socket.number(number).map(Some);
    }
    match option {
        (SOL_SOCKET, SO_SNDBUF) => {
            return socket.buffer_sizes().map(|[send, _]| Some(send as c_int));
        }
        (SOL_SOCKET, SO_RCVBUF) => {
            return socket.buffer_sizes().map(|[_, recv]| Some(recv as c_int));
        }
        (SOL_SOCKET, libc::SO_ACCEPTCONN) => {
            return socket.is_listening().map(|is| Some(is.into()));
        }
        (IPPROTO_IP, libc::IP_MULTICAST_IF) => {
            let octets = socket.multicast_interface()?.octets();
            return Ok(Some(c_int::from_ne_bytes(octets)));
        }
        _ => {}
    }
    socket.options(|options| {
        Some(match option {
            (SOL_SOCKET, SO_BROADCAST) => c_int::from(options.broadcast),
            (SOL_SOCKET, SO_KEEPALIVE) => c_int::from(options.keepalive),
            (SOL_SOCKET, SO_REUSEADDR) => c_int::from(options.reuse_address),
            (SOL_SOCKET, SO_REUSEPORT) => c_int::from(options.reuse_port),
            (IPPROTO_TCP, libc::TCP_NODELAY) => c_int::from(options.nodelay),
            (IPPROTO_IP, libc::IP_MULTICAST_LOOP) => c_int::from(options.multicast_loop_v4),
            (IPPROTO_IP, libc::IP_MULTICAST_ALL) => c_int::from(options.multicast_all_v4),
            (IPPROTO_IPV6, libc::IPV6_MULTICAST_ALL) => c_int::from(options.multicast_all_v6),
            (IPPROTO_IPV6, libc::IPV6_V6ONLY) => c_int::from(options.only_v6),
            _ => return None,
        })
    })
}

/// See [`super::link_in`].
pub(super) fn link_in() {
    std::hint::black_box(setsockopt as *const ());
}
