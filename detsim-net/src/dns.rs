//! Names of hosts.
//!
//! Owns: which name has which addresses, and what asking for them costs. Does not own: nodes; the name
//! of a node is a name here, with the addresses of the node, and so is its host name. Invariant: a
//! lookup draws from its own stream, so that one more of them shifts no packet.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use detsim_executor::event::NetEvent;
use detsim_executor::{Anchor, Event, Kernel, NodeId, Ratio};

use crate::sockets::{Sockets, World};

/// The names that were given, and how lookups fail.
#[derive(Debug, Default)]
pub(crate) struct Names {
    given: BTreeMap<String, Vec<IpAddr>>,
    pub(crate) failure: Ratio,
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

impl Names {
    /// Gives a name other addresses; with none the name is no more.
    pub(crate) fn set(&mut self, name: &str, addresses: Vec<IpAddr>) {
        let name = name.to_ascii_lowercase();
        match addresses.is_empty() {
            true => self.given.remove(&name),
            false => self.given.insert(name, addresses),
        };
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
        let (takes, fails) = self.ask(kernel);
        let addresses = match self.addresses_of_name(kernel, &name) {
            _ if fails => Err(LookupError::TryAgain),
            Some(addresses) => Ok(addresses),
            None => Err(LookupError::Unknown),
        };
        Lookup { takes, addresses }
    }

    /// How long the resolver takes, and whether it fails.
    fn ask(&mut self, kernel: &mut Kernel) -> (Duration, bool) {
        let node = kernel.current_node();
        self.names.asked = self.names.asked.wrapping_add(1);
        let anchor = Anchor { actor: u64::from(node.0), ordinal: self.names.asked };
        let paused = kernel.is_clock_paused();
        let choices = kernel.choices();
        let (latency, failure) = (choices.domain("dns"), choices.domain("dns/failure"));
        let ns = choices.draw(latency, anchor, LATENCY_NS.end - LATENCY_NS.start, 0);
        let fails = choices.happens(failure, anchor, self.names.failure);
        if fails {
            kernel.record_with(|_| Event::Net(NetEvent::LookupFailed { node }));
        }
        let takes = if paused { 0 } else { LATENCY_NS.start + ns };
        (Duration::from_nanos(takes), fails)
    }

    fn addresses_of_name(&mut self, kernel: &Kernel, name: &str) -> Option<Vec<IpAddr>> {
        if let Some(given) = self.names.given.get(name) {
            return Some(given.clone());
        }
        let named = |number: &u16| {
            let node = NodeId(*number);
            let known = kernel.node_name(node).to_ascii_lowercase();
            known == name || self.hostnames.get(&node).is_some_and(|host| host == name)
        };
        let node = (0..).take_while(|n| kernel.node_state(NodeId(*n)).is_some()).find(named)?;
        Some(self.hosts.addresses(NodeId(node)).to_vec())
    }
}
