//! Names of hosts.
//!
//! Owns: which name has which addresses, and what asking for them costs. Does not own: nodes; the name
//! of a node is a name here, with the addresses of the node, and so is its host name. Invariant: a
//! lookup draws from its own stream, so that one more of them shifts no packet.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use detsim_executor::event::{LookupFault, NetEvent};
use detsim_executor::{Anchor, Event, Kernel, NodeId, Ratio};

use crate::sockets::{Sockets, World};

/// The names that were given, and how lookups fail.
#[derive(Debug, Default)]
pub(crate) struct Names {
    given: BTreeMap<String, Vec<IpAddr>>,
    /// What names that were changed stood for before; none where they were not there.
    past: BTreeMap<String, Option<Vec<IpAddr>>>,
    /// The same of nodes that were given other addresses.
    moved: BTreeMap<NodeId, Vec<IpAddr>>,
    pub(crate) failure: Ratio,
    pub(crate) lag: Ratio,
    pub(crate) reorder: Ratio,
    pub(crate) stale: Ratio,
    asked: u32,
}

/// What a lookup comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lookup {
    /// How long it takes.
    pub takes: Duration,
    /// The addresses, in the order of the resolver.
    pub addresses: Result<Vec<IpAddr>, LookupError>,
}

/// Why a lookup fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookupError {
    /// There is no such name.
    Unknown,
    /// The resolver does not answer now; it may later.
    TryAgain,
}

/// A lookup that leaves the host takes this long, in nanoseconds.
const LATENCY_NS: std::ops::Range<u64> = 100_000..2_000_000;
/// One that lags takes so long, doubled so often: 62.5 ms to 8 s, which is past a resolver's own timeout.
const LAG_NS: u64 = 62_500_000;
const LAG_RUNGS: u64 = 8;
/// Ways to turn a list of addresses that are told apart: as many as a list of any length has.
const TURNS: u64 = 1 << 16;

/// How a resolver answers.
struct Asked {
    takes: Duration,
    fails: bool,
    is_stale: bool,
    /// By how much the addresses are turned; 0 where they are not.
    turns: u64,
}

impl Names {
    /// Gives a name other addresses; with none the name is no more.
    pub(crate) fn set(&mut self, name: &str, addresses: Vec<IpAddr>) {
        let name = name.to_ascii_lowercase();
        let before = match addresses.is_empty() {
            true => self.given.remove(&name),
            false => self.given.insert(name.clone(), addresses),
        };
        self.past.insert(name, before);
    }

    /// A node has other addresses from now on.
    pub(crate) fn moves(&mut self, node: NodeId, before: Vec<IpAddr>) {
        self.moved.insert(node, before);
    }
}

impl Sockets {
    /// Asks for the addresses of a name; `None` where the simulation has ended.
    pub fn lookup(&self, name: &str) -> Option<Lookup> {
        self.with(|world, kernel| world.lookup(kernel, name))
    }
}

impl World {
    fn lookup(&mut self, kernel: &mut Kernel, name: &str) -> Lookup {
        let name = name.trim_end_matches('.').to_ascii_lowercase();
        if name == "localhost" {
            let addresses = vec![Ipv6Addr::LOCALHOST.into(), Ipv4Addr::LOCALHOST.into()];
            return Lookup { takes: Duration::ZERO, addresses: Ok(addresses) };
        }
        let asked = self.ask(kernel);
        if asked.fails {
            let node = kernel.current_node();
            kernel.record_with(|_| Event::Net(NetEvent::LookupFailed { node }));
            return Lookup { takes: asked.takes, addresses: Err(LookupError::TryAgain) };
        }
        let now = self.addresses_of_name(kernel, &name);
        let answer = match self.past_of_name(kernel, &name) {
            Some(past) if asked.is_stale && past != now => {
                faulted(kernel, LookupFault::Stale);
                past
            }
            _ => now,
        };
        let mut addresses = answer.ok_or(LookupError::Unknown);
        if let Ok(addresses) = &mut addresses
            && addresses.len() > 1
            && asked.turns > 0
        {
            let by = 1 + asked.turns as usize % (addresses.len() - 1);
            addresses.rotate_left(by);
            faulted(kernel, LookupFault::Reordered);
        }
        Lookup { takes: asked.takes, addresses }
    }

    /// How the resolver answers, whatever it is asked for.
    fn ask(&mut self, kernel: &mut Kernel) -> Asked {
        let node = kernel.current_node();
        let names = &mut self.names;
        names.asked = names.asked.wrapping_add(1);
        let anchor = Anchor { actor: u64::from(node.0), ordinal: names.asked };
        let paused = kernel.is_clock_paused();
        let choices = kernel.choices();
        // Each draws from a stream of its own: a rate that is set shifts nothing else.
        let [latency, failure] = ["dns", "dns/failure"].map(|name| choices.domain(name));
        let mut ns =
            LATENCY_NS.start + choices.draw(latency, anchor, LATENCY_NS.end - LATENCY_NS.start, 0);
        let fails = choices.happens(failure, anchor, names.failure);
        let mut happens = |name: &str, rate: Ratio| {
            let drawn = (!rate.is_never()).then(|| choices.domain(name));
            drawn.filter(|domain| choices.happens(*domain, anchor, rate))
        };
        let is_stale = happens("dns/stale", names.stale).is_some();
        let lags = happens("dns/lag", names.lag);
        let reorders = happens("dns/order", names.reorder);
        let turns = reorders.map_or(0, |domain| 1 + choices.draw(domain, anchor, TURNS, 0));
        if let Some(domain) = lags {
            ns = LAG_NS << choices.draw(domain, anchor, LAG_RUNGS, 0);
            faulted(kernel, LookupFault::Lagged);
        }
        let takes = Duration::from_nanos(if paused { 0 } else { ns });
        Asked { takes, fails, is_stale, turns }
    }

    /// What a name stood for before it was changed; `None` where it was not.
    fn past_of_name(&self, kernel: &Kernel, name: &str) -> Option<Option<Vec<IpAddr>>> {
        if let Some(past) = self.names.past.get(name) {
            return Some(past.clone());
        }
        let node = self.node_of_name(kernel, name)?;
        self.names.moved.get(&node).cloned().map(Some)
    }

    fn addresses_of_name(&mut self, kernel: &Kernel, name: &str) -> Option<Vec<IpAddr>> {
        if let Some(given) = self.names.given.get(name) {
            return Some(given.clone());
        }
        let node = self.node_of_name(kernel, name)?;
        Some(self.ways.hosts.addresses(node).to_vec())
    }

    fn node_of_name(&self, kernel: &Kernel, name: &str) -> Option<NodeId> {
        let named = |node: &NodeId| {
            let known = kernel.node_name(*node).to_ascii_lowercase();
            known == name || self.hostnames.get(node).is_some_and(|host| host == name)
        };
        let nodes = (0..).map(NodeId).take_while(|node| kernel.node_state(*node).is_some());
        nodes.into_iter().find(named)
    }
}

fn faulted(kernel: &mut Kernel, fault: LookupFault) {
    let node = kernel.current_node();
    kernel.record_with(|_| Event::Net(NetEvent::LookupFaulted { node, fault }));
}
