//! The store: a map in memory, and the log that it is rebuilt from.
//!
//! Owns: where entries lie, and recovery. Does not own: their bytes ([`crate::entry`]).
//!
//! # Invariants
//! - The map is what the entries in `0..end` of the log make, in order.
//! - Between recovery and the next crash, everything at and after `end` is zeros. Otherwise an
//!   entry of an earlier life, left behind by a crash, would follow the first new entry that is as
//!   long as the one it used to follow.

use std::collections::BTreeMap;
use std::io;

use detsim_fs::FaultyStorage;

use crate::entry::{Checksums, Entry, HEADER_BYTES};

/// A key-value store on a disk of its own.
///
/// A change is in the log when [`put`](Self::put) or [`delete`](Self::delete) returns, and survives
/// a crash once [`sync`](Self::sync) has returned. Recovery is to a point in time: it takes entries
/// up to the first that is not whole, and drops the rest.
///
/// # Examples
/// ```
/// use detsim_fs::{FaultProfile, FaultyStorage};
/// use kv::{Checksums, Kv};
///
/// let mut kv = Kv::recover(FaultyStorage::new(1, FaultProfile::default()), Checksums::On)?;
/// kv.put(b"color", b"green")?;
/// kv.sync()?;
/// kv.put(b"color", b"red")?;
///
/// let mut disk = kv.into_storage();
/// disk.crash();
/// let kv = Kv::recover(disk, Checksums::On)?;
/// assert_eq!(kv.get(b"color"), Some(&b"green"[..]));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Kv {
    storage: FaultyStorage,
    checksums: Checksums,
    map: BTreeMap<Vec<u8>, Vec<u8>>,
    end: u64,
    recovery: Recovery,
}

/// What a recovery found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// Entries that were taken.
    pub entries: u64,
    /// Bytes after the last of them. They are a torn tail, or damage: the log cannot tell.
    pub dropped_bytes: u64,
}

impl Kv {
    /// Opens the store that lies on `storage`; an empty disk is an empty store. Any bytes will do:
    /// recovery stops at the first entry that is not one.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn recover(storage: FaultyStorage, checksums: Checksums) -> io::Result<Self> {
        let recovery = Recovery::default();
        let mut kv = Self { storage, checksums, map: BTreeMap::new(), end: 0, recovery };
        while let Some((entry, len)) = kv.read_entry(kv.end)? {
            kv.apply(entry);
            kv.end += len;
            kv.recovery.entries += 1;
        }
        kv.recovery.dropped_bytes = kv.storage.size() - kv.end;
        kv.wipe_tail()?;
        Ok(kv)
    }

    /// The value of `key`.
    pub fn get(&self, key: &[u8]) -> Option<&[u8]> {
        self.map.get(key).map(Vec::as_slice)
    }

    /// Sets the value of `key`.
    ///
    /// # Errors
    /// `InvalidInput` where the key is over 65,535 bytes or the value over 4 GiB; those of the
    /// disk. The store is then as before.
    pub fn put(&mut self, key: &[u8], value: &[u8]) -> io::Result<()> {
        self.log(Entry::Put { key: key.to_vec(), value: value.to_vec() })
    }

    /// Removes `key`, whether or not it is there.
    ///
    /// # Errors
    /// As [`put`](Self::put).
    pub fn delete(&mut self, key: &[u8]) -> io::Result<()> {
        self.log(Entry::Delete { key: key.to_vec() })
    }

    /// Makes every change so far survive a crash.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn sync(&mut self) -> io::Result<()> {
        self.storage.sync()
    }

    /// All keys and values, by key.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.map.iter().map(|(key, value)| (key.as_slice(), value.as_slice()))
    }

    /// What recovery found when this store was opened.
    pub fn recovery(&self) -> Recovery {
        self.recovery
    }

    /// Gives up the store; changes that were not synced stay as pending as they are.
    pub fn into_storage(self) -> FaultyStorage {
        self.storage
    }

    /// The log first, the map only when the log has it.
    fn log(&mut self, entry: Entry) -> io::Result<()> {
        let bytes = entry.encode(self.checksums).ok_or(io::ErrorKind::InvalidInput)?;
        write_all_at(&mut self.storage, self.end, &bytes)?;
        self.end += bytes.len() as u64;
        self.apply(entry);
        Ok(())
    }

    fn apply(&mut self, entry: Entry) {
        match entry {
            Entry::Put { key, value } => self.map.insert(key, value),
            Entry::Delete { key } => self.map.remove(&key),
        };
    }

    /// The entry at `offset` and its length; none where the log ends there.
    fn read_entry(&self, offset: u64) -> io::Result<Option<(Entry, u64)>> {
        let mut header = [0; HEADER_BYTES];
        if !read_exact_at(&self.storage, offset, &mut header)? {
            return Ok(None);
        }
        let len = Entry::total_len(&header);
        // The length may be garbage: it decides nothing before it is known to be on the disk.
        if len > self.storage.size() - offset {
            return Ok(None);
        }
        let mut bytes = vec![0; len as usize];
        if !read_exact_at(&self.storage, offset, &mut bytes)? {
            return Ok(None);
        }
        Ok(Entry::decode(&bytes, self.checksums).map(|entry| (entry, len)))
    }

    fn wipe_tail(&mut self) -> io::Result<()> {
        const ZEROS: [u8; 4096] = [0; 4096];
        let mut at = self.end;
        while at < self.storage.size() {
            let len = (self.storage.size() - at).min(ZEROS.len() as u64);
            write_all_at(&mut self.storage, at, &ZEROS[..len as usize])?;
            at += len;
        }
        self.storage.sync()
    }
}

/// Fills `buf`, or says that the disk ends before.
fn read_exact_at(storage: &FaultyStorage, offset: u64, buf: &mut [u8]) -> io::Result<bool> {
    let mut done = 0;
    while done < buf.len() {
        match storage.read_at(offset + done as u64, &mut buf[done..])? {
            0 => return Ok(false),
            read => done += read,
        }
    }
    Ok(true)
}

fn write_all_at(storage: &mut FaultyStorage, offset: u64, bytes: &[u8]) -> io::Result<()> {
    let mut done = 0;
    while done < bytes.len() {
        match storage.write_at(offset + done as u64, &bytes[done..])? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            written => done += written,
        }
    }
    Ok(())
}
