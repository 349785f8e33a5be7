//! `sendmsg` and `recvmsg`, of one message or of many.
//!
//! Owns: parts, addresses and flags of a message, and which control messages a socket understands: those that
//! ask for what a simulated network has not (marks, interfaces), and those that a kernel passes over on such a
//! socket (descriptors, credentials), change nothing; `UDP_SEGMENT` cuts what is sent
//! into datagrams, as the kernel would. Does not own: what is sent and received (`calls.rs`). No control
//! message is ever received: whoever asked for them finds none, as from a kernel that has none to give.
//!
//! A control message that is none of these is refused with EINVAL, and said; so are descriptors that are to pass
//! a local socket, with EOPNOTSUPP: what stands behind them is not of the run's making alone.

use std::io;
use std::rc::Rc;

use detsim_net::Socket;
use libc::{
    IPPROTO_IP, IPPROTO_IPV6, SOL_UDP, c_int, c_uint, c_void, mmsghdr, msghdr, ssize_t, timespec,
};

use super::calls::{Received, answer, receive_at, send_from};
use super::ready::rung;
use super::shapes::{self, Named};
use super::table::{self, Known};
use crate::console;
use crate::interpose::fs::system;
use crate::interpose::fs::vectors::{read_parts, write_parts};

/// libc's `sendmsg`.
///
/// # Safety
/// As of libc's: the message and what it points at are valid.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn sendmsg(fd: c_int, message: *const msghdr, flags: c_int) -> ssize_t {
    match table::find(fd) {
        None => rung(system!(SYS_sendmsg, fd, message, flags)) as ssize_t,
        // SAFETY: the caller vouches for the message.
        Some(known) => unsafe { send_message(&known, &*message, flags) },
    }
}

/// libc's `recvmsg`.
///
/// # Safety
/// As of [`sendmsg`].
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn recvmsg(fd: c_int, message: *mut msghdr, flags: c_int) -> ssize_t {
    match table::find(fd) {
        None => rung(system!(SYS_recvmsg, fd, message, flags)) as ssize_t,
        // SAFETY: the caller vouches for the message.
        Some(known) => unsafe { receive_message(&known, &mut *message, flags) },
    }
}

/// libc's `sendmmsg`.
///
/// # Safety
/// As of [`sendmsg`], of `count` messages.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn sendmmsg(
    fd: c_int,
    messages: *mut mmsghdr,
    count: c_uint,
    flags: c_int,
) -> c_int {
    let Some(known) = table::find(fd) else {
        return rung(system!(SYS_sendmmsg, fd, messages, count, flags)) as c_int;
    };
    // SAFETY: the caller vouches for the messages.
    unsafe { each(messages, count, |message, _| send_message(&known, message, flags)) }
}

/// libc's `recvmmsg`. Its time counts between messages alone, as on Linux; here none passes there.
///
/// # Safety
/// As of [`sendmsg`], of `count` messages.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn recvmmsg(
    fd: c_int,
    messages: *mut mmsghdr,
    count: c_uint,
    flags: c_int,
    limit: *mut timespec,
) -> c_int {
    let Some(known) = table::find(fd) else {
        return rung(system!(SYS_recvmmsg, fd, messages, count, flags, limit)) as c_int;
    };
    let waits_once = flags & libc::MSG_WAITFORONE != 0;
    let receive = |message: &mut msghdr, is_first: bool| {
        let waits = is_first || !waits_once;
        let flags = if waits { flags } else { flags | libc::MSG_DONTWAIT };
        // SAFETY: the caller vouches for the message.
        unsafe { receive_message(&known, message, flags) }
    };
    // SAFETY: the caller vouches for the messages.
    unsafe { each(messages, count, receive) }
}

/// Makes a call for each message, until one fails: how many did not, or the error where none did.
///
/// # Safety
/// `messages` is valid for `count` of them.
unsafe fn each(
    messages: *mut mmsghdr,
    count: c_uint,
    mut call: impl FnMut(&mut msghdr, bool) -> ssize_t,
) -> c_int {
    for at in 0..count as usize {
        // SAFETY: the caller vouches for so many.
        let message = unsafe { &mut *messages.add(at) };
        let gave = call(&mut message.msg_hdr, at == 0);
        if gave < 0 {
            return if at == 0 { -1 } else { at as c_int };
        }
        message.msg_len = gave as c_uint;
    }
    count as c_int
}

