//! The disk: a log of atoms over a medium.
//!
//! Owns: the order of atoms, which of them are durable, the running view (what reads see) and the
//! durable view (what is left when the power goes). Does not own: faults and draws. Whoever makes
//! atoms durable passes `wear`, which may damage bytes on their way to the medium; whoever crashes
//! the disk says which pending atoms survive.
//!
//! # Invariants
//! - `medium` holds the longest prefix of the log that is durable; `log` holds the rest in order.
//! - `cache` over `medium` is the running view: every atom of `log` carried out in order.
//! - No pending atom is followed by a durable one of the same sector.

use std::collections::BTreeSet;

use crate::atom::{Atom, FileId, Piece, Place, pieces};
use crate::image::Image;

/// May damage the bytes of an atom that is about to become durable.
pub(crate) type Wear<'a> = &'a mut dyn FnMut(&mut Atom);

/// One write of which at least one atom is pending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PendingWrite {
    pub(crate) offset: u64,
    /// How many of its atoms are pending.
    pub(crate) atoms: usize,
}

/// Files on one disk. See the module's documentation for the invariants.
#[derive(Clone, Debug, Default)]
pub(crate) struct Disk {
    medium: Image,
    log: Vec<Atom>,
    cache: Image,
    next_write: u64,
}

impl Disk {
    /// Size of `file` in the running view.
    pub(crate) fn size(&self, file: FileId) -> u64 {
        self.cache.size(file).or_else(|| self.medium.size(file)).unwrap_or(0)
    }

    /// Reads from the running view; short at the end of the file.
    pub(crate) fn read(&self, file: FileId, offset: u64, buf: &mut [u8]) -> usize {
        let left = self.size(file).saturating_sub(offset);
        let len = buf.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        for piece in pieces(offset, len) {
            let place = Place { file, sector: piece.sector };
            let sector = self.cache.sector(place).or_else(|| self.medium.sector(place));
            let into = &mut buf[piece.range.clone()];
            match sector {
                Some(sector) => into.copy_from_slice(&sector[piece.within()]),
                None => into.fill(0),
            }
        }
        len
    }

    /// Adds one write to the log. `offset + bytes.len()` fits a u64.
    pub(crate) fn write(&mut self, file: FileId, offset: u64, bytes: &[u8]) {
        let write = self.next_write;
        self.next_write += 1;
        for piece in pieces(offset, bytes.len()) {
            let atom = atom(write, file, &piece, bytes);
            self.cache.apply_over(&self.medium, &atom);
            self.log.push(atom);
        }
    }

    /// Puts bytes on the medium, beneath whatever the log holds.
    pub(crate) fn imprint(&mut self, file: FileId, offset: u64, bytes: &[u8]) {
        for piece in pieces(offset, bytes.len()) {
            self.medium.apply(&atom(0, file, &piece, bytes));
        }
        self.rebuild_cache();
    }

    /// Makes every pending atom of `file` durable.
    pub(crate) fn flush(&mut self, file: FileId, wear: Wear<'_>) {
        for atom in self.log.iter_mut().filter(|atom| atom.place.file == file) {
            harden(atom, wear);
        }
        self.fold();
        self.rebuild_cache();
    }

    /// Cuts the power. `keep` says for each pending atom, in order, whether it reached the medium;
    /// it is returned with the atoms added that share a sector with a later survivor.
    pub(crate) fn crash(&mut self, mut keep: Vec<bool>, wear: Wear<'_>) -> Vec<bool> {
        self.close(&mut keep);
        let mut fates = keep.iter();
        for atom in self.log.iter_mut().filter(|atom| !atom.durable) {
            if *fates.next().expect("invariant: one fate for each pending atom") {
                harden(atom, wear);
            }
        }
        self.log.retain(|atom| atom.durable);
        self.fold();
        self.cache.clear();
        keep
    }

    /// The pending writes in order.
    pub(crate) fn pending_writes(&self) -> Vec<PendingWrite> {
        let pending: Vec<&Atom> = self.log.iter().filter(|atom| !atom.durable).collect();
        pending
            .chunk_by(|a, b| a.write == b.write)
            .map(|atoms| PendingWrite { offset: atoms[0].offset(), atoms: atoms.len() })
            .collect()
    }

    /// Adds to the survivors every atom that a later one of its sector brings along.
    fn close(&self, keep: &mut [bool]) {
        let pending: Vec<&Atom> = self.log.iter().filter(|atom| !atom.durable).collect();
        assert_eq!(pending.len(), keep.len(), "invariant: one fate for each pending atom");
        let mut landed = BTreeSet::new();
        for (atom, keep) in pending.into_iter().zip(keep).rev() {
            *keep |= landed.contains(&atom.place);
            if *keep {
                landed.insert(atom.place);
            }
        }
    }

    /// Moves the durable prefix of the log onto the medium.
    fn fold(&mut self) {
        let settled = self.log.iter().take_while(|atom| atom.durable).count();
        for atom in self.log.drain(..settled) {
            self.medium.apply(&atom);
        }
    }

    fn rebuild_cache(&mut self) {
        self.cache.clear();
        for atom in &self.log {
            self.cache.apply_over(&self.medium, atom);
        }
    }
}

fn atom(write: u64, file: FileId, piece: &Piece, bytes: &[u8]) -> Atom {
    Atom {
        write,
        place: Place { file, sector: piece.sector },
        start: piece.start,
        bytes: bytes[piece.range.clone()].into(),
        durable: false,
    }
}

fn harden(atom: &mut Atom, wear: Wear<'_>) {
    if !atom.durable {
        wear(atom);
        atom.durable = true;
    }
}

#[cfg(test)]
mod tests;
