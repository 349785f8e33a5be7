//! `poll`, `ppoll` and `select`, of descriptors some of which are simulated sockets.
//!
//! Owns: what such a descriptor is ready for in C's words, and waiting for any of several. What is the
//! system's among them is asked of the system, without waiting; whatever the run does with a descriptor of
//! the system's has them asked again ([`rung`]). Does not own: `epoll` (`epoll.rs`).

use std::io;
use std::ptr;
use std::rc::Rc;
use std::slice;
use std::time::Duration;

use detsim_executor::{OpKind, context};
use detsim_net::{Side, Socket};
use libc::{c_int, c_long, c_void, fd_set, nfds_t, pollfd, sigset_t, timespec, timeval};

use super::calls::{answer, blocked};
use super::table::{self, Known};
use super::waits::{Call, wait_for};
use crate::interpose::fs::system;

/// A descriptor that is waited for, and for what.
struct Asked {
    fd: c_int,
    /// `None` for one of the system's.
    known: Option<Rc<Known>>,
    wanted: i16,
}

impl Asked {
    fn of(fd: c_int, wanted: i16) -> Self {
        Self { fd, known: table::find(fd), wanted }
    }
}

/// How long a mask of signals is to the system.
pub(super) const MASK_BYTES: usize = 8;

/// Any end of a socket.
pub(super) const EITHER: Call = Call { op: OpKind::Recv, side: Side::Either };

/// libc's `poll`.
///
/// # Safety
/// As of libc's: `asked` is valid for `count` of them.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn poll(asked: *mut pollfd, count: nfds_t, limit_ms: c_int) -> c_int {
    // SAFETY: the caller vouches for them.
    match unsafe { Poll::of(asked, count) } {
        None => poll_system(asked, count, limit_ms),
        Some(poll) => poll.answered(u64::try_from(limit_ms).ok().map(Duration::from_millis)),
    }
}

/// libc's `ppoll`. The mask of signals is passed over: a run has no signals of the system's.
///
/// # Safety
/// As of libc's.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn ppoll(
    asked: *mut pollfd,
    count: nfds_t,
    limit: *const timespec,
    mask: *const sigset_t,
) -> c_int {
    // SAFETY: the caller vouches for them.
    let Some(poll) = (unsafe { Poll::of(asked, count) }) else {
        // The system writes what is left of the time; libc's callers see nothing of that.
        // SAFETY: the caller vouches for the time.
        let mut copy = (!limit.is_null()).then(|| unsafe { *limit });
        let limit = copy.as_mut().map_or(ptr::null_mut(), |copy| &raw mut *copy);
        return system!(SYS_ppoll, asked, count, limit, mask, MASK_BYTES) as c_int;
    };
    // SAFETY: the caller vouches for the time.
    let limit = (!limit.is_null()).then(|| unsafe { *limit });
    poll.answered(limit.map(|limit| Duration::new(limit.tv_sec as u64, limit.tv_nsec as u32)))
}

/// A call of `poll` that has to do with the simulation.
struct Poll<'a> {
    all: &'a mut [pollfd],
    asked: Vec<Asked>,
}

impl Poll<'_> {
    /// `None` where it has not.
    ///
    /// # Safety
    /// `all` is null or valid for `count` of them.
    unsafe fn of(all: *mut pollfd, count: nfds_t) -> Option<Self> {
        if all.is_null() || count == 0 || !table::is_used() {
            return None;
        }
        // SAFETY: the caller vouches for them.
        let all = unsafe { slice::from_raw_parts_mut(all, count as usize) };
        let asked: Vec<Asked> = all.iter().map(|one| Asked::of(one.fd, one.events)).collect();
        asked.iter().any(|one| one.known.is_some()).then_some(Self { all, asked })
    }

    fn answered(self, limit: Option<Duration>) -> c_int {
        let Self { all, asked } = self;
        let happened = blocked(move || await_any(&asked, limit));
        answer(happened.map(|happened| {
            all.iter_mut().zip(&happened).for_each(|(one, what)| one.revents = *what);
            happened.iter().filter(|what| **what != 0).count()
        })) as c_int
    }
}

