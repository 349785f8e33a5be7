//! The times that a file is given.

#![expect(clippy::disallowed_types, reason = "the times of files are what a program says")]

use std::time::SystemTime;

/// The times that a file is given by [`File::set_times`](super::File::set_times).
#[derive(Clone, Debug, Default)]
#[must_use = "must be applied to a file via `File::set_times` to have any effect"]
pub struct FileTimes(std::fs::FileTimes);

impl FileTimes {
    /// All times stay as they are.
    pub fn new() -> Self {
        Self::default()
    }

    /// When it was read.
    pub fn set_accessed(self, t: SystemTime) -> Self {
        Self(self.0.set_accessed(t))
    }

    /// When it was written.
    pub fn set_modified(self, t: SystemTime) -> Self {
        Self(self.0.set_modified(t))
    }

    pub(super) fn into_std(self) -> std::fs::FileTimes {
        self.0
    }
}
