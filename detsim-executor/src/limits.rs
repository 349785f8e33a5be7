//! The bounds of a run. Reaching one is a named verdict, never a hang.

use crate::SimTime;

/// What a run may use up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Polls, callbacks and deliveries.
    pub steps: u64,
    /// Virtual time.
    pub time: SimTime,
    /// Tasks alive at once; at most 2^24 - 1.
    pub tasks: u32,
}

impl Default for Limits {
    /// 100,000,000 steps, a hundred years, 2^24 - 1 tasks.
    fn default() -> Self {
        Self {
            steps: 100_000_000,
            time: SimTime::from_secs(100 * 365 * 86_400),
            tasks: (1 << 24) - 1,
        }
    }
}
