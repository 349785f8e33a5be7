//! The table of tasks.
//!
//! Owns: what the kernel knows of each task (slot, generation, names, counters, history), and the
//! ordinals that signatures are made of. Does not own: futures ([`crate::slot`]), who runs next
//! ([`crate::scheduler`]), or the wait graph ([`crate::block`]). Invariants: a slot's word
//! moves on whenever its task ends, so a word of an ended task matches nothing; a slot whose
//! generations are used up retires; nothing grows with the number of finished tasks.

use crate::baton::Aborts;
use crate::block::{Object, OpKind, TaskTag};
use crate::event::NodeId;
use crate::group::GroupId;
use crate::slot::BodyPtr;
use crate::waker::{GENERATION_MAX, SLOT_BITS, pack, unpack};
use std::mem;
use std::panic::Location;

/// What a task is spawned with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spawn {
    pub(crate) site: &'static Location<'static>,
    pub(crate) type_name: &'static str,
    pub(crate) name: u32,
    pub(crate) node: NodeId,
    pub(crate) group: GroupId,
    /// Somebody blocks on it.
    pub(crate) main: bool,
    /// It runs whether or not its group does.
    pub(crate) free: bool,
}

/// What a task begins with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Begin {
    pub(crate) sig: u64,
    pub(crate) history: u64,
    /// It may be stopped before operations.
    pub(crate) stops: bool,
}

/// Where a task is stopped first has not been drawn yet: its first operation asks.
pub(crate) const UNDRAWN: u32 = 0;

/// What every poll of a task looks at: one cache line.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Slot {
    /// The future, while the task lives and is not being polled.
    pub(crate) body: Option<BodyPtr>,
    pub(crate) sig: u64,
    /// History: what happened before the next operation of this task.
    pub(crate) history: u64,
    /// The word of the task, or of the next one in this slot.
    pub(crate) word: u64,
    /// The task's number, or [`VACANT`].
    pub(crate) number: u32,
    /// Operations so far, and the one before which the task is stopped next.
    pub(crate) ops: u32,
    pub(crate) stop_at: u32,
    pub(crate) polls: u32,
    pub(crate) node: NodeId,
    pub(crate) op: OpKind,
    /// In the ready set, or parked with its node.
    pub(crate) queued: bool,
    pub(crate) marks: Marks,
    pub(crate) group: u16,
}

const _: () = assert!(size_of::<Slot>() == 64);

/// What is unusual about a task, and what it has spent of the budget of its last poll, where it was
/// stopped: the next poll goes on with what is left.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Marks(u16);

impl Marks {
    const SPENT: u16 = (1 << 7) - 1;
    const FREE: u16 = 1 << 7;
    const AWAY: u16 = 1 << 8;
    const ABORTED: u16 = 1 << 9;

    fn new(free: bool, away: bool) -> Self {
        let mark = |is: bool, mark| if is { mark } else { 0 };
        Self(mark(free, Self::FREE) | mark(away, Self::AWAY))
    }

    /// Whether the task's node or its group has a say in whether it runs.
    #[inline]
    pub(crate) fn is_away(self) -> bool {
        self.0 & Self::AWAY != 0
    }

    /// Whether the task is dropped at its next turn.
    #[inline]
    pub(crate) fn is_aborted(self) -> bool {
        self.0 & Self::ABORTED != 0
    }

    pub(crate) fn abort(&mut self) {
        self.0 |= Self::ABORTED;
    }

    /// Whether the task is its group's, and has not been aborted.
    #[inline]
    pub(crate) fn ends_plainly(self) -> bool {
        self.0 & (Self::FREE | Self::ABORTED) == 0
    }

    /// Whether the next turn is to begin as any: nothing was spent before, and the task is not aborted.
    #[inline]
    pub(crate) fn begins_afresh(self) -> bool {
        self.0 & (Self::SPENT | Self::ABORTED) == 0
    }

