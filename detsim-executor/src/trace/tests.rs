//! What a recorded run keeps, and that any number has a text.

use super::*;
use crate::event::{DropReason, NetEvent, Wide};
use crate::{Sim, SimConfig, SimTime, Strategy, yield_now};

fn run(seed: u64, record: bool) -> (Trace, RunHash) {
    let mut config = SimConfig::default();
    (config.record, config.strategy) = (record, Strategy::Random);
    let sim = Sim::with_config(seed, config);
    let node = sim.node("alpha");
    for name in ["first", "second", "first"] {
        drop(node.spawn(name, async {
            yield_now().await;
        }));
    }
    let crashes = sim.node("alpha");
    sim.after(std::time::Duration::from_millis(1), move || crashes.crash());
    sim.run().unwrap();
    sim.note(|| "over".to_owned());
    (sim.trace(), sim.hash())
}

#[test]
fn recording_changes_nothing() {
    for seed in 0..50 {
        let (trace, hash) = run(seed, true);
        assert_eq!(run(seed, true).0, trace);
        let (nothing, plain) = run(seed, false);
        assert_eq!((plain, nothing), (hash, Trace::default()));
    }
}

#[test]
fn lines_name_tasks_nodes_and_places() {
    let text = run(1, true).0.to_string();
    for part in [
        "task 0 \"first\" is spawned on alpha at detsim-executor/src/trace/tests.rs:",
        "task 1 \"second\" runs",
        "task 2 \"first\" ends",
        "callback of detsim-executor/src/trace/tests.rs:",
        "alpha crashes",
        "sim notes: over",
    ] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
}

#[test]
fn each_thing_is_in_its_table_once() {
    let tables = run(1, true).0.tables;
    assert_eq!(tables.text(TextId(0)), "");
    assert_eq!(tables.tasks.len(), 3);
    assert_eq!(tables.tasks[0].name, tables.tasks[2].name);
    assert_eq!(tables.tasks[0].site, tables.tasks[1].site);
    let mut texts = tables.texts;
    texts.sort_unstable();
    assert!(texts.is_sorted_by(|a, b| a < b), "{texts:?}");
}

#[test]
fn a_choice_stands_before_what_it_brought_about() {
    let chosen = |seed| {
        let trace = run(seed, true).0;
        let pairs = trace.moments.windows(2);
        let pairs = pairs.filter_map(|pair| match pair {
            [Moment { event: Event::Chose { choice }, .. }, after] => Some((*choice, *after)),
            _ => None,
        });
        for (choice, after) in pairs.clone() {
            let picked = trace.tables.choice(choice).unwrap().choice.picked;
            let Event::Stepped { task } = after.event else { panic!("{after:?}") };
            assert_eq!(trace.tables.task_of(picked), Some(task));
            assert_eq!(trace.tables.task_at(&Event::Chose { choice }), Some(task));
        }
        assert_eq!(pairs.clone().count(), trace.tables.choices.len());
        pairs.count()
    };
    assert!((0..50).map(chosen).sum::<usize>() > 20);
}

#[test]
fn any_number_has_a_text() {
    let (tables, task) = (Tables::default(), TaskNumber(9));
    let (object, site, node) = (ObjectId(9), TextId(9), NodeId(9));
    let op = crate::OpKind::Lock;
    let net = NetEvent::Partitioned { from: SetId(9), to: SetId(8), holds: true };
    for (event, text) in [
        (Event::Blocked { task, op, object, site }, "waits: lock on ? at ?"),
        (Event::Chose { choice: ChoiceId(9) }, "is chosen"),
        (Event::Spawned { task }, "is spawned"),
        (Event::Noted { node, text: site }, "notes: ?"),
        (Event::Net(net), "partition {} -> {} (holds)"),
        (
            Event::Net(NetEvent::Dropped {
                message: 1,
                from: node,
                to: node,
                why: DropReason::NoSender,
            }),
            "n9 -> n9 message 1 is lost (the sender is down)",
        ),
    ] {
        assert_eq!(tables.predicate(&event).to_string(), text);
    }
    assert_eq!(tables.task_shown(task).to_string(), "task 9");
    assert_eq!(tables.node_at(&Event::Stepped { task }), None);
}

#[test]
fn the_end_of_time_fits() {
    let moment = Moment {
        at: SimTime::MAX,
        step: u32::MAX,
        event: Event::Net(NetEvent::Sent {
            message: u32::MAX,
            from: NodeId(1),
            to: NodeId(2),
            latency_ns: Wide::new(u64::MAX),
        }),
    };
    let line = Trace::default().line(&moment).to_string();
    assert!(
        line.ends_with("n1 -> n2 message 4294967295 leaves, 18446744073709551615 ns"),
        "{line}"
    );
}

#[test]
fn a_run_without_end_does_not_fill_the_memory_with_its_trace() {
    let mut config = SimConfig::default();
    (config.record, config.limits.steps) = (true, 200_000);
    let run = |turns: u64| {
        let sim = Sim::with_config(1, config.clone());
        for name in ["a", "b"] {
            drop(sim.spawn(name, async move {
                for _ in 0..turns {
                    yield_now().await;
                }
            }));
        }
        let ended = sim.run().map_err(|failure| failure.verdict());
        (ended.err(), sim.trace().moments.len(), sim.recorded_choices().len())
    };
    // A task alone makes no choice that is not the default, and is told the same.
    let sim = Sim::with_config(1, config.clone());
    drop(sim.spawn("alone", async {
        loop {
            yield_now().await;
        }
    }));
    assert_eq!(sim.run().map_err(|failure| failure.verdict()).err(), Some("livelock"));
    assert!(sim.with(|kernel| kernel.choices().is_cut()));
    let (ended, events, choices) = run(1_000);
    assert!(ended.is_none() && events > 2_000 && choices > 100, "{ended:?} {events} {choices}");
    assert_eq!(run(u64::MAX), (Some("livelock"), 0, 0));
}
