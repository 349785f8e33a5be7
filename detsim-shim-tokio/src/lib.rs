//! Tokio under `--cfg detsim` simulated, without it tokio itself.
//!
//! A project that takes this package under tokio's name changes nothing else:
//!
//! ```toml
//! [dependencies]
//! tokio = { package = "detsim-shim-tokio", version = "0.1", features = ["full"] }
//! ```
//!
//! `cargo test` then builds tokio. `RUSTFLAGS="--cfg detsim" cargo test` builds the same program over
//! the simulator: tasks run one at a time in an order drawn from a seed, time is virtual, and what
//! waits is known to a wait graph, so that a deadlock is reported at once with who holds what.
//!
//! This file is the one switch on the cfg. Everything starts as tokio's own, by glob; under the cfg
//! our items shadow what they replace, in a tree that mirrors tokio's. What is not here (`fs` on other
//! systems than Linux) is tokio's own, and says that there is no reactor when it is used in a
//! simulation.
#![deny(unsafe_code)]

pub use tokio::*;

#[cfg(detsim)]
mod blocking;
#[cfg(detsim)]
mod context;
#[cfg(all(detsim, target_os = "linux"))]
pub mod fs;
#[cfg(detsim)]
pub mod io;
#[cfg(detsim)]
#[doc(hidden)]
pub mod macros;
#[cfg(all(detsim, feature = "net"))]
pub mod net;
#[cfg(all(detsim, feature = "process"))]
pub mod process;
#[cfg(detsim)]
pub mod runtime;
#[cfg(detsim)]
pub mod signal;
#[cfg(detsim)]
pub mod sync;
#[cfg(detsim)]
pub mod task;
#[cfg(detsim)]
pub mod time;

#[cfg(detsim)]
pub use detsim_macros::{tokio_main as main, tokio_test as test};
#[cfg(detsim)]
pub use task::spawn;

/// What the attributes expand to. Not for direct use: it changes without notice.
#[doc(hidden)]
#[cfg_attr(detsim, path = "entry/simulated.rs")]
#[cfg_attr(not(detsim), path = "entry/real.rs")]
pub mod __detsim;
