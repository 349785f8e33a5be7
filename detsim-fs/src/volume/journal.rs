//! The changes that are not durable yet.
//!
//! Owns: their order, whose they are, and which of them a sync takes to the medium. Does not own:
//! which need which others (`order.rs`), or the trees.
//!
//! Invariant: a change leaves the log when it is durable or can never be, and then every change
//! that it needs has left before it.

use std::collections::{BTreeMap, BTreeSet};

use detsim_executor::SimTime;

use super::change::Change;
use super::order::{self, Atom, CrashProfile};
use super::tree::Ino;

/// A change that is not durable.
#[derive(Clone, Debug)]
pub(crate) struct Pending {
    pub(crate) at: SimTime,
    pub(crate) change: Change,
    /// Of a rename or an unlink: whether it is a directory's.
    pub(crate) of_dir: bool,
    /// The write back failed, and the page counts as clean: no sync takes it along any more.
    pub(crate) lost: bool,
    /// Of data: the sectors that are durable already.
    pub(crate) gone: Vec<u64>,
}

/// A change, or a sector of one, that has become durable.
#[derive(Clone, Debug)]
pub(crate) struct Durable {
    /// When it was made.
    pub(crate) at: SimTime,
    pub(crate) change: Change,
}

impl Pending {
    pub(crate) fn new(at: SimTime, change: Change, of_dir: bool) -> Self {
        Self { at, change, of_dir, lost: false, gone: Vec::new() }
    }

    fn is_whole(&self) -> bool {
        !self.lost && self.gone.is_empty()
    }
}

/// The log. Numbers grow with time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Journal {
    ops: BTreeMap<u64, Pending>,
    next: u64,
    /// By owner, the numbers of its changes.
    owned: BTreeMap<Ino, BTreeSet<u64>>,
    /// How many pending changes give an inode a name or take one away.
    named: BTreeMap<Ino, u32>,
}

impl Journal {
    pub(crate) fn push(&mut self, pending: Pending) {
        let seq = self.next;
        self.next += 1;
        for owner in pending.change.owners().into_iter().flatten() {
            self.owned.entry(owner).or_default().insert(seq);
        }
        for ino in pending.change.named().into_iter().flatten() {
            *self.named.entry(ino).or_default() += 1;
        }
        self.ops.insert(seq, pending);
    }

    /// The number that the next change will have: everything so far is below it.
    pub(crate) fn mark(&self) -> u64 {
        self.next
    }

    pub(crate) fn len(&self) -> usize {
        self.ops.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &Pending)> {
        self.ops.iter().map(|(seq, pending)| (*seq, pending))
    }

    /// A pending change.
    pub(crate) fn change(&self, seq: u64) -> &Change {
        &self.ops[&seq].change
    }

    pub(crate) fn clear(&mut self) {
        self.ops.clear();
        self.owned.clear();
        self.named.clear();
    }

    /// Does a pending change name this inode?
    pub(crate) fn names(&self, ino: Ino) -> bool {
        self.named.contains_key(&ino)
    }

    /// Everything older than `age`.
    pub(crate) fn older_than(&self, moment: SimTime) -> Vec<u64> {
        self.iter().take_while(|(_, op)| op.at < moment).map(|(seq, _)| seq).collect()
    }

    /// What a sync of `ino` is about, among the changes before `mark`.
    pub(crate) fn of(
        &self,
        ino: Ino,
        mark: u64,
        data_only: bool,
        profile: CrashProfile,
    ) -> Vec<u64> {
        let own = self.owned.get(&ino).into_iter().flatten().copied();
        let own = own.take_while(|seq| *seq < mark);
        let own = own.filter(|seq| !data_only || self.ops[seq].change.is_of_data());
        let mut wanted: Vec<u64> = own.collect();
        // ext4 commits all that is in its journal, unless only data is to be written.
        let commits = !data_only || wanted.iter().any(|seq| self.is_size(*seq));
        if profile == CrashProfile::Ext4Ordered && commits {
            let earlier = self.iter().take_while(|(seq, _)| *seq < mark);
            let journal = earlier.filter(|(_, op)| profile.journals(&op.change));
            wanted.extend(journal.map(|(seq, _)| seq));
        }
        wanted
    }

    fn is_size(&self, seq: u64) -> bool {
        matches!(self.ops[&seq].change, Change::Size { .. })
    }

