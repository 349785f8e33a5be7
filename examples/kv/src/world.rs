//! One life of a store on a faulty disk: changes, syncs, crashes, recoveries.
//!
//! Owns: the workload, the faults it runs under, and the line a seed prints. Does not own: what is
//! right ([`crate::oracle`]). The seed determines everything; nothing else is read.

use std::fmt;
use std::io;

use detsim_executor::{Sim, Stream};
use detsim_fs::{FaultProfile, FaultStats, FaultyStorage};

use crate::entry::Checksums;
use crate::oracle::{Finding, Oracle};
use crate::store::Kv;

/// The disk of [`trial`]. Its syncs are honest: no log can keep its word on a disk that lies.
pub const PROFILE: FaultProfile = FaultProfile {
    torn_write_rate: 0.3,
    corrupt_byte_rate: 0.000_2,
    skip_sync_rate: 0.0,
    reorder_rate: 0.5,
    max_size: 1 << 20,
};

/// Lives of the store in one trial.
const LIVES: usize = 4;
/// Calls in one life.
const CALLS: usize = 25;
const KEYS: u64 = 8;

/// One thing that was done to the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The key was set to this value.
    Put(Vec<u8>, Vec<u8>),
    /// The key was removed.
    Delete(Vec<u8>),
    /// All changes were made durable.
    Sync,
    /// The power went, and recovery took this many entries.
    Crash(u64),
}

/// What became of one seed. Its Display is one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trial {
    /// The seed.
    pub seed: u64,
    /// What was done, in order, up to the finding where there is one.
    pub trace: Vec<Step>,
    /// What the disk did wrong.
    pub faults: FaultStats,
    /// How the store broke its word, where it did.
    pub finding: Option<Finding>,
}

/// Runs one seed under [`PROFILE`].
///
/// # Panics
/// Where the disk reports an error: it is large enough, and knows no other.
pub fn trial(seed: u64, checksums: Checksums) -> Trial {
    trial_on(PROFILE, seed, checksums)
}

/// Runs one seed on a disk of one's own.
///
/// # Panics
/// Where the disk reports an error, such as being full.
pub fn trial_on(profile: FaultProfile, seed: u64, checksums: Checksums) -> Trial {
    let mut world = World::new(Stream::named(seed, "kv/workload"));
    let storage = FaultyStorage::new(seed, profile);
    let (faults, finding) = world.run(storage, checksums).expect("the disk reports no error");
    Trial { seed, trace: world.trace, faults, finding }
}

/// Runs a life in a simulation, whose choices the faults of the disk are: for a test that is swept,
/// replayed and minimised.
///
/// # Errors
/// What was found.
///
/// # Panics
/// Where the disk reports an error, such as being full.
pub fn check(sim: &Sim, profile: FaultProfile, checksums: Checksums) -> Result<(), Problem> {
    let mut world = World::new(sim.stream("kv/workload"));
    let storage = FaultyStorage::in_run(sim, "kv", profile);
    let (_, finding) = world.run(storage, checksums).expect("the disk reports no error");
    finding.map_or(Ok(()), |finding| Err(Problem(finding)))
}

/// A finding as the error of a test. Test harnesses print an error's `Debug`, so that is the text for
/// people; its first line is the same whatever was damaged.
pub struct Problem(pub Finding);

impl fmt::Debug for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self.0 {
            Finding::Corrupted { .. } => "corrupt data is served",
            Finding::Lost { .. } => "what was synced is lost",
            Finding::Invented { .. } => "what was never written came back",
        };
        write!(f, "{word}\n{}", self.0)
    }
}

struct World {
    stream: Stream,
    oracle: Oracle,
    trace: Vec<Step>,
    values: u64,
}

impl World {
    fn new(stream: Stream) -> Self {
        Self { stream, oracle: Oracle::default(), trace: Vec::new(), values: 0 }
    }

    /// Some lives, up to a finding where there is one.
    fn run(
        &mut self,
        mut storage: FaultyStorage,
        checksums: Checksums,
    ) -> io::Result<(FaultStats, Option<Finding>)> {
        let mut kv = Kv::recover(storage, checksums)?;
        let mut finding = None;
        for _ in 0..LIVES {
            for _ in 0..CALLS {
                self.call(&mut kv)?;
            }
            storage = kv.into_storage();
            storage.crash();
            let is_damaged = storage.stats().corrupt_bytes > 0;
            kv = Kv::recover(storage, checksums)?;
            self.trace.push(Step::Crash(kv.recovery().entries));
            finding = self.oracle.on_recover(&kv, is_damaged);
            if finding.is_some() {
                break;
            }
        }
        Ok((kv.into_storage().stats(), finding))
    }

    fn call(&mut self, kv: &mut Kv) -> io::Result<()> {
        let key = format!("key{}", self.stream.below(KEYS)).into_bytes();
        match self.stream.below(20) {
            0..15 => {
                let value = self.value();
                kv.put(&key, &value)?;
                self.oracle.on_change(&key, Some(&value));
                self.trace.push(Step::Put(key, value));
            }
            15..18 => {
                kv.delete(&key)?;
                self.oracle.on_change(&key, None);
                self.trace.push(Step::Delete(key));
            }
            _ => {
                kv.sync()?;
                self.oracle.on_sync();
                self.trace.push(Step::Sync);
            }
        }
        Ok(())
    }

    /// A value that no other put writes: `v17` and a tail, now and then over several sectors.
    fn value(&mut self) -> Vec<u8> {
        self.values += 1;
        let longest = if self.stream.below(8) == 0 { 1_500 } else { 30 };
        let tail = self.stream.below(longest) as usize;
        format!("v{}{}", self.values, "=".repeat(tail)).into_bytes()
    }
}

impl fmt::Display for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, faults, .. } = self;
        match &self.finding {
            Some(finding) => write!(f, "seed={seed} {finding}"),
            None => write!(
                f,
                "seed={seed} ok: crashes {}, reordered {}, torn writes {}, corrupt bytes {}",
                faults.crashes, faults.reordered_crashes, faults.torn_writes, faults.corrupt_bytes
            ),
        }
    }
}

/// Which seeds to run from the shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The first seed.
    pub seed: u64,
    /// How many seeds.
    pub trials: u64,
    /// Whether the store checks what it reads.
    pub checksums: Checksums,
}

/// Runs the seeds, prints one line for each, and returns whether anything was found.
///
/// # Errors
/// Those of `out`.
pub fn run(options: &Options, out: &mut dyn io::Write) -> io::Result<bool> {
    let mut found = false;
    for seed in (options.seed..).take(usize::try_from(options.trials).unwrap_or(usize::MAX)) {
        let trial = trial(seed, options.checksums);
        found |= trial.finding.is_some();
        writeln!(out, "{trial}")?;
    }
    Ok(found)
}
