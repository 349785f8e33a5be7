//! Whole runs in the simulation.

use super::*;
use crate::invariants::Violation;

fn run(seed: u64, drop_rate: f64, bug: Bug) -> Outcome {
    Scenario { drop_rate, bug }.run(&Sim::new(seed)).unwrap()
}

/// The first finding within 1,000 seeds, and its seed.
fn first_finding(bug: Bug) -> (u64, Finding) {
    let found = (0..1_000).find_map(|seed| Some((seed, run(seed, 0.0, bug).finding?.1)));
    found.unwrap_or_else(|| panic!("{bug} was not found"))
}

#[test]
fn correct_clusters_pass_and_are_busy() {
    for seed in 0..200 {
        let outcome = run(seed, 0.0, Bug::None);
        assert_eq!(outcome.finding, None, "seed {seed}");
        assert!(outcome.counts.events() >= 2_700, "seed {seed}: {outcome}");
    }
}

#[test]
fn a_lossy_network_breaks_no_invariant() {
    for seed in 0..50 {
        assert_eq!(run(seed, 0.2, Bug::None).finding, None, "seed {seed}");
    }
}

#[test]
fn each_bug_is_found_and_found_again() {
    let check = |bug: Bug, is_it: fn(&Finding) -> bool| {
        let (seed, found) = first_finding(bug);
        assert!(is_it(&found), "{bug} at seed {seed}: {found}");
        assert_eq!(run(seed, 0.0, bug), run(seed, 0.0, bug));
    };
    check(Bug::VoteNotPersisted, |f| matches!(f, Finding::Unsafe(Violation::TwoLeaders { .. })));
    check(Bug::CommitOldTermByCounting, |f| {
        matches!(f, Finding::Unsafe(Violation::Incomplete { .. }))
    });
    check(Bug::OneWayLivelock, |f| matches!(f, Finding::Stalled(Stall::NoCalm { .. })));
}

#[test]
fn the_same_seed_gives_the_same_run() {
    assert_eq!(run(3, 0.0, Bug::None), run(3, 0.0, Bug::None));
    assert_ne!(run(3, 0.0, Bug::None).hash, run(4, 0.0, Bug::None).hash);
}
