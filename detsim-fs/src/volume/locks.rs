//! The calls that lock files, or parts of them.
//!
//! Owns: what they give. Does not own: which locks exclude which (`handles.rs`, `ranges.rs`), or waiting:
//! nothing here waits.

use super::Volume;
use super::handles::{Handle, LockKind};
use super::ranges::{ByteRange, LockOwner, PROCESS};
use super::tree::Ino;
use crate::errno::{Errno, Outcome};

impl Volume {
    /// Locks a file, or changes how it is locked. A lock belongs to the open file and ends with its
    /// last handle; it keeps nobody from reading and writing.
    ///
    /// # Errors
    /// `EAGAIN` where another open file's lock forbids it, `EBADF`.
    pub fn try_lock(&mut self, handle: Handle, kind: LockKind) -> Outcome<()> {
        match self.handles.try_lock(handle, kind)? {
            true => Ok(()),
            false => Err(Errno::EAGAIN),
        }
    }

    /// Locks a part of a file, or gives it back (`None`).
    ///
    /// # Errors
    /// `EAGAIN` where another owner's lock forbids it; `EBADF`, also where the file is not open for
    /// reading, or for writing, as the lock demands.
    pub fn try_lock_range(
        &mut self,
        handle: Handle,
        owner: LockOwner,
        range: ByteRange,
        kind: Option<LockKind>,
    ) -> Outcome<()> {
        if let Some(kind) = kind {
            let flags = self.handles.find(handle)?.flags;
            let allows = match kind {
                LockKind::Exclusive => flags.writes(),
                LockKind::Shared => flags.read,
            };
            if !allows {
                return Err(Errno::EBADF);
            }
            if self.range_obstacle(handle, owner, range, kind)?.is_some() {
                return Err(Errno::EAGAIN);
            }
        }
        let (ino, owner) = self.range_owner(handle, owner)?;
        self.handles.ranges.set(ino, owner, range, kind);
        Ok(())
    }

    /// A lock of a part of a file that another owner has, and that forbids this one.
    ///
    /// # Errors
    /// `EBADF`.
    pub fn range_obstacle(
        &self,
        handle: Handle,
        owner: LockOwner,
        range: ByteRange,
        kind: LockKind,
    ) -> Outcome<Option<(LockKind, ByteRange)>> {
        let (ino, owner) = self.range_owner(handle, owner)?;
        Ok(self.handles.ranges.obstacle(ino, owner, kind, range))
    }

    fn range_owner(&self, handle: Handle, owner: LockOwner) -> Outcome<(Ino, u64)> {
        let ino = self.handles.find(handle)?.ino;
        Ok(match owner {
            LockOwner::OpenFile => (ino, self.handles.key(handle)?),
            LockOwner::Process => (ino, PROCESS),
        })
    }

    /// The number of the open file behind a handle: duplicates of a handle share it.
    pub(crate) fn open_number(&self, handle: Handle) -> Outcome<u64> {
        self.handles.key(handle)
    }

    /// The numbers of the open files that have a lock of the file `ino`.
    pub(crate) fn locked_by(&self, ino: u64) -> Vec<u64> {
        self.handles.lockers(Ino(ino))
    }

    /// Gives a lock back; nothing happens where there is none.
    ///
    /// # Errors
    /// `EBADF`.
    pub fn unlock(&mut self, handle: Handle) -> Outcome<()> {
        self.handles.unlock(handle)
    }
}
