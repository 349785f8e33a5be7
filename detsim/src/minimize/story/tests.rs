//! The words, for every kind of decision. What whole reports look like is in `tests/it/minimize.rs`.

use super::sentence::{decisions, place_of, wrapped};
use super::table::table;
use crate::recording::Recording;
use detsim_executor::choice::{ChoiceNote, Decided};
use detsim_executor::{Sim, SimConfig, SimTime, Trace, context, yield_now};
use detsim_net::Network;
use expect_test::{Expect, expect};

fn note(domain: &str, decided: Decided) -> ChoiceNote {
    ChoiceNote {
        at: SimTime::from_millis(12),
        step: 17,
        events: 0,
        task: "task 3 \"worker-2\"".to_owned(),
        domain: domain.to_owned(),
        decided,
        stack: vec!["pool::drain at src/pool.rs:88".to_owned()],
    }
}

fn stopped() -> ChoiceNote {
    let (op, object) = ("lock".to_owned(), "mutex of src/pool.rs:12".to_owned());
    note("", Decided::Stopped { op, object })
}

fn ran() -> ChoiceNote {
    let task = "task 1 \"shutdown\"".to_owned();
    note("", Decided::Ran { task, instead_of: "task 2 \"reaper\"".to_owned() })
}

fn check(notes: Vec<ChoiceNote>, expected: Expect) {
    let recording = Recording { notes, ..Recording::default() };
    expected.assert_eq(&decisions(&recording).join("\n"));
}

