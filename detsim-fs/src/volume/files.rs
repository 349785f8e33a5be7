//! The calls on open files.
//!
//! Owns: opening, reading, writing, sizes, positions, syncs. Does not own: names (`names.rs`), locks
//! (`locks.rs`).

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::rc::Rc;

use super::change::Change;
use super::contents::{Contents, PAGE};
use super::handles::Handle;
use super::tree::{Ino, Kind};
use super::walk::{Access, Last, Place};
use super::{OpenFlags, Volume};
use crate::atom::SECTOR_BYTES;
use crate::errno::{Errno, Outcome};

/// The last position that there is.
const POSITION_MAX: u64 = i64::MAX as u64;

/// Where a position is counted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seek {
    /// The position.
    Current(i64),
    /// The first byte at this position or behind it that takes room.
    Data(u64),
    /// The end.
    End(i64),
    /// The first position that is this one or behind it at which nothing takes room: the end is one.
    Hole(u64),
    /// The beginning.
    Start(u64),
}

/// A sync that has begun and did not end yet: it covers what was done before it began.
#[derive(Clone, Copy, Debug)]
pub struct SyncPoint {
    handle: Handle,
    ino: Ino,
    mark: u64,
    data_only: bool,
}

impl SyncPoint {
    pub(crate) fn is_in_memory(self) -> bool {
        self.ino.is_in_memory()
    }
}

impl Volume {
    /// Opens a file or a directory; `mode` is for a file that is made.
    ///
    /// # Errors
    /// As `open(2)`: `EACCES`, `EEXIST`, `EINVAL`, `EISDIR`, `ELOOP`, `EMFILE`, `ENAMETOOLONG`,
    /// `ENOENT`, `ENOTDIR`.
    pub fn open(&mut self, path: &Path, flags: OpenFlags, mode: u32) -> Outcome<Handle> {
        if self.handles.len() >= self.config.open_files_max {
            return Err(Errno::EMFILE);
        }
        let keeps = flags.nofollow || (flags.create && flags.exclusive);
        let last = if keeps { Last::Keep } else { Last::Follow };
        if flags.create && path.as_os_str().as_bytes().ends_with(b"/") {
            self.walker().locate(path, Last::Name)?;
            return Err(Errno::EISDIR);
        }
        let place = self.walker().locate(path, last)?;
        if flags.create && place.slash {
            return Err(Errno::EISDIR);
        }
        let ino = match place.ino {
            Some(_) if flags.create && flags.exclusive => return Err(Errno::EEXIST),
            Some(ino) => self.open_known(ino, flags, &place)?,
            None if flags.create => self.create_file(&place, mode)?,
            None => return Err(Errno::ENOENT),
        };
        Ok(self.handles.open(ino, flags))
    }

    fn open_known(&mut self, ino: Ino, flags: OpenFlags, place: &Place) -> Outcome<Ino> {
        let inode = self.live.at(ino);
        match inode.kind {
            Kind::Symlink(_) if flags.directory => return Err(Errno::ENOTDIR),
            Kind::Symlink(_) if !flags.path_only => return Err(Errno::ELOOP),
            Kind::Fifo if !flags.path_only => return Err(Errno::ENXIO),
            Kind::Dir(_) if flags.writes() || flags.create || flags.truncate => {
                return Err(Errno::EISDIR);
            }
            Kind::File(_) | Kind::Socket if flags.directory => return Err(Errno::ENOTDIR),
            _ => self.walker().check_slash(place)?,
        }
        if flags.read {
            self.walker().check(inode, Access::Read)?;
        }
        if flags.writes() || flags.truncate {
            self.walker().check(inode, Access::Write)?;
        }
        if matches!(inode.kind, Kind::Socket) && !flags.path_only {
            return Err(Errno::ENXIO);
        }
        if flags.truncate && inode.file().is_some_and(|file| file.size() > 0) {
            self.resize(ino, 0);
        }
        Ok(ino)
    }

