//! Partitions, and what is held back.
//!
//! Owns: cutting and opening sets of links, and what becomes of messages that wait behind a cut
//! link or for a paused node. Does not own: what a cut link does to a message ([`crate::link`]).

use detsim_executor::event::{DropReason, NetEvent};
use detsim_executor::{Event, Kernel, NodeId, NodeState};

use super::{Unknown, Wire};
use crate::flights::{Flight, Flights};
use crate::link::Partition;

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
        for (from, to) in pairs(from, to) {
            let place = self.place(kernel, from, to)?;
            self.links[place as usize].link.set_cut(Some(self.rule));
        }
        let holds = self.rule == Partition::Hold;
        kernel.record_with(|kernel| {
            let (from, to) = (kernel.trace_set(from), kernel.trace_set(to));
            Event::Net(NetEvent::Partitioned { from, to, holds })
        });
        let links = &self.links;
        let drops =
            |flight: Flight| links[flight.link as usize].link.cut() == Some(Partition::Drop);
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
        for (from, to) in pairs(from, to) {
            let place = self.place(kernel, from, to)?;
            self.links[place as usize].link.set_cut(None);
        }
        record_healed(kernel, from, to);
        self.release(kernel);
        Ok(())
    }

    /// Opens all links.
    pub(crate) fn open_all(&mut self, kernel: &mut Kernel) {
        let (mut from, mut to) = (Vec::new(), Vec::new());
        for directed in self.links.iter_mut().filter(|directed| directed.link.cut().is_some()) {
            directed.link.set_cut(None);
            from.push(directed.from);
            to.push(directed.to);
        }
        if from.is_empty() {
            return;
        }
        record_healed(kernel, &sorted(from), &sorted(to));
        self.release(kernel);
    }

    /// Lets everything arrive now, in order, that nothing holds any more.
    pub(crate) fn release(&mut self, kernel: &mut Kernel) {
        let links = &self.links;
        let goes = |flight: Flight| {
            links[flight.link as usize].link.cut() != Some(Partition::Hold)
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

/// Every pair of a sender and another receiver: nothing cuts a node off from itself.
fn pairs(from: &[NodeId], to: &[NodeId]) -> impl Iterator<Item = (NodeId, NodeId)> {
    from.iter().flat_map(|from| to.iter().map(|to| (*from, *to))).filter(|(from, to)| from != to)
}

fn record_healed(kernel: &mut Kernel, from: &[NodeId], to: &[NodeId]) {
    kernel.record_with(|kernel| {
        let (from, to) = (kernel.trace_set(from), kernel.trace_set(to));
        Event::Net(NetEvent::Healed { from, to })
    });
}

fn sorted(mut nodes: Vec<NodeId>) -> Vec<NodeId> {
    nodes.sort_unstable();
    nodes.dedup();
    nodes
}
