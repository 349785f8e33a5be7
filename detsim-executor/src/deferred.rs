//! Tasks that yielded, and go last.
//!
//! Owns: who yields to all others. A task that may be stopped anywhere is ready again at once, since its
//! yield is one more place where others may run. One that lets others run only where it waits (of a
//! `current_thread` runtime, of a local set) counts on what a yield does on tokio: whoever is ready has a
//! turn first. Does not own: the ready set.
//!
//! Invariant: a task here is queued and in no ready set; it is taken out with whatever else takes it out
//! of the ready set.

use crate::kernel::{Kernel, Preempt};

/// Turns of others after which those that wait here are ready again, though others are too: as many as
/// tokio has.
const TURNS_MAX: u64 = 61;

/// Who yielded, and since which step somebody is here.
#[derive(Debug, Default)]
pub(crate) struct Deferred {
    slots: Vec<u32>,
    since: u64,
}

impl Deferred {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    pub(crate) fn has(&self, slot: u32) -> bool {
        self.slots.contains(&slot)
    }

    pub(crate) fn clear(&mut self) {
        self.slots.clear();
    }
}

impl Kernel {
    /// The task has yielded: it is ready, now or after the others.
    pub(crate) fn yielded(&mut self, index: u32) {
        let defers = self
            .tasks
            .get(index)
            .is_some_and(|slot| !slot.queued && self.runs(slot) && !self.may_stop(slot.group));
        if !defers {
            return self.wake_slot(index);
        }
        if self.deferred.is_empty() {
            self.deferred.since = self.steps();
        }
        if let Some(slot) = self.tasks.get_mut(index) {
            slot.queued = true;
        }
        self.deferred.slots.push(index);
        self.is_usual = false;
    }

    /// Whether tasks of this group may be stopped before operations.
    fn may_stop(&self, group: u16) -> bool {
        self.preempt == Preempt::Ops && self.groups.is_preemptible(group)
    }

    /// Nobody else is ready, or the others have had their turns: those that yielded are ready again.
    #[cold]
    pub(crate) fn release_deferred(&mut self) {
        let waited = self.steps() - self.deferred.since;
        if waited <= TURNS_MAX && !self.policy.is_empty() {
            return;
        }
        for slot in std::mem::take(&mut self.deferred.slots) {
            self.unparked(slot);
        }
        self.settle();
    }

    /// A ready task is taken out of the ready set, or from here.
    pub(crate) fn unready(&mut self, slot: u32) {
        self.policy.remove(slot);
        self.deferred.slots.retain(|deferred| *deferred != slot);
    }
}

#[cfg(test)]
mod tests {
    use crate::{GroupId, Kernel, Sim, context, yield_now};
    use std::cell::{Cell, RefCell};
    use std::panic::Location;
    use std::rc::Rc;

    const HERE: &Location<'static> = Location::caller();

    fn cooperative(sim: &Sim) -> GroupId {
        sim.with(|kernel| kernel.add_group(false))
    }

    #[test]
    fn a_yield_lets_every_ready_task_go_first() {
        for seed in 0..50 {
            let sim = Sim::new(seed);
            let group = cooperative(&sim);
            let order = Rc::new(RefCell::new(Vec::new()));
            for name in 1..4 {
                let order = Rc::clone(&order);
                drop(sim.spawn_in(group, async move { order.borrow_mut().push(name) }));
            }
            let seen = Rc::clone(&order);
            let main = async move {
                seen.borrow_mut().clear();
                yield_now().await;
                seen.borrow().len()
            };
            let before = sim.block_on_in(group, true, HERE, main).unwrap().unwrap();
            let all = order.borrow().len();
            assert_eq!(before, all, "seed {seed}");
        }
    }

    #[test]
    fn who_is_always_ready_keeps_nobody_waiting_for_good() {
        let sim = Sim::new(1);
        let group = cooperative(&sim);
        let turns = Rc::new(Cell::new(0_u32));
        let counts = Rc::clone(&turns);
        drop(sim.spawn_in(
            group,
            std::future::poll_fn(move |cx| {
                counts.set(counts.get() + 1);
                cx.waker().wake_by_ref();
                std::task::Poll::<()>::Pending
            }),
        ));
        let main = async { yield_now().await };
        sim.block_on_in(group, true, HERE, main).unwrap().unwrap();
        assert!((1..200).contains(&turns.get()), "{}", turns.get());
    }

    #[test]
    fn a_task_that_has_yielded_can_be_dropped_and_held() {
        let sim = Sim::new(1);
        let group = cooperative(&sim);
        sim.with(|kernel| kernel.drive_group(group));
        let first = sim.spawn_in(group, async {
            loop {
                yield_now().await;
            }
        });
        let abort = first.abort_handle();
        sim.block_on(async move {
            yield_now().await;
            abort.abort();
            assert!(first.await.unwrap_err().is_cancelled());
        })
        .unwrap();
        let ends = Rc::new(Cell::new(false));
        let end = Rc::clone(&ends);
        let second = sim.spawn_in(group, async move {
            yield_now().await;
            end.set(true);
        });
        sim.block_on(async move {
            context::with(|kernel: &mut Kernel| kernel.leave_group(group));
            yield_now().await;
        })
        .unwrap();
        sim.with(|kernel| kernel.drive_group(group));
        sim.block_on(second).unwrap().unwrap();
        assert!(ends.get());
    }
}
