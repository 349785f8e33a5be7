//! The order of branches, without any task.

use super::*;
use std::task::Waker;

fn polled(branches: &mut Branches) -> Vec<u32> {
    let mut order = Vec::new();
    assert!(branches.begin(&Context::from_waker(Waker::noop())).is_ready());
    while let Some(branch) = branches.advance() {
        order.push(branch);
    }
    order
}

#[test]
fn branches_go_in_order_without_the_disabled() {
    let mut branches = Branches::biased(64);
    (0..64).filter(|branch| ![0, 7, 63].contains(branch)).for_each(|b| branches.disable(b));
    assert_eq!(polled(&mut branches), [0, 7, 63]);
    assert!(branches.is_pending());
    [0, 7, 63].into_iter().for_each(|branch| branches.disable(branch));
    assert!(!branches.is_pending());
}

#[test]
fn a_stopped_branch_is_first_and_only_once() {
    let mut branches = Branches::biased(3);
    branches.stopped = Some(1);
    assert_eq!(polled(&mut branches), [1, 0, 2]);
    assert_eq!(polled(&mut branches), [0, 1, 2]);
}

fn visited(rotation: &mut Rotation) -> Vec<u32> {
    rotation.begin();
    let mut order = Vec::new();
    loop {
        for branch in 0..rotation.count {
            match rotation.visit() {
                Visit::Poll => order.push(branch),
                Visit::Pass => {}
                Visit::End => return order,
            }
        }
    }
}

#[test]
fn a_join_starts_elsewhere_each_time() {
    let mut rotation = Rotation::fair(3);
    let orders = [(); 4].map(|()| visited(&mut rotation));
    assert_eq!(orders, [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 1, 2]]);
    let mut biased = Rotation::biased(2);
    assert_eq!([(); 2].map(|()| visited(&mut biased)), [[0, 1], [0, 1]]);
}

#[test]
fn a_join_goes_on_where_it_was_stopped() {
    let mut rotation = Rotation::biased(3);
    rotation.begin();
    assert_eq!((rotation.visit(), rotation.visit()), (Visit::Poll, Visit::Poll));
    rotation.stopped = true;
    assert_eq!(visited(&mut rotation), [1, 2, 0]);
}
