//! The functions on sockets.
//!
//! A call that waits drives the run of a thread that has one and does not drive it just now, as any other
//! call that blocks does.

use std::io::{self, IoSlice, IoSliceMut};
use std::net::SocketAddr;
use std::rc::Rc;
use std::slice;

use detsim_executor::threads;
use detsim_net::{Socket, Sockets};
use libc::{AF_INET, AF_INET6, AF_UNIX, c_int, c_void, size_t, sockaddr, socklen_t, ssize_t};

use super::addresses::{address_of, bind_late};
use super::ready::rung;
use super::shapes::{self, Named};
use super::table::{self, Known};
use super::waits::{Call, make, make_unless_shut};
use super::{local, set_errno};
use crate::console;
use crate::interpose::fs::system;

/// What a function of C gives: -1 with `errno` set where it failed.
pub(super) fn answer<T: TryInto<ssize_t>>(outcome: io::Result<T>) -> ssize_t {
    match outcome {
        Ok(number) => number.try_into().unwrap_or(ssize_t::MAX),
        Err(error) => {
            set_errno(error.raw_os_error().unwrap_or(libc::EIO));
            -1
        }
    }
}

pub(super) fn done(outcome: io::Result<()>) -> c_int {
    answer(outcome.map(|()| 0)) as c_int
}

/// Makes a call that may wait, in the run whose business it is.
pub(super) fn blocked<R: 'static>(call: impl FnOnce() -> io::Result<R> + 'static) -> io::Result<R> {
    match threads::blocked(call) {
        Some(Ok(outcome)) => outcome,
        Some(Err(failure)) => {
            console::error(&failure.to_string());
            Err(io::Error::from_raw_os_error(libc::EDEADLK))
        }
        None => Err(io::Error::from_raw_os_error(libc::EBADF)),
    }
}

// ------------------------------------------------------------ making and closing

/// libc's `socket`.
#[unsafe(no_mangle)]
extern "C-unwind" fn socket(family: c_int, kind: c_int, protocol: c_int) -> c_int {
    let fd = system!(SYS_socket, family, kind, protocol) as c_int;
    if let Some(opens) = opener(family, kind, protocol).filter(|_| fd >= 0) {
        let never_waits = kind & libc::SOCK_NONBLOCK != 0;
        threads::inside(|| {
            if let Some(sockets) = Sockets::current() {
                table::put(fd, Rc::new(Known::own(opens(&sockets), never_waits)));
            }
        });
    }
    fd
}

/// What makes such a socket; `None` where it is the system's.
fn opener(family: c_int, kind: c_int, protocol: c_int) -> Option<fn(&Sockets) -> Socket> {
    let is = |of: c_int| protocol == 0 || protocol == of;
    match (family, kind & !(libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK)) {
        (AF_INET, libc::SOCK_STREAM) if is(libc::IPPROTO_TCP) => Some(|of| of.tcp(false)),
        (AF_INET6, libc::SOCK_STREAM) if is(libc::IPPROTO_TCP) => Some(|of| of.tcp(true)),
        (AF_INET, libc::SOCK_DGRAM) if is(libc::IPPROTO_UDP) => Some(|of| of.udp(false)),
        (AF_INET6, libc::SOCK_DGRAM) if is(libc::IPPROTO_UDP) => Some(|of| of.udp(true)),
        (AF_UNIX, libc::SOCK_STREAM) if is(AF_UNIX) => Some(Sockets::unix_stream),
        (AF_UNIX, libc::SOCK_DGRAM) if is(AF_UNIX) => Some(Sockets::unix_datagram),
        _ => None,
    }
}

/// A real descriptor that has this socket behind it.
///
/// # Errors
/// Where the process has no descriptors left.
pub(super) fn descriptor(known: Known) -> io::Result<c_int> {
    let fd = known.with(real_like)?;
    threads::inside(|| table::put(fd, Rc::new(known)));
    Ok(fd)
}

