//! The biased cell that the state of every simulated object sits in.
//!
//! Owns: [`Bound`] and the way into it. Does not own: what a section may do ([`In`], `section.rs`), how
//! sections keep apart (`protocol.rs`), the memory of a simulation (`lane.rs`), the rare paths
//! (`slow.rs`).
//!
//! Invariants:
//! - one section at a time per cell, and one per thread; the second panics, it does not alias.
//! - the kernel is reached by the thread that holds the baton only.
//! - no user code inside a section: no value of a user and no foreign waker is dropped, cloned or
//!   woken there. Breaking this is a panic in the code that comes back, not undefined behaviour.
//! - no lock is held and no locked instruction is run where the owner's own thread enters.
#![expect(unsafe_code, reason = "a cell is shared between threads under the protocol")]

pub(crate) mod escape;
pub(crate) mod kernel;
pub(crate) mod lease;
pub(crate) mod protocol;
mod section;
mod slow;
mod sync;

use std::cell::UnsafeCell;
use std::fmt;
use std::panic::Location;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use self::protocol::{NOWHERE, UNBOUND};
pub use self::section::{In, Own};
use crate::here;

/// The state of one simulated object, usable from any thread, simulation or none at all.
///
/// A cell belongs to a simulation: the one it was created in, or the first that enters it. That
/// simulation enters for the price of two plain stores; everybody else waits for a lock, as with a
/// real mutex, and is noted as an escape while the simulation lives. When the simulation has ended,
/// the cell is free for the next.
///
/// # Examples
/// ```
/// use detsim_executor::Bound;
/// static HITS: Bound<u64> = Bound::unbound(0);
/// let threads = [(); 4].map(|()| std::thread::spawn(|| *HITS.enter() += 1));
/// threads.into_iter().for_each(|thread| thread.join().unwrap());
/// assert_eq!(*HITS.enter(), 4);
/// ```
pub struct Bound<T> {
    owner: AtomicU64,
    site: &'static Location<'static>,
    value: UnsafeCell<T>,
}

// SAFETY: `value` is reached through `In`, one at a time (`protocol.rs`), through `&mut self`, or by
// value; so a shared cell does no more than send `T` from thread to thread.
unsafe impl<T: Send> Sync for Bound<T> {}

impl<T> Bound<T> {
    /// A cell that the first simulation to enter it adopts; the form for statics.
    #[track_caller]
    pub const fn unbound(value: T) -> Self {
        Self {
            owner: AtomicU64::new(UNBOUND),
            site: Location::caller(),
            value: UnsafeCell::new(value),
        }
    }

    /// A cell of the simulation that this thread drives; unbound where it drives none.
    #[inline]
    #[track_caller]
    pub fn new(value: T) -> Self {
        let mut cell = Self::unbound(value);
        let sim = here::place().sim;
        *cell.owner.get_mut() = if sim == NOWHERE { UNBOUND } else { sim };
        cell
    }

    /// A cell of the simulation of this id.
    #[inline]
    pub(crate) fn of_run(id: u64, value: T, site: &'static Location<'static>) -> Self {
        Self { owner: AtomicU64::new(id), site, value: UnsafeCell::new(value) }
    }

    /// Enters the cell. Run no user code, and enter no other cell, while the section lives.
    ///
    /// # Panics
    /// Where this thread is in a section already: "detsim bug: object created at .. entered twice".
    #[inline]
    pub fn enter(&self) -> In<'_, T> {
        let place = here::place();
        // Nobody's owner is NOWHERE: an equal id is the id of a simulation, and comes with a lane.
        if let (true, Some(lane)) = (self.owner.load(Relaxed) == place.sim, place.lane) {
            if lane.bias.is_busy() {
                slow::entered_twice(self.site)
            }
            if lane.bias.enter() {
                return In::new(&self.value, Some(lane), None);
            }
        }
        let (lane, rest) = slow::enter(&self.owner, self.site, std::any::type_name::<T>);
        In::new(&self.value, lane, rest)
    }

    /// Enters the cell for what is done millions of times: `None` where it takes more than two plain
    /// stores, and [`Self::enter`] is the way in.
    #[inline]
    pub fn enter_own(&self) -> Option<Own<'_, T>> {
        let place = here::place();
        if self.owner.load(Relaxed) != place.sim {
            return None;
        }
        // SAFETY: nobody's owner is NOWHERE, so the id is one of a simulation, and comes with a lane.
        let lane = unsafe { place.lane.unwrap_unchecked() };
        if lane.bias.is_busy() || !lane.bias.enter() {
            return None;
        }
        Some(Own::new(&self.value, lane))
    }

    /// The state, without a section: nobody else can be in one.
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }

    /// The state of a cell that is no longer needed.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }

    /// Where the cell was created.
    pub fn site(&self) -> &'static Location<'static> {
        self.site
    }
}

impl<T> fmt::Debug for Bound<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bound")
            .field("site", &format_args!("{}", self.site))
            .finish_non_exhaustive()
    }
}
