//! What an incident is, as drawn.
//!
//! Owns: how long one lasts, whom it finds, and how it strikes them. Does not own: when one comes
//! (`weather.rs`). Invariant: every draw is a choice of the incident's own anchor, whose default is the mildest.

use std::time::Duration;

use detsim_executor::{Anchor, Choices, Domain, Kernel, NodeId, Ratio, SimTime};

use super::Kind;
use super::incident::{APART, Effect, Incident, LEFT, RIGHT};
use crate::link::Partition;

/// How much a slow link takes, at most.
const SLOWNESS_MAX: u64 = 100;

/// Draws for one incident.
#[derive(Clone, Copy, Debug)]
pub(super) struct Draws {
    pub(super) domain: Domain,
    pub(super) anchor: Anchor,
}

impl Draws {
    pub(super) fn below(&mut self, choices: &mut Choices, bound: u64, default: u64) -> u64 {
        choices.draw(self.domain, self.anchor, bound, default)
    }

    pub(super) fn happens(&mut self, choices: &mut Choices, ratio: Ratio) -> bool {
        choices.happens(self.domain, self.anchor, ratio)
    }

    pub(super) fn duration(&mut self, kernel: &mut Kernel) -> Duration {
        kernel.fault_duration(self.domain, self.anchor)
    }

    pub(super) fn incidents(
        &mut self,
        kernel: &mut Kernel,
        kind: Kind,
        (begins, ends): (SimTime, SimTime),
        hosts: &[NodeId],
        to: &mut Vec<Incident>,
    ) {
        if kind == Kind::Swizzle {
            return self.swizzle(kernel.choices(), (begins, ends), hosts, to);
        }
        let choices = kernel.choices();
        let (sides, both_ways) = match kind {
            Kind::Partition => self.sides(choices, hosts),
            _ => (self.one_link(choices, hosts), false),
        };
        let effect = match kind {
            Kind::Jam => Effect::Cut(Partition::Hold),
            Kind::Slow => self.slow(choices),
            _ => match self.below(choices, 20, 0) {
                0..12 => Effect::Cut(Partition::Drop),
                12..17 => Effect::Cut(Partition::Hold),
                _ => self.slow(choices),
            },
        };
        to.push(Incident { begins, ends, sides, both_ways, effect, is_told: false });
    }

    fn slow(&mut self, choices: &mut Choices) -> Effect {
        Effect::Slow(2 + self.below(choices, SLOWNESS_MAX - 1, 0) as u32)
    }

    /// Isolates one, splits in two by one of two laws, cuts one way, or leaves a bridge.
    fn sides(&mut self, choices: &mut Choices, hosts: &[NodeId]) -> (Vec<u8>, bool) {
        let n = hosts.len() as u64;
        let shape = self.below(choices, 20, 0);
        let left = match shape {
            0..7 => 1,
            7..11 | 18.. => n.div_ceil(2).min(n - 1),
            _ => 1 + self.below(choices, n - 1, 0),
        };
        let mut hosts = hosts.to_vec();
        let mut sides = Sides::new(&hosts);
        for _ in 0..left {
            let at = self.below(choices, hosts.len() as u64, 0) as usize;
            sides.put(hosts.swap_remove(at), LEFT);
        }
        // The bridge is one of the other side that hears both.
        let bridge = usize::from(shape >= 18 && hosts.len() > 1);
        hosts.iter().skip(bridge).for_each(|node| sides.put(*node, RIGHT));
        let one_way = (15..18).contains(&shape);
        (sides.by_node, !one_way)
    }

    fn one_link(&mut self, choices: &mut Choices, hosts: &[NodeId]) -> Vec<u8> {
        let n = hosts.len() as u64;
        let from = self.below(choices, n, 0);
        let to = (from + 1 + self.below(choices, n - 1, 0)) % n;
        let mut sides = Sides::new(hosts);
        sides.put(hosts[from as usize], LEFT);
        sides.put(hosts[to as usize], RIGHT);
        sides.by_node
    }

    fn swizzle(
        &mut self,
        choices: &mut Choices,
        (begins, ends): (SimTime, SimTime),
        hosts: &[NodeId],
        to: &mut Vec<Incident>,
    ) {
        let half_ns = ((ends - begins).as_nanos() as u64 / 2).max(1);
        let mut rest = hosts.to_vec();
        for _ in 0..hosts.len().div_ceil(2) {
            let node = rest.swap_remove(self.below(choices, rest.len() as u64, 0) as usize);
            let from_ns = self.below(choices, half_ns, 0);
            let until_ns = half_ns + self.below(choices, half_ns, 0);
            let mut sides = Sides::new(hosts);
            hosts.iter().for_each(|other| sides.put(*other, RIGHT));
            sides.put(node, LEFT);
            let at = |ns| SimTime::from_nanos(begins.as_nanos() + ns);
            let effect = Effect::Cut(Partition::Hold);
            let (begins, ends, sides) = (at(from_ns), at(until_ns + 1), sides.by_node);
            to.push(Incident { begins, ends, sides, both_ways: true, effect, is_told: false });
        }
    }
}

/// Sides of nodes, being drawn.
struct Sides {
    by_node: Vec<u8>,
}

impl Sides {
    fn new(hosts: &[NodeId]) -> Self {
        let nodes = hosts.iter().map(|node| usize::from(node.0) + 1).max();
        Self { by_node: vec![APART; nodes.unwrap_or(0)] }
    }

    fn put(&mut self, node: NodeId, side: u8) {
        self.by_node[usize::from(node.0)] = side;
    }
}
