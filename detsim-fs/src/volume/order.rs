//! Which changes may be on the medium without which others.
//!
//! Owns: [`CrashProfile`], and the rules of each as *needs*: an atom that survives a crash, or that
//! an `fsync` makes durable, brings along the atoms that it needs, which are all earlier. The sets
//! that a crash may leave are exactly the sets that hold the needs of their members. Does not own:
//! which of those sets a crash leaves (`crash.rs`).
//!
//! # What holds under every profile
//! - A sector reaches the medium as the cache holds it: data needs earlier data of its sector.
//! - Sizes of one file reach it in order.
//! - Data that was written behind a cut needs the cut.
//! - What is done to a name needs what was done to that name before; a rename is one atom over two.
//! - A directory that is taken away needs what was done within it; renames of directories keep
//!   their order. Otherwise a file could be lost that had a name at every moment.
//!
//! # What a profile adds
//! | profile | adds |
//! |---|---|
//! | `Prefix` | every atom needs the one before it |
//! | `Ext4Ordered` | names, modes and cuts form a journal, each needs the one before; a size that grows needs the data that it brings into view; a rename over a file needs the data and sizes of the file that takes its place |
//! | `MetadataLog` | names, modes and all sizes form a journal; a file that grew may read zeros |
//! | `Posix`, `NoBarrier` | nothing |
//!
//! In `Ext4Ordered` a growing size is not in the journal: ext4 allocates late, so that a rename or a
//! new name may be durable before the data that was appended earlier.

use std::collections::BTreeMap;

use super::change::{Change, Entry, sectors};
use super::journal::Pending;
use super::tree::Ino;
use crate::atom::SECTOR_BYTES;

/// What a file system may lose when the power goes: which of the changes that were not made durable
/// can be on the medium without others. What was made durable by `fsync`, `fdatasync`, `O_SYNC` or
/// `O_DSYNC` is there under every profile.
///
/// # Examples
/// ```
/// use detsim_fs::CrashProfile;
/// assert_eq!(CrashProfile::default(), CrashProfile::Ext4Ordered);
/// assert_eq!(CrashProfile::Posix.word(), "posix");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum CrashProfile {
    /// Everything up to some moment, and nothing after it. The strictest; good to begin with.
    Prefix,
    /// ext4 as it is mounted by default (`data=ordered`): names keep their order, data of files need
    /// not, a file that replaces another by rename is whole, and any `fsync` makes all earlier
    /// changes of names durable.
    #[default]
    Ext4Ordered,
    /// A file system that logs names and sizes but not data, as XFS: a file that grew may hold zeros.
    MetadataLog,
    /// No more than POSIX promises: any set of changes, in any order. An `fsync` of a file does not
    /// cover its name.
    Posix,
    /// As `Posix`, on a drive whose cache lies: whoever drives the volume has an `fsync` do nothing
    /// now and then.
    NoBarrier,
}

impl CrashProfile {
    /// All of them, strictest first.
    pub const ALL: [Self; 5] =
        [Self::Prefix, Self::Ext4Ordered, Self::MetadataLog, Self::Posix, Self::NoBarrier];

    /// The word of settings and reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Prefix => "prefix",
            Self::Ext4Ordered => "ext4_ordered",
            Self::MetadataLog => "metadata_log",
            Self::Posix => "posix",
            Self::NoBarrier => "no_barrier",
        }
    }

    /// Is the order of this change kept by a journal?
    pub(crate) fn journals(self, change: &Change) -> bool {
        match self {
            Self::Ext4Ordered => !matches!(change, Change::Data { .. }) && !change.is_growth(),
            Self::MetadataLog => !matches!(change, Change::Data { .. }),
            Self::Prefix | Self::Posix | Self::NoBarrier => false,
        }
    }
}

/// The smallest part of the log that is durable or not.
#[derive(Clone, Debug)]
pub(crate) struct Atom {
    /// The change that it is part of.
    pub(crate) seq: u64,
    /// Of a change of data: which sector.
    pub(crate) sector: Option<u64>,
    /// The atoms that are durable where this one is, by index; all are smaller than its own.
    pub(crate) needs: Vec<usize>,
    /// Never written: the write back of its page failed. It is durable only with later data of its
    /// sector.
    pub(crate) lost: bool,
}

/// The pending changes as atoms, each with its needs.
pub(crate) fn atoms<'a>(
    profile: CrashProfile,
    log: impl Iterator<Item = (u64, &'a Pending)>,
) -> Vec<Atom> {
    let mut rules = Rules { profile, ..Rules::default() };
    log.for_each(|(seq, pending)| rules.add(seq, pending));
    rules.atoms
}

/// Adds to a set of atoms what its members need.
pub(crate) fn close(atoms: &[Atom], keep: &mut [bool]) {
    for index in (0..atoms.len()).rev() {
        if keep[index] {
            atoms[index].needs.iter().for_each(|needed| keep[*needed] = true);
        }
    }
}

/// Takes out of a set the atoms whose needs it does not hold.
pub(crate) fn prune(atoms: &[Atom], keep: &mut [bool]) {
    for index in 0..atoms.len() {
        keep[index] &= atoms[index].needs.iter().all(|needed| keep[*needed]);
    }
}

