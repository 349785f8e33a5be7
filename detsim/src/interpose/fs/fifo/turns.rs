//! Who waits for whom at a FIFO.
//!
//! Owns: the descriptors of FIFOs that a run has opened, and the threads that wait at them, for a partner, for
//! bytes or for room. Does not own: the pipes, which are the system's.
//!
//! Invariants: the system itself never waits for such a descriptor, or the run would with it; whatever is done
//! at a FIFO wakes all who wait at it, and they look again.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::panic::Location;
use std::task::Waker;

use detsim_executor::{NodeId, OpKind, ResourceKind, Sim};
use detsim_fs::{Line, Outcome, wait_in_line};
use libc::c_int;

/// A FIFO: of which node, and its number there.
pub(super) type Key = (NodeId, u64);

/// An open descriptor.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    pub(super) key: Key,
    /// Calls on it are to wait, as far as the program knows.
    pub(super) waits: bool,
}

/// All of a run.
#[derive(Default)]
pub(super) struct Turns(RefCell<State>);

#[derive(Default)]
struct State {
    ends: BTreeMap<c_int, End>,
    lines: BTreeMap<Key, Line>,
}

impl Turns {
    /// What is known of a descriptor.
    pub(super) fn end(&self, fd: c_int) -> Option<End> {
        self.0.borrow().ends.get(&fd).copied()
    }

    /// A descriptor is one of a FIFO from now on; `None` for one that is closed.
    pub(super) fn set(&self, fd: c_int, end: Option<End>) {
        let ends = &mut self.0.borrow_mut().ends;
        match end {
            Some(end) => drop(ends.insert(fd, end)),
            None => drop(ends.remove(&fd)),
        }
    }

    /// Something was done at a FIFO.
    pub(super) fn wake(&self, sim: &Sim, key: Key) {
        let state = &mut *self.0.borrow_mut();
        let Some(mut line) = state.lines.remove(&key) else { return };
        let woken = sim.with(|kernel| line.wake(kernel));
        woken.into_iter().for_each(Waker::wake);
    }

    /// Waits until something was done at a FIFO.
    #[track_caller]
    pub(super) fn wait(&self, sim: &Sim, key: Key, to: OpKind) -> Outcome<()> {
        let site = Location::caller();
        let place = {
            let state = &mut *self.0.borrow_mut();
            let line =
                state.lines.entry(key).or_insert_with(|| Line::new(ResourceKind::Pipe, site));
            sim.with(|kernel| line.join(kernel, to, site, &[]))
        };
        wait_in_line(place, |place| {
            if let Some(line) = self.0.borrow_mut().lines.get_mut(&key) {
                sim.with(|kernel| line.leave(kernel, place));
            }
        })
    }
}