/// # Safety
/// The message and what it points at are valid.
unsafe fn send_message(known: &Rc<Known>, message: &msghdr, flags: c_int) -> ssize_t {
    // SAFETY: the caller vouches for the message.
    let segment = match unsafe { segment_of(known, message) } {
        Ok(segment) => segment,
        Err(error) => return answer::<ssize_t>(Err(error)),
    };
    // SAFETY: as above.
    let to = unsafe { shapes::read(message.msg_name.cast(), message.msg_namelen) };
    let send = |from: *const c_void, len: usize| {
        // SAFETY: the parts are together there until the call is over.
        let part = |at: usize, len: usize| unsafe {
            send_from(Rc::clone(known), from.byte_add(at), len, flags, to.clone())
        };
        let Some(size) = segment.filter(|size| *size > 0 && *size < len) else {
            return answer(part(0, len));
        };
        let mut parts = (0..len).step_by(size).map(|at| part(at, size.min(len - at)));
        answer(parts.try_fold(0, |sum, sent| Ok(sum + sent?)))
    };
    // SAFETY: as above.
    unsafe { write_parts(message.msg_iov, message.msg_iovlen as c_int, send) }
}

/// Into datagrams of how many bytes what is sent is cut, where that is asked for.
///
/// # Safety
/// The message and what it points at are valid.
unsafe fn segment_of(known: &Known, message: &msghdr) -> io::Result<Option<usize>> {
    let is_local = known.with(Socket::is_local)?;
    let mut segment = None;
    // SAFETY: the caller vouches for the control messages.
    let mut next = unsafe { libc::CMSG_FIRSTHDR(message) };
    while !next.is_null() {
        // SAFETY: as above.
        let control = unsafe { &*next };
        match (control.cmsg_level, control.cmsg_type) {
            (SOL_UDP, libc::UDP_SEGMENT) => {
                // SAFETY: as above; it holds a number of 16 bits.
                let size = unsafe { libc::CMSG_DATA(next).cast::<u16>().read_unaligned() };
                segment = Some(usize::from(size));
            }
            (IPPROTO_IP, libc::IP_TOS | libc::IP_TTL | libc::IP_PKTINFO)
            | (IPPROTO_IPV6, libc::IPV6_TCLASS | libc::IPV6_HOPLIMIT | libc::IPV6_PKTINFO)
            | (libc::SOL_SOCKET, libc::SCM_CREDENTIALS) => {}
            (libc::SOL_SOCKET, libc::SCM_RIGHTS) if is_local => {
                console::error(
                    "detsim: descriptors do not pass a simulated local socket (SCM_RIGHTS); the call gives \
                     EOPNOTSUPP; send what they are for, or open it anew",
                );
                return Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP));
            }
            (libc::SOL_SOCKET, libc::SCM_RIGHTS) => {}
            (level, kind) => {
                console::error(&format!(
                    "detsim: a control message of level {level} and type {kind} means nothing to a \
                     simulated socket; the call gives EINVAL; send without it"
                ));
                return Err(io::Error::from_raw_os_error(libc::EINVAL));
            }
        }
        // SAFETY: as above.
        next = unsafe { libc::CMSG_NXTHDR(message, next) };
    }
    Ok(segment)
}

/// # Safety
/// The message and what it points at are valid.
unsafe fn receive_message(known: &Rc<Known>, message: &mut msghdr, flags: c_int) -> ssize_t {
    let (mut whole, mut from, mut is_cut) = (0, Named::Nobody, false);
    let receive = |to: *mut c_void, len: usize| {
        // SAFETY: there is room for as many bytes until the call is over.
        match unsafe { receive_at(Rc::clone(known), to, len, flags) } {
            Err(error) => answer::<ssize_t>(Err(error)),
            Ok(received) => {
                let Received { len: bytes, from: sender, .. } = received;
                (whole, from, is_cut) = (bytes, sender, received.is_cut);
                bytes.min(len) as ssize_t
            }
        }
    };
    // SAFETY: the caller vouches for the parts.
    let got = unsafe { read_parts(message.msg_iov, message.msg_iovlen as c_int, receive) };
    if got < 0 {
        return got;
    }
    // SAFETY: the caller vouches for the place of the address.
    unsafe { shapes::write(&from, message.msg_name.cast(), &raw mut message.msg_namelen) };
    message.msg_flags = if is_cut { libc::MSG_TRUNC } else { 0 };
    message.msg_controllen = 0;
    whole as ssize_t
}

/// See [`super::link_in`].
pub(super) fn link_in() {
    std::hint::black_box(sendmsg as *const ());
}
