//! The record of a run, and its hash.
//!
//! Owns: [`RunHash`] (always on) and [`Trace`] (kept only in a recorded run). Does not own: the
//! events themselves, or files. Invariants: equal runs give equal hashes and equal traces, byte
//! for byte; recording changes neither the run nor its hash.

use crate::SimTime;
use crate::event::{Event, Moment};
use crate::rng::fold;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The fingerprint of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RunHash {
    /// The happens-before (L2) shape: a sum over the operations, each folded with the history of
    /// its task and of its object. Equal for runs that differ only in the order of independent
    /// operations.
    pub shape: u64,
    /// Every step in its order: equal only for the same run.
    pub order: u64,
}

impl RunHash {
    /// One more operation, whose own history is `event`.
    #[inline]
    pub(crate) fn operation(&mut self, event: u64) {
        self.shape = self.shape.wrapping_add(event);
    }

    /// One more step.
    #[inline]
    pub(crate) fn step(&mut self, what: u64) {
        self.order = (self.order ^ what).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
    }

    /// Both in one word.
    pub fn word(self) -> u64 {
        fold(self.shape, self.order)
    }
}

impl fmt::Display for RunHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.word())
    }
}

/// The events of a recorded run. Displayed, it is one line an event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trace {
    /// In the order they happened.
    pub moments: Vec<Moment>,
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.moments.iter().try_for_each(|moment| writeln!(f, "{moment}"))
    }
}

/// Keeps events, when it is on.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    on: bool,
    trace: Trace,
}

impl Recorder {
    pub(crate) fn reset(&mut self, on: bool) {
        self.on = on;
        self.trace.moments.clear();
    }

    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.on
    }

    pub(crate) fn push(&mut self, at: SimTime, step: u64, event: Event) {
        self.trace.moments.push(Moment { at, step, event });
    }

    pub(crate) fn trace(&self) -> &Trace {
        &self.trace
    }
}
