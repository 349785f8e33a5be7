//! Each fault fires, is written down, and changes something.

use std::time::Duration;

use detsim_executor::event::{DropReason, NetEvent};
use detsim_executor::{NodeId, SimTime};
use detsim_net::{Order, Partition};

use crate::world::{MS, World};

/// Sends 0..n from `a` to `b`, all at once.
fn send_all(world: &World, a: NodeId, b: NodeId, n: u32) {
    (0..n).for_each(|what| world.network.send(a, b, what));
}

fn dropped(world: &World, reason: DropReason) -> bool {
    world.has(|event| matches!(event, NetEvent::Dropped { why, .. } if *why == reason))
}

#[test]
fn without_faults_everything_arrives_in_time() {
    let world = World::new(1);
    let [a, b] = world.nodes(["a", "b"]);
    send_all(&world, a, b, 3);
    world.run_ms(1);
    let at = SimTime::from_millis(1);
    assert_eq!(world.take_heard(), [(at, b, a, 0), (at, b, a, 1), (at, b, a, 2)]);
    let stats = world.network.stats();
    assert_eq!((stats.sent, stats.delivered, stats.dropped(), stats.in_flight()), (3, 3, 0, 0));
}

#[test]
fn delays_spread_and_messages_overtake() {
    let world = World::new(1);
    let [a, b] = world.nodes(["a", "b"]);
    world.network.set_delay_range(MS, 8 * MS);
    send_all(&world, a, b, 50);
    world.run_ms(8);
    let heard = world.take_heard();
    let (first, last) = (heard[0].0, heard[49].0);
    assert!(first >= SimTime::from_millis(1) && last <= SimTime::from_millis(8));
    assert!(last - first > 5 * MS);
    assert!(!heard.is_sorted_by_key(|heard| heard.3), "none overtook another");
}

#[test]
fn a_link_that_keeps_order_keeps_it() {
    let world = World::new(1);
    let [a, b] = world.nodes(["a", "b"]);
    world.network.set_delay_range(MS, 8 * MS);
    world.network.set_order(Order::Fifo);
    send_all(&world, a, b, 50);
    world.run_ms(8);
    assert!(world.heard().into_iter().eq(0..50));
}

#[test]
fn the_drop_rate_loses_at_both_ends() {
    let world = World::new(1);
    let [a, b] = world.nodes(["a", "b"]);
    world.network.set_drop_rate(0.2);
    send_all(&world, a, b, 1_000);
    world.run_ms(1);
    let stats = world.network.stats();
    assert!((150..250).contains(&stats.dropped_at_send), "{stats:?}");
    assert!((120..200).contains(&stats.dropped_at_delivery), "{stats:?}");
    assert_eq!(world.heard().len() as u64, 1_000 - stats.dropped());
    assert!(dropped(&world, DropReason::LossAtSend) && dropped(&world, DropReason::LossAtDelivery));
    world.network.set_drop_rate(1.0);
    send_all(&world, a, b, 10);
    world.run_ms(1);
    assert!(world.heard().is_empty());
}

#[test]
fn the_duplicate_rate_delivers_twice() {
    let world = World::new(1);
    let [a, b] = world.nodes(["a", "b"]);
    world.network.set_duplicate_rate(0.2);
    send_all(&world, a, b, 1_000);
    world.run_ms(1);
    let stats = world.network.stats();
    assert!((150..250).contains(&stats.duplicated), "{stats:?}");
    let mut heard = world.heard();
    assert_eq!(heard.len() as u64, 1_000 + stats.duplicated);
    heard.sort_unstable();
    heard.dedup();
    assert_eq!(heard.len(), 1_000);
    assert!(world.has(|event| matches!(event, NetEvent::Duplicated { .. })));
}

#[test]
fn a_copy_is_lost_or_not_by_itself() {
    let world = World::new(1);
    let [a, b] = world.nodes(["a", "b"]);
    world.network.set_duplicate_rate(1.0);
    world.network.set_drop_rate(0.3);
    send_all(&world, a, b, 300);
    world.run_ms(1);
    let heard = world.heard();
    let times = |what| heard.iter().filter(|heard| **heard == what).count();
    let counts = |n| (0..300).filter(|what| times(*what) == n).count();
    assert!([0, 1, 2].iter().all(|n| counts(*n) > 10), "{:?}", [0, 1, 2].map(counts));
}