#[test]
fn a_stop_and_the_pick_after_it_are_one_sentence() {
    check(
        vec![stopped(), ran(), ran()],
        expect![[r#"
            at src/pool.rs:88 task 3 "worker-2", before lock of mutex of src/pool.rs:12, was stopped and task 1 "shutdown" ran instead (0.012000s, step 17)
            task 1 "shutdown" ran next instead of task 2 "reaper" (0.012000s, step 17)"#]],
    );
    let recording = Recording { notes: vec![stopped(), ran(), ran()], ..Recording::default() };
    let places = [0, 1, 2].map(|choice| place_of(&recording, choice));
    assert_eq!(places, ["decision 1", "decision 1", "decision 2"]);
}

#[test]
fn every_decision_has_its_words() {
    let drawn = |domain| note(domain, Decided::Drawn { value: 3, bound: 5 });
    let happened = |domain| note(domain, Decided::Happened);
    check(
        vec![
            drawn("net/n1/n2"),
            drawn("select"),
            drawn("choose"),
            drawn("clock/n1"),
            happened("net/n1/n2/loss"),
            happened("net/n1/n2/loss-at-delivery"),
            happened("net/n1/n2/duplicate"),
            happened("disk/n1/torn"),
            happened("env/net/faults/loss"),
            drawn("env/net/faults/loss"),
            happened("env/disk/faults/stalls"),
            drawn("net/short"),
            happened("net/reset"),
            happened("net/n1/n2/tail"),
            happened("env/net"),
            drawn("env/net"),
            drawn("env/net/whom"),
            happened("env/nodes/pauses"),
            drawn("env/nodes/pauses"),
            drawn("watch"),
        ],
        expect![[r#"
            a message from n1 to n2 took 0.000000s more than the least (0.012000s, step 17)
            task 3 "worker-2" in pool::drain at src/pool.rs:88 polled branch 3 of 5 first in a select (0.012000s, step 17)
            task 3 "worker-2" in pool::drain at src/pool.rs:88 chose 3 out of 0..5 (0.012000s, step 17)
            clock/n1 drew 3 out of 0..5 (0.012000s, step 17)
            a message from n1 to n2 was lost when it was sent (0.012000s, step 17)
            a message from n1 to n2 was lost on arrival (0.012000s, step 17)
            a message from n1 to n2 was delivered twice (0.012000s, step 17)
            disk n1 failed: torn (0.012000s, step 17)
            the seed had loss in store for the network (0.012000s, step 17)
            the seed drew 3 out of 0..5 for loss of the network (0.012000s, step 17)
            the seed had stalls in store for the disk (0.012000s, step 17)
            a read or write of a socket took 3 bytes less than it could (0.012000s, step 17)
            a connection was reset (0.012000s, step 17)
            a message from n1 to n2 took much longer than others (0.012000s, step 17)
            something went wrong on the network by itself (0.012000s, step 17)
            what goes wrong on the network by itself drew 3 out of 0..5 (0.012000s, step 17)
            whom it strikes that goes wrong on the network drew 3 out of 0..5 (0.012000s, step 17)
            something befell the nodes by itself: pauses (0.012000s, step 17)
            what befalls nodes by itself (pauses) drew 3 out of 0..5 (0.012000s, step 17)
            task 3 "worker-2" in pool::drain at src/pool.rs:88 woke receiver 3 of 5 of a watch first (0.012000s, step 17)"#]],
    );
}

#[test]
fn long_sentences_are_wrapped_below_their_start() {
    let text = wrapped("  1. ", "word ".repeat(30).trim_end());
    assert!(text.lines().all(|line| line.chars().count() <= 100));
    expect![[r#"
        told:
          1. word word word word word word word word word word word word word word word word word word word
             word word word word word word word word word word word
    "#]]
    .assert_eq(&format!("told:\n{text}"));
}

fn traced(spawn: impl FnOnce(&Sim)) -> Trace {
    let mut config = SimConfig::default();
    (config.record, config.replay) = (true, Some(Vec::new()));
    let sim = Sim::with_config(1, config);
    spawn(&sim);
    let _panics = sim.run();
    sim.trace()
}

#[test]
fn what_a_program_notes_is_told_in_the_column_of_its_task() {
    let trace = traced(|sim| {
        for (name, whom) in [("ann", "bob"), ("bob", "ann")] {
            drop(sim.spawn(name, async move {
                context::note(|| format!("trusts {whom}"));
                yield_now().await;
                assert_ne!(name, "bob", "two lines\nof text");
            }));
        }
        sim.node("n1").note(|| "is \u{1b}[31mready, and says so in more words than fit ".repeat(3));
    });
    expect![[r#"
        told:
            step  task 1 "bob"                                  n1
               0                                                is  [31mready, and says so in more words
                                                                than fit is  [31mready, and says so in more
                                                                words than fit is  [31mready, and says so in
                                                                more words than fit
               2  trusts ann
               4  PANICS: assertion `left != right` failed: ..
               4  ends
    "#]]
    .assert_eq(&format!("told:\n{}", table(&trace, &[])));
}

#[test]
fn what_a_program_notes_comes_before_the_messages_around_it() {
    let trace = traced(|sim| {
        let (a, b) = (sim.node("a"), sim.node("b"));
        let network = Network::<u64>::new(sim);
        network.register(b.id(), |_, _| {});
        for at in 0..60 {
            let (network, from, to) = (network.clone(), a.clone(), b.id());
            sim.at(SimTime::from_millis(at), move || {
                network.send(from.id(), to, at);
                if at % 20 == 10 {
                    from.note(|| format!("has sent {at}"));
                }
                match at {
                    20 => network.partition(from.id(), to),
                    30 => network.heal(from.id(), to),
                    _ => {}
                }
            });
        }
    });
    expect![[r#"
        told:
            step  a                                             b
                  ... 21 events
              21  has sent 10
                  ... 19 events
              41  * a | b: cut off from each other, messages are lost
                  ... 11 events, 11 messages are lost
              52  has sent 30
              52  * a | b: connected again
                  ... 39 events
              91  has sent 50
                  ... 15 events
             107  sends #58 to b
             108                                                gets #58 of a
             109  sends #59 to b
             110                                                gets #59 of a
    "#]]
    .assert_eq(&format!("told:\n{}", table(&trace, &[])));
}
