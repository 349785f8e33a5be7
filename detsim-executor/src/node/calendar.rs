//! What the clocks of a node show.
//!
//! Owns: [`Skew`], what the clock of a node has gained by drifting, and by how much its date is off beside
//! that. Does not own: virtual time, which no node changes. Invariants: a clock that drifts never goes back,
//! also when its drift is changed; an offset moves the date alone.

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

/// The clocks of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Calendar {
    /// By how much the date is ahead of what the clock shows.
    offset_ns: i64,
    /// What the clock gains in a second since then, in microseconds.
    drift_ppm: i32,
    since: SimTime,
    /// What it has gained at `since`.
    gained_ns: i64,
}

/// Of what passes in the world, in millionths.
const WHOLE: i128 = 1_000_000;

impl Calendar {
    /// What the clock has gained by now, in nanoseconds.
    pub(crate) fn gained_ns(&self, now: SimTime) -> i64 {
        let passed_ns = i128::from(now.as_nanos()) - i128::from(self.since.as_nanos());
        let drifted_ns = (passed_ns * i128::from(self.drift_ppm)).div_euclid(WHOLE);
        self.gained_ns.saturating_add(i64::try_from(drifted_ns).unwrap_or(i64::MAX))
    }

    /// What the clock shows now.
    pub(crate) fn shows(&self, now: SimTime) -> SimTime {
        shifted(now, self.gained_ns(now))
    }

    /// The first moment of the world at which the clock shows this or more, counted from when its drift
    /// was set.
    pub(crate) fn when(&self, shows: SimTime) -> SimTime {
        let begun_ns = i128::from(shifted(self.since, self.gained_ns).as_nanos());
        let ahead_ns = (i128::from(shows.as_nanos()) - begun_ns).max(0);
        let rate = WHOLE + i128::from(self.drift_ppm);
        let passes_ns = -(-ahead_ns * WHOLE).div_euclid(rate);
        let at_ns = i128::from(self.since.as_nanos()) + passes_ns;
        SimTime::from_nanos(u64::try_from(at_ns).unwrap_or(u64::MAX))
    }

    /// By how many nanoseconds the date is ahead of what the clock shows.
    pub(crate) fn offset_ns(&self) -> i64 {
        self.offset_ns
    }

    /// By how many nanoseconds the date is ahead of the true one.
    pub(crate) fn error_ns(&self, now: SimTime) -> i64 {
        self.offset_ns.saturating_add(self.gained_ns(now))
    }

    /// The date is off by so much now; the drift stays.
    pub(crate) fn set_offset(&mut self, now: SimTime, error_ns: i64) {
        self.offset_ns = error_ns.saturating_sub(self.gained_ns(now));
    }

    /// What it gains in a second, in microseconds.
    pub(crate) fn drift_ppm(&self) -> i32 {
        self.drift_ppm
    }

    /// The clock drifts so much from now on; what it has gained until now stays.
    pub(crate) fn set_drift(&mut self, now: SimTime, drift_ppm: i32) {
        (self.gained_ns, self.since) = (self.gained_ns(now), now);
        self.drift_ppm = drift_ppm;
    }
}

/// A moment so many nanoseconds later, or earlier.
fn shifted(moment: SimTime, by_ns: i64) -> SimTime {
    SimTime::from_nanos(moment.as_nanos().saturating_add_signed(by_ns))
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
        assert_eq!(calendar.error_ns(SimTime::MAX), -3_689_348_812_341_911);
    }

    #[test]
    fn a_clock_that_drifts_shows_a_moment_when_it_is_said_to_and_never_goes_back() {
        for drift_ppm in [-999_999, -100_000, -200, 0, 200, 100_000, 1_000_000] {
            let mut calendar = Calendar::default();
            let mut last = SimTime::ZERO;
            for second in 0..20 {
                let now = SimTime::from_nanos(second * 1_000_000_007);
                assert!(calendar.shows(now) >= last);
                last = calendar.shows(now);
                // Every other second it is right.
                calendar.set_drift(now, if second % 2 == 0 { drift_ppm } else { 0 });
                assert_eq!(calendar.shows(now), last);
                for ahead_ns in [0, 1, 2, 999, 123_456_789] {
                    let shows = last + Duration::from_nanos(ahead_ns);
                    let at = calendar.when(shows);
                    assert!(calendar.shows(at) >= shows, "{drift_ppm}");
                    let before = SimTime::from_nanos(at.as_nanos().saturating_sub(1));
                    assert!(at == now || calendar.shows(before) < shows, "{drift_ppm}");
                }
            }
        }
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
