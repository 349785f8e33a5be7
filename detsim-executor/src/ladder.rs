//! How long what goes wrong lasts.
//!
//! Owns: the ladder of durations. Does not own: what goes wrong (nodes, links). Invariant: the default is the
//! shortest, and none is longer than 2^14 ms, so that whatever is broken is whole again before long.

use std::time::Duration;

use crate::choice::{Anchor, Domain};
use crate::kernel::Kernel;
use crate::rng::Ratio;

/// The longest of the ladder: 2^14 ms.
const RUNGS: u64 = 15;

impl Kernel {
    /// How long a fault lasts. Half of them are from the ladder 1 ms, 2 ms, 4 ms, .. 16.384 s, of which one
    /// rung is within twice of whatever matters; half of them last from half to twice as long as a timer
    /// that is armed has to go, since what happens near a timeout of the program is what it gets wrong.
    pub fn fault_duration(&mut self, domain: Domain, anchor: Anchor) -> Duration {
        let near = self.choices().happens(domain, anchor, Ratio::new(1, 2));
        let mut below = |bound| self.choices().draw(domain, anchor, bound, 0);
        let (pick, rung, share) = (below(1 << 16), below(RUNGS), below(1_024));
        let longest = Duration::from_millis(1 << (RUNGS - 1));
        match self.timer_ahead(pick).filter(|_| near) {
            // Half of it, to twice of it.
            Some(ahead) => {
                let near = (ahead.min(longest) * (512 + share as u32 * 3 / 2)) / 1_024;
                near.min(longest)
            }
            None => Duration::from_millis(1 << rung),
        }
    }
}
