//! The commands about failures that were recorded: `minimize` and `trace`.
//!
//! One code for two command lines: `cargo detsim`, which a user types, and `cargo xtask`, which a
//! developer of detsim does. Owns the spelling of their flags and the finding of records. Does not
//! own: builds on the simulated tokio, which are the program's own (`main.rs`), nor any text about a
//! run, which is the library's.

#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, reason = "the product of a command line")]

pub mod failure;
pub mod minimize;
pub mod trace;
