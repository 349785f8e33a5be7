//! Timers: an indexed heap of four children, ordered by (deadline, sequence), cancelled in place. What goes
//! down in it does so without a branch that depends on the deadlines: none could be predicted.
//!
//! Owns: what is due and when. Does not own: the clock, or what firing means. Invariants: the
//! order is total, so equal deadlines fire in the order they were armed; a cancelled timer leaves
//! no entry behind; a key is used once (its generation moves on), so a stale key cancels nothing.

use std::{hint, mem};

/// What a timer does when it fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Wakes the task of this packed waker.
    Wake(u64),
    /// Wakes the foreign waker in this slot.
    Foreign(u32),
    /// Runs the callback in this slot.
    Call(u32),
}

/// A moment in the total order of events: equal instants go by sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deadline {
    /// When.
    pub at: crate::SimTime,
    /// Which of those at the same instant: a number from [`crate::Sim::next_seq`].
    pub seq: u64,
}

impl Deadline {
    /// The order in one word: compared without a branch.
    #[inline]
    pub fn order(self) -> u128 {
        u128::from(self.at.as_nanos()) << 64 | u128::from(self.seq)
    }
}

/// Names an armed timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimerKey {
    index: u32,
    generation: u32,
}

/// A deadline and the index of its timer in one word, in the order of the deadlines: compared without a
/// branch, and moved as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry(u128);

impl Entry {
    const INDEX_BITS: u32 = 24;
    /// After all others, and of a timer that is none: fills the last level of the heap.
    const NONE: Self = Self(u128::MAX << Self::INDEX_BITS);
    const SEQ_BITS: u32 = 64 - Self::INDEX_BITS;

    #[inline]
    fn new(deadline: Deadline, index: u32) -> Self {
        let Deadline { at, seq } = deadline;
        assert!(
            seq >> Self::SEQ_BITS == 0,
            "detsim: more than 2^40 timers and deliveries in a run"
        );
        let low = seq << Self::INDEX_BITS | u64::from(index);
        Self(u128::from(at.as_nanos()) << 64 | u128::from(low))
    }

    #[inline]
    fn deadline(self) -> Deadline {
        let at = crate::SimTime::from_nanos((self.0 >> 64) as u64);
        Deadline { at, seq: self.0 as u64 >> Self::INDEX_BITS }
    }

    #[inline]
    fn index(self) -> usize {
        self.0 as usize & ((1 << Self::INDEX_BITS) - 1)
    }
}

/// Of a place in the heap.
const CHILDREN: usize = 4;

#[derive(Clone, Copy, Debug)]
struct Armed {
    /// Place in the heap, where armed.
    place: u32,
    generation: u32,
    action: Action,
}

impl Armed {
    const NEW: Self = Self { place: 0, generation: 0, action: Action::Call(0) };
}

/// The heap.
///
/// # Invariants
/// `armed[heap[i].index].place == i` for every `i < len`; every parent is before its children. Where the root
/// is vacant, the first is its least child: what was there has fired, and nothing has taken its place.
/// All levels are full, with [`Entry::NONE`] from `len` on, whose timer is `armed[0]`.
#[derive(Debug)]
pub(crate) struct Timers {
    heap: Vec<Entry>,
    len: usize,
    vacant_root: bool,
    armed: Vec<Armed>,
    free: Vec<u32>,
}

impl Default for Timers {
    fn default() -> Self {
        let (heap, armed) = (vec![Entry::NONE], vec![Armed::NEW]);
        Self { heap, len: 0, vacant_root: false, armed, free: Vec::new() }
    }
}

impl Timers {
    /// Arms a timer.
    pub(crate) fn arm(&mut self, deadline: Deadline, action: Action) -> TimerKey {
        let index = self.free.pop().unwrap_or_else(|| self.new_index());
        let armed = &mut self.armed[index as usize];
        armed.action = action;
        let generation = armed.generation;
        let entry = Entry::new(deadline, index);
        if self.vacant_root {
            self.vacant_root = false;
            self.sink(0, entry);
        } else {
            if self.len == self.heap.len() {
                self.add_level();
            }
            self.len += 1;
            self.rise(self.len - 1, entry);
        }
        TimerKey { index, generation }
    }

    #[cold]
    #[inline(never)]
    fn add_level(&mut self) {
        self.heap.resize(CHILDREN * self.heap.len() + 1, Entry::NONE);
    }

