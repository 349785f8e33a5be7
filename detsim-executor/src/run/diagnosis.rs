//! Why a run is stuck.
//!
//! Owns: the last look at a run in which nothing can happen any more: the wait graph, and a poll of every
//! task of which nobody knows where it waits. Does not own: the graph, nor what is said about it
//! (`deadlock.rs`). Invariant: the run is over: nothing that is polled here goes on.

use super::{enter, settle};
use crate::context;
use crate::deadlock::{Deadlock, Held};
use crate::failure::Failure;
use crate::here;
use crate::kernel::Kernel;
use crate::sim::Shared;
use crate::slot::Polled;
use crate::stack;
use crate::waker::probing_waker;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Context;

/// Why a run is stuck. The wait graph and what is in the devices are copied first; then every task whose stack is not known is
/// polled once more, with choices and preemption off: a task that goes on was not woken when it
/// should have been.
#[cold]
pub(super) fn diagnose(shared: &Shared) -> Failure {
    let devices = shared.devices_shown();
    let mut deadlock = {
        let mut kernel = enter();
        kernel.set_probing(true);
        Deadlock { devices, ..kernel.deadlock() }
    };
    for index in 0..deadlock.tasks.len() {
        if deadlock.tasks[index].stack.is_empty() && deadlock.tasks[index].held == Held::No {
            probe(&mut deadlock, index);
        }
    }
    enter().set_probing(false);
    match deadlock.tasks.iter().any(|task| task.would_run) {
        true => Failure::LostWakeup(Box::new(deadlock)),
        false => Failure::Deadlock(Box::new(deadlock)),
    }
}

/// Polls a stuck task once, to see where it waits and whether it would go on.
fn probe(deadlock: &mut Deadlock, index: usize) {
    let number = deadlock.tasks[index].number;
    let take = |kernel: &mut Kernel| {
        let (slot, _) = kernel.tasks.living().find(|(_, task)| task.number == number)?;
        let task = kernel.tasks.get_mut(slot)?;
        let (body, node, ops, word) = (task.body.take()?, task.node, task.ops, task.word);
        kernel.set_current(slot, word, node);
        Some((slot, word, body, ops))
    };
    let Some((slot, word, mut body, ops)) = context::with(take).flatten() else { return };
    stack::take_noted();
    let waker = probing_waker(word);
    let mut cx = Context::from_waker(&waker);
    here::begin_poll(word);
    let polled = catch_unwind(AssertUnwindSafe(|| body.poll(&mut cx)));
    let mut kernel = enter();
    let noted = stack::take_noted();
    let kept_no_waker = noted.is_none();
    let noted = noted.filter(|_| !kernel.brief);
    let moved = !matches!(polled, Ok(Polled::Pending))
        || here::end_poll()
        || kernel.tasks.get(slot).is_some_and(|task| task.queued || task.ops != ops);
    let known = kernel.blocked_task(slot);
    kernel.clear_current();
    let task = &mut deadlock.tasks[index];
    task.stack = match (known.stack.is_empty(), noted) {
        (true, Some(stack)) => stack.frames(),
        _ => known.stack,
    };
    // A wait of ours is exact: only a foreign one can have missed its wakeup.
    task.would_run = moved && task.waits.iter().all(|wait| wait.granted);
    task.unwakeable = !moved && kept_no_waker && task.waits.is_empty();
    match polled {
        Ok(Polled::Pending) | Err(_) => {
            if let Some(task) = kernel.tasks.get_mut(slot) {
                task.body = Some(body);
            }
        }
        // It has ended under the probe: it must not be polled again.
        Ok(polled) => {
            let ended = kernel.end_task(slot);
            drop(kernel);
            drop(body.end_after(polled));
            settle(ended);
        }
    }
}
