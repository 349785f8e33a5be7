//! A key-value store on a write-ahead log, and a world that crashes it.
//!
//! The store ([`Kv`]) is what one would write on a real file: `crc.rs`, `entry.rs`, `store.rs`. The
//! world ([`trial`]) puts it on a disk that tears, reorders and damages what is written, crashes it
//! again and again, and compares what it serves with what it was told.
//!
//! The bug to find is one that people ship: [`Checksums::Off`]. The log then looks right until the
//! day a byte is not what it was.
//!
//! ```
//! use kv::{Checksums, trial};
//!
//! let line = (0..5_000).map(|seed| trial(seed, Checksums::Off)).find(|t| t.finding.is_some());
//! println!("{}", line.expect("a store without checksums serves corrupt data"));
//! assert!((0..50).all(|seed| trial(seed, Checksums::On).finding.is_none()));
//! ```

#![forbid(unsafe_code)]

mod crc;
mod entry;
mod oracle;
mod store;
mod world;

pub use entry::Checksums;
pub use oracle::Finding;
pub use store::{Kv, Recovery};
pub use world::{Options, PROFILE, Problem, Step, Trial, check, run, trial, trial_on};
