//! One turn of a task, as the kernel sees it.
//!
//! Owns: taking the next ready task and making it the current one, and what becomes of it when its
//! poll is over. Does not own: the poll ([`crate::run`]), or who is next ([`crate::scheduler`]).
//! Invariant: while a task is polled, its body is out of the table of tasks: whoever meets the slot
//! meanwhile can neither poll nor drop it.

use crate::block::OpKind;
use crate::budget::BUDGET;
use crate::event::{Event, NodeId};
use crate::failure::Failure;
use crate::here;
use crate::kernel::Kernel;
use crate::node::NodeState;
use crate::slot::BodyPtr;
use crate::task::Slot;
use std::mem;
use std::task::Waker;

/// The turn of the current task.
pub(crate) struct Turn {
    /// Nobody else has it.
    pub(crate) body: BodyPtr,
    pub(crate) word: u64,
    pub(crate) aborted: bool,
}

/// What a turn has come to.
pub(crate) enum Done {
    /// The task waits, or has yielded.
    Waits(BodyPtr),
    /// The task has ended; its body, where that is not its handle's alone by now.
    Ended(Option<BodyPtr>),
}

impl Kernel {
    /// Takes the next ready task, and makes it the current one.
    #[inline]
    pub(crate) fn next_turn(&mut self) -> Option<Turn> {
        if !self.deferred.is_empty() {
            self.release_deferred();
        }
        match self.plain {
            true => self.policy.pick_at_random().map(|index| self.begin_turn(index)),
            false => self.next_turn_slowly(),
        }
    }

    /// The same in a run that is recorded, replayed, scheduled another way, or has failed.
    #[cold]
    #[inline(never)]
    fn next_turn_slowly(&mut self) -> Option<Turn> {
        let index = match self.threads.first.take() {
            Some(first) => self.take_first(first),
            None => self.pick_slow()?,
        };
        let turn = self.begin_turn(index);
        self.last_run = index;
        self.record_with(|kernel| Event::Stepped { task: kernel.current_number() });
        Some(turn)
    }

    /// The turn of a task that nobody else is to run before.
    fn take_first(&mut self, index: u32) -> u32 {
        self.unready(index);
        self.settle();
        index
    }

    #[inline(always)]
    pub(crate) fn begin_turn(&mut self, index: u32) -> Turn {
        self.count_step();
        let slot = self.tasks.get_mut(index).expect("invariant: a ready task has a slot");
        let body = slot.body.take().expect("invariant: a ready task lives, and is not polled");
        slot.queued = false;
        slot.polls = slot.polls.wrapping_add(1);
        let Slot { marks, sig, node, word, .. } = *slot;
        (self.stops, self.budget) = (0, BUDGET);
        let mut aborted = false;
        if !marks.begins_afresh() {
            self.budget -= slot.marks.take_spent();
            aborted = marks.is_aborted();
        }
        self.hash.step(sig);
        self.set_current(index, word, node);
        Turn { body, word, aborted }
    }

    #[inline]
    pub(crate) fn count_step(&mut self) {
        if self.steps.count() {
            self.out_of_steps();
        }
    }

    #[cold]
    fn out_of_steps(&mut self) {
        let failure = Failure::steps(self);
        self.fail(failure);
    }

    /// The task waits, or has yielded: its body goes back where its next turn finds it.
    pub(crate) fn end_turn(&mut self, body: BodyPtr) {
        self.put_back(body);
        match here::end_poll() {
            true => self.end_yield(),
            false => self.end_on_node(),
        }
    }

    /// As [`Self::end_turn`] after a turn that was usual. The next turn where that is a pick at once, which it
    /// nearly always is after a yield: nothing is `injected` or due before.
    #[inline(always)]
    pub(crate) fn pass_turn(&mut self, body: BodyPtr, injected: bool) -> Option<Turn> {
        let index = self.current_index();
        let slot = self.put_back(body);
        if !here::end_poll() {
            self.end_on_node();
            return None;
        }
        if slot.queued || slot.marks.is_away() {
            self.end_yield();
            return None;
        }
        // What `wake_slot` does, without a call.
        (slot.op, slot.queued) = (OpKind::Yield, true);
        if injected || self.queue.is_disturbed(self.now_ns) {
            self.policy.push(index);
            return None;
        }
        let next = self.policy.exchange_at_random(index);
        Some(self.begin_turn(next))
    }

    #[inline(always)]
    fn put_back(&mut self, body: BodyPtr) -> &mut Slot {
        self.now_ns += self.poll_ns;
        let slot = self.current_slot().expect("invariant: a polled task has a slot");
        // There is none: this one was taken out for the poll.
        mem::forget(slot.body.replace(body));
        slot
    }

    #[cold]
    #[inline(never)]
    fn end_yield(&mut self) {
        let index = self.current_index();
        if let Some(slot) = self.current_slot() {
            slot.op = OpKind::Yield;
        }
        self.yielded(index);
        self.end_on_node();
    }

    /// A task that stopped its own node goes as the others of the node did.
    #[inline]
    fn end_on_node(&mut self) {
        let (_, word, node) = self.current();
        if self.is_down(node) {
            self.abort(word);
        }
    }

    /// The task has ended; its body is dropped outside of the kernel. See [`Kernel::end_task`].
    #[inline]
    pub(crate) fn finish_turn(&mut self) -> Option<Waker> {
        let index = self.current_index();
        self.now_ns += self.poll_ns;
        self.stops = 0;
        let number = self.current_number();
        if self.tasks.get(index).is_some_and(|slot| !slot.marks.is_aborted()) {
            self.completed += 1;
            self.record_with(|_| Event::Finished { task: number });
        }
        self.end_task(index)
    }

    /// The task has ended in a poll of its own, with a result that is its handle's by now, and its body is
    /// gone. False, and nothing is done, where more is to be said of that, or the turn was not usual.
    #[inline]
    pub(crate) fn finish_plainly(&mut self) -> bool {
        if !self.is_usual || self.groups.has_last() {
            return false;
        }
        let Some(polls) = self.tasks.finish_plainly(self.current_index()) else { return false };
        self.groups.leave_root(polls);
        self.now_ns += self.poll_ns;
        self.completed += 1;
        self.stops = 0;
        true
    }

    /// Takes a task out of everything that knows of it. Who waited for the last task of its group
    /// comes back, to be woken outside of the kernel.
    #[must_use]
    #[inline]
    pub(crate) fn end_task(&mut self, slot: u32) -> Option<Waker> {
        let left = self.tasks.finish(slot);
        // One that woke itself in its last poll, or was ready when its node was stopped, stands in the
        // ready set; one that was woken later is parked.
        if left.queued {
            self.take_back(slot, left.node, left.group);
        }
        self.groups.leave(left.group, left.free, left.polls)
    }

    /// Whether the task may run, as far as its node and its group go.
    #[inline]
    pub(crate) fn runs(&self, slot: &Slot) -> bool {
        self.nodes.runs(slot.node) && self.groups.lets_run(slot)
    }

    #[cold]
    fn take_back(&mut self, slot: u32, node: NodeId, group: u16) {
        self.unready(slot);
        if node != NodeId::NONE {
            self.nodes.entry_mut(node).parked.retain(|parked| *parked != slot);
        }
        self.groups.unpark(group, slot);
    }

    #[inline]
    pub(crate) fn is_down(&self, node: NodeId) -> bool {
        node != NodeId::NONE && self.nodes.entry(node).state == NodeState::Down
    }
}
