//! Tests of the module above.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use super::*;
use crate::{SimConfig, context, sleep_until};

const GAP: Option<Duration> = Some(Duration::from_secs(5));

/// Five nodes that each say when they begin, and tick once a second; what they said.
fn world(seed: u64) -> (Sim, Vec<Node>, Rc<RefCell<Vec<String>>>) {
    let config = SimConfig { record: true, ..SimConfig::default() };
    let sim = Sim::with_config(seed, config);
    let said: Rc<RefCell<Vec<String>>> = Rc::default();
    let nodes: Vec<Node> = (1..=5).map(|number| sim.node(format!("n{number}"))).collect();
    for node in &nodes {
        let (said, name) = (Rc::clone(&said), node.name());
        node.on_start(move || {
            said.borrow_mut().push(name.clone());
            drop(context::spawn("ticks", async {
                loop {
                    sleep_until(context::now() + Duration::from_secs(1)).await;
                }
            }));
        });
    }
    (sim, nodes, said)
}

/// What each kind is, in the trace.
fn shows(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Crash => &["crashes", "restarts"],
        Kind::Kill => &["is killed", "restarts"],
        Kind::Restart => &["is killed", "restarts"],
        Kind::Pause => &["pauses", "resumes"],
        Kind::Step => &["its clock is"],
    }
}

fn faults(kind: Kind) -> NodeFaults {
    let gap = |own| GAP.filter(|_| own == kind);
    NodeFaults {
        crash_gap: gap(Kind::Crash),
        kill_gap: gap(Kind::Kill),
        restart_gap: gap(Kind::Restart),
        pause_gap: gap(Kind::Pause),
        step_gap: gap(Kind::Step),
        step_max: Duration::from_secs(2),
        ..NodeFaults::default()
    }
}

#[test]
fn every_kind_of_fault_strikes_every_node_stands_in_the_trace_and_ends() {
    for (kind, _) in Kind::ALL {
        let (sim, nodes, said) = world(7);
        sim.set_node_faults(&faults(kind));
        let mut struck = BTreeSet::new();
        for _ in 0..1_000 {
            sim.run_for(Duration::from_millis(200)).unwrap();
            let off = |n: &&Node| !n.is_up() || n.clock_offset() != Skew::Ahead(Duration::ZERO);
            let now: Vec<u16> = nodes.iter().filter(off).map(|node| node.id().0).collect();
            let down_max = if kind == Kind::Step { 5 } else { 2 };
            assert!(now.len() <= down_max, "{kind:?}: {now:?}");
            struck.extend(now);
        }
        sim.set_node_faults(&NodeFaults::default());
        assert!(nodes.iter().all(Node::is_up));
        assert!(nodes.iter().all(|node| node.clock_offset() == Skew::Ahead(Duration::ZERO)));
        let trace = sim.trace().to_string();
        let begun = said.borrow().len() - 5;
        let (stops, is_seen) = match kind {
            Kind::Crash | Kind::Kill => (10..40, struck.len() == 5),
            Kind::Restart => (20..40, true),
            Kind::Pause | Kind::Step => (0..1, struck.len() == 5),
        };
        assert!(stops.contains(&begun) && is_seen, "{kind:?}: {begun} {struck:?}");
        assert!(shows(kind).iter().all(|line| trace.contains(line)), "{kind:?}:\n{trace}");
    }
}

#[test]
fn the_clocks_of_all_nodes_are_off_by_what_is_in_store_and_right_in_the_end() {
    let sim = Sim::new(7);
    let early = sim.node("early");
    let (offset_max, drift_ppm_max) = (Duration::from_millis(500), 200);
    sim.set_node_faults(&NodeFaults { offset_max, drift_ppm_max, ..NodeFaults::default() });
    let nodes = [early, sim.node("late")];
    for node in &nodes {
        let (Skew::Ahead(by) | Skew::Behind(by)) = node.clock_offset();
        assert!(by > Duration::ZERO && by <= offset_max, "{by:?}");
        assert!((1..=200).contains(&node.clock_drift().unsigned_abs()));
    }
    assert_ne!(nodes[0].clock_offset(), nodes[1].clock_offset());
    sim.set_node_faults(&NodeFaults::default());
    for node in &nodes {
        assert_eq!((node.clock_drift(), node.clock_offset()), (0, Skew::Ahead(Duration::ZERO)));
    }
}

#[test]
fn a_run_of_which_nothing_is_left_does_not_wait_for_faults_and_one_that_is_stuck_says_so() {
    let sim = Sim::new(7);
    let node = sim.node("n1");
    node.on_start(|| ());
    sim.set_node_faults(&faults(Kind::Crash));
    assert_eq!(sim.run().unwrap().now, SimTime::ZERO);
    let stuck = sim.block_on(std::future::pending::<()>()).unwrap_err();
    assert!(matches!(stuck, crate::Failure::Deadlock(_)), "{stuck}");
}

#[test]
fn a_node_is_up_again_before_a_run_is_over_also_where_somebody_waits_for_nothing_else() {
    let (sim, nodes, said) = world(3);
    sim.set_node_faults(&faults(Kind::Kill));
    while nodes.iter().all(Node::is_up) {
        sim.run_for(Duration::from_millis(1)).unwrap();
    }
    let down = nodes.iter().find(|node| !node.is_up()).unwrap().clone();
    let before = said.borrow().len();
    sim.run_for(Duration::from_secs(33)).unwrap();
    assert!(said.borrow()[before..].contains(&down.name()));
}

#[test]
fn what_does_not_begin_by_itself_is_never_stopped_and_the_world_itself_not_even_paused() {
    let sim = Sim::new(7);
    let node = sim.node("client");
    let [mine, own] = ["mine", "own"].map(|_| Rc::new(Cell::new(0)));
    let tick = |count: Rc<Cell<u64>>| async move {
        loop {
            sleep_until(context::now() + Duration::from_millis(100)).await;
            count.set(count.get() + 1);
        }
    };
    drop(sim.spawn("world", tick(Rc::clone(&mine))));
    drop(node.spawn("client", tick(Rc::clone(&own))));
    sim.set_node_faults(&NodeFaults {
        crash_gap: GAP,
        kill_gap: GAP,
        restart_gap: GAP,
        pause_gap: GAP,
        ..NodeFaults::default()
    });
    sim.run_for(Duration::from_secs(100)).unwrap();
    assert_eq!(mine.get(), 999);
    assert!((500..990).contains(&own.get()), "it was paused: {}", own.get());
}

#[test]
fn a_seed_has_one_trace() {
    let trace = |seed| {
        let (sim, ..) = world(seed);
        sim.draw_node_faults();
        sim.run_for(Duration::from_secs(60)).unwrap();
        (sim.trace().to_string(), sim.hash())
    };
    for seed in 0..20 {
        assert_eq!(trace(seed), trace(seed));
    }
    assert_ne!(trace(1), trace(2));
}