    /// Takes changes out of the log, and whatever they need: they are durable now. Data whose write
    /// back failed stays behind, except for what later data of its sector brings along.
    pub(crate) fn harden(&mut self, profile: CrashProfile, wanted: &[u64]) -> Vec<Durable> {
        let wanted: BTreeSet<u64> = wanted.iter().copied().collect();
        if wanted.is_empty() {
            return Vec::new();
        }
        if wanted.len() == self.ops.len() && self.ops.values().all(Pending::is_whole) {
            let all = std::mem::take(&mut self.ops);
            self.clear();
            return all.into_values().map(|op| Durable { at: op.at, change: op.change }).collect();
        }
        // What comes first needs nothing that comes later.
        let oldest = self.ops.iter().take(wanted.len());
        if oldest.clone().all(|(seq, op)| op.is_whole() && wanted.contains(seq)) {
            let ops = wanted.into_iter().map(|seq| self.remove(seq));
            return ops.map(|op| Durable { at: op.at, change: op.change }).collect();
        }
        let atoms = order::atoms(profile, self.iter());
        let wants = |atom: &Atom| wanted.contains(&atom.seq) && !atom.lost;
        let mut keep: Vec<bool> = atoms.iter().map(wants).collect();
        order::close(&atoms, &mut keep);
        self.take(&atoms, &keep)
    }

    /// Takes the atoms out of the log that are kept, oldest first. `atoms` are those of this log.
    pub(crate) fn take(&mut self, atoms: &[Atom], keep: &[bool]) -> Vec<Durable> {
        let mut durable = Vec::new();
        let mut at = 0;
        for op in atoms.chunk_by(|a, b| a.seq == b.seq) {
            let kept = &keep[at..at + op.len()];
            at += op.len();
            self.take_one(op, kept, &mut durable);
        }
        durable
    }

    fn take_one(&mut self, op: &[Atom], kept: &[bool], durable: &mut Vec<Durable>) {
        let seq = op[0].seq;
        let is_whole = self.ops[&seq].gone.is_empty();
        if is_whole && !kept.contains(&false) {
            let Pending { at, change, .. } = self.remove(seq);
            self.cut_earlier(seq, &change);
            durable.push(Durable { at, change });
            return;
        }
        let pending = self.ops.get_mut(&seq).expect("invariant: atoms are of this log");
        for (atom, _) in op.iter().zip(kept).filter(|(_, kept)| **kept) {
            let Some(sector) = atom.sector else { continue };
            durable.push(Durable { at: pending.at, change: pending.change.of_sector(sector) });
            pending.gone.push(sector);
        }
        if !kept.contains(&false) {
            self.remove(seq);
        }
    }

    /// A cut that is durable before data that was written before it: what that data had behind the
    /// cut is not in the cache any more, so that it never reaches the medium.
    fn cut_earlier(&mut self, seq: u64, cut: &Change) {
        let Change::Size { ino, size, was } = cut else { return };
        if size >= was {
            return;
        }
        let earlier = self.owned.get(ino).into_iter().flat_map(|own| own.range(..seq));
        for pending in earlier {
            if let Some(op) = self.ops.get_mut(pending) {
                op.change.clear_behind(*size);
            }
        }
    }

    /// Forgets everything of an inode that nothing can ever lead to again.
    pub(crate) fn forget(&mut self, ino: Ino) {
        for seq in self.owned.get(&ino).cloned().unwrap_or_default() {
            self.remove(seq);
        }
    }

    /// The write back of a file's data before `mark` failed. How many sectors are lost.
    pub(crate) fn lose(&mut self, ino: Ino, mark: u64) -> usize {
        let mut lost = 0;
        for seq in self.owned.get(&ino).into_iter().flatten().take_while(|seq| **seq < mark) {
            let Some(op) = self.ops.get_mut(seq) else { continue };
            if matches!(op.change, Change::Data { .. }) && !op.lost {
                op.lost = true;
                lost += op.change.atoms() - op.gone.len();
            }
        }
        lost
    }

    fn remove(&mut self, seq: u64) -> Pending {
        let op = self.ops.remove(&seq).expect("invariant: a change leaves the log once");
        for owner in op.change.owners().into_iter().flatten() {
            if let Some(own) = self.owned.get_mut(&owner) {
                own.remove(&seq);
                if own.is_empty() {
                    self.owned.remove(&owner);
                }
            }
        }
        for ino in op.change.named().into_iter().flatten() {
            if let Some(count) = self.named.get_mut(&ino) {
                *count -= 1;
                if *count == 0 {
                    self.named.remove(&ino);
                }
            }
        }
        op
    }
}
