//! The core without a simulator: single nodes fed by hand, and small clusters on the test bed.

use super::*;
use crate::plan::{Action, MS, Target};
use crate::testbed::{Solo, Testbed, disk, sends};

const N0: NodeId = NodeId::new(0);
const N1: NodeId = NodeId::new(1);

fn entries(terms: &[Term], first: u64) -> Entries {
    let entries: Vec<Entry> =
        terms.iter().zip(first..).map(|(&term, command)| Entry { term, command }).collect();
    entries.as_slice().into()
}

fn append(prev: Position, entries: Entries) -> Body {
    Body::Append { prev, commit: 0, entries }
}

fn log_terms(node: &Node) -> Vec<Term> {
    node.log().entries().iter().map(|entry| entry.term).collect()
}

fn cluster_with_leader() -> (Testbed, NodeId) {
    let mut testbed = Testbed::new(1, Bug::None);
    testbed.run_until(500 * MS).unwrap();
    let leader = testbed.cluster.leader().expect("half a second is enough for an election");
    (testbed, leader)
}

#[test]
fn one_leader_is_elected_and_stays() {
    let (mut testbed, leader) = cluster_with_leader();
    let term = testbed.cluster.term();
    testbed.run_until(5_000 * MS).unwrap();
    assert_eq!(testbed.cluster.term(), term);
    assert!(testbed.cluster.up().all(|node| node.leader() == Some(leader)));
}

#[test]
fn proposals_reach_every_node_in_order() {
    let (mut testbed, leader) = cluster_with_leader();
    for command in 1..=200 {
        testbed.propose(leader, command).unwrap();
    }
    testbed.run_until(600 * MS).unwrap();
    for node in testbed.cluster.up() {
        assert_eq!(node.commit(), 200, "{}", node.id());
        assert!(node.log().entries().iter().map(|entry| entry.command).eq(1..=200));
    }
}

#[test]
fn a_node_that_was_down_catches_up() {
    let (mut testbed, leader) = cluster_with_leader();
    let who = leader.peers().next().unwrap();
    testbed.act(Action::Crash { who: Target::Node(who), down_ns: 100 * MS }).unwrap();
    for command in 1..=150 {
        testbed.propose(leader, command).unwrap();
    }
    testbed.run_until(580 * MS).unwrap();
    assert!(testbed.cluster.node(who).is_none());
    testbed.run_until(1_000 * MS).unwrap();
    assert_eq!(testbed.cluster.node(who).unwrap().commit(), 150);
}

#[test]
fn a_cluster_survives_the_loss_of_its_leader() {
    let (mut testbed, first) = cluster_with_leader();
    testbed.propose(first, 7).unwrap();
    testbed.run_until(600 * MS).unwrap();
    testbed.act(Action::Crash { who: Target::Leader, down_ns: 5_000 * MS }).unwrap();
    testbed.run_until(1_500 * MS).unwrap();
    let second = testbed.cluster.leader().unwrap();
    assert_ne!(first, second);
    testbed.propose(second, 8).unwrap();
    testbed.run_until(1_600 * MS).unwrap();
    assert!(testbed.cluster.up().all(|node| node.commit() == 2));
}

#[test]
fn a_conflict_cuts_the_log_and_nothing_else_does() {
    let mut solo = Solo::start(0, disk(3, &[1, 1, 2, 2]), Bug::None);
    // What is there already, told again in part.
    let sent = solo.hear(1, 3, append(Position::default(), entries(&[1, 1], 1)));
    assert_eq!(sent, [(N1, Message { term: 3, body: Body::Appended { matched: 2 } })]);
    assert_eq!(log_terms(&solo.node), [1, 1, 2, 2]);
    // One equal entry, then another term.
    let prev = Position { term: 1, index: 1 };
    let sent = solo.hear(1, 3, append(prev, entries(&[1, 3], 2)));
    assert_eq!(sent, [(N1, Message { term: 3, body: Body::Appended { matched: 3 } })]);
    assert_eq!(log_terms(&solo.node), [1, 1, 3]);
    assert_eq!(&solo.disk.log, solo.node.log());
}

#[test]
fn a_mismatch_is_answered_with_the_place_to_go_on_from() {
    let check = |log: &[Term], prev: Position, hint: Index| {
        let mut solo = Solo::start(0, disk(5, log), Bug::None);
        let sent = solo.hear(1, 5, append(prev, Entries::default()));
        assert_eq!(sent, [(N1, Message { term: 5, body: Body::Mismatch { hint } })]);
    };
    check(&[], Position { term: 4, index: 3 }, 0);
    check(&[1, 1], Position { term: 4, index: 9 }, 2);
    check(&[1, 1, 2, 2, 2], Position { term: 4, index: 4 }, 2);
    check(&[2, 2, 2], Position { term: 4, index: 3 }, 0);
}

