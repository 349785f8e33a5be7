//! The room that files take: `fallocate(2)`.
//!
//! Owns: reserving room, giving it back, and zeros by either way. Does not own: the room that a write takes
//! (`files.rs`).
//!
//! Reserved room is no change of the log: it is on the medium as of the last sync of its file, and room
//! beyond the end of a file is not there after a loss of power. Zeros are written as bytes, sector by
//! sector.

use std::ops::Range;
use std::rc::Rc;

use super::Volume;
use super::change::Change;
use super::contents::PAGE;
use super::handles::Handle;
use super::tree::{Ino, Kind};
use crate::errno::{Errno, Outcome};

/// What becomes of a part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allocation {
    /// It has room, so that no write there fails for want of it; the file grows to hold it, or not.
    Reserve {
        /// Whether the file grows.
        grows: bool,
    },
    /// It is zeros and takes no room; the size stays.
    Punch,
    /// It is zeros and has room.
    Zero {
        /// Whether the file grows.
        grows: bool,
    },
}

impl Volume {
    /// Gives a part of a file room, or takes it, as `fallocate(2)`.
    ///
    /// # Errors
    /// `EBADF`, also where the file was not opened for writing; `EFBIG`; `EINVAL` for no bytes;
    /// `ENOSPC`.
    ///
    /// # Examples
    /// ```
    /// use detsim_fs::{Allocation, Errno, OpenFlags, Volume, VolumeConfig};
    /// use std::path::Path;
    /// let mut volume = Volume::new(VolumeConfig { capacity: 8 * 4096, ..VolumeConfig::default() });
    /// let flags = OpenFlags { write: true, create: true, ..OpenFlags::default() };
    /// let log = volume.open(Path::new("/log"), flags, 0o644)?;
    /// volume.allocate(log, 0, 8 * 4096, Allocation::Reserve { grows: true })?;
    /// let other = volume.open(Path::new("/other"), flags, 0o644)?;
    /// assert_eq!(volume.write(other, b"x"), Err(Errno::ENOSPC));
    /// assert_eq!(volume.write(log, &[1; 8 * 4096]), Ok(8 * 4096));
    /// # Ok::<(), Errno>(())
    /// ```
    pub fn allocate(
        &mut self,
        handle: Handle,
        offset: u64,
        len: u64,
        allocation: Allocation,
    ) -> Outcome<()> {
        let open = self.handles.find(handle)?;
        let ino = open.ino;
        if len == 0 {
            return Err(Errno::EINVAL);
        }
        if !open.flags.writes() || open.flags.path_only {
            return Err(Errno::EBADF);
        }
        let end = offset.checked_add(len).filter(|end| *end <= self.size_max(ino));
        let bytes = offset..end.ok_or(Errno::EFBIG)?;
        match allocation {
            Allocation::Reserve { grows } => self.reserve(ino, bytes, grows),
            Allocation::Punch => {
                self.clear(ino, bytes.clone());
                let size = PAGE as u64;
                let whole = bytes.start.div_ceil(size)..bytes.end / size;
                self.change_room(ino, |file| file.punch(whole.start..whole.end.max(whole.start)));
                Ok(())
            }
            Allocation::Zero { grows } => {
                self.reserve(ino, bytes.clone(), grows)?;
                self.clear(ino, bytes);
                Ok(())
            }
        }
    }

    fn reserve(&mut self, ino: Ino, bytes: Range<u64>, grows: bool) -> Outcome<()> {
        let pages = bytes.start / PAGE as u64..bytes.end.div_ceil(PAGE as u64);
        let wanted = self.live.at(ino).file().map_or(0, |file| file.holes(&pages));
        if !ino.is_in_memory() && wanted > self.free_pages() {
            return Err(Errno::ENOSPC);
        }
        self.change_room(ino, |file| file.reserve(pages));
        if grows && self.size_of(ino) < bytes.end {
            self.resize(ino, bytes.end);
        }
        Ok(())
    }

    /// Writes zeros over the bytes that are there.
    fn clear(&mut self, ino: Ino, bytes: Range<u64>) {
        let bytes = bytes.start..bytes.end.min(self.size_of(ino));
        let stored = match self.live.at(ino).file() {
            Some(file) if !bytes.is_empty() => file.stored(bytes),
            _ => Vec::new(),
        };
        for part in stored {
            let zeros = Rc::from(vec![0; (part.end - part.start) as usize]);
            self.change_file(ino, Change::Data { ino, offset: part.start, bytes: zeros });
        }
    }

    pub(super) fn next_stored(&self, ino: Ino, from: u64) -> Outcome<u64> {
        let file = self.live.at(ino).file().ok_or(Errno::EINVAL)?;
        file.stored_from(from).filter(|at| *at < file.size()).ok_or(Errno::ENXIO)
    }

    pub(super) fn next_hole(&self, ino: Ino, from: u64) -> Outcome<u64> {
        let file = self.live.at(ino).file().ok_or(Errno::EINVAL)?;
        match from < file.size() {
            true => Ok(file.hole_from(from).min(file.size())),
            false => Err(Errno::ENXIO),
        }
    }

    /// Changes the room that a file takes, and counts it.
    fn change_room(&mut self, ino: Ino, f: impl FnOnce(&mut super::contents::Contents)) {
        let before = self.pages_of(ino);
        if let Some(inode) = self.live.at_mut(ino)
            && let Kind::File(file) = &mut inode.kind
        {
            f(file);
            inode.times.write(self.now);
        }
        self.pages = self.pages - before + self.pages_of(ino);
        self.resized.insert(ino);
    }

    /// The room of a file is on the medium as it is now.
    pub(super) fn settle_room(&mut self, ino: Ino) {
        if !self.resized.remove(&ino) {
            return;
        }
        let Some(theirs) = self.live.find(ino).and_then(|inode| inode.file()) else { return };
        if let Some(inode) = self.medium.at_mut(ino)
            && let Kind::File(own) = &mut inode.kind
        {
            own.take_room_of(theirs);
        }
    }
}
