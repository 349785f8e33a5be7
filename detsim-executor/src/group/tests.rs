//! Groups are held back and ended as one.

use super::*;
use crate::{JoinHandle, Sim, yield_now};
use std::cell::Cell;
use std::panic::Location;
use std::rc::Rc;

const HERE: &Location<'static> = Location::caller();

fn group(sim: &Sim) -> GroupId {
    sim.with(|kernel| kernel.add_group(true))
}

/// A task of the group that counts its polls, and never ends.
fn counter(sim: &Sim, group: GroupId) -> (Rc<Cell<u32>>, JoinHandle<()>) {
    let polls = Rc::new(Cell::new(0));
    let count = Rc::clone(&polls);
    let task = sim.spawn_in(group, async move {
        loop {
            count.set(count.get() + 1);
            yield_now().await;
        }
    });
    (polls, task)
}

async fn turns(count: u32) {
    for _ in 0..count {
        yield_now().await;
    }
}

#[test]
fn a_group_runs_only_while_it_is_driven() {
    let sim = Sim::new(1);
    let (driven, other) = (group(&sim), group(&sim));
    let (polls, _task) = counter(&sim, driven);
    let (others, _other) = counter(&sim, other);
    sim.block_on(turns(50)).unwrap();
    assert_eq!((polls.get(), others.get()), (0, 0));
    sim.block_on_in(driven, true, HERE, turns(50)).unwrap().unwrap();
    let seen = polls.get();
    assert!(seen > 0);
    sim.block_on(turns(50)).unwrap();
    assert_eq!((polls.get(), others.get()), (seen, 0));
    sim.block_on_in(driven, true, HERE, turns(50)).unwrap().unwrap();
    assert!(polls.get() > seen);
}

#[test]
fn closing_drops_the_tasks_and_takes_no_more() {
    let sim = Sim::new(1);
    let id = group(&sim);
    let (polls, task) = counter(&sim, id);
    let (_, dropped) = counter(&sim, id);
    drop(dropped);
    assert_eq!(sim.with(|kernel| kernel.alive_in(id)), 2);
    sim.inside(|| close(id));
    assert!(task.is_finished() && Rc::strong_count(&polls) == 1);
    let late = sim.spawn_in(id, async {});
    assert!(late.is_finished());
    assert!(sim.block_on(late).unwrap().unwrap_err().is_cancelled());
    assert_eq!(sim.run().unwrap().completed, 1);
}

#[test]
fn a_task_that_closes_its_own_group_goes_after_its_poll() {
    let sim = Sim::new(1);
    let id = group(&sim);
    sim.with(|kernel| kernel.drive_group(id));
    let reached = Rc::new(Cell::new(0));
    let seen = Rc::clone(&reached);
    let task = sim.spawn_in(id, async move {
        close(id);
        seen.set(1);
        yield_now().await;
        seen.set(2);
    });
    assert!(sim.block_on(task).unwrap().unwrap_err().is_cancelled());
    assert_eq!(reached.get(), 1);
}

#[test]
fn a_number_is_reused_and_the_old_name_means_nothing() {
    let sim = Sim::new(1);
    let old = group(&sim);
    sim.inside(|| close(old));
    let new = group(&sim);
    assert_eq!((old.index, old != new), (new.index, true));
    sim.inside(|| close(old));
    assert!(sim.with(|kernel| kernel.is_open(new) && !kernel.is_open(old)));
}

#[test]
fn the_last_task_to_end_wakes_who_waits_for_it() {
    let sim = Sim::new(1);
    let id = group(&sim);
    sim.with(|kernel| kernel.drive_group(id));
    let task = sim.spawn_in(id, turns(5));
    let wait = std::future::poll_fn(move |cx| {
        let mut waker = Some(cx.waker().clone());
        match context::with(|kernel| kernel.poll_empty(id, &mut waker)) {
            Some(true) => std::task::Poll::Ready(()),
            _ => std::task::Poll::Pending,
        }
    });
    sim.block_on(wait).unwrap();
    assert!(task.is_finished());
}

#[test]
fn a_main_is_no_task_of_its_group() {
    let sim = Sim::new(1);
    let id = group(&sim);
    let seen = sim.block_on_in(id, true, HERE, async move {
        let alive = context::with(|kernel| kernel.alive_in(id));
        let child = context::spawn("child", async { current_task() });
        let number = child.number();
        (alive, current_task(), child.await.unwrap() == Some(number))
    });
    assert_eq!(seen.unwrap().unwrap(), (Some(0), None, true));
}

#[test]
fn a_paused_node_and_a_group_that_rests_both_hold_a_task() {
    let sim = Sim::new(1);
    let (id, node) = (group(&sim), sim.node("n1"));
    sim.with(|kernel| kernel.drive_group(id));
    let (polls, _task) = node.enter(|| counter(&sim, id));
    sim.with(|kernel| kernel.leave_group(id));
    node.pause();
    sim.with(|kernel| kernel.drive_group(id));
    sim.block_on(turns(20)).unwrap();
    assert_eq!(polls.get(), 0);
    sim.with(|kernel| kernel.leave_group(id));
    node.resume();
    sim.block_on(turns(20)).unwrap();
    assert_eq!(polls.get(), 0);
    sim.with(|kernel| kernel.drive_group(id));
    sim.block_on(turns(20)).unwrap();
    assert!(polls.get() > 0);
}

#[test]
fn an_abort_handle_outlives_everything_else_of_a_task() {
    let sim = Sim::new(1);
    let handle = sim.spawn("task", async { String::from("dropped") });
    let abort = handle.abort_handle();
    drop(handle);
    assert!(!abort.is_finished());
    sim.run().unwrap();
    let clone = abort.clone();
    drop(abort);
    assert!(clone.is_finished());
    drop(sim);
    assert!(clone.is_finished());
}
