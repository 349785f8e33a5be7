//! The run that a thread is in.
//!
//! Owns: the run of a thread that nobody opened one for. A runtime that is made outside of any run, or a
//! reading of the clock there, opens it: seed `DETSIM_SEED`, or 0. It goes on whenever the thread blocks
//! on something of it, and stays as long as the thread. Does not own: runs that somebody opened.
//!
//! A thread that has such a run belongs to it, also where it does not block on anything of it just now:
//! threads that it starts are part of the run, std's clock is the run's, and where it waits for a lock, a
//! channel or a thread, the run goes on.
//!
//! Other threads may have been given a runtime of it: what they do with that is part of the run while it lasts
//! (`threads::visit`).
//!
//! Invariants: a thread has at most one such run that has not failed. When the thread ends the run stays
//! for others while a runtime of it is open; else what still lives in it is left alone, as the tasks of a
//! runtime that nobody drops are.

use super::shared::Shared;
use detsim_executor::{Sim, context, threads};
use std::cell::RefCell;

thread_local! {
    static OPENED: RefCell<Option<Opened>> = const { RefCell::new(None) };
}

/// There until it is dropped.
struct Opened(Option<Sim>);

impl Opened {
    fn sim(&self) -> &Sim {
        self.0.as_ref().expect("invariant: the run is there until the thread ends")
    }

    fn has_failed(&self) -> bool {
        self.sim().failure().is_some()
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        let Some(sim) = self.0.take() else { return };
        let runtime_is_open = sim.with(|kernel| kernel.has_open(|label| label.is::<Shared>()));
        threads::abandon(sim, runtime_is_open);
    }
}

/// The run that this thread is in: the one that runs on it, else the one that nobody opened.
pub(crate) fn here() -> Sim {
    context::sim().unwrap_or_else(|| {
        OPENED.with_borrow_mut(|opened| {
            if opened.as_ref().is_none_or(Opened::has_failed) {
                *opened = Some(Opened(Some(detsim::__private::implicit())));
                threads::attend(self::opened);
            }
            opened.as_ref().map(|opened| opened.sim().clone()).expect("invariant: opened just now")
        })
    })
}

/// The run of this number, where this thread is in it.
pub(crate) fn of(run: u64) -> Option<Sim> {
    let is_it = |sim: &Sim| sim.is_alive() && sim.with(|kernel| kernel.id()) == run;
    context::sim().filter(is_it).or_else(|| opened().filter(is_it))
}

/// The run that nobody opened, where this thread has one and runs no other.
pub(crate) fn opened() -> Option<Sim> {
    let opened = OPENED.try_with(|opened| {
        let opened = opened.try_borrow().ok()?;
        opened.as_ref().map(|opened| opened.sim().clone())
    });
    opened.ok().flatten()
}

/// Whether the run of this number is the one of this thread that nobody opened.
pub(crate) fn is_opened(run: u64) -> bool {
    opened().is_some_and(|sim| sim.is_alive() && sim.with(|kernel| kernel.id()) == run)
}
