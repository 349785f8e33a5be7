//! What a program wants called when threads of a runtime start, stop, park and go on.
//!
//! Owns: [`Hooks`]. Does not own: when that is. The threads are simulated: those of a `multi_thread`
//! runtime start when it is built and stop when it is shut down, and all of them park when nothing of
//! the run can go on before its clock moves.

use std::fmt;
use std::sync::Arc;

/// A callback of the program.
pub(crate) type Callback = Arc<dyn Fn() + Send + Sync>;

/// The callbacks of a runtime.
#[derive(Clone, Default)]
pub(crate) struct Hooks {
    pub(crate) start: Option<Callback>,
    pub(crate) stop: Option<Callback>,
    pub(crate) park: Option<Callback>,
    pub(crate) unpark: Option<Callback>,
}

impl Hooks {
    /// Whether something is to be called when the run rests.
    pub(crate) fn are_idle(&self) -> bool {
        self.park.is_none() && self.unpark.is_none()
    }
}

/// Calls it for each of `threads`.
pub(crate) fn call(callback: &Option<Callback>, threads: usize) {
    if let Some(callback) = callback {
        (0..threads).for_each(|_| callback());
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hooks").finish_non_exhaustive()
    }
}
