//! What the store may serve after a crash.
//!
//! Owns: the history of changes, and the comparison. Does not own: the store.
//!
//! The rule: a store that recovered `n` entries serves exactly what the first `n` changes made, and
//! `n` is at least the number of changes that were synced, unless the disk damaged a byte: a log
//! without a second copy can detect damage, it cannot undo it.

use std::collections::BTreeMap;
use std::fmt;

use crate::store::Kv;

type Bytes = Vec<u8>;

/// How the store broke its word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// A key has a value that it never had at the point in time that was recovered.
    Corrupted {
        /// The key.
        key: Bytes,
        /// What the store serves, where it serves anything.
        got: Option<Bytes>,
        /// What it must serve, where it must serve anything.
        want: Option<Bytes>,
    },
    /// More entries came back than were ever written.
    Invented {
        /// Entries that recovery took.
        entries: u64,
        /// Changes that were made.
        written: u64,
    },
    /// Synced changes are gone although the disk damaged nothing.
    Lost {
        /// Entries that recovery took.
        entries: u64,
        /// Changes that were synced.
        synced: u64,
    },
}

/// Remembers every change.
#[derive(Debug, Default)]
pub(crate) struct Oracle {
    changes: Vec<(Bytes, Option<Bytes>)>,
    synced: usize,
}

impl Oracle {
    /// The value of `key` was set, or with none removed.
    pub(crate) fn on_change(&mut self, key: &[u8], value: Option<&[u8]>) {
        self.changes.push((key.to_vec(), value.map(<[u8]>::to_vec)));
    }

    pub(crate) fn on_sync(&mut self) {
        self.synced = self.changes.len();
    }

    /// Judges a store that has just been recovered, and goes on from what it took.
    pub(crate) fn on_recover(&mut self, kv: &Kv, disk_is_damaged: bool) -> Option<Finding> {
        let entries = kv.recovery().entries;
        let (written, synced) = (self.changes.len() as u64, self.synced as u64);
        let got: BTreeMap<&[u8], &[u8]> = kv.iter().collect();
        let want = self.state(entries);
        let finding = difference(&got, &want)
            .or_else(|| (entries > written).then_some(Finding::Invented { entries, written }))
            .or_else(|| {
                let lost = entries < synced && !disk_is_damaged;
                lost.then_some(Finding::Lost { entries, synced })
            });
        self.changes.truncate(entries as usize);
        self.synced = self.changes.len();
        finding
    }

    /// What the first `len` changes make.
    fn state(&self, len: u64) -> BTreeMap<&[u8], &[u8]> {
        let mut state = BTreeMap::new();
        for (key, value) in self.changes.iter().take(len as usize) {
            match value {
                Some(value) => state.insert(key.as_slice(), value.as_slice()),
                None => state.remove(key.as_slice()),
            };
        }
        state
    }
}

/// The first key that the two disagree about.
fn difference(got: &BTreeMap<&[u8], &[u8]>, want: &BTreeMap<&[u8], &[u8]>) -> Option<Finding> {
    let key = want.keys().chain(got.keys()).find(|key| got.get(*key) != want.get(*key))?;
    let value = |map: &BTreeMap<&[u8], &[u8]>| map.get(key).map(|value| value.to_vec());
    Some(Finding::Corrupted { key: key.to_vec(), got: value(got), want: value(want) })
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Corrupted { key, got, want } => {
                let key = key.escape_ascii();
                let from = common_prefix(got.as_deref(), want.as_deref()).saturating_sub(4);
                let (got, want) = (excerpt(got.as_deref(), from), excerpt(want.as_deref(), from));
                write!(f, "CORRUPTED: {key} got {got} want {want}")
            }
            Self::Invented { entries, written } => {
                write!(f, "INVENTED: got {entries} entries want at most the {written} written")
            }
            Self::Lost { entries, synced } => {
                write!(f, "LOST: got {entries} entries want at least the {synced} synced")
            }
        }
    }
}

fn common_prefix(a: Option<&[u8]>, b: Option<&[u8]>) -> usize {
    let pairs = a.unwrap_or_default().iter().zip(b.unwrap_or_default());
    pairs.take_while(|(a, b)| a == b).count()
}

/// The bytes from `from` on, as far as they fit into a line.
fn excerpt(value: Option<&[u8]>, from: usize) -> String {
    const SHOWN: usize = 12;
    let Some(value) = value else { return "nothing".to_owned() };
    let rest = &value[from.min(value.len())..];
    let before = if from > 0 { "…" } else { "" };
    let after = if rest.len() > SHOWN { "…" } else { "" };
    format!("{before}{}{after}", rest[..rest.len().min(SHOWN)].escape_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corrupted(got: Option<&[u8]>, want: Option<&[u8]>) -> String {
        let [got, want] = [got, want].map(|value| value.map(<[u8]>::to_vec));
        Finding::Corrupted { key: b"key3".to_vec(), got, want }.to_string()
    }

    #[test]
    fn a_finding_shows_where_the_values_part() {
        assert_eq!(corrupted(Some(b"v1\0"), Some(b"v17")), "CORRUPTED: key3 got v1\\x00 want v17");
        assert_eq!(corrupted(None, Some(b"v17")), "CORRUPTED: key3 got nothing want v17");
        assert_eq!(corrupted(Some(b""), None), "CORRUPTED: key3 got  want nothing");
        let long = b"v17==================================".as_slice();
        let mut bad = long.to_vec();
        bad[20] = b'X';
        assert_eq!(
            corrupted(Some(&bad), Some(long)),
            "CORRUPTED: key3 got …====X=======… want …============…"
        );
    }
}
