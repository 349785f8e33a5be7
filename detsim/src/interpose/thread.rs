//! `pthread_create` and `pthread_join`: threads that are started in a run are part of it.
//!
//! Owns: the wrapper round a thread's routine, and which joinable threads are a run's. Does not own: the
//! thread's task. Invariants: the thread is libc's own, with all that belongs to it; it is over for the
//! run when the last destructor of its locals has run, which the destructors of a key tell.
#![expect(
    unsafe_code,
    reason = "functions that libc's callers link to, and libc's own behind them"
)]

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use detsim_executor::threads::{self, Ticket};

use super::real::real;
use super::syscall::raw;
use crate::console;

type Routine = extern "C" fn(*mut c_void) -> *mut c_void;
/// What a new thread of a run is given.
struct Start {
    ticket: Ticket,
    routine: Routine,
    argument: *mut c_void,
}

/// Threads of runs that nobody has joined yet.
static STARTED: Mutex<Vec<(libc::pthread_t, Ticket)>> = Mutex::new(Vec::new());

/// Rounds of destructors that libc makes at the end of a thread.
const ROUNDS: usize = 4;

fn create(
    thread: *mut libc::pthread_t,
    attributes: *const libc::pthread_attr_t,
    routine: Routine,
    argument: *mut c_void,
) -> c_int {
    real!(
        pthread_create: fn(
            *mut libc::pthread_t,
            *const libc::pthread_attr_t,
            Routine,
            *mut c_void
        ) -> c_int,
        thread, attributes, routine, argument
    )
}

/// libc's `pthread_create`.
///
/// # Safety
/// As of libc's.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_create(
    thread: *mut libc::pthread_t,
    attributes: *const libc::pthread_attr_t,
    routine: Routine,
    argument: *mut c_void,
) -> c_int {
    let Some(ticket) = threads::inside(threads::begin_thread) else {
        return create(thread, attributes, routine, argument);
    };
    end_key();
    let start = Box::into_raw(Box::new(Start { ticket, routine, argument }));
    // The new thread takes the box.
    let failed = create(thread, attributes, run, start.cast());
    if failed == 0 {
        // SAFETY: the call has written it.
        let thread = unsafe { *thread };
        let mut started = started();
        // One that was detached is over, if its name is given out again.
        started.retain(|(known, _)| *known != thread);
        started.push((thread, ticket));
    } else {
        // SAFETY: nobody else has the box.
        drop(unsafe { Box::from_raw(start) });
        threads::cancel_thread(ticket);
    }
    failed
}

fn started() -> std::sync::MutexGuard<'static, Vec<(libc::pthread_t, Ticket)>> {
    let _ours = threads::outside();
    STARTED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The thread is about to be joined: its ticket, where it is a run's.
fn leaves(thread: libc::pthread_t) -> Option<Ticket> {
    let mut started = started();
    let at = started.iter().position(|(known, _)| *known == thread)?;
    Some(started.swap_remove(at).1)
}

/// What a thread of a run does.
extern "C" fn run(start: *mut c_void) -> *mut c_void {
    // SAFETY: `pthread_create` made the box for this thread.
    let start = unsafe { Box::from_raw(start.cast::<Start>()) };
    let Start { ticket, routine, argument } = *start;
    let enters = ticket.enter();
    // SAFETY: the key is alive for as long as the process; the value is only counted.
    unsafe { libc::pthread_setspecific(end_key(), ptr::without_provenance(ROUNDS)) };
    if enters { routine(argument) } else { ptr::null_mut() }
}

/// A key whose destructor runs until the last round.
fn end_key() -> libc::pthread_key_t {
    static KEY: OnceLock<libc::pthread_key_t> = OnceLock::new();
    let _ours = threads::outside();
    *KEY.get_or_init(|| {
        let mut key = 0;
        // SAFETY: the key is valid for the write, the destructor for the process's life.
        let failed = unsafe { libc::pthread_key_create(&raw mut key, Some(end)) };
        assert_eq!(
            failed, 0,
            "detsim: no key for the ends of threads; the process has used up all"
        );
        key
    })
}

/// One round of destructors is over for this thread.
unsafe extern "C" fn end(rounds: *mut c_void) {
    match rounds.addr() {
        0 | 1 => threads::leave_thread(),
        rounds => {
            // SAFETY: as in `run`.
            unsafe { libc::pthread_setspecific(end_key(), ptr::without_provenance(rounds - 1)) };
        }
    }
}

/// libc's `pthread_join`.
///
/// # Safety
/// As of libc's.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_join(thread: libc::pthread_t, value: *mut *mut c_void) -> c_int {
    if let Some(ticket) = threads::inside(|| leaves(thread)).flatten() {
        // std, who calls, panics where this fails; a panic could not pass through it from here.
        match threads::blocked(move || threads::join_thread(ticket)) {
            Some(Ok(false)) => return libc::EDEADLK,
            Some(Err(failure)) => {
                console::error(&failure.to_string());
                return libc::EDEADLK;
            }
            Some(Ok(true)) | None => {}
        }
    } else if let Some(joined) = join_outsider(thread, value) {
        return joined;
    }
    real!(pthread_join: fn(libc::pthread_t, *mut *mut c_void) -> c_int, thread, value)
}

/// How much of virtual time passes while a run waits for a thread that is none of it, and how long it waits
/// then.
const STEP: Duration = Duration::from_millis(1);
const REST: libc::timespec = libc::timespec { tv_sec: 0, tv_nsec: 200_000 };

/// Joins a thread that belongs to no run: the one that this thread attends to goes on meanwhile, since the
/// other may need it. `None` where there is none.
#[cfg(target_env = "gnu")]
fn join_outsider(thread: libc::pthread_t, value: *mut *mut c_void) -> Option<c_int> {
    while threads::attends() {
        // SAFETY: as of the call that is being made, which differs by not waiting.
        match unsafe { libc::pthread_tryjoin_np(thread, value) } {
            libc::EBUSY => {}
            ended => return Some(ended),
        }
        threads::blocked(|| threads::sleep(STEP))?.ok()?;
        let rest = ptr::from_ref(&REST).expose_provenance();
        // SAFETY: the time is a constant, and nothing is written.
        unsafe { raw(libc::SYS_nanosleep, [rest, 0, 0, 0, 0, 0]) };
    }
    None
}

#[cfg(not(target_env = "gnu"))]
fn join_outsider(_: libc::pthread_t, _: *mut *mut c_void) -> Option<c_int> {
    None
}
