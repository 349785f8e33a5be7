//! The same seed gives the same run, and a run is its choices.

use std::time::Duration;

use detsim_executor::{RunHash, SimConfig, Trace};
use detsim_net::{Order, Partition};

use crate::world::{Heard, MS, World};

#[derive(Debug, PartialEq)]
struct Run {
    heard: Vec<Heard>,
    trace: Trace,
    hash: RunHash,
}

/// Chatter of three nodes under every fault there is.
fn chatter(world: &World) -> Run {
    let nodes = world.nodes(["a", "b", "c"]);
    let network = &world.network;
    network.set_delay_range(MS, 4 * MS);
    network.set_drop_rate(0.05);
    network.set_duplicate_rate(0.1);
    network.link(nodes[0], nodes[1]).set_order(Order::Fifo);
    for round in 0..20 {
        for (at, from) in nodes.into_iter().enumerate() {
            let to = nodes[(at + 1 + round as usize % 2) % 3];
            network.send(from, to, round);
        }
        match round {
            5 => network.partition(nodes[0], &nodes[1..]),
            8 => network.set_partition_rule(Partition::Hold),
            9 => network.partition(nodes[2], &nodes[..2]),
            12 => network.heal_all(),
            14 => world.sim.node("b").crash(),
            16 => world.sim.node("b").restart(),
            _ => {}
        }
        world.run_ms(1);
    }
    world.run_ms(10);
    Run { heard: world.take_heard(), trace: world.sim.trace(), hash: world.sim.hash() }
}

fn config(record: bool) -> SimConfig {
    let mut config = SimConfig::default();
    config.record = record;
    config
}

#[test]
fn the_same_seed_gives_the_same_trace() {
    let run = |seed| chatter(&World::with_config(seed, config(true)));
    assert_eq!(run(3), run(3));
    assert_ne!(run(3).hash, run(4).hash);
    assert!(run(3).heard.len() > 20);
}

#[test]
fn recording_changes_nothing() {
    let run = |record| chatter(&World::with_config(3, config(record)));
    let (plain, recorded) = (run(false), run(true));
    assert_eq!((plain.heard, plain.hash), (recorded.heard, recorded.hash));
}

#[test]
fn the_choices_of_a_run_replay_it() {
    let first = World::with_config(3, config(true));
    let run = chatter(&first);
    let choices = first.sim.recorded_choices();
    let mut replay = config(true);
    replay.replay = Some(choices.clone());
    let again = World::with_config(99, replay);
    assert_eq!(chatter(&again), run);
    assert_eq!((again.sim.unused_choices(), again.sim.recorded_choices()), (0, choices));
}

#[test]
fn without_choices_every_message_takes_the_least_time_and_none_is_lost() {
    let mut calm = config(true);
    calm.replay = Some(Vec::new());
    let world = World::with_config(3, calm);
    let [a, b] = world.nodes(["a", "b"]);
    world.network.set_delay_range(MS, 4 * MS);
    world.network.set_drop_rate(0.9);
    world.network.set_duplicate_rate(0.9);
    (0..5).for_each(|what| world.network.send(a, b, what));
    let report = world.sim.run().unwrap();
    assert!(world.heard().into_iter().eq(0..5));
    assert_eq!(report.now.elapsed(), MS);
}

#[test]
fn a_link_draws_for_itself() {
    let arrivals = |noise: bool| {
        let world = World::with_config(3, config(false));
        let [a, b, c] = world.nodes(["a", "b", "c"]);
        world.network.set_delay_range(MS, 4 * MS);
        for what in 0..20 {
            if noise {
                world.network.send(a, c, what);
                world.network.send(b, a, what);
            }
            world.network.send(a, b, what);
        }
        world.run_ms(4);
        world.take_heard().into_iter().filter(|heard| heard.1 == b).collect::<Vec<_>>()
    };
    assert_eq!(arrivals(false), arrivals(true));
}

#[test]
fn the_shape_is_blind_to_the_order_of_independent_messages() {
    let hash = |first_ms: u32, second_ms: u32, to_one: bool| {
        let world = World::with_config(3, config(false));
        let [a, b, c, d] = world.nodes(["a", "b", "c", "d"]);
        let fixed = |from, to, ms: u32| {
            world.network.link(from, to).set_delay_range(ms * MS, ms * MS);
            world.network.send(from, to, 0);
        };
        fixed(a, b, first_ms);
        fixed(c, if to_one { b } else { d }, second_ms);
        world.sim.run_for(Duration::from_secs(1)).unwrap();
        world.sim.hash()
    };
    let (early, late) = (hash(1, 2, false), hash(2, 1, false));
    assert_eq!(early.shape, late.shape);
    assert_ne!(early.order, late.order);
    assert_ne!(hash(1, 2, true).shape, hash(2, 1, true).shape, "one node heard both");
}
