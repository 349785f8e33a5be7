//! Lanes: the reusable memory of one simulation at a time.
//!
//! Owns: [`Lane`], the table and the pool of all lanes, ids, and what other threads leave at a
//! lane's gate (wakes, aborts, tasks, notes of escapes). Does not own: when a lane is leased (`bound/lease.rs`),
//! what the kernel in it does.
//!
//! Invariants: a lane is never freed, so a stale waker or owner id can always be looked up. Indexes
//! run from 1 to [`LANES_MAX`]. Owner ids and wakers are plain words with the lane in their upper 12
//! bits; 52 bits of epoch, counted by the lane's gate, make an id unique in the process. What a run
//! leaves in its kernel belongs to no thread: the lane's next run may be on another.
#![expect(unsafe_code, reason = "a lane is shared, the kernel in it is the baton holder's alone")]

use std::cell::UnsafeCell;
use std::panic::Location;
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use crate::arrival::Arrival;
use crate::baton::visit::Abandoned;
use crate::baton::{Barred, Crew, Seat};
use crate::bound::escape::{Escape, Use, note};
use crate::bound::protocol::{Bias, UNBOUND};
use crate::kernel::Kernel;
use crate::{fence, here};

#[cfg(not(target_pointer_width = "64"))]
compile_error!("detsim: a waker is one 64-bit word; build for a 64-bit target");

/// Simulations that can be alive at once.
pub(crate) const LANES_MAX: usize = 4094;
/// Where the lane stands in an owner id and in a waker's word.
pub(crate) const LANE_SHIFT: u32 = 52;

