//! Instants of virtual time.
//!
//! Owns: [`Instant`] and its arithmetic. Does not own: the clock. Invariant: an instant is a number
//! of nanoseconds since [`EPOCH`] before the simulation began, so that a program may subtract from
//! `Instant::now()` at its start, as it may on a machine that has been up for a while.

use crate::runtime::{scope, world};
use detsim_executor::{Kernel, SimTime, context};
use std::fmt;
use std::ops::{Add, AddAssign, Sub, SubAssign};
use std::time::Duration;

/// How long the machine has been up when a simulation begins.
pub(super) const EPOCH: Duration = Duration::from_secs(10 * 365 * 24 * 60 * 60);

/// A moment of virtual time.
///
/// # Examples
/// ```
/// use detsim_shim_tokio::time::{Duration, Instant, sleep};
/// let sim = detsim_executor::Sim::new(7);
/// let waited = sim.block_on(async {
///     let before = Instant::now();
///     sleep(Duration::from_secs(3600)).await;
///     before.elapsed()
/// });
/// assert_eq!(waited.unwrap().as_secs(), 3600);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(pub(super) Duration);

impl Instant {
    /// This moment. Reading the clock takes a few nanoseconds, so that a loop that waits for a
    /// moment ends.
    ///
    /// Outside of any run it is the moment of the thread's own, which stands still there.
    pub fn now() -> Self {
        let read = context::with(Kernel::read_node_clock);
        Self::from_sim(read.unwrap_or_else(|| world::here().now()))
    }

    /// This moment, without the price of a reading; `None` outside of a runtime.
    pub(super) fn current() -> Option<Self> {
        let now = context::with(|kernel| kernel.node_now());
        now.or_else(|| scope::clock().map(|sim| sim.now())).map(Self::from_sim)
    }

    pub(super) fn from_sim(time: SimTime) -> Self {
        Self(EPOCH + time.elapsed())
    }

    /// The moment of the simulation; its beginning, where this one is before that.
    pub(super) fn to_sim(self) -> SimTime {
        SimTime::from(self.0.saturating_sub(EPOCH))
    }

    /// The time since an earlier moment, zero if it is a later one.
    pub fn duration_since(&self, earlier: Self) -> Duration {
        self.saturating_duration_since(earlier)
    }

    /// The time since an earlier moment, `None` if it is a later one.
    pub fn checked_duration_since(&self, earlier: Self) -> Option<Duration> {
        self.0.checked_sub(earlier.0)
    }

    /// The time since an earlier moment, zero if it is a later one.
    pub fn saturating_duration_since(&self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }

    /// The time since this moment.
    pub fn elapsed(&self) -> Duration {
        Self::now() - *self
    }

    /// The moment `duration` later, `None` where there is none.
    pub fn checked_add(&self, duration: Duration) -> Option<Self> {
        self.0.checked_add(duration).map(Self)
    }

    /// The moment `duration` earlier, `None` where there is none.
    pub fn checked_sub(&self, duration: Duration) -> Option<Self> {
        self.0.checked_sub(duration).map(Self)
    }
}

impl Add<Duration> for Instant {
    type Output = Self;

    #[track_caller]
    fn add(self, duration: Duration) -> Self {
        self.checked_add(duration).expect("overflow when adding duration to instant")
    }
}

impl AddAssign<Duration> for Instant {
    #[track_caller]
    fn add_assign(&mut self, duration: Duration) {
        *self = *self + duration;
    }
}

impl Sub for Instant {
    type Output = Duration;

    fn sub(self, earlier: Self) -> Duration {
        self.saturating_duration_since(earlier)
    }
}

impl Sub<Duration> for Instant {
    type Output = Self;

    #[track_caller]
    fn sub(self, duration: Duration) -> Self {
        self.checked_sub(duration).expect("overflow when subtracting duration from instant")
    }
}

impl SubAssign<Duration> for Instant {
    #[track_caller]
    fn sub_assign(&mut self, duration: Duration) {
        *self = *self - duration;
    }
}

impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.checked_sub(EPOCH) {
            Some(since) => write!(f, "Instant({since:?} of virtual time)"),
            None => write!(f, "Instant({:?} before virtual time)", EPOCH - self.0),
        }
    }
}