#[test]
fn a_leader_steps_back_once_for_each_hint() {
    let mut solo = Solo::start(0, disk(2, &[1, 1, 2]), Bug::None);
    solo.elect();
    let sent = solo.hear(1, 3, Body::Mismatch { hint: 1 });
    let prev = Position { term: 1, index: 1 };
    let body = append(prev, solo.node.log().batch_from(2));
    assert_eq!(sent, [(N1, Message { term: 3, body })]);
    assert_eq!(solo.hear(1, 3, Body::Appended { matched: 3 }), []);
    assert_eq!(solo.hear(1, 3, Body::Mismatch { hint: 1 }), [], "a late answer");
}

#[test]
fn a_long_log_travels_in_batches() {
    let mut solo = Solo::start(0, disk(1, &[1; 2 * BATCH + 1]), Bug::None);
    solo.elect();
    let mut sent = solo.hear(1, 2, Body::Mismatch { hint: 0 });
    let mut sizes = Vec::new();
    while let Some((_, Message { body: Body::Append { prev, entries, .. }, .. })) = sent.pop() {
        sizes.push(entries.len());
        let matched = prev.index + entries.len() as Index;
        sent = solo.hear(1, 2, Body::Appended { matched });
    }
    assert_eq!(sizes, [BATCH, BATCH, 1]);
}

#[test]
fn a_leader_of_the_past_is_told_so() {
    let mut solo = Solo::start(0, disk(5, &[]), Bug::None);
    let sent = solo.hear(1, 4, append(Position::default(), entries(&[4], 1)));
    assert_eq!(sent, [(N1, Message { term: 5, body: Body::Mismatch { hint: 0 } })]);
    assert_eq!(log_terms(&solo.node), []);
}

#[test]
fn a_vote_outlives_a_crash_unless_the_bug_is_on() {
    let second_vote = |bug: Bug| {
        let mut solo = Solo::start(0, Persisted::default(), bug);
        let last = Position::default();
        let sent = solo.hear(1, 1, Body::Vote { last });
        assert_eq!(sent, [(N1, Message { term: 1, body: Body::VoteReply { granted: true } })]);
        let sent = solo.restart(bug).hear(2, 1, Body::Vote { last });
        let [(_, Message { body: Body::VoteReply { granted }, .. })] = sent[..] else {
            panic!("one answer, not {sent:?}");
        };
        granted
    };
    assert!(!second_vote(Bug::None));
    assert!(second_vote(Bug::VoteNotPersisted));
}

#[test]
fn a_vote_is_durable_before_it_is_sent() {
    let mut solo = Solo::start(0, Persisted::default(), Bug::None);
    let message = Message { term: 1, body: Body::Vote { last: Position::default() } };
    let out = solo.step(Input::Message { from: N1, message });
    let at = |wanted: fn(&Output) -> bool| out.iter().position(wanted).unwrap();
    let durable = at(
        |output| matches!(output, Output::Persist(Persist::Vote { vote: Some(vote), .. }) if *vote == N1),
    );
    assert!(durable < at(|output| matches!(output, Output::Send { .. })));
}

#[test]
fn a_log_that_ends_earlier_gets_no_vote() {
    let granted = |last: Position| {
        let mut solo = Solo::start(0, disk(3, &[1, 3]), Bug::None);
        let sent = solo.hear(1, 4, Body::Vote { last });
        sent == [(N1, Message { term: 4, body: Body::VoteReply { granted: true } })]
    };
    assert!(!granted(Position { term: 1, index: 9 }));
    assert!(!granted(Position { term: 3, index: 1 }));
    assert!(granted(Position { term: 3, index: 2 }));
    assert!(granted(Position { term: 4, index: 1 }));
}

#[test]
fn an_old_entry_is_committed_by_a_new_one_only() {
    let commits = |bug: Bug| {
        let mut solo = Solo::start(0, disk(2, &[2]), bug);
        solo.elect();
        let mut commits = [0; 2];
        for peer in [1, 2] {
            solo.hear(peer, 3, Body::Appended { matched: 1 });
        }
        commits[0] = solo.node.commit();
        solo.step(Input::Propose(9));
        for peer in [1, 2] {
            solo.hear(peer, 3, Body::Appended { matched: 2 });
        }
        commits[1] = solo.node.commit();
        commits
    };
    assert_eq!(commits(Bug::None), [0, 2]);
    assert_eq!(commits(Bug::CommitOldTermByCounting), [1, 2]);
}