#[test]
fn one_link_differs_from_the_rest() {
    let world = World::new(1);
    let [a, b, c] = world.nodes(["a", "b", "c"]);
    world.network.link(a, b).set_drop_rate(1.0);
    world.network.link(a, c).set_delay_range(5 * MS, 5 * MS);
    world.network.link(b, a).set_duplicate_rate(1.0);
    let all = [(a, b, 1), (a, c, 2), (b, a, 3), (c, a, 4)];
    all.iter().for_each(|&(from, to, what)| world.network.send(from, to, what));
    world.run_ms(1);
    assert_eq!(world.heard(), [3, 3, 4]);
    world.run_ms(4);
    assert_eq!(world.heard(), [2]);
    // The last call wins.
    world.network.set_drop_rate(0.0);
    world.network.send(a, b, 5);
    world.run_ms(1);
    assert_eq!(world.heard(), [5]);
}

#[test]
fn a_partition_drops_both_ways_and_healing_ends_it() {
    let world = World::new(1);
    let [a, b, c] = world.nodes(["a", "b", "c"]);
    world.network.partition(a, [b, c]);
    let all = [(a, b, 1), (b, a, 2), (c, a, 3), (b, c, 4), (c, b, 5), (a, a, 6)];
    let send = || all.iter().for_each(|&(from, to, what)| world.network.send(from, to, what));
    send();
    world.run_ms(1);
    assert_eq!(world.heard(), [4, 5, 6]);
    assert!(dropped(&world, DropReason::Partition));
    world.network.heal(&[b][..], a);
    send();
    world.run_ms(1);
    assert_eq!(world.heard(), [1, 2, 4, 5, 6]);
    world.network.heal_all();
    send();
    world.run_ms(1);
    assert_eq!(world.heard(), [1, 2, 3, 4, 5, 6]);
}

#[test]
fn a_one_way_partition_lets_the_other_way_through() {
    let world = World::new(1);
    let [a, b] = world.nodes(["a", "b"]);
    world.network.partition_one_way(a, vec![b]);
    world.network.send(a, b, 1);
    world.network.send(b, a, 2);
    world.run_ms(1);
    assert_eq!(world.heard(), [2]);
    world.network.heal_one_way(a, b);
    world.network.send(a, b, 3);
    world.run_ms(1);
    assert_eq!(world.heard(), [3]);
}

#[test]
fn everybody_can_be_cut_off_from_everybody() {
    let world = World::new(1);
    let all = world.nodes(["a", "b", "c"]);
    world.network.partition(all, all);
    all.iter().for_each(|from| all.iter().for_each(|to| world.network.send(*from, *to, 0)));
    world.run_ms(1);
    assert_eq!(world.heard().len(), 3, "each hears itself");
}

#[test]
fn what_is_on_its_way_is_lost_when_it_is_due_in_a_partition() {
    let world = World::new(1);
    let [a, b] = world.nodes(["a", "b"]);
    world.network.set_delay_range(10 * MS, 10 * MS);
    let at = |ms: u64, what: u32| {
        let network = world.network.clone();
        world.sim.at(SimTime::from_millis(ms), move || network.send(a, b, what));
    };
    // Cut from 5 to 16 ms: the first is due in it, the second is sent and due in it, the third is
    // sent in it, the fourth neither.
    [(0, 1), (5, 2), (10, 3), (17, 4)].iter().for_each(|(ms, what)| at(*ms, *what));
    let cut = world.network.clone();
    world.sim.at(SimTime::from_millis(5), move || cut.partition(a, b));
    let heal = world.network.clone();
    world.sim.at(SimTime::from_millis(16), move || heal.heal(a, b));
    world.sim.run().unwrap();
    assert_eq!((world.heard(), world.network.stats().dropped_by_partition), (vec![4], 3));
}

