//! Timers: an indexed binary heap, ordered by (deadline, sequence), cancelled in place.
//!
//! Owns: what is due and when. Does not own: the clock, or what firing means. Invariants: the
//! order is total, so equal deadlines fire in the order they were armed; a cancelled timer leaves
//! no entry behind; a key is used once (its generation moves on), so a stale key cancels nothing.

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

#[derive(Clone, Copy, Debug)]
struct Entry {
    deadline: Deadline,
    index: u32,
}

#[derive(Clone, Copy, Debug)]
struct Armed {
    /// Place in the heap, where armed.
    place: u32,
    generation: u32,
    action: Action,
}

/// The heap.
///
/// # Invariants
/// `armed[heap[i].index].place == i` for every `i`; every parent is before its children.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    heap: Vec<Entry>,
    armed: Vec<Armed>,
    free: Vec<u32>,
}

impl Timers {
    /// Arms a timer.
    pub(crate) fn arm(&mut self, deadline: Deadline, action: Action) -> TimerKey {
        let place = self.heap.len() as u32;
        let index = match self.free.pop() {
            Some(index) => {
                let armed = &mut self.armed[index as usize];
                armed.action = action;
                index
            }
            None => {
                self.armed.push(Armed { place, generation: 0, action });
                self.armed.len() as u32 - 1
            }
        };
        let entry = Entry { deadline, index };
        self.heap.push(entry);
        self.rise(place as usize, entry);
        TimerKey { index, generation: self.armed[index as usize].generation }
    }

    /// Disarms: the action that will not happen; nothing where the timer has fired or was cancelled before.
    pub(crate) fn cancel(&mut self, key: TimerKey) -> Option<Action> {
        let armed = self.armed.get(key.index as usize)?;
        if armed.generation != key.generation {
            return None;
        }
        let (place, action) = (armed.place as usize, armed.action);
        self.remove(place);
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

    /// The earliest deadline.
    #[inline]
    pub(crate) fn next(&self) -> Option<Deadline> {
        self.heap.first().map(|entry| entry.deadline)
    }

    /// The deadline of one that is armed, whichever `pick` falls on.
    pub(crate) fn armed(&self, pick: u64) -> Option<Deadline> {
        let at = pick.checked_rem(self.heap.len() as u64)?;
        self.heap.get(at as usize).map(|entry| entry.deadline)
    }

    /// What the earliest timer does.
    #[inline]
    pub(crate) fn first(&self) -> Option<Action> {
        self.heap.first().map(|first| self.armed[first.index as usize].action)
    }

    /// Takes the earliest timer.
    pub(crate) fn pop(&mut self) -> Option<Action> {
        let action = self.first()?;
        self.remove(0);
        Some(action)
    }

    /// How many are armed.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.heap.len()
    }

    /// Disarms all.
    pub(crate) fn clear(&mut self) {
        self.heap.clear();
        self.armed.clear();
        self.free.clear();
    }

    fn remove(&mut self, place: usize) {
        let gone = self.heap[place].index;
        let last = self.heap.pop().expect("invariant: a place is inside the heap");
        if place < self.heap.len() {
            self.sink(place, last);
        }
        self.armed[gone as usize].generation += 1;
        self.free.push(gone);
    }

    /// Puts an entry at a place, or above it where it is before its parents.
    #[inline]
    fn rise(&mut self, mut place: usize, entry: Entry) {
        while place > 0 {
            let parent = (place - 1) / 2;
            if self.heap[parent].deadline.order() <= entry.deadline.order() {
                break;
            }
            self.put(place, self.heap[parent]);
            place = parent;
        }
        self.put(place, entry);
    }

    /// Fills the vacant place `hole` with an entry from the end of the heap. Bottom-up: walks the
    /// smaller children down to a leaf, then lets the entry rise to its place, which is nearly always
    /// near a leaf.
    fn sink(&mut self, mut hole: usize, entry: Entry) {
        while let Some([left, right]) = self.heap.get(2 * hole + 1..2 * hole + 3) {
            // Which child is the smaller one cannot be predicted: no branch asks.
            let is_right = right.deadline.order() < left.deadline.order();
            let child = 2 * hole + 1 + usize::from(is_right);
            self.put(hole, self.heap[child]);
            hole = child;
        }
        if let Some(only) = self.heap.get(2 * hole + 1) {
            self.put(hole, *only);
            hole = 2 * hole + 1;
        }
        self.rise(hole, entry);
    }

    #[inline]
    fn put(&mut self, place: usize, entry: Entry) {
        self.heap[place] = entry;
        self.armed[entry.index as usize].place = place as u32;
    }

    #[cfg(test)]
    fn assert_invariants(&self) {
        for (place, entry) in self.heap.iter().enumerate() {
            assert_eq!(self.armed[entry.index as usize].place as usize, place);
            assert!(place == 0 || self.heap[(place - 1) / 2].deadline < entry.deadline);
        }
        assert_eq!(self.heap.len() + self.free.len(), self.armed.len());
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
        assert_eq!((timers.heap.capacity() < 64, timers.armed.len()), (true, 1));
    }
}
