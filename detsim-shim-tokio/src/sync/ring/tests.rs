//! The ring against a plain queue; under valgrind or a sanitizer, a check of every access.

use super::*;
use detsim_executor::Stream;
use std::collections::VecDeque;
use std::rc::Rc;

fn push<T>(ring: &mut Ring, items: &Items<T>, item: T) {
    // One of both ways, whichever it is.
    let mut slot = items.full(item);
    let quickly = ring.push_quickly(slot.seen());
    if !quickly {
        ring.push(slot.seen());
    }
    assert!(slot.take().is_none(), "moved once, quickly: {quickly}");
}

fn pop<T>(ring: &mut Ring, items: &Items<T>) -> Option<T> {
    let mut slot = items.empty();
    let popped = ring.pop_quickly(slot.seen()) || ring.pop(slot.seen());
    popped.then(|| slot.take().expect("a popped item"))
}

/// Pushes and pops what `make` makes of numbers, and compares with a plain queue.
fn agrees<T: PartialEq + fmt::Debug>(make: impl Fn(u64) -> T) {
    let (mut ring, items) = ring::<T>();
    let (mut model, mut stream) = (VecDeque::new(), Stream::new(5));
    for number in 0..5_000 {
        // Long runs of one kind, so that the ring grows and wraps at every place.
        match stream.below(200) < 100 + number % 3 {
            true => {
                push(&mut ring, &items, make(number));
                model.push_back(make(number));
            }
            false => assert_eq!(pop(&mut ring, &items), model.pop_front()),
        }
        assert_eq!(ring.len(), model.len());
    }
    while let Some(item) = pop(&mut ring, &items) {
        assert_eq!(Some(item), model.pop_front());
    }
}

#[test]
fn agrees_with_a_queue_whatever_the_layout() {
    agrees(|_| ());
    agrees(|n| n as u8);
    agrees(|n| n);
    agrees(|n| (n, n));
    agrees(|n| [n as u8; 3]);
    agrees(|n| n.to_string());
    agrees(|n| (n as u8, Box::new(n), [n as u16; 5]));
    #[derive(Debug, PartialEq)]
    #[repr(align(64))]
    struct Aligned(u64);
    agrees(Aligned);
}

#[test]
fn every_item_is_dropped_once() {
    let counted = Rc::new(());
    let (mut ring, items) = ring::<Rc<()>>();
    for _ in 0..20 {
        push(&mut ring, &items, Rc::clone(&counted));
    }
    assert_eq!(Rc::strong_count(&counted), 21);
    drop(pop(&mut ring, &items));
    assert_eq!(Rc::strong_count(&counted), 20);
    while pop(&mut ring, &items).is_some() {}
    drop(items.full(Rc::clone(&counted)));
    assert_eq!(Rc::strong_count(&counted), 1);
}

#[test]
#[should_panic = "invariant: a full slot of this ring"]
fn a_slot_of_another_ring_is_refused() {
    let (mut one, _) = ring::<u64>();
    let (_, items) = ring::<[u8; 8]>();
    push(&mut one, &items, [1; 8]);
}
