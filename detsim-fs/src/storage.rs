//! A disk addressed by bytes, with faults.
//!
//! Owns: the public face, the limit on its size, and what a crash is reported as. Does not own: the
//! order and durability of atoms, which are those of the file system ([`crate::disk`] says how), nor
//! when a fault fires ([`crate::faults`]).

use std::fmt;
use std::io;

use detsim_executor::Sim;
use detsim_executor::event::DiskEvent;

use crate::disk::{Disk, PendingWrite, SIZE_MAX};
use crate::faults::Faults;
use crate::profile::FaultProfile;
use crate::record::{FaultEvent, FaultStats, Recorder};

/// A virtual disk of bytes that forgets what was not synced, and misbehaves as its
/// [`FaultProfile`] says.
///
/// Reads see every write at once. A write is *pending* until a [`sync`](Self::sync); a
/// [`crash`](Self::crash) loses pending writes. The disk grows with the write that ends last; bytes
/// that were skipped read as zeros and take no memory. The unit that reaches the medium whole or
/// not at all is a sector of [`SECTOR_BYTES`](crate::SECTOR_BYTES).
///
/// # Determinism
/// The seed, the profile and the calls determine every byte. Each fault draws from a stream of its
/// own, split from the seed; of a disk [in a run](Self::in_run) each is a choice of that run.
///
/// # Examples
/// A log entry of three sectors, torn by a crash:
/// ```
/// use detsim_fs::{FaultProfile, FaultyStorage};
///
/// let profile = FaultProfile { torn_write_rate: 1.0, ..FaultProfile::default() };
/// let mut disk = FaultyStorage::new(3, profile);
/// disk.write_at(0, &[0xAB; 3 * 512])?;
/// disk.crash();
/// assert!(disk.size() == 512 || disk.size() == 1024);
/// assert_eq!(disk.stats().torn_writes, 1);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone)]
pub struct FaultyStorage {
    disk: Disk,
    faults: Faults,
    recorder: Recorder,
    max_size: u64,
}

/// Linux's and macOS's number for a full disk.
const ENOSPC: i32 = 28;

impl FaultyStorage {
    /// An empty disk.
    ///
    /// # Panics
    /// Where a rate of `profile` is not a number or lies outside `0.0..=1.0`.
    #[track_caller]
    pub fn new(seed: u64, profile: FaultProfile) -> Self {
        Self {
            disk: Disk::default(),
            faults: Faults::new(seed, &profile),
            recorder: Recorder::default(),
            max_size: profile.max_size.min(SIZE_MAX),
        }
    }

