//! Tests of the module above.

use std::time::Duration;

use detsim_executor::Sim;

use super::*;

const SECOND_NS: u64 = 1_000_000_000;

fn hosts() -> Vec<NodeId> {
    (1..=5).map(NodeId).collect()
}

/// What is in force on all links, looked at every 10 ms of 1,000 s, with gaps of a second.
fn look(kind: Kind, mut see: impl FnMut(&[((u16, u16), Force)])) {
    let sim = Sim::new(7);
    let mut weather = Weather::fair();
    let mut gaps_ns = [0; 4];
    gaps_ns[kind as usize] = SECOND_NS;
    sim.with(|kernel| weather.set(kernel, gaps_ns));
    for _ in 0..100_000 {
        sim.run_for(Duration::from_millis(10)).unwrap();
        let seen = sim.with(|kernel| {
            let mut force =
                |from, to| ((from, to), weather.force(kernel, (NodeId(from), NodeId(to)), hosts));
            let pairs = (1..=5).flat_map(|a| (1..=5).map(move |b| (a, b)));
            pairs.map(|(from, to)| force(from, to)).collect::<Vec<_>>()
        });
        see(&seen);
    }
}

fn struck(seen: &[((u16, u16), Force)]) -> Vec<(u16, u16)> {
    seen.iter().filter(|(_, force)| *force != Force::NONE).map(|(link, _)| *link).collect()
}

#[test]
fn partitions_have_all_their_shapes_and_never_strike_loopback() {
    let mut shapes = [false; 4];
    let mut rules = [false; 3];
    look(Kind::Partition, |seen| {
        let struck = struck(seen);
        assert!(struck.iter().all(|(from, to)| from != to));
        if struck.is_empty() {
            return;
        }
        let back = struck.iter().all(|(from, to)| struck.contains(&(*to, *from)));
        let from = |node| struck.iter().filter(|(from, _)| *from == node).count();
        let apart = (1..=5).filter(|node| from(*node) == 0 && back).count();
        shapes[0] |= back && (1..=5).any(|node| from(node) == 4);
        shapes[1] |= back && apart == 0 && (1..=5).all(|node| from(node) < 4);
        shapes[2] |= !back;
        shapes[3] |= apart == 1;
        let (_, force) = seen.iter().find(|(_, force)| *force != Force::NONE).unwrap();
        rules[0] |= force.cut == Some(Partition::Drop);
        rules[1] |= force.cut == Some(Partition::Hold) && force.held_until.is_some();
        rules[2] |= force.slowness > 1;
    });
    assert_eq!((shapes, rules), ([true; 4], [true; 3]), "isolated, halves, one way, bridge");
}

#[test]
fn a_jam_and_a_slow_link_strike_one_link() {
    for (kind, slow) in [(Kind::Jam, false), (Kind::Slow, true)] {
        let mut links = std::collections::BTreeSet::new();
        look(kind, |seen| {
            let struck = struck(seen);
            assert!(struck.len() <= 1, "{struck:?}");
            links.extend(struck);
            assert!(seen.iter().all(|(_, force)| (force.slowness > 1) <= slow));
        });
        assert_eq!(links.len(), 20, "{kind:?}");
    }
}

#[test]
fn a_swizzle_takes_half_of_the_nodes_one_by_one() {
    let mut sizes = std::collections::BTreeSet::new();
    look(Kind::Swizzle, |seen| {
        let struck = struck(seen);
        let silent = (1..=5).filter(|node| struck.iter().filter(|l| l.0 == *node).count() == 4);
        sizes.insert(silent.count());
    });
    assert_eq!(sizes.into_iter().collect::<Vec<_>>(), [0, 1, 2, 3]);
}

#[test]
fn when_incidents_come_does_not_depend_on_who_looks_how_often() {
    let next_after = |pause: Duration| {
        let sim = Sim::new(7);
        let mut weather = Weather::fair();
        sim.with(|kernel| weather.set(kernel, [SECOND_NS; 4]));
        while sim.now() < SimTime::from_secs(1_000) {
            sim.run_for(pause).unwrap();
            sim.with(|kernel| weather.force(kernel, (NodeId(1), NodeId(2)), hosts));
        }
        weather.kinds.map(|schedule| (schedule.next, schedule.drawn))
    };
    let often = next_after(Duration::from_millis(10));
    assert_eq!(often, next_after(Duration::from_secs(100)));
    assert!(often.iter().all(|(_, drawn)| *drawn > 100), "{often:?}");
}

#[test]
fn incidents_end_near_the_timers_that_are_armed() {
    let sim = Sim::new(7);
    // The only timer there is comes 700 ms after whatever moment it is.
    let draws = Draws { domain: sim.with(|k| k.choices().domain("x")), anchor: Anchor::default() };
    let mut near = 0;
    for _ in 0..1_000 {
        sim.after(Duration::from_millis(700), || ());
        let duration = sim.with(|kernel| { draws }.duration(kernel));
        near += usize::from(!duration.as_millis().is_power_of_two());
        assert!(duration <= Duration::from_millis(1 << 14));
        let is_rung = duration == Duration::from_millis(duration.as_millis() as u64);
        assert!(is_rung || (350..1_400).contains(&duration.as_millis()), "{duration:?}");
        sim.run_for(Duration::from_secs(1)).unwrap();
    }
    assert!((400..600).contains(&near), "{near}");
}
