//! The planted bugs. The ignored tests sweep a cluster that has one and fail, as they are meant to:
//! `cargo test -p raft --test planted -- --ignored split_brain`. The others demand that each bug is
//! found within the number of seeds that is stated with it.

use detsim::Sim;
use raft::core::Bug;
use raft::finding::Finding;
use raft::invariants::Violation;
use raft::liveness::Stall;
use raft::world::{Faults, Problem, Scenario};

/// Two leaders in one term: a node that restarts has forgotten its vote.
#[detsim::test(seeds = 1000)]
#[ignore = "fails on purpose"]
fn split_brain(sim: &mut Sim) -> Result<(), Problem> {
    planted(Bug::VoteNotPersisted).check(sim).map(|_| ())
}

/// Two leaders in one term again, where a vote that was forgotten does no harm by itself: the node is
/// down for longer than any message is on its way. It takes a partition that one candidate asks
/// through before the crash, and the other after it.
#[detsim::test(seeds = 2000)]
#[ignore = "fails on purpose"]
fn split_brain_behind_a_partition(sim: &mut Sim) -> Result<(), Problem> {
    at_ballots(Bug::VoteNotPersisted).check(sim).map(|_| ())
}

/// Figure 8 of the Raft paper: an entry of an old term is committed by counting, then lost.
#[detsim::test(seeds = 1000)]
#[ignore = "fails on purpose"]
fn figure_eight(sim: &mut Sim) -> Result<(), Problem> {
    planted(Bug::CommitOldTermByCounting).check(sim).map(|_| ())
}

/// A node that can send but not hear unseats one leader after another.
#[detsim::test(seeds = 100)]
#[ignore = "fails on purpose"]
fn one_way_livelock(sim: &mut Sim) -> Result<(), Problem> {
    planted(Bug::OneWayLivelock).check(sim).map(|_| ())
}

#[test]
fn split_brain_is_found_within_500_seeds() {
    let found = first_finding(Bug::VoteNotPersisted, 500);
    assert!(matches!(found, Finding::Unsafe(Violation::TwoLeaders { .. })), "{found}");
}

#[test]
fn split_brain_behind_a_partition_is_found_within_100_seeds() {
    let found = first_finding_of(at_ballots(Bug::VoteNotPersisted), 100);
    assert!(matches!(found, Finding::Unsafe(Violation::TwoLeaders { .. })), "{found}");
}

#[test]
fn figure_eight_is_found_within_500_seeds() {
    let found = first_finding(Bug::CommitOldTermByCounting, 500);
    assert!(matches!(found, Finding::Unsafe(Violation::Incomplete { .. })), "{found}");
}

#[test]
fn one_way_livelock_is_found_within_20_seeds() {
    let found = first_finding(Bug::OneWayLivelock, 20);
    assert!(matches!(found, Finding::Stalled(Stall::NoCalm { .. })), "{found}");
}

fn planted(bug: Bug) -> Scenario {
    Scenario { bug, ..Scenario::default() }
}

fn at_ballots(bug: Bug) -> Scenario {
    Scenario { faults: Faults::AtBallots, ..planted(bug) }
}

/// The first thing that is found in a cluster with this bug; the same is found again.
fn first_finding(bug: Bug, seeds: u64) -> Finding {
    first_finding_of(planted(bug), seeds)
}

fn first_finding_of(scenario: Scenario, seeds: u64) -> Finding {
    let run = |seed| scenario.run(&Sim::new(seed)).unwrap();
    let found = (0..seeds).find_map(|seed| Some((seed, run(seed).finding?)));
    let (seed, finding) = found.unwrap_or_else(|| panic!("{scenario:?}: not in {seeds} seeds"));
    for _ in 0..10 {
        assert_eq!(run(seed).finding, Some(finding), "seed {seed}");
    }
    finding.1
}
