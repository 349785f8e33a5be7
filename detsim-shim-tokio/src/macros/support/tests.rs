//! The order of branches, without any task.

use super::*;
use std::future::{Ready, ready};
use std::pin::Pin;
use std::task::{Context, Waker};

fn polled(branches: &mut Branches<u64>, count: u32) -> Vec<u32> {
    let mut order = Vec::new();
    let begun = branches.begin(count, false, &Context::from_waker(Waker::noop()));
    let Poll::Ready(mut turn) = begun else { panic!("there is a budget") };
    while let Some(branch) = branches.advance(&mut turn) {
        order.push(branch);
    }
    assert_eq!(branches.is_pending(&turn), !order.is_empty());
    order
}

#[test]
fn branches_go_in_order_without_the_disabled() {
    let mut branches = Branches::default();
    (0..64).filter(|branch| ![0, 7, 63].contains(branch)).for_each(|b| branches.disable(b));
    assert_eq!(polled(&mut branches, 64), [0, 7, 63]);
    [0, 7, 63].into_iter().for_each(|branch| branches.disable(branch));
    assert!(polled(&mut branches, 64).is_empty());
}

#[test]
fn a_stopped_branch_is_first_and_only_once() {
    let mut branches = Branches::default();
    branches.stop_at(1);
    assert_eq!(polled(&mut branches, 3), [1, 0, 2]);
    assert_eq!(polled(&mut branches, 3), [0, 1, 2]);
    branches.stop_at(63);
    assert_eq!(polled(&mut branches, 64)[..3], [63, 0, 1]);
}

#[test]
fn branches_take_eight_bytes_up_to_32() {
    assert_eq!(size_of::<Branches<MaskOf<false>>>(), 8);
    assert_eq!(size_of::<MaskOf<true>>(), 8);
}

type Three = And<And<And<Nil, MaybeDone<Ready<u8>>>, MaybeDone<Ready<u8>>>, MaybeDone<Ready<u8>>>;

fn three() -> Three {
    let branch = || maybe_done(ready(0));
    Nil.and(branch()).and(branch()).and(branch())
}

fn visited(order: &mut impl Order, branches: Pin<&mut Three>) -> Vec<u32> {
    let mut rotation = order.rotation(branches);
    let mut visits = Vec::new();
    for branch in (0..3).cycle() {
        match rotation.visit() {
            Visit::Poll => visits.push(branch),
            Visit::Pass => {}
            Visit::End => break,
        }
    }
    visits
}

#[test]
fn a_join_starts_elsewhere_each_time() {
    let (mut branches, mut order) = (pin!(three()), fair());
    let orders = [(); 4].map(|()| visited(&mut order, branches.as_mut()));
    assert_eq!(orders, [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 1, 2]]);
    let orders = [(); 2].map(|()| visited(&mut biased(), branches.as_mut()));
    assert_eq!(orders, [[0, 1, 2], [0, 1, 2]]);
}

#[test]
fn a_join_goes_on_where_it_was_stopped() {
    let mut branches = pin!(three());
    let ((((), _), second), _) = branches.as_mut().split();
    second.stop();
    assert_eq!(visited(&mut biased(), branches.as_mut()), [1, 2, 0]);
    let mut order = fair();
    let ((((), _), second), _) = branches.as_mut().split();
    second.stop();
    assert_eq!(visited(&mut order, branches.as_mut()), [1, 2, 0]);
    assert_eq!(visited(&mut order, branches.as_mut()), [2, 0, 1]);
}