static TABLE: [OnceLock<&'static Lane>; LANES_MAX + 1] = [const { OnceLock::new() }; LANES_MAX + 1];
static POOL: Mutex<Pool> = Mutex::new(Pool { free: Vec::new(), made: 0 });

struct Pool {
    free: Vec<&'static Lane>,
    made: usize,
}

/// What other threads and simulations leave for the one that runs on the lane.
#[derive(Default)]
pub(crate) struct Gate {
    epoch: u64,
    wakes: Vec<u64>,
    aborts: Vec<u64>,
    arrivals: Vec<Arrival>,
    /// How many tasks were sent here.
    sent: u32,
    /// Threads that visit the run, or are about to.
    visitors: u32,
    /// Why nobody may visit the run any more.
    barred: Option<String>,
    /// The run, where nobody of its own is left to drive it, and nobody does.
    abandoned: Option<Abandoned>,
    pub(crate) escapes: Vec<Escape>,
}

/// The memory of one simulation at a time. In this order: what every poll looks at stands together.
#[repr(C)]
pub(crate) struct Lane {
    /// For the thread that holds the baton, while it is busy.
    pub(crate) kernel: UnsafeCell<Kernel>,
    /// A hint, read between polls: the gate may hold wakes.
    injected: AtomicBool,
    pub(crate) bias: Bias<Gate>,
    index: u64,
    bell: Condvar,
    /// The seat of whichever thread drives the simulation.
    pub(crate) home: Seat,
    /// That thread, and the pooled ones that take turns with it.
    pub(crate) crew: Crew,
}

// SAFETY: `kernel` is reached through `In` and `kernel::Guard` only, by the one thread that holds the
// baton (`Lease` is not `Send`); every other field is `Sync` of itself.
unsafe impl Sync for Lane {}

impl Lane {
    /// A lane from the pool and the id of the simulation that it now belongs to.
    ///
    /// # Panics
    /// Where [`LANES_MAX`] simulations are alive.
    #[track_caller]
    pub(crate) fn lease() -> (&'static Self, u64) {
        let lane = Self::pooled();
        let mut gate = lane.bias.gate();
        gate.epoch += 1;
        let id = lane.index << LANE_SHIFT | gate.epoch;
        lane.bias.begin(&mut gate, id, here::token());
        (lane, id)
    }

    /// Ends the simulation that leased the lane. The caller holds its baton no more.
    pub(crate) fn release(&'static self) {
        let mut gate = self.bias.gate();
        self.bias.end(&mut gate);
        gate.wakes.clear();
        gate.aborts.clear();
        gate.escapes.clear();
        (gate.sent, gate.visitors, gate.barred) = (0, 0, None);
        let lost = std::mem::take(&mut gate.arrivals);
        self.injected.store(false, Relaxed);
        drop(gate);
        lost.into_iter().for_each(Arrival::lose);
        pool().free.push(self);
    }

    #[track_caller]
    fn pooled() -> &'static Self {
        let mut pool = pool();
        if let Some(lane) = pool.free.pop() {
            return lane;
        }
        assert!(
            pool.made < LANES_MAX,
            "detsim: more than {LANES_MAX} simulations alive at once; each holds its memory until it is \
             dropped; drop those that have ended"
        );
        pool.made += 1;
        let lane: &'static Self = Box::leak(Box::new(Self::new(pool.made)));
        TABLE[pool.made].get_or_init(|| lane)
    }

    fn new(index: usize) -> Self {
        Self {
            bias: Bias::new(fence::resting(), Gate::default()),
            kernel: UnsafeCell::default(),
            index: index as u64,
            injected: AtomicBool::new(false),
            bell: Condvar::new(),
            home: Seat::home(),
            crew: Crew::default(),
        }
    }

    /// The lane of this index, if it was ever leased.
    pub(crate) fn by_index(index: u64) -> Option<&'static Self> {
        TABLE.get(usize::try_from(index).ok()?)?.get().copied()
    }

    /// The lane of an owner id or of a waker's word.
    pub(crate) fn of_id(id: u64) -> Option<&'static Self> {
        Self::by_index(id >> LANE_SHIFT)
    }

    /// Its place in the table, the upper 12 bits of its ids and wakers.
    #[inline]
    pub(crate) fn index(&self) -> u64 {
        self.index
    }

    /// Wakes a task of a simulation that this thread does not drive. Nothing where it has ended;
    /// the kernel throws out the wakers of a run before.
    #[cold]
    pub(crate) fn foreign_wake(packed: u64) {
        assert!(!here::is_locked(), "detsim bug: a waker was woken inside a section");
        let Some(lane) = Self::of_id(packed) else { return };
        let mut gate = lane.bias.gate();
        if lane.bias.is_live(&mut gate, UNBOUND) {
            return;
        }
        gate.push(packed);
        lane.note(&mut gate, Use::Wake, "waker", None);
        lane.injected.store(true, Release);
        lane.bell.notify_all();
    }

    /// Aborts a task, of whatever simulation.
    pub(crate) fn abort(packed: u64) {
        if (here::place().sim ^ packed) >> LANE_SHIFT == 0 {
            crate::context::with(|kernel| kernel.abort(packed));
            return;
        }
        let Some(lane) = Self::of_id(packed) else { return };
        let mut gate = lane.bias.gate();
        if lane.bias.is_live(&mut gate, UNBOUND) {
            return;
        }
        gate.aborts.push(packed);
        lane.note(&mut gate, Use::Wake, "abort handle", None);
        lane.injected.store(true, Release);
        lane.bell.notify_all();
    }

    /// Sends a task to the run of this id: how many were before it. It comes back where that has ended.
    pub(crate) fn send(run: u64, arrival: Arrival) -> Result<u32, Arrival> {
        let Some(lane) = Self::of_id(run) else { return Err(arrival) };
        let mut gate = lane.bias.gate();
        if !lane.bias.is_live(&mut gate, run) {
            drop(gate);
            return Err(arrival);
        }
        gate.arrivals.push(arrival);
        gate.sent += 1;
        let before = gate.sent - 1;
        lane.note(&mut gate, Use::Spawn, "runtime", None);
        lane.injected.store(true, Release);
        lane.bell.notify_all();
        Ok(before)
    }

    /// Sends the task of a thread that visits the run of this id, which is to be driven where it comes back;
    /// the task comes back where that has ended or failed.
    pub(crate) fn admit(run: u64, arrival: Arrival) -> Result<Option<Abandoned>, Arrival> {
        let Some(lane) = Self::of_id(run) else { return Err(arrival) };
        let mut gate = lane.bias.gate();
        if !lane.bias.is_live(&mut gate, run) || gate.barred.is_some() {
            drop(gate);
            return Err(arrival);
        }
        gate.arrivals.push(arrival);
        gate.visitors += 1;
        let abandoned = gate.abandoned.take();
        lane.note(&mut gate, Use::Spawn, "runtime", None);
        lane.injected.store(true, Release);
        lane.bell.notify_all();
        Ok(abandoned)
    }

    pub(crate) fn dismiss_visitor(&self) {
        self.bias.gate().visitors -= 1;
    }

    pub(crate) fn has_visitors(&self) -> bool {
        self.bias.gate().visitors > 0
    }

    /// The run has failed: nobody comes in any more.
    pub(crate) fn bar(&self, failure: String) {
        let lost = {
            let mut gate = self.bias.gate();
            gate.barred.get_or_insert(failure);
            std::mem::take(&mut gate.arrivals)
        };
        lost.into_iter().for_each(Arrival::lose);
    }

    /// Why nobody may visit the run of this id.
    pub(crate) fn barred(&self, run: u64) -> Barred {
        let mut gate = self.bias.gate();
        let failure = gate.barred.clone().filter(|_| self.bias.is_live(&mut gate, run));
        failure.map_or(Barred::Over, Barred::Failed)
    }

    /// Nobody of its own is left to drive the run. It comes back where it has visitors.
    pub(crate) fn abandon(&self, abandoned: Abandoned) -> Option<Abandoned> {
        let mut gate = self.bias.gate();
        if gate.visitors > 0 {
            return Some(abandoned);
        }
        gate.abandoned = Some(abandoned);
        None
    }

    /// Whether the run of this id has not ended.
    pub(crate) fn lives(run: u64) -> bool {
        Self::of_id(run).is_some_and(|lane| lane.bias.is_live(&mut lane.bias.gate(), run))
    }

    /// Notes a use by another thread.
    pub(crate) fn note(
        &self,
        gate: &mut MutexGuard<'_, Gate>,
        what: Use,
        kind: &'static str,
        site: Option<&'static Location<'static>>,
    ) {
        if !self.bias.is_home(gate, here::token()) {
            note(&mut gate.escapes, what, kind, site);
        }
    }

    /// Whether anybody else has used what belongs to this simulation.
    pub(crate) fn has_escapes(&self) -> bool {
        !self.bias.gate().escapes.is_empty()
    }

    /// Whether [`Lane::take_wakes`] may find something.
    #[inline]
    pub(crate) fn is_injected(&self) -> bool {
        self.injected.load(Relaxed)
    }

    /// Moves the wakes and aborts from elsewhere to the ends of these. Never while busy.
    pub(crate) fn take_wakes(&self, wakes: &mut Vec<u64>, aborts: &mut Vec<u64>) {
        let mut gate = self.bias.gate();
        self.injected.store(false, Relaxed);
        wakes.append(&mut gate.wakes);
        aborts.append(&mut gate.aborts);
    }

    /// The tasks that were sent here. Never while busy.
    pub(crate) fn take_arrivals(&self) -> Vec<Arrival> {
        std::mem::take(&mut self.bias.gate().arrivals)
    }

    /// Waits for something from elsewhere, in real time; false where none came within `limit`.
    pub(crate) fn wait(&self, limit: Duration) -> bool {
        let _ours = here::outside();
        let gate = self.bias.gate();
        let waited = self.bell.wait_timeout_while(gate, limit, |gate| gate.is_empty());
        let (gate, _) = waited.unwrap_or_else(PoisonError::into_inner);
        !gate.is_empty()
    }

    /// The uses from elsewhere since the lease or the last call.
    pub(crate) fn take_escapes(&self) -> Vec<Escape> {
        std::mem::take(&mut self.bias.gate().escapes)
    }
}

impl Gate {
    fn is_empty(&self) -> bool {
        self.wakes.is_empty() && self.aborts.is_empty() && self.arrivals.is_empty()
    }

    /// Full memory is searched for repeats before more is asked for: a waker that is hammered
    /// between two polls takes one place.
    fn push(&mut self, packed: u64) {
        if self.wakes.len() == self.wakes.capacity() {
            self.wakes.sort_unstable();
            self.wakes.dedup();
        }
        self.wakes.push(packed);
    }
}

fn pool() -> MutexGuard<'static, Pool> {
    let _ours = here::outside();
    POOL.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_waker_that_is_hammered_takes_next_to_no_memory() {
        let mut gate = Gate::default();
        (0..10_000).for_each(|n| gate.push(n % 3));
        gate.wakes.sort_unstable();
        gate.wakes.dedup();
        assert_eq!(gate.wakes, [0, 1, 2]);
        assert!(gate.wakes.capacity() < 20);
    }
}