/// A real socket of the same kind, that leads nowhere.
///
/// # Errors
/// Where the process has no descriptors left.
pub(super) fn real_like(socket: &Socket) -> io::Result<c_int> {
    let (family, kind) = local::family_of(socket);
    let open = |family: c_int| system!(SYS_socket, family, kind | libc::SOCK_CLOEXEC, 0) as c_int;
    let mut fd = open(family);
    // A machine without IPv6 may simulate it.
    if fd < 0 && family == AF_INET6 {
        fd = open(AF_INET);
    }
    if fd < 0 { Err(io::Error::last_os_error()) } else { Ok(fd) }
}

/// A descriptor is closed: true where it had a simulated socket behind it.
pub(in crate::interpose) fn closes(fd: c_int) {
    // The socket is closed with the last descriptor of it.
    drop(table::remove(fd));
}

/// A descriptor was duplicated.
pub(in crate::interpose) fn duplicated(from: c_int, to: c_int) {
    if let Some(known) = table::find(from).filter(|_| to >= 0) {
        threads::inside(|| table::put(to, known));
    }
}

// ------------------------------------------------------------ connections

/// Does what takes no time.
pub(super) fn inside<R>(f: impl FnOnce() -> io::Result<R>) -> io::Result<R> {
    threads::inside(f).unwrap_or_else(|| Err(io::Error::from_raw_os_error(libc::EBADF)))
}

/// libc's `listen`.
#[unsafe(no_mangle)]
extern "C-unwind" fn listen(fd: c_int, backlog: c_int) -> c_int {
    let Some(known) = table::find(fd) else { return system!(SYS_listen, fd, backlog) as c_int };
    let backlog = u32::try_from(backlog).unwrap_or(4_096);
    done(inside(|| known.with(|socket| socket.listen(backlog))))
}

/// libc's `connect`.
///
/// # Safety
/// As of libc's.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn connect(fd: c_int, address: *const sockaddr, len: socklen_t) -> c_int {
    let Some(known) = table::find(fd) else {
        return system!(SYS_connect, fd, address, len) as c_int;
    };
    // SAFETY: the caller vouches for the address.
    let address = match unsafe { address_of(address, len) } {
        Ok(address) => address,
        Err(error) => return done(Err(error)),
    };
    done(blocked(move || match address {
        address if known.with(Socket::is_local)? => local::connect(&known, &address),
        Named::Internet(address) => connects(&known, address),
        _ => Err(io::Error::from_raw_os_error(libc::EINVAL)),
    }))
}

fn connects(known: &Known, address: SocketAddr) -> io::Result<()> {
    if known.with(Socket::is_udp)? {
        return known.with(|socket| {
            bind_late(socket)?;
            socket.set_peer(address)
        });
    }
    known.with(|socket| socket.connect(address))?;
    if known.never_waits.get() {
        return Err(io::Error::from_raw_os_error(libc::EINPROGRESS));
    }
    make(known, Call::CONNECT, true, Socket::try_connected)
}

/// libc's `accept4`.
///
/// # Safety
/// As of libc's.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn accept4(
    fd: c_int,
    to: *mut sockaddr,
    len: *mut socklen_t,
    flags: c_int,
) -> c_int {
    let Some(known) = table::find(fd) else {
        return system!(SYS_accept4, fd, to, len, flags) as c_int;
    };
    let waits = !known.never_waits.get();
    let accepted = blocked(move || {
        let (socket, from) =
            make(&known, Call::ACCEPT, waits, |socket| match socket.is_local()? {
                true => socket.try_accept_name().map(|(socket, from)| (socket, Named::Local(from))),
                false => socket.try_accept().map(|(socket, from)| (socket, from.into())),
            })?;
        let made = descriptor(Known::own(socket, flags & libc::SOCK_NONBLOCK != 0))?;
        Ok((made, from))
    });
    answer(accepted.map(|(made, from)| {
        // SAFETY: the caller vouches for the place.
        unsafe { shapes::write(&from, to, len) };
        made
    })) as c_int
}

