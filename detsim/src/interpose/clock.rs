//! Clocks and sleeping: `clock_gettime`, `clock_nanosleep`, `nanosleep`, `sched_yield`.
//!
//! Owns: what std's `Instant` and `SystemTime`, and threads that sleep, see in a run: virtual time, on a
//! calendar that begins with the year 2030. Does not own: virtual time. A clock that is not one of time's
//! passing (processor time) is the system's own, in a run too.
#![expect(unsafe_code, reason = "functions that libc's callers link to")]

use std::time::Duration;

use detsim_executor::{context, threads};

use super::syscall::{into_errno, raw};

/// The first moment of a run: 2030-01-01 in UTC.
pub(super) const BEGINNING: Duration = Duration::from_secs(1_893_456_000);
/// How long the system has been up then: programs subtract from `Instant`s.
const UPTIME: Duration = Duration::from_secs(1 << 20);

/// The time of a clock in a run.
pub(super) fn now(realtime: bool) -> Duration {
    let since = Duration::from_nanos(context::system_now().as_nanos());
    since + if realtime { BEGINNING } else { UPTIME }
}

pub(super) fn duration(time: &libc::timespec) -> Duration {
    Duration::new(time.tv_sec.try_into().unwrap_or(0), time.tv_nsec.try_into().unwrap_or(0))
}

/// Whether a clock tells the date; `None` for one that does not tell time's passing.
fn tells_date(clock: libc::clockid_t) -> Option<bool> {
    match clock {
        libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE | libc::CLOCK_TAI => Some(true),
        libc::CLOCK_MONOTONIC
        | libc::CLOCK_MONOTONIC_COARSE
        | libc::CLOCK_MONOTONIC_RAW
        | libc::CLOCK_BOOTTIME => Some(false),
        _ => None,
    }
}

/// libc's `clock_gettime`.
///
/// # Safety
/// As of libc's: `time` is valid for the write.
#[unsafe(no_mangle)]
unsafe extern "C" fn clock_gettime(
    clock: libc::clockid_t,
    time: *mut libc::timespec,
) -> libc::c_int {
    let told = tells_date(clock).and_then(|realtime| threads::inside(|| now(realtime)));
    if let Some(now) = told {
        let told = libc::timespec {
            tv_sec: now.as_secs() as libc::time_t,
            tv_nsec: now.subsec_nanos().into(),
        };
        // SAFETY: the caller vouches for the place.
        unsafe { time.write(told) };
        return 0;
    }
    let words = [clock as usize, time.expose_provenance(), 0, 0, 0, 0];
    // SAFETY: the arguments are the caller's, for the same call.
    into_errno(unsafe { raw(libc::SYS_clock_gettime, words) }) as libc::c_int
}

/// libc's `clock_nanosleep`, which returns what went wrong. In a run nothing interrupts a sleep.
///
/// # Safety
/// As of libc's: `request` is valid for the read, and `rest` for a write, or null.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn clock_nanosleep(
    clock: libc::clockid_t,
    flags: libc::c_int,
    request: *const libc::timespec,
    rest: *mut libc::timespec,
) -> libc::c_int {
    if let Some(realtime) = tells_date(clock) {
        // SAFETY: the caller vouches for the time.
        let time = duration(unsafe { &*request });
        let is_absolute = flags & libc::TIMER_ABSTIME != 0;
        let sleeps = move || {
            threads::sleep(if is_absolute { time.saturating_sub(now(realtime)) } else { time });
        };
        if let Some(Ok(())) = threads::blocked(sleeps) {
            return 0;
        }
    }
    let (request, rest) = (request.expose_provenance(), rest.expose_provenance());
    let words = [clock as usize, flags as usize, request, rest, 0, 0];
    // SAFETY: the arguments are the caller's, for the same call.
    -unsafe { raw(libc::SYS_clock_nanosleep, words) } as libc::c_int
}

/// libc's `nanosleep`.
///
/// # Safety
/// As of [`clock_nanosleep`].
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn nanosleep(
    request: *const libc::timespec,
    rest: *mut libc::timespec,
) -> libc::c_int {
    // SAFETY: as of the caller.
    let failed = unsafe { clock_nanosleep(libc::CLOCK_MONOTONIC, 0, request, rest) };
    into_errno(-(failed as isize)) as libc::c_int
}

/// libc's `sched_yield`.
#[unsafe(no_mangle)]
extern "C-unwind" fn sched_yield() -> libc::c_int {
    if let Some(Ok(())) = threads::blocked(threads::yield_thread) {
        return 0;
    }
    // SAFETY: the call takes nothing and gives a number.
    into_errno(unsafe { raw(libc::SYS_sched_yield, [0; 6]) }) as libc::c_int
}
