//! The calls on paths.
//!
//! Owns: metadata, directories, links, renames, permissions. Does not own: how a path is walked
//! (`walk.rs`).

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use detsim_executor::rng::hash_bytes;

use super::Volume;
use super::change::{Change, Entry};
use super::contents::PAGE;
use super::handles::{Handle, Open};
use super::tree::{Dir, Ino, Inode, Kind, ROOT, Times, nanos};
use super::walk::{Access, Last, Place};
use crate::errno::{Errno, Outcome};
use std::collections::BTreeMap;

/// The most names of a file on the disk, as on ext4.
const LINKS_MAX: u32 = 65_000;

/// What is at the end of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileKind {
    /// A directory.
    Dir,
    /// A file.
    File,
    /// A symbolic link.
    Symlink,
    /// A name for a pipe.
    Fifo,
    /// A name for a local socket.
    Socket,
}

/// What is known of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// What it is.
    pub kind: FileKind,
    /// Bytes; of a symbolic link, the length of its target.
    pub size: u64,
    /// The twelve bits of its permissions.
    pub mode: u32,
    /// How many names it has.
    pub links: u32,
    /// Its number.
    pub ino: u64,
    /// Which file system of the volume it is of: 0 is the disk, the others are
    /// [in memory](Volume::mount_memory).
    pub file_system: u32,
    /// How many blocks of 512 bytes it takes.
    pub blocks: u64,
    /// When something was last done to it.
    pub times: Times,
}

/// A name in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirEntry {
    /// The name.
    pub name: OsString,
    /// What it leads to.
    pub kind: FileKind,
    /// The number of what it leads to.
    pub ino: u64,
}

impl FileKind {
    fn of(inode: &Inode) -> Self {
        match inode.kind {
            Kind::Dir(_) => Self::Dir,
            Kind::File(_) => Self::File,
            Kind::Symlink(_) => Self::Symlink,
            Kind::Fifo => Self::Fifo,
            Kind::Socket => Self::Socket,
        }
    }
}

impl Volume {
    /// What is known of the file at the end of a path, symbolic links followed.
    ///
    /// # Errors
    /// Those of walking a path: `EACCES`, `ELOOP`, `ENAMETOOLONG`, `ENOENT`, `ENOTDIR`.
    pub fn metadata(&self, path: &Path) -> Outcome<Metadata> {
        Ok(self.known_of(self.walker().find(path, Last::Follow)?))
    }

    /// As [`Self::metadata`], but a symbolic link at the end of the path is the end.
    ///
    /// # Errors
    /// As [`Self::metadata`].
    pub fn symlink_metadata(&self, path: &Path) -> Outcome<Metadata> {
        Ok(self.known_of(self.walker().find(path, Last::Keep)?))
    }

    /// What is known of an open file.
    ///
    /// # Errors
    /// `EBADF`.
    pub fn handle_metadata(&self, handle: Handle) -> Outcome<Metadata> {
        Ok(self.known_of(self.handles.find(handle)?.ino))
    }

    fn known_of(&self, ino: Ino) -> Metadata {
        let inode = self.live.at(ino);
        let (size, links, blocks) = match &inode.kind {
            Kind::File(file) => (file.size(), inode.links, file.pages() * (PAGE as u64 / 512)),
            Kind::Symlink(target) => (target.len() as u64, inode.links, 0),
            Kind::Fifo | Kind::Socket => (0, inode.links, 0),
            Kind::Dir(dir) => (PAGE as u64, self.links_of(dir, inode), PAGE as u64 / 512),
        };
        let Inode { mode, times, .. } = *inode;
        let (kind, file_system) = (FileKind::of(inode), ino.file_system());
        Metadata { kind, size, mode, links, ino: ino.number(), file_system, blocks, times }
    }

    /// A directory is named by its parent, by itself and by each directory in it.
    fn links_of(&self, dir: &Dir, inode: &Inode) -> u32 {
        if inode.links == 0 {
            return 0;
        }
        2 + dir.entries.values().filter(|ino| self.live.at(**ino).is_dir()).count() as u32
    }

