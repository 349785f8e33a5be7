//! Pipes of the operating system: FIFOs, and ends that a program has from elsewhere.
//!
//! Mirrors what of `tokio::net::unix::pipe` takes files and descriptors. Owns: telling what is an end of a
//! pipe from what is none, in tokio's words. Does not own: what is done with one (`pipe.rs`).

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use detsim::__private::access_of;

use super::pipe::{Receiver, Sender, nonblocking};

/// O_NONBLOCK of Linux.
const NONBLOCK: i32 = 0o4000;

/// How a FIFO is opened.
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    is_unchecked: bool,
    reads_and_writes: bool,
}

impl OpenOptions {
    /// Checked, and for one direction.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether it is opened for both directions, so that nobody else need have it open.
    pub fn read_write(&mut self, value: bool) -> &mut Self {
        self.reads_and_writes = value;
        self
    }

    /// Whether it is taken for a FIFO without a look.
    pub fn unchecked(&mut self, value: bool) -> &mut Self {
        self.is_unchecked = value;
        self
    }

    /// Opens the reading end of a FIFO.
    ///
    /// # Errors
    /// Those of opening a file; `InvalidInput` for what is no pipe.
    #[track_caller]
    pub fn open_receiver<P: AsRef<Path>>(&self, path: P) -> io::Result<Receiver> {
        Receiver::of(self.open(path.as_ref(), true)?)
    }

    /// Opens the writing end of a FIFO.
    ///
    /// # Errors
    /// As [`Self::open_receiver`]; ENXIO where nobody has the reading end.
    #[track_caller]
    pub fn open_sender<P: AsRef<Path>>(&self, path: P) -> io::Result<Sender> {
        Sender::of(self.open(path.as_ref(), false)?)
    }

    fn open(&self, path: &Path, reads: bool) -> io::Result<OwnedFd> {
        let mut options = std::fs::OpenOptions::new();
        options.read(reads || self.reads_and_writes).write(!reads || self.reads_and_writes);
        let file = options.custom_flags(NONBLOCK).open(path)?;
        if !self.is_unchecked {
            check(&file)?;
        }
        Ok(file.into())
    }
}

fn check(file: &File) -> io::Result<()> {
    match file.metadata()?.file_type().is_fifo() {
        true => Ok(()),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "not a pipe")),
    }
}

/// An end of a pipe that may be used in this direction, and does not block from now on.
fn checked(fd: OwnedFd, reads: bool) -> io::Result<OwnedFd> {
    let file = File::from(fd);
    check(&file)?;
    let access = access_of(file.as_fd())?;
    match reads {
        true if !access.reads => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "not in O_RDONLY or O_RDWR access mode",
        )),
        false if !access.writes => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "not in O_WRONLY or O_RDWR access mode",
        )),
        _ => nonblocking(file.into(), true),
    }
}

/// What both ends have.
macro_rules! given {
    ($End:ty, $reads:literal) => {
        impl $End {
            /// An end of a pipe that was opened as a file.
            ///
            /// # Errors
            /// `InvalidInput` for what is no pipe, or none that is open in this direction.
            #[track_caller]
            pub fn from_file(file: File) -> io::Result<Self> {
                Self::from_owned_fd(file.into())
            }

            /// As [`Self::from_file`], without a look. It has to be one that does not block.
            ///
            /// # Errors
            /// EPERM for what nobody can wait for.
            #[track_caller]
            pub fn from_file_unchecked(file: File) -> io::Result<Self> {
                Self::of(file.into())
            }

            /// An end of a pipe that the program has from elsewhere.
            ///
            /// # Errors
            /// As [`Self::from_file`].
            #[track_caller]
            pub fn from_owned_fd(fd: OwnedFd) -> io::Result<Self> {
                Self::of(checked(fd, $reads)?)
            }

            /// As [`Self::from_file_unchecked`].
            ///
            /// # Errors
            /// As [`Self::from_file_unchecked`].
            #[track_caller]
            pub fn from_owned_fd_unchecked(fd: OwnedFd) -> io::Result<Self> {
                Self::of(fd)
            }
        }
    };
}

given!(Sender, false);
given!(Receiver, true);