/// libc's `select`.
///
/// # Safety
/// As of libc's: each set is null or valid, as is the time.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn select(
    count: c_int,
    reads: *mut fd_set,
    writes: *mut fd_set,
    odd: *mut fd_set,
    limit: *mut timeval,
) -> c_int {
    let sets = [(reads, libc::POLLIN), (writes, libc::POLLOUT), (odd, libc::POLLPRI)];
    // SAFETY: the caller vouches for the sets, whose size bounds what is asked.
    let has = |set: *mut fd_set, fd: c_int| !set.is_null() && unsafe { libc::FD_ISSET(fd, set) };
    let of = |fd: c_int| {
        let wanted = sets.iter().filter(|(set, _)| has(*set, fd)).fold(0, |all, one| all | one.1);
        (wanted != 0).then(|| Asked::of(fd, wanted))
    };
    let is_used = table::is_used();
    let asked: Vec<Asked> =
        (0..count.min(libc::FD_SETSIZE as c_int)).filter(|_| is_used).filter_map(of).collect();
    if !asked.iter().any(|one| one.known.is_some()) {
        // SAFETY: the caller vouches for the time.
        let mut limit = (!limit.is_null()).then(|| spec(unsafe { *limit }));
        let limit = limit.as_mut().map_or(ptr::null_mut(), |limit| &raw mut *limit);
        let no_mask = ptr::null::<c_void>();
        return system!(SYS_pselect6, count, reads, writes, odd, limit, no_mask) as c_int;
    }
    let fds: Vec<c_int> = asked.iter().map(|one| one.fd).collect();
    // SAFETY: the caller vouches for the time.
    let time = (!limit.is_null()).then(|| unsafe { *limit });
    let time = time.map(spec).map(|time| Duration::new(time.tv_sec as u64, time.tv_nsec as u32));
    let happened = blocked(move || await_any(&asked, time));
    answer(happened.map(|happened| {
        let mut count = 0;
        for (fd, what) in fds.into_iter().zip(happened) {
            // What has failed or ended is ready for everything but what is odd.
            let ends = if what & (libc::POLLERR | libc::POLLHUP) == 0 { 0 } else { 5 };
            for (set, bit) in sets {
                if has(set, fd) && (what | ends) & bit != 0 {
                    count += 1;
                } else if !set.is_null() {
                    // SAFETY: as above.
                    unsafe { libc::FD_CLR(fd, set) };
                }
            }
        }
        count
    })) as c_int
}

/// The time of a `select` as `pselect` takes it.
fn spec(limit: timeval) -> timespec {
    let (more, micros) = (limit.tv_usec / 1_000_000, limit.tv_usec % 1_000_000);
    timespec { tv_sec: limit.tv_sec + more, tv_nsec: micros * 1_000 }
}

/// What happened to each, as soon as anything has, or once the time is over.
fn await_any(all: &[Asked], limit: Option<Duration>) -> io::Result<Vec<i16>> {
    let until = limit.map(|limit| context::now() + limit);
    let has_others = all.iter().any(|one| one.known.is_none());
    loop {
        let mut happened = of_system(all);
        for (one, happened) in all.iter().zip(&mut happened) {
            if let Some(known) = &one.known {
                *happened = known.with(|socket| state(socket, one.wanted))?;
            }
        }
        if happened.iter().any(|what| *what != 0) || limit == Some(Duration::ZERO) {
            return Ok(happened);
        }
        let known = all.iter().filter_map(|one| one.known.as_deref());
        let waits: Vec<(&Known, Call)> = known.map(|known| (known, EITHER)).collect();
        if !wait_for(&waits, has_others, until)? {
            return Ok(happened);
        }
    }
}

/// What the system says of what is its own; 0 of all others.
fn of_system(all: &[Asked]) -> Vec<i16> {
    let own = |one: &Asked| if one.known.is_some() { -1 } else { one.fd };
    let ask = |one: &Asked| pollfd { fd: own(one), events: one.wanted, revents: 0 };
    let mut polled: Vec<pollfd> = all.iter().map(ask).collect();
    if polled.iter().any(|one| one.fd >= 0) {
        // Where it fails it has said nothing.
        let _ready = poll_system(polled.as_mut_ptr(), polled.len() as nfds_t, 0);
    }
    polled.iter().map(|one| one.revents).collect()
}

/// The system's `poll`, which newer machines have as `ppoll` alone.
fn poll_system(asked: *mut pollfd, count: nfds_t, limit_ms: c_int) -> c_int {
    let limit = u64::try_from(limit_ms).ok().map(Duration::from_millis);
    let mut limit = limit.map(|limit| timespec {
        tv_sec: limit.as_secs() as libc::time_t,
        tv_nsec: limit.subsec_nanos().into(),
    });
    let limit = limit.as_mut().map_or(ptr::null_mut(), |limit| &raw mut *limit);
    let no_mask = ptr::null::<c_void>();
    system!(SYS_ppoll, asked, count, limit, no_mask, MASK_BYTES) as c_int
}

/// What a socket is ready for, of what is wanted; errors and ends are told always.
pub(super) fn state(socket: &Socket, wanted: i16) -> io::Result<i16> {
    let ready = socket.is_ready_for()?;
    let asked = wanted | libc::POLLERR | libc::POLLHUP;
    let of = |is_so: bool, bits: i16| if is_so { bits } else { 0 };
    let all = of(ready.readable, libc::POLLIN | libc::POLLRDNORM)
        | of(ready.writable, libc::POLLOUT | libc::POLLWRNORM)
        | of(ready.read_closed, libc::POLLRDHUP)
        | of(ready.urgent, libc::POLLPRI)
        | of(ready.error, libc::POLLERR)
        | of(ready.read_closed && ready.write_closed, libc::POLLHUP);
    Ok(all & asked)
}

/// What the system gave for a call on a descriptor of its own: whoever waits for one asks again.
#[inline]
pub(in crate::interpose) fn rung(gave: c_long) -> c_long {
    if gave >= 0 && table::is_listened() {
        table::ring();
    }
    gave
}

/// See [`super::link_in`].
pub(super) fn link_in() {
    std::hint::black_box(poll as *const ());
}