    /// May the owner of the process do these things? `EACCES` where not.
    ///
    /// # Errors
    /// As [`Self::metadata`].
    pub fn access(&self, path: &Path, read: bool, write: bool, execute: bool) -> Outcome<()> {
        let inode = self.live.at(self.walker().find(path, Last::Follow)?);
        let wanted = [(read, Access::Read), (write, Access::Write), (execute, Access::Search)];
        let mut wanted = wanted.into_iter().filter(|(wanted, _)| *wanted);
        wanted.try_for_each(|(_, access)| self.walker().check(inode, access))
    }

    /// The path without symbolic links, `.` and `..`.
    ///
    /// # Errors
    /// As [`Self::metadata`].
    pub fn canonicalize(&self, path: &Path) -> Outcome<PathBuf> {
        let place = self.walker().locate(path, Last::Follow)?;
        let ino = place.ino.ok_or(Errno::ENOENT)?;
        self.walker().check_slash(&place)?;
        Ok(match place.entry {
            Some(at) if !self.live.at(ino).is_dir() => {
                self.path_of(at.dir).join(OsString::from_vec(at.name.to_vec()))
            }
            _ => self.path_of(ino),
        })
    }

    // ------------------------------------------------------------ directories

    /// Makes a directory.
    ///
    /// # Errors
    /// `EEXIST`, and those of walking a path.
    pub fn create_dir(&mut self, path: &Path, mode: u32) -> Outcome<()> {
        let at = self.free_entry(path)?;
        let mode = mode & 0o7777 & !self.umask;
        let kind = Kind::Dir(Dir { entries: BTreeMap::new(), parent: at.dir });
        let ino = self.bear(at.dir, kind, mode);
        self.make(Change::Link { at, ino });
        Ok(())
    }

    /// A name that is to be made.
    pub(super) fn free_entry(&self, path: &Path) -> Outcome<Entry> {
        let place = self.walker().locate(path, Last::Name)?;
        if place.ino.is_some() {
            return Err(Errno::EEXIST);
        }
        let at = place.entry.ok_or(Errno::EEXIST)?;
        self.walker().check_names(at.dir)?;
        Ok(at)
    }

    /// Takes an empty directory away.
    ///
    /// # Errors
    /// `EBUSY` for the root of a file system, `EINVAL` for a path that ends in `.`, `ENOTDIR`, `ENOTEMPTY`, and those
    /// of walking a path.
    pub fn remove_dir(&mut self, path: &Path) -> Outcome<()> {
        let place = self.walker().locate(path, Last::Name)?;
        let ino = place.ino.ok_or(Errno::ENOENT)?;
        let at = match (place.entry, place.dots) {
            (Some(at), _) => at,
            (None, 1) => return Err(Errno::EINVAL),
            (None, 2) => return Err(Errno::ENOTEMPTY),
            (None, _) => return Err(Errno::EBUSY),
        };
        self.walker().check_names(at.dir)?;
        if ino.file_system() != at.dir.file_system() {
            return Err(Errno::EBUSY);
        }
        self.check_empty(ino)?;
        self.make(Change::Unlink { at, ino });
        self.bury(ino);
        Ok(())
    }

    fn check_empty(&self, ino: Ino) -> Outcome<()> {
        match self.live.at(ino).dir() {
            None => Err(Errno::ENOTDIR),
            Some(dir) if !dir.entries.is_empty() => Err(Errno::ENOTEMPTY),
            Some(_) => Ok(()),
        }
    }

    /// What is in a directory, in an order that is fixed and is not that of the names: it follows
    /// from their hashes, as in ext4.
    ///
    /// # Errors
    /// `ENOTDIR`, `EACCES`, and those of walking a path.
    pub fn read_dir(&self, path: &Path) -> Outcome<Vec<DirEntry>> {
        let ino = self.walker().find(path, Last::Follow)?;
        let inode = self.live.at(ino);
        let dir = inode.dir().ok_or(Errno::ENOTDIR)?;
        self.walker().check(inode, Access::Read)?;
        let mut names: Vec<_> =
            dir.entries.iter().map(|(name, ino)| (place(name), name, *ino)).collect();
        names.sort_unstable();
        Ok(names.into_iter().map(|(_, name, ino)| self.entry(name, ino)).collect())
    }

