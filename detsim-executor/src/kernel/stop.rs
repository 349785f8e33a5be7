//! Tasks that are stopped before an operation, so that others get in between.
//!
//! Owns: when a task is stopped, and the stop of a future that returns `Pending` once. Does not own: how
//! often (the scheduler draws that), nor the stop of a task in the middle of its poll (`baton/hold.rs`).
//! Invariant: a task that is stopped is ready: nothing has to happen for it to go on.

use super::Kernel;
use crate::block::{Object, OpKind};
use crate::budget::BUDGET;
use crate::choice::Anchor;
use crate::event::Event;
use crate::rng::fold;
use crate::task::{Slot, UNDRAWN};
use std::task::Waker;

impl Kernel {
    /// An operation of the current task on `object` is about to begin, asked for by a future
    /// whose task waits with `waker`. True: the task is stopped first; the future returns
    /// `Pending` and does nothing else, and is polled again later. `asked` belongs to the future
    /// and keeps it from being stopped twice.
    #[inline]
    pub fn stops_before(
        &mut self,
        object: &mut Object,
        kind: OpKind,
        asked: &mut bool,
        waker: &Waker,
    ) -> bool {
        object.bind(self);
        if !*asked {
            *asked = true;
            let Some(slot) = self.tasks.get_mut(self.current) else { return false };
            slot.ops += 1;
            if slot.ops >= slot.stop_at {
                // A waker that is not the task's own belongs to a combinator that may never poll again.
                // Nor is who may do all that it can in one poll made to wait.
                let own = crate::waker::ours(waker) == Some(self.word) && self.budget <= BUDGET;
                let stops = self.stop(object, kind, own);
                if stops {
                    self.wake_slot(self.current);
                }
                return stops;
            }
        }
        false
    }

    /// The object becomes one of this run, as it does before its first operation: what is done at once
    /// with an object that is made for one use only.
    #[inline]
    pub fn know(&mut self, object: &mut Object) {
        object.bind(self);
    }

    /// As [`Self::stops_before`] and [`Self::has_budget`] for an operation before which the task is not
    /// stopped. False, and nothing is done, where it may be, or has no budget, or where it is no task
    /// that runs: then they are to be asked.
    #[inline(always)]
    pub fn passes(&mut self, object: &Object, asked: &mut bool) -> bool {
        if !object.is_of(self.id) || self.budget == 0 {
            return false;
        }
        let Some(slot) = self.tasks.get_mut(self.current) else { return false };
        *asked = *asked || slot.count_operation();
        *asked
    }

    /// An operation of the current task on `object` that has all it needs: [`Self::passes`],
    /// [`Self::operate`] and [`Self::spend_budget`] in one. Where this is false nothing has happened.
    #[inline]
    pub fn completes_at_once(
        &mut self,
        object: &mut Object,
        kind: OpKind,
        asked: &mut bool,
    ) -> bool {
        if self.budget <= self.reserved || !object.is_of(self.id) {
            return false;
        }
        let Some(slot) = self.tasks.get_mut(self.current) else { return false };
        if !*asked && !slot.count_operation() {
            return false;
        }
        *asked = true;
        self.budget -= 1;
        self.hash.operation(slot.operate(object, kind));
        true
    }

    /// As [`Self::completes_at_once`], with something that comes from elsewhere and has this `history`, which
    /// the task's goes on from.
    #[inline]
    pub fn receives_at_once(
        &mut self,
        object: &mut Object,
        kind: OpKind,
        asked: &mut bool,
        history: u64,
    ) -> bool {
        if self.budget == 0 || !object.is_of(self.id) || self.recorder.is_on() {
            return false;
        }
        let Some(slot) = self.tasks.get_mut(self.current) else { return false };
        if !*asked && !slot.count_operation() {
            return false;
        }
        *asked = true;
        self.budget -= 1;
        slot.history = fold(slot.history, history);
        self.hash.operation(slot.operate(object, kind));
        true
    }

