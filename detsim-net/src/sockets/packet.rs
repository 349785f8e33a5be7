//! What a packet is called.
//!
//! Owns: [`Packet`]. Does not own: what it carries, or what becomes of it. Invariant: one word, so that it is
//! stored and read as one wherever it stands.

use std::fmt;

use crate::link::Passage;

/// A packet on a link: which of the link, whether it is a copy, and which of all.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Packet(u64);

/// Packets are numbered apart from the messages of a [`crate::Network`].
pub(crate) const FIRST_MESSAGE: u32 = 1 << 31;
/// In the place of the bit that every number of a packet has.
const COPY: u64 = FIRST_MESSAGE as u64;

impl Packet {
    /// The packet that a link counts as `ordinal`, of this number, which is not below [`FIRST_MESSAGE`].
    #[inline]
    pub(crate) fn new(ordinal: u32, message: u32) -> Self {
        Self(u64::from(ordinal) << 32 | u64::from(message & !FIRST_MESSAGE))
    }

    /// The copy of it that a link makes.
    pub(crate) fn copy(self) -> Self {
        Self(self.0 | COPY)
    }

    /// Which one of its link.
    #[inline]
    pub(crate) fn passage(self) -> Passage {
        Passage { ordinal: (self.0 >> 32) as u32, is_copy: self.0 & COPY != 0 }
    }

    /// Its number in the trace.
    #[inline]
    pub(crate) fn message(self) -> u32 {
        self.0 as u32 | FIRST_MESSAGE
    }
}

impl fmt::Debug for Packet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Packet({} {:?})", self.message(), self.passage())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_has_the_number_of_its_original() {
        let packet = Packet::new(u32::MAX, FIRST_MESSAGE + 5);
        let copy = packet.copy();
        assert_eq!((packet.message(), copy.message()), (FIRST_MESSAGE + 5, FIRST_MESSAGE + 5));
        let passage = |is_copy| Passage { ordinal: u32::MAX, is_copy };
        assert_eq!((packet.passage(), copy.passage()), (passage(false), passage(true)));
    }
}