    /// The next name of an open directory, of those that it had at the first call; `None` at the end.
    ///
    /// # Errors
    /// `EBADF`, `ENOTDIR`.
    pub fn next_entry(&mut self, handle: Handle) -> Outcome<Option<DirEntry>> {
        let ino = self.handles.find(handle)?.ino;
        let dir = self.live.at(ino).dir().ok_or(Errno::ENOTDIR)?;
        let Open { listing, told, .. } = self.handles.find_mut(handle)?;
        let listing = listing.get_or_insert_with(|| {
            let mut names: Vec<_> =
                dir.entries.keys().map(|name| (place(name), Rc::clone(name))).collect();
            names.sort_unstable();
            names.into_iter().map(|(_, name)| name).collect()
        });
        let left = listing.get(*told..).unwrap_or_default().iter().inspect(|_| *told += 1);
        let mut there =
            left.filter_map(|name| dir.entries.get(name).map(|ino| (Rc::clone(name), *ino)));
        let next = there.next();
        Ok(next.map(|(name, ino)| self.entry(&name, ino)))
    }

    /// How many names of an open directory have been told.
    ///
    /// # Errors
    /// `EBADF`.
    pub fn entries_told(&self, handle: Handle) -> Outcome<usize> {
        Ok(self.handles.find(handle)?.told)
    }

    /// The names of an open directory are told again from one on.
    ///
    /// # Errors
    /// `EBADF`.
    pub fn tell_again(&mut self, handle: Handle, told: usize) -> Outcome<()> {
        self.handles.find_mut(handle)?.told = told;
        Ok(())
    }

    fn entry(&self, name: &[u8], ino: Ino) -> DirEntry {
        let kind = FileKind::of(self.live.at(ino));
        DirEntry { name: OsString::from_vec(name.to_vec()), kind, ino: ino.number() }
    }

    /// Does something with relative paths that begin in an open directory.
    ///
    /// # Errors
    /// `EBADF`, `ENOTDIR`.
    pub fn within<R>(&mut self, dir: Handle, f: impl FnOnce(&mut Self) -> R) -> Outcome<R> {
        let ino = self.handles.find(dir)?.ino;
        self.live.at(ino).dir().ok_or(Errno::ENOTDIR)?;
        let before = std::mem::replace(&mut self.cwd, ino);
        let result = f(self);
        self.cwd = before;
        Ok(result)
    }

    // ------------------------------------------------------------ names

    /// Takes a name of a file away; the file goes with its last name and handle.
    ///
    /// # Errors
    /// `EISDIR` for a directory, and those of walking a path.
    pub fn remove_file(&mut self, path: &Path) -> Outcome<()> {
        let place = self.walker().locate(path, Last::Name)?;
        let ino = place.ino.ok_or(Errno::ENOENT)?;
        let at = place.entry.clone().ok_or(Errno::EISDIR)?;
        if !self.live.at(ino).is_dir() {
            self.walker().check_slash(&place)?;
        }
        self.walker().check_names(at.dir)?;
        if self.live.at(ino).is_dir() {
            return Err(Errno::EISDIR);
        }
        self.make(Change::Unlink { at, ino });
        self.bury(ino);
        Ok(())
    }

    /// Moves a name; what had the other name loses it.
    ///
    /// # Errors
    /// `EBUSY` for the root of a file system, `.` and `..`; `EXDEV` for two places that are not on one;
    /// `EINVAL` for a directory that would be within itself;
    /// `EISDIR`, `ENOTDIR`, `ENOTEMPTY` where the two do not go together; and those of walking a
    /// path.
    pub fn rename(&mut self, from: &Path, to: &Path) -> Outcome<()> {
        self.move_name(from, to, true)
    }

    /// As [`Self::rename`], where nothing has the other name.
    ///
    /// # Errors
    /// `EEXIST`, and those of [`Self::rename`].
    pub fn rename_to_new(&mut self, from: &Path, to: &Path) -> Outcome<()> {
        self.move_name(from, to, false)
    }

