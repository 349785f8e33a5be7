//! `kill` and `raise`: signals that a program sends itself.
//!
//! Owns: that in a run they reach the node of whoever sends them, which is the process that the program
//! takes itself for. Does not own: what a node does with a signal. A signal to another process is the
//! system's own business, as is one that the process itself has said what to do with (`sigaction`).
#![expect(
    unsafe_code,
    reason = "functions that libc's callers link to, and libc's own behind them"
)]

use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::OnceLock;

use detsim_executor::{raise as raise_in_run, raise_unasked, threads};

use super::real::real;
use super::syscall::{into_errno, raw};

/// Who takes signals that are sent where no run is: true where somebody took one.
static OUTSIDE: OnceLock<fn(c_int) -> bool> = OnceLock::new();

/// Has signals that the process sends itself outside of any run taken, where somebody listens.
pub(crate) fn taken_outside_by(take: fn(c_int) -> bool) {
    OUTSIDE.get_or_init(|| take);
}

/// libc's `kill`.
#[unsafe(no_mangle)]
extern "C-unwind" fn kill(process: libc::pid_t, signal: c_int) -> c_int {
    // SAFETY: the call takes nothing and gives a number.
    if process == unsafe { libc::getpid() } && is_taken(signal) {
        return 0;
    }
    let words = [process as isize as usize, signal as isize as usize, 0, 0, 0, 0];
    // SAFETY: the call takes two numbers.
    into_errno(unsafe { raw(libc::SYS_kill, words) }) as c_int
}

/// libc's `raise`.
#[unsafe(no_mangle)]
extern "C-unwind" fn raise(signal: c_int) -> c_int {
    if is_taken(signal) {
        return 0;
    }
    real!(raise: fn(c_int) -> c_int, signal)
}

/// Whether the signal was for what is simulated.
fn is_taken(signal: c_int) -> bool {
    if signal <= 0 {
        return false;
    }
    if !threads::is_programs() {
        return OUTSIDE.get().is_some_and(|take| take(signal));
    }
    raise_in_run(signal) || is_default(signal) && raise_unasked(signal)
}

/// Whether the process itself has left this signal as it was.
fn is_default(signal: c_int) -> bool {
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: the place is valid for the write; nothing is set.
    let failed = unsafe { libc::sigaction(signal, ptr::null(), action.as_mut_ptr()) };
    // SAFETY: the call has written it, or it is all zeros, which it may be.
    failed == 0 && unsafe { action.assume_init() }.sa_sigaction == libc::SIG_DFL
}

#[cfg(test)]
mod tests {
    use super::*;
    use detsim_executor::{Handler, Sim, context};
    use std::any::Any;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    fn own() -> libc::pid_t {
        std::process::id().try_into().unwrap()
    }

    #[test]
    fn a_node_takes_the_signals_that_its_program_sends_itself() {
        let count = Arc::new(AtomicU32::new(0));
        let take = |state: &(dyn Any + Send + Sync)| {
            state.downcast_ref::<AtomicU32>().unwrap().fetch_add(1, Relaxed);
        };
        let handler = Handler { state: count.clone(), take };
        let sim = Sim::new(1);
        let (asks, other) = (sim.node("n1"), sim.node("n2"));
        drop(asks.spawn("asks", async move {
            let set =
                |kernel: &mut detsim_executor::Kernel| kernel.set_handler(libc::SIGUSR1, handler);
            drop(context::with(set));
            assert_eq!((kill(own(), libc::SIGUSR1), raise(libc::SIGUSR1)), (0, 0));
            assert_eq!(kill(own(), 0), 0);
        }));
        drop(other.spawn("other", async {
            assert_eq!((kill(own(), libc::SIGCHLD), kill(own(), libc::SIGUSR1)), (0, 0));
            std::future::pending::<()>().await;
        }));
        sim.run_for(std::time::Duration::from_secs(1)).unwrap();
        assert_eq!(count.load(Relaxed), 2);
        assert!(asks.is_up() && !other.is_up());
    }

    #[test]
    fn what_the_process_itself_has_said_holds() {
        // std has SIGPIPE ignored in every program of Rust's.
        assert!(!is_default(libc::SIGPIPE) && is_default(libc::SIGUSR2));
        let sim = Sim::new(1);
        let node = sim.node("n1");
        drop(node.spawn("writer", async { assert_eq!(raise(libc::SIGPIPE), 0) }));
        sim.run().unwrap();
        assert!(node.is_up());
    }
}
