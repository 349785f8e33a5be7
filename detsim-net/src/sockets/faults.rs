//! What a scenario does to the links under sockets.
//!
//! Owns: [`Net`], the handle of a scenario. Does not own: what a link does (`link.rs`). Nothing here
//! touches loopback.

use std::net::IpAddr;
use std::time::Duration;

use detsim_executor::{Kernel, NodeId, Ratio, Sim, context};

use super::{Sockets, World};
use crate::link::{LinkConfig, Partition};
use crate::links::{check, known};
use crate::node_set::NodeSet;
use crate::rule::Rule;
use crate::settings::{delay_range, drop_rate, duplicate_rate};

/// The network under the sockets of a simulation, in the hands of a scenario.
///
/// Cheap to clone, and usable from callbacks and tasks. It stays on its thread, as [`Sim`] does.
///
/// # Panics
/// Every method panics where the simulation has ended.
#[derive(Clone, Debug)]
pub struct Net {
    pub(super) sim: Sim,
    sockets: Sockets,
}

impl Net {
    /// The network of a simulation.
    #[track_caller]
    pub fn of(sim: &Sim) -> Self {
        Self { sim: sim.clone(), sockets: Sockets::of(sim) }
    }

    /// The network of the simulation that runs on this thread; `None` where none runs.
    pub fn current() -> Option<Self> {
        context::sim().map(|sim| Self::of(&sim))
    }

    /// How long packets that are sent from now on take, on every link: between `min` and `max`, both
    /// included, evenly drawn. 0.1 to 1 ms at first.
    ///
    /// # Panics
    /// Where `min > max`, or `max` is longer than 584 years.
    #[track_caller]
    pub fn set_delay_range(&self, min: Duration, max: Duration) {
        self.set(&delay_range(min, max));
    }

    /// The rate, in `0.0..=1.0`, at which each link loses packets, applied when one is sent and when
    /// it is due. A connection loses no bytes for it: it loses time.
    ///
    /// # Panics
    /// Where `rate` is no number in `0.0..=1.0`.
    #[track_caller]
    pub fn set_drop_rate(&self, rate: f64) {
        self.set(&drop_rate(rate));
    }

    /// The rate, in `0.0..=1.0`, at which each link makes a copy of a datagram. A connection takes
    /// no notice of copies.
    ///
    /// # Panics
    /// Where `rate` is no number in `0.0..=1.0`.
    #[track_caller]
    pub fn set_duplicate_rate(&self, rate: f64) {
        self.set(&duplicate_rate(rate));
    }

    /// Cuts every link between the nodes of `a` and those of `b`, both ways. Connections live on: they
    /// send again until the links are open, or for a quarter of an hour.
    ///
    /// # Panics
    /// Where a node was never made.
    #[track_caller]
    pub fn partition(&self, a: impl NodeSet, b: impl NodeSet) {
        self.partition_one_way(&a, &b);
        self.partition_one_way(&b, &a);
    }

    /// Cuts every link from the nodes of `from` to those of `to`; the other way stays as it is.
    ///
    /// # Panics
    /// Where a node was never made.
    #[track_caller]
    pub fn partition_one_way(&self, from: impl NodeSet, to: impl NodeSet) {
        self.cut_one_way(from.ids(), to.ids(), None);
    }

    /// Cuts by this rule, or by that of partitions.
    #[track_caller]
    pub(super) fn cut_one_way(&self, from: &[NodeId], to: &[NodeId], rule: Option<Partition>) {
        let cut = |world: &mut World, kernel: &mut Kernel| {
            let cut = world.ways.links.cut(kernel, from, to, rule.unwrap_or(world.rule));
            world.doubt_peers(kernel);
            cut
        };
        known(self.with(cut));
    }

    /// As [`Self::partition`], until the guard is dropped.
    ///
    /// # Panics
    /// Where a node was never made.
    #[track_caller]
    pub fn cut(&self, a: impl NodeSet, b: impl NodeSet) -> Cut {
        self.partition(&a, &b);
        Cut { net: self.clone(), sides: [a.ids().to_vec(), b.ids().to_vec()] }
    }

