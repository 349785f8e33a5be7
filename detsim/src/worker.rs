//! Runs in processes: the parent that starts them, the worker that forks them, the child that is one.
//!
//! The test function is the parent. It starts its own binary again, asking for just this test; there
//! the same test function finds itself to be a *worker*: it brings its process to a standstill, and
//! for every seed that its parent names it forks a *child* that runs the seed and is thrown away. So
//! statics, hash seeds, ids and addresses are the same for every seed, whatever ran before, and an
//! abort, a signal or a hang is that seed's failure and not the end of the sweep.
//!
//! Owns: that protocol ([`protocol`]), both its ends ([`parent`], [`serve`]), the verdict on what a
//! child left behind ([`judge`]), and all system calls ([`sys`]). Does not own: which seeds run
//! ([`crate::sweep`]) nor what a run is ([`crate::attempt`]). Invariants: a worker that ran a seed in
//! its own process never forks; nothing is allocated or locked between two forks.

pub(crate) mod judge;
pub(crate) mod parent;
pub(crate) mod progress;
pub(crate) mod protocol;
pub(crate) mod serve;
pub(crate) mod sys;
