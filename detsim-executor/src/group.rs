//! Groups: tasks that are held back, and ended, together.
//!
//! Owns: which groups there are, whether the tasks of each may run, how many are alive, and what their
//! owner keeps beside them. Does not own: the tasks. A runtime is a group, and so is a set of local
//! tasks: the tasks of one that nobody drives stay where they are, and go with their group.
//!
//! Invariants: group 0 is the run's own and always runs; a task that is *free* (somebody blocks on it, or
//! it has a thread of its own) runs in any group; another ready one of a group that does not run is
//! parked here and in no ready set (or parked with its node, where that does not run either); a number
//! is given out again only with another generation, once its group was closed and its tasks are gone.

use crate::SimTime;
use crate::context;
use crate::event::TaskNumber;
use crate::here;
use crate::kernel::{Kernel, NO_TASK};
use crate::run;
use crate::task::Slot;
use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::task::Waker;

/// Names a group of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupId {
    pub(crate) index: u16,
    generation: u32,
}

impl GroupId {
    /// The run's own: of every task that was not spawned into another.
    pub const ROOT: Self = Self { index: 0, generation: 0 };

    /// No group of any run: what is spawned into it is dropped at once.
    pub const CLOSED: Self = Self { index: u16::MAX, generation: u32::MAX };

    /// A number that no other group of the run has.
    pub fn word(self) -> u64 {
        u64::from(self.generation) << 16 | u64::from(self.index)
    }
}

/// What an owner keeps with its group.
pub type Label = Arc<dyn Any + Send + Sync>;

#[derive(Default)]
struct Group {
    generation: u32,
    is_open: bool,
    /// Closed, and its tasks were dropped.
    is_gone: bool,
    /// Whether its tasks may be stopped before operations.
    preemptible: bool,
    /// Where tasks go that its tasks spawn, where that is not here.
    spawns_into: Option<GroupId>,
    /// Polls of its tasks that have ended.
    polls: u64,
    /// How many drive it; it runs while that is not 0.
    drivers: u32,
    /// Tasks, without those that are free.
    alive: u32,
    free: u32,
    parked: Vec<u32>,
    label: Option<Label>,
    /// Who waits for the last task to end.
    waiter: Option<Waker>,
}

impl Group {
    fn count(&mut self, free: bool) -> &mut u32 {
        if free { &mut self.free } else { &mut self.alive }
    }

    /// Closed for good, and nothing of it is left.
    fn is_free(&self) -> bool {
        self.is_gone && self.alive == 0 && self.free == 0
    }
}

impl fmt::Debug for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Group({} alive, {} drivers)", self.alive, self.drivers)
    }
}

/// All groups of a run.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    entries: Vec<Group>,
    free: Vec<u16>,
}

impl Groups {
    /// A fresh run; what owners had put in comes back, to be dropped outside of the kernel.
    pub(crate) fn reset(&mut self) -> Vec<Label> {
        let labels = self.entries.drain(..).filter_map(|group| group.label).collect();
        self.free.clear();
        let root = Group { is_open: true, preemptible: true, drivers: 1, ..Group::default() };
        self.entries.push(root);
        labels
    }

    #[track_caller]
    fn add(&mut self, preemptible: bool) -> GroupId {
        let index = self.free.pop().unwrap_or_else(|| {
            assert!(self.entries.len() < usize::from(u16::MAX), "detsim: more than 65535 groups");
            self.entries.push(Group::default());
            self.entries.len() as u16 - 1
        });
        let group = &mut self.entries[usize::from(index)];
        group.generation = group.generation.wrapping_add(1);
        (group.is_open, group.is_gone) = (true, false);
        (group.preemptible, group.drivers, group.polls) = (preemptible, 0, 0);
        group.spawns_into = None;
        GroupId { index, generation: group.generation }
    }

    fn get(&self, id: GroupId) -> Option<&Group> {
        let group = self.entries.get(usize::from(id.index))?;
        (group.generation == id.generation).then_some(group)
    }

    fn get_mut(&mut self, id: GroupId) -> Option<&mut Group> {
        let group = self.entries.get_mut(usize::from(id.index))?;
        (group.generation == id.generation).then_some(group)
    }

    #[inline(never)]
    fn is_open(&self, id: GroupId) -> bool {
        self.get(id).is_some_and(|group| group.is_open)
    }

    /// Do the tasks of this group run?
    #[inline]
    pub(crate) fn runs(&self, index: u16) -> bool {
        index == 0 || self.entries[usize::from(index)].drivers != 0
    }

    /// Does this task run, as far as its group goes?
    #[inline]
    pub(crate) fn lets_run(&self, slot: &Slot) -> bool {
        slot.marks.is_free() || self.runs(slot.group)
    }

    pub(crate) fn is_preemptible(&self, index: u16) -> bool {
        self.entries.get(usize::from(index)).is_none_or(|group| group.preemptible)
    }

    pub(crate) fn park(&mut self, index: u16, slot: u32) {
        self.entries[usize::from(index)].parked.push(slot);
    }

