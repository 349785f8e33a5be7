//! Each property is broken once, by nodes that are put into a state no correct cluster reaches.

use expect_test::{Expect, expect};

use super::*;
use crate::core::{Body, Bug, Input, Persisted};
use crate::testbed::{Solo, disk};

/// Shows the checker these nodes, one after the other.
fn check(nodes: &[&Solo], expected: Expect) {
    let mut checker = Checker::default();
    let found = nodes.iter().try_for_each(|solo| checker.observe(&solo.node));
    expected.assert_eq(&found.map_or_else(|violation| violation.to_string(), |()| "fine".into()));
}

fn leader(id: usize, disk: Persisted) -> Solo {
    let mut solo = Solo::start(id, disk, Bug::None);
    solo.elect();
    solo
}

/// A leader that has committed its whole log and one command more.
fn committed(id: usize, disk: Persisted, command: u64) -> Solo {
    let mut solo = leader(id, disk);
    solo.step(Input::Propose(command));
    let (term, matched) = (solo.node.term(), solo.node.log().last().index);
    for peer in [3, 4] {
        solo.hear(peer, term, Body::Appended { matched });
    }
    assert_eq!(solo.node.commit(), matched);
    solo
}

#[test]
fn two_leaders_in_one_term() {
    let (a, b) = (leader(0, disk(6, &[])), leader(1, disk(6, &[])));
    check(&[&a, &b], expect!["n1 and n2 both lead term 7"]);
    check(&[&a, &a, &leader(1, disk(7, &[]))], expect!["fine"]);
}

#[test]
fn one_entry_with_two_commands() {
    let (mut a, mut b) = (leader(0, disk(1, &[])), leader(1, disk(1, &[])));
    a.step(Input::Propose(10));
    b.step(Input::Propose(20));
    let (a, b) = (a.restart(Bug::None), b.restart(Bug::None));
    check(
        &[&a, &b],
        expect![
            "entry 1 of term 2 on n2 holds command 20 after term 0, elsewhere command 10 after term 0"
        ],
    );
}

#[test]
fn one_entry_with_two_pasts() {
    let a = Solo::start(0, disk(3, &[1, 3]), Bug::None);
    let b = Solo::start(1, disk(3, &[2, 3]), Bug::None);
    check(
        &[&a, &b],
        expect![
            "entry 2 of term 3 on n2 holds command 2 after term 2, elsewhere command 2 after term 1"
        ],
    );
}

#[test]
fn a_rival_entry_has_one_past_too() {
    let log = |id, terms: &[Term]| Solo::start(id, disk(9, terms), Bug::None);
    let (a, b, c) = (log(0, &[1, 1]), log(1, &[1, 3]), log(2, &[2, 3]));
    check(
        &[&a, &b, &c],
        expect![
            "entry 2 of term 3 on n3 holds command 2 after term 2, elsewhere command 2 after term 1"
        ],
    );
}

#[test]
fn a_leader_without_a_committed_entry() {
    let a = committed(0, disk(1, &[1]), 2);
    let b = leader(1, disk(3, &[1]));
    check(&[&a, &b], expect!["n2 leads term 4 without the committed entry 2 of term 2"]);
}

#[test]
fn a_committed_entry_taken_back() {
    let mut a = committed(0, disk(1, &[1]), 2);
    let mut checker = Checker::default();
    checker.observe(&a.node).unwrap();
    let entries = [Entry { term: 5, command: 1 }].as_slice().into();
    a.hear(1, 5, Body::Append { prev: Position::default(), commit: 0, entries });
    let found = checker.observe(&a.node).unwrap_err();
    expect!["n1 took back entry 1, which it had committed"].assert_eq(&found.to_string());
}

#[test]
fn different_commits_in_one_place() {
    let mut a = committed(0, disk(1, &[]), 5);
    let mut b = Solo::start(1, disk(3, &[]), Bug::None);
    let entries = [Entry { term: 3, command: 6 }].as_slice().into();
    b.hear(2, 3, Body::Append { prev: Position::default(), commit: 1, entries });
    check(
        &[&a, &b],
        expect![
            "n2 committed command 6 of term 3 as entry 1, where command 5 of term 2 was committed before"
        ],
    );
    a.step(Input::Propose(7));
    check(&[&a, &a], expect!["fine"]);
}

#[test]
fn a_restarted_node_commits_anew() {
    let a = committed(0, disk(1, &[1]), 2);
    let mut checker = Checker::default();
    checker.observe(&a.node).unwrap();
    checker.forget_volatile(a.node.id());
    let mut a = a.restart(Bug::None);
    checker.observe(&a.node).unwrap();
    let prev = a.node.log().last();
    a.hear(1, 5, Body::Append { prev, commit: 2, entries: Default::default() });
    assert_eq!(checker.observe(&a.node), Ok(()));
    assert_eq!(checker.committed().len(), 2);
}