    fn move_name(&mut self, from: &Path, to: &Path, replaces: bool) -> Outcome<()> {
        let (old, new) = (self.renamed(from)?, self.renamed(to)?);
        let (Some(from), Some(to)) = (old.entry, new.entry) else { return Err(Errno::EBUSY) };
        if from.dir.file_system() != to.dir.file_system() {
            return Err(Errno::EXDEV);
        }
        let ino = old.ino.ok_or(Errno::ENOENT)?;
        if new.ino.is_some() && !replaces {
            return Err(Errno::EEXIST);
        }
        let is_dir = self.live.at(ino).is_dir();
        if (old.slash || new.slash) && !is_dir {
            return Err(Errno::ENOTDIR);
        }
        if is_dir && self.is_within(to.dir, ino) {
            return Err(Errno::EINVAL);
        }
        if new.ino.is_some_and(|over| self.is_within(from.dir, over)) {
            return Err(Errno::ENOTEMPTY);
        }
        if new.ino == Some(ino) {
            return Ok(());
        }
        self.walker().check_names(from.dir)?;
        self.walker().check_names(to.dir)?;
        if let Some(over) = new.ino {
            self.check_kinds(is_dir, over)?;
        }
        if is_dir && from.dir != to.dir {
            // Its `..` is written.
            self.walker().check(self.live.at(ino), Access::Write)?;
        }
        let is_root = |ino: Ino| ino.file_system() != from.dir.file_system();
        if is_root(ino) || new.ino.is_some_and(is_root) {
            return Err(Errno::EBUSY);
        }
        if let Some(over) = new.ino.filter(|_| is_dir) {
            self.check_empty(over)?;
        }
        self.make(Change::Rename { from, to, ino, over: new.ino });
        new.ino.into_iter().for_each(|over| self.bury(over));
        Ok(())
    }

    fn renamed(&self, path: &Path) -> Outcome<Place> {
        self.walker().locate(path, Last::Name)
    }

    fn check_kinds(&self, is_dir: bool, over: Ino) -> Outcome<()> {
        match (is_dir, self.live.at(over).is_dir()) {
            (true, false) => Err(Errno::ENOTDIR),
            (false, true) => Err(Errno::EISDIR),
            _ => Ok(()),
        }
    }

    /// Is this directory the other one, or somewhere below it?
    fn is_within(&self, mut dir: Ino, above: Ino) -> bool {
        while dir != above && dir != ROOT {
            dir = self.live.at(dir).dir().map_or(ROOT, |dir| dir.parent);
        }
        dir == above
    }

    /// Gives a file another name. A symbolic link is not followed.
    ///
    /// # Errors
    /// `EEXIST`, `EMLINK` for more than 65,000 names, `EPERM` for a directory, `EXDEV` where the other name
    /// is on another file system, and those of walking a path.
    pub fn hard_link(&mut self, original: &Path, link: &Path) -> Outcome<()> {
        let ino = self.walker().find(original, Last::Keep)?;
        let at = self.entry_for(ino, link)?;
        self.make(Change::Link { at, ino });
        Ok(())
    }

    /// Another name for a file.
    pub(super) fn entry_for(&self, ino: Ino, link: &Path) -> Outcome<Entry> {
        let at = self.free_file_entry(link)?;
        if ino.file_system() != at.dir.file_system() {
            return Err(Errno::EXDEV);
        }
        if self.live.at(ino).is_dir() {
            return Err(Errno::EPERM);
        }
        if self.live.at(ino).links >= LINKS_MAX && !ino.is_in_memory() {
            return Err(Errno::EMLINK);
        }
        Ok(at)
    }

    /// Makes a symbolic link.
    ///
    /// # Errors
    /// `EEXIST`, `ENAMETOOLONG`, `ENOENT` for an empty target, and those of walking a path.
    pub fn symlink(&mut self, target: &Path, link: &Path) -> Outcome<()> {
        let target = target.as_os_str().as_bytes();
        if target.is_empty() {
            return Err(Errno::ENOENT);
        }
        if target.len() >= PAGE {
            return Err(Errno::ENAMETOOLONG);
        }
        let at = self.free_file_entry(link)?;
        let ino = self.bear(at.dir, Kind::Symlink(Rc::from(target)), 0o777);
        self.make(Change::Link { at, ino });
        Ok(())
    }

