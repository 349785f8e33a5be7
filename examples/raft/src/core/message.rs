//! What nodes say to each other.
//!
//! Owns: node names, sets of them, messages. Does not own: how a message travels or what it
//! does to its receiver. A message without entries allocates nothing, and a clone never copies
//! entries, so that telling four peers the same thing costs four small copies.

use std::fmt;

use super::log::{Entries, Index, Position, Term};

/// The size of the cluster.
pub const NODES: usize = 5;
/// The fewest nodes of which any two groups have one in common.
pub const MAJORITY: usize = NODES / 2 + 1;

/// A member of the cluster, `0..NODES`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(u8);

impl NodeId {
    /// The node of this number.
    ///
    /// # Panics
    /// Where `number` is not below [`NODES`].
    #[track_caller]
    pub const fn new(number: usize) -> Self {
        assert!(number < NODES, "a cluster has the nodes 0 to 4");
        Self(number as u8)
    }

    /// The number, for use as an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Every member, in order.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..NODES).map(Self::new)
    }

    /// Every member but this one, in order.
    pub fn peers(self) -> impl Iterator<Item = Self> {
        Self::all().filter(move |&other| other != self)
    }
}

/// Counted from 1, as a simulation counts its nodes.
impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "n{}", self.0 + 1)
    }
}

impl fmt::Debug for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A set of nodes.
///
/// # Examples
/// ```
/// use raft::core::{NodeId, NodeSet};
/// let mut votes = NodeSet::only(NodeId::new(0));
/// votes.insert(NodeId::new(3));
/// votes.insert(NodeId::new(3));
/// assert!(!votes.is_majority());
/// votes.insert(NodeId::new(4));
/// assert!(votes.is_majority());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeSet(u8);

impl NodeSet {
    /// Nobody.
    pub const EMPTY: Self = Self(0);

    /// One node.
    pub const fn only(node: NodeId) -> Self {
        Self(1 << node.0)
    }

    /// Adds a node.
    pub const fn insert(&mut self, node: NodeId) {
        self.0 |= 1 << node.0;
    }

    /// Whether the node is in the set.
    pub const fn contains(self, node: NodeId) -> bool {
        self.0 & (1 << node.0) != 0
    }

    /// Whether any two such sets have a node in common.
    pub const fn is_majority(self) -> bool {
        self.0.count_ones() as usize >= MAJORITY
    }

    /// The members, in order.
    pub fn iter(self) -> impl Iterator<Item = NodeId> {
        NodeId::all().filter(move |&node| self.contains(node))
    }

    /// Everybody else.
    pub fn complement(self) -> Self {
        let mut rest = Self::EMPTY;
        NodeId::all().filter(|&node| !self.contains(node)).for_each(|node| rest.insert(node));
        rest
    }
}

/// One message: a term and what is said in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The sender's term. In [`Body::PreVote`] and its grant: the term that is asked about.
    pub term: Term,
    /// What is said.
    pub body: Body,
}

/// What a message says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// "Would you vote for me?" Changes nothing at the receiver.
    PreVote {
        /// Where the sender's log ends.
        last: Position,
    },
    /// The answer to [`Body::PreVote`].
    PreVoteReply {
        /// Whether the sender would.
        granted: bool,
    },
    /// "Vote for me."
    Vote {
        /// Where the candidate's log ends.
        last: Position,
    },
    /// The answer to [`Body::Vote`].
    VoteReply {
        /// Whether the sender has.
        granted: bool,
    },
    /// The leader's entries after `prev`; without entries it is a heartbeat.
    Append {
        /// The entry that `entries` follow.
        prev: Position,
        /// How far the leader has committed.
        commit: Index,
        /// What follows `prev`.
        entries: Entries,
    },
    /// [`Body::Append`] was taken.
    Appended {
        /// The sender's log agrees with the leader's up to here.
        matched: Index,
    },
    /// [`Body::Append`] was refused: the sender has no entry `prev`.
    Mismatch {
        /// The logs may agree up to here, certainly not further.
        hint: Index,
    },
}

impl Body {
    /// Whether a receiver in a lower term moves to the message's term: everything but a question
    /// about a term that nobody is in yet, and its grant.
    pub(super) fn moves_term(&self) -> bool {
        !matches!(self, Self::PreVote { .. } | Self::PreVoteReply { granted: true })
    }
}