#[test]
fn a_node_that_hears_nothing_raises_its_term_only_with_the_bug() {
    let term = |bug: Bug| {
        let mut solo = Solo::start(0, Persisted::default(), bug);
        for _ in 0..3 {
            assert_eq!(solo.wait().len(), NODES - 1);
        }
        solo.node.term()
    };
    assert_eq!(term(Bug::None), 0);
    assert_eq!(term(Bug::OneWayLivelock), 3);
}

#[test]
fn who_hears_from_a_leader_encourages_nobody() {
    let mut solo = Solo::start(0, Persisted::default(), Bug::None);
    solo.hear(1, 1, append(Position::default(), Entries::default()));
    let mut asked = |now_ns: u64| {
        solo.now_ns = now_ns;
        let sent = solo.hear(2, 2, Body::PreVote { last: Position::default() });
        sent[0].1.clone()
    };
    let refusal = Message { term: 1, body: Body::PreVoteReply { granted: false } };
    let grant = Message { term: 2, body: Body::PreVoteReply { granted: true } };
    assert_eq!(asked(119 * MS), refusal);
    assert_eq!(asked(120 * MS), grant);
    assert_eq!(solo.node.term(), 1, "a question changes nothing");
}

#[test]
fn a_leader_that_nobody_answers_steps_down() {
    let mut solo = Solo::start(0, Persisted::default(), Bug::None);
    solo.elect();
    for peer in [1, 2] {
        solo.hear(peer, 1, Body::Appended { matched: 0 });
    }
    solo.wait();
    assert_eq!(solo.node.role(), Role::Leader, "two answers and itself are a majority");
    solo.hear(1, 1, Body::Appended { matched: 0 });
    solo.wait();
    assert_eq!((solo.node.role(), solo.node.leader()), (Role::Follower, None));
}

#[test]
fn a_proposal_to_a_follower_names_the_leader() {
    let mut solo = Solo::start(0, Persisted::default(), Bug::None);
    solo.hear(1, 1, append(Position::default(), Entries::default()));
    let refused = Output::Refused { command: 5, leader: Some(N1) };
    assert_eq!(solo.step(Input::Propose(5)), [refused]);
}

#[test]
fn timers_that_fire_too_early_or_twice_do_nothing() {
    let mut solo = Solo::start(0, Persisted::default(), Bug::None);
    solo.now_ns = 119 * MS;
    assert_eq!(solo.step(Input::Timer(Timer::Election)), []);
    solo.now_ns = 120 * MS;
    assert_eq!(sends(solo.step(Input::Timer(Timer::Election))).len(), NODES - 1);
    assert_eq!(solo.step(Input::Timer(Timer::Election)), []);
    assert_eq!(solo.step(Input::Timer(Timer::Heartbeat)), []);
}

#[test]
fn a_heartbeat_moves_a_deadline_and_sets_no_timer() {
    let mut solo = Solo::start(0, Persisted::default(), Bug::None);
    let heartbeat = Message { term: 1, body: append(Position::default(), Entries::default()) };
    solo.step(Input::Message { from: N1, message: heartbeat.clone() });
    solo.now_ns = 100 * MS;
    let answer = Message { term: 1, body: Body::Appended { matched: 0 } };
    let out = solo.step(Input::Message { from: N1, message: heartbeat });
    assert_eq!(out, [Output::Send { to: N1, message: answer }]);
    // The timer comes at its old time and goes on to the new one.
    solo.now_ns = 120 * MS;
    let later = Output::SetTimer { timer: Timer::Election, at_ns: 220 * MS };
    assert_eq!(solo.step(Input::Timer(Timer::Election)), [later]);
    assert_eq!(solo.node.id(), N0);
}

#[test]
fn every_bug_goes_by_its_name() {
    for bug in [Bug::None, Bug::VoteNotPersisted, Bug::CommitOldTermByCounting, Bug::OneWayLivelock]
    {
        assert_eq!(bug.to_string().parse(), Ok(bug));
    }
    let error = "mutex".parse::<Bug>().unwrap_err();
    assert!(error.starts_with("no bug is called \"mutex\"; the names are none, vote-not"));
}

#[test]
fn a_node_can_move_to_another_thread() {
    fn is_send<T: Send + Sync>() {}
    is_send::<Node>();
    is_send::<Output>();
}
