//! What is still to happen on the network.
//!
//! Owns: the queue of events of sockets, in their total order. Does not own: what an event does, or
//! whether it still matters (`sockets.rs` drops those that do not before it says when the next is due,
//! so that nothing of the past moves the clock).
//!
//! # Invariants
//! - `near` is empty only where `far` is: most runs have few packets on their way, and for them it is the
//!   whole queue. Nothing in `far` is earlier than anything in `near`.

mod near;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use detsim_executor::{Deadline, SimTime};

use self::near::Near;

/// Events in their order.
#[derive(Debug)]
pub(crate) struct Agenda<E> {
    near: Near<E>,
    far: BinaryHeap<Reverse<Entry>>,
    /// What those that are far are about, by place.
    events: Vec<Option<E>>,
    free: Vec<u32>,
    /// Whether the earliest event that matters may be another than before.
    changed: bool,
    /// Whether one of them may not matter any more.
    doubtful: bool,
}

/// When an event is due, and its place, in one number: the moment, the sequence, the place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry(u128);

const PLACE_BITS: u32 = 24;
const PLACE_MASK: u64 = (1 << PLACE_BITS) - 1;

impl Entry {
    #[inline(always)]
    fn new(deadline: Deadline, place: u32) -> Self {
        let low = deadline.seq << PLACE_BITS | u64::from(place);
        Self(u128::from(deadline.at.as_nanos()) << 64 | u128::from(low))
    }

    #[inline]
    fn deadline(self) -> Deadline {
        let at = SimTime::from_nanos((self.0 >> 64) as u64);
        Deadline { at, seq: self.0 as u64 >> PLACE_BITS }
    }

    #[inline]
    fn place(self) -> u32 {
        (self.0 as u64 & PLACE_MASK) as u32
    }
}

impl<E: Copy> Agenda<E> {
    /// One more event.
    ///
    /// # Panics
    /// Where there are 16,777,216 of them.
    #[inline(always)]
    pub(crate) fn push(&mut self, deadline: Deadline, event: E) {
        match self.far.is_empty() && !self.near.is_full() {
            true => self.changed |= self.near.push(deadline, event),
            false => self.push_to_many(deadline, event),
        }
    }

    /// As [`Self::push`], where there are many.
    #[inline(never)]
    fn push_to_many(&mut self, deadline: Deadline, event: E) {
        if self.is_far(deadline) {
            return self.push_far(deadline, event);
        }
        if self.near.is_full() {
            let Self { near, far, events, free, .. } = self;
            near.drain_later(|later, event| far.push(Reverse(entry(events, free, later, event))));
        }
        // What went just now may be earlier.
        match self.is_far(deadline) {
            true => self.push_far(deadline, event),
            false => self.changed |= self.near.push(deadline, event),
        }
    }

    /// Does something that is far come before?
    #[inline]
    fn is_far(&self, deadline: Deadline) -> bool {
        self.far.peek().is_some_and(|Reverse(far)| *far < Entry::new(deadline, 0))
    }

    #[inline]
    fn push_far(&mut self, deadline: Deadline, event: E) {
        let entry = entry(&mut self.events, &mut self.free, deadline, event);
        self.far.push(Reverse(entry));
    }

    /// The earliest event.
    #[inline]
    pub(crate) fn first(&self) -> Option<(Deadline, E)> {
        Some((self.near.first_deadline()?, *self.near.first()?))
    }

    /// What the earliest event is about.
    #[inline]
    pub(crate) fn peek(&self) -> Option<&E> {
        self.near.first()
    }

    /// When the earliest event is due.
    #[inline]
    pub(crate) fn first_deadline(&self) -> Option<Deadline> {
        self.near.first_deadline()
    }

    /// Takes the earliest event.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<E> {
        let event = *self.peek()?;
        self.drop_first();
        Some(event)
    }

    /// Takes the earliest event, of which there is one, and forgets it.
    #[inline(always)]
    pub(crate) fn drop_first(&mut self) {
        self.changed = true;
        self.near.drop_first();
        if self.near.is_empty() {
            self.refill();
        }
    }

    /// What was far is near.
    fn refill(&mut self) {
        while !self.near.is_full()
            && let Some(Reverse(entry)) = self.far.pop()
        {
            self.free.push(entry.place());
            if let Some(event) = self.events[entry.place() as usize] {
                self.near.push(entry.deadline(), event);
            }
        }
        self.doubtful &= !self.near.is_empty();
    }
}

/// An event that is far, with a place for what it is about.
fn entry<E>(events: &mut Vec<Option<E>>, free: &mut Vec<u32>, at: Deadline, event: E) -> Entry {
    let place = free.pop().unwrap_or_else(|| {
        let place = events.len() as u64;
        assert!(place <= PLACE_MASK, "detsim: more than {place} events of the network are to come");
        events.push(None);
        place as u32
    });
    events[place as usize] = Some(event);
    Entry::new(at, place)
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
            near: Near::default(),
            far: BinaryHeap::new(),
            events: Vec::new(),
            free: Vec::new(),
            changed: false,
            doubtful: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
