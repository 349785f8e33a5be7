//! Blocking a thread until a future is ready.
//!
//! Owns: [`block_on`], the one door of every `blocking_*` call. Does not own: who runs in a
//! simulation meanwhile. Invariant: a task is blocked only where it says so, by `block_in_place`.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

/// tokio's words for blocking where tasks are driven.
const CANNOT_BLOCK: &str = "Cannot block the current thread from within a runtime. This happens \
                            because a function attempted to block the current thread while the \
                            thread is being used to drive asynchronous tasks.";

/// Blocks this thread until `future` is ready. In a simulation the others run meanwhile.
///
/// # Panics
/// In a task, in tokio's words.
#[track_caller]
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    if !detsim_executor::context::is_inside() {
        return park_until(future);
    }
    assert!(detsim_executor::may_block(), "{CANNOT_BLOCK}");
    detsim_executor::block_on(future)
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
    fn a_closure_waits_for_a_task() {
        let sim = detsim_executor::Sim::new(1);
        let (sender, receiver) = crate::sync::oneshot::channel();
        let seen = sim.block_on(async {
            let closure = crate::task::spawn_blocking(|| block_on(receiver));
            crate::task::yield_now().await;
            sender.send(7).unwrap();
            closure.await.unwrap()
        });
        assert_eq!(seen.unwrap(), Ok(7));
    }

    #[test]
    fn a_task_is_not_blocked() {
        let sim = detsim_executor::Sim::new(1);
        let failure = sim.block_on(async { block_on(async {}) }).unwrap_err();
        assert!(failure.to_string().contains(CANNOT_BLOCK), "{failure}");
    }
}
