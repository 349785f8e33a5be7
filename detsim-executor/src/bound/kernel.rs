//! The kernel of the simulation that this thread drives, without a cell.
//!
//! Owns: [`Guard`], the one way to a lane's kernel beside [`super::In::both`]. Does not own: the
//! kernel. Invariant: a guard and a section exclude each other, as two sections of one thread do, by
//! the busy word: kernel code that runs user code while it holds a guard panics when that comes back.
#![expect(unsafe_code, reason = "hands out the contents of the lane's UnsafeCell")]

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use crate::here;
use crate::kernel::Kernel;
use crate::lane::Lane;

/// Exclusive access to the kernel. Hold it for a few instructions: no user code, no lock.
pub(crate) struct Guard {
    lane: &'static Lane,
    _this_thread: PhantomData<*const ()>,
}

/// The kernel of the simulation that this thread drives, if it drives one.
///
/// # Panics
/// Inside a section, or while another guard lives.
#[inline]
pub(crate) fn enter() -> Option<Guard> {
    here::place().lane.map(enter_lane)
}

/// The kernel of a lane that is this thread's: it drives the simulation, or has its lease.
#[inline]
pub(crate) fn enter_lane(lane: &'static Lane) -> Guard {
    if lane.bias.is_busy() {
        entered_twice()
    }
    lane.bias.occupy();
    Guard { lane, _this_thread: PhantomData }
}

/// As [`enter_lane`], for the run loop after a poll: a section that was left open then is one that nobody
/// will ever use again.
#[inline]
pub(crate) fn return_to_lane(lane: &'static Lane) -> Guard {
    lane.bias.occupy();
    Guard { lane, _this_thread: PhantomData }
}

/// The steps of the simulation that this thread drives, if it drives one: inside a section too, and
/// in a signal handler.
pub(crate) fn steps() -> Option<u64> {
    let lane = here::place().lane?;
    // SAFETY: a lane lives as long as the process. Aligned words are read, volatile because the code
    // that a signal interrupted may be about to write one of them.
    Some(unsafe { (&raw const (*lane.kernel.get()).steps).read_volatile() }.taken())
}

impl Deref for Guard {
    type Target = Kernel;
    #[inline]
    fn deref(&self) -> &Kernel {
        // SAFETY: this thread holds the baton, and `busy`, set by this guard, keeps others out.
        unsafe { &*self.lane.kernel.get() }
    }
}

impl DerefMut for Guard {
    #[inline]
    fn deref_mut(&mut self) -> &mut Kernel {
        // SAFETY: as in `deref`, and the guard is borrowed mutably.
        unsafe { &mut *self.lane.kernel.get() }
    }
}

impl Drop for Guard {
    #[inline]
    fn drop(&mut self) {
        self.lane.bias.leave();
    }
}

#[cold]
#[inline(never)]
fn entered_twice() -> ! {
    panic!("detsim bug: the kernel was entered inside a section")
}
