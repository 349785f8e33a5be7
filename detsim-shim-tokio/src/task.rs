//! Tasks of the simulation.
//!
//! Mirrors `tokio::task`. Owns: spawning, join handles and sets, local sets, budgets and yielding. Does
//! not own: the tasks, which are the kernel's; task locals, which are tokio's own, since they need no
//! runtime.

mod blocking;
pub mod coop;
mod error;
mod id;
mod join;
mod join_set;
mod local;
mod spawn;
mod yield_now;

pub(crate) use blocking::spawn_blocking_on;
pub use blocking::{block_in_place, spawn_blocking};
pub use coop::{Unconstrained, consume_budget, unconstrained};
pub use error::JoinError;
pub use id::{Id, id, try_id};
pub use join::{AbortHandle, JoinHandle};
pub use join_set::JoinSet;
pub use local::{LocalEnterGuard, LocalSet, spawn_local};
pub use spawn::spawn;
pub use yield_now::yield_now;

pub use tokio::task::{LocalKey, futures};
