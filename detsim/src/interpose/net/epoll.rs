//! `epoll` of descriptors some of which are simulated sockets.
//!
//! Owns: what an `epoll` that was made in a run knows of simulated sockets, and its calls. Does not own:
//! what of the system's it watches, which the system's own `epoll` behind it does, and is asked without
//! waiting. Sockets are told of by their descriptors, in a ring, so that none is passed over for good.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io;
use std::rc::{Rc, Weak};
use std::slice;
use std::time::Duration;

use detsim_executor::{context, threads};
use detsim_net::Socket;
use libc::{c_int, epoll_event, sigset_t};

use super::calls::{answer, blocked, done};
use super::ready::{EITHER, MASK_BYTES, state};
use super::table::{self, Known};
use super::waits::wait_for;
use crate::interpose::fs::system;

/// What an `epoll` knows of simulated sockets.
#[derive(Debug, Default)]
pub(super) struct Epoll {
    watched: RefCell<BTreeMap<c_int, Watched>>,
    /// The descriptor from which the next call looks on.
    next: Cell<c_int>,
}

/// A socket that is watched, until its last descriptor is closed.
#[derive(Debug)]
struct Watched {
    known: Weak<Known>,
    events: u32,
    data: u64,
    /// With how many changes it was told of last, where changes alone are told.
    told: Option<u32>,
}

const EDGE: u32 = libc::EPOLLET as u32;
const ONCE: u32 = libc::EPOLLONESHOT as u32;

/// libc's `epoll_create1`.
#[unsafe(no_mangle)]
extern "C-unwind" fn epoll_create1(flags: c_int) -> c_int {
    let fd = system!(SYS_epoll_create1, flags) as c_int;
    if fd >= 0 && !threads::is_outside() {
        threads::inside(|| table::put_epoll(fd, Rc::default()));
    }
    fd
}

/// libc's `epoll_create`.
#[unsafe(no_mangle)]
extern "C-unwind" fn epoll_create(size: c_int) -> c_int {
    match size > 0 {
        true => epoll_create1(0),
        false => done(Err(errno(libc::EINVAL))),
    }
}

fn errno(number: c_int) -> io::Error {
    io::Error::from_raw_os_error(number)
}

/// libc's `epoll_ctl`.
///
/// # Safety
/// As of libc's: `event` is valid, or null where something is watched no more.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn epoll_ctl(
    epoll: c_int,
    what: c_int,
    fd: c_int,
    event: *mut epoll_event,
) -> c_int {
    let (Some(found), Some(known)) = (table::find_epoll(epoll), table::find(fd)) else {
        return system!(SYS_epoll_ctl, epoll, what, fd, event) as c_int;
    };
    // SAFETY: the caller vouches for it.
    let event = (!event.is_null()).then(|| unsafe { event.read_unaligned() });
    done(found.control(what, fd, &known, event))
}

/// libc's `epoll_wait`.
///
/// # Safety
/// As of libc's: there is room for `max` events.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn epoll_wait(
    epoll: c_int,
    events: *mut epoll_event,
    max: c_int,
    limit_ms: c_int,
) -> c_int {
    // SAFETY: the arguments are the caller's, for the same call.
    unsafe { epoll_pwait(epoll, events, max, limit_ms, std::ptr::null()) }
}

/// libc's `epoll_pwait`. The mask of signals is passed over in a run, which has none of the system's.
///
/// # Safety
/// As of libc's.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn epoll_pwait(
    epoll: c_int,
    events: *mut epoll_event,
    max: c_int,
    limit_ms: c_int,
    mask: *const sigset_t,
) -> c_int {
    let Some(found) = table::find_epoll(epoll) else {
        return system!(SYS_epoll_pwait, epoll, events, max, limit_ms, mask, MASK_BYTES) as c_int;
    };
    let room = match usize::try_from(max) {
        Ok(room @ 1..) if !events.is_null() => room,
        _ => return done(Err(errno(libc::EINVAL))),
    };
    let limit = u64::try_from(limit_ms).ok().map(Duration::from_millis);
    let told = blocked(move || found.wait(epoll, room, limit));
    answer(told.map(|told| {
        // SAFETY: the caller vouches for the room, and no more is told than there is.
        let events = unsafe { slice::from_raw_parts_mut(events, told.len()) };
        events.copy_from_slice(&told);
        told.len()
    })) as c_int
}

