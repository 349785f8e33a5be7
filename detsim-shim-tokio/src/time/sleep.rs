//! Sleeping.
//!
//! Owns: [`Sleep`], with tokio's rounding: timers fire at whole milliseconds of their runtime, never before
//! their deadline. Does not own: the timer, which is the kernel's and is cancelled on drop.

use crate::context;
use crate::context::SHUT_DOWN;
use crate::runtime::scope;
use crate::task::coop::exhausted;
use crate::time::{Duration, Instant};
use detsim_executor::{GroupId, SimTime, context as kernel};
use std::future::Future;
use std::marker::PhantomPinned;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Nanoseconds between two ticks of tokio's timer.
pub(super) const TICK_NS: u64 = 1_000_000;
/// tokio's end of time: a deadline that cannot be represented is 30 years away.
const FAR_FUTURE: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);

/// Waits for `duration` of virtual time, rounded up to the next millisecond as tokio does.
///
/// # Panics
/// Outside of a simulation, in tokio's words.
#[track_caller]
pub fn sleep(duration: Duration) -> Sleep {
    if let Some(now) = scope::root_time() {
        return Sleep::new(later(Instant::from_sim(now), duration), GroupId::ROOT);
    }
    let group = scope::require_time();
    Sleep::new(after(duration), group)
}

/// Waits for a moment of virtual time, rounded up to the next millisecond as tokio does.
///
/// # Panics
/// Outside of a simulation, in tokio's words.
#[track_caller]
pub fn sleep_until(deadline: Instant) -> Sleep {
    let group = scope::require_time();
    Sleep::new(deadline, group)
}

/// The moment `duration` from now.
#[track_caller]
pub(super) fn after(duration: Duration) -> Instant {
    let Some(now) = Instant::current() else { context::missing() };
    later(now, duration)
}

/// The moment `duration` after another; far away where there is none.
pub(super) fn later(moment: Instant, duration: Duration) -> Instant {
    moment.checked_add(duration).unwrap_or_else(|| moment + FAR_FUTURE)
}

/// The tick at which a timer of this deadline fires: whole milliseconds after the first of its runtime.
fn tick(deadline: Instant, group: GroupId) -> SimTime {
    let first = if group == GroupId::ROOT { SimTime::ZERO } else { scope::first_tick(group) };
    let ticks = deadline.to_sim().as_nanos().saturating_sub(first.as_nanos()).div_ceil(TICK_NS);
    SimTime::from_nanos(ticks.saturating_mul(TICK_NS).saturating_add(first.as_nanos()))
}

pin_project_lite::pin_project! {
    /// Ends at a moment of virtual time. Made by [`sleep`] and [`sleep_until`].
    #[derive(Debug)]
    #[must_use = "futures do nothing unless you `.await` or poll them"]
    pub struct Sleep {
        timer: detsim_executor::Sleep,
        deadline: Instant,
        // Of the runtime whose timer it is.
        group: GroupId,
        // As in tokio, where the timer is part of a list.
        #[pin]
        _pinned: PhantomPinned,
    }
}

impl Sleep {
    pub(super) fn new(deadline: Instant, group: GroupId) -> Self {
        let timer = detsim_executor::sleep_until_shown(tick(deadline, group));
        Self { timer, deadline, group, _pinned: PhantomPinned }
    }

    /// When it is to end.
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Whether it has ended, since it was polled or moved for the first time.
    pub fn is_elapsed(&self) -> bool {
        self.timer.is_elapsed()
    }

    /// Moves the end. The task that polled it last is woken at the new one.
    pub fn reset(self: Pin<&mut Self>, deadline: Instant) {
        let this = self.project();
        *this.deadline = deadline;
        this.timer.reset(tick(deadline, *this.group));
    }
}

/// Whether the timer's runtime still runs: it is a wait that never ends where it does not.
///
/// # Panics
/// Where it was shut down, in tokio's words.
#[inline]
fn check_open(group: GroupId) {
    if group != GroupId::ROOT && kernel::with(|kernel| kernel.is_open(group)) == Some(false) {
        panic!("{SHUT_DOWN}");
    }
}

impl Future for Sleep {
    type Output = ();

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.project();
        match this.timer.poll_in_budget(cx) {
            Some(Poll::Ready(())) => Poll::Ready(()),
            Some(Poll::Pending) => {
                check_open(*this.group);
                Poll::Pending
            }
            None => exhausted(cx),
        }
    }
}
