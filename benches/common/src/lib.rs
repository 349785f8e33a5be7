//! What every measured program shares: the clock, the measuring loop, and the catalog of workloads.
//!
//! Each peer (detsim, tokio, madsim, ..) is one small program that compiles the same workload texts
//! against its own `peer` module and hands [`peer_main`] the two functions that run them. One
//! process measures one workload once and prints one line, so that no run sees another's heap, and
//! the runner can interleave the peers.
//!
//! Not here: the texts themselves (`benches/workloads`), and what to do with the figures
//! (`benches/run`).

pub mod catalog;
pub mod clock;
mod entry;
mod random;
mod sample;

pub use entry::{Command, peer_main};
pub use random::Random;
pub use sample::{Sample, Work, median};
