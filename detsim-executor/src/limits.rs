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

/// The steps of a run, counted down: that the last one has come is seen at no price.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Steps {
    left: u64,
    /// Those that were taken, and those that are left.
    end: u64,
}

impl Steps {
    /// None taken, and this many to take.
    pub(crate) fn new(max: u64) -> Self {
        let end = max.max(1);
        Self { left: end, end }
    }

    #[inline]
    pub(crate) fn taken(&self) -> u64 {
        self.end.wrapping_sub(self.left)
    }

    /// One step more. True: it reaches the bound.
    #[inline]
    pub(crate) fn count(&mut self) -> bool {
        self.left = self.left.wrapping_sub(1);
        self.left == 0
    }

    /// Does the next step reach the bound?
    #[inline]
    pub(crate) fn is_last_next(&self) -> bool {
        self.left == 1
    }

    /// The last step was none.
    #[inline]
    pub(crate) fn uncount(&mut self) {
        self.left = self.left.wrapping_add(1);
    }

    /// Another bound; where that many were taken already, the next step reaches it.
    pub(crate) fn set_max(&mut self, max: u64) {
        let taken = self.taken();
        self.left = max.saturating_sub(taken).max(1);
        self.end = taken.wrapping_add(self.left);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_is_reached_at_that_step_or_at_the_next_where_it_has_passed() {
        let mut steps = Steps::new(3);
        assert_eq!([steps.count(), steps.count()], [false, false]);
        steps.uncount();
        assert_eq!((steps.taken(), steps.count(), steps.count()), (1, false, true));
        steps.set_max(2);
        assert_eq!((steps.taken(), steps.count(), steps.taken()), (3, true, 4));
        steps.set_max(u64::MAX);
        assert_eq!((steps.count(), steps.taken()), (false, 5));
        assert!(Steps::new(0).count());
    }
}
