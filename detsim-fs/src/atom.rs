//! Atoms: the smallest changes that reach the medium whole or not at all.
//!
//! Owns: the sector size, the names of files and sectors, and how a range of bytes is cut at
//! sector boundaries. Does not own: where atoms are kept ([`crate::disk`]) or what they are applied
//! to ([`crate::image`]).
//!
//! Invariants: an atom lies within one sector, is never empty, and its bytes never change once it
//! is durable.

use std::ops::Range;

/// Bytes of a sector, the unit that a disk writes whole or not at all.
pub const SECTOR_BYTES: usize = 512;

/// One sequence of bytes on a disk. A bare disk is one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FileId(pub(crate) u64);

/// The place of one sector: which file, and which sector of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) file: FileId,
    pub(crate) sector: u64,
}

/// What one write does to one sector.
#[derive(Clone, Debug)]
pub(crate) struct Atom {
    /// The write that it is part of; grows with time.
    pub(crate) write: u64,
    pub(crate) place: Place,
    /// First byte that changes, within the sector.
    pub(crate) start: usize,
    pub(crate) bytes: Box<[u8]>,
    pub(crate) durable: bool,
}

impl Atom {
    /// Position of the first changed byte in the file.
    pub(crate) fn offset(&self) -> u64 {
        self.place.sector * SECTOR_BYTES as u64 + self.start as u64
    }

    /// Position after the last changed byte in the file.
    pub(crate) fn end(&self) -> u64 {
        self.offset() + self.bytes.len() as u64
    }
}

/// A stretch of a buffer that falls into one sector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) sector: u64,
    pub(crate) start: usize,
    /// The part of the caller's buffer.
    pub(crate) range: Range<usize>,
}

impl Piece {
    /// The same stretch within the sector.
    pub(crate) fn within(&self) -> Range<usize> {
        self.start..self.start + self.range.len()
    }
}

/// Cuts `len` bytes at `offset` at the sector boundaries, in ascending order.
pub(crate) fn pieces(offset: u64, len: usize) -> impl Iterator<Item = Piece> {
    let mut done = 0;
    std::iter::from_fn(move || {
        if done == len {
            return None;
        }
        let at = offset + done as u64;
        let start = (at % SECTOR_BYTES as u64) as usize;
        let take = (len - done).min(SECTOR_BYTES - start);
        let range = done..done + take;
        done += take;
        Some(Piece { sector: at / SECTOR_BYTES as u64, start, range })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_cut_at_sector_boundaries() {
        let cut: Vec<Piece> = pieces(500, 600).collect();
        assert_eq!(
            cut,
            [
                Piece { sector: 0, start: 500, range: 0..12 },
                Piece { sector: 1, start: 0, range: 12..524 },
                Piece { sector: 2, start: 0, range: 524..600 },
            ]
        );
    }

    #[test]
    fn nothing_has_no_pieces_and_the_last_byte_of_all_has_one() {
        assert_eq!(pieces(9, 0).count(), 0);
        assert_eq!(pieces(u64::MAX - 1, 1).count(), 1);
    }
}
