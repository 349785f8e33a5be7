//! The macros that poll several futures in one task.
//!
//! Mirrors `tokio::macros`. Owns: `select!`, `join!` and `try_join!`. Does not own: `pin!` and
//! `task_local!`, which are tokio's own. Invariant, shared by all and by `timeout`: where a branch
//! returns because its task was stopped before an operation, the macro returns at once, and polls
//! that branch first when it is polled again; so a stop cannot be told from any other moment at
//! which others ran.

mod join;
mod select;
pub mod support;