/// libc's `accept`.
///
/// # Safety
/// As of libc's.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn accept(fd: c_int, to: *mut sockaddr, len: *mut socklen_t) -> c_int {
    // SAFETY: the arguments are the caller's, for the same call.
    unsafe { accept4(fd, to, len, 0) }
}

/// libc's `shutdown`.
#[unsafe(no_mangle)]
extern "C-unwind" fn shutdown(fd: c_int, how: c_int) -> c_int {
    let Some(known) = table::find(fd) else { return system!(SYS_shutdown, fd, how) as c_int };
    done(inside(|| {
        if known.with(Socket::is_local)? || known.with(Socket::is_udp)? {
            let shut = [how != libc::SHUT_WR, how != libc::SHUT_RD];
            return known.with(|socket| socket.shutdown_ways(shut));
        }
        if how != libc::SHUT_WR {
            known.with(Socket::peer_addr)?;
            known.is_read_shut.set(true);
        }
        if how != libc::SHUT_RD { known.with(Socket::shutdown) } else { Ok(()) }
    }))
}

// ------------------------------------------------------------ bytes and datagrams

/// What a receiving call wants beside bytes.
#[derive(Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "these are flags of recv(2), one for one")]
pub(super) struct Wants {
    pub(super) peeks: bool,
    pub(super) waits: bool,
    /// The byte that is beside the stream.
    pub(super) urgent: bool,
    /// How long a datagram is, whatever there is room for.
    pub(super) length: bool,
    /// As much as there is room for, as long as it may take.
    pub(super) all: bool,
}

/// What was received.
pub(super) struct Received {
    pub(super) len: usize,
    /// From whom, where that is said.
    pub(super) from: Named,
    /// There was more of the datagram than there is room for.
    pub(super) is_cut: bool,
}

/// No datagram is longer.
const DATAGRAM_MAX: usize = 1 << 16;

fn receive(known: &Known, to: &mut [u8], wants: Wants) -> io::Result<Received> {
    if known.with(Socket::is_local)? {
        return local::receive(known, to, wants);
    }
    let Wants { peeks, waits, length, urgent, .. } = wants;
    let nothing = Received { len: 0, from: Named::Nobody, is_cut: false };
    if urgent {
        let byte = known.with(|socket| socket.try_receive_urgent(peeks))?;
        let len = to.first_mut().map_or(0, |first| {
            *first = byte;
            1
        });
        return Ok(Received { len, ..nothing });
    }
    if known.is_read_shut.get() && !known.with(Socket::is_ready_for)?.readable {
        return Ok(nothing);
    }
    if known.with(Socket::is_udp)? {
        // One byte more than there is room for tells whether there is more.
        let mut whole = vec![0; if length { DATAGRAM_MAX } else { to.len() + 1 }];
        let receive = |socket: &Socket| socket.try_receive(&mut whole, peeks);
        let Some((len, from)) = make_unless_shut(known, waits, receive)? else {
            return Ok(nothing);
        };
        let fits = len.min(to.len());
        to[..fits].copy_from_slice(&whole[..fits]);
        let (from, is_cut) = (from.into(), fits < len);
        return Ok(Received { len: if length { len } else { fits }, from, is_cut });
    }
    let len = read(known, to, wants)?;
    Ok(Received { len, ..nothing })
}

/// Reads from a stream.
pub(super) fn read(known: &Known, to: &mut [u8], wants: Wants) -> io::Result<usize> {
    let Wants { peeks, waits, all, .. } = wants;
    let read = |to: &mut [u8]| {
        make(known, Call::RECV, waits, |socket| match peeks {
            true => socket.try_peek(to),
            false => socket.try_read(&mut [IoSliceMut::new(to)]),
        })
    };
    let mut len = read(to)?;
    // What was taken is not given back where there is no more.
    while all && !peeks && 0 < len && len < to.len() {
        match read(&mut to[len..]) {
            Ok(more) if more > 0 => len += more,
            _ => break,
        }
    }
    Ok(len)
}

