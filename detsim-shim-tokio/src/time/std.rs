//! Moments of std's clock.
//!
//! Owns: [`Instant::from_std`] and [`Instant::into_std`]. Does not own: std's clock, which shows virtual
//! time where the simulation stands behind it. Invariant: one pair of moments, taken when the first was
//! asked for, ties the two clocks together for good, so that there and back is where one was.
#![expect(clippy::disallowed_types, reason = "moments of it are converted here")]

use super::instant::{EPOCH, Instant};
use std::sync::OnceLock;
use std::time::{Duration, Instant as StdInstant};

/// One moment on both clocks.
static ANCHOR: OnceLock<(StdInstant, Duration)> = OnceLock::new();

fn anchor() -> (StdInstant, Duration) {
    let ours = Instant::current().map_or(EPOCH, |now| now.0);
    (StdInstant::now(), ours)
}

impl Instant {
    /// The moment that std's clock shows as `std`.
    pub fn from_std(std: StdInstant) -> Self {
        let (of_std, ours) = *ANCHOR.get_or_init(anchor);
        Self(match std.checked_duration_since(of_std) {
            Some(later) => ours.saturating_add(later),
            None => ours.saturating_sub(of_std - std),
        })
    }

    /// What std's clock shows at this moment.
    ///
    /// # Panics
    /// Where the moment is further away than std's clock can tell.
    #[track_caller]
    pub fn into_std(self) -> StdInstant {
        let (of_std, ours) = *ANCHOR.get_or_init(anchor);
        let moved = match self.0.checked_sub(ours) {
            Some(later) => of_std.checked_add(later),
            None => of_std.checked_sub(ours - self.0),
        };
        moved.expect("detsim: std's clock has no such moment; it is further away than it can tell")
    }
}

impl From<StdInstant> for Instant {
    fn from(std: StdInstant) -> Self {
        Self::from_std(std)
    }
}

impl From<Instant> for StdInstant {
    fn from(instant: Instant) -> Self {
        instant.into_std()
    }
}
