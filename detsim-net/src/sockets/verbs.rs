//! Faults of links that a scenario asks for by name: a bridge, a jam, a swizzle.
//!
//! Owns: [`Net::bridge`], [`Net::jam`] and [`Net::swizzle`], and the guard of the last. Does not own: what is cut,
//! which is the links' (`links.rs`), or what comes by itself (`weather.rs`). Invariant: when a guard is
//! dropped, the links that it cut are open, whatever was to happen to them yet.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use detsim_executor::{Anchor, NodeId, rng};

use super::faults::{Cut, Net};
use crate::link::Partition;
use crate::node_set::NodeSet;

impl Net {
    /// Cuts the nodes of `a` off from those of `b`, but for `bridge`, which hears both sides and is heard by
    /// both, until the guard is dropped.
    ///
    /// # Panics
    /// Where `bridge` is part of a side, or a node was never made.
    #[track_caller]
    pub fn bridge(&self, a: impl NodeSet, bridge: NodeId, b: impl NodeSet) -> Cut {
        let is_apart = !a.ids().contains(&bridge) && !b.ids().contains(&bridge);
        assert!(
            is_apart,
            "detsim: node {bridge} is the bridge between two sides and part of one; leave it out of both"
        );
        self.cut(a, b)
    }

    /// Holds what is sent between the nodes of `a` and those of `b`, both ways, until the guard is dropped; then
    /// it arrives in a burst, in its order. Nothing is lost, whatever partitions do
    /// ([`Net::set_partition_rule`]).
    ///
    /// # Panics
    /// Where a node was never made.
    #[track_caller]
    pub fn jam(&self, a: impl NodeSet, b: impl NodeSet) -> Cut {
        self.jam_one_way(&a, &b);
        self.jam_one_way(&b, &a);
        Cut { net: self.clone(), sides: [a.ids().to_vec(), b.ids().to_vec()] }
    }

    /// Holds what is sent from the nodes of `from` to those of `to`, until the links are healed; the other way
    /// stays as it is.
    ///
    /// # Panics
    /// Where a node was never made.
    #[track_caller]
    pub fn jam_one_way(&self, from: impl NodeSet, to: impl NodeSet) {
        self.cut_one_way(from.ids(), to.ids(), Some(Partition::Hold));
    }

    /// Jams the nodes of `nodes` off from all others one by one, at moments of the first half of `time`, and
    /// lets them back one by one, at moments of the second half: links come and go in another order than they
    /// went. When each goes and comes is drawn from the stream `net/swizzle`; unless drawn, all go at once
    /// and come back together, after half of the time. All are back when the guard is dropped.
    ///
    /// # Panics
    /// Where a node was never made.
    ///
    /// # Examples
    /// ```
    /// use detsim_executor::Sim;
    /// use detsim_net::Net;
    /// use std::time::Duration;
    /// let sim = Sim::new(7);
    /// let nodes = ["n1", "n2", "n3"].map(|name| sim.node(name).id());
    /// let swizzle = Net::of(&sim).swizzle(&nodes[..2], Duration::from_secs(10));
    /// sim.run_for(Duration::from_secs(10)).unwrap();
    /// drop(swizzle);
    /// ```
    #[track_caller]
    pub fn swizzle(&self, nodes: impl NodeSet, time: Duration) -> Swizzle {
        let half_ns = (u64::try_from(time.as_nanos()).unwrap_or(u64::MAX) / 2).max(1);
        let swizzle =
            Swizzle { net: self.clone(), silent: Rc::new(RefCell::new(Some(Vec::new()))) };
        for node in nodes.ids().iter().copied() {
            let [goes_ns, comes_ns] = self.with(|_, kernel| {
                let domain = kernel.choices().domain("net/swizzle");
                let actor = rng::hash_bytes(kernel.node_name(node).as_bytes());
                let anchor = Anchor { actor, ordinal: 0 };
                [0, half_ns].map(|from| from + kernel.choices().draw(domain, anchor, half_ns, 0))
            });
            let (goes, comes) = (swizzle.handle(), swizzle.handle());
            self.sim.after(Duration::from_nanos(goes_ns), move || goes.silence(node));
            self.sim.after(Duration::from_nanos(comes_ns), move || comes.let_back(node));
        }
        swizzle
    }
}

/// A swizzle that is under way; see [`Net::swizzle`].
#[derive(Debug)]
#[must_use = "all nodes are let back when this is dropped"]
pub struct Swizzle {
    net: Net,
    silent: Silent,
}

/// Who is jammed off now; `None` once the swizzle is over.
type Silent = Rc<RefCell<Option<Vec<NodeId>>>>;

/// What a swizzle does later.
struct Handle {
    net: Net,
    silent: Silent,
}

impl Swizzle {
    fn handle(&self) -> Handle {
        Handle { net: self.net.clone(), silent: Rc::clone(&self.silent) }
    }
}

impl Handle {
    fn silence(&self, node: NodeId) {
        let silent = &mut *self.silent.borrow_mut();
        let Some(silent) = silent else { return };
        silent.push(node);
        let others = self.net.others(&[node]);
        self.net.jam_one_way(node, &others);
        self.net.jam_one_way(&others, node);
    }

    /// Whoever is silent still does not hear it either.
    fn let_back(&self, node: NodeId) {
        let silent = &mut *self.silent.borrow_mut();
        let Some(silent) = silent else { return };
        silent.retain(|known| *known != node);
        let apart: Vec<NodeId> = silent.iter().copied().chain([node]).collect();
        self.net.heal(node, self.net.others(&apart));
    }
}

impl Drop for Swizzle {
    fn drop(&mut self) {
        let silent = self.silent.borrow_mut().take().unwrap_or_default();
        if self.net.sim.is_alive() {
            for node in silent {
                self.net.heal(node, self.net.others(&[node]));
            }
        }
    }
}
