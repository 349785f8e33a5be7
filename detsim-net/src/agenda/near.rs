//! The events that come next, in order.
//!
//! Owns: [`Near`]. Does not own: those beyond them (`agenda.rs`). What comes in between what nobody can
//! guess, and neither can the processor: so an event is put in its place without a branch that depends on it.
//!
//! # Invariants
//! `order` is a permutation of all places, four bits each: first those of the `len` events from the earliest
//! to the latest, then those that are free. A free place holds what is later than every event.

use super::Entry;

/// See the module's documentation.
#[derive(Debug)]
pub(super) struct Near {
    entries: [Entry; PLACES],
    order: u64,
    len: usize,
}

const PLACES: usize = 16;
/// As many as there are places, less one: so no shift is by a whole word.
const MOST: usize = PLACES - 1;
const LATEST: Entry = Entry(u128::MAX);

impl Default for Near {
    fn default() -> Self {
        Self { entries: [LATEST; PLACES], order: 0xFEDC_BA98_7654_3210, len: 0 }
    }
}

impl Near {
    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline(always)]
    pub(super) fn is_full(&self) -> bool {
        self.len == MOST
    }

    /// The earliest.
    #[inline(always)]
    pub(super) fn first(&self) -> Option<Entry> {
        (self.len > 0).then(|| self.entries[place(self.order)])
    }

    /// Puts one in, for which there is room. True where it is the earliest now.
    #[inline(always)]
    pub(super) fn push(&mut self, entry: Entry) -> bool {
        // Bit by bit, so that the compiler makes no vectors of them.
        let earlier =
            self.entries.iter().fold(0_u32, |bits, other| bits << 1 | u32::from(*other < entry));
        let earlier = earlier.count_ones() as usize;
        let free = place(self.order >> (4 * self.len));
        self.entries[free] = entry;
        // The free place goes to where the event stands, and those from there on move by one.
        let (before, all) = (first(earlier), first(self.len + 1));
        let moved = (self.order & first(self.len) & !before) << 4;
        let own = (free as u64) << (4 * earlier);
        self.order = (self.order & before) | own | moved | (self.order & !all);
        self.len += 1;
        earlier == 0
    }

    /// Takes the earliest out.
    #[inline(always)]
    pub(super) fn pop(&mut self) -> Option<Entry> {
        if self.len == 0 {
            return None;
        }
        let free = place(self.order);
        let entry = std::mem::replace(&mut self.entries[free], LATEST);
        let others = (self.order & first(self.len)) >> 4;
        self.len -= 1;
        let own = (free as u64) << (4 * self.len);
        self.order = others | own | (self.order & !first(self.len + 1));
        Some(entry)
    }

    /// Takes the later half out.
    pub(super) fn drain_later(&mut self, mut take: impl FnMut(Entry)) {
        while self.len > MOST / 2 {
            self.len -= 1;
            let last = place(self.order >> (4 * self.len));
            take(std::mem::replace(&mut self.entries[last], LATEST));
        }
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