/// What earlier atoms may be needed for, by index.
#[derive(Default)]
struct Rules {
    profile: CrashProfile,
    atoms: Vec<Atom>,
    journal: Option<usize>,
    data: BTreeMap<(Ino, u64), usize>,
    sizes: BTreeMap<Ino, usize>,
    /// Per file, the cuts: the first sector behind each, and the atom.
    cuts: BTreeMap<Ino, Vec<(u64, usize)>>,
    /// Per file and directory, everything about its insides.
    insides: BTreeMap<Ino, Vec<usize>>,
    entries: BTreeMap<Entry, usize>,
    modes: BTreeMap<Ino, usize>,
    moved_dir: Option<usize>,
}

impl Rules {
    fn add(&mut self, seq: u64, pending: &Pending) {
        let change = &pending.change;
        match change {
            Change::Data { ino, offset, bytes } => {
                for sector in sectors(*offset, bytes.len()).filter(|s| !pending.gone.contains(s)) {
                    let needs = self.needs_of_data(*ino, sector);
                    let atom = Atom { seq, sector: Some(sector), needs, lost: pending.lost };
                    let index = self.push(atom, change);
                    self.data.insert((*ino, sector), index);
                }
            }
            _ => {
                let needs = self.needs_of(pending);
                let index = self.push(Atom { seq, sector: None, needs, lost: false }, change);
                self.note(pending, index);
            }
        }
    }

    fn push(&mut self, mut atom: Atom, change: &Change) -> usize {
        let index = self.atoms.len();
        if self.profile == CrashProfile::Prefix {
            atom.needs.extend(index.checked_sub(1));
        }
        if self.profile.journals(change) {
            atom.needs.extend(self.journal.replace(index));
        }
        for owner in change.owners().into_iter().flatten() {
            self.insides.entry(owner).or_default().push(index);
        }
        self.atoms.push(atom);
        index
    }

    fn needs_of_data(&self, ino: Ino, sector: u64) -> Vec<usize> {
        let cuts = self.cuts.get(&ino).into_iter().flatten();
        let cut = cuts.rev().find(|(first, _)| *first <= sector).map(|(_, index)| *index);
        self.data.get(&(ino, sector)).copied().into_iter().chain(cut).collect()
    }

    fn needs_of(&self, pending: &Pending) -> Vec<usize> {
        let mut needs = Vec::new();
        match &pending.change {
            Change::Data { .. } => {}
            Change::Link { at, .. } => needs.extend(self.entries.get(at)),
            Change::Unlink { at, ino } => {
                needs.extend(self.entries.get(at));
                needs.extend(self.within(*ino, pending.of_dir));
            }
            Change::Mode { ino, .. } => needs.extend(self.modes.get(ino)),
            Change::Size { ino, .. } => {
                needs.extend(self.sizes.get(ino));
                needs.extend(self.brought_into_view(&pending.change));
            }
            Change::Rename { from, to, ino, over } => {
                needs.extend(self.entries.get(from));
                needs.extend(self.entries.get(to));
                needs.extend(self.moved_dir.filter(|_| pending.of_dir));
                needs.extend(over.iter().flat_map(|over| self.within(*over, pending.of_dir)));
                let flushes = over.is_some() && self.profile == CrashProfile::Ext4Ordered;
                needs.extend(self.within(*ino, flushes && !pending.of_dir));
            }
        }
        needs.retain(|index| !self.atoms[*index].lost);
        needs
    }

    /// What was done within an inode.
    fn within(&self, ino: Ino, wanted: bool) -> impl Iterator<Item = &usize> {
        self.insides.get(&ino).into_iter().flatten().filter(move |_| wanted)
    }

    /// The data that a size which grows lets readers see, where that is to be there first.
    fn brought_into_view(&self, change: &Change) -> Vec<usize> {
        let Change::Size { ino, size, was } = change else { return Vec::new() };
        if self.profile != CrashProfile::Ext4Ordered || size <= was {
            return Vec::new();
        }
        let sector = SECTOR_BYTES as u64;
        let seen = (*ino, was / sector)..(*ino, size.div_ceil(sector));
        self.data.range(seen).map(|(_, index)| *index).collect()
    }

    fn note(&mut self, pending: &Pending, index: usize) {
        match &pending.change {
            Change::Data { .. } => {}
            Change::Link { at, .. } | Change::Unlink { at, .. } => {
                self.entries.insert(at.clone(), index);
            }
            Change::Mode { ino, .. } => {
                self.modes.insert(*ino, index);
            }
            Change::Size { ino, size, was } => {
                self.sizes.insert(*ino, index);
                if size < was {
                    let first = size / SECTOR_BYTES as u64;
                    self.cuts.entry(*ino).or_default().push((first, index));
                }
            }
            Change::Rename { from, to, .. } => {
                self.entries.insert(from.clone(), index);
                self.entries.insert(to.clone(), index);
                if pending.of_dir {
                    self.moved_dir = Some(index);
                }
            }
        }
    }
}
