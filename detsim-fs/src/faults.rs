//! When a fault fires.
//!
//! Owns: the rates of one disk and the draws of each fault, which come from a stream of its own or
//! from the choices of a run (`draws.rs`). Does not own:
//! what a fault does to the disk ([`crate::disk`]) or the shape of survivors
//! ([`crate::survivors`]).
//!
//! Invariant: a fault draws from its own stream only, so a rate that is changed, or a draw that is
//! added, shifts no other fault.

mod draws;

use detsim_executor::Sim;

use crate::disk::PendingWrite;
use crate::profile::{FaultProfile, Rates};
use crate::record::{FaultEvent, Recorder};
use crate::survivors;
use draws::Draws;

/// The faults of one disk.
#[derive(Clone, Debug)]
pub(crate) struct Faults {
    rates: Rates,
    torn_write: Draws,
    corrupt_byte: Draws,
    skip_sync: Draws,
    reorder: Draws,
}

impl Faults {
    #[track_caller]
    pub(crate) fn new(seed: u64, profile: &FaultProfile) -> Self {
        Self {
            rates: Rates::new(profile),
            torn_write: Draws::own(seed, "torn_write"),
            corrupt_byte: Draws::own(seed, "corrupt_byte"),
            skip_sync: Draws::own(seed, "skip_sync"),
            reorder: Draws::own(seed, "reorder"),
        }
    }

    /// The faults of a disk whose draws are choices of a run.
    #[track_caller]
    pub(crate) fn of_run(sim: &Sim, disk: &str, profile: &FaultProfile) -> Self {
        Self {
            rates: Rates::new(profile),
            torn_write: Draws::run(sim, disk, "torn_write"),
            corrupt_byte: Draws::run(sim, disk, "corrupt_byte"),
            skip_sync: Draws::run(sim, disk, "skip_sync"),
            reorder: Draws::run(sim, disk, "reorder"),
        }
    }

    /// Whether a sync is to do nothing.
    pub(crate) fn skips_sync(&mut self) -> bool {
        self.skip_sync.chance(self.rates.skip_sync)
    }

    /// Damages bytes on their way to the medium.
    pub(crate) fn wear(&mut self, offset: u64, bytes: &mut [u8], recorder: &mut Recorder) {
        if self.rates.corrupt_byte.is_never() {
            return;
        }
        for (offset, byte) in (offset..).zip(bytes) {
            if let Some(change) = self.corrupt_byte.damage(self.rates.corrupt_byte) {
                let was = *byte;
                *byte ^= change;
                recorder.note(FaultEvent::CorruptByte { offset, was, now: *byte });
            }
        }
    }

    /// Decides at a crash, for each atom of the pending writes, whether it reached the medium.
    pub(crate) fn survivors(
        &mut self,
        writes: &[PendingWrite],
        recorder: &mut Recorder,
    ) -> Vec<bool> {
        if self.reorder.chance(self.rates.reorder) {
            self.reordered(writes, recorder)
        } else {
            self.in_order(writes, recorder)
        }
    }

    /// The disk wrote in order: the survivors end with the torn write, where there is one.
    fn in_order(&mut self, writes: &[PendingWrite], recorder: &mut Recorder) -> Vec<bool> {
        let mut keep = Vec::new();
        for write in writes {
            if self.tears(write) {
                let kept = survivors::torn_prefix(write.atoms, &mut |n| self.torn_write.below(n));
                note_tear(write, &kept, recorder);
                keep.extend(kept);
                keep.resize(atoms(writes), false);
                return keep;
            }
            keep.extend(std::iter::repeat_n(true, write.atoms));
        }
        vec![false; atoms(writes)]
    }

    /// The disk wrote in an order of its own: any set of writes survives, each may be torn.
    fn reordered(&mut self, writes: &[PendingWrite], recorder: &mut Recorder) -> Vec<bool> {
        let survive = survivors::draw(writes.len(), &mut |n| self.reorder.below(n));
        let mut keep = Vec::with_capacity(atoms(writes));
        for (write, survives) in writes.iter().zip(survive) {
            if survives && self.tears(write) {
                let kept = survivors::torn_subset(write.atoms, &mut |n| self.torn_write.below(n));
                note_tear(write, &kept, recorder);
                keep.extend(kept);
            } else {
                keep.extend(std::iter::repeat_n(survives, write.atoms));
            }
        }
        keep
    }

    fn tears(&mut self, write: &PendingWrite) -> bool {
        write.atoms > 1 && self.torn_write.chance(self.rates.torn_write)
    }
}

fn atoms(writes: &[PendingWrite]) -> usize {
    writes.iter().map(|write| write.atoms).sum()
}

fn note_tear(write: &PendingWrite, kept: &[bool], recorder: &mut Recorder) {
    recorder.note(FaultEvent::TearWrite {
        offset: write.offset,
        sectors: write.atoms as u64,
        kept: kept.iter().filter(|kept| **kept).count() as u64,
    });
}
