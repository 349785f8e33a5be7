//! A section: what a thread may do while it is alone in a cell.
//!
//! Owns: [`In`], and [`Own`], its plain form. Does not own: how a section is opened (`bound.rs`, `slow.rs`) and kept alone
//! (`protocol.rs`). Invariants: an `In` exists only while the protocol grants its section, on the
//! thread that opened it; foreign wakers leave it before they are woken or dropped.
#![expect(unsafe_code, reason = "hands out the contents of UnsafeCells under the protocol")]

use std::cell::UnsafeCell;
use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::task::Waker;

use super::slow::{self, Later, Rest};
use crate::kernel::Kernel;
use crate::lane::{LANE_SHIFT, Lane};
use crate::waker;

/// A section: exclusive access to the state of one cell, until it is dropped.
///
/// It stays on its thread:
/// ```compile_fail,E0277
/// static CELL: detsim_executor::Bound<u64> = detsim_executor::Bound::unbound(0);
/// let section = CELL.enter();
/// std::thread::spawn(move || *section);
/// ```
#[must_use = "the section ends when this is dropped"]
pub struct In<'a, T> {
    value: &'a UnsafeCell<T>,
    /// The lane of the simulation that owns the cell, where this thread drives it.
    lane: Option<&'static Lane>,
    /// `None` in a biased section with nothing put off.
    rest: Option<Box<Rest>>,
    /// The first foreign waker to wake: a single one is the common case, and needs no allocation.
    first: Option<Waker>,
}

impl<'a, T> In<'a, T> {
    #[inline]
    pub(super) fn new(
        value: &'a UnsafeCell<T>,
        lane: Option<&'static Lane>,
        rest: Option<Box<Rest>>,
    ) -> Self {
        Self { value, lane, rest, first: None }
    }

    /// The state and, where this thread drives the simulation that owns the cell, the kernel.
    #[inline]
    pub fn both(&mut self) -> (&mut T, Option<&mut Kernel>) {
        // SAFETY: the lane is set in biased and own sections. There the baton is this thread's and
        // `busy` is 1, so neither `kernel::enter` nor another section can hand out the kernel.
        let kernel = self.lane.map(|lane| unsafe { &mut *lane.kernel.get() });
        // SAFETY: the section is the only one of this cell, and it is borrowed mutably.
        (unsafe { &mut *self.value.get() }, kernel)
    }

    /// Wakes a task: of this simulation at once, any other waker when the section has been left.
    #[inline]
    pub fn wake(&mut self, waker: Waker) {
        if let (Some(lane), Some(packed)) = (self.lane, waker::ours(&waker))
            && (packed >> LANE_SHIFT == lane.index() || packed == waker::NOBODY)
        {
            if let (_, Some(kernel)) = self.both()
                && packed != waker::NOBODY
            {
                kernel.wake(packed);
            }
            // Ours has nothing to drop; the compiler cannot see that through the table.
            return std::mem::forget(waker);
        }
        self.put_off(Later::Wake(waker));
    }

    /// Drops a waker that is no longer needed: ours at once, any other when the section has been
    /// left.
    #[inline]
    pub fn dispose(&mut self, waker: Option<Waker>) {
        match waker {
            Some(waker) if waker::ours(&waker).is_none() => self.put_off(Later::Drop(waker)),
            Some(waker) => std::mem::forget(waker),
            None => {}
        }
    }

    /// The parts go by value: a section whose address is never taken stays in registers.
    #[inline]
    fn put_off(&mut self, later: Later) {
        (self.first, self.rest) = slow::put_off(later, self.first.take(), self.rest.take());
    }
}

/// A section of the simulation that this thread drives, as nearly all are: it has the kernel, and nothing
/// is put off in it. Where something has to be it becomes an [`In`].
#[must_use = "the section ends when this is dropped"]
pub struct Own<'a, T> {
    value: &'a UnsafeCell<T>,
    lane: &'static Lane,
}

impl<'a, T> Own<'a, T> {
    #[inline]
    pub(super) fn new(value: &'a UnsafeCell<T>, lane: &'static Lane) -> Self {
        Self { value, lane }
    }

    /// The state and the kernel.
    #[inline]
    pub fn both(&mut self) -> (&mut T, &mut Kernel) {
        // SAFETY: the section is the only one of this cell, the baton is this thread's and `busy` is 1,
        // so nothing else hands out the kernel; both are borrowed mutably.
        unsafe { (&mut *self.value.get(), &mut *self.lane.kernel.get()) }
    }

    /// Wakes a task of this simulation. Any other waker comes back: it is woken through [`In::wake`].
    #[inline]
    pub fn wake(&mut self, waker: Waker) -> Option<Waker> {
        self.both().1.wake_by(waker)
    }

    /// The same section, in which wakers of others may be put off.
    #[inline]
    pub fn into_in(self) -> In<'a, T> {
        let Self { value, lane } = *ManuallyDrop::new(self);
        In::new(value, Some(lane), None)
    }
}

impl<T> Drop for Own<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.lane.bias.leave();
    }
}

impl<T> fmt::Debug for Own<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Own")
    }
}

impl<T> Deref for In<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the section is the only one of this cell.
        unsafe { &*self.value.get() }
    }
}

impl<T> DerefMut for In<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the section is the only one of this cell, and it is borrowed mutably.
        unsafe { &mut *self.value.get() }
    }
}

impl<T> Drop for In<'_, T> {
    #[inline]
    fn drop(&mut self) {
        match (self.rest.take(), self.lane) {
            (None, Some(lane)) => {
                lane.bias.leave();
                if let Some(waker) = self.first.take() {
                    waker.wake();
                }
            }
            (rest, lane) => slow::leave(lane, rest, self.first.take()),
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for In<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
