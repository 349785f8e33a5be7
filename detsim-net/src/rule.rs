//! Rules of a scenario for packets.
//!
//! Owns: [`Rule`], [`Verdict`], and the list of those in force. Does not own: links. A rule is data, not
//! code of a user, so that it can be asked where no code of a user may run. Invariant: the first rule in
//! force that meets a packet decides; each packet counts for that rule alone.

use std::time::Duration;

use detsim_executor::NodeId;

use crate::node_set::NodeSet;

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It goes its way, whatever the rules behind this one say.
    Pass,
    /// It is lost.
    Drop,
    /// It takes this much longer.
    Delay(Duration),
    /// A datagram comes twice; a connection takes no notice.
    Duplicate,
}

/// Says what becomes of packets between certain nodes.
///
/// # Examples
/// ```
/// use detsim_executor::Sim;
/// use detsim_net::{Net, Rule, Verdict};
/// let sim = Sim::new(7);
/// let [a, b] = ["a", "b"].map(|name| sim.node(name).id());
/// let net = Net::of(&sim);
/// // The third packet from a to b is lost, while the guard lives.
/// let _guard = net.add_rule(Rule::new(Verdict::Drop).from(a).to(b).skip(2).times(1));
/// ```
#[derive(Clone, Debug)]
pub struct Rule {
    verdict: Verdict,
    from: Option<Vec<NodeId>>,
    to: Option<Vec<NodeId>>,
    skip: u32,
    times: u32,
}

impl Rule {
    /// For every packet between two nodes.
    pub fn new(verdict: Verdict) -> Self {
        Self { verdict, from: None, to: None, skip: 0, times: u32::MAX }
    }

    /// Only for packets of these nodes.
    #[must_use]
    pub fn from(mut self, nodes: impl NodeSet) -> Self {
        self.from = Some(nodes.ids().to_vec());
        self
    }

    /// Only for packets to these nodes.
    #[must_use]
    pub fn to(mut self, nodes: impl NodeSet) -> Self {
        self.to = Some(nodes.ids().to_vec());
        self
    }

    /// Not for the first `packets` that it would meet.
    #[must_use]
    pub fn skip(mut self, packets: u32) -> Self {
        self.skip = packets;
        self
    }

    /// For `packets` and no more.
    #[must_use]
    pub fn times(mut self, packets: u32) -> Self {
        self.times = packets;
        self
    }

    fn meets(&self, from: NodeId, to: NodeId) -> bool {
        let has =
            |nodes: &Option<Vec<NodeId>>, node| nodes.as_ref().is_none_or(|n| n.contains(&node));
        self.times > 0 && has(&self.from, from) && has(&self.to, to)
    }
}

/// The rules in force, in the order they were added.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    list: Vec<(u32, Rule)>,
    added: u32,
}

impl Rules {
    /// One more; its number.
    pub(crate) fn add(&mut self, rule: Rule) -> u32 {
        self.added += 1;
        self.list.push((self.added, rule));
        self.added
    }

    /// Is none in force?
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// It is no longer in force.
    pub(crate) fn remove(&mut self, number: u32) {
        self.list.retain(|(other, _)| *other != number);
    }

    /// What becomes of a packet.
    pub(crate) fn judge(&mut self, from: NodeId, to: NodeId) -> Verdict {
        for (_, rule) in &mut self.list {
            if !rule.meets(from, to) {
                continue;
            }
            if rule.skip > 0 {
                rule.skip -= 1;
                continue;
            }
            rule.times -= 1;
            return rule.verdict;
        }
        Verdict::Pass
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_rule_that_meets_a_packet_decides() {
        let (a, b, c) = (NodeId(1), NodeId(2), NodeId(3));
        let mut rules = Rules::default();
        let delay = Verdict::Delay(Duration::from_millis(1));
        let first = rules.add(Rule::new(Verdict::Drop).from(a).to([b, c]).skip(1).times(2));
        rules.add(Rule::new(delay).to(b));
        let to_b: Vec<Verdict> = (0..4).map(|_| rules.judge(a, b)).collect();
        assert_eq!(to_b, [delay, Verdict::Drop, Verdict::Drop, delay]);
        assert_eq!((rules.judge(b, a), rules.judge(c, b)), (Verdict::Pass, delay));
        rules.add(Rule::new(Verdict::Drop).from(c));
        rules.remove(first);
        assert_eq!((rules.judge(c, a), rules.judge(a, c)), (Verdict::Drop, Verdict::Pass));
    }
}