    /// Cuts the nodes of `nodes` off from all others, until the guard is dropped.
    ///
    /// # Panics
    /// Where a node was never made.
    #[track_caller]
    pub fn isolate(&self, nodes: impl NodeSet) -> Cut {
        let others = self.others(nodes.ids());
        self.cut(nodes, others)
    }

    /// All nodes but these.
    #[track_caller]
    pub(super) fn others(&self, nodes: &[NodeId]) -> Vec<NodeId> {
        self.with(|_, kernel| {
            let known = (0..).map(NodeId).take_while(|node| kernel.node_state(*node).is_some());
            known.filter(|node| !nodes.contains(node)).collect()
        })
    }

    /// Puts a rule for packets in force, until the guard is dropped.
    #[track_caller]
    pub fn add_rule(&self, rule: Rule) -> RuleGuard {
        let number = self.with(|world, _| world.ways.rules.add(rule));
        RuleGuard { net: self.clone(), number }
    }

    /// The rate, in `0.0..=1.0`, at which sending a segment from one node to another resets its
    /// connection: at the sender, at the receiver, or at both. The other end hears of it when it sends.
    ///
    /// # Panics
    /// Where `rate` is no number in `0.0..=1.0`.
    #[track_caller]
    pub fn set_reset_rate(&self, rate: f64) {
        let resets = Ratio::from_rate("the reset rate", rate);
        self.with(|world, _| world.resets = resets);
    }

    /// The sockets of all nodes as a table, a line a socket; empty where there is none. The report of a
    /// run that fails has it as well.
    ///
    /// Columns, states and queues are those of Linux's `ss`: a listener's are the connections that wait to
    /// be accepted, and its backlog; a connection's are the bytes that nobody has read yet, and those that
    /// the peer has not acknowledged. The last column has the tasks that wait for it, each behind what it
    /// waits to do; where none does, those that used it last, or the line that made it. What a host still has of connections whose programs closed them
    /// is there too.
    #[track_caller]
    pub fn netstat(&self) -> String {
        self.with(|world, kernel| world.netstat(kernel))
    }

    /// Opens every link between the nodes of `a` and those of `b`, both ways, at their own speed.
    ///
    /// # Panics
    /// Where a node was never made.
    #[track_caller]
    pub fn heal(&self, a: impl NodeSet, b: impl NodeSet) {
        self.heal_one_way(&a, &b);
        self.heal_one_way(&b, &a);
    }

    /// Opens every link from the nodes of `from` to those of `to`.
    ///
    /// # Panics
    /// Where a node was never made.
    #[track_caller]
    pub fn heal_one_way(&self, from: impl NodeSet, to: impl NodeSet) {
        let open = |world: &mut World, kernel: &mut Kernel| {
            let opened = world.ways.links.open(kernel, from.ids(), to.ids());
            world.release(kernel);
            opened
        };
        known(self.with(open));
    }

    /// Opens every link.
    #[track_caller]
    pub fn heal_all(&self) {
        self.with(|world, kernel| {
            world.ways.links.open_all(kernel);
            world.release(kernel);
        });
    }

    /// What the partitions that begin from now on do with packets; at first they drop them.
    #[track_caller]
    pub fn set_partition_rule(&self, rule: Partition) {
        self.with(|world, _| world.rule = rule);
    }

    /// Gives a node other addresses than those of its number.
    ///
    /// # Panics
    /// Where another node has one of them, or `node` was never made.
    #[track_caller]
    pub fn set_addresses(&self, node: NodeId, addresses: impl Into<Vec<IpAddr>>) {
        let addresses = addresses.into();
        let set = self.with(|world, kernel| {
            known(check(kernel, node));
            let before = world.ways.hosts.addresses(node).to_vec();
            world
                .ways
                .hosts
                .set_addresses(node, addresses)
                .inspect(|()| world.names.moves(node, before))
        });
        assert!(set.is_ok(), "detsim: an address of node {node} is another's; each has one owner");
    }

