//! File systems beside the disk: kept in memory, as tmpfs, and empty after a loss of power.
//!
//! Owns: where one begins, and what tells its files from those of the disk. Does not own: the calls, which
//! are the same on all of them.
//!
//! Invariants: an inode's number says which file system it is of; both ends of a name, and both places of
//! a rename, are of one. A change in memory is never in the log, and of all that the medium only has the
//! empty directory in which such a file system begins.

use std::collections::BTreeMap;
use std::path::Path;

use super::Volume;
use super::change::Change;
use super::handles::Handle;
use super::tree::{Dir, Ino, Inode, Kind, Times};
use crate::errno::Outcome;

/// Where the file system stands in the number of an inode: above all numbers that are ever given.
const SHIFT: u32 = 48;

impl Ino {
    /// The number of a file system's inode.
    pub(super) fn of(file_system: u32, number: u64) -> Self {
        Self(u64::from(file_system) << SHIFT | number)
    }

    /// Which file system: 0 is the disk.
    pub(super) fn file_system(self) -> u32 {
        (self.0 >> SHIFT) as u32
    }

    /// The number that a program is told.
    pub(super) fn number(self) -> u64 {
        self.0 & ((1 << SHIFT) - 1)
    }

    pub(super) fn is_in_memory(self) -> bool {
        self.file_system() > 0
    }
}

impl Change {
    pub(super) fn is_in_memory(&self) -> bool {
        self.owners()[0].is_some_and(Ino::is_in_memory)
    }
}

impl Volume {
    /// Makes a directory in which an empty file system begins that is kept in memory, as tmpfs: nothing
    /// in it is ever durable, nothing counts towards the capacity of the disk, and a loss of power
    /// empties it. Names do not move between it and the disk (`EXDEV`). The directory is durable where
    /// the one that it is in is.
    ///
    /// # Errors
    /// As [`Self::create_dir`].
    ///
    /// # Examples
    /// ```
    /// use detsim_fs::{Errno, Volume, VolumeConfig};
    /// use std::path::Path;
    /// let mut volume = Volume::new(VolumeConfig::default());
    /// volume.mount_memory(Path::new("/shm"))?;
    /// volume.create_dir(Path::new("/shm/d"), 0o755)?;
    /// assert_eq!(volume.rename(Path::new("/shm/d"), Path::new("/d")), Err(Errno::EXDEV));
    /// volume.crash(&mut |_| 0);
    /// assert_eq!(volume.read_dir(Path::new("/shm"))?, []);
    /// # Ok::<(), Errno>(())
    /// ```
    pub fn mount_memory(&mut self, path: &Path) -> Outcome<()> {
        let at = self.free_entry(path)?;
        self.file_systems += 1;
        let ino = Ino::of(self.file_systems, self.next_ino);
        self.next_ino += 1;
        let kind = Kind::Dir(Dir { entries: BTreeMap::new(), parent: at.dir });
        let inode = Inode { kind, mode: 0o1777, links: 0, times: Times::new(self.now) };
        let change = Change::Link { at, ino };
        for tree in [&mut self.live, &mut self.medium] {
            tree.insert(ino, inode.clone());
            tree.apply(&change, self.now);
        }
        Ok(())
    }

    /// Is an open file one of those in memory?
    pub(crate) fn is_in_memory(&self, handle: Handle) -> Outcome<bool> {
        Ok(self.handles.find(handle)?.ino.is_in_memory())
    }

    /// The largest size of a file.
    pub(super) fn size_max(&self, ino: Ino) -> u64 {
        match ino.is_in_memory() {
            true => i64::MAX as u64,
            false => self.config.file_bytes_max,
        }
    }
}
