//! Bringing the test harness's own thread to a stop for good.
//!
//! libtest runs the test on a second thread, and its main thread wakes now and then (to warn of a
//! slow test, say). A fork that catches it in the middle of a step would copy a heap that differs
//! from seed to seed. So it is caught asleep and held inside a signal handler.

use std::fs::File;
use std::io::Read;
use std::mem::{MaybeUninit, zeroed};
use std::sync::atomic::{AtomicBool, Ordering};

use super::ids;

static IS_HELD: AtomicBool = AtomicBool::new(false);

/// Looks at the main thread this often before giving up; each look yields the processor.
const LOOKS_MAX: u32 = 1_000_000;

/// Holds the main thread, which must be asleep or about to be. Returns whether it is held (or is
/// the caller itself).
pub(crate) fn freeze_main_thread() -> bool {
    let (process, thread) = ids();
    if process == thread {
        return true;
    }
    wait_until(|| is_asleep(process)) && hold(process) && wait_until(is_held)
}

fn wait_until(is_true: impl Fn() -> bool) -> bool {
    (0..LOOKS_MAX).any(|_| {
        let done = is_true();
        if !done {
            std::thread::yield_now();
        }
        done
    })
}

fn is_held() -> bool {
    IS_HELD.load(Ordering::Acquire)
}

/// Reads the state of the main thread; in a buffer on the stack, because how often this runs
/// differs from worker to worker and must leave no trace in the heap.
fn is_asleep(process: i32) -> bool {
    let mut line = [0; 256];
    let Ok(read) = File::open("/proc/self/stat").and_then(|mut stat| stat.read(&mut line)) else {
        return false;
    };
    debug_assert!(process > 0, "the main thread's id is that of the process");
    // The state follows the name, which is in parentheses and may hold some itself.
    let name_end = line[..read].iter().rposition(|byte| *byte == b')');
    name_end.and_then(|end| line.get(end + 2)).is_some_and(|state| *state == b'S')
}

/// Sends the main thread into [`hold_here`].
fn hold(process: i32) -> bool {
    let signal = libc::SIGRTMAX();
    // SAFETY: the handler is async-signal-safe and never returns; zero is a valid sigaction and a
    // valid start for its mask; tgkill takes plain numbers.
    unsafe {
        let mut action: libc::sigaction = zeroed();
        action.sa_sigaction = hold_here as *const () as usize;
        libc::sigfillset(&raw mut action.sa_mask);
        libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        libc::syscall(libc::SYS_tgkill, process, process, signal) == 0
    }
}

extern "C" fn hold_here(_signal: libc::c_int) {
    // The disposition goes back to what a program expects, so that no child inherits ours.
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: an all-zero sigaction asks for the default; sigaction and pause are
    // async-signal-safe.
    unsafe {
        (*action.as_mut_ptr()).sa_sigaction = libc::SIG_DFL;
        libc::sigaction(libc::SIGRTMAX(), action.as_ptr(), std::ptr::null_mut());
        IS_HELD.store(true, Ordering::Release);
        loop {
            libc::pause();
        }
    }
}
