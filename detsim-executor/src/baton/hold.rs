//! A task that is stopped in the middle of a poll, before a synchronous operation.
//!
//! Owns: [`Hold`], and when one is worth it. Does not own: how often tasks are stopped (the scheduler
//! draws that, for stops of all kinds). Invariants: a hold is taken outside of every section, never by
//! a thread that unwinds, never where nobody else could run; a run that takes many takes fewer and
//! fewer, so that their price is bounded: a fifth of a microsecond of processor time each, and about six
//! where threads cannot share one of the system (`baton/fiber.rs` says where that is), pinned to one
//! processor or not.

use std::panic::Location;

use super::host::{suspend_in_drop, suspend_ready};
use crate::block::{Object, OpKind};
use crate::kernel::Kernel;

/// A task is to be stopped where it stands. See [`Kernel::holds_before`].
#[derive(Debug)]
#[must_use = "the task counts on being stopped"]
pub struct Hold(());

impl Hold {
    pub(crate) fn new() -> Self {
        Self(())
    }

    /// Lets others run, on another thread, until it is the task's turn again.
    #[cold]
    #[track_caller]
    pub fn take(self) {
        suspend_ready(Location::caller());
    }
}

impl Hold {
    /// As [`Self::take`], in a destructor, which is to do its work in any case: where the task is dropped
    /// meanwhile, it is the next stop that unwinds.
    #[cold]
    #[track_caller]
    pub fn take_in_drop(self) {
        suspend_in_drop(Location::caller());
    }

    /// As [`Self::take`], in a call of the system: false where the task is dropped meanwhile, and the
    /// call is to fail. See [`crate::threads::is_gone`].
    #[cold]
    #[track_caller]
    #[must_use = "the call is to fail where the task is gone"]
    pub fn take_in_call(self) -> bool {
        suspend_in_drop(Location::caller())
    }
}

/// Holds that a run takes before it takes one of two, and again before it takes one of four. With so many a
/// race that comes after a thousand operations is found as often as with all of them.
const HOLDS_PER_HALVING: u32 = 128;

/// How often a run has held a task.
#[derive(Debug, Default)]
pub(crate) struct Holds {
    taken: u32,
    due: u32,
}

impl Holds {
    fn is_worth_it(&mut self) -> bool {
        self.due += 1;
        let one_of = 1 << (self.taken / HOLDS_PER_HALVING).min(16);
        let takes = self.due >= one_of;
        if takes {
            (self.taken, self.due) = (self.taken + 1, 0);
        }
        takes
    }
}

impl Kernel {
    /// An operation of the current task on `object` is about to begin, in the middle of a poll. Some:
    /// the task is to be stopped first, where it stands: the caller leaves its section, takes the
    /// [`Hold`], and enters anew.
    #[inline]
    pub fn holds_before(&mut self, object: &mut Object, kind: OpKind) -> Option<Hold> {
        object.bind(self);
        let slot = self.current_slot()?;
        slot.ops += 1;
        if slot.ops < slot.stop_at {
            return None;
        }
        self.hold(object, kind)
    }

    #[cold]
    fn hold(&mut self, object: &Object, kind: OpKind) -> Option<Hold> {
        if self.threads.unwinds {
            return (!std::thread::panicking()).then(Hold::new);
        }
        let can = self.can_hold();
        self.stop(object, kind, can).then(Hold::new)
    }

    /// Whether the current task can be held, and somebody would profit.
    pub(crate) fn can_hold(&mut self) -> bool {
        self.can_suspend()
            && !self.policy.is_empty()
            && !std::thread::panicking()
            && (self.choices.is_replay() || self.threads.holds.is_worth_it())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_become_rare() {
        let mut holds = Holds::default();
        let taken = |holds: &mut Holds, due| (0..due).filter(|_| holds.is_worth_it()).count();
        assert_eq!(taken(&mut holds, 128), 128);
        assert_eq!(taken(&mut holds, 256), 128);
        assert_eq!(taken(&mut holds, 1 << 20), 1408);
    }
}
