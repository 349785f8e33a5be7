//! The programs on real files.

use ::tokio;

#[expect(clippy::duplicate_mod, reason = "the same programs, over another tokio")]
#[path = "programs.rs"]
mod programs;

pub(super) use programs::{Program, Seen, everything};
