//! How a file is opened.
//!
//! Owns: [`OpenOptions`], std's with an `open` that takes time.

use super::File;
use super::call::call;
use detsim_fs::Cost;
use std::fs::OpenOptions as Std;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// How a file is opened. Nothing is allowed at first.
#[derive(Clone, Debug)]
pub struct OpenOptions(Std);

/// Setters that std has under the same name.
macro_rules! settings {
    ($( $(#[$doc:meta])* $name:ident: $type:ty; )+) => { $(
        $(#[$doc])*
        pub fn $name(&mut self, $name: $type) -> &mut Self {
            self.0.$name($name);
            self
        }
    )+ };
}

impl OpenOptions {
    /// Nothing is allowed.
    pub fn new() -> Self {
        Self(Std::new())
    }

    settings! {
        /// Whether reads are allowed.
        read: bool;
        /// Whether writes are allowed.
        write: bool;
        /// Whether writes are allowed, and go to the end.
        append: bool;
        /// Whether the file is emptied.
        truncate: bool;
        /// Whether the file is made where it is not there.
        create: bool;
        /// Whether the file is made, and it is an error where it is there.
        create_new: bool;
        /// The permissions of a file that is made.
        mode: u32;
        /// Other flags of `open(2)`, such as `O_DSYNC`.
        custom_flags: i32;
    }

    /// Opens a file.
    ///
    /// # Errors
    /// As std's.
    pub async fn open(&self, path: impl AsRef<Path>) -> io::Result<File> {
        let (path, options) = (path.as_ref().to_owned(), self.0.clone());
        call(Cost::Write, move || options.open(path)).await.map(File::from_std)
    }
}

impl From<Std> for OpenOptions {
    fn from(options: Std) -> Self {
        Self(options)
    }
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self::new()
    }
}
