//! The one error of xtask: a line for a person, printed once by `main`.
//!
//! Nobody matches on it, so it has no kinds; whoever makes one says what failed and, where it is
//! not plain, what to do next.

use std::{fmt, io};

pub(crate) type Result<T = ()> = std::result::Result<T, Failure>;

#[derive(Debug)]
pub(crate) struct Failure(String);

impl Failure {
    pub(crate) fn new(line: impl Into<String>) -> Self {
        Self(line.into())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<cargo_detsim::failure::Failure> for Failure {
    fn from(failure: cargo_detsim::failure::Failure) -> Self {
        Self(failure.to_string())
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self(error.to_string())
    }
}
