//! What is due happens: timers, callbacks of the scenario, events of devices.
//!
//! Owns: letting one of them happen, and the panic of what it calls. Does not own: which is next
//! (`queue.rs`), or when ([`super`]). Invariant: the kernel is not borrowed while code of others runs.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::task::Waker;

use super::enter;
use crate::context;
use crate::device::Device;
use crate::event::Event;
use crate::failure::Failure;
use crate::lost::message_of;
use crate::queue::Due;
use crate::sim::Shared;
use crate::timer::Action;

/// Lets what is due happen.
pub(super) fn happen(shared: &Shared, due: Due) {
    match due {
        Due::Timer => fire(),
        Due::Device(index) => Plugged::of(shared, index).happen(),
    }
}

/// A device, at hand for one event after the other.
#[derive(Default)]
pub(super) struct Plugged {
    index: usize,
    device: Option<Rc<dyn Device>>,
    tells: bool,
}

impl Plugged {
    #[inline(never)]
    pub(super) fn of(shared: &Shared, index: usize) -> Self {
        let device = Rc::clone(&shared.devices.borrow()[index]);
        Self { index, tells: device.tells(), device: Some(device) }
    }

    pub(super) fn is(&self, index: usize) -> bool {
        self.index == index && self.device.is_some()
    }

    /// Lets its earliest event happen.
    #[inline(never)]
    pub(super) fn happen(&self) {
        let Some(device) = &self.device else { return };
        guarded(|| device.handle());
        if !self.tells {
            let deadline = device.next_deadline();
            enter().queue.set_deadline(self.index, deadline);
        }
    }
}

fn fire() {
    let mut kernel = enter();
    match kernel.queue.pop_timer() {
        None => {}
        Some(Action::Wake(word)) => {
            kernel.steps.uncount(); // the poll that follows is the step
            kernel.wake(word);
        }
        Some(Action::Foreign(index)) => {
            kernel.steps.uncount();
            let waker = kernel.queue.take_waker(index);
            drop(kernel);
            guarded(|| waker.into_iter().for_each(Waker::wake));
        }
        Some(Action::Call(index)) => {
            let callback = kernel.queue.take_callback(index);
            let Some(callback) = callback else { return };
            let site = kernel.site_hash(callback.site);
            kernel.hash.step(site);
            kernel.record_with(|k| Event::Called { site: k.recorder.site(callback.site) });
            drop(kernel);
            guarded(callback.run);
        }
    }
}

/// Runs a callback or a handler; its panic fails the run.
pub(crate) fn guarded(f: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(f)) {
        let mut kernel = enter();
        let message = message_of(&*payload);
        let tag = kernel.current_tag();
        let failure = Failure::panicked(&kernel, tag, message);
        kernel.fail(failure);
    }
}

/// Asks touched devices for their next deadline.
pub(super) fn refresh(shared: &Shared) {
    while let Some(index) = context::with(|kernel| kernel.queue.pop_touched()).flatten() {
        let device = shared.devices.borrow()[index].clone();
        let deadline = device.next_deadline();
        enter().queue.set_deadline(index, deadline);
    }
}
