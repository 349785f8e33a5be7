//! What is on its way.
//!
//! Owns: the queue of arrivals and a numbered slot for each message. Does not own: payloads, which
//! the caller keeps under the same number. Invariants: arrivals come in the order of their
//! deadlines, which is total; a slot is free, or in the queue, or held by the caller.

use detsim_executor::{Deadline, NodeId};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::link::Passage;

/// A message on its way, without what it says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flight {
    /// The how manieth message of the network.
    pub(crate) message: u64,
    /// Everything that happened before it was sent.
    pub(crate) history: u64,
    /// The link's place in the wire.
    pub(crate) link: u32,
    pub(crate) passage: Passage,
    pub(crate) from: NodeId,
    pub(crate) to: NodeId,
}

#[derive(Debug)]
struct Arrival {
    deadline: Deadline,
    slot: u32,
}

/// The queue and its slots.
#[derive(Debug, Default)]
pub(crate) struct Flights {
    arrivals: BinaryHeap<Arrival>,
    slots: Vec<Flight>,
    free: Vec<u32>,
}

impl Flights {
    /// Finds a slot for a flight, not yet in the queue.
    #[inline]
    pub(crate) fn add(&mut self, flight: Flight) -> u32 {
        match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = flight;
                slot
            }
            None => {
                self.slots.push(flight);
                self.slots.len() as u32 - 1
            }
        }
    }

    /// Puts a slot into the queue; true where it is now the first.
    #[inline]
    pub(crate) fn schedule(&mut self, slot: u32, deadline: Deadline) -> bool {
        let is_first = self.first().is_none_or(|first| deadline < first);
        self.arrivals.push(Arrival { deadline, slot });
        is_first
    }

    /// When the next one arrives.
    #[inline]
    pub(crate) fn first(&self) -> Option<Deadline> {
        self.arrivals.peek().map(|arrival| arrival.deadline)
    }

    /// Takes the next one out of the queue; it keeps its slot.
    #[inline]
    pub(crate) fn arrive(&mut self) -> Option<u32> {
        self.arrivals.pop().map(|arrival| arrival.slot)
    }

    /// What is in a slot.
    #[inline]
    pub(crate) fn flight(&self, slot: u32) -> Flight {
        self.slots[slot as usize]
    }

    /// Gives a slot back.
    #[inline]
    pub(crate) fn free(&mut self, slot: u32) {
        self.free.push(slot);
    }
}

// `BinaryHeap` gives the greatest: the earliest arrival is the greatest.
impl Ord for Arrival {
    fn cmp(&self, other: &Self) -> Ordering {
        other.deadline.cmp(&self.deadline)
    }
}

impl PartialOrd for Arrival {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Arrival {
    fn eq(&self, other: &Self) -> bool {
        self.deadline == other.deadline
    }
}

impl Eq for Arrival {}

#[cfg(test)]
mod tests {
    use super::*;
    use detsim_executor::{SimTime, Stream};

    fn flight(message: u64) -> Flight {
        let passage = Passage { ordinal: 0, is_copy: false };
        let (from, to) = (NodeId(1), NodeId(2));
        Flight { message, history: 0, link: 0, passage, from, to }
    }

    #[test]
    fn arrivals_come_in_total_order_and_slots_are_used_again() {
        let (mut flights, mut stream) = (Flights::default(), Stream::new(1));
        let (mut seq, mut last) = (0, 0);
        for _ in 0..100_000 {
            while flights.arrivals.len() < 16 {
                seq += 1;
                let at = last + stream.below(5);
                let deadline = Deadline { at: SimTime::from_nanos(at), seq };
                let slot = flights.add(flight(at));
                let is_first = flights.first().is_none_or(|first| deadline < first);
                assert_eq!(flights.schedule(slot, deadline), is_first);
            }
            let first = flights.first().unwrap();
            let slot = flights.arrive().unwrap();
            assert_eq!(flights.flight(slot).message, first.at.as_nanos());
            assert!(first.at.as_nanos() >= last && flights.first().unwrap() > first);
            last = first.at.as_nanos();
            flights.free(slot);
        }
        assert_eq!(flights.slots.len(), 16);
    }
}
