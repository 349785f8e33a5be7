//! The programs on simulated files.

use detsim_shim_tokio as tokio;

#[path = "programs.rs"]
mod programs;

pub(super) use programs::{Program, Seen, everything};
