//! Nodes with addresses.
//!
//! Owns: [`NodeBuilder`]. Does not own: nodes, which are the kernel's, nor the network, which is
//! `detsim-net`'s.

use std::net::IpAddr;

use detsim_executor::{Node, Sim, Skew};
use detsim_net::Net;

/// Makes a node with a name, addresses and a host name of its own.
///
/// A node that is made without one has the addresses 10.0.x.y and fd00::n of its number, and its name
/// can be looked up.
///
/// # Examples
/// ```
/// use detsim::{Net, NodeBuilder, Sim};
/// let sim = Sim::new(7);
/// let node = NodeBuilder::new("db").ip("10.7.0.1".parse().unwrap()).hostname("db.test").build(&sim);
/// assert_eq!(Net::of(&sim).addresses(node.id()).len(), 1);
/// ```
#[derive(Clone, Debug)]
#[must_use = "a node is made by `build`"]
pub struct NodeBuilder {
    name: String,
    addresses: Vec<IpAddr>,
    hostname: Option<String>,
    clock_offset: Option<Skew>,
    clock_drift_ppm: i32,
}

impl NodeBuilder {
    /// For a node of this name.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            addresses: Vec::new(),
            hostname: None,
            clock_offset: None,
            clock_drift_ppm: 0,
        }
    }

    /// Gives it one more address. With at least one it has none by its number.
    pub fn ip(mut self, address: IpAddr) -> Self {
        self.addresses.push(address);
        self
    }

    /// Gives it a host name beside its name; both can be looked up.
    pub fn hostname(mut self, name: impl Into<String>) -> Self {
        self.hostname = Some(name.into());
        self
    }

    /// Its date is off by so much from the beginning: see [`Node::set_clock_offset`].
    pub fn clock_offset(mut self, offset: Skew) -> Self {
        self.clock_offset = Some(offset);
        self
    }

    /// Its clock gains so many microseconds in a second: see [`Node::set_clock_drift`].
    pub fn clock_drift(mut self, drift_ppm: i32) -> Self {
        self.clock_drift_ppm = drift_ppm;
        self
    }

    /// Makes the node, or gives the one of this name these addresses.
    ///
    /// # Panics
    /// Where another node has one of the addresses, or the simulation has ended.
    #[track_caller]
    pub fn build(self, sim: &Sim) -> Node {
        let (node, net) = (sim.node(&self.name), Net::of(sim));
        if !self.addresses.is_empty() {
            net.set_addresses(node.id(), self.addresses);
        }
        if let Some(name) = &self.hostname {
            net.set_hostname(node.id(), name);
        }
        if let Some(offset) = self.clock_offset {
            node.set_clock_offset(offset);
        }
        if self.clock_drift_ppm != 0 {
            node.set_clock_drift(self.clock_drift_ppm);
        }
        node
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use detsim_net::Sockets;

    #[test]
    fn a_node_is_found_by_both_names_at_its_addresses() {
        let sim = Sim::new(1);
        let address: IpAddr = "10.7.0.1".parse().unwrap();
        let _node = NodeBuilder::new("db").ip(address).hostname("db.test").build(&sim);
        let other = NodeBuilder::new("web").build(&sim);
        let found = sim.block_on(async {
            let sockets = Sockets::current().unwrap();
            ["db", "DB.test", "web", "none"].map(|name| sockets.lookup(name).unwrap().addresses)
        });
        let [db, by_host, web, none] = found.unwrap();
        assert_eq!((db.as_deref(), by_host.as_deref()), (Ok(&[address][..]), Ok(&[address][..])));
        assert_eq!(web.unwrap(), Net::of(&sim).addresses(other.id()));
        assert!(none.is_err());
    }
}
