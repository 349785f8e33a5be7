//! What the faults of a disk did.
//!
//! Owns: [`FaultEvent`], plain data for whoever drains it, [`FaultStats`], its sums, and what a disk in a run
//! leaves there: events of the trace, and its history in the hash of the run. Does not own: how any of them
//! is shown.
//!
//! Invariant: both are made by [`Recorder::note`] alone, so a sum never disagrees with its events.

use std::hash::{Hash, Hasher};

use detsim_executor::event::{DiskEvent, Event, Wide};
use detsim_executor::rng::{fold, hash_bytes};
use detsim_executor::{NodeId, Sim};

/// One thing that went wrong on a disk.
///
/// # Examples
/// ```
/// use detsim_fs::{FaultEvent, FaultProfile, FaultyStorage};
/// let mut disk = FaultyStorage::new(1, FaultProfile { skip_sync_rate: 1.0, ..Default::default() });
/// disk.record_events(true);
/// disk.write_at(0, b"lost")?;
/// disk.sync()?;
/// disk.crash();
/// assert_eq!(
///     disk.drain_events(),
///     [
///         FaultEvent::SkipSync { writes: 1 },
///         FaultEvent::Crash { kept: 0, torn: 0, lost: 1, reordered: false },
///     ]
/// );
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultEvent {
    /// A byte changed on its way to the medium.
    CorruptByte {
        /// Its position on the disk.
        offset: u64,
        /// What was written.
        was: u8,
        /// What the medium holds.
        now: u8,
    },
    /// The power went. The writes that were pending are counted by what became of them.
    Crash {
        /// Writes that survived whole.
        kept: u64,
        /// Writes of which some sectors survived.
        torn: u64,
        /// Writes of which nothing survived.
        lost: u64,
        /// Whether a write left something behind although an earlier one did not survive whole.
        reordered: bool,
    },
    /// A write found the disk full.
    RefuseWrite {
        /// Where it began.
        offset: u64,
        /// Its length in bytes.
        bytes: u64,
    },
    /// A sync returned `Ok` and left writes pending.
    SkipSync {
        /// How many.
        writes: u64,
    },
    /// A crash kept a part of a write.
    TearWrite {
        /// Where the write began.
        offset: u64,
        /// How many sectors it touched.
        sectors: u64,
        /// How many of them the medium took.
        kept: u64,
    },
}

/// How often each fault of a disk fired and had something to act on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FaultStats {
    /// Bytes that changed on their way to the medium. One that is written twice between two syncs
    /// counts each time.
    pub corrupt_bytes: u64,
    /// Calls of [`crash`](crate::FaultyStorage::crash).
    pub crashes: u64,
    /// Writes that found the disk full.
    pub refused_writes: u64,
    /// Crashes that a write survived which was later than one that did not survive whole.
    pub reordered_crashes: u64,
    /// Syncs that returned `Ok` and left writes pending.
    pub skipped_syncs: u64,
    /// Writes of which a crash kept a part because of
    /// [`torn_write_rate`](crate::FaultProfile::torn_write_rate).
    pub torn_writes: u64,
}

/// Sums events, and keeps them where asked to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recorder {
    pub(crate) stats: FaultStats,
    pub(crate) events: Option<Vec<FaultEvent>>,
    /// The run that the disk is in, whose trace tells of it too.
    pub(crate) sim: Option<Sim>,
    /// All that has happened to the disk in that run.
    history: u64,
}

impl Recorder {
    /// Of a disk of this name in a run.
    pub(crate) fn of_run(sim: &Sim, name: &str) -> Self {
        let history = hash_bytes(name.as_bytes());
        Self { sim: Some(sim.clone()), history, ..Self::default() }
    }

    pub(crate) fn note(&mut self, event: FaultEvent) {
        self.count(event);
        self.trace(|node| event.in_trace(node));
        if let Some(events) = &mut self.events {
            events.push(event);
        }
    }

    /// A write that was taken.
    pub(crate) fn wrote(&mut self, offset: u64, bytes: &[u8]) {
        if self.sim.is_some() {
            self.history = digest(self.history, bytes);
        }
        let len = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        self.trace(|node| Some(DiskEvent::Wrote { node, offset: Wide::new(offset), len }));
    }

    /// What has happened to the disk, whether or not it went wrong.
    pub(crate) fn trace(&mut self, event: impl FnOnce(NodeId) -> Option<DiskEvent>) {
        let Some(sim) = self.sim.as_ref().filter(|sim| sim.is_alive()) else { return };
        let history = &mut self.history;
        sim.with(|kernel| {
            let Some(event) = event(kernel.current_node()) else { return };
            *history = digest(*history, &event);
            kernel.fold_event(*history);
            kernel.record_with(|_| Event::Disk(event));
        });
    }

    fn count(&mut self, event: FaultEvent) {
        let stats = &mut self.stats;
        match event {
            FaultEvent::CorruptByte { .. } => stats.corrupt_bytes += 1,
            FaultEvent::Crash { reordered, .. } => {
                stats.crashes += 1;
                stats.reordered_crashes += u64::from(reordered);
            }
            FaultEvent::RefuseWrite { .. } => stats.refused_writes += 1,
            FaultEvent::SkipSync { .. } => stats.skipped_syncs += 1,
            FaultEvent::TearWrite { .. } => stats.torn_writes += 1,
        }
    }
}

/// A history that goes on with something.
fn digest<T: Hash + ?Sized>(history: u64, what: &T) -> u64 {
    let mut digest = Digest(history);
    what.hash(&mut digest);
    digest.finish()
}

/// The same in every process, unlike std's.
struct Digest(u64);

impl Hasher for Digest {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.0 = fold(self.0, u64::from_le_bytes(word));
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

impl FaultEvent {
    /// What the trace of a run says of it; a torn write is counted where the power went.
    fn in_trace(self, node: NodeId) -> Option<DiskEvent> {
        let number = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
        Some(match self {
            Self::CorruptByte { offset, .. } => {
                DiskEvent::Corrupted { node, offset: Wide::new(offset) }
            }
            Self::Crash { kept, torn, lost, .. } => {
                let [survived, lost, torn] = [kept, lost, torn].map(number);
                DiskEvent::Crashed { node, survived, lost, torn }
            }
            Self::RefuseWrite { offset, bytes } => {
                DiskEvent::Full { node, offset: Wide::new(offset), len: number(bytes) }
            }
            Self::SkipSync { .. } => DiskEvent::SyncSkipped { node },
            Self::TearWrite { .. } => return None,
        })
    }
}
