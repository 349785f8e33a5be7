//! What the run loop calls.
//!
//! Owns: the two devices of a network: [`Plug`] for what keeps a run going, and [`Faint`] for what does not. Does
//! not own: what happens then (`sockets.rs`, `tcp/usual.rs`).

use detsim_executor::{Deadline, Device, NodeId, Own};

use super::{Sockets, World, wake_all};

/// What the run loop calls.
pub(super) struct Plug(pub(super) Sockets);

impl Device for Plug {
    fn next_deadline(&self) -> Option<Deadline> {
        self.0.world.enter().first_due()
    }

    fn handle(&self) {
        if let Some(mut section) = self.0.world.enter_own() {
            let (world, kernel) = section.both();
            if world.is_usual() && world.arrives_usually(kernel) {
                return leave_own(section);
            }
        }
        self.0.with(World::happen);
    }

    fn tells(&self) -> bool {
        true
    }

    fn on_crash(&self, node: NodeId) {
        self.0.with(|world, kernel| world.crash(kernel, node));
    }

    fn on_kill(&self, node: NodeId) {
        self.0.with(|world, kernel| world.kill(kernel, node));
    }

    fn shown(&self) -> String {
        self.0.with(|world, kernel| world.netstat_brief(kernel)).unwrap_or_default()
    }

    fn on_restart(&self, node: NodeId) {
        self.0.with(|world, _| world.ways.dark.retain(|dark| *dark != node));
    }
}

/// What the run loop calls for events that keep no run going.
pub(super) struct Faint(pub(super) Sockets);

impl Device for Faint {
    fn next_deadline(&self) -> Option<Deadline> {
        self.0.world.enter().faint_due()
    }

    fn handle(&self) {
        self.0.with(|world, kernel| {
            let Some((deadline, what)) = world.faint.first() else { return };
            world.faint.pop();
            if !world.is_stale(deadline, what) {
                world.happens(kernel, what);
            }
        });
    }

    fn is_faint(&self) -> bool {
        true
    }
}

/// As [`super::leave`], for a section of the simulation itself.
#[inline]
fn leave_own(mut section: Own<'_, World>) {
    let (world, kernel) = section.both();
    // The event that has happened was the first.
    world.arm_first(kernel);
    world.arm(kernel);
    while let Some(waker) = section.both().0.woken.pop() {
        if let Some(foreign) = section.wake(waker) {
            let mut section = section.into_in();
            section.wake(foreign);
            return wake_all(&mut section);
        }
    }
}
