//! Tasks that are ended from outside of their polls, and the end of a run.
//!
//! Owns: dropping tasks that are not being polled, one by one, and what is left of a run. Does not own: the
//! tasks that end in a poll ([`super`]). Invariant: what is dropped is dropped outside of the kernel, with its
//! task as the current one.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::poll::cancel;
use super::settle;
use crate::context;
use crate::event::TaskNumber;
use crate::kernel::{Kernel, NO_TASK};
use crate::sim::Sim;
use crate::task::Slot;

/// Drops the tasks that `belongs` names, in the order of their numbers; not the one that runs, which
/// goes when its poll is over.
pub(crate) fn drop_tasks(belongs: impl Fn(&Slot) -> bool) {
    let current = context::with(|kernel| kernel.current_index()).unwrap_or(NO_TASK);
    let find = |kernel: &mut Kernel| {
        let living = kernel.tasks.living().filter(|(index, s)| belongs(s) && *index != current);
        let mut found: Vec<(u32, u32)> = living.map(|(index, s)| (s.number, index)).collect();
        found.sort_unstable();
        found
    };
    for (_, index) in context::with(find).unwrap_or_default() {
        drop_task(index);
    }
}

/// Drops the task of this number, where it lives.
pub(crate) fn drop_task_of(number: TaskNumber) {
    let find = |kernel: &mut Kernel| {
        let mut living = kernel.tasks.living();
        living.find(|(_, slot)| slot.number == number.0).map(|(index, _)| index)
    };
    context::with(find).flatten().into_iter().for_each(drop_task);
}

/// Drops the task in a slot, unless it is being polled.
pub(crate) fn drop_task(index: u32) {
    let take = |kernel: &mut Kernel| {
        let slot = kernel.tasks.get_mut(index)?;
        let (body, word, node) = (slot.body.take()?, slot.word, slot.node);
        let before = kernel.current();
        // A destructor is its node's, be that down.
        kernel.set_current(index, word, node);
        Some((body, before))
    };
    let Some((mut body, (slot, current, node))) = context::with(take).flatten() else {
        return;
    };
    cancel(&mut body);
    let ended = context::with(|kernel| {
        let ended = kernel.end_task(index);
        kernel.set_current(slot, current, node);
        ended
    });
    drop(body);
    settle(ended.flatten());
}

/// Ends a run: drops its tasks, timers and callbacks, until the drops bring no new ones.
pub(crate) fn tear_down(sim: &Sim) {
    sim.inside(|| {
        loop {
            let first = |kernel: &mut Kernel| {
                let rest = kernel.tasks.living().filter(|(_, slot)| slot.body.is_some());
                rest.min_by_key(|(_, slot)| slot.number).map(|(index, _)| index)
            };
            if let Some(index) = context::with(first).flatten() {
                drop_task(index);
                continue;
            }
            drop(catch_unwind(AssertUnwindSafe(|| sim.each_device(|device| device.on_end()))));
            let rest = context::with(|kernel| (kernel.queue.reset(), kernel.nodes.take_inits()));
            let empty = rest
                .as_ref()
                .is_none_or(|((c, w), i)| c.is_unused() && w.is_unused() && i.is_empty());
            drop(catch_unwind(AssertUnwindSafe(|| drop(rest))));
            if empty && context::with(first).flatten().is_none() {
                break;
            }
        }
        let labels = context::with(|kernel| {
            kernel.end();
            (kernel.groups.reset(), mem::take(&mut kernel.handlers))
        });
        drop(catch_unwind(AssertUnwindSafe(|| drop(labels))));
    });
}
