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
use crate::kernel::{Kernel, Preempt};
use crate::node::NodeState;
use crate::slot::BodyPtr;
use crate::task::Slot;
use std::mem;
use std::task::Waker;

/// A task whose turn it is: its slot, its word, its body, which nobody else has, and whether it was
/// aborted. No struct: that would live in memory from poll to poll.
pub(crate) type Turn = (u32, u64, BodyPtr, bool);

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
        let Slot { aborted, sig, node, word, .. } = *slot;
        let spent = if slot.marks.has_spent() { slot.marks.take_spent() } else { 0 };
        self.hash.step(sig);
        self.set_current(index, word, node);
        self.stopped = false;
        self.budget = BUDGET - spent;
        (index, word, body, aborted)
    }

    #[inline]
    pub(crate) fn count_step(&mut self) {
        self.steps += 1;
        if self.steps >= self.limits.steps {
            self.out_of_steps();
        }
    }

    #[cold]
    fn out_of_steps(&mut self) {
        let failure = Failure::steps(self);
        self.fail(failure);
    }

    /// The task waits, or has yielded: its body goes back where its next turn finds it.
    #[inline(always)]
    pub(crate) fn end_turn(&mut self, index: u32, word: u64, body: BodyPtr) {
        self.now_ns += self.poll_ns;
        let node = self.current_node();
        let is_usual = self.plain && node == NodeId::NONE && self.preempt == Preempt::Ops;
        let slot = self.tasks.get_mut(index).expect("invariant: a polled task has a slot");
        // There is none: this one was taken out for the poll.
        mem::forget(slot.body.replace(body));
        if here::end_poll() {
            slot.op = OpKind::Yield;
            if is_usual && slot.group == 0 && !slot.queued {
                // What `wake_slot` does, without a call.
                slot.queued = true;
                return self.policy.push(index);
            }
            self.yielded(index);
        }
        if self.is_down(node) {
            // The task stopped its own node: it goes as the others of the node did.
            self.abort(word);
        }
    }

    /// The task has ended; its body is dropped outside of the kernel. See [`Kernel::end_task`].
    #[inline]
    pub(crate) fn finish_turn(&mut self, index: u32) -> Option<Waker> {
        self.now_ns += self.poll_ns;
        self.stopped = false;
        let number = self.current_number();
        if self.tasks.get(index).is_some_and(|slot| !slot.aborted) {
            self.completed += 1;
            self.record_with(|_| Event::Finished { task: number });
        }
        self.end_task(index)
    }

    /// Takes a task out of everything that knows of it. Who waited for the last task of its group
    /// comes back, to be woken outside of the kernel.
    #[must_use]
    #[inline]
    pub(crate) fn end_task(&mut self, slot: u32) -> Option<Waker> {
        self.forget_ready(slot);
        let waiter = self.leave_its_group(slot);
        self.tasks.finish(slot);
        waiter
    }

    /// Whether the task may run, as far as its node and its group go.
    #[inline]
    pub(crate) fn runs(&self, slot: &Slot) -> bool {
        self.nodes.runs(slot.node) && self.groups.lets_run(slot)
    }

    /// A task that woke itself in its last poll stands in the ready set; one that was ready when its
    /// node was stopped still does, and one that was woken later is parked.
    #[inline]
    fn forget_ready(&mut self, slot: u32) {
        if let Some(task) = self.tasks.get(slot).filter(|task| task.queued) {
            let (node, group) = (task.node, task.group);
            self.take_back(slot, node, group);
        }
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