    /// Whether the task runs whether or not its group does: somebody blocks on it, or it has a thread
    /// of its own.
    #[inline]
    pub(crate) fn is_free(self) -> bool {
        self.0 & Self::FREE != 0
    }

    /// Keeps what was spent, less than all of it, for the next poll.
    pub(crate) fn keep_spent(&mut self, spent: u32) {
        debug_assert!(spent <= u32::from(Self::SPENT), "a whole budget is a new one");
        self.0 = self.0 & !Self::SPENT | spent as u16;
    }

    /// What was kept; nothing is, from now on.
    #[inline]
    pub(crate) fn take_spent(&mut self) -> u32 {
        let spent = self.0 & Self::SPENT;
        self.0 ^= spent;
        u32::from(spent)
    }
}

/// The number of no task.
const VACANT: u32 = u32::MAX;

/// What is looked at now and then.
#[derive(Debug)]
pub(crate) struct Cold {
    /// The object of the pending operation.
    pub(crate) object: u64,
    pub(crate) site: &'static Location<'static>,
    pub(crate) name: u32,
    /// Picks made after a poll of this task.
    pub(crate) picks: u32,
    pub(crate) aborts: Aborts,
    /// Somebody blocks on it.
    pub(crate) main: bool,
    /// It may lose its turn in the middle of a poll.
    pub(crate) preemptible: bool,
    ordinals: Ordinals,
}

impl Slot {
    fn vacant(word: u64) -> Self {
        Self {
            body: None,
            sig: 0,
            history: 0,
            word,
            number: VACANT,
            ops: 0,
            stop_at: u32::MAX,
            polls: 0,
            node: NodeId::NONE,
            op: OpKind::Start,
            queued: false,
            marks: Marks::default(),
            group: 0,
        }
    }

    /// Counts an operation, unless the task is to be stopped before it.
    #[inline]
    pub(crate) fn count_operation(&mut self) -> bool {
        let ops = self.ops + 1;
        let counts = ops < self.stop_at;
        if counts {
            self.ops = ops;
        }
        counts
    }

    /// Folds an operation into the histories of the task and the object: its own.
    #[inline]
    pub(crate) fn operate(&mut self, object: &mut Object, kind: OpKind) -> u64 {
        self.history = object.operate(self.history, kind);
        self.history
    }

    fn is_alive(&self) -> bool {
        self.number != VACANT
    }

    fn is_used_up(&self) -> bool {
        unpack(self.word).0 == GENERATION_MAX
    }

    /// Every word given out so far matches nothing from now on.
    fn outdate(&mut self) {
        if !self.is_used_up() {
            self.word += 1 << SLOT_BITS;
        }
    }
}

impl Cold {
    fn new(site: &'static Location<'static>) -> Self {
        Self {
            object: 0,
            site,
            name: 0,
            picks: 0,
            aborts: Aborts::Now,
            main: false,
            preemptible: false,
            ordinals: Ordinals::default(),
        }
    }
}

/// The how manieth task or object an actor makes at one place. One word for the many that make
/// nothing.
#[derive(Debug, Default)]
pub(crate) struct Ordinals(Option<Box<Made>>);

#[derive(Debug, Default)]
struct Made {
    by_place: Vec<(u64, u32)>,
}

impl Ordinals {
    /// The next ordinal of `key`. Linear: an actor makes things at a handful of places.
    #[inline]
    pub(crate) fn next(&mut self, key: u64) -> u32 {
        let known = self.0.as_mut().map(|made| made.by_place.iter_mut().rev());
        match known.and_then(|mut known| known.find(|(known, _)| *known == key)) {
            Some((_, count)) => {
                *count += 1;
                *count - 1
            }
            None => self.first(key),
        }
    }

    #[cold]
    #[inline(never)]
    fn first(&mut self, key: u64) -> u32 {
        self.0.get_or_insert_default().by_place.push((key, 1));
        0
    }

    pub(crate) fn clear(&mut self) {
        if let Some(made) = &mut self.0 {
            made.by_place.clear();
        }
    }
}

