//! Blocking a thread until a future is ready.
//!
//! Owns: [`block_on`], the one door of every `blocking_*` call. Does not own: who may run in a
//! simulation meanwhile. Invariant: a task is never blocked: its thread is the one that drives it.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

/// tokio's words for blocking where tasks are driven.
const CANNOT_BLOCK: &str = "Cannot block the current thread from within a runtime. This happens \
                            because a function attempted to block the current thread while the \
                            thread is being used to drive asynchronous tasks.";

/// Blocks this thread until `future` is ready.
///
/// # Panics
/// In a task, in tokio's words.
#[track_caller]
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    assert!(!detsim_executor::context::is_inside(), "{CANNOT_BLOCK}");
    park_until(future)
}

/// Parks the thread for real: no simulation runs on it.
fn park_until<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unparks(thread::current())));
    let mut cx = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        thread::park();
    }
}

struct Unparks(Thread);

impl Wake for Unparks {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.unpark();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::Notify;

    #[test]
    fn a_thread_outside_of_any_run_waits_for_another() {
        let notify = Arc::new(Notify::new());
        let other = Arc::clone(&notify);
        let thread = thread::Builder::new().spawn(move || block_on(other.notified())).unwrap();
        notify.notify_one();
        thread.join().unwrap();
        assert_eq!(block_on(async { 7 }), 7);
    }

    #[test]
    fn a_task_is_not_blocked() {
        let sim = detsim_executor::Sim::new(1);
        let failure = sim.block_on(async { block_on(async {}) }).unwrap_err();
        assert!(failure.to_string().contains(CANNOT_BLOCK), "{failure}");
    }
}
