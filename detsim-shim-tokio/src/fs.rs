//! Files on the simulated disk of the node that runs.
//!
//! Mirrors `tokio::fs`. Owns: tokio's names and how its `File` buffers; that every call is an
//! operation before which its task may be stopped, and takes virtual time. Does not own: what a call
//! does. That is std's own code on a simulated disk: inside a run libc's file calls are the
//! simulation's, so paths, permissions, metadata and errors are std's types with Linux's numbers.
//!
//! A change of a file or a name takes place when the call begins, and the call returns later: power
//! that is lost in between may or may not have taken it along. A read sees what is there when it
//! ends. A sync covers what was done before it began, and is done when it ends.

mod call;
mod dir_builder;
mod file;
mod file_times;
mod functions;
mod open_options;
mod raw;
mod read_dir;

pub use dir_builder::DirBuilder;
pub use file::File;
pub use file_times::FileTimes;
pub use functions::{
    canonicalize, copy, create_dir, create_dir_all, hard_link, metadata, read, read_link,
    read_to_string, remove_dir, remove_dir_all, remove_file, rename, set_permissions, symlink,
    symlink_metadata, try_exists, write,
};
pub use open_options::OpenOptions;
pub use read_dir::{DirEntry, ReadDir, read_dir};
