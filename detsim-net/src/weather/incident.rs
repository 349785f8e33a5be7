//! One thing that happens to some links for some time.
//!
//! Owns: [`Incident`]: whom it strikes, how, and its events in the trace. Does not own: how it was drawn
//! (`draws.rs`) or when it is looked at. Invariant: it is in the trace, with its end, if and only if a
//! packet could have met it.

use detsim_executor::event::{NetEvent, SetId};
use detsim_executor::{Kernel, NodeId, SimTime};

use crate::link::Partition;
use crate::links::record_sets;

/// One thing that happens to some links for some time.
#[derive(Debug)]
pub(super) struct Incident {
    pub(super) begins: SimTime,
    pub(super) ends: SimTime,
    /// By node: [`APART`], [`LEFT`] or [`RIGHT`].
    pub(super) sides: Vec<u8>,
    /// From right to left as well.
    pub(super) both_ways: bool,
    pub(super) effect: Effect,
    pub(super) is_told: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    Cut(Partition),
    Slow(u32),
}

/// Neither side: what is nowhere else, and the bridge between two sides.
pub(super) const APART: u8 = 0;
pub(super) const LEFT: u8 = 1;
pub(super) const RIGHT: u8 = 2;

impl Incident {
    pub(super) fn strikes(&self, from: NodeId, to: NodeId) -> bool {
        let side = |node: NodeId| self.sides.get(usize::from(node.0)).copied().unwrap_or(APART);
        match (side(from), side(to)) {
            (LEFT, RIGHT) => true,
            (RIGHT, LEFT) => self.both_ways,
            _ => false,
        }
    }

    /// It is in the trace from the moment at which the first packet could meet it.
    pub(super) fn tell(&self, kernel: &mut Kernel) {
        self.each_way(kernel, |effect, from, to| match effect {
            Effect::Cut(rule) => NetEvent::Partitioned { from, to, holds: rule == Partition::Hold },
            Effect::Slow(factor) => NetEvent::Slowed { from, to, factor },
        });
    }

    pub(super) fn tell_end(&self, kernel: &mut Kernel) {
        self.each_way(kernel, |_, from, to| NetEvent::Healed { from, to });
    }

    fn each_way(&self, kernel: &mut Kernel, event: impl Fn(Effect, SetId, SetId) -> NetEvent) {
        if !kernel.is_recorded() {
            return;
        }
        let of = |side: u8| -> Vec<NodeId> {
            let nodes = (0..).zip(&self.sides).filter(|(_, own)| **own == side);
            nodes.map(|(number, _)| NodeId(number)).collect()
        };
        for (from, to) in
            [(LEFT, RIGHT), (RIGHT, LEFT)].into_iter().take(1 + usize::from(self.both_ways))
        {
            record_sets(kernel, &of(from), &of(to), |from, to| event(self.effect, from, to));
        }
    }
}
