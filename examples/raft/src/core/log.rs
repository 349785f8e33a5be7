//! The replicated log.
//!
//! Owns: entries, positions, and the one way a log changes (cut behind a position, then extended).
//! Does not own: what is committed, or when a log may change. Indexes count from 1; index 0 is
//! the position before the first entry, on which all logs agree.

use std::ops::Deref;
use std::sync::Arc;

/// A leader's reign, counted from 1; 0 is before the first.
pub type Term = u64;
/// A place in the log, counted from 1; 0 is before the first.
pub type Index = u64;

/// The most entries in one message.
pub const BATCH: usize = 64;

/// One entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The term of the leader that made it.
    pub term: Term,
    /// What the client asked for.
    pub command: u64,
}

/// The name of an entry, ordered as "at least as up to date" is in section 5.4.1 of the paper:
/// by term, then by index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The entry's term.
    pub term: Term,
    /// The entry's index.
    pub index: Index,
}

/// A run of entries, shared by all messages that carry it. The empty run allocates nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entries(Option<Arc<[Entry]>>);

impl From<&[Entry]> for Entries {
    fn from(entries: &[Entry]) -> Self {
        Self((!entries.is_empty()).then(|| entries.into()))
    }
}

impl Deref for Entries {
    type Target = [Entry];
    fn deref(&self) -> &[Entry] {
        self.0.as_deref().unwrap_or_default()
    }
}

/// A log: entries of never falling terms.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    entries: Vec<Entry>,
}

impl Log {
    /// All entries; that of index `i` is at `i - 1`.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Where the log ends.
    pub fn last(&self) -> Position {
        Position {
            term: self.entries.last().map_or(0, |entry| entry.term),
            index: self.entries.len() as Index,
        }
    }

    /// The name of the entry at `index`, which must lie in the log or be 0.
    pub fn position(&self, index: Index) -> Position {
        let term = if index == 0 { 0 } else { self.entries[index as usize - 1].term };
        Position { term, index }
    }

    /// Whether the log has this very entry.
    pub fn contains(&self, at: Position) -> bool {
        at.index <= self.entries.len() as Index && self.position(at.index) == at
    }

    /// At most [`BATCH`] entries from `index` on.
    pub fn batch_from(&self, index: Index) -> Entries {
        let tail = &self.entries[index as usize - 1..];
        tail[..tail.len().min(BATCH)].into()
    }

    /// Adds an entry at the end and names it.
    pub fn push(&mut self, entry: Entry) -> Position {
        self.entries.push(entry);
        self.last()
    }

    /// Cuts the log behind `index` and puts `entries` there.
    pub fn replace_after(&mut self, index: Index, entries: &[Entry]) {
        self.entries.truncate(index as usize);
        self.entries.extend_from_slice(entries);
    }

    /// How many of `entries` the log already has behind `index`. Only a *conflict* may cut the
    /// log: a late message with less than what is here must not take the rest away.
    pub fn agreement(&self, index: Index, entries: &[Entry]) -> usize {
        let here = &self.entries[index as usize..];
        here.iter().zip(entries).take_while(|(a, b)| a.term == b.term).count()
    }

    /// The furthest index at which a log with no entry `missing` may agree with its owner's:
    /// the end, or the place before the first entry of the term that is here instead.
    pub fn hint(&self, missing: Position) -> Index {
        if missing.index > self.entries.len() as Index {
            return self.entries.len() as Index;
        }
        let before = &self.entries[..missing.index as usize];
        let term = before.last().map_or(0, |entry| entry.term);
        before.partition_point(|entry| entry.term < term) as Index
    }
}
