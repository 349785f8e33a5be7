//! Where the network and the disk plug in.
//!
//! Owns: the trait [`Device`]. Does not own: any device. Invariants: the kernel is never borrowed
//! while a method of a device runs, so a device may run handlers that use the simulation; a device
//! draws from the kernel's choices only.

use crate::event::NodeId;
use crate::timer::Deadline;

/// A part of the simulated world with events of its own.
pub trait Device {
    /// When its next event is due. Asked after each [`Device::handle`] and whenever the device
    /// was touched ([`crate::Sim::touch`]), not after every step.
    fn next_deadline(&self) -> Option<Deadline>;

    /// Lets the earliest event happen. The clock stands at its deadline, or past it.
    fn handle(&self);

    /// `node` lost its power.
    fn on_crash(&self, node: NodeId) {
        let _ = node;
    }

    /// The process of `node` died.
    fn on_kill(&self, node: NodeId) {
        let _ = node;
    }

    /// `node` came up again; called before its init runs.
    fn on_restart(&self, node: NodeId) {
        let _ = node;
    }
}
