//! `poll`, of descriptors that are all simulated sockets.

use std::io;
use std::rc::Rc;
use std::slice;
use std::time::Duration;

use detsim_executor::{OpKind, context};
use detsim_net::{Side, Socket};
use libc::{c_int, nfds_t, pollfd};

use super::calls::{answer, blocked};
use super::table::{self, Known};
use super::waits::{Call, wait_for};
use crate::interpose::fs::system;

/// libc's `poll`.
///
/// # Safety
/// As of libc's: `asked` is valid for `count` of them.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn poll(asked: *mut pollfd, count: nfds_t, limit_ms: c_int) -> c_int {
    let of_system = || system!(SYS_poll, asked, count, limit_ms) as c_int;
    if asked.is_null() || count == 0 {
        return of_system();
    }
    // SAFETY: the caller vouches for them.
    let all = unsafe { slice::from_raw_parts_mut(asked, count as usize) };
    let found: Option<Vec<Rc<Known>>> = all.iter().map(|one| table::find(one.fd)).collect();
    let Some(found) = found else { return of_system() };
    let wanted: Vec<i16> = all.iter().map(|one| one.events).collect();
    let happened = blocked(move || await_any(&found, &wanted, limit_ms));
    let count = happened.map(|happened| {
        for (one, what) in all.iter_mut().zip(&happened) {
            one.revents = *what;
        }
        happened.iter().filter(|what| **what != 0).count()
    });
    answer(count) as c_int
}

/// What happened to each, as soon as anything has, or once the time is over.
fn await_any(all: &[Rc<Known>], wanted: &[i16], limit_ms: c_int) -> io::Result<Vec<i16>> {
    let limit = u64::try_from(limit_ms).ok().map(Duration::from_millis);
    let until = limit.map(|limit| context::now() + limit);
    loop {
        let each = all.iter().zip(wanted).map(|(known, wanted)| known.with(|s| state(s, *wanted)));
        let happened = each.collect::<io::Result<Vec<i16>>>()?;
        if happened.iter().any(|what| *what != 0) || limit_ms == 0 {
            return Ok(happened);
        }
        let call = Call { op: OpKind::Recv, side: Side::Either };
        let waits: Vec<(&Known, Call)> = all.iter().map(|known| (&**known, call)).collect();
        if !wait_for(&waits, until)? {
            return Ok(happened);
        }
    }
}

fn state(socket: &Socket, wanted: i16) -> io::Result<i16> {
    let ready = socket.is_ready_for()?;
    let asked = wanted | libc::POLLERR | libc::POLLHUP;
    let of = |is_so: bool, bits: i16| if is_so { bits } else { 0 };
    let all = of(ready.readable, libc::POLLIN | libc::POLLRDNORM)
        | of(ready.writable, libc::POLLOUT | libc::POLLWRNORM)
        | of(ready.read_closed, libc::POLLRDHUP)
        | of(ready.error, libc::POLLERR)
        | of(ready.read_closed && ready.write_closed, libc::POLLHUP);
    Ok(all & asked)
}

/// See [`super::link_in`].
pub(super) fn link_in() {
    std::hint::black_box(poll as *const ());
}
