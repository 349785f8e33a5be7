//! Waiting for a moment, and letting others run.
//!
//! Owns: [`Sleep`] and [`yield_now`]. Does not own: the clock, or tokio's rounding. Invariants: a
//! sleep arms at most one timer, cancelled when it is dropped; polling it again arms no other.

use crate::SimTime;
use crate::budget::Price;
use crate::context;
use crate::here;
use crate::kernel::Kernel;
use crate::threads;
use crate::timer::{Action, TimerKey};
use crate::waker;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// Ends at a moment of virtual time, or at one that the clock of a node shows. Made by [`sleep_until`] and
/// [`sleep_until_shown`].
#[derive(Debug)]
#[must_use = "a future does nothing unless it is polled"]
pub struct Sleep {
    deadline: SimTime,
    armed: Option<Armed>,
    /// It was polled, or moved: its end counts from then on.
    begun: bool,
    /// The moment is one of the clock of the node that polls it.
    is_shown: bool,
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
    Sleep { deadline, armed: None, begun: false, is_shown: false }
}

/// Waits until the clock of the node that polls it shows `deadline`: another moment than that of virtual time
/// where the clock has drifted; see [`crate::Node::set_clock_drift`].
pub fn sleep_until_shown(deadline: SimTime) -> Sleep {
    Sleep { deadline, armed: None, begun: false, is_shown: true }
}

impl Sleep {
    /// When it ends.
    pub fn deadline(&self) -> SimTime {
        self.deadline
    }

    /// Whether that moment has come, since it was polled or moved for the first time.
    pub fn is_elapsed(&self) -> bool {
        self.begun && context::with(|kernel| kernel.now() >= self.due(kernel)).unwrap_or(false)
    }

    /// When it ends, in virtual time.
    #[inline]
    fn due(&self, kernel: &Kernel) -> SimTime {
        if kernel.drifts() && self.is_shown { kernel.when(self.deadline) } else { self.deadline }
    }

    /// Moves the end. Whoever polled it last is woken at the new one, if not woken already.
    pub fn reset(&mut self, deadline: SimTime) {
        (self.deadline, self.begun) = (deadline, true);
        let Some(Armed { run, key, word }) = self.armed.take() else { return };
        let rearm = |kernel: &mut Kernel| {
            if kernel.id() != run {
                return None;
            }
            kernel.queue.rearm(key, self.due(kernel))
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

    /// Has the timer wake who polls with `word`, or with `foreign` where that is 0. A waker that is no
    /// longer needed comes back, to be dropped outside of the kernel.
    #[inline]
    fn arm(&mut self, kernel: &mut Kernel, word: u64, foreign: Option<Waker>) -> Option<Waker> {
        let due = self.due(kernel);
        let Some(old) = self.armed.take_if(|old| old.run == kernel.id()) else {
            self.armed = Some(kernel.arm_timer(due, word, foreign));
            return None;
        };
        if word != 0
            && old.word != 0
            // Where a drift was changed, the timer is one of another moment.
            && !kernel.drifts()
            && (old.word == word || kernel.queue.retarget(old.key, Action::Wake(word)))
        {
            self.armed = Some(Armed { word, ..old });
            return None;
        }
        let unused = kernel.queue.cancel(old.key);
        self.armed = Some(kernel.arm_timer(due, word, foreign));
        unused
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
        self.poll_for(Price::Nothing, cx).expect("invariant: what costs nothing may be polled")
    }
}

impl Sleep {
    /// Polls as an operation that is part of the budget of the current task; `None` where nothing is
    /// left of it.
    pub fn poll_in_budget(&mut self, cx: &mut Context<'_>) -> Option<Poll<()>> {
        self.poll_for(Price::One, cx)
    }

    #[inline]
    fn poll_for(&mut self, price: Price, cx: &mut Context<'_>) -> Option<Poll<()>> {
        let own = waker::ours(cx.waker());
        let foreign = if own.is_none() { Some(cx.waker().clone()) } else { None };
        let mut unused = None;
        let poll = |kernel: &mut Kernel| {
            if !kernel.affords(price) {
                return None;
            }
            self.begun = true;
            if kernel.now() < self.due(kernel) {
                unused = self.arm(kernel, own.unwrap_or(0), foreign);
                return Some(Poll::Pending);
            }
            self.armed = None;
            kernel.pay(price);
            Some(Poll::Ready(()))
        };
        match context::with(poll) {
            Some(polled) => polled,
            None => Some(self.poll_outside(cx)),
        }
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
/// again when its poll is over; any other waker than its own is woken at once. For futures of ours, which are
/// compiled where they are.
#[inline]
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
