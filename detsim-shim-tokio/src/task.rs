//! Tasks of the simulation.
//!
//! Mirrors `tokio::task`. Owns: spawning, join handles and yielding. Does not own: the tasks, which
//! are the kernel's; task locals, which are tokio's own, since they need no runtime.

pub mod coop;
mod error;
mod id;
mod join;
mod spawn;
mod yield_now;

pub use coop::{Unconstrained, consume_budget, unconstrained};
pub use error::JoinError;
pub use id::Id;
pub use join::{AbortHandle, JoinHandle};
pub use spawn::spawn;
pub use yield_now::yield_now;

pub use tokio::task::{LocalKey, futures};
