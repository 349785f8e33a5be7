//! Sets of nodes, as they come.
//!
//! Owns: [`NodeSet`], so that a partition takes one node, an array, a slice or a vector alike.

use detsim_executor::NodeId;

/// One or several nodes: a [`NodeId`], or an array, slice or vector of them.
pub trait NodeSet {
    /// The nodes.
    fn ids(&self) -> &[NodeId];
}

impl NodeSet for NodeId {
    fn ids(&self) -> &[NodeId] {
        std::slice::from_ref(self)
    }
}

impl NodeSet for [NodeId] {
    fn ids(&self) -> &[NodeId] {
        self
    }
}

impl<const N: usize> NodeSet for [NodeId; N] {
    fn ids(&self) -> &[NodeId] {
        self
    }
}

impl NodeSet for Vec<NodeId> {
    fn ids(&self) -> &[NodeId] {
        self
    }
}

impl<T: NodeSet + ?Sized> NodeSet for &T {
    fn ids(&self) -> &[NodeId] {
        (**self).ids()
    }
}
