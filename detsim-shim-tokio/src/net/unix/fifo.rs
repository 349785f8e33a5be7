//! Pipes of the operating system, which lead out of a simulation.
//!
//! Mirrors what of `tokio::net::unix::pipe` takes files and descriptors. Owns: telling what is no pipe at
//! all, in tokio's words, from what is one and is not simulated.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use super::pipe::{Receiver, Sender};

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

    /// # Errors
    /// Always: where there is no file, where it is no pipe, and because a FIFO is not simulated.
    pub fn open_receiver<P: AsRef<Path>>(&self, path: P) -> io::Result<Receiver> {
        self.refuse(path.as_ref())
    }

    /// # Errors
    /// As [`Self::open_receiver`].
    pub fn open_sender<P: AsRef<Path>>(&self, path: P) -> io::Result<Sender> {
        self.refuse(path.as_ref())
    }

    fn refuse<T>(&self, path: &Path) -> io::Result<T> {
        let kind = std::fs::metadata(path)?.file_type();
        Err(refusal(self.is_unchecked || kind.is_fifo()))
    }
}

/// Why a file becomes no end of a pipe.
fn refusal(is_pipe: bool) -> io::Error {
    match is_pipe {
        true => io::Error::new(
            io::ErrorKind::Unsupported,
            "detsim: a pipe of the operating system leads out of the simulation; its other end is not \
             simulated; use `pipe()` instead",
        ),
        false => io::Error::new(io::ErrorKind::InvalidInput, "not a pipe"),
    }
}

fn refuse_file<T>(file: &File) -> io::Result<T> {
    Err(refusal(file.metadata()?.file_type().is_fifo()))
}

/// What both ends have.
macro_rules! given {
    ($End:ty) => {
        impl $End {
            /// # Errors
            /// Always: what is a pipe of the operating system is not simulated.
            pub fn from_file(file: File) -> io::Result<Self> {
                refuse_file(&file)
            }

            /// # Errors
            /// As [`Self::from_file`].
            pub fn from_file_unchecked(_file: File) -> io::Result<Self> {
                Err(refusal(true))
            }

            /// # Errors
            /// As [`Self::from_file`].
            pub fn from_owned_fd(fd: OwnedFd) -> io::Result<Self> {
                refuse_file(&File::from(fd))
            }

            /// # Errors
            /// As [`Self::from_file`].
            pub fn from_owned_fd_unchecked(_fd: OwnedFd) -> io::Result<Self> {
                Err(refusal(true))
            }
        }
    };
}

given!(Sender);
given!(Receiver);
