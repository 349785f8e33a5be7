//! Intervals.
//!
//! Owns: [`Interval`] and what becomes of ticks that nobody was there for. Does not own: sleeping.

use crate::context;
use crate::time::sleep::later;
use crate::time::{Duration, Instant, Sleep, sleep, sleep_until};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// A tick that is later than this was missed.
const LATE: Duration = Duration::from_millis(5);

/// Ticks at once and then every `period`.
///
/// # Panics
/// Where `period` is zero, and outside of a simulation, in tokio's words.
///
/// # Examples
/// ```
/// use detsim_shim_tokio::time::{Duration, interval};
/// let sim = detsim_executor::Sim::new(7);
/// let between = sim.block_on(async {
///     let mut ticks = interval(Duration::from_millis(10));
///     let first = ticks.tick().await;
///     ticks.tick().await - first
/// });
/// assert_eq!(between.unwrap(), Duration::from_millis(10));
/// ```
#[track_caller]
pub fn interval(period: Duration) -> Interval {
    check(period);
    Interval::new(sleep(Duration::ZERO), period)
}

/// Ticks at `start` and then every `period`.
///
/// # Panics
/// Where `period` is zero, and outside of a simulation, in tokio's words.
#[track_caller]
pub fn interval_at(start: Instant, period: Duration) -> Interval {
    check(period);
    Interval::new(sleep_until(start), period)
}

#[track_caller]
fn check(period: Duration) {
    assert!(period > Duration::ZERO, "`period` must be non-zero.");
}

/// What becomes of ticks that nobody was there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MissedTickBehavior {
    /// They come one after the other, as fast as they are asked for, until all are caught up with.
    #[default]
    Burst,
    /// The next tick comes one period after the late one.
    Delay,
    /// They are left out: the next tick comes at the next multiple of the period.
    Skip,
}

impl MissedTickBehavior {
    /// When to tick next, after a tick that was due at `due` and came at `now`.
    fn next(self, due: Instant, now: Instant, period: Duration) -> Instant {
        match self {
            Self::Burst => later(due, period),
            Self::Delay => later(now, period),
            Self::Skip => {
                let over = (now - due).as_nanos() % period.as_nanos();
                let over = u64::try_from(over);
                let over = over
                    .expect("too much time has elapsed since the interval was supposed to tick");
                now + (period - Duration::from_nanos(over))
            }
        }
    }
}

/// Ticks again and again. Made by [`interval`] and [`interval_at`].
#[derive(Debug)]
pub struct Interval {
    delay: Pin<Box<Sleep>>,
    period: Duration,
    missed: MissedTickBehavior,
}

impl Interval {
    fn new(delay: Sleep, period: Duration) -> Self {
        let missed = MissedTickBehavior::default();
        Self { delay: Box::pin(delay), period, missed }
    }

    /// Waits for the next tick, and gives the moment it was due at. Cancel safe: a tick that is
    /// given up is the next one again.
    pub async fn tick(&mut self) -> Instant {
        poll_fn(|cx| self.poll_tick(cx)).await
    }

    /// Polls for the next tick.
    pub fn poll_tick(&mut self, cx: &mut Context<'_>) -> Poll<Instant> {
        ready!(self.delay.as_mut().poll(cx));
        let due = self.delay.deadline();
        let now = Instant::current().unwrap_or(due);
        let next = match now.saturating_duration_since(due) > LATE {
            true => self.missed.next(due, now, self.period),
            false => later(due, self.period),
        };
        self.delay.as_mut().reset(next);
        Poll::Ready(due)
    }

    /// The next tick comes one period from now.
    ///
    /// # Panics
    /// As the other forms of reset: outside of a simulation.
    #[track_caller]
    pub fn reset(&mut self) {
        self.reset_after(self.period);
    }

    /// The next tick comes at once.
    #[track_caller]
    pub fn reset_immediately(&mut self) {
        self.reset_after(Duration::ZERO);
    }

    /// The next tick comes `after` from now.
    #[track_caller]
    pub fn reset_after(&mut self, after: Duration) {
        let Some(now) = Instant::current() else { context::missing() };
        self.reset_at(later(now, after));
    }

    /// The next tick comes at `deadline`.
    pub fn reset_at(&mut self, deadline: Instant) {
        self.delay.as_mut().reset(deadline);
    }

    /// What becomes of missed ticks.
    pub fn missed_tick_behavior(&self) -> MissedTickBehavior {
        self.missed
    }

    /// Says what becomes of missed ticks.
    pub fn set_missed_tick_behavior(&mut self, behavior: MissedTickBehavior) {
        self.missed = behavior;
    }

    /// The period.
    pub fn period(&self) -> Duration {
        self.period
    }
}