/// What a task leaves behind that has ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaves {
    /// It stands in the ready set, or is parked.
    pub(crate) queued: bool,
    pub(crate) node: NodeId,
    pub(crate) group: u16,
    pub(crate) free: bool,
    pub(crate) polls: u32,
}

/// All tasks of a run.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct Tasks {
    slots: Vec<Slot>,
    /// What the words of this table begin with.
    lane: u32,
    alive: u32,
    cold: Vec<Cold>,
    /// `slots[..used]` were used in this run: what the end of a run has to look at.
    used: usize,
    free: Vec<u32>,
    spawned: u32,
}

impl Tasks {
    /// The lane that the table is, and stays, in.
    pub(crate) fn set_lane(&mut self, lane: u32) {
        self.lane = lane;
    }

    /// What the words of this table begin with.
    #[inline]
    pub(crate) fn lane(&self) -> u64 {
        u64::from(self.lane)
    }

    /// A slot for a new task, which gets the next number. It counts as ready: whoever calls this says so, and
    /// gives it its body.
    #[inline(always)]
    pub(crate) fn enroll(&mut self, spawn: &Spawn, group: u16, begin: Begin) -> u32 {
        let Begin { sig, history, stops } = begin;
        let index = self.vacant();
        let slot = &mut self.slots[index as usize];
        debug_assert!(slot.body.is_none(), "a vacant slot has no body");
        let free = spawn.main || spawn.free;
        let marks = Marks::new(free, spawn.node != NodeId::NONE || group != 0);
        // Field by field: nothing is to be dropped.
        (slot.sig, slot.history, slot.number) = (sig, history, self.spawned);
        (slot.ops, slot.stop_at, slot.polls) = (0, if stops { UNDRAWN } else { u32::MAX }, 0);
        (slot.node, slot.group, slot.marks) = (spawn.node, group, marks);
        (slot.op, slot.queued) = (OpKind::Start, true);
        let cold = &mut self.cold[index as usize];
        (cold.object, cold.site, cold.name, cold.picks) = (0, spawn.site, spawn.name, 0);
        (cold.aborts, cold.main, cold.preemptible) = (Aborts::Now, spawn.main, stops);
        cold.ordinals.clear();
        self.spawned += 1;
        self.alive += 1;
        index
    }

    /// The word of the task in a slot.
    #[inline]
    pub(crate) fn word(&self, index: u32) -> u64 {
        self.slots[index as usize].word
    }

    /// Gives a task that was enrolled its body. Its number.
    #[inline]
    pub(crate) fn embody(&mut self, index: u32, body: BodyPtr) -> u32 {
        let slot = &mut self.slots[index as usize];
        // There is none.
        mem::forget(slot.body.replace(body));
        slot.number
    }

    #[inline]
    fn vacant(&mut self) -> u32 {
        if let Some(index) = self.free.pop() {
            return index;
        }
        self.vacant_anew()
    }

    #[cold]
    #[inline(never)]
    fn vacant_anew(&mut self) -> u32 {
        while self.slots.get(self.used).is_some_and(Slot::is_used_up) {
            self.used += 1;
        }
        if self.used == self.slots.len() {
            self.slots.push(Slot::vacant(pack(self.lane, 0, self.used as u32)));
            self.cold.push(Cold::new(Location::caller()));
        }
        self.used += 1;
        self.used as u32 - 1
    }

    /// Ends a task of the run's own group about which there is nothing to say: how often it was polled. `None`, and nothing is
    /// done, where there is: then [`Self::finish`] ends it.
    #[inline]
    pub(crate) fn finish_plainly(&mut self, index: u32) -> Option<u32> {
        let slot = self.slots.get_mut(index as usize)?;
        if slot.queued || slot.group != 0 || !slot.marks.ends_plainly() {
            return None;
        }
        let polls = slot.polls;
        self.vacate(index);
        Some(polls)
    }

