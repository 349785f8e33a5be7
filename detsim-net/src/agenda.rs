//! What is still to happen on the network.
//!
//! Owns: the queue of events of sockets, in their total order. Does not own: what an event does, or
//! whether it still matters (`sockets.rs` drops those that do not before it says when the next is due,
//! so that nothing of the past moves the clock).

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use detsim_executor::Deadline;

/// Events in their order.
#[derive(Debug)]
pub(crate) struct Agenda<E> {
    heap: BinaryHeap<Entry<E>>,
    /// Whether the earliest event that matters may be another than before.
    changed: bool,
}

#[derive(Debug)]
struct Entry<E> {
    deadline: Deadline,
    event: E,
}

impl<E: Copy> Agenda<E> {
    /// One more event.
    #[inline]
    pub(crate) fn push(&mut self, deadline: Deadline, event: E) {
        self.changed = true;
        self.heap.push(Entry { deadline, event });
    }

    /// The earliest event.
    #[inline]
    pub(crate) fn first(&self) -> Option<(Deadline, E)> {
        self.heap.peek().map(|entry| (entry.deadline, entry.event))
    }

    /// Takes the earliest event.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<(Deadline, E)> {
        self.changed = true;
        self.heap.pop().map(|entry| (entry.deadline, entry.event))
    }
}

impl<E> Agenda<E> {
    /// An event may not matter any more.
    #[inline]
    pub(crate) fn touch(&mut self) {
        self.changed = true;
    }

    /// Whether something was put in, taken out or touched since the last time.
    #[inline]
    pub(crate) fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }
}

impl<E> Default for Agenda<E> {
    fn default() -> Self {
        Self { heap: BinaryHeap::new(), changed: false }
    }
}

impl<E> Ord for Entry<E> {
    /// Reversed: the heap has its greatest on top.
    fn cmp(&self, other: &Self) -> Ordering {
        other.deadline.order().cmp(&self.deadline.order())
    }
}

impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.deadline == other.deadline
    }
}

impl<E> Eq for Entry<E> {}

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
        let order: Vec<_> = std::iter::from_fn(|| agenda.pop()).map(|(_, event)| event).collect();
        assert_eq!(order, [(3, 9), (4, 0), (5, 1), (5, 2)]);
    }
}