    #[cold]
    #[inline(never)]
    fn new_index(&mut self) -> u32 {
        assert!(self.armed.len() < 1 << Entry::INDEX_BITS, "detsim: more than 2^24 timers at once");
        self.armed.push(Armed::NEW);
        self.armed.len() as u32 - 1
    }

    /// Disarms: the action that will not happen; nothing where the timer has fired or was cancelled before.
    pub(crate) fn cancel(&mut self, key: TimerKey) -> Option<Action> {
        let armed = self.armed.get(key.index as usize)?;
        if armed.generation != key.generation {
            return None;
        }
        let action = armed.action;
        self.fill_root();
        let index = key.index as usize;
        self.take_out(self.armed[index].place as usize);
        self.disarm(index);
        Some(action)
    }

    /// Moves an armed timer to wake another task; false where it is no longer armed.
    pub(crate) fn retarget(&mut self, key: TimerKey, action: Action) -> bool {
        match self.armed.get_mut(key.index as usize) {
            Some(armed) if armed.generation == key.generation => {
                armed.action = action;
                true
            }
            _ => false,
        }
    }

    /// The earliest.
    #[inline]
    fn earliest(&self) -> Option<Entry> {
        let first = match self.vacant_root {
            true => self.least_child(0)?.1,
            false => self.heap[0],
        };
        (first != Entry::NONE).then_some(first)
    }

    /// The earliest deadline.
    #[inline]
    pub(crate) fn next(&self) -> Option<Deadline> {
        self.earliest().map(Entry::deadline)
    }

    /// The deadline of one that is armed, whichever `pick` falls on.
    pub(crate) fn armed(&self, pick: u64) -> Option<Deadline> {
        let heap = self.heap.get(usize::from(self.vacant_root)..self.len)?;
        let at = pick.checked_rem(heap.len() as u64)?;
        heap.get(at as usize).map(|entry| entry.deadline())
    }

    /// All of them, by their numbers.
    pub(crate) fn all(&self) -> Vec<(TimerKey, Action)> {
        let heap = self.heap.get(usize::from(self.vacant_root)..self.len).unwrap_or_default();
        let mut indices: Vec<usize> = heap.iter().map(|entry| entry.index()).collect();
        indices.sort_unstable();
        let named = |index: usize| {
            let Armed { generation, action, .. } = self.armed[index];
            (TimerKey { index: index as u32, generation }, action)
        };
        indices.into_iter().map(named).collect()
    }

    /// What the earliest timer does.
    #[inline]
    pub(crate) fn first(&self) -> Option<Action> {
        self.earliest().map(|first| self.armed[first.index()].action)
    }

    /// Takes the earliest timer. Its place stays vacant, since most timers are followed by another.
    pub(crate) fn pop(&mut self) -> Option<Action> {
        self.fill_root();
        if self.len == 0 {
            return None;
        }
        let first = self.heap[0].index();
        self.vacant_root = true;
        self.disarm(first);
        Some(self.armed[first].action)
    }