    fn create_file(&mut self, place: &Place, mode: u32) -> Outcome<Ino> {
        let Some(at) = place.entry.clone() else {
            return Err(Errno::EISDIR);
        };
        self.walker().check_names(at.dir)?;
        let mode = mode & 0o7777 & !self.umask;
        let ino = self.bear(at.dir, Kind::File(Contents::default()), mode);
        self.make(Change::Link { at, ino });
        Ok(ino)
    }

    /// Another handle to the same open file: both share the position.
    ///
    /// # Errors
    /// `EBADF`, `EMFILE`.
    pub fn duplicate(&mut self, handle: Handle) -> Outcome<Handle> {
        if self.handles.len() >= self.config.open_files_max {
            return Err(Errno::EMFILE);
        }
        self.handles.duplicate(handle)
    }

    /// Closes a handle. This makes nothing durable.
    ///
    /// # Errors
    /// `EBADF`.
    pub fn close(&mut self, handle: Handle) -> Outcome<()> {
        if let Some(ino) = self.handles.close(handle)? {
            self.bury(ino);
        }
        Ok(())
    }

    /// How it was opened.
    ///
    /// # Errors
    /// `EBADF`.
    pub fn flags(&self, handle: Handle) -> Outcome<OpenFlags> {
        Ok(self.handles.find(handle)?.flags)
    }

    /// Changes whether writes go to the end, as `fcntl(F_SETFL)` may.
    ///
    /// # Errors
    /// `EBADF`.
    pub fn set_append(&mut self, handle: Handle, append: bool) -> Outcome<()> {
        self.handles.find_mut(handle)?.flags.append = append;
        Ok(())
    }

    // ------------------------------------------------------------ for faults

    /// The position.
    pub(crate) fn position(&self, handle: Handle) -> Outcome<u64> {
        Ok(self.handles.find(handle)?.offset)
    }

    /// The number of the inode.
    pub(crate) fn number(&self, handle: Handle) -> Outcome<u64> {
        Ok(self.handles.find(handle)?.ino.0)
    }

    /// What is at `offset`, zeros where nothing is, whether or not the handle may read.
    pub(crate) fn peek(&self, handle: Handle, offset: u64, buf: &mut [u8]) {
        if let Ok(open) = self.handles.find(handle)
            && let Some(file) = self.live.at(open.ino).file()
        {
            let read = file.read(offset, buf);
            buf[read..].fill(0);
        }
    }

    /// How many of `len` bytes there are from `at` on; all of them, where the length of a read is itself part
    /// of whether it is allowed.
    pub(crate) fn readable(&self, handle: Handle, at: u64, len: usize) -> Outcome<usize> {
        check_reach(at, len)?;
        let open = self.handles.find(handle)?;
        match self.live.at(open.ino).file() {
            Some(file) if !open.flags.direct => {
                let left = file.size().saturating_sub(at);
                Ok(len.min(usize::try_from(left).unwrap_or(usize::MAX)))
            }
            _ => Ok(len),
        }
    }

    /// Puts bytes within a file, whatever the handle may do.
    pub(crate) fn patch(&mut self, handle: Handle, offset: u64, bytes: &[u8]) -> Outcome<()> {
        let ino = self.handles.find(handle)?.ino;
        self.change_file(ino, Change::Data { ino, offset, bytes: Rc::from(bytes) });
        Ok(())
    }

    // ------------------------------------------------------------ reading

    /// Reads at the position and moves it.
    ///
    /// # Errors
    /// `EBADF`, `EISDIR`, `EINVAL` for a direct read that is not aligned.
    pub fn read(&mut self, handle: Handle, buf: &mut [u8]) -> Outcome<usize> {
        let offset = self.handles.find(handle)?.offset;
        let read = self.read_at(handle, offset, buf)?;
        self.handles.find_mut(handle)?.offset += read as u64;
        Ok(read)
    }

