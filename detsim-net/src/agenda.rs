//! What is still to happen on the network.
//!
//! Owns: the queue of events of sockets, in their total order. Does not own: what an event does, or
//! whether it still matters (`sockets.rs` drops those that do not before it says when the next is due,
//! so that nothing of the past moves the clock).
//!
//! # Invariants
//! - `near` is sorted, the earliest last, and is empty only where `far` is: most runs have few packets on
//!   their way, and for them it is the whole queue.
//! - Nothing in `far` is earlier than anything in `near`.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use detsim_executor::Deadline;

/// Events in their order.
#[derive(Debug)]
pub(crate) struct Agenda<E> {
    near: Vec<Entry>,
    far: BinaryHeap<Entry>,
    /// What the entries are about, by place.
    events: Vec<E>,
    free: Vec<u32>,
    /// Whether the earliest event that matters may be another than before.
    changed: bool,
    /// Whether one of them may not matter any more.
    doubtful: bool,
}

/// When an event is due, and its place.
#[derive(Clone, Copy, Debug)]
struct Entry {
    deadline: Deadline,
    place: u32,
}

/// How many events are kept sorted; where there are more, half of these go to the heap.
const NEAR_MAX: usize = 32;

impl<E: Copy> Agenda<E> {
    /// One more event.
    #[inline(always)]
    pub(crate) fn push(&mut self, deadline: Deadline, event: E) {
        // The event is written where it stays, part by part, where the caller has made it.
        let place = match self.free.pop() {
            Some(place) => {
                self.events[place as usize] = event;
                place
            }
            None => {
                self.events.push(event);
                self.events.len() as u32 - 1
            }
        };
        self.insert(Entry { deadline, place });
    }

    fn insert(&mut self, entry: Entry) {
        let order = entry.deadline.order();
        self.changed |= self.near.last().is_none_or(|first| order < first.deadline.order());
        if !self.far.is_empty() && order > self.near[0].deadline.order() {
            return self.far.push(entry);
        }
        self.insert_near(entry);
        if self.near.len() > NEAR_MAX {
            self.far.extend(self.near.drain(..NEAR_MAX / 2));
        }
    }

    #[inline]
    fn insert_near(&mut self, entry: Entry) {
        let (order, len) = (entry.deadline.order(), self.near.len());
        let later = self.near.iter().take_while(|other| other.deadline.order() > order).count();
        self.near.push(entry);
        if later < len {
            self.near.copy_within(later..len, later + 1);
            self.near[later] = entry;
        }
    }

    /// The earliest event.
    #[inline]
    pub(crate) fn first(&self) -> Option<(Deadline, E)> {
        self.near.last().map(|entry| (entry.deadline, self.events[entry.place as usize]))
    }

    /// When the earliest event is due.
    #[inline]
    pub(crate) fn first_deadline(&self) -> Option<Deadline> {
        self.near.last().map(|entry| entry.deadline)
    }

    /// Takes the earliest event.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<E> {
        self.changed = true;
        let Entry { place, .. } = self.near.pop()?;
        self.free.push(place);
        if self.near.is_empty() {
            self.refill();
        }
        Some(self.events[place as usize])
    }

    /// What was far is near.
    fn refill(&mut self) {
        let next = std::iter::from_fn(|| self.far.pop());
        self.near.extend(next.take(NEAR_MAX / 2));
        self.near.reverse();
        self.doubtful &= !self.near.is_empty();
    }
}

impl<E> Agenda<E> {
    /// An event may not matter any more, now or later.
    #[inline]
    pub(crate) fn touch(&mut self) {
        (self.changed, self.doubtful) = (true, true);
    }

    /// Whether the earliest event may be one that does not matter.
    #[inline]
    pub(crate) fn is_doubtful(&self) -> bool {
        self.doubtful
    }

    /// Whether the earliest event may be another than the last time that this was taken.
    #[inline]
    pub(crate) fn is_changed(&self) -> bool {
        self.changed
    }

    /// As [`Self::is_changed`]; it has not, from now on.
    #[inline]
    pub(crate) fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }
}

impl<E> Default for Agenda<E> {
    fn default() -> Self {
        Self {
            near: Vec::new(),
            far: BinaryHeap::new(),
            events: Vec::new(),
            free: Vec::new(),
            changed: false,
            doubtful: false,
        }
    }
}

impl Ord for Entry {
    /// Reversed: the heap has its greatest on top.
    fn cmp(&self, other: &Self) -> Ordering {
        other.deadline.order().cmp(&self.deadline.order())
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.deadline == other.deadline
    }
}

impl Eq for Entry {}

#[cfg(test)]
mod tests {
    use super::*;
    use detsim_executor::SimTime;

    #[test]
    fn events_come_by_moment_and_sequence() {
        let mut agenda = Agenda::default();
        for (at, seq) in [(5, 2), (3, 9), (5, 1), (4, 0)] {
            agenda.push(Deadline { at: SimTime::from_nanos(at), seq }, (at, seq));
        }
        let order: Vec<_> = std::iter::from_fn(|| agenda.pop()).collect();
        assert_eq!(order, [(3, 9), (4, 0), (5, 1), (5, 2)]);
    }

    #[test]
    fn many_events_come_in_their_order_however_they_are_mixed() {
        let (mut stream, mut agenda) = (detsim_executor::Stream::new(3), Agenda::default());
        let (mut model, mut seq) = (std::collections::BTreeSet::new(), 0);
        for round in 0..20_000 {
            // It grows over the bound, and is emptied, again and again.
            let grows = round % 1_000 < 500;
            if stream.below(10) < if grows { 7 } else { 2 } {
                seq += 1;
                let at = SimTime::from_nanos(stream.below(300));
                agenda.push(Deadline { at, seq }, seq);
                model.insert((at, seq));
            } else {
                let next = model.pop_first().map(|(_, seq)| seq);
                assert_eq!(agenda.pop(), next);
            }
            let first = model.first().map(|(_, seq)| *seq);
            assert_eq!(agenda.first().map(|(_, event)| event), first);
        }
    }

    #[test]
    fn it_has_changed_where_another_is_first() {
        let mut agenda = Agenda::default();
        let mut push = |at| {
            agenda.push(Deadline { at: SimTime::from_nanos(at), seq: at }, ());
            agenda.take_changed()
        };
        assert_eq!([5, 7, 3, 4].map(&mut push), [true, false, true, false]);
        agenda.pop();
        assert!(agenda.take_changed() && !agenda.is_doubtful());
        agenda.touch();
        assert!(agenda.is_changed() && agenda.is_doubtful());
    }
}
