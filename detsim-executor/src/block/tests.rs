//! The histories of objects, and what waiters keep.

use super::*;

/// The order of the steps of tasks `a`, `b` and `c`, which do what `programs` say, one object after the
/// other: what each object sees of it, and the sum of the operations' hashes.
fn outcome(order: &[usize], programs: &[&[usize]; 3]) -> ([Vec<usize>; 2], u64) {
    let object =
        |sig| Object { write: sig, ..Object::new(ResourceKind::Mutex, Location::caller()) };
    let (mut objects, mut histories) = ([object(5), object(6)], [1, 2, 3]);
    let (mut seen, mut at, mut shape) = ([Vec::new(), Vec::new()], [0; 3], 0u64);
    for task in order {
        let object = programs[*task][at[*task]];
        at[*task] += 1;
        histories[*task] = objects[object].operate(histories[*task], OpKind::Lock);
        seen[object].push(*task);
        shape = shape.wrapping_add(histories[*task]);
    }
    (seen, shape)
}

#[test]
fn runs_have_one_hash_exactly_where_each_object_sees_the_same() {
    use std::collections::{BTreeMap, BTreeSet};
    let programs: [&[usize]; 3] = [&[0, 1, 0, 0], &[0, 1, 0, 0], &[1, 0]];
    let mut orders = vec![Vec::new()];
    for _ in 0..10 {
        orders = orders
            .iter()
            .flat_map(|order: &Vec<usize>| (0..3).map(move |task| [&order[..], &[task]].concat()))
            .filter(|order| {
                (0..3).all(|t| order.iter().filter(|o| **o == t).count() <= programs[t].len())
            })
            .collect();
    }
    assert_eq!(orders.len(), 3_150);
    let mut by_sight = BTreeMap::new();
    for order in &orders {
        let (seen, shape) = outcome(order, &programs);
        assert_eq!(*by_sight.entry(seen).or_insert(shape), shape, "{order:?}");
    }
    let shapes: BTreeSet<u64> = by_sight.values().copied().collect();
    assert_eq!(shapes.len(), by_sight.len());
}

#[test]
fn what_a_granted_wait_keeps_is_ours_and_wakes_nobody() {
    let mut waiter = Waiter { waker: Waker::noop().clone(), record: 0 };
    drop(Block::grant(None, &mut waiter));
    assert_eq!(waker::ours(&waiter.waker), Some(TaskTag::NOBODY.word));
    waiter.waker.wake();
}