    /// Ends a task: its words match nothing from now on. What it leaves behind.
    #[inline]
    pub(crate) fn finish(&mut self, index: u32) -> Leaves {
        let slot = &mut self.slots[index as usize];
        let Slot { queued, node, group, marks, polls, .. } = *slot;
        debug_assert!(slot.body.is_none(), "who ends a task has its body");
        slot.queued = false;
        self.vacate(index);
        Leaves { queued, node, group, free: marks.is_free(), polls }
    }

    /// A slot has no task any more: its words match nothing from now on.
    #[inline(always)]
    fn vacate(&mut self, index: u32) {
        let slot = &mut self.slots[index as usize];
        slot.number = VACANT;
        slot.outdate();
        self.alive -= 1;
        if !slot.is_used_up() {
            self.free.push(index);
        }
    }

    /// Ends the run: every word given out in it goes stale.
    pub(crate) fn clear(&mut self) {
        for slot in &mut self.slots[..self.used] {
            debug_assert!(slot.body.is_none(), "a run ends after its tasks");
            slot.outdate();
            // One may be alive still: the poll that left a section open took its body along.
            (slot.queued, slot.number) = (false, VACANT);
        }
        self.used = 0;
        self.free.clear();
        (self.spawned, self.alive) = (0, 0);
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, index: u32) -> Option<&mut Slot> {
        self.slots.get_mut(index as usize)
    }

    pub(crate) fn cold(&self, index: u32) -> &Cold {
        &self.cold[index as usize]
    }

    pub(crate) fn cold_mut(&mut self, index: u32) -> &mut Cold {
        &mut self.cold[index as usize]
    }

    #[inline]
    pub(crate) fn get(&self, index: u32) -> Option<&Slot> {
        self.slots.get(index as usize)
    }

    /// The living task of this word.
    #[inline]
    pub(crate) fn live(&self, word: u64) -> Option<&Slot> {
        self.get(unpack(word).1).filter(|slot| slot.word == word && slot.is_alive())
    }

    /// The slots of all live tasks, in slot order.
    pub(crate) fn living(&self) -> impl Iterator<Item = (u32, &Slot)> {
        let used = self.slots[..self.used].iter().enumerate();
        used.filter(|(_, slot)| slot.is_alive()).map(|(index, slot)| (index as u32, slot))
    }

    pub(crate) fn alive(&self) -> u32 {
        self.alive
    }

    /// The next ordinal of `key` among what the task of `index` makes.
    #[inline]
    pub(crate) fn ordinal(&mut self, index: u32, key: u64) -> u32 {
        self.cold[index as usize].ordinals.next(key)
    }

    /// The tag of the task in this slot; nobody's, where there is no slot.
    #[inline]
    pub(crate) fn tag(&self, index: u32) -> TaskTag {
        match (self.get(index), self.cold.get(index as usize)) {
            (Some(slot), Some(cold)) => {
                TaskTag { word: slot.word, number: slot.number, name: cold.name }
            }
            _ => TaskTag::NOBODY,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinals_count_by_place() {
        let mut ordinals = Ordinals::default();
        let seen: Vec<u32> = [1, 2, 1, 1, 2].iter().map(|key| ordinals.next(*key)).collect();
        assert_eq!(seen, [0, 0, 1, 2, 1]);
        ordinals.clear();
        assert_eq!(ordinals.next(1), 0);
    }

    #[test]
    fn a_used_up_slot_retires() {
        let mut tasks = Tasks::default();
        let spawn = Spawn {
            site: Location::caller(),
            type_name: "t",
            name: 0,
            node: NodeId::NONE,
            group: GroupId::ROOT,
            main: false,
            free: false,
        };
        let begin = Begin { sig: 1, history: 1, stops: false };
        let first = tasks.enroll(&spawn, 0, begin);
        tasks.slots[first as usize].word = pack(0, GENERATION_MAX - 1, first);
        tasks.finish(first);
        assert_ne!(tasks.enroll(&spawn, 0, begin), first);
        assert_eq!((tasks.alive(), tasks.spawned), (1, 2));
    }
}
