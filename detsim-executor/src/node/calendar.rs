//! What the clock on the wall of a node shows.
//!
//! Owns: [`Skew`], and by how much the date of a node is off: an offset, and a drift since it was set. Does
//! not own: virtual time, by which timers go and which no node changes. Invariant: the time that has passed
//! is the same on every node; only the date differs.

use std::fmt;
use std::time::Duration;

use crate::SimTime;

/// How far a date is from the true one, or how far it jumps.
///
/// # Examples
/// ```
/// use detsim_executor::{Sim, Skew};
/// use std::time::Duration;
/// let sim = Sim::new(7);
/// let node = sim.node("n1");
/// node.set_clock_offset(Skew::Ahead(Duration::from_millis(500)));
/// // NTP has heard of it.
/// node.step_clock(Skew::Behind(Duration::from_millis(500)));
/// assert_eq!(node.clock_offset(), Skew::Ahead(Duration::ZERO));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skew {
    /// It shows a later time, or jumps forward.
    Ahead(Duration),
    /// It shows an earlier time, or jumps back.
    Behind(Duration),
}

impl Skew {
    /// In nanoseconds, which are negative where it is behind; 292 years at most.
    pub(crate) fn as_nanos(self) -> i64 {
        let ns = |time: Duration| i64::try_from(time.as_nanos()).unwrap_or(i64::MAX);
        match self {
            Self::Ahead(by) => ns(by),
            Self::Behind(by) => -ns(by),
        }
    }

    pub(crate) fn from_nanos(ns: i64) -> Self {
        let by = Duration::from_nanos(ns.unsigned_abs());
        if ns < 0 { Self::Behind(by) } else { Self::Ahead(by) }
    }
}

impl fmt::Display for Skew {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ahead(by) => write!(f, "{by:?} ahead"),
            Self::Behind(by) => write!(f, "{by:?} behind"),
        }
    }
}

/// By how much the date of a node is off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Calendar {
    /// At `since`.
    offset_ns: i64,
    /// What it gains in a second since then, in microseconds.
    drift_ppm: i32,
    since: SimTime,
}

impl Calendar {
    /// By how many nanoseconds it is ahead.
    pub(crate) fn error_ns(&self, now: SimTime) -> i64 {
        let passed_ns = i128::from(now.as_nanos().saturating_sub(self.since.as_nanos()));
        let drifted_ns = passed_ns * i128::from(self.drift_ppm) / 1_000_000;
        let drifted_ns = i64::try_from(drifted_ns).unwrap_or(i64::MAX);
        self.offset_ns.saturating_add(drifted_ns)
    }

    /// What it gains in a second, in microseconds.
    pub(crate) fn drift_ppm(&self) -> i32 {
        self.drift_ppm
    }

    /// It is off by so much now; its drift stays.
    pub(crate) fn set_offset(&mut self, now: SimTime, offset_ns: i64) {
        (self.offset_ns, self.since) = (offset_ns, now);
    }

    /// It drifts so much from now on; what it was off by until now stays.
    pub(crate) fn set_drift(&mut self, now: SimTime, drift_ppm: i32) {
        self.set_offset(now, self.error_ns(now));
        self.drift_ppm = drift_ppm;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offset_and_a_drift_add_up() {
        let mut calendar = Calendar::default();
        let at = SimTime::from_secs;
        assert_eq!(calendar.error_ns(at(1_000)), 0);
        calendar.set_offset(at(10), -5_000);
        calendar.set_drift(at(10), 100);
        assert_eq!(calendar.error_ns(at(10)), -5_000);
        assert_eq!(calendar.error_ns(at(11)), 95_000);
        calendar.set_drift(at(11), -200);
        assert_eq!(calendar.error_ns(at(12)), -105_000);
        calendar.set_offset(at(12), 0);
        assert_eq!(calendar.error_ns(at(13)), -200_000);
        assert_eq!(calendar.error_ns(SimTime::MAX), -3_689_348_812_341_910);
    }

    #[test]
    fn a_skew_is_as_many_nanoseconds_as_it_says() {
        let ms = Duration::from_millis(2);
        for (skew, ns) in [(Skew::Ahead(ms), 2_000_000), (Skew::Behind(ms), -2_000_000)] {
            assert_eq!((skew.as_nanos(), Skew::from_nanos(ns)), (ns, skew));
        }
        assert_eq!(Skew::Behind(Duration::MAX).as_nanos(), -i64::MAX);
        assert_eq!(Skew::Behind(ms).to_string(), "2ms behind");
    }
}