    /// Reads at `offset`; the position stays.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn read_at(&mut self, handle: Handle, offset: u64, buf: &mut [u8]) -> Outcome<usize> {
        let open = self.handles.find(handle)?;
        if !open.flags.read || open.flags.path_only {
            return Err(Errno::EBADF);
        }
        let ino = open.ino;
        check_reach(offset, buf.len())?;
        check_aligned(open.flags, offset, buf.len())?;
        let contents = self.live.at(ino).file().ok_or(Errno::EISDIR)?;
        Ok(contents.read(offset, buf))
    }

    // ------------------------------------------------------------ writing

    /// Writes at the position, or at the end where the file was opened so, and moves the position.
    /// Gives how many bytes were written: fewer than asked for where the disk is almost full.
    ///
    /// # Errors
    /// `EBADF`, `EFBIG`, `EINVAL` for a direct write that is not aligned, `ENOSPC`; with `O_SYNC` and
    /// `O_DSYNC` also what [`Self::fsync`] gives.
    pub fn write(&mut self, handle: Handle, bytes: &[u8]) -> Outcome<usize> {
        self.put_and_sync(handle, None, bytes)
    }

    /// Writes at `offset`; the position stays. As on Linux, a file that was opened to append takes
    /// the bytes at its end, whatever `offset` is.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub fn write_at(&mut self, handle: Handle, offset: u64, bytes: &[u8]) -> Outcome<usize> {
        self.put_and_sync(handle, Some(offset), bytes)
    }

    fn put_and_sync(
        &mut self,
        handle: Handle,
        offset: Option<u64>,
        bytes: &[u8],
    ) -> Outcome<usize> {
        let written = self.put(handle, offset, bytes)?;
        if let Some(point) = self.sync_of_write(handle).filter(|_| written > 0) {
            self.finish_sync(point)?;
        }
        Ok(written)
    }

    /// Writes, without the sync that the flags of the file may demand: see [`Self::sync_of_write`].
    pub(crate) fn put(
        &mut self,
        handle: Handle,
        offset: Option<u64>,
        bytes: &[u8],
    ) -> Outcome<usize> {
        let open = self.handles.find(handle)?;
        let at = match offset {
            _ if open.flags.append => self.size_of(open.ino),
            Some(offset) => offset,
            None => open.offset,
        };
        let written = self.write_to(handle, at, bytes)?;
        if offset.is_none() {
            self.handles.find_mut(handle)?.offset = at + written as u64;
        }
        Ok(written)
    }

    /// The sync that a write is to end with, of a file that was opened so.
    pub(crate) fn sync_of_write(&self, handle: Handle) -> Option<SyncPoint> {
        let flags = self.handles.find(handle).ok()?.flags;
        let syncs = flags.sync || flags.data_sync;
        syncs.then(|| self.begin_sync(handle, !flags.sync).ok()).flatten()
    }

    fn write_to(&mut self, handle: Handle, offset: u64, bytes: &[u8]) -> Outcome<usize> {
        let open = self.handles.find(handle)?;
        let (ino, flags) = (open.ino, open.flags);
        if !flags.writes() || flags.path_only {
            return Err(Errno::EBADF);
        }
        check_reach(offset, bytes.len())?;
        check_aligned(flags, offset, bytes.len())?;
        if bytes.is_empty() {
            return Ok(0);
        }
        let room = self.size_max(ino).saturating_sub(offset).min(bytes.len() as u64) as usize;
        if room == 0 {
            return Err(Errno::EFBIG);
        }
        let fits = self.fitting(ino, offset, &bytes[..room]);
        if fits == 0 {
            return Err(Errno::ENOSPC);
        }
        self.extend(ino, offset, &bytes[..fits]);
        Ok(fits)
    }

    fn extend(&mut self, ino: Ino, offset: u64, bytes: &[u8]) {
        let (end, was) = (offset + bytes.len() as u64, self.size_of(ino));
        self.change_file(ino, Change::Data { ino, offset, bytes: Rc::from(bytes) });
        if end > was {
            self.change_file(ino, Change::Size { ino, size: end, was });
        }
    }

    /// Makes a change of a file's bytes, and counts the pages that it takes or gives back.
    pub(super) fn change_file(&mut self, ino: Ino, change: Change) {
        let before = self.pages_of(ino);
        self.make(change);
        self.pages = self.pages - before + self.pages_of(ino);
        if let Some(inode) = self.live.at_mut(ino) {
            inode.times.write(self.now);
        }
    }

    /// How many pages of the disk a file takes.
    pub(super) fn pages_of(&self, ino: Ino) -> u64 {
        let file = self.live.at(ino).file().filter(|_| !ino.is_in_memory());
        file.map_or(0, Contents::pages)
    }

    pub(super) fn size_of(&self, ino: Ino) -> u64 {
        self.live.at(ino).file().map_or(0, Contents::size)
    }

    /// How many pages are free on the disk.
    pub(super) fn free_pages(&self) -> u64 {
        (self.config.capacity / PAGE as u64).saturating_sub(self.pages)
    }

    /// How many of the bytes there is room for.
    fn fitting(&self, ino: Ino, offset: u64, bytes: &[u8]) -> usize {
        let free = self.free_pages();
        let Some(file) = self.live.at(ino).file() else { return 0 };
        if ino.is_in_memory() || file.pages_missing(offset, bytes.len()) <= free {
            return bytes.len();
        }
        let within = PAGE - (offset % PAGE as u64) as usize;
        let ends = (0..).map(|page| within + page * PAGE).take_while(|end| *end < bytes.len());
        ends.take_while(|end| file.pages_missing(offset, *end) <= free).last().unwrap_or(0)
    }

    /// Cuts a file, or lets it grow by zeros.
    ///
    /// # Errors
    /// `EBADF`, `EFBIG`, `EINVAL` where it was not opened for writing.
    pub fn set_len(&mut self, handle: Handle, size: u64) -> Outcome<()> {
        let open = self.handles.find(handle)?;
        if open.flags.path_only {
            return Err(Errno::EBADF);
        }
        if !open.flags.writes() {
            return Err(Errno::EINVAL);
        }
        if size > self.size_max(open.ino) {
            return Err(Errno::EFBIG);
        }
        self.resize(open.ino, size);
        Ok(())
    }

    /// Cuts the file at the end of a path, or lets it grow by zeros.
    ///
    /// # Errors
    /// `EISDIR`, `EINVAL` for what is neither file nor directory, `EACCES`, `EFBIG`, and those of walking a
    /// path.
    pub fn set_path_len(&mut self, path: &Path, size: u64) -> Outcome<()> {
        let ino = self.walker().find(path, Last::Follow)?;
        let inode = self.live.at(ino);
        match inode.kind {
            Kind::File(_) => self.walker().check(inode, Access::Write)?,
            Kind::Dir(_) => return Err(Errno::EISDIR),
            _ => return Err(Errno::EINVAL),
        }
        if size > self.size_max(ino) {
            return Err(Errno::EFBIG);
        }
        self.resize(ino, size);
        Ok(())
    }

    pub(super) fn resize(&mut self, ino: Ino, size: u64) {
        let was = self.size_of(ino);
        if size != was {
            self.change_file(ino, Change::Size { ino, size, was });
        }
    }

    /// Moves the position and gives it.
    ///
    /// # Errors
    /// `EBADF`; `EINVAL` where it would be before the beginning or past the largest size; `ENXIO` for bytes
    /// or holes behind the last.
    pub fn seek(&mut self, handle: Handle, to: Seek) -> Outcome<u64> {
        let open = self.handles.find(handle)?;
        if open.flags.path_only {
            return Err(Errno::EBADF);
        }
        let target = match to {
            Seek::Data(from) => Some(self.next_stored(open.ino, from)?),
            Seek::Hole(from) => Some(self.next_hole(open.ino, from)?),
            Seek::Start(offset) => Some(offset),
            Seek::Current(by) => open.offset.checked_add_signed(by),
            Seek::End(by) => self.size_of(open.ino).checked_add_signed(by),
        };
        let target = target.filter(|at| *at <= self.size_max(open.ino)).ok_or(Errno::EINVAL)?;
        let open = self.handles.find_mut(handle)?;
        open.offset = target;
        if target == 0 {
            (open.listing, open.told) = (None, 0);
        }
        Ok(target)
    }

    // ------------------------------------------------------------ syncs

    /// Makes durable what was done to a file, or to the names of a directory: at once.
    ///
    /// # Errors
    /// `EBADF`; `EIO` where a write back failed since the file was opened, once.
    pub fn fsync(&mut self, handle: Handle) -> Outcome<()> {
        self.finish_sync(self.begin_sync(handle, false)?)
    }

    /// Makes the bytes and the size of a file durable: at once.
    ///
    /// # Errors
    /// As [`Self::fsync`].
    pub fn fdatasync(&mut self, handle: Handle) -> Outcome<()> {
        self.finish_sync(self.begin_sync(handle, true)?)
    }

    /// Begins a sync that takes time: what is done from now on is not covered.
    ///
    /// # Errors
    /// `EBADF`.
    pub fn begin_sync(&self, handle: Handle, data_only: bool) -> Outcome<SyncPoint> {
        let open = self.handles.find(handle)?;
        if open.flags.path_only {
            return Err(Errno::EBADF);
        }
        Ok(SyncPoint { handle, ino: open.ino, mark: self.journal.mark(), data_only })
    }

    /// Ends a sync: what it covers is durable.
    ///
    /// # Errors
    /// As [`Self::fsync`].
    pub fn finish_sync(&mut self, point: SyncPoint) -> Outcome<()> {
        let SyncPoint { handle, ino, data_only, .. } = point;
        self.settle_all(&self.covered(point));
        self.settle_room(ino);
        if !data_only {
            self.settle_times(ino);
        }
        match self.handles.take_failure(handle)? {
            true => Err(Errno::EIO),
            false => Ok(()),
        }
    }

    /// Ends a sync whose write back fails, as Linux does: the pages count as clean, so that no later
    /// sync writes them, and each handle that is open is told once. Readers go on to see the data.
    /// How many sectors are lost.
    ///
    /// # Errors
    /// `EBADF`.
    pub fn fail_sync(&mut self, point: SyncPoint) -> Outcome<usize> {
        self.handles.find(point.handle)?;
        let lost = self.journal.lose(point.ino, point.mark);
        self.handles.fail(point.ino);
        self.handles.take_failure(point.handle)?;
        Ok(lost)
    }

    /// Would this sync make anything durable?
    pub(crate) fn is_covering(&self, point: SyncPoint) -> bool {
        !self.covered(point).is_empty()
    }

    /// What a sync is to make durable.
    fn covered(&self, point: SyncPoint) -> Vec<u64> {
        let SyncPoint { ino, mark, data_only, .. } = point;
        match point.is_in_memory() {
            true => Vec::new(),
            false => self.journal.of(ino, mark, data_only, self.config.profile),
        }
    }

    fn settle_times(&mut self, ino: Ino) {
        let times = self.live.find(ino).map(|inode| inode.times);
        if let (Some(times), Some(inode)) = (times, self.medium.at_mut(ino)) {
            inode.times = times;
        }
    }
}

/// A call may not reach past the last position.
fn check_reach(offset: u64, len: usize) -> Outcome<()> {
    match offset.checked_add(len as u64) {
        Some(end) if end <= POSITION_MAX => Ok(()),
        _ => Err(Errno::EINVAL),
    }
}

fn check_aligned(flags: OpenFlags, offset: u64, len: usize) -> Outcome<()> {
    let sector = SECTOR_BYTES as u64;
    match flags.direct && (!offset.is_multiple_of(sector) || !len.is_multiple_of(SECTOR_BYTES)) {
        true => Err(Errno::EINVAL),
        false => Ok(()),
    }
}