    /// How many are armed.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.len - usize::from(self.vacant_root)
    }

    /// Disarms all.
    pub(crate) fn clear(&mut self) {
        self.heap.clear();
        self.heap.push(Entry::NONE);
        (self.len, self.vacant_root) = (0, false);
        self.armed.truncate(1);
        self.free.clear();
    }

    fn disarm(&mut self, index: usize) {
        self.armed[index].generation += 1;
        self.free.push(index as u32);
    }

    /// The last entry takes the vacant root.
    #[inline]
    fn fill_root(&mut self) {
        if mem::take(&mut self.vacant_root) {
            self.take_out(0);
        }
    }

    /// The last entry takes a place, whose own is gone.
    fn take_out(&mut self, place: usize) {
        self.len -= 1;
        let last = mem::replace(&mut self.heap[self.len], Entry::NONE);
        if place == self.len {
            return;
        }
        match place > 0 && last < self.heap[(place - 1) / CHILDREN] {
            true => self.rise(place, last),
            false => self.sink(place, last),
        }
    }

    /// Puts an entry at a place, or above it where it is before its parents.
    #[inline]
    fn rise(&mut self, mut place: usize, entry: Entry) {
        while place > 0 {
            let parent = (place - 1) / CHILDREN;
            if self.heap[parent] <= entry {
                break;
            }
            self.put(place, self.heap[parent]);
            place = parent;
        }
        self.put(place, entry);
    }

    /// Puts an entry at the vacant place `hole`, or below it where that is after its children. Goes down to a
    /// leaf by the least children, which are in order; those before the entry go up by a place, the others
    /// are put where they are.
    fn sink(&mut self, mut hole: usize, entry: Entry) {
        let (mut is_placed, mut known) = (false, entry);
        while let Some((child, least)) = self.least_child(hole) {
            let is_before = least < entry;
            let here = hint::select_unpredictable(is_placed, known, entry);
            self.put(hole, hint::select_unpredictable(is_before, least, here));
            (is_placed, known, hole) = (!is_before, least, child);
        }
        self.put(hole, hint::select_unpredictable(is_placed, known, entry));
    }

    /// The place of the earliest among the children of a place, and what is there; `None` at a leaf.
    #[inline]
    fn least_child(&self, place: usize) -> Option<(usize, Entry)> {
        let first = CHILDREN * place + 1;
        let [a, b, c, d] = *self.heap.get(first..)?.first_chunk::<CHILDREN>()?;
        let (left, right) = (usize::from(b < a), 2 + usize::from(d < c));
        let (least_left, least_right) = (a.min(b), c.min(d));
        let is_right = least_right < least_left;
        let least = hint::select_unpredictable(is_right, least_right, least_left);
        Some((first + hint::select_unpredictable(is_right, right, left), least))
    }

    #[inline]
    fn put(&mut self, place: usize, entry: Entry) {
        self.heap[place] = entry;
        self.armed[entry.index()].place = place as u32;
    }

    #[cfg(test)]
    fn assert_invariants(&self) {
        let vacant = usize::from(self.vacant_root);
        assert!(self.heap[self.len..].iter().all(|entry| *entry == Entry::NONE));
        for (place, entry) in self.heap[..self.len].iter().enumerate().skip(vacant) {
            assert_eq!(self.armed[entry.index()].place as usize, place);
            let parent = place.saturating_sub(1) / CHILDREN;
            assert!(place == 0 || parent < vacant || self.heap[parent] < *entry);
        }
        assert_eq!(self.len() + self.free.len() + 1, self.armed.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SimTime, Stream};
    use std::collections::BTreeMap;

    fn deadline(at: u64, seq: u64) -> Deadline {
        Deadline { at: SimTime::from_nanos(at), seq }
    }

    #[test]
    fn agrees_with_an_ordered_map() {
        let mut stream = Stream::new(1);
        let (mut timers, mut model) = (Timers::default(), BTreeMap::new());
        let mut keys = Vec::new();
        for seq in 0..20_000 {
            match stream.below(5) {
                0..=2 => {
                    let d = deadline(stream.below(500), seq);
                    keys.push((timers.arm(d, Action::Wake(seq)), d));
                    model.insert(d, Action::Wake(seq));
                }
                3 => assert_eq!(timers.pop(), model.pop_first().map(|e| e.1)),
                _ if !keys.is_empty() => {
                    let (key, d) = keys.swap_remove(stream.below(keys.len() as u64) as usize);
                    assert_eq!(timers.cancel(key), model.remove(&d));
                }
                _ => {}
            }
            assert_eq!(timers.next(), model.keys().next().copied());
        }
        timers.assert_invariants();
    }

    #[test]
    fn a_stale_key_cancels_nothing() {
        let mut timers = Timers::default();
        let old = timers.arm(deadline(5, 0), Action::Wake(1));
        assert_eq!(timers.pop(), Some(Action::Wake(1)));
        let new = timers.arm(deadline(6, 1), Action::Wake(2));
        assert_eq!(timers.cancel(old), None);
        assert!(!timers.retarget(old, Action::Wake(9)));
        assert!(timers.retarget(new, Action::Wake(3)));
        assert_eq!(timers.pop(), Some(Action::Wake(3)));
        assert_eq!(timers.len(), 0);
    }

    #[test]
    fn a_million_cancelled_timers_leave_nothing() {
        let mut timers = Timers::default();
        for seq in 0..1_000_000 {
            let key = timers.arm(deadline(u64::MAX, seq), Action::Call(0));
            timers.cancel(key);
        }
        assert_eq!((timers.heap.capacity() < 64, timers.armed.len()), (true, 2));
    }
}
