//! Where this thread stands: the one thread-local of the kernel.
//!
//! Owns: [`HERE`], the id and lane of the simulation that this thread drives (the *baton*), and a
//! mark for sections that hold a lock. Does not own: who may take the baton (`bound/lease.rs`, the
//! only caller of [`replace`]).
//!
//! Invariants: an id stands in at most one thread's `HERE`; the lane is set exactly where the id is
//! not [`NOWHERE`]; nothing here has a destructor or a lazy initialiser, so that it can be read at
//! any time, in the destructors of a thread's other locals too.

use std::cell::Cell;

pub(crate) use crate::bound::protocol::NOWHERE;
use crate::lane::Lane;

/// What a thread that drives a simulation knows about itself.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    /// The owner id of the simulation, or [`NOWHERE`].
    pub(crate) sim: u64,
    /// Its lane; `None` exactly where `sim` is [`NOWHERE`].
    pub(crate) lane: Option<&'static Lane>,
}

struct Here {
    sim: Cell<u64>,
    lane: Cell<Option<&'static Lane>>,
    locked: Cell<bool>,
}

const _: () = assert!(!std::mem::needs_drop::<Here>());

thread_local! {
    static HERE: Here =
        const { Here { sim: Cell::new(NOWHERE), lane: Cell::new(None), locked: Cell::new(false) } };
}

/// The simulation that this thread drives.
#[inline]
pub(crate) fn place() -> Place {
    HERE.with(|here| Place { sim: here.sim.get(), lane: here.lane.get() })
}

/// Puts another place here and returns the one before. For `Lease::drive` alone.
pub(crate) fn replace(place: Place) -> Place {
    HERE.with(|here| Place {
        sim: here.sim.replace(place.sim),
        lane: here.lane.replace(place.lane),
    })
}

/// A number of this thread that no other living thread has. Only ever compared.
pub(crate) fn token() -> usize {
    HERE.with(|here| std::ptr::from_ref(here).addr())
}

/// Whether this thread is inside a section that holds a lock: the next one would deadlock.
pub(crate) fn is_locked() -> bool {
    HERE.with(|here| here.locked.get())
}

/// Marks this thread as inside such a section.
pub(crate) fn lock() -> Locked {
    HERE.with(|here| here.locked.set(true));
    Locked
}

/// The mark; dropping it takes it away.
pub(crate) struct Locked;

impl Drop for Locked {
    fn drop(&mut self) {
        HERE.with(|here| here.locked.set(false));
    }
}
