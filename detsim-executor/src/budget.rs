//! How much a task may get done in one poll.
//!
//! Owns: the budget of operations that a poll begins with, and what asks for it and spends it. Does not
//! own: the operations, which ask before they begin, spend where they complete, and yield where nothing
//! is left. Invariant: only a task has a budget; callbacks, code that may block its thread and whatever
//! else runs are never out of it.

use crate::here;
use crate::kernel::{Kernel, NO_TASK};

/// Operations that a task may complete in one poll.
pub(crate) const BUDGET: u32 = 128;

/// What the end of an operation takes of the budget of the current task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Price {
    Nothing,
    One,
}

impl Kernel {
    /// Whether the current task can pay for an operation.
    #[inline]
    pub(crate) fn affords(&self, price: Price) -> bool {
        price == Price::Nothing || self.has_budget()
    }

    /// The current task has completed an operation of this price.
    #[inline]
    pub(crate) fn pay(&mut self, price: Price) {
        if price == Price::One {
            self.spend_budget();
        }
    }

    /// Whether the current task may complete another operation in this poll. A future that finds
    /// that it may not calls [`crate::yield_with`], outside of the section, and returns `Pending`.
    #[inline]
    pub fn has_budget(&self) -> bool {
        self.budget != 0 || self.current_index() == NO_TASK || here::may_block()
    }

    /// The current task has completed an operation.
    #[inline]
    pub fn spend_budget(&mut self) {
        self.budget = self.budget.saturating_sub(1);
    }

    /// What was spent of this poll's budget. A task that is stopped goes on with what is left: else
    /// one that is stopped often enough would never yield, and starve what it polls beside.
    pub(crate) fn spent_budget(&self) -> u32 {
        BUDGET.saturating_sub(self.budget)
    }

    /// What is left of this poll's budget.
    pub fn budget(&self) -> u32 {
        self.budget
    }

    /// Gives what is left of this poll another budget: what was left. [`u32::MAX`] never runs out.
    pub fn replace_budget(&mut self, budget: u32) -> u32 {
        std::mem::replace(&mut self.budget, budget)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Sim, context};

    #[test]
    fn every_poll_begins_with_a_full_budget() {
        let sim = Sim::new(1);
        let spend = || {
            let mut spent = 0;
            while context::with(|kernel| kernel.has_budget()) == Some(true) {
                context::with(Kernel::spend_budget);
                spent += 1;
            }
            spent
        };
        let spent = sim.block_on(async move {
            let first = spend();
            crate::yield_now().await;
            (first, spend())
        });
        assert_eq!(spent, Ok((BUDGET, BUDGET)));
    }

    #[test]
    fn code_that_may_block_is_never_out_of_budget() {
        let sim = Sim::new(1);
        let has = || context::with(|kernel| kernel.has_budget());
        let seen = sim.block_on(async move {
            context::with(|kernel| (0..BUDGET).for_each(|_| kernel.spend_budget()));
            (has(), crate::block_in_place(has), has())
        });
        assert_eq!(seen, Ok((Some(false), Some(true), Some(false))));
    }

    #[test]
    fn a_callback_is_never_out_of_budget() {
        let sim = Sim::new(1);
        sim.immediately(|| {
            context::with(|kernel| (0..1000).for_each(|_| kernel.spend_budget()));
            assert_eq!(context::with(|kernel| kernel.has_budget()), Some(true));
        });
        sim.run().unwrap();
    }
}
