//! The list, against a plain one, outside of any run.

use super::*;
use detsim_executor::{OpKind, ResourceKind, Stream};
use std::panic::Location;

fn waiter(object: &mut Object) -> Waiter {
    let site = Location::caller();
    Block::wait(None, object, OpKind::Wait, site, &[], Waker::noop().clone())
}

#[test]
fn agrees_with_a_list() {
    let mut object = Object::new(ResourceKind::Notify, Location::caller());
    let (mut queue, mut list) = (Queue::new(), Vec::new());
    let mut tickets: Vec<(u64, Ticket)> = Vec::new();
    let mut stream = Stream::new(7);
    for number in 0..20_000 {
        match stream.below(5) {
            0 | 1 => {
                tickets.push((number, queue.push(waiter(&mut object), number)));
                list.push(number);
            }
            2 if !list.is_empty() => {
                assert_eq!(queue.first_mut().copied(), Some(list.remove(0)));
                assert!(queue.grant_first(None).is_some());
            }
            3 => assert_eq!(queue.grant_last(None).is_some(), list.pop().is_some()),
            4 if !tickets.is_empty() => {
                let at = stream.below(tickets.len() as u64) as usize;
                let (number, ticket) = tickets.swap_remove(at);
                assert_eq!(queue.is_granted(&ticket), !list.contains(&number));
                let (_, payload) = queue.leave(ticket).end(None, &mut object);
                assert_eq!(payload, number);
                list.retain(|waiting| *waiting != number);
            }
            _ => {}
        }
        assert_eq!(queue.is_empty(), list.is_empty());
        assert_eq!(queue.first_mut().copied(), list.first().copied());
    }
    assert!(queue.places.len() < 20_000, "places are used again");
}