impl Epoll {
    fn control(
        &self,
        what: c_int,
        fd: c_int,
        known: &Rc<Known>,
        event: Option<epoll_event>,
    ) -> io::Result<()> {
        let mut watched = self.watched.borrow_mut();
        let is_watched = watched
            .get(&fd)
            .is_some_and(|one| std::ptr::eq(one.known.as_ptr(), &raw const **known));
        if what == libc::EPOLL_CTL_DEL {
            let gone = is_watched.then(|| watched.remove(&fd)).flatten();
            return gone.map(drop).ok_or_else(|| errno(libc::ENOENT));
        }
        let epoll_event { events, u64: data } = event.ok_or_else(|| errno(libc::EFAULT))?;
        match (what, is_watched) {
            (libc::EPOLL_CTL_ADD, true) => return Err(errno(libc::EEXIST)),
            (libc::EPOLL_CTL_MOD, false) => return Err(errno(libc::ENOENT)),
            (libc::EPOLL_CTL_ADD | libc::EPOLL_CTL_MOD, _) => {}
            _ => return Err(errno(libc::EINVAL)),
        }
        watched.insert(fd, Watched { known: Rc::downgrade(known), events, data, told: None });
        drop(watched);
        // Whoever waits in another thread looks at it too.
        table::ring();
        Ok(())
    }

    /// What there is to tell, as soon as there is anything, or once the time is over.
    fn wait(
        &self,
        epoll: c_int,
        room: usize,
        limit: Option<Duration>,
    ) -> io::Result<Vec<epoll_event>> {
        let until = limit.map(|limit| context::now() + limit);
        loop {
            let mut told = self.told(room);
            told.extend(of_system(epoll, room - told.len()));
            if !told.is_empty() || limit == Some(Duration::ZERO) {
                return Ok(told);
            }
            let known: Vec<Rc<Known>> = self.known();
            let waits: Vec<_> = known.iter().map(|known| (&**known, EITHER)).collect();
            if !wait_for(&waits, true, until)? {
                return Ok(told);
            }
        }
    }

    fn known(&self) -> Vec<Rc<Known>> {
        self.watched.borrow().values().filter_map(|one| one.known.upgrade()).collect()
    }

    /// What there is to tell of simulated sockets, as much as there is room for.
    fn told(&self, room: usize) -> Vec<epoll_event> {
        let mut watched = self.watched.borrow_mut();
        watched.retain(|_, one| one.known.strong_count() > 0);
        let next = self.next.get();
        let order = watched.range(next..).chain(watched.range(..next)).map(|(fd, _)| *fd);
        let order: Vec<c_int> = order.collect();
        let mut told = Vec::new();
        for fd in order {
            if told.len() == room {
                self.next.set(fd);
                break;
            }
            told.extend(watched.get_mut(&fd).and_then(Watched::tell));
        }
        told
    }
}

impl Watched {
    /// What there is to tell of it, which is told by that.
    fn tell(&mut self) -> Option<epoll_event> {
        if self.events & !(EDGE | ONCE) == 0 {
            return None;
        }
        let known = self.known.upgrade()?;
        // A socket whose node has stopped says nothing any more.
        let (changes, state) = known.with(|socket| look(socket, self.events)).ok()?;
        if state == 0 || (self.events & EDGE != 0 && self.told == Some(changes)) {
            return None;
        }
        self.told = Some(changes);
        if self.events & ONCE != 0 {
            self.events &= EDGE | ONCE;
        }
        Some(epoll_event { events: u32::from(state as u16), u64: self.data })
    }
}

/// How often something has happened to a socket, and what is so now of what is wanted.
pub(super) fn look(socket: &Socket, wanted: u32) -> io::Result<(u32, i16)> {
    Ok((socket.changes()?, state(socket, wanted as u16 as i16)?))
}

/// What the system tells of what is its own.
fn of_system(epoll: c_int, room: usize) -> Vec<epoll_event> {
    let mut events = vec![epoll_event { events: 0, u64: 0 }; room.min(64)];
    if events.is_empty() {
        return events;
    }
    let (place, mask) = (events.as_mut_ptr(), std::ptr::null::<sigset_t>());
    let count = system!(SYS_epoll_pwait, epoll, place, events.len(), 0, mask, MASK_BYTES);
    events.truncate(usize::try_from(count).unwrap_or(0));
    events
}

/// See [`super::link_in`].
pub(super) fn link_in() {
    std::hint::black_box(epoll_create1 as *const ());
}