    /// The operation that [`Self::passes`] has let begin is done, with something that leaves, whose hash is
    /// `sent`: the history that this has.
    #[inline(always)]
    pub fn sends(&mut self, object: &mut Object, kind: OpKind, sent: u64) -> Option<u64> {
        let slot = self.tasks.get_mut(self.current)?;
        let history = fold(slot.history, sent);
        slot.history = history;
        self.hash.operation(slot.operate(object, kind));
        self.budget = self.budget.saturating_sub(1);
        Some(history)
    }

    /// An operation of the current task on `object` that waits: [`Self::passes`] and [`Self::operate`] in
    /// one. Where this is false nothing has happened.
    #[inline(always)]
    pub fn waits_at_once(&mut self, object: &mut Object, kind: OpKind, asked: &mut bool) -> bool {
        if self.budget <= self.reserved || !object.is_of(self.id) {
            return false;
        }
        let Some(slot) = self.tasks.get_mut(self.current) else { return false };
        if !*asked && !slot.count_operation() {
            return false;
        }
        *asked = true;
        self.hash.operation(slot.operate(object, kind));
        true
    }

    /// As [`Self::holds_before`] for an operation before which the task is not held. False, and nothing is
    /// done, where it may be, or where it is no task that runs.
    #[inline]
    pub fn goes_on(&mut self, object: &Object) -> bool {
        object.is_of(self.id) && self.current_slot().is_some_and(Slot::count_operation)
    }

    /// An operation of the current task on `object` in the middle of a poll, that has all it needs:
    /// [`Self::holds_before`] and [`Self::operate`] in one. Where this is false nothing has happened.
    #[inline]
    pub fn does_at_once(&mut self, object: &mut Object, kind: OpKind) -> bool {
        if self.reserved != 0 || !object.is_of(self.id) {
            return false;
        }
        let Some(slot) = self.tasks.get_mut(self.current) else { return false };
        if !slot.count_operation() {
            return false;
        }
        self.hash.operation(slot.operate(object, kind));
        true
    }

    /// Whether the current task is stopped, which it is where it can be and is to be. The caller makes it
    /// ready again.
    #[cold]
    pub(crate) fn stop(&mut self, object: &Object, kind: OpKind, can: bool) -> bool {
        if self.probing {
            return false;
        }
        if !self.is_stop_due() {
            return false;
        }
        let after = self.policy.preempt_after();
        let Some(slot) = self.tasks.get_mut(self.current) else { return false };
        let anchor = Anchor { actor: slot.sig, ordinal: slot.ops };
        let drawn = slot.stop_at != u32::MAX && after.is_some();
        slot.stop_at = after.map_or(u32::MAX, |n| slot.ops.saturating_add(n));
        let stops = self.stop_choice(anchor, drawn, can, object, kind);
        if !stops {
            return false;
        }
        // Where nothing is left the operation would have yielded here, for a full budget.
        let spent = self.spent_budget() % BUDGET;
        let Some(slot) = self.tasks.get_mut(self.current) else { return false };
        slot.op = kind;
        slot.marks.keep_spent(spent);
        self.tasks.cold_mut(self.current).object = object.sig();
        self.stops += 1;
        self.record_with(|k| Event::Preempted {
            task: k.current_number(),
            op: kind,
            object: k.recorder.object(object),
        });
        true
    }

    /// The first operation of a task draws where it is stopped first: most tasks of a run that
    /// spawns many come to none.
    fn is_stop_due(&mut self) -> bool {
        if self.choices.is_replay() {
            return true;
        }
        let Some(slot) = self.tasks.get_mut(self.current) else { return false };
        if slot.stop_at == UNDRAWN {
            slot.stop_at = self.policy.preempt_after().unwrap_or(u32::MAX);
        }
        slot.ops >= slot.stop_at
    }

    /// Whether the poll that is under way ended with the task being stopped before an operation.
    /// A combinator that sees this returns `Pending` at once, and polls the same arm first when it
    /// is polled again: so that a stop cannot be told from any other suspension.
    #[inline]
    pub fn is_stopped(&self) -> bool {
        self.stops > 0
    }
}
