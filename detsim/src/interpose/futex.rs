//! `futex`: where threads wait for locks, condition variables, and each other.
//!
//! Owns: the meaning of the call's words. Does not own: waiting ([`detsim_executor::threads`]). In a run
//! whoever waits is put aside, and the others run; a lock that nobody contends makes no call. Everything
//! that is not a wait or a wake of the program in a run is the system's own.
#![expect(unsafe_code, reason = "a word of the caller is read, at an address that it gave")]

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;

use detsim_executor::threads::{self, Woken};

use super::clock;
use super::syscall::{Words, raw};
use crate::worker::serve::serving;

const ANY: u32 = u32::MAX;

/// The call, inside of a run or outside.
///
/// # Safety
/// As of the call.
pub(super) unsafe fn call(words: Words) -> isize {
    let [address, operation, value, fourth, fifth, sixth] = words;
    let command = operation as libc::c_int & libc::FUTEX_CMD_MASK;
    let wakes = matches!(command, libc::FUTEX_WAKE | libc::FUTEX_WAKE_BITSET);
    if !threads::is_programs() {
        if wakes {
            wake_other_runs(address);
        }
        // SAFETY: the caller vouches for its call.
        if let Some(waited) = unsafe { wait_between_runs(words) } {
            return waited;
        }
        // SAFETY: the caller vouches for its call.
        return unsafe { raw(libc::SYS_futex, words) };
    }
    let count = value as u32 as usize;
    // SAFETY: the caller vouches for the word, and for the time in a call that takes one.
    unsafe {
        match command {
            libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET if std::thread::panicking() => {
                wait_in_panic(words)
            }
            libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET if is_others(words) => 0,
            libc::FUTEX_WAIT => wait(address, value as u32, ANY, relative(fourth)),
            libc::FUTEX_WAIT_BITSET => {
                let realtime = operation as libc::c_int & libc::FUTEX_CLOCK_REALTIME != 0;
                wait(address, value as u32, sixth as u32, absolute(fourth, realtime))
            }
            libc::FUTEX_WAKE => wake(count, words, threads::wake_at(address, count, ANY)),
            libc::FUTEX_WAKE_BITSET => {
                wake(count, words, threads::wake_at(address, count, sixth as u32))
            }
            libc::FUTEX_REQUEUE | libc::FUTEX_CMP_REQUEUE => requeue(command, words, fourth, fifth),
            _ => raw(libc::SYS_futex, words),
        }
    }
}

/// The wait of a thread that has a run and does not drive it just now: the run goes on meanwhile.
///
/// # Panics
/// Where the run fails, with the report.
///
/// # Safety
/// As of the call.
unsafe fn wait_between_runs(words: Words) -> Option<isize> {
    let [_, operation, ..] = words;
    let command = operation as libc::c_int & libc::FUTEX_CMD_MASK;
    let waits = matches!(command, libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET);
    if !waits || std::thread::panicking() {
        return None;
    }
    if threads::is_over() {
        // SAFETY: the caller vouches for its call.
        let waited = unsafe { wait_after_failure(words) };
        if waited.is_some() {
            return waited;
        }
    }
    // SAFETY: the caller vouches for its call, which lasts as long as the wait.
    match threads::blocked(move || unsafe { call(words) })? {
        Ok(waited) => Some(waited),
        Err(failure) => panic!("{failure}"),
    }
}

/// How long a thread whose run has failed waits for others. It may share locks with all threads of the
/// process, who print stacks under some of them, and a busy machine stops whoever has one.
const FAILED_WAIT: Duration = Duration::from_secs(5);