    pub(crate) fn unpark(&mut self, index: u16, slot: u32) {
        self.entries[usize::from(index)].parked.retain(|parked| *parked != slot);
    }

    /// Where a task of this group goes, and whether it may be stopped; the root's where it is closed.
    #[inline(always)]
    pub(crate) fn admit(&mut self, id: GroupId, free: bool) -> (u16, bool) {
        let index = if id != GroupId::ROOT && self.is_open(id) { id.index } else { 0 };
        let group = &mut self.entries[usize::from(index)];
        *group.count(free) += 1;
        (index, group.preemptible)
    }

    /// Whether it says something to somebody when a task of the run's own group ends.
    #[inline]
    pub(crate) fn has_last(&self) -> bool {
        self.entries.first().is_none_or(|root| root.alive == 1)
    }

    /// A task of the run's own group has ended, which is not its last.
    #[inline]
    pub(crate) fn leave_root(&mut self, polls: u32) {
        if let Some(root) = self.entries.first_mut() {
            root.polls += u64::from(polls);
            root.alive -= 1;
        }
    }

    /// A task has ended: who waits for the last one.
    #[inline]
    pub(crate) fn leave(&mut self, index: u16, free: bool, polls: u32) -> Option<Waker> {
        let group = self.entries.get_mut(usize::from(index))?;
        group.polls += u64::from(polls);
        *group.count(free) -= 1;
        if group.alive > 0 {
            return None;
        }
        let waiter = group.waiter.take();
        if group.is_free() {
            self.free.push(index);
        }
        waiter
    }

    /// Where tasks go that tasks of this group spawn.
    #[inline(never)]
    fn spawns_into(&self, index: u16) -> GroupId {
        let id = self.id(index);
        self.get(id).and_then(|group| group.spawns_into).unwrap_or(id)
    }

    fn id(&self, index: u16) -> GroupId {
        let generation = self.entries.get(usize::from(index)).map_or(0, |group| group.generation);
        GroupId { index, generation }
    }
}

impl Kernel {
    /// A new group, whose tasks do not run before somebody drives it.
    #[track_caller]
    pub fn add_group(&mut self, preemptible: bool) -> GroupId {
        self.groups.add(preemptible)
    }

    /// The group of the task that runs; the root's outside of a task.
    #[inline]
    pub fn current_group(&mut self) -> GroupId {
        match self.current_slot().map_or(0, |slot| slot.group) {
            0 => GroupId::ROOT,
            index => self.groups.id(index),
        }
    }

    /// Where a task goes that is spawned now, unless another group is named.
    #[inline]
    pub fn spawning_group(&mut self) -> GroupId {
        match self.current_slot().map_or(0, |slot| slot.group) {
            0 => GroupId::ROOT,
            index => self.groups.spawns_into(index),
        }
    }

    /// What the clock of whoever runs shows, where what runs is of the root's group, or outside of a task.
    #[inline]
    pub fn root_time(&self) -> Option<SimTime> {
        let current = self.tasks.get(self.current_index());
        current.is_none_or(|slot| slot.group == 0).then(|| self.node_now())
    }

    /// Has what the tasks of `group` spawn go to another group.
    pub fn spawns_into(&mut self, group: GroupId, other: GroupId) {
        if let Some(group) = self.groups.get_mut(group) {
            group.spawns_into = Some(other);
        }
    }

    /// How often the tasks of the group were polled.
    pub fn polls_of(&self, group: GroupId) -> u64 {
        let living = self.tasks.living().filter(|(_, slot)| slot.group == group.index);
        let living = living.map(|(_, slot)| u64::from(slot.polls)).sum::<u64>();
        self.groups.get(group).map_or(0, |group| group.polls + living)
    }

    /// How many tasks of the group are ready, and wait for their turn.
    pub fn ready_in(&self, group: GroupId) -> usize {
        self.tasks.living().filter(|(_, slot)| slot.group == group.index && slot.queued).count()
    }

    /// Whether the group takes tasks.
    pub fn is_open(&self, group: GroupId) -> bool {
        self.groups.is_open(group)
    }

    /// Whether what runs is a task that its group holds back where nobody drives it.
    pub fn is_held_by_group(&mut self) -> bool {
        self.current_slot().is_some_and(|slot| !slot.marks.is_free())
    }

    /// Whether somebody drives the group.
    pub fn is_driven(&self, group: GroupId) -> bool {
        self.is_open(group) && self.groups.runs(group.index)
    }

    /// How many tasks of all groups are alive, those that somebody blocks on among them.
    pub fn alive(&self) -> u32 {
        self.tasks.alive()
    }

    /// How many tasks of the group are alive.
    pub fn alive_in(&self, group: GroupId) -> u32 {
        self.groups.get(group).map_or(0, |group| group.alive)
    }

    /// Whether a group takes tasks that is not the run's own, and beside which `is_meant` was put.
    pub fn has_open(&self, is_meant: impl Fn(&Label) -> bool) -> bool {
        let mut others = self.groups.entries.iter().skip(1);
        others.any(|group| group.is_open && group.label.as_ref().is_some_and(&is_meant))
    }

