//! What a run can find.
//!
//! Owns: the sum of what [`crate::invariants`] and [`crate::liveness`] report.

use std::fmt;

use crate::invariants::Violation;
use crate::liveness::Stall;

/// Something that must not happen, or did not come about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// A safety property is broken.
    Unsafe(Violation),
    /// The cluster does not get on.
    Stalled(Stall),
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsafe(violation) => violation.fmt(f),
            Self::Stalled(stall) => stall.fmt(f),
        }
    }
}

impl std::error::Error for Finding {}

impl From<Violation> for Finding {
    fn from(violation: Violation) -> Self {
        Self::Unsafe(violation)
    }
}

impl From<Stall> for Finding {
    fn from(stall: Stall) -> Self {
        Self::Stalled(stall)
    }
}