/// The wait of a thread whose run has failed: nobody of the run ends it, but others may. `None` where
/// nobody did.
///
/// # Safety
/// As of the call.
unsafe fn wait_after_failure(words: Words) -> Option<isize> {
    let [_, operation, _, fourth, ..] = words;
    let realtime = operation as libc::c_int & libc::FUTEX_CLOCK_REALTIME != 0;
    // SAFETY: the caller vouches for the time.
    let timeout = unsafe {
        match operation as libc::c_int & libc::FUTEX_CMD_MASK {
            libc::FUTEX_WAIT => relative(fourth),
            _ => absolute(fourth, realtime),
        }
    };
    let limit = timeout.unwrap_or(FAILED_WAIT).min(FAILED_WAIT);
    let time = libc::timespec {
        tv_sec: limit.as_secs() as libc::time_t,
        tv_nsec: limit.subsec_nanos().into(),
    };
    // SAFETY: as of the caller.
    let in_vain = unsafe { waits_in_vain(words, &time) };
    let timed_out = -(libc::ETIMEDOUT as isize);
    match timeout {
        _ if !in_vain => Some(0),
        Some(timeout) if timeout <= limit => Some(timed_out),
        _ => None,
    }
}

/// # Safety
/// `address` is that of a word that lives as long as the wait.
unsafe fn wait(address: usize, value: u32, mask: u32, timeout: Option<Duration>) -> isize {
    // SAFETY: the caller vouches for the word, which is only used atomically, as by the system.
    let word = unsafe { AtomicU32::from_ptr(std::ptr::with_exposed_provenance_mut(address)) };
    match threads::wait_at(address, mask, timeout, || word.load(SeqCst) == value) {
        Woken::Yes => 0,
        Woken::NotDue => -(libc::EAGAIN as isize),
        Woken::TimedOut => -(libc::ETIMEDOUT as isize),
    }
}

/// How long a run waits for a word that threads outside of it may hold.
static BRIEFLY: libc::timespec = libc::timespec { tv_sec: 0, tv_nsec: 2_000_000 };

unsafe extern "C" {
    /// Where the program's statics begin, and where they end.
    static __data_start: u8;
    static _end: u8;
}

/// Whether the word is a static's that a thread outside of the run has let go of by now. std has locks for
/// the whole process, one of them taken by every thread at its beginning and end: what threads outside
/// do with them is to reach no run. A worker has no such threads.
///
/// # Safety
/// As of the call, which waits.
unsafe fn is_others(words: Words) -> bool {
    let statics = (&raw const __data_start).addr()..(&raw const _end).addr();
    // SAFETY: as of the caller.
    serving().is_none() && statics.contains(&words[0]) && !unsafe { waits_in_vain(words, &BRIEFLY) }
}

/// Has the system wait for the word: whether the time was over before anybody woke it.
///
/// # Safety
/// As of the call, which waits.
unsafe fn waits_in_vain([address, operation, value, ..]: Words, limit: &libc::timespec) -> bool {
    let private = operation & libc::FUTEX_PRIVATE_FLAG as usize;
    let limit = std::ptr::from_ref(limit).expose_provenance();
    let words = [address, libc::FUTEX_WAIT as usize | private, value, limit, 0, 0];
    // SAFETY: the caller vouches for the word, and the time outlives the call.
    unsafe { raw(libc::SYS_futex, words) == -(libc::ETIMEDOUT as isize) }
}

/// How long a thread that panics waits before the others of its run go on, where all threads of the
/// process are the run's: those of a worker are.
static PANIC_WAIT: libc::timespec = libc::timespec { tv_sec: 0, tv_nsec: 2_000_000 };
/// The same, once, where threads outside may have the lock. They print stacks under it, for as long as
/// it takes to find the symbols.
static PANIC_WAIT_OUTSIDE: libc::timespec = libc::timespec { tv_sec: 2, tv_nsec: 0 };

thread_local! {
    /// The word that this thread has waited for in vain in a panic: one of its run has that lock.
    static IN_VAIN: Cell<usize> = const { Cell::new(0) };
}

