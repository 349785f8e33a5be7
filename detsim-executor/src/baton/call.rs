//! Calls of the system that take time, or have to wait, made by code that cannot be unwound.
//!
//! Owns: [`pass_time`] and [`wait_for_wake`], and who may make no calls any more ([`is_gone`]). Does not
//! own: the calls. The callers of libc take its functions for ones that never unwind, so a thread whose
//! task is dropped in the middle of a call comes back from it, with the word that it is to fail; a panic
//! with which it answers is taken for the unwinding that it could not be given.

use std::panic::Location;
use std::task::Waker;

use super::enter;
use super::host::{suspend_in_call, throw_late};
use crate::kernel::Kernel;
use crate::timer::{Action, TimerKey};
use crate::waker::waker;
use crate::{SimTime, context};

impl Kernel {
    /// Whether the current task lets others run where it blocks its thread. One that shares a thread
    /// with others by design, as those of a current-thread runtime do, lets nobody run meanwhile.
    fn shares_no_thread(&self) -> bool {
        let (slot, word, _) = self.current();
        crate::here::may_block()
            || (self.tasks.live(word).is_some() && self.tasks.cold(slot).preemptible)
    }

    /// Whether what runs is a task, be it one that is being dropped.
    pub fn is_in_task(&self) -> bool {
        !self.current_tag().is_nobody()
    }

    /// A waker of the task that runs.
    pub fn own_waker(&self) -> Waker {
        waker(self.current().1)
    }

    /// Nobody else could do anything before that moment.
    fn is_alone_until(&mut self, moment: SimTime) -> bool {
        self.policy.is_empty()
            && self.deferred.is_empty()
            && self.watchers == 0
            && !super::lane().is_injected()
            && !self.queue.is_disturbed(moment.as_nanos())
    }
}

/// Whether no call of the code that runs is to have an effect any more: its process is dead, or its task
/// was dropped in the middle of a call.
pub fn is_gone() -> bool {
    let gone = |kernel: &mut Kernel| {
        let (_, word, _) = kernel.current();
        let node = kernel.tasks.live(word).map(|slot| slot.node);
        kernel.threads.unwinds || node.is_some_and(|node| kernel.is_down(node))
    };
    context::with(gone).unwrap_or(false)
}

/// Whether a panic of this thread is the unwinding that it could not be given: of a task that was dropped
/// in the middle of a call. Nobody is to hear of it.
pub fn is_unwinding() -> bool {
    !crate::here::is_in_section() && context::with(|kernel| kernel.threads.unwinds) == Some(true)
}

/// A call that [`is_gone`] has failed. One that keeps on calling is unwound in the end, whatever its
/// callers take libc's functions for.
#[track_caller]
pub fn fail_call() {
    throw_late(Location::caller());
}

/// A timer that wakes a task whose thread waits; dropping it cancels it.
pub(super) struct Armed(TimerKey);

impl Armed {
    pub(super) fn of_current(kernel: &mut Kernel, at: SimTime) -> Self {
        let (_, task, _) = kernel.current();
        Self(kernel.queue.arm(at, Action::Wake(task)))
    }
}

impl Drop for Armed {
    fn drop(&mut self) {
        // It wakes a word: there is no waker to drop.
        context::with(|kernel| drop(kernel.queue.cancel(self.0)));
    }
}

/// Virtual time passes for the current task, until a moment, while it blocks its thread. False where the
/// task was dropped meanwhile: the call is to fail. Nothing passes where no task runs, nor while the
/// clock is paused.
#[track_caller]
#[must_use = "the call is to fail where the task is gone"]
pub fn pass_time(until: SimTime) -> bool {
    let site = Location::caller();
    let armed = {
        let mut kernel = enter();
        if !kernel.is_in_task() || kernel.is_clock_paused() {
            return true;
        }
        let suspends = kernel.can_suspend() && kernel.shares_no_thread();
        if !suspends || kernel.is_alone_until(until) {
            kernel.move_clock(until);
            return true;
        }
        Armed::of_current(&mut kernel, until)
    };
    while enter().now() < until {
        if !suspend_in_call(site) {
            return false;
        }
    }
    drop(armed);
    true
}

/// Lets others run until the current task is woken; comes back after any wake, so it is called in a
/// loop. `None` where no task can wait here, `Some(false)` where the task was dropped meanwhile.
#[track_caller]
pub fn wait_for_wake() -> Option<bool> {
    let site = Location::caller();
    let can = enter().can_suspend();
    can.then(|| suspend_in_call(site))
}
