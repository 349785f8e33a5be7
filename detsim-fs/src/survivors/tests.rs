//! Survivors by enumeration (every outcome of every draw) and by frequency.

use std::collections::{BTreeMap, BTreeSet};

use detsim_executor::Stream;

use super::*;

/// Runs `f` once for each sequence of draws that it can see, and returns every result.
fn every_outcome<T: Ord>(mut f: impl FnMut(Pick<'_>) -> T) -> BTreeSet<T> {
    let mut results = BTreeSet::new();
    let mut tape: Vec<(u64, u64)> = Vec::new();
    loop {
        let mut at = 0;
        results.insert(f(&mut |bound| {
            if at == tape.len() {
                tape.push((0, bound));
            }
            at += 1;
            tape[at - 1].0
        }));
        while tape.last().is_some_and(|(value, bound)| value + 1 == *bound) {
            tape.pop();
        }
        let Some((value, _)) = tape.last_mut() else { return results };
        *value += 1;
    }
}

#[test]
fn the_shares_add_up() {
    assert_eq!(SHAPES.iter().map(|(_, share)| share).sum::<u64>(), 100);
}

#[test]
fn nothing_pending_draws_nothing() {
    assert!(draw(0, &mut |_| panic!("no draw is due")).is_empty());
}

#[test]
fn every_subset_of_two_writes_can_survive() {
    assert_eq!(every_outcome(|pick| draw(2, pick)).len(), 4);
}

#[test]
fn a_torn_write_keeps_a_part_and_loses_a_part() {
    for count in 2..=5 {
        let prefixes = every_outcome(|pick| torn_prefix(count, pick));
        let subsets = every_outcome(|pick| torn_subset(count, pick));
        assert_eq!(prefixes.len(), count - 1);
        assert_eq!(subsets.len(), (1 << count) - 2);
        assert!(prefixes.is_subset(&subsets));
        assert!(subsets.iter().all(|kept| kept.contains(&true) && kept.contains(&false)));
        assert!(prefixes.iter().all(|kept| kept.is_sorted_by(|a, b| a >= b)));
    }
}

#[test]
fn long_logs_still_meet_the_sets_that_find_bugs() {
    let mut stream = Stream::named(1, "test");
    let mut seen = BTreeMap::new();
    for _ in 0..10_000 {
        let kept = draw(40, &mut |bound| stream.below(bound));
        let count = kept.iter().filter(|kept| **kept).count();
        *seen.entry(count).or_insert(0) += 1;
    }
    let in_range = |count: usize, low, high| (low..high).contains(&seen[&count]);
    // Each shape's share, and what the others add to it by chance.
    assert!(in_range(0, 1_500, 1_700), "nothing: {seen:?}");
    assert!(in_range(40, 1_000, 1_200), "everything: {seen:?}");
    assert!(in_range(39, 2_000, 2_250), "all but one: {seen:?}");
    assert!(in_range(1, 1_500, 1_750), "exactly one: {seen:?}");
}