/// The wait of a thread that panics: for std's own locks, those of the message and its backtrace, which a
/// thread outside may have for long; and it cannot unwind, as a wait in a run does that nobody ends. So
/// it waits for the system, a moment, lets the others run, and looks again, as after any wake.
///
/// # Safety
/// As of the call, which waits.
unsafe fn wait_in_panic(words: Words) -> isize {
    let address = words[0];
    let is_runs = serving().is_some() || IN_VAIN.get() == address;
    let limit = if is_runs { &PANIC_WAIT } else { &PANIC_WAIT_OUTSIDE };
    // SAFETY: as of the caller.
    if unsafe { waits_in_vain(words, limit) } {
        IN_VAIN.set(address);
        threads::yield_thread();
    }
    0
}

/// Runs of other threads may share the lock.
fn wake_other_runs(address: usize) {
    if threads::is_waited_for_elsewhere() {
        threads::wake_from_elsewhere(address);
    }
}

/// Threads outside of the simulation, and those of others, may wait there as well.
///
/// # Safety
/// As of the call.
unsafe fn wake(count: usize, words: Words, woken: usize) -> isize {
    if woken >= count {
        return woken as isize;
    }
    wake_other_runs(words[0]);
    // SAFETY: the caller vouches for its call.
    woken as isize + unsafe { raw(libc::SYS_futex, words) }.max(0)
}

/// # Safety
/// As of the call.
unsafe fn requeue(command: libc::c_int, words: Words, moved_max: usize, to: usize) -> isize {
    let [address, _, woken_max, .., expected] = words;
    // SAFETY: the caller vouches for the word.
    let word = unsafe { AtomicU32::from_ptr(std::ptr::with_exposed_provenance_mut(address)) };
    if command == libc::FUTEX_CMP_REQUEUE && word.load(SeqCst) != expected as u32 {
        return -(libc::EAGAIN as isize);
    }
    let woken = threads::wake_at(address, woken_max as u32 as usize, ANY);
    let moved = threads::move_waits(address, to, moved_max as u32 as usize);
    (woken + moved) as isize
}

/// # Safety
/// `address` is 0 or that of a time.
unsafe fn relative(address: usize) -> Option<Duration> {
    let time: *const libc::timespec = std::ptr::with_exposed_provenance(address);
    // SAFETY: the caller vouches for the time.
    unsafe { time.as_ref() }.map(clock::duration)
}

/// # Safety
/// `address` is 0 or that of a time.
unsafe fn absolute(address: usize, realtime: bool) -> Option<Duration> {
    // SAFETY: as of the caller.
    let deadline = unsafe { relative(address) }?;
    Some(deadline.saturating_sub(clock::now(realtime)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use detsim_executor::{RunHash, Sim};

    static OF_ALL: AtomicU32 = AtomicU32::new(1);

    /// What the call gives where the word is no longer what its caller has seen, and the run with it.
    fn run(word: Option<&'static AtomicU32>) -> (Option<isize>, RunHash) {
        let sim = Sim::new(1);
        let waited = sim.block_on(async move {
            let operation = (libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG) as usize;
            let words =
                |word: &AtomicU32| [word.as_ptr().expose_provenance(), operation, 0, 0, 0, 0];
            // SAFETY: the word lives for good, and there is no time.
            word.map(|word| unsafe { call(words(word)) })
        });
        (waited.unwrap(), sim.hash())
    }

    #[test]
    fn what_threads_outside_do_with_locks_of_the_whole_process_reaches_no_run() {
        let (_, without) = run(None);
        assert_eq!(
            run(Some(&OF_ALL)),
            (Some(0), without),
            "it looks again, and nothing has happened"
        );
        // Any other lock is the run's own.
        let own: &'static AtomicU32 = Box::leak(Box::new(AtomicU32::new(1)));
        let (waited, with) = run(Some(own));
        assert_eq!(waited, Some(-(libc::EAGAIN as isize)));
        assert_ne!(with, without);
    }
}