/// Sends parts, to the peer where no other is named.
fn send_parts(
    known: &Known,
    parts: &[IoSlice<'_>],
    to: Option<Named>,
    waits: bool,
) -> io::Result<usize> {
    if known.with(Socket::is_local)? {
        return local::send(known, parts, to.as_ref(), waits);
    }
    let to = match to {
        Some(Named::Local(_)) => return Err(io::Error::from_raw_os_error(libc::EAFNOSUPPORT)),
        Some(Named::Internet(to)) => Some(to),
        Some(Named::Nobody) | None => None,
    };
    if known.with(Socket::is_udp)? {
        let whole: Vec<u8> = parts.iter().flat_map(|part| part.iter().copied()).collect();
        return make(known, Call::SEND, waits, |socket| {
            bind_late(socket)?;
            socket.try_send(to, &whole)
        });
    }
    make(known, Call::SEND, waits, |socket| socket.try_write(parts))
}

fn wants(known: &Known, flags: c_int) -> Wants {
    let waits = !known.never_waits.get() && flags & libc::MSG_DONTWAIT == 0;
    let is_set = |flag: c_int| flags & flag != 0;
    Wants {
        peeks: is_set(libc::MSG_PEEK),
        waits,
        urgent: is_set(libc::MSG_OOB),
        length: is_set(libc::MSG_TRUNC),
        all: is_set(libc::MSG_WAITALL),
    }
}

/// Receives in the memory of a caller that waits: it stays where it is.
///
/// # Safety
/// `to` is valid for writes of `len` bytes until this is over.
pub(super) unsafe fn receive_at(
    known: Rc<Known>,
    to: *mut c_void,
    len: size_t,
    flags: c_int,
) -> io::Result<Received> {
    let wants = wants(&known, flags);
    let to = to.cast::<u8>();
    blocked(move || {
        // SAFETY: the caller vouches for the place. Its bytes may be uninitialised; they are written
        // before they are read.
        let bytes = unsafe {
            to.write_bytes(0, len);
            slice::from_raw_parts_mut(to, len)
        };
        receive(&known, bytes, wants)
    })
}

/// Sends from the memory of a caller that waits.
///
/// # Safety
/// `from` is valid for reads of `len` bytes until this is over.
pub(super) unsafe fn send_from(
    known: Rc<Known>,
    from: *const c_void,
    len: size_t,
    flags: c_int,
    to: Option<Named>,
) -> io::Result<usize> {
    let Wants { waits, urgent, .. } = wants(&known, flags);
    let from = from.cast::<u8>();
    blocked(move || {
        // SAFETY: the caller vouches for the bytes.
        let bytes = unsafe { slice::from_raw_parts(from, len) };
        match bytes {
            [first @ .., last] if urgent => send_urgent(&known, first, *last, waits),
            _ => send_parts(&known, &[IoSlice::new(bytes)], to, waits),
        }
    })
}

/// Sends bytes the last of which is urgent.
fn send_urgent(known: &Known, first: &[u8], last: u8, waits: bool) -> io::Result<usize> {
    let sent = match first {
        [] => 0,
        _ => send_parts(known, &[IoSlice::new(first)], None, waits)?,
    };
    if sent == first.len() {
        make(known, Call::SEND, waits, |socket| socket.try_send_urgent(last))?;
        return Ok(sent + 1);
    }
    Ok(sent)
}

/// `read` of a descriptor; `None` where it is none of these.
///
/// # Safety
/// As of libc's `read`.
pub(in crate::interpose) unsafe fn reads(
    fd: c_int,
    to: *mut c_void,
    len: size_t,
) -> Option<ssize_t> {
    let known = table::find(fd)?;
    // SAFETY: the caller vouches for the place.
    Some(answer(unsafe { receive_at(known, to, len, 0) }.map(|received| received.len)))
}

/// `write` of a descriptor; `None` where it is none of these.
///
/// # Safety
/// As of libc's `write`.
pub(in crate::interpose) unsafe fn writes(
    fd: c_int,
    from: *const c_void,
    len: size_t,
) -> Option<ssize_t> {
    let known = table::find(fd)?;
    // SAFETY: the caller vouches for the bytes.
    Some(answer(unsafe { send_from(known, from, len, 0, None) }))
}

/// libc's `recvfrom`.
///
/// # Safety
/// As of libc's.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn recvfrom(
    fd: c_int,
    to: *mut c_void,
    len: size_t,
    flags: c_int,
    address: *mut sockaddr,
    address_len: *mut socklen_t,
) -> ssize_t {
    let Some(known) = table::find(fd) else {
        let of_system = system!(SYS_recvfrom, fd, to, len, flags, address, address_len);
        return rung(of_system) as ssize_t;
    };
    // SAFETY: the caller vouches for the place.
    let received = unsafe { receive_at(known, to, len, flags) };
    answer(received.map(|Received { len, from, .. }| {
        // SAFETY: as above.
        unsafe { shapes::write(&from, address, address_len) };
        len
    }))
}

