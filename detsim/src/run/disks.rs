//! The disks of a test, as its attribute asks for them.
//!
//! Owns: the profile of what a loss of power leaves, and the walk through all of that, seed by seed. Does
//! not own: what either means to a disk (`detsim_fs`). Invariant: the seeds of a walk differ in nothing but
//! where the power goes, and in what it leaves.

use detsim_executor::Sim;
use detsim_fs::{CrashProfile, DiskConfig, Disks};

use crate::interpose::entropy;
use crate::spec::Spec;
use crate::sweep::fail;

/// The word for a walk.
const EXHAUSTIVE: &str = "exhaustive";

/// A step of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Walk {
    /// No power is lost; the sets of survivors are counted.
    Counts,
    /// The power goes at this set, counted from 0.
    Stops(u64),
}

impl Walk {
    /// What every step draws from.
    pub(super) const SEED: u64 = 0;

    pub(super) fn of(spec: &Spec, seed: u64) -> Option<Self> {
        (spec.crash == Some(EXHAUSTIVE))
            .then(|| seed.checked_sub(1).map_or(Self::Counts, Self::Stops))
    }
}

/// Sets up the disks of a run.
pub(super) fn set_up(sim: &Sim, spec: &Spec, walk: Option<Walk>) {
    let Some(word) = spec.crash else { return };
    let disks = Disks::of(sim);
    match walk {
        Some(step) => {
            entropy::begin(Walk::SEED);
            disks.walk(match step {
                Walk::Counts => u64::MAX,
                Walk::Stops(set) => set,
            });
        }
        None => disks.set_defaults(DiskConfig::of_profile(profile(word))),
    }
}

fn profile(word: &str) -> CrashProfile {
    let named = CrashProfile::ALL.into_iter().find(|profile| profile.word() == word);
    named.unwrap_or_else(|| fail(format!("detsim: there is no crash profile {word:?}")))
}

/// A walk that ends before it has met every set would say more than it has seen.
pub(super) fn check_walk(sim: &Sim, spec: &Spec, walk: Option<Walk>) -> Result<(), String> {
    if walk != Some(Walk::Counts) || !sim.is_alive() {
        return Ok(());
    }
    let sets = Disks::of(sim).walked_sets();
    let needed = sets + 1;
    match (sets, needed <= spec.seeds) {
        (0, _) => {
            Err("detsim: crash = \"exhaustive\", and no call of a node's task changes its disk; \
                       run the store in a task of a node"
                .to_owned())
        }
        (_, true) => Ok(()),
        (_, false) => Err(format!(
            "detsim: a loss of power may leave {sets} sets of survivors; seeds = {} walks a part of \
             them; give seeds = {needed}",
            spec.seeds
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::time::Duration;

    fn spec(seeds: u64) -> Spec {
        Spec::new("crate::test", file!(), line!()).seeds(seeds).crash(EXHAUSTIVE)
    }

    /// A node makes two directories; which are there when it is up again.
    fn left(seed: u64) -> (Vec<bool>, Result<(), String>) {
        let spec = spec(4);
        let sim = Sim::new(Walk::SEED);
        let walk = Walk::of(&spec, seed);
        set_up(&sim, &spec, walk);
        crate::interpose::fs::link_in();
        let node = sim.node("db");
        drop(node.spawn("db", async {
            fs::create_dir("/a").unwrap();
            fs::create_dir("/b").unwrap();
        }));
        sim.run_for(Duration::from_secs(10)).unwrap();
        let is_there = |name| node.enter(|| fs::exists(name).unwrap());
        (["/a", "/b"].map(is_there).to_vec(), check_walk(&sim, &spec, walk))
    }

    #[test]
    fn a_walk_meets_every_set_of_survivors_once() {
        assert_eq!(left(0), (vec![true, true], Ok(())));
        // Before the first call nothing is pending; before the second its predecessor is.
        assert_eq!(left(1).0, [false, false]);
        assert_eq!(left(2).0, [true, false]);
        assert_eq!(left(3).0, [false, false]);
        // Beyond the last set no power is lost.
        assert_eq!(left(4).0, [true, true]);
    }

    #[test]
    fn a_walk_that_would_end_too_early_says_what_it_needs() {
        let sim = Sim::new(0);
        let spec = spec(2);
        set_up(&sim, &spec, Some(Walk::Counts));
        let disks = Disks::of(&sim);
        let none = check_walk(&sim, &spec, Some(Walk::Counts)).unwrap_err();
        assert!(none.contains("no call of a node's task"), "{none}");
        crate::interpose::fs::link_in();
        drop(sim.node("db").spawn("db", async {
            fs::create_dir("/a").unwrap();
            fs::create_dir("/b").unwrap();
        }));
        sim.run_for(Duration::from_secs(1)).unwrap();
        assert_eq!(disks.walked_sets(), 3);
        let short = check_walk(&sim, &spec, Some(Walk::Counts)).unwrap_err();
        assert!(short.contains("give seeds = 4"), "{short}");
        assert_eq!(check_walk(&sim, &spec, Some(Walk::Stops(1))), Ok(()));
    }
}
