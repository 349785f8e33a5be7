//! The protocol of the biased cell: who may enter it, and who waits for whom.
//!
//! Owns: [`Bias`], the words of one simulation, and every load, store and lock that keeps two
//! sections of one cell apart. Does not own: what a section guards (`bound.rs`), where the words
//! live (`lane.rs`), who holds the baton (`bound/lease.rs`).
//!
//! A cell's owner is the id of a simulation or [`UNBOUND`]. There are four kinds of section:
//! *biased* (the owner's thread, two plain stores), *own* (the owner's thread, under its gate,
//! while somebody has revoked the bias), *foreign* (another thread, under the owner's gate, bias
//! revoked), *outside* (no owner and no simulation on this thread, under `OUTSIDE`).
//!
//! Invariants:
//! - `owner` goes from [`UNBOUND`] to an id only under `OUTSIDE`, by the thread that holds that id's
//!   baton; back only under `OUTSIDE` and the gate, once `live` is no longer that id. So the thread
//!   that holds a baton reads its own id from `owner` exactly where the cell is its own, without
//!   any lock.
//! - biased and foreign exclude each other by busy, fence, revoke; the gate keeps own, foreign and
//!   the end of the run apart; `OUTSIDE` keeps outside and adoption apart.
//! - `home` is the thread that holds the baton, or between two runs the one that made the simulation,
//!   which may enter biased then as well. It is written by the thread that it names, before the first
//!   run or after the baton was passed to it. A thread believes `home` only after it has read the id it asks for
//!   from `live`, which is released after `home` is written: what it read before, from a lease of
//!   its own that is long over, cannot make it the home of another thread's simulation.
//! - what a section wrote is seen by the next: `busy` and `revoke` are released and acquired, and
//!   both locks do the same.
//! - lock order: `OUTSIDE`, then one gate. Nobody takes a lock while `busy` is 1.
//!
//! This file is compiled twice, the second time by the loom model in `tests/bound_model.rs`, which
//! puts its own `sync` beside it. A change here is a change of the model.

use super::sync::{self, AtomicU64, Busy, Guard, Live, Mutex, Ordering::*, Revoke};

/// The owner of a cell that no simulation has adopted.
pub(crate) const UNBOUND: u64 = 0;
/// The id of no simulation, and of no cell's owner: this thread drives none.
pub(crate) const NOWHERE: u64 = u64::MAX;

/// What `OUTSIDE` guards: all unbound cells of the process, and every change of an owner.
pub(crate) struct Outside;

/// The words of one simulation at a time; `G` is what else its gate guards.
pub(crate) struct Bias<G> {
    busy: Busy,
    revoke: Revoke,
    /// What `revoke` goes back to: 1 where the system has no asymmetric fence.
    resting: u32,
    live: Live,
    home: AtomicU64,
    gate: Mutex<G>,
}

impl<G> Bias<G> {
    pub(crate) fn new(resting: u32, gate: G) -> Self {
        Self {
            busy: Busy::new(0),
            revoke: Revoke::new(resting),
            resting,
            live: Live::new(UNBOUND),
            home: AtomicU64::new(0),
            gate: Mutex::new(gate),
        }
    }

    /// Whether the thread that holds the baton is in a section already. For that thread only.
    #[inline]
    pub(crate) fn is_busy(&self) -> bool {
        self.busy.load(Relaxed) != 0
    }

    /// Opens a biased section unless the bias is revoked. For the thread that holds the baton, and
    /// for cells that its simulation owns.
    #[inline]
    pub(crate) fn enter(&self) -> bool {
        self.busy.store(1, Relaxed);
        sync::light();
        // Acquire: sees what the last foreign section wrote.
        if self.revoke.load(Acquire) == 0 {
            return true;
        }
        self.leave();
        false
    }

    /// Marks the thread busy for the sake of [`Bias::is_busy`]: with the kernel alone, or under
    /// the gate, where nobody watches `busy`.
    #[inline]
    pub(crate) fn occupy(&self) {
        self.busy.store(1, Relaxed);
    }

    /// Ends what [`Bias::enter`] or [`Bias::occupy`] began.
    #[inline]
    pub(crate) fn leave(&self) {
        self.busy.store(0, Release);
    }