    /// Makes a name for a pipe. The pipe itself is none of the disk's: whoever has this made opens it.
    ///
    /// # Errors
    /// `EEXIST`, and those of walking a path.
    pub fn make_fifo(&mut self, path: &Path, mode: u32) -> Outcome<()> {
        let at = self.free_file_entry(path)?;
        let ino = self.bear(at.dir, Kind::Fifo, mode & 0o7777 & !self.umask);
        self.make(Change::Link { at, ino });
        Ok(())
    }

    /// A name that is to be made for something that is no directory.
    pub(super) fn free_file_entry(&self, path: &Path) -> Outcome<Entry> {
        let ends_in_slash = path.as_os_str().as_bytes().ends_with(b"/");
        let at = self.free_entry(path)?;
        if ends_in_slash { Err(Errno::ENOENT) } else { Ok(at) }
    }

    /// Where a symbolic link leads.
    ///
    /// # Errors
    /// `EINVAL` for what is none, and those of walking a path.
    pub fn read_link(&self, path: &Path) -> Outcome<PathBuf> {
        let ino = self.walker().find(path, Last::Keep)?;
        let target = self.target(ino).ok_or(Errno::EINVAL)?;
        Ok(PathBuf::from(OsString::from_vec(target.to_vec())))
    }

    // ------------------------------------------------------------ permissions and times

    /// Sets the permissions at the end of a path.
    ///
    /// # Errors
    /// Those of walking a path.
    pub fn set_mode(&mut self, path: &Path, mode: u32) -> Outcome<()> {
        let ino = self.walker().find(path, Last::Follow)?;
        self.change_mode(ino, mode);
        Ok(())
    }

    /// Sets the permissions of an open file.
    ///
    /// # Errors
    /// `EBADF`.
    pub fn set_handle_mode(&mut self, handle: Handle, mode: u32) -> Outcome<()> {
        let open = self.handles.find(handle)?;
        if open.flags.path_only {
            return Err(Errno::EBADF);
        }
        self.change_mode(open.ino, mode);
        Ok(())
    }

    fn change_mode(&mut self, ino: Ino, mode: u32) {
        self.make(Change::Mode { ino, mode: mode & 0o7777 });
        if let Some(inode) = self.live.at_mut(ino) {
            inode.times.changed_ns = nanos(self.now);
        }
    }

    /// Sets when an open file was read and written; `None` leaves a time as it is. Durable with the
    /// next `fsync` of the file.
    ///
    /// # Errors
    /// `EBADF`.
    pub fn set_times(
        &mut self,
        handle: Handle,
        read_ns: Option<i64>,
        written_ns: Option<i64>,
    ) -> Outcome<()> {
        let open = self.handles.find(handle)?;
        if open.flags.path_only {
            return Err(Errno::EBADF);
        }
        self.change_times(open.ino, read_ns, written_ns);
        Ok(())
    }

    /// As [`Self::set_times`], of what is at the end of a path, symbolic links followed or not.
    ///
    /// # Errors
    /// Those of walking a path.
    pub fn set_path_times(
        &mut self,
        path: &Path,
        follows: bool,
        read_ns: Option<i64>,
        written_ns: Option<i64>,
    ) -> Outcome<()> {
        let ino = self.walker().find(path, if follows { Last::Follow } else { Last::Keep })?;
        self.change_times(ino, read_ns, written_ns);
        Ok(())
    }

    fn change_times(&mut self, ino: Ino, read_ns: Option<i64>, written_ns: Option<i64>) {
        let now_ns = nanos(self.now);
        if let Some(inode) = self.live.at_mut(ino) {
            let times = &mut inode.times;
            times.read_ns = read_ns.unwrap_or(times.read_ns);
            times.written_ns = written_ns.unwrap_or(times.written_ns);
            times.changed_ns = now_ns;
        }
    }

    /// How many bytes there are, and how many of them are free; `u64::MAX` where there is no limit.
    pub fn space(&self) -> (u64, u64) {
        let capacity = self.config.capacity;
        (capacity, capacity.saturating_sub(self.pages * PAGE as u64))
    }
}

/// The place of a name in the order of a directory.
fn place(name: &[u8]) -> u64 {
    hash_bytes(name)
}
