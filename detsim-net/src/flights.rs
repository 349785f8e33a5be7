//! What is on its way.
//!
//! Owns: the queue of arrivals and a numbered slot for each message. Does not own: payloads, which
//! the caller keeps under the same number. Invariants: arrivals come in the order of their
//! deadlines, which is total; a slot is free, or in the queue, or held by the caller.

use detsim_executor::{Deadline, NodeId, SimTime};

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

/// A deadline and a slot in one number, so that a comparison of two is one of numbers: the moment,
/// the sequence, the slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Arrival(u128);

const SLOT_BITS: u32 = 24;
const SLOT_MASK: u64 = (1 << SLOT_BITS) - 1;

impl Arrival {
    #[inline]
    fn new(deadline: Deadline, slot: u32) -> Self {
        let low = deadline.seq << SLOT_BITS | u64::from(slot);
        Self(u128::from(deadline.at.as_nanos()) << 64 | u128::from(low))
    }

    #[inline]
    fn deadline(self) -> Deadline {
        let at = SimTime::from_nanos((self.0 >> 64) as u64);
        Deadline { at, seq: self.0 as u64 >> SLOT_BITS }
    }

    #[inline]
    fn slot(self) -> u32 {
        (self.0 as u64 & SLOT_MASK) as u32
    }
}

/// The queue and its slots.
///
/// # Invariants
/// `arrivals` is a binary heap: every arrival is before its two children.
#[derive(Debug, Default)]
pub(crate) struct Flights {
    arrivals: Vec<Arrival>,
    slots: Vec<Flight>,
    free: Vec<u32>,
}

impl Flights {
    /// Finds a slot for a flight, not yet in the queue.
    ///
    /// # Panics
    /// Where 16,777,216 messages are on their way.
    #[inline]
    pub(crate) fn add(&mut self, flight: Flight) -> u32 {
        match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = flight;
                slot
            }
            None => self.add_slot(flight),
        }
    }

    #[cold]
    fn add_slot(&mut self, flight: Flight) -> u32 {
        let slot = self.slots.len() as u64;
        assert!(slot <= SLOT_MASK, "detsim: more than {slot} messages are on their way");
        self.slots.push(flight);
        slot as u32
    }

    /// Puts a slot into the queue; true where it is now the first.
    #[inline]
    pub(crate) fn schedule(&mut self, slot: u32, deadline: Deadline) -> bool {
        let (arrival, mut place) = (Arrival::new(deadline, slot), self.arrivals.len());
        self.arrivals.push(arrival);
        while place > 0 {
            let parent = (place - 1) / 2;
            let above = self.arrivals[parent];
            if above < arrival {
                break;
            }
            self.arrivals[place] = above;
            place = parent;
        }
        self.arrivals[place] = arrival;
        place == 0
    }

    /// When the next one arrives.
    #[inline]
    pub(crate) fn first(&self) -> Option<Deadline> {
        self.arrivals.first().map(|arrival| arrival.deadline())
    }

    /// Takes the next one out of the queue; it keeps its slot.
    #[inline]
    pub(crate) fn arrive(&mut self) -> Option<u32> {
        let last = self.arrivals.pop()?;
        let Some(first) = self.arrivals.first().copied() else { return Some(last.slot()) };
        self.sink(last);
        Some(first.slot())
    }

    /// Puts an arrival in the place of the first.
    #[inline]
    fn sink(&mut self, arrival: Arrival) {
        let heap = &mut self.arrivals[..];
        let mut place = 0;
        loop {
            let mut child = 2 * place + 1;
            if child >= heap.len() {
                break;
            }
            if child + 1 < heap.len() && heap[child + 1] < heap[child] {
                child += 1;
            }
            if arrival < heap[child] {
                break;
            }
            heap[place] = heap[child];
            place = child;
        }
        heap[place] = arrival;
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

#[cfg(test)]
mod tests {
    use super::*;
    use detsim_executor::Stream;

    fn flight(message: u64) -> Flight {
        let passage = Passage { ordinal: 0, is_copy: false };
        let (from, to) = (NodeId(1), NodeId(2));
        Flight { message, history: 0, link: 0, passage, from, to }
    }

    #[test]
    fn arrivals_come_in_total_order_and_slots_are_used_again() {
        let (mut flights, mut stream) = (Flights::default(), Stream::new(1));
        let (mut seq, mut last) = (0, 0);
        for round in 0..100_000 {
            while flights.arrivals.len() < 2 + round % 15 {
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