    /// The lock of everybody who may not rely on the bias. Never while busy.
    pub(crate) fn gate(&self) -> Guard<'_, G> {
        sync::lock(&self.gate)
    }

    /// These words belong to the simulation `id` of the thread `home` from now on.
    pub(crate) fn begin(&self, _gate: &mut Guard<'_, G>, id: u64, home: u64) {
        self.home.store(home, Relaxed);
        self.live.store(id, Release);
    }

    /// The baton has come to the thread `home`. For that thread.
    pub(crate) fn move_home(&self, home: u64) {
        self.home.store(home, Relaxed);
    }

    /// The simulation that runs on these words. For the thread that was just given its baton.
    pub(crate) fn live(&self) -> u64 {
        self.live.load(Relaxed)
    }

    /// The simulation is over.
    pub(crate) fn end(&self, _gate: &mut Guard<'_, G>) {
        self.live.store(UNBOUND, Release);
    }

    /// Whether it is `id` that runs on these words.
    pub(crate) fn is_live(&self, _gate: &mut Guard<'_, G>, id: u64) -> bool {
        self.live.load(Relaxed) == id
    }

    /// Whether it is `id` that runs on these words, and `thread` that made it. For that thread.
    pub(crate) fn is_home_of(&self, id: u64, thread: u64) -> bool {
        self.live.load(Acquire) == id && self.home.load(Relaxed) == thread
    }

    /// Whether `thread` made the simulation that these words belong to.
    pub(crate) fn is_home(&self, _gate: &mut Guard<'_, G>, thread: u64) -> bool {
        self.home.load(Relaxed) == thread
    }

    /// Keeps biased sections out, and waits until the last one has ended.
    fn revoke(&self) {
        self.revoke.store(1, Relaxed);
        sync::heavy();
        let mut spins = 0;
        while self.busy.load(Acquire) != 0 {
            sync::pause(spins);
            spins = spins.saturating_add(1);
        }
    }
}

/// A section that holds a lock; dropping it ends the section.
#[must_use = "the section ends when this is dropped"]
pub(crate) enum Slow<'a, G> {
    Outside { _lock: Guard<'a, Outside> },
    Own { bias: &'a Bias<G>, _gate: Guard<'a, G> },
    Foreign { bias: &'a Bias<G>, gate: Guard<'a, G> },
}

impl<'a, G> Slow<'a, G> {
    /// Opens a section under whichever lock the cell calls for. `me` is the simulation that this
    /// thread drives, or [`NOWHERE`]; the thread is in no other section.
    pub(crate) fn enter(
        owner: &AtomicU64,
        me: u64,
        outside: &'a Mutex<Outside>,
        bias_of: impl Fn(u64) -> &'a Bias<G>,
    ) -> Self {
        if owner.load(Relaxed) == me {
            return Self::own(bias_of(me));
        }
        loop {
            let lock = sync::lock(outside);
            match owner.load(Relaxed) {
                UNBOUND if me == NOWHERE => return Self::Outside { _lock: lock },
                UNBOUND => {
                    owner.store(me, Relaxed);
                    drop(lock);
                    return Self::own(bias_of(me));
                }
                id => {
                    let bias = bias_of(id);
                    let mut gate = bias.gate();
                    if bias.is_live(&mut gate, id) {
                        drop(lock);
                        bias.revoke();
                        return Self::Foreign { bias, gate };
                    }
                    // Its owner has ended: its last section came before the gate was last left.
                    owner.store(UNBOUND, Relaxed);
                }
            }
        }
    }

    fn own(bias: &'a Bias<G>) -> Self {
        let gate = bias.gate();
        bias.occupy();
        Self::Own { bias, _gate: gate }
    }
}

impl<G> Drop for Slow<'_, G> {
    /// The word goes first, the lock follows with the fields.
    fn drop(&mut self) {
        match self {
            Self::Outside { .. } => {}
            Self::Own { bias, .. } => bias.leave(),
            Self::Foreign { bias, .. } => bias.revoke.store(bias.resting, Release),
        }
    }
}
