//! The Raft example's core, cluster and checker, for every peer.
//!
//! The files are the example's own, taken in by path, so that each simulator runs the same
//! protocol. A dependency on the example would link detsim into its peers.

pub use example::{cluster, core, invariants, story};

#[path = "../../../examples/raft/src"]
mod example {
    pub mod cluster;
    pub mod core;
    pub mod invariants;
    pub mod story;
}
