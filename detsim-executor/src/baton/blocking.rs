//! Closures that block a thread, and the blocking itself.
//!
//! Owns: [`blocking`], a closure as a future; [`block_on`], a wait inside of it; and which code may
//! block. Does not own: limits of pools. Invariants: a closure runs on a pooled thread, never on the
//! one that drives the run; it can be aborted until it has begun; a dropped one is unwound first.

use std::future::Future;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::thread::Result;

use super::host::{Aborts, Outcome, dismiss, order, resume, suspend};
use super::{Order, Seat, Unwound, enter, lane, runner};
use crate::waker::waker;
use crate::{context, here};

/// A closure that runs on a thread of its own, as a future. Made by [`blocking`].
#[must_use = "a future does nothing unless it is polled"]
pub struct Blocking<F, R> {
    state: State<F>,
    output: Arc<Mutex<Option<Result<R>>>>,
    slot: u32,
    word: u64,
    site: &'static Location<'static>,
}

enum State<F> {
    Fresh(F),
    /// Waits for a place in the pool.
    Queued(F),
    Runs(&'static Seat),
    Over,
}

/// Runs `f` on a thread of its own, as part of the task that polls this: the thread runs when it is the
/// task's turn, and may block. The future panics as `f` does.
///
/// # Examples
/// ```
/// use detsim_executor::{Sim, blocking};
/// let sim = Sim::new(1);
/// let main = std::thread::current().id();
/// let other = sim.block_on(async { blocking(|| std::thread::current().id()).await });
/// assert_ne!(other.unwrap(), main);
/// ```
#[track_caller]
pub fn blocking<F, R>(f: F) -> Blocking<F, R>
where
    F: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
{
    let (output, site) = (Arc::default(), Location::caller());
    Blocking { state: State::Fresh(f), output, slot: 0, word: 0, site }
}

impl<F, R> Unpin for Blocking<F, R> {}

impl<F, R> Future for Blocking<F, R>
where
    F: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
{
    type Output = R;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<R> {
        let outcome = match std::mem::replace(&mut self.state, State::Over) {
            State::Fresh(f) => {
                self.word = enter().current_tag().word;
                if !enter().take_place(self.site) {
                    self.state = State::Queued(f);
                    return Poll::Pending;
                }
                self.begin(f)
            }
            State::Queued(f) if enter().waits_for_place(self.word) => {
                self.state = State::Queued(f);
                return Poll::Pending;
            }
            State::Queued(f) => self.begin(f),
            State::Runs(seat) => {
                self.state = State::Runs(seat);
                resume(seat, order())
            }
            State::Over => panic!("detsim: a blocking closure was polled after it had ended"),
        };
        if outcome == Outcome::Suspended {
            return Poll::Pending;
        }
        self.state = State::Over;
        enter().give_place();
        settle(self.slot);
        match self.take() {
            Some(Ok(output)) => Poll::Ready(output),
            Some(Err(payload)) => resume_unwind(payload),
            None => unreachable!("detsim bug: a closure ended without an end"),
        }
    }
}

impl<F, R> Blocking<F, R>
where
    F: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
{
    fn begin(&mut self, f: F) -> Outcome {
        let output = Arc::clone(&self.output);
        let job = move || {
            let ended = catch_unwind(AssertUnwindSafe(f));
            let is_dropped = enter().threads.unwinds;
            let ended =
                ended.map_err(|payload| if is_dropped { Box::new(Unwound) } else { payload });
            *output.lock().unwrap_or_else(PoisonError::into_inner) = Some(ended);
        };
        let seat = runner::for_closure(lane());
        let mut kernel = enter();
        self.slot = kernel.current_index();
        let slot = self.slot;
        kernel.threads.hosts.push(slot);
        kernel.tasks.cold_mut(slot).aborts = Aborts::Never;
        kernel.threads.job = Some(Box::new(job));
        drop(kernel);
        self.state = State::Runs(seat);
        resume(seat, Order::Job)
    }

    fn take(&self) -> Option<Result<R>> {
        self.output.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

fn settle(slot: u32) {
    context::with(|kernel| {
        kernel.threads.forget(slot);
        kernel.settle_aborts(slot);
    });
}

impl<F, R> Drop for Blocking<F, R> {
    fn drop(&mut self) {
        match &self.state {
            State::Runs(seat) => {
                dismiss(seat);
                context::with(|kernel| {
                    kernel.threads.forget(self.slot);
                    kernel.give_place();
                });
            }
            State::Queued(_) => drop(context::with(|kernel| kernel.leave_queue(self.word))),
            State::Fresh(_) | State::Over => {}
        }
        let ended = self.output.lock().unwrap_or_else(PoisonError::into_inner).take();
        // A panic of its own, that came while it was unwound, is the first that anybody hears of it.
        if let Some(Err(payload)) = ended
            && !Unwound::is(&*payload)
            && !std::thread::panicking()
        {
            resume_unwind(payload);
        }
    }
}

impl<F, R> std::fmt::Debug for Blocking<F, R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Blocking").finish_non_exhaustive()
    }
}

/// Whether what runs on this thread may block it.
pub fn may_block() -> bool {
    here::may_block()
}

/// Runs `f` as code that may block its thread, which is in the poll of a task: where it does, that poll
/// is put aside, and the others run on.
pub fn block_in_place<R>(f: impl FnOnce() -> R) -> R {
    let _allowed = Allow(here::set_may_block(true));
    f()
}

/// Blocks the thread of the current task until `future` is ready, while the others run.
///
/// # Panics
/// Outside of a task, and where the task may not block its thread.
#[track_caller]
pub fn block_on<F: Future>(future: F) -> F::Output {
    let site = Location::caller();
    assert!(
        may_block(),
        "detsim: a task blocks its thread; only what runs in `blocking` or `block_in_place` may"
    );
    let _driving = Driving { may_block: here::set_may_block(false), polled: here::place().polled };
    // What yields in here is woken at once: the poll that it would have to be over for is this one.
    here::begin_poll(0);
    let waker = waker(enter().current().1);
    let mut cx = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        suspend(site);
    }
}

struct Driving {
    may_block: bool,
    polled: u64,
}

impl Drop for Driving {
    fn drop(&mut self) {
        here::set_may_block(self.may_block);
        here::begin_poll(self.polled);
    }
}

struct Allow(bool);

impl Drop for Allow {
    fn drop(&mut self) {
        here::set_may_block(self.0);
    }
}
