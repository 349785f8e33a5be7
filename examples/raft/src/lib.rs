//! Five Raft nodes on the simulated network.
//!
//! Owns: a Raft core without I/O ([`core`]), what must hold ([`invariants`]) and come about
//! ([`liveness`]) in a cluster of it, what a run does to it ([`plan`], [`ballots`]), what led up to a
//! finding ([`story`]), and the cluster in a simulation ([`world`]). The core has no dependency and
//! no clock; a driver of a hundred lines puts it on any runtime.

#![forbid(unsafe_code)]

pub mod ballots;
pub mod cluster;
pub mod core;
pub mod finding;
pub mod invariants;
pub mod liveness;
pub mod plan;
pub mod story;
pub mod trials;
pub mod world;

#[cfg(test)]
mod testbed;
