//! What must come about in a Raft cluster, checked at the times a plan names.
//!
//! Owns: progress, calm and agreement, measured from a mark. Does not own: safety (that is
//! [`crate::invariants`]) or when these may be expected (that is [`crate::plan`]).

use std::fmt;

use crate::cluster::Cluster;
use crate::core::{Index, Node, NodeId, Term};

/// Something that should have come about and did not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stall {
    /// Nothing was committed.
    NoProgress {
        /// How many entries are committed.
        committed: Index,
    },
    /// Leaders were unseated.
    NoCalm {
        /// The highest term at the mark.
        from: Term,
        /// The highest term now.
        to: Term,
    },
    /// Nodes do not follow one leader.
    NoCommonLeader {
        /// One node.
        node: NodeId,
        /// Whom it follows, and in which term.
        follows: (Option<NodeId>, Term),
        /// The leader of the highest term, and that term.
        leader: (Option<NodeId>, Term),
    },
    /// A node does not know what was committed by the mark.
    Behind {
        /// The node.
        node: NodeId,
        /// How far it knows the log to be committed.
        commit: Index,
        /// How far it was committed at the mark.
        expected: Index,
    },
}

impl fmt::Display for Stall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |id: Option<NodeId>| id.map_or("nobody".to_owned(), |id| id.to_string());
        match *self {
            Self::NoProgress { committed } => {
                write!(f, "nothing was committed for a second, after {committed} entries")
            }
            Self::NoCalm { from, to } => {
                write!(f, "no stable leader: terms rose from {from} to {to} within a second")
            }
            Self::NoCommonLeader { node, follows, leader } => write!(
                f,
                "{node} follows {} in term {} while {} leads term {}",
                name(follows.0),
                follows.1,
                name(leader.0),
                leader.1
            ),
            Self::Behind { node, commit, expected } => write!(
                f,
                "{node} knows of {commit} committed entries, a second after {expected} were"
            ),
        }
    }
}

/// How far a cluster had come.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mark {
    term: Term,
    committed: Index,
}

impl Mark {
    /// Marks the cluster as it is.
    pub fn of(cluster: &Cluster) -> Self {
        Self { term: cluster.term(), committed: committed(cluster) }
    }

    /// Something was committed since.
    ///
    /// # Errors
    /// [`Stall::NoProgress`].
    pub fn expect_progress(&self, cluster: &Cluster) -> Result<(), Stall> {
        let committed = committed(cluster);
        if committed > self.committed { Ok(()) } else { Err(Stall::NoProgress { committed }) }
    }

    /// At most one election was held since.
    ///
    /// # Errors
    /// [`Stall::NoCalm`].
    pub fn expect_calm(&self, cluster: &Cluster) -> Result<(), Stall> {
        let to = cluster.term();
        if to <= self.term + 1 { Ok(()) } else { Err(Stall::NoCalm { from: self.term, to }) }
    }

    /// Every node that is up follows the same leader, and knows what was committed by the mark.
    ///
    /// # Errors
    /// [`Stall::NoCommonLeader`] or [`Stall::Behind`].
    pub fn expect_agreement(&self, cluster: &Cluster) -> Result<(), Stall> {
        let leader = (cluster.leader(), cluster.term());
        cluster.up().try_for_each(|node| self.expect_in_line(node, leader))
    }

    fn expect_in_line(&self, node: &Node, leader: (Option<NodeId>, Term)) -> Result<(), Stall> {
        let follows = (node.leader(), node.term());
        if follows != leader || follows.0.is_none() {
            return Err(Stall::NoCommonLeader { node: node.id(), follows, leader });
        }
        let (commit, expected) = (node.commit(), self.committed);
        if commit < expected {
            return Err(Stall::Behind { node: node.id(), commit, expected });
        }
        Ok(())
    }
}

fn committed(cluster: &Cluster) -> Index {
    cluster.checker().committed().len() as Index
}
