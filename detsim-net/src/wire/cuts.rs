//! Partitions, and what is held back.
//!
//! Owns: what becomes of messages that wait behind a cut
//! link or for a paused node. Does not own: which links are cut ([`crate::links`]), or what a cut link
//! does to a message ([`crate::link`]).

use detsim_executor::event::DropReason;
use detsim_executor::{Kernel, NodeId, NodeState};

use super::Wire;
use crate::flights::{Flight, Flights};
use crate::link::Partition;
use crate::links::Unknown;

impl Wire {
    /// What the partitions that start from now on do.
    pub(crate) fn set_rule(&mut self, rule: Partition) {
        self.rule = rule;
    }

    /// Cuts the links from each of `from` to each of `to`. Returns the slots of what was held by a
    /// link that drops from now on.
    pub(crate) fn cut(
        &mut self,
        kernel: &mut Kernel,
        from: &[NodeId],
        to: &[NodeId],
    ) -> Result<Vec<u32>, Unknown> {
        self.links.cut(kernel, from, to, self.rule)?;
        let links = &self.links;
        let drops = |flight: Flight| links.at(flight.link).cut() == Some(Partition::Drop);
        let dropped = take_held(&mut self.held, &self.flights, drops);
        Ok(self.lose_held(kernel, dropped, DropReason::Partition))
    }

    /// Opens the links from each of `from` to each of `to`.
    pub(crate) fn open(
        &mut self,
        kernel: &mut Kernel,
        from: &[NodeId],
        to: &[NodeId],
    ) -> Result<(), Unknown> {
        self.links.open(kernel, from, to)?;
        self.release(kernel);
        Ok(())
    }

    /// Opens all links.
    pub(crate) fn open_all(&mut self, kernel: &mut Kernel) {
        if self.links.open_all(kernel) {
            self.release(kernel);
        }
    }

    /// Lets everything arrive now, in order, that nothing holds any more.
    pub(crate) fn release(&mut self, kernel: &mut Kernel) {
        let links = &self.links;
        let goes = |flight: Flight| {
            links.at(flight.link).cut() != Some(Partition::Hold)
                && kernel.node_state(flight.to) != Some(NodeState::Paused)
        };
        let freed = take_held(&mut self.held, &self.flights, goes);
        let now = kernel.now();
        freed.into_iter().for_each(|slot| self.schedule(kernel, slot, now));
    }

    /// A node has stopped: what was held for it is lost. Returns the slots.
    pub(crate) fn forget(&mut self, kernel: &mut Kernel, node: NodeId) -> Vec<u32> {
        let lost = take_held(&mut self.held, &self.flights, |flight| flight.to == node);
        self.lose_held(kernel, lost, DropReason::NoReceiver)
    }

    fn lose_held(&mut self, kernel: &mut Kernel, slots: Vec<u32>, why: DropReason) -> Vec<u32> {
        for &slot in &slots {
            self.flights.free(slot);
            self.lose(kernel, self.flights.flight(slot), why);
        }
        slots
    }
}

/// Takes out, in order, what `goes` says of.
fn take_held(held: &mut Vec<u32>, flights: &Flights, goes: impl Fn(Flight) -> bool) -> Vec<u32> {
    let (gone, kept) = held.drain(..).partition(|slot| goes(flights.flight(*slot)));
    *held = kept;
    gone
}
