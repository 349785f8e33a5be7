//! Sparse images of files.
//!
//! Owns: sectors by place, and the size of each file. Does not own: why a change is made.
//! Invariants: bytes at or past a file's size are zero; a sector that is absent reads as zeros.

use std::collections::BTreeMap;

use crate::atom::{Atom, FileId, Place, SECTOR_BYTES};

pub(crate) type Sector = [u8; SECTOR_BYTES];

/// Files as far as they were written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Image {
    sectors: BTreeMap<Place, Box<Sector>>,
    sizes: BTreeMap<FileId, u64>,
}

impl Image {
    /// The bytes of a sector, where it was ever written.
    pub(crate) fn sector(&self, place: Place) -> Option<&Sector> {
        self.sectors.get(&place).map(|sector| &**sector)
    }

    /// The size of a file, where it was ever written.
    pub(crate) fn size(&self, file: FileId) -> Option<u64> {
        self.sizes.get(&file).copied()
    }

    /// Carries out `atom`. A sector or size that this image lacks is first copied from `beneath`.
    pub(crate) fn apply_over(&mut self, beneath: &Self, atom: &Atom) {
        let copy = || beneath.sector(atom.place).map_or_else(blank, |sector| Box::new(*sector));
        let size = || beneath.size(atom.place.file).unwrap_or(0);
        self.change(atom, copy, size);
    }

    /// Carries out `atom`.
    pub(crate) fn apply(&mut self, atom: &Atom) {
        self.change(atom, blank, || 0);
    }

    fn change(
        &mut self,
        atom: &Atom,
        sector: impl FnOnce() -> Box<Sector>,
        size: impl FnOnce() -> u64,
    ) {
        let sector = self.sectors.entry(atom.place).or_insert_with(sector);
        sector[atom.start..atom.start + atom.bytes.len()].copy_from_slice(&atom.bytes);
        let size = self.sizes.entry(atom.place.file).or_insert_with(size);
        *size = atom.end().max(*size);
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.sectors.clear();
        self.sizes.clear();
    }
}

fn blank() -> Box<Sector> {
    Box::new([0; SECTOR_BYTES])
}
