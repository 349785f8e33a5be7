//! The timer that ends a run in which nothing moves.
//!
//! A poll that spins never comes back to the kernel, so no check there can see it. A signal ticks
//! ten times in the allowed time; when ten ticks in a row found the same step, the handler writes
//! down what it saw and ends the process. Ticks are counted instead of time, so a process that was
//! stopped, or a machine that was asleep, is not mistaken for one that hangs. Invariant: the
//! handler touches atomics, the shared memory and the clock only.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use super::shared::Shared;
use super::{busy_ns, exit_now};
use crate::worker::progress::{NAME_BYTES_MAX, ReadProgress};
use crate::worker::protocol::Record;

const TICKS: u32 = 10;

/// What the handler needs, set before the first tick.
struct Watch {
    shared: Shared,
    tick: Duration,
    read: ReadProgress,
}

static WATCH: OnceLock<Watch> = OnceLock::new();
static STEPS_SEEN: AtomicU64 = AtomicU64::new(u64::MAX);
static TICKS_STILL: AtomicU32 = AtomicU32::new(0);
/// Processor time of the process when the steps stopped coming.
static BUSY_NS_BEFORE: AtomicU64 = AtomicU64::new(0);

/// Ends this process once `read` has shown the same step for `stuck_after`.
pub(crate) fn watch(shared: Shared, stuck_after: Duration, read: ReadProgress) {
    let tick = (stuck_after / TICKS).max(Duration::from_millis(1));
    let _set_by_an_earlier_run = WATCH.set(Watch { shared, tick, read });
    STEPS_SEEN.store(u64::MAX, Relaxed);
    let every = libc::timeval {
        tv_sec: tick.as_secs() as libc::time_t,
        tv_usec: i64::from(tick.subsec_micros()),
    };
    let timer = libc::itimerval { it_interval: every, it_value: every };
    // SAFETY: the handler is async-signal-safe; zero is a valid start for a sigaction; all
    // pointers are to locals that outlive the calls.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_tick as *const () as usize;
        action.sa_flags = libc::SA_RESTART | libc::SA_ONSTACK;
        libc::sigaction(libc::SIGALRM, &raw const action, std::ptr::null_mut());
        libc::setitimer(libc::ITIMER_REAL, &raw const timer, std::ptr::null_mut());
    }
}

extern "C" fn on_tick(_signal: libc::c_int) {
    let Some(watch) = WATCH.get() else { return };
    let mut name = [0; NAME_BYTES_MAX];
    let progress = (watch.read)(&mut name);
    let busy_ns = busy_ns();
    if STEPS_SEEN.swap(progress.steps, Relaxed) != progress.steps {
        TICKS_STILL.store(0, Relaxed);
        BUSY_NS_BEFORE.store(busy_ns, Relaxed);
    } else if TICKS_STILL.fetch_add(1, Relaxed) + 1 >= TICKS {
        let name = &name[..progress.name_bytes.min(NAME_BYTES_MAX)];
        give_up(watch, progress.steps, busy_ns - BUSY_NS_BEFORE.load(Relaxed), name);
    }
}

fn give_up(watch: &Watch, steps: u64, busy_ns: u64, task: &[u8]) -> ! {
    let wall_ns = (watch.tick * TICKS).as_nanos() as u64;
    let busy_permille = busy_ns.saturating_mul(1000) / wall_ns;
    let head = Record::encode_stuck(steps, busy_permille, wall_ns / 1_000_000, task.len());
    watch.shared.put_record_parts(&head, task);
    exit_now(0);
}