    /// An empty disk of this name in a run: its faults are choices of the run, so that a failure
    /// says which of them it needs, and minimising leaves out the others. By default nothing goes
    /// wrong, and of pending writes a crash leaves nothing.
    ///
    /// # Panics
    /// Where a rate of `profile` is not a number or lies outside `0.0..=1.0`, and on use after the
    /// run has ended.
    ///
    /// # Examples
    /// ```
    /// use detsim_executor::Sim;
    /// use detsim_fs::{FaultProfile, FaultyStorage};
    ///
    /// let sim = Sim::new(3);
    /// let profile = FaultProfile { skip_sync_rate: 0.5, ..FaultProfile::default() };
    /// let mut disk = FaultyStorage::in_run(&sim, "n1", profile);
    /// disk.write_at(0, b"kept?")?;
    /// disk.sync()?;
    /// disk.crash();
    /// assert_eq!(disk.size() == 0, disk.stats().skipped_syncs == 1);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn in_run(sim: &Sim, name: &str, profile: FaultProfile) -> Self {
        Self {
            disk: Disk::default(),
            faults: Faults::of_run(sim, name, &profile),
            recorder: Recorder::of_run(sim, name),
            max_size: profile.max_size.min(SIZE_MAX),
        }
    }

    /// Reads at `offset` what was written, synced or not. Returns how many bytes of `buf` were
    /// filled: fewer than its length at the end of the disk, 0 past it.
    ///
    /// # Errors
    /// None so far; the signature is that of a disk that can fail to read.
    pub fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        Ok(self.disk.read(offset, buf))
    }

    /// Writes all of `bytes` at `offset` and returns their number. The write is pending until the
    /// next sync. An empty write does nothing, wherever it is.
    ///
    /// # Errors
    /// [`StorageFull`](io::ErrorKind::StorageFull) (`ENOSPC`) where the write would end beyond
    /// [`max_size`](FaultProfile::max_size); nothing of it is then written.
    pub fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        if !self.fits(offset, bytes) {
            let bytes = bytes.len() as u64;
            self.recorder.note(FaultEvent::RefuseWrite { offset, bytes });
            return Err(io::Error::from_raw_os_error(ENOSPC));
        }
        self.disk.write(offset, bytes);
        self.recorder.wrote(offset, bytes);
        Ok(bytes.len())
    }

    /// Makes every pending write durable, unless [`skip_sync_rate`](FaultProfile::skip_sync_rate)
    /// has it do nothing and say nothing.
    ///
    /// # Errors
    /// None so far; the signature is that of a disk that can fail to sync.
    pub fn sync(&mut self) -> io::Result<()> {
        if self.faults.skips_sync() {
            let writes = self.disk.pending_writes().len() as u64;
            if writes > 0 {
                self.recorder.note(FaultEvent::SkipSync { writes });
            }
        } else {
            let (faults, recorder) = (&mut self.faults, &mut self.recorder);
            let writes = recorder.sim.as_ref().map(|_| self.disk.pending_writes());
            let sectors = writes.iter().flatten().map(|write| write.atoms as u32).sum();
            self.disk.flush(&mut |offset, bytes| faults.wear(offset, bytes, recorder));
            recorder.trace(|node| Some(DiskEvent::Synced { node, sectors }));
        }
        Ok(())
    }

    /// Cuts the power: pending writes are lost, except for what
    /// [`torn_write_rate`](FaultProfile::torn_write_rate) and
    /// [`reorder_rate`](FaultProfile::reorder_rate) let survive. The disk is then as the next
    /// process finds it, with nothing pending.
    pub fn crash(&mut self) {
        let writes = self.disk.pending_writes();
        let (faults, recorder) = (&mut self.faults, &mut self.recorder);
        let keep = faults.survivors(&writes, recorder);
        let kept = self.disk.crash(keep, &mut |offset, bytes| faults.wear(offset, bytes, recorder));
        recorder.note(outcome(&writes, &kept));
    }

    /// The position after the last byte written, synced or not.
    pub fn size(&self) -> u64 {
        self.disk.size()
    }

    /// Puts `bytes` on the medium as they are: durable at once, past every fault, and beneath
    /// writes that are pending. This is how a test begins with a disk that holds something.
    ///
    /// # Panics
    /// Where they would end beyond [`max_size`](FaultProfile::max_size).
    #[track_caller]
    pub fn seed_raw(&mut self, offset: u64, bytes: &[u8]) {
        assert!(
            self.fits(offset, bytes),
            "detsim: seed_raw puts {} bytes at {offset}; the disk holds {}; raise max_size",
            bytes.len(),
            self.max_size
        );
        self.disk.imprint(offset, bytes);
    }

    /// How often each fault fired since the disk was made.
    pub fn stats(&self) -> FaultStats {
        self.recorder.stats
    }

    /// Begins to keep each [`FaultEvent`], or ends it and forgets those kept. Off at first: events
    /// take memory until they are drained.
    pub fn record_events(&mut self, on: bool) {
        if on {
            self.recorder.events.get_or_insert_default();
        } else {
            self.recorder.events = None;
        }
    }

    /// The events kept since the last call, oldest first.
    pub fn drain_events(&mut self) -> Vec<FaultEvent> {
        self.recorder.events.as_mut().map(std::mem::take).unwrap_or_default()
    }

    fn fits(&self, offset: u64, bytes: &[u8]) -> bool {
        let end = offset.checked_add(bytes.len() as u64);
        bytes.is_empty() || end.is_some_and(|end| end <= self.max_size)
    }
}

impl fmt::Debug for FaultyStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FaultyStorage")
            .field("size", &self.size())
            .field("pending_writes", &self.disk.pending_writes().len())
            .field("stats", &self.recorder.stats)
            .finish_non_exhaustive()
    }
}

/// Counts what became of each write.
fn outcome(writes: &[PendingWrite], keep: &[bool]) -> FaultEvent {
    let (mut kept, mut torn, mut lost, mut reordered) = (0, 0, 0, false);
    let mut rest = keep;
    for write in writes {
        let (own, later) = rest.split_at(write.atoms);
        rest = later;
        reordered |= own.contains(&true) && torn + lost > 0;
        match (own.contains(&true), own.contains(&false)) {
            (true, false) => kept += 1,
            (true, true) => torn += 1,
            _ => lost += 1,
        }
    }
    FaultEvent::Crash { kept, torn, lost, reordered }
}

#[cfg(test)]
mod tests;
