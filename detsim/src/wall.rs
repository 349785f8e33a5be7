//! Wall time, which only the sweep may know: for its budget, its progress and its pace.
//!
//! Invariant: nothing that is read here reaches a run or a report.

#![expect(clippy::disallowed_types, reason = "the one reader of the wall clock")]

use std::time::{Duration, Instant};

/// A stopwatch that runs from its start on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    pub(crate) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}
