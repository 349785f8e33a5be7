//! Open files.
//!
//! Owns: [`Handle`]s, what is shared between a handle and its duplicates (flags, the position), and
//! locks. Does not own: what is read and written through them.
//!
//! Invariants: a handle's number is never used again; an inode is held while a handle to it is open.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::OpenFlags;
use super::ranges::{PROCESS, Ranges};
use super::tree::{Ino, Name};
use crate::errno::{Errno, Outcome};

/// An open file of a [`Volume`](super::Volume).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Handle(pub(crate) u64);

/// How a file is locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LockKind {
    /// By one alone.
    Exclusive,
    /// By any number.
    Shared,
}

/// What a handle shares with its duplicates.
#[derive(Clone, Debug)]
pub(crate) struct Open {
    pub(crate) ino: Ino,
    pub(crate) flags: OpenFlags,
    pub(crate) offset: u64,
    /// Of a directory that is being listed: its names.
    pub(crate) listing: Option<Rc<[Name]>>,
    /// How many of them have been told.
    pub(crate) told: usize,
    /// How many failures of its file's write back it has been told of.
    pub(crate) failures_told: u64,
    handles: u32,
    lock: Option<LockKind>,
}

/// All open files.
#[derive(Clone, Debug, Default)]
pub(crate) struct Handles {
    open: BTreeMap<u64, Open>,
    /// Which of them a handle stands for.
    of: BTreeMap<Handle, u64>,
    held: BTreeMap<Ino, u32>,
    /// How often the write back of a file failed while it was held.
    failures: BTreeMap<Ino, u64>,
    pub(crate) ranges: Ranges,
    next: u64,
}

impl Handles {
    pub(crate) fn len(&self) -> usize {
        self.of.len()
    }

    pub(crate) fn hold(&self, ino: Ino) -> bool {
        self.held.contains_key(&ino)
    }

    pub(crate) fn open(&mut self, ino: Ino, flags: OpenFlags) -> Handle {
        let failures_told = self.failures.get(&ino).copied().unwrap_or(0);
        let open = Open {
            ino,
            flags,
            offset: 0,
            listing: None,
            told: 0,
            failures_told,
            handles: 0,
            lock: None,
        };
        let key = self.number();
        self.open.insert(key, open);
        *self.held.entry(ino).or_default() += 1;
        self.handle_to(key)
    }

    /// A handle that shares everything with `handle`.
    pub(crate) fn duplicate(&mut self, handle: Handle) -> Outcome<Handle> {
        let key = *self.of.get(&handle).ok_or(Errno::EBADF)?;
        Ok(self.handle_to(key))
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn handle_to(&mut self, key: u64) -> Handle {
        let handle = Handle(self.number());
        self.of.insert(handle, key);
        if let Some(open) = self.open.get_mut(&key) {
            open.handles += 1;
        }
        handle
    }

    pub(crate) fn find(&self, handle: Handle) -> Outcome<&Open> {
        let open = self.of.get(&handle).and_then(|key| self.open.get(key));
        open.ok_or(Errno::EBADF)
    }

    pub(crate) fn find_mut(&mut self, handle: Handle) -> Outcome<&mut Open> {
        let Self { of, open, .. } = self;
        of.get(&handle).and_then(|key| open.get_mut(key)).ok_or(Errno::EBADF)
    }

    /// Closes a handle; gives the inode that nobody holds any more, if so.
    pub(crate) fn close(&mut self, handle: Handle) -> Outcome<Option<Ino>> {
        let key = self.of.remove(&handle).ok_or(Errno::EBADF)?;
        let Some(open) = self.open.get_mut(&key) else { return Ok(None) };
        let ino = open.ino;
        open.handles -= 1;
        let is_last = open.handles == 0;
        self.ranges.release(ino, PROCESS);
        if !is_last {
            return Ok(None);
        }
        self.ranges.release(ino, key);
        self.open.remove(&key);
        let held = self.held.entry(ino).or_default();
        *held -= 1;
        if *held > 0 {
            return Ok(None);
        }
        self.held.remove(&ino);
        self.failures.remove(&ino);
        Ok(Some(ino))
    }

    /// Closes all; gives the inodes that were held.
    pub(crate) fn end(&mut self) -> Vec<Ino> {
        self.open.clear();
        self.of.clear();
        self.ranges.clear();
        self.failures.clear();
        std::mem::take(&mut self.held).into_keys().collect()
    }

    /// The write back of a file failed: each handle that is open now is told once.
    pub(crate) fn fail(&mut self, ino: Ino) {
        if self.hold(ino) {
            *self.failures.entry(ino).or_default() += 1;
        }
    }

    /// Is there a failure that this handle was not told of? It is from now on.
    pub(crate) fn take_failure(&mut self, handle: Handle) -> Outcome<bool> {
        let failures = self.failures.get(&self.find(handle)?.ino).copied().unwrap_or(0);
        let open = self.find_mut(handle)?;
        Ok(std::mem::replace(&mut open.failures_told, failures) < failures)
    }

    /// Takes a lock, or changes its kind; false where others' locks forbid it.
    pub(crate) fn try_lock(&mut self, handle: Handle, kind: LockKind) -> Outcome<bool> {
        let key = *self.of.get(&handle).ok_or(Errno::EBADF)?;
        let open = self.find(handle)?;
        if open.flags.path_only {
            return Err(Errno::EBADF);
        }
        let ino = open.ino;
        let others = self.open.iter().filter(|(other, open)| **other != key && open.ino == ino);
        let mut locks = others.filter_map(|(_, open)| open.lock);
        let is_free = match kind {
            LockKind::Exclusive => locks.next().is_none(),
            LockKind::Shared => locks.all(|lock| lock == LockKind::Shared),
        };
        if is_free {
            self.find_mut(handle)?.lock = Some(kind);
        }
        Ok(is_free)
    }

    /// The number of the open file behind a handle, which it shares with its duplicates.
    pub(crate) fn key(&self, handle: Handle) -> Outcome<u64> {
        self.of.get(&handle).copied().ok_or(Errno::EBADF)
    }

    /// The open files that have a lock of this file.
    pub(crate) fn lockers(&self, ino: Ino) -> Vec<u64> {
        let has = |(_, open): &(&u64, &Open)| open.ino == ino && open.lock.is_some();
        let whole = self.open.iter().filter(has).map(|(key, _)| *key);
        whole.chain(self.ranges.owners(ino)).collect()
    }

    pub(crate) fn unlock(&mut self, handle: Handle) -> Outcome<()> {
        let open = self.find_mut(handle)?;
        if open.flags.path_only {
            return Err(Errno::EBADF);
        }
        open.lock = None;
        Ok(())
    }
}
