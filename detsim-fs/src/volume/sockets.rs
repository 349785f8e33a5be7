//! Names for local sockets.
//!
//! Owns: how such a name is made, and found again, with the errors of Linux. Does not own: the socket, which
//! is none of the disk's, so that it may be gone while its name is still there; what becomes of the name,
//! which is that of any other file.

use std::path::Path;

use super::Volume;
use super::change::Change;
use super::tree::Kind;
use super::walk::{Access, Last};
use crate::errno::{Errno, Outcome};

impl Volume {
    /// Makes a name for a local socket. The number of the file, by which [`Self::socket_at`] finds it.
    ///
    /// # Errors
    /// `EEXIST`, whatever has the name; and those of walking a path.
    ///
    /// # Examples
    /// ```
    /// use detsim_fs::{Errno, FileKind, Volume, VolumeConfig};
    /// use std::path::Path;
    /// let mut volume = Volume::new(VolumeConfig::default());
    /// let (old, new) = (Path::new("/tmp/old"), Path::new("/tmp/new"));
    /// let file = volume.make_socket(old, 0o777)?;
    /// assert_eq!(volume.metadata(old)?.kind, FileKind::Socket);
    /// assert_eq!(volume.make_socket(old, 0o777), Err(Errno::EEXIST));
    /// volume.rename(old, new)?;
    /// assert_eq!(volume.socket_at(new), Ok(file));
    /// # Ok::<(), Errno>(())
    /// ```
    pub fn make_socket(&mut self, path: &Path, mode: u32) -> Outcome<u64> {
        let at = self.free_file_entry(path)?;
        let ino = self.bear(at.dir, Kind::Socket, mode & 0o7777 & !self.umask);
        self.make(Change::Link { at, ino });
        Ok(ino.number())
    }

    /// The number of the file by whose name a local socket is looked for, symbolic links followed.
    ///
    /// # Errors
    /// `EACCES` for a file that may not be written, `ECONNREFUSED` for one that is no name of a socket; and
    /// those of walking a path.
    pub fn socket_at(&self, path: &Path) -> Outcome<u64> {
        let ino = self.walker().find(path, Last::Follow)?;
        let inode = self.live.at(ino);
        self.walker().check(inode, Access::Write)?;
        match inode.kind {
            Kind::Socket => Ok(ino.number()),
            _ => Err(Errno::ECONNREFUSED),
        }
    }
}
