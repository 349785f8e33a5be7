//! Files without a name: `O_TMPFILE`, and names for what is open.
//!
//! Owns: their birth, and the one name that they may get. Does not own: what becomes of a file that nothing
//! leads to any more, which is the same for all (`volume.rs`). Invariant: what may get a name has none, and
//! is open.

use std::path::{Path, PathBuf};

use super::change::Change;
use super::contents::Contents;
use super::handles::Handle;
use super::tree::Kind;
use super::walk::{Access, Last};
use super::{OpenFlags, Volume};
use crate::errno::{Errno, Outcome};

impl Volume {
    /// Opens a new file that has no name, on the file system of a directory. It gets one by
    /// [`Self::link_open`], unless it was opened `exclusive`.
    ///
    /// # Errors
    /// `EINVAL` where it would not be written to; `EMFILE`, `ENOTDIR`, `EACCES`, and those of walking a path.
    ///
    /// # Examples
    /// ```
    /// use detsim_fs::{OpenFlags, Volume, VolumeConfig};
    /// use std::path::Path;
    /// let mut volume = Volume::new(VolumeConfig::default());
    /// let flags = OpenFlags { write: true, ..OpenFlags::default() };
    /// let file = volume.open_nameless(Path::new("/tmp"), flags, 0o600)?;
    /// volume.write(file, b"whole or not at all")?;
    /// volume.link_open(file, Path::new("/tmp/f"))?;
    /// assert_eq!(volume.metadata(Path::new("/tmp/f"))?.size, 19);
    /// # Ok::<(), detsim_fs::Errno>(())
    /// ```
    pub fn open_nameless(&mut self, dir: &Path, flags: OpenFlags, mode: u32) -> Outcome<Handle> {
        if !flags.writes() {
            return Err(Errno::EINVAL);
        }
        if self.handles.len() >= self.config.open_files_max {
            return Err(Errno::EMFILE);
        }
        let dir = self.walker().find(dir, Last::Follow)?;
        let inode = self.live.at(dir);
        if !inode.is_dir() {
            return Err(Errno::ENOTDIR);
        }
        self.walker().check(inode, Access::Write)?;
        self.walker().check(inode, Access::Search)?;
        let mode = mode & 0o7777 & !self.umask;
        let ino = self.bear(dir, Kind::File(Contents::default()), mode);
        if !flags.exclusive {
            self.nameable.insert(ino);
        }
        Ok(self.handles.open(ino, flags))
    }

    /// Gives an open file another name, or its first.
    ///
    /// # Errors
    /// `ENOENT` for a file that has lost its last name, or is to have none; `EBADF`, and those of
    /// [`Self::hard_link`].
    pub fn link_open(&mut self, handle: Handle, link: &Path) -> Outcome<()> {
        let ino = self.handles.find(handle)?.ino;
        let at = self.entry_for(ino, link)?;
        if self.live.at(ino).links == 0 && !self.nameable.remove(&ino) {
            return Err(Errno::ENOENT);
        }
        self.make(Change::Link { at, ino });
        Ok(())
    }

    /// Where an open symbolic link leads.
    ///
    /// # Errors
    /// `ENOENT` for what is none, as Linux has it; `EBADF`.
    pub fn read_open_link(&self, handle: Handle) -> Outcome<PathBuf> {
        use std::os::unix::ffi::OsStringExt;
        let target = self.target(self.handles.find(handle)?.ino).ok_or(Errno::ENOENT)?;
        Ok(PathBuf::from(std::ffi::OsString::from_vec(target.to_vec())))
    }
}