/// libc's `recv`.
///
/// # Safety
/// As of libc's.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn recv(fd: c_int, to: *mut c_void, len: size_t, flags: c_int) -> ssize_t {
    let (address, address_len) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: the arguments are the caller's, for the same call.
    unsafe { recvfrom(fd, to, len, flags, address, address_len) }
}

/// libc's `sendto`.
///
/// # Safety
/// As of libc's.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn sendto(
    fd: c_int,
    from: *const c_void,
    len: size_t,
    flags: c_int,
    address: *const sockaddr,
    address_len: socklen_t,
) -> ssize_t {
    let Some(known) = table::find(fd) else {
        let of_system = system!(SYS_sendto, fd, from, len, flags, address, address_len);
        return rung(of_system) as ssize_t;
    };
    // SAFETY: the caller vouches for the address.
    let to = unsafe { shapes::read(address, address_len) };
    // SAFETY: the caller vouches for the bytes.
    answer(unsafe { send_from(known, from, len, flags, to) })
}

/// libc's `send`.
///
/// # Safety
/// As of libc's.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn send(
    fd: c_int,
    from: *const c_void,
    len: size_t,
    flags: c_int,
) -> ssize_t {
    // SAFETY: the arguments are the caller's, for the same call.
    unsafe { sendto(fd, from, len, flags, std::ptr::null(), 0) }
}

/// Whether calls of a descriptor wait: what `FIONBIO` and `O_NONBLOCK` say.
pub(in crate::interpose) fn waits(fd: c_int) -> Option<bool> {
    table::find(fd).map(|known| !known.never_waits.get())
}

/// See [`waits`].
pub(in crate::interpose) fn set_waits(fd: c_int, waits: bool) {
    if let Some(known) = table::find(fd) {
        known.never_waits.set(!waits);
    }
}

/// libc's `ioctl`. Its third argument is passed on as it came.
///
/// # Safety
/// As of libc's.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn ioctl(fd: c_int, what: libc::c_ulong, argument: *mut c_void) -> c_int {
    if let Some(refused) = crate::interpose::fs::no_device(fd) {
        return refused;
    }
    if what == libc::FIONBIO {
        // SAFETY: the call takes a number there.
        let waits = || unsafe { *argument.cast::<c_int>() } == 0;
        if let Some(done) = crate::interpose::fs::set_waits(fd, waits) {
            return done;
        }
        if table::find(fd).is_some() {
            set_waits(fd, waits());
        }
    }
    system!(SYS_ioctl, fd, what, argument) as c_int
}

/// See [`super::link_in`].
pub(super) fn link_in() {
    std::hint::black_box(socket as *const ());
}
