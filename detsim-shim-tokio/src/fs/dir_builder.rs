//! How a directory is made.

use super::call::call;
use detsim_fs::Cost;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

/// How a directory is made.
#[derive(Debug, Default)]
pub struct DirBuilder {
    recursive: bool,
    mode: Option<u32>,
}

impl DirBuilder {
    /// One directory, with the usual permissions.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether directories above it that are missing are made as well, and one that is there is no
    /// error.
    pub fn recursive(&mut self, recursive: bool) -> &mut Self {
        self.recursive = recursive;
        self
    }

    /// The permissions.
    pub fn mode(&mut self, mode: u32) -> &mut Self {
        self.mode = Some(mode);
        self
    }

    /// Makes the directory.
    ///
    /// # Errors
    /// As std's.
    pub async fn create(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let path = path.as_ref().to_owned();
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(self.recursive);
        if let Some(mode) = self.mode {
            builder.mode(mode);
        }
        call(Cost::Write, move || builder.create(path)).await
    }
}
