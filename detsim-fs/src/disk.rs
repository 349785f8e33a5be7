//! A bare disk: the byte-addressed face of the disk model.
//!
//! Owns: [`Disk`], one file of a [`Volume`] that is as long as files can be, so that nothing but data is
//! ever pending in it, and how far it was written. Does not own: what is durable and what brings what
//! along, which is the volume's, nor faults and draws. Whoever makes writes durable passes `wear`, which
//! may damage bytes on their way to the medium; whoever crashes the disk says which pending atoms
//! survive.
//!
//! # Invariants
//! - `written` is the end of what the medium holds, and every pending write ends at `size` or before.

use std::path::Path;

use crate::volume::{CrashProfile, Handle, OpenFlags, Volume, VolumeConfig};

/// May damage the bytes at an offset that are about to become durable.
pub(crate) type Wear<'a> = &'a mut dyn FnMut(u64, &mut [u8]);

/// How large a disk may be.
pub(crate) const SIZE_MAX: u64 = i64::MAX as u64;

const PATH: &str = "/disk";
const WHOLE: &str = "invariant: a bare disk is a file that nothing limits";

/// One write of which at least one atom is pending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PendingWrite {
    pub(crate) offset: u64,
    /// How many of its atoms are pending.
    pub(crate) atoms: usize,
}

/// A disk. See the module's documentation for the invariants.
#[derive(Clone, Debug)]
pub(crate) struct Disk {
    volume: Volume,
    file: Handle,
    size: u64,
    written: u64,
}

impl Default for Disk {
    fn default() -> Self {
        let config = VolumeConfig {
            profile: CrashProfile::Posix,
            file_bytes_max: SIZE_MAX,
            ..VolumeConfig::default()
        };
        let mut volume = Volume::new(config);
        let file = open(&mut volume);
        volume.set_len(file, SIZE_MAX).expect(WHOLE);
        volume.sync_all();
        Self { volume, file, size: 0, written: 0 }
    }
}

fn open(volume: &mut Volume) -> Handle {
    let flags = OpenFlags { read: true, write: true, create: true, ..OpenFlags::default() };
    volume.open(Path::new(PATH), flags, 0o600).expect(WHOLE)
}

impl Disk {
    /// The end of what was written, pending or not.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// Reads what was written; short at the end.
    pub(crate) fn read(&self, offset: u64, buf: &mut [u8]) -> usize {
        let left = self.size.saturating_sub(offset);
        let len = buf.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        self.volume.peek(self.file, offset, &mut buf[..len]);
        len
    }

    /// Adds one write, which ends at [`SIZE_MAX`] or before; nothing where it is empty.
    pub(crate) fn write(&mut self, offset: u64, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let written = self.volume.write_at(self.file, offset, bytes);
        assert_eq!(written, Ok(bytes.len()), "{WHOLE}");
        self.size = self.size.max(offset + bytes.len() as u64);
    }

    /// Puts bytes on the medium, beneath whatever is pending.
    pub(crate) fn imprint(&mut self, offset: u64, bytes: &[u8]) {
        self.volume.imprint(self.file, offset, bytes);
        self.written = self.written.max(offset + bytes.len() as u64);
        self.size = self.size.max(self.written);
    }

    /// Makes every pending write durable.
    pub(crate) fn flush(&mut self, wear: Wear<'_>) {
        let pending = self.volume.pending_data();
        self.volume.fsync(self.file).expect(WHOLE);
        self.harden(pending, wear);
        self.size = self.size.max(self.written);
    }

    /// Cuts the power. `keep` says for each pending atom, in order, whether it reached the medium;
    /// it is returned with the atoms added that share a sector with a later survivor.
    pub(crate) fn crash(&mut self, keep: Vec<bool>, wear: Wear<'_>) -> Vec<bool> {
        let pending = self.volume.pending_data();
        let keep = self.volume.crash_keeping(keep);
        self.file = open(&mut self.volume);
        let kept = pending.into_iter().zip(&keep).filter(|(_, kept)| **kept);
        self.harden(kept.map(|(atom, _)| atom).collect(), wear);
        self.size = self.written;
        keep
    }

    /// The pending writes in order.
    pub(crate) fn pending_writes(&self) -> Vec<PendingWrite> {
        let pending = self.volume.pending_data();
        let writes = pending.chunk_by(|a, b| a.write == b.write);
        writes.map(|atoms| PendingWrite { offset: atoms[0].offset, atoms: atoms.len() }).collect()
    }

    /// These atoms have become durable, in this order; they may be damaged on their way.
    fn harden(&mut self, atoms: Vec<crate::volume::DataAtom>, wear: Wear<'_>) {
        for atom in atoms {
            let mut bytes = atom.bytes.to_vec();
            wear(atom.offset, &mut bytes);
            if *bytes != *atom.bytes {
                self.volume.imprint(self.file, atom.offset, &bytes);
            }
            self.written = self.written.max(atom.offset + bytes.len() as u64);
        }
    }
}

#[cfg(test)]
mod tests;