#[test]
fn a_short_partition_misses_what_was_on_its_way_all_along() {
    let world = World::new(1);
    let [a, b] = world.nodes(["a", "b"]);
    world.network.set_delay_range(10 * MS, 10 * MS);
    world.network.send(a, b, 1);
    world.run_ms(3);
    world.network.partition(a, b);
    world.run_ms(3);
    world.network.heal(a, b);
    world.run_ms(4);
    assert_eq!(world.heard(), [1]);
}

#[test]
fn a_partition_that_holds_delivers_in_one_burst_in_order() {
    let world = World::new(1);
    let [a, b, c] = world.nodes(["a", "b", "c"]);
    world.network.set_partition_rule(Partition::Hold);
    world.network.send(a, b, 1);
    world.network.partition([a, c], b);
    for what in 2..5 {
        world.run_ms(1);
        world.network.send(a, b, what);
        world.network.send(c, b, 10 * what);
    }
    world.run_ms(100);
    assert_eq!(world.heard(), []);
    assert_eq!((world.network.stats().held, world.network.stats().in_flight()), (7, 7));
    assert!(world.has(|event| matches!(event, NetEvent::Held { .. })));
    assert!(world.has(|event| matches!(event, NetEvent::Partitioned { holds: true, .. })));
    let healed = world.sim.now();
    world.network.heal_all();
    world.run_ms(0);
    let heard = world.take_heard();
    assert!(heard.iter().all(|heard| heard.0 == healed));
    assert_eq!(heard.iter().map(|heard| heard.3).collect::<Vec<_>>(), [1, 2, 20, 3, 30, 4, 40]);
}

#[test]
fn one_link_of_several_that_hold_can_be_healed() {
    let world = World::new(1);
    let [a, b, c] = world.nodes(["a", "b", "c"]);
    world.network.set_partition_rule(Partition::Hold);
    world.network.partition([a, c], b);
    world.network.send(a, b, 1);
    world.network.send(c, b, 2);
    world.run_ms(5);
    world.network.heal(c, b);
    world.run_ms(1);
    assert_eq!(world.heard(), [2]);
    assert_eq!(world.network.stats().in_flight(), 1);
}

#[test]
fn what_is_held_is_lost_when_the_link_drops_instead() {
    let world = World::new(1);
    let [a, b] = world.nodes(["a", "b"]);
    world.network.set_partition_rule(Partition::Hold);
    world.network.partition(a, b);
    world.network.send(a, b, 1);
    world.run_ms(5);
    world.network.set_partition_rule(Partition::Drop);
    world.network.partition(a, b);
    assert_eq!(world.network.stats().dropped_by_partition, 1);
    world.network.heal_all();
    world.run_ms(5);
    assert_eq!(world.heard(), []);
}

#[test]
fn the_trace_tells_the_story_of_a_message() {
    let world = World::new(1);
    let [a, b] = world.nodes(["a", "b"]);
    world.network.send(a, b, 1);
    world.run_ms(1);
    world.network.partition(a, b);
    world.network.send(a, b, 2);
    world.network.heal_all();
    let trace = world.sim.trace().to_string();
    let lines: Vec<&str> = trace.lines().map(|line| line[25..].trim()).collect();
    let story = [
        "a -> b message 0 leaves, 1000000 ns",
        "a -> b message 0 arrives",
        "partition a -> b (drops)",
        "partition b -> a (drops)",
        "a -> b message 1 leaves, 1000000 ns",
        "a -> b message 1 is lost (partition)",
        "heal {a b} -> {a b}",
    ];
    assert_eq!(lines, story);
}

#[test]
fn an_endless_delay_is_no_overflow() {
    let world = World::new(1);
    let [a, b] = world.nodes(["a", "b"]);
    let ages = Duration::from_nanos(u64::MAX);
    world.run_ms(1);
    world.network.set_delay_range(ages, ages);
    world.network.send(a, b, 1);
    world.run_ms(1_000_000);
    assert_eq!((world.heard(), world.network.stats().in_flight()), (vec![], 1));
}
