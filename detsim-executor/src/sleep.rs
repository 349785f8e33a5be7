//! Waiting for a moment, and letting others run.
//!
//! Owns: [`Sleep`] and [`yield_now`]. Does not own: the clock, or tokio's rounding. Invariants: a
//! sleep arms at most one timer, cancelled when it is dropped; polling it again arms no other.

use crate::SimTime;
use crate::context;
use crate::here;
use crate::kernel::Kernel;
use crate::threads;
use crate::timer::{Action, TimerKey};
use crate::waker;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// Ends at a moment of virtual time. Made by [`sleep_until`].
#[derive(Debug)]
#[must_use = "a future does nothing unless it is polled"]
pub struct Sleep {
    deadline: SimTime,
    armed: Option<Armed>,
    /// It was polled, or moved: its end counts from then on.
    begun: bool,
}

#[derive(Debug)]
struct Armed {
    run: u64,
    key: TimerKey,
    /// The word of the waker, 0 for a foreign one.
    word: u64,
}

/// Waits until `deadline`.
pub fn sleep_until(deadline: SimTime) -> Sleep {
    Sleep { deadline, armed: None, begun: false }
}

impl Sleep {
    /// When it ends.
    pub fn deadline(&self) -> SimTime {
        self.deadline
    }

    /// Whether that moment has come, since it was polled or moved for the first time.
    pub fn is_elapsed(&self) -> bool {
        self.begun && context::with(|kernel| kernel.now() >= self.deadline).unwrap_or(false)
    }

    /// Moves the end. Whoever polled it last is woken at the new one, if not woken already.
    pub fn reset(&mut self, deadline: SimTime) {
        (self.deadline, self.begun) = (deadline, true);
        let Some(Armed { run, key, word }) = self.armed.take() else { return };
        let rearm = |kernel: &mut Kernel| {
            if kernel.id() != run {
                return None;
            }
            kernel.queue.rearm(key, deadline)
        };
        self.armed = context::with(rearm).flatten().map(|key| Armed { run, key, word });
    }

    /// Whether its timer is armed.
    pub fn is_armed(&self) -> bool {
        self.armed.is_some()
    }

    fn disarm(&mut self) {
        let Some(Armed { run, key, .. }) = self.armed.take() else { return };
        let cancel = |kernel: &mut Kernel| (kernel.id() == run).then(|| kernel.queue.cancel(key));
        // A waker of somebody else's is dropped out here.
        drop(context::with(cancel));
    }

    fn arm(&mut self, waker: &Waker, foreign: Option<Waker>) -> Option<Waker> {
        let deadline = self.deadline;
        let word = waker::ours(waker).unwrap_or(0);
        let armed = &mut self.armed;
        let arm = |kernel: &mut Kernel| {
            if let Some(old) = armed.take_if(|old| old.run == kernel.id()) {
                if word != 0
                    && old.word != 0
                    && (old.word == word || kernel.queue.retarget(old.key, Action::Wake(word)))
                {
                    *armed = Some(Armed { word, ..old });
                    return None;
                }
                let unused = kernel.queue.cancel(old.key);
                *armed = Some(kernel.arm_timer(deadline, word, foreign));
                return unused;
            }
            *armed = Some(kernel.arm_timer(deadline, word, foreign));
            None
        };
        context::with(arm).flatten()
    }
}

impl Kernel {
    fn arm_timer(&mut self, at: SimTime, word: u64, foreign: Option<Waker>) -> Armed {
        let key = match foreign {
            None => self.queue.arm(at, Action::Wake(word)),
            Some(waker) => self.queue.wake_at(at, waker),
        };
        Armed { run: self.id(), key, word }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.begun = true;
        let due = context::with(|kernel| kernel.now() >= self.deadline);
        let Some(due) = due else { return self.poll_outside(cx) };
        if due {
            self.armed = None;
            return Poll::Ready(());
        }
        let foreign = waker::ours(cx.waker()).is_none().then(|| cx.waker().clone());
        drop(self.arm(cx.waker(), foreign));
        Poll::Pending
    }
}

impl Sleep {
    /// Polled by a thread that does not drive its simulation.
    ///
    /// # Panics
    /// Where it has none.
    #[cold]
    fn poll_outside(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let polled = threads::inside(|| Pin::new(self).poll(cx));
        polled.unwrap_or_else(|| context::outside())
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.disarm();
    }
}

/// Lets the other ready tasks run once.
pub fn yield_now() -> YieldNow {
    YieldNow { yielded: false }
}

/// The future of [`yield_now`].
#[derive(Debug)]
#[must_use = "a future does nothing unless it is polled"]
pub struct YieldNow {
    yielded: bool,
}

impl Future for YieldNow {
    type Output = ();

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.yielded {
            return Poll::Ready(());
        }
        self.yielded = true;
        yield_with(cx.waker());
        Poll::Pending
    }
}

/// The current task, which is about to return `Pending` to whoever polled it with `waker`, is ready
/// again when its poll is over; any other waker than its own is woken at once. Compiled once.
pub fn yield_with(waker: &Waker) {
    if !waker::ours(waker).is_some_and(here::yield_poll) {
        wake_at_once(waker);
    }
}

#[cold]
#[inline(never)]
fn wake_at_once(waker: &Waker) {
    waker.wake_by_ref();
}
