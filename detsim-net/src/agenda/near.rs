//! The events that come next, in order.
//!
//! Owns: [`Near`]. Does not own: those beyond them (`agenda.rs`). What comes in between what nobody can
//! guess, and neither can the processor: so an event is put in its place without a branch that depends on it.
//!
//! # Invariants
//! `order` is a permutation of all places, four bits each: first those of the `len` events from the earliest
//! to the latest, then those that are free. A free place is [`LATEST`]; no event has that sequence.

use detsim_executor::{Deadline, SimTime};

/// See the module's documentation.
#[derive(Debug)]
pub(super) struct Near<E> {
    moments: [u64; PLACES],
    sequences: [u64; PLACES],
    events: [Option<E>; PLACES],
    order: u64,
    len: usize,
}

const PLACES: usize = 16;
/// As many as there are places, less one: so no shift is by a whole word.
const MOST: usize = PLACES - 1;
const LATEST: u64 = u64::MAX;

impl<E> Default for Near<E> {
    fn default() -> Self {
        Self {
            moments: [LATEST; PLACES],
            sequences: [LATEST; PLACES],
            events: [const { None }; PLACES],
            order: 0xFEDC_BA98_7654_3210,
            len: 0,
        }
    }
}

impl<E: Copy> Near<E> {
    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline(always)]
    pub(super) fn is_full(&self) -> bool {
        self.len == MOST
    }

    /// When the earliest is due.
    #[inline(always)]
    pub(super) fn first_deadline(&self) -> Option<Deadline> {
        (self.len > 0).then(|| self.deadline(place(self.order)))
    }

    /// The earliest.
    #[inline(always)]
    pub(super) fn first(&self) -> Option<&E> {
        if self.len == 0 {
            return None;
        }
        self.events[place(self.order)].as_ref()
    }

    /// Puts one in, for which there is room. True where it is the earliest now.
    #[inline(always)]
    pub(super) fn push(&mut self, deadline: Deadline, event: E) -> bool {
        let earlier = self.earlier_than(deadline);
        let free = place(self.order >> (4 * self.len));
        self.moments[free] = deadline.at.as_nanos();
        self.sequences[free] = deadline.seq;
        self.events[free] = Some(event);
        // The free place goes to where the event stands, and those from there on move by one.
        let (before, all) = (first(earlier), first(self.len + 1));
        let moved = (self.order & first(self.len) & !before) << 4;
        let own = (free as u64) << (4 * earlier);
        self.order = (self.order & before) | own | moved | (self.order & !all);
        self.len += 1;
        earlier == 0
    }

    /// How many are due before.
    // Out of line the compiler makes no vectors of it: words of 64 bits are compared one by one.
    #[inline(never)]
    fn earlier_than(&self, Deadline { at, seq }: Deadline) -> usize {
        let at = at.as_nanos();
        // A free place is later than whatever has a moment; one without comes down to the sequences.
        let mut earlier = PLACES;
        for other in &self.moments {
            earlier -= usize::from(at < *other);
        }
        while earlier > 0 {
            let last = place(self.order >> (4 * (earlier - 1)));
            if self.moments[last] != at || self.sequences[last] < seq {
                break;
            }
            earlier -= 1;
        }
        earlier
    }

    /// Takes the earliest out, of which there is one.
    #[inline(always)]
    pub(super) fn drop_first(&mut self) {
        let free = place(self.order);
        self.vacate(free);
        let others = (self.order & first(self.len)) >> 4;
        self.len -= 1;
        let own = (free as u64) << (4 * self.len);
        self.order = others | own | (self.order & !first(self.len + 1));
    }

    /// Takes the later half out.
    pub(super) fn drain_later(&mut self, mut take: impl FnMut(Deadline, E)) {
        while self.len > MOST / 2 {
            self.len -= 1;
            let last = place(self.order >> (4 * self.len));
            let (deadline, event) = (self.deadline(last), self.events[last]);
            self.vacate(last);
            event.into_iter().for_each(|event| take(deadline, event));
        }
    }

    #[inline(always)]
    fn vacate(&mut self, place: usize) {
        (self.moments[place], self.sequences[place]) = (LATEST, LATEST);
    }

    #[inline(always)]
    fn deadline(&self, place: usize) -> Deadline {
        let at = SimTime::from_nanos(self.moments[place]);
        Deadline { at, seq: self.sequences[place] }
    }
}

/// The place that comes first in an order.
#[inline(always)]
fn place(order: u64) -> usize {
    (order & 15) as usize
}

/// The bits of the first places of an order, which are not all.
#[inline(always)]
fn first(places: usize) -> u64 {
    (1 << (4 * places)) - 1
}
