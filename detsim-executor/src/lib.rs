//! The kernel of detsim.
#![deny(unsafe_code)]

pub mod rng;
pub mod time;

pub use rng::{Ratio, Stream};
pub use time::SimTime;
