//! Locks of parts of files.
//!
//! Owns: who has which bytes of which file locked, as `fcntl` knows it. Does not own: locks of whole files
//! by `flock`, which are a world of their own (`handles.rs`), or waiting. Invariant: the parts that one
//! owner has of a file do not overlap.

use std::collections::BTreeMap;

use super::LockKind;
use super::tree::Ino;

/// Some bytes of a file, or all of them: the file need not have them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteRange {
    /// The first.
    pub start: u64,
    /// Behind the last; [`u64::MAX`] is behind every file's last.
    pub end: u64,
}

impl ByteRange {
    fn meets(self, other: Self) -> bool {
        self.start < other.end && other.start < self.end
    }

    /// What is left of this one outside of another.
    fn without(self, other: Self) -> impl Iterator<Item = Self> {
        let before = Self { start: self.start, end: self.end.min(other.start) };
        let behind = Self { start: self.start.max(other.end), end: self.end };
        [before, behind].into_iter().filter(|part| part.start < part.end)
    }
}

/// Who has a lock of a part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockOwner {
    /// The open file, and all duplicates of its handle: it ends with the last of them.
    OpenFile,
    /// The process: it ends when any handle to the file is closed, as POSIX has it.
    Process,
}

/// The owner that a process is; open files have numbers above it.
pub(crate) const PROCESS: u64 = 0;

#[derive(Clone, Copy, Debug)]
struct Held {
    owner: u64,
    kind: LockKind,
    range: ByteRange,
}

/// All such locks of a node.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges(BTreeMap<Ino, Vec<Held>>);

impl Ranges {
    /// A lock of another owner that forbids this one.
    pub(crate) fn obstacle(
        &self,
        ino: Ino,
        owner: u64,
        kind: LockKind,
        range: ByteRange,
    ) -> Option<(LockKind, ByteRange)> {
        let excludes =
            |held: &&Held| held.kind == LockKind::Exclusive || kind == LockKind::Exclusive;
        let mut others = self.0.get(&ino).into_iter().flatten().filter(|held| held.owner != owner);
        others.find(|held| held.range.meets(range) && excludes(held)).map(|h| (h.kind, h.range))
    }

    /// The owner has this part locked so from now on, whatever it had of it before.
    pub(crate) fn set(&mut self, ino: Ino, owner: u64, range: ByteRange, kind: Option<LockKind>) {
        let held = self.0.remove(&ino).unwrap_or_default();
        let (own, mut rest): (Vec<Held>, Vec<Held>) =
            held.into_iter().partition(|held| held.owner == owner);
        for part in own {
            rest.extend(part.range.without(range).map(|range| Held { range, ..part }));
        }
        rest.extend(kind.map(|kind| Held { owner, kind, range }));
        if !rest.is_empty() {
            self.0.insert(ino, rest);
        }
    }

    /// The owner has no part of the file locked any more.
    pub(crate) fn release(&mut self, ino: Ino, owner: u64) {
        if let Some(held) = self.0.get_mut(&ino) {
            held.retain(|held| held.owner != owner);
            if held.is_empty() {
                self.0.remove(&ino);
            }
        }
    }

    pub(crate) fn owners(&self, ino: Ino) -> impl Iterator<Item = u64> {
        self.0.get(&ino).into_iter().flatten().map(|held| held.owner)
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: Ino = Ino(7);
    const ALL: ByteRange = ByteRange { start: 0, end: u64::MAX };

    fn range(start: u64, end: u64) -> ByteRange {
        ByteRange { start, end }
    }

    #[test]
    fn a_part_that_is_given_back_is_free_and_the_rest_is_not() {
        let mut ranges = Ranges::default();
        ranges.set(FILE, 1, ALL, Some(LockKind::Exclusive));
        ranges.set(FILE, 1, range(10, 20), None);
        let obstacle = |part| ranges.obstacle(FILE, 2, LockKind::Shared, part);
        assert_eq!(obstacle(range(10, 20)), None);
        assert_eq!(obstacle(range(9, 20)), Some((LockKind::Exclusive, range(0, 10))));
        assert_eq!(obstacle(range(15, 21)), Some((LockKind::Exclusive, range(20, u64::MAX))));
    }

    #[test]
    fn readers_share_and_an_owner_never_stands_in_its_own_way() {
        let mut ranges = Ranges::default();
        ranges.set(FILE, 1, range(0, 9), Some(LockKind::Shared));
        assert_eq!(ranges.obstacle(FILE, 2, LockKind::Shared, ALL), None);
        assert!(ranges.obstacle(FILE, 2, LockKind::Exclusive, ALL).is_some());
        assert_eq!(ranges.obstacle(FILE, 1, LockKind::Exclusive, ALL), None);
        ranges.release(FILE, 1);
        assert_eq!(ranges.obstacle(FILE, 2, LockKind::Exclusive, ALL), None);
        assert_eq!(ranges.owners(FILE).count(), 0);
    }
}
