//! The lease of a lane, and the baton.
//!
//! Owns: [`Lease`], the life of one simulation's id, and [`Lease::drive`], the only way to put that
//! id into a thread's `HERE`. Does not own: the loop that runs inside of it.
//!
//! Invariants: an id stands in at most one thread's `HERE` (a lease is neither `Clone` nor `Send`;
//! driven again further down, it is the same thread's); it is taken out before the lease can end; a
//! lane whose section lives on after that is never used again.

use std::cell::Cell;
use std::marker::PhantomData;

use crate::bound::kernel::{self, Guard};
use crate::here::{self, Place};
use crate::lane::Lane;

/// One simulation's claim to a lane. Dropping it ends the simulation for all of its objects.
pub(crate) struct Lease {
    lane: &'static Lane,
    id: u64,
    /// A section was left open: another owner of the lane would meet it.
    is_lost: Cell<bool>,
    /// What the kernel holds may belong to this thread.
    _this_thread: PhantomData<*const ()>,
}

impl Lease {
    /// Leases a lane.
    ///
    /// # Panics
    /// Where 4094 simulations are alive.
    #[track_caller]
    pub(crate) fn new() -> Self {
        let (lane, id) = Lane::lease();
        Self { lane, id, is_lost: Cell::new(false), _this_thread: PhantomData }
    }

    /// The owner id of what is created in this simulation.
    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// Whether a section is open. For the thread of the lease, where it does not drive.
    pub(crate) fn is_busy(&self) -> bool {
        self.lane.bias.is_busy()
    }

    /// The kernel, for a few instructions in which no user code runs, whether or not this thread
    /// drives the simulation: nobody else does, since the lease is on this thread.
    #[inline]
    pub(crate) fn kernel(&self) -> Guard {
        kernel::enter_lane(self.lane)
    }

    /// Runs `body` with this thread as the one that drives the simulation. Calls may be nested, each
    /// on another lease; the place before comes back at the end and when `body` panics.
    ///
    /// # Panics
    /// Where `body` leaves a section open.
    pub(crate) fn drive<R>(&self, body: impl FnOnce() -> R) -> R {
        let before = here::replace(Place { sim: self.id, lane: Some(self.lane), polled: 0 });
        let held = Held { lease: self, before, _aside: crate::attend::aside() };
        let result = body();
        // `result` may be the open section: it is dropped before `held` when this panics.
        assert!(!held.lease.lane.bias.is_busy(), "detsim bug: a section outlived its run");
        result
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if !self.is_lost.get() && !self.lane.bias.is_busy() {
            self.lane.release();
        }
    }
}

struct Held<'a> {
    lease: &'a Lease,
    before: Place,
    /// What a thread waits for while it drives is no business of what it attends to otherwise.
    _aside: crate::attend::Aside,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        let lost = self.lease.is_lost.get() || self.lease.lane.bias.is_busy();
        self.lease.is_lost.set(lost);
        here::replace(self.before);
    }
}
