//! The errors of a file system, as Linux numbers them.
//!
//! Owns: [`Errno`]. Does not own: when one is given. An error leaves this crate as a number and
//! becomes an [`io::Error`] with the kind and the text that the system has for it.

use std::fmt;
use std::io;

/// The number of an error.
///
/// # Examples
/// ```
/// use detsim_fs::Errno;
/// let error = std::io::Error::from(Errno::ENOENT);
/// assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
/// assert_eq!(error.raw_os_error(), Some(2));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Errno(i32);

/// What an operation of a file system gives.
pub type Outcome<T> = Result<T, Errno>;

/// Names with their numbers on Linux, and on other systems where they differ.
macro_rules! errnos {
    ($($name:ident = $linux:literal $(/ $other:literal)?, $doc:literal;)*) => {
        impl Errno {
            $(
                #[doc = $doc]
                pub const $name: Self = Self(errnos!(@pick $linux $($other)?));
            )*
        }

        impl fmt::Debug for Errno {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match *self {
                    $(Self::$name => f.write_str(stringify!($name)),)*
                    Self(number) => write!(f, "Errno({number})"),
                }
            }
        }
    };
    (@pick $linux:literal) => { $linux };
    (@pick $linux:literal $other:literal) => { if cfg!(target_os = "linux") { $linux } else { $other } };
}

errnos! {
    EPERM = 1, "Not allowed, whoever asks: a hard link to a directory.";
    ENOENT = 2, "Nothing of this name.";
    EINTR = 4, "A signal came first.";
    EIO = 5, "The medium failed.";
    ENXIO = 6, "Nothing is behind the name of a device or a pipe.";
    EBADF = 9, "No such handle, or one that was not opened for this.";
    EAGAIN = 11 / 35, "Somebody else holds the lock.";
    EACCES = 13, "The mode of a file forbids it.";
    EFAULT = 14, "No place to write to.";
    EBUSY = 16, "The root, which cannot be taken away.";
    EEXIST = 17, "Something of this name is there.";
    EXDEV = 18, "Two names that are not on one disk.";
    ENOTDIR = 20, "A name on the way is no directory.";
    EISDIR = 21, "It is a directory.";
    EINVAL = 22, "An argument that means nothing.";
    EMFILE = 24, "Too many open files.";
    ENOTTY = 25, "A file is no terminal and no device.";
    EFBIG = 27, "Beyond the largest file.";
    ENOSPC = 28, "The disk is full.";
    EMLINK = 31, "Too many names for one file.";
    EDEADLK = 35 / 11, "Nobody would ever give the lock back.";
    ENAMETOOLONG = 36 / 63, "A name of more than 255 bytes, or a path of more than 4095.";
    ENOTEMPTY = 39 / 66, "A directory with something in it.";
    EOPNOTSUPP = 95 / 102, "This file system has no such thing.";
    EOVERFLOW = 75 / 84, "A number that is too large for its place.";
    ECONNREFUSED = 111 / 61, "Nobody is behind the name of a socket, or it is none.";
    ELOOP = 40 / 62, "More than 40 symbolic links, or one where none may be.";
}

impl Errno {
    /// The error of a number that the system gave.
    pub const fn of(raw: i32) -> Self {
        Self(raw)
    }

    /// The number.
    pub const fn raw(self) -> i32 {
        self.0
    }
}

impl From<Errno> for io::Error {
    fn from(errno: Errno) -> Self {
        Self::from_raw_os_error(errno.0)
    }
}
