//! Walking all that a loss of power may leave.
//!
//! Owns: the count of sets of survivors that a run has passed, and the one at which its power goes. Does
//! not own: which sets there are (`volume/crash.rs`). Invariant: where runs repeat each other up to the
//! loss of power, walk `n` for all `n` below the count of a run without one meets every set once.

use detsim_executor::NodeId;

use super::{Cost, Disks};

/// Where a walk stands.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Walk {
    /// The set to stop at, counted from 0; `None` where nothing is walked.
    target: Option<u64>,
    passed: u64,
    /// The set that was come to, of those of the moment.
    found: Option<u64>,
}

impl Disks {
    /// Walks the sets of survivors: right before each call of a task of a node that changes a file, a
    /// name or what is durable, all sets are counted that a loss of power may leave there, and at number
    /// `target` the power goes, leaving that set. The first of a moment is the one in which everything
    /// survives. Where more than [`EXHAUSTIVE_ATOMS_MAX`](crate::EXHAUSTIVE_ATOMS_MAX) atoms are pending,
    /// the moment counts as one set, which is drawn. `u64::MAX` only counts.
    ///
    /// # Examples
    /// ```
    /// use detsim_executor::Sim;
    /// use detsim_fs::{Cost, Disks, OpenFlags};
    /// use std::path::Path;
    ///
    /// let sets = |target| {
    ///     let sim = Sim::new(1);
    ///     let disks = Disks::of(&sim);
    ///     disks.walk(target);
    ///     drop(sim.node("db").spawn("db", async {
    ///         let disks = Disks::current().expect("a run");
    ///         for name in ["/a", "/b"] {
    ///             let make = |disks: &Disks| disks.names(|v| v.create_dir(Path::new(name), 0o755));
    ///             disks.blocking(Cost::Write, make)?;
    ///         }
    ///         Ok::<(), detsim_fs::Errno>(())
    ///     }));
    ///     sim.run_for(std::time::Duration::from_millis(10)).unwrap();
    ///     disks.walked_sets()
    /// };
    /// // Nothing is pending before the first; before the second its predecessor may be lost.
    /// assert_eq!(sets(u64::MAX), 1 + 2);
    /// ```
    pub fn walk(&self, target: u64) {
        self.walk.set(Walk { target: Some(target), ..Walk::default() });
    }

    /// How many sets of survivors a walk has passed so far.
    pub fn walked_sets(&self) -> u64 {
        self.walk.get().passed
    }

    /// Does the power go at the call that is about to begin?
    pub(super) fn walks_into(&self, node: NodeId, cost: Cost) -> bool {
        let mut walk = self.walk.get();
        let Some(target) = walk.target else { return false };
        if cost == Cost::Read || node == NodeId::NONE || walk.found.is_some() {
            return false;
        }
        let sets = self.volume(node, |volume| volume.survivor_sets()).map_or(1, |sets| sets.len());
        let set = target - walk.passed;
        walk.passed += sets as u64;
        walk.found = (target < walk.passed).then_some(set);
        self.walk.set(walk);
        walk.found.is_some()
    }

    /// The set that a walk has come to: for the loss of power that it brings, and none later.
    pub(super) fn walked(&self) -> Option<u64> {
        let walk = self.walk.get();
        if walk.found.is_some() {
            self.walk.set(Walk { target: None, ..walk });
        }
        walk.target.and(walk.found)
    }
}