    /// What was put beside the group.
    pub fn label(&self, group: GroupId) -> Option<&Label> {
        self.groups.get(group)?.label.as_ref()
    }

    /// Puts something beside the group; what was there comes back, to be dropped outside.
    #[must_use]
    pub fn set_label(&mut self, group: GroupId, label: Label) -> Option<Label> {
        let Some(group) = self.groups.get_mut(group) else { return Some(label) };
        group.label.replace(label)
    }

    /// Whether the group has no task; if it has, `waker` is woken when the last one has ended, in place
    /// of the one before, which comes back to be dropped outside.
    pub fn poll_empty(&mut self, group: GroupId, waker: &mut Option<Waker>) -> bool {
        let Some(group) = self.groups.get_mut(group).filter(|group| group.alive > 0) else {
            return true;
        };
        std::mem::swap(&mut group.waiter, waker);
        false
    }

    /// Whether no closure of a group that was closed blocks a thread any more; if one does, `waker` is
    /// woken when it has ended, in place of the one before, which comes back to be dropped outside.
    pub fn poll_unblocked(&mut self, closed: GroupId, waker: &mut Option<Waker>) -> bool {
        let is_one = |(index, slot): (u32, &Slot)| {
            slot.group == closed.index && slot.marks.is_free() && !self.tasks.cold(index).main
        };
        let is_same = |group: &&mut Group| group.generation == closed.generation.wrapping_add(1);
        let blocked = closed != GroupId::ROOT && self.tasks.living().any(is_one);
        let group = self.groups.entries.get_mut(usize::from(closed.index)).filter(is_same);
        let Some(group) = group.filter(|_| blocked) else { return true };
        std::mem::swap(&mut group.waiter, waker);
        false
    }

    /// Somebody drives the group from now on: its tasks run.
    pub fn drive_group(&mut self, id: GroupId) {
        let Some(group) = self.groups.get_mut(id) else { return };
        group.drivers += 1;
        if group.drivers > 1 {
            return;
        }
        for slot in std::mem::take(&mut group.parked) {
            self.unparked(slot);
        }
    }

    /// The task that runs goes when its poll is over, if it is one of this group.
    fn abort_current_of(&mut self, index: u16) {
        let current =
            self.current_slot().filter(|slot| slot.group == index && !slot.marks.is_free());
        let Some(slot) = current else { return };
        slot.marks.abort();
        let word = self.current_tag().word;
        self.groups.entries[usize::from(index)].drivers = 1;
        self.wake(word);
    }

    /// Whoever drove the group does so no more; where nobody else does, its tasks stay where they are.
    pub fn leave_group(&mut self, id: GroupId) {
        let Some(group) = self.groups.get_mut(id) else { return };
        group.drivers -= 1;
        if group.drivers > 0 || group.alive == 0 {
            return;
        }
        let stays = |slot: &Slot| slot.group == id.index && slot.queued && !slot.marks.is_free();
        let ready = self.tasks.living().filter(|(_, slot)| stays(slot));
        let ready: Vec<_> = ready.map(|(index, slot)| (index, slot.node)).collect();
        for (slot, node) in ready {
            if self.nodes.runs(node) {
                self.unready(slot);
                self.groups.park(id.index, slot);
            }
        }
    }
}

/// Closes a group: its tasks are dropped, in the order of their numbers, and it takes no more. The task
/// that runs goes when its poll is over; one that somebody blocks on goes on, and so does a closure that
/// blocks a thread, unless it has none yet.
pub fn close(id: GroupId) {
    let shut = |kernel: &mut Kernel| {
        let group = kernel.groups.get_mut(id).filter(|group| id != GroupId::ROOT && group.is_open);
        group.map(|group| group.is_open = false).is_some()
    };
    if context::with(shut) != Some(true) {
        return;
    }
    run::drop_tasks(|slot| slot.group == id.index && !slot.marks.is_free());
    let forget = |kernel: &mut Kernel| {
        kernel.abort_current_of(id.index);
        let group = kernel.groups.get_mut(id)?;
        (group.generation, group.is_gone) = (group.generation.wrapping_add(1), true);
        let left = (group.label.take(), group.waiter.take());
        if group.is_free() {
            kernel.groups.free.push(id.index);
        }
        Some(left)
    };
    let Some((label, waiter)) = context::with(forget).flatten() else { return };
    waiter.into_iter().for_each(Waker::wake);
    drop(label);
}

/// The number of the task that runs, unless it is one that somebody blocks on; that of the task whose
/// result its handle is dropping.
pub fn current_task() -> Option<TaskNumber> {
    if let Some(number) = here::dropping() {
        return Some(TaskNumber(number));
    }
    context::with(|kernel| {
        let number = kernel.current_number();
        let index = kernel.current_index();
        let main = index != NO_TASK && kernel.tasks.cold(index).main;
        kernel.current_slot().filter(|_| !main).map(|_| number)
    })
    .flatten()
}

#[cfg(test)]
mod tests;
