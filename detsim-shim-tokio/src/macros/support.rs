//! What the macros expand to calls of. Not for direct use: it changes without notice.
//!
//! Owns: how branches are kept and the order in which they are polled, compiled once. Invariants: a
//! poll that follows a stop begins with the branch that was stopped, and polls all the others after
//! it: one of them may have been woken while the task was stopped, by a wake that this poll answers.
//! What has to be remembered between two polls takes no more room in the user's future than tokio
//! takes.

mod branches;
mod join;
mod list;

use detsim_executor::context;

pub use branches::{Branches, MaskOf, Turn, is_biased, is_fair};
pub use join::{Biased, Fair, MaybeDone, Order, Rotation, Visit, biased, fair, maybe_done};
pub use list::{And, List, Nil};
pub use std::future::{Future, IntoFuture, poll_fn};
pub use std::pin::pin;
pub use std::task::{Poll, ready};

/// Was the current task stopped before an operation, in this poll?
#[inline]
pub fn is_stopped() -> bool {
    context::with(|kernel| kernel.is_stopped()).unwrap_or(false)
}

#[cfg(test)]
mod tests;