    /// The addresses of a node: 10.0.x.y and fd00::n by its number, unless it was given others.
    ///
    /// # Panics
    /// Where `node` was never made.
    #[track_caller]
    pub fn addresses(&self, node: NodeId) -> Vec<IpAddr> {
        self.with(|world, kernel| {
            known(check(kernel, node));
            world.ways.hosts.addresses(node).to_vec()
        })
    }

    /// Gives a node a host name beside its own; both can be looked up.
    ///
    /// # Panics
    /// Where `node` was never made.
    #[track_caller]
    pub fn set_hostname(&self, node: NodeId, name: &str) {
        self.with(|world, kernel| {
            known(check(kernel, node));
            world.hostnames.insert(node, name.to_ascii_lowercase());
        });
    }

    /// Says what a name resolves to from now on; with no addresses, to nothing. Who has looked it up
    /// keeps what it was told.
    #[track_caller]
    pub fn set_name(&self, name: &str, addresses: impl Into<Vec<IpAddr>>) {
        self.with(|world, _| world.names.set(name, addresses.into()));
    }

    /// The rate, in `0.0..=1.0`, at which lookups fail for now.
    ///
    /// # Panics
    /// Where `rate` is no number in `0.0..=1.0`.
    #[track_caller]
    pub fn set_lookup_failure_rate(&self, rate: f64) {
        let failure = Ratio::from_rate("the failure rate", rate);
        self.with(|world, _| world.names.failure = failure);
    }

    /// The rate, in `0.0..=1.0`, at which lookups take 62.5 ms, twice as long, .. or 8 s.
    ///
    /// # Panics
    /// Where `rate` is no number in `0.0..=1.0`.
    #[track_caller]
    pub fn set_lookup_lag_rate(&self, rate: f64) {
        let lag = Ratio::from_rate("the lag rate", rate);
        self.with(|world, _| world.names.lag = lag);
    }

    /// The rate, in `0.0..=1.0`, at which a lookup is answered with what the name stood for before its
    /// last change, by [`Self::set_name`] or [`Self::set_addresses`].
    ///
    /// # Panics
    /// Where `rate` is no number in `0.0..=1.0`.
    #[track_caller]
    pub fn set_lookup_stale_rate(&self, rate: f64) {
        let stale = Ratio::from_rate("the stale rate", rate);
        self.with(|world, _| world.names.stale = stale);
    }

    /// The rate, in `0.0..=1.0`, at which another address of several comes first.
    ///
    /// # Panics
    /// Where `rate` is no number in `0.0..=1.0`.
    #[track_caller]
    pub fn set_lookup_reorder_rate(&self, rate: f64) {
        let reorder = Ratio::from_rate("the reorder rate", rate);
        self.with(|world, _| world.names.reorder = reorder);
    }

    #[track_caller]
    pub(super) fn set(&self, change: &dyn Fn(&mut LinkConfig)) {
        self.with(|world, kernel| world.ways.links.configure_all(kernel, change));
    }

    #[track_caller]
    pub(super) fn with<R>(&self, f: impl FnOnce(&mut World, &mut Kernel) -> R) -> R {
        let result = self.sim.enter(|| self.sockets.with(f));
        result.expect("invariant: inside its simulation a network has a kernel")
    }
}

impl World {
    /// Links have opened: what was held goes on.
    pub(super) fn release(&mut self, kernel: &mut Kernel) {
        self.release_lanes(kernel);
        self.release_parcels(kernel);
    }
}

/// A partition, or links that are slow, until this is dropped: then they are healed.
#[derive(Debug)]
#[must_use = "the links heal when this is dropped"]
pub struct Cut {
    pub(super) net: Net,
    pub(super) sides: [Vec<NodeId>; 2],
}

impl Drop for Cut {
    fn drop(&mut self) {
        if self.net.sim.is_alive() {
            let [a, b] = &self.sides;
            self.net.heal(a, b);
        }
    }
}

/// A rule that is in force until this is dropped.
#[derive(Debug)]
#[must_use = "the rule ends when this is dropped"]
pub struct RuleGuard {
    net: Net,
    number: u32,
}

impl Drop for RuleGuard {
    fn drop(&mut self) {
        if self.net.sim.is_alive() {
            self.net.with(|world, _| world.ways.rules.remove(self.number));
        }
    }
}
