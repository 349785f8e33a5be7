//! Where a task is spawned.
//!
//! Owns: [`Place`]: a group of the run that this thread is in, or of one that is another thread's. Does not
//! own: which one (`scope.rs`, `shared.rs`).

use crate::task::JoinHandle;
use detsim_executor::threads::{self, Barred};
use detsim_executor::{GroupId, Sim, blocking};
use std::future::Future;

/// What a thread is told that is not part of a run, where it has to be.
pub(super) const NOT_HERE: &str = "detsim: a runtime was used by a thread that is not part of its run; use it where it was made, or from \
     threads that were started in the run";

/// What whoever visits a run is told that is over.
pub(super) trait Tells {
    fn tell(self) -> !;
}

impl Tells for Barred {
    #[track_caller]
    fn tell(self) -> ! {
        match self {
            Self::Over => panic!("{NOT_HERE}"),
            Self::Failed(failure) => panic!("{failure}"),
        }
    }
}

/// See the module's documentation.
pub(crate) enum Place {
    Here(Sim, GroupId),
    /// A run by its number.
    Elsewhere(u64, GroupId),
}

impl Place {
    /// Spawns a task there.
    #[track_caller]
    pub(crate) fn spawn<F>(self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        JoinHandle::new(match self {
            Self::Here(sim, group) => sim.spawn_in(group, future),
            Self::Elsewhere(run, group) => threads::spawn_from_elsewhere(run, group, false, future),
        })
    }

    /// Spawns a task that stays on this thread.
    ///
    /// # Panics
    /// Where that is not part of the run.
    #[track_caller]
    pub(crate) fn spawn_local<F>(self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
    {
        match self {
            Self::Here(sim, group) => JoinHandle::new(sim.spawn_in(group, future)),
            Self::Elsewhere(..) => panic!("{NOT_HERE}"),
        }
    }

    /// Runs a closure there that may block.
    #[track_caller]
    pub(crate) fn spawn_blocking<F, R>(self, f: F) -> JoinHandle<R>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        JoinHandle::new(match self {
            Self::Here(sim, group) => sim.spawn_blocking_in(group, f),
            Self::Elsewhere(run, group) => {
                threads::spawn_from_elsewhere(run, group, true, blocking(f))
            }
        })
    }
}
