//! The one error of the command line: a text for the person who typed the command.
//!
//! Nobody matches on it, so it has no kinds. Whoever makes one says the fact, its cause and what
//! to do next.

use std::io;
use std::path::Path;
use std::process::Command;

/// What a command comes to.
pub type Result<T = ()> = std::result::Result<T, Failure>;

/// A text for the person who typed the command.
#[derive(Debug)]
pub struct Failure(String);

impl Failure {
    /// With this text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// `path` could not be read or written.
    pub fn file(path: &Path, error: &io::Error) -> Self {
        Self(format!("detsim: `{}`: {error}", path.display()))
    }

    /// `command` could not be started at all.
    pub fn start(command: &Command, error: &io::Error) -> Self {
        let program = command.get_program().to_string_lossy();
        Self(format!("detsim: `{program}` could not be started: {error}"))
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}
