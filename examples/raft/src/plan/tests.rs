//! Whole runs on the test bed: correct clusters pass, each planted bug is found.

use super::*;
use crate::core::Bug;
use crate::finding::Finding;
use crate::invariants::Violation;
use crate::liveness::Stall;
use crate::testbed::Testbed;

fn run(seed: u64, bug: Bug) -> (Testbed, Result<(), Finding>) {
    let mut testbed = Testbed::new(seed, bug).with_plan();
    let result = testbed.run();
    (testbed, result)
}

/// The first thing that `bug` leads to within 500 seeds.
fn first_finding(bug: Bug) -> Finding {
    let found = (0..500).find_map(|seed| run(seed, bug).1.err());
    found.unwrap_or_else(|| panic!("{bug} was not found"))
}

#[test]
fn correct_clusters_pass() {
    for seed in 0..300 {
        let (testbed, result) = run(seed, Bug::None);
        assert_eq!(result, Ok(()), "seed {seed}");
        let counts = testbed.cluster.counts();
        assert!(counts.events() >= 2_700, "seed {seed}: {counts:?}");
        assert!(counts.crashes >= 2, "seed {seed}: {counts:?}");
    }
}

#[test]
fn disks_hold_what_nodes_know() {
    for seed in 0..20 {
        let (testbed, _) = run(seed, Bug::None);
        for node in testbed.cluster.up() {
            let disk = testbed.cluster.disk(node.id());
            assert_eq!((disk.term, &disk.log), (node.term(), node.log()), "seed {seed}");
        }
    }
}

#[test]
fn a_forgotten_vote_makes_two_leaders() {
    let found = first_finding(Bug::VoteNotPersisted);
    assert!(matches!(found, Finding::Unsafe(Violation::TwoLeaders { .. })), "{found}");
}

#[test]
fn counting_old_entries_loses_a_committed_one() {
    let found = first_finding(Bug::CommitOldTermByCounting);
    assert!(matches!(found, Finding::Unsafe(Violation::Incomplete { .. })), "{found}");
}

#[test]
fn a_deaf_node_without_pre_vote_unseats_every_leader() {
    let found = first_finding(Bug::OneWayLivelock);
    assert!(matches!(found, Finding::Stalled(Stall::NoCalm { .. })), "{found}");
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let hash = |seed| run(seed, Bug::None).0.hash;
    assert_eq!(hash(3), hash(3));
    assert_ne!(hash(3), hash(4));
}

#[test]
fn plans_are_in_order_and_cover_every_trouble() {
    let mut seen = Vec::new();
    for first in 0..4 {
        let mut numbers = (0..).map(|draw| if draw == 0 { first } else { draw });
        let plan = Plan::draw(&mut |bound| numbers.next().unwrap_or(0) % bound);
        assert!(plan.actions.is_sorted_by_key(|&(at_ns, _)| at_ns), "{plan:?}");
        assert!(plan.actions.contains(&(HEALED_NS, Action::Heal)));
        let calm = plan.safety_only();
        assert!(!calm.actions.iter().any(|(_, action)| *action == Action::ExpectAgreement));
        seen.push(calm.trouble);
    }
    assert_eq!(seen, [Trouble::Split, Trouble::OneWay, Trouble::Churn, Trouble::Churn]);
}
