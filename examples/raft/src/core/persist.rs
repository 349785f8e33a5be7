//! What survives a crash.
//!
//! Owns: the durable state and the two changes to it. Does not own: a disk. A driver carries out
//! each [`Persist`] before any output that follows it: a vote or an entry that was promised to a
//! peer and then forgotten is how clusters lose data.

use super::log::{Entries, Index, Log, Term};
use super::message::NodeId;

/// A change that must be durable before the outputs that follow it are carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Persist {
    /// The node is in this term and has voted so in it.
    Vote {
        /// The term.
        term: Term,
        /// Whom the node has voted for in it.
        vote: Option<NodeId>,
    },
    /// The log continues so.
    Entries {
        /// What lies behind this index is replaced.
        after: Index,
        /// By these.
        entries: Entries,
    },
}

/// What a node finds on its disk when it starts; the default is a new disk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Persisted {
    /// The latest term the node has been in.
    pub term: Term,
    /// Whom it has voted for in that term.
    pub vote: Option<NodeId>,
    /// Its log.
    pub log: Log,
}

impl Persisted {
    /// Takes in one change.
    ///
    /// # Examples
    /// ```
    /// use raft::core::{NodeId, Persist, Persisted};
    /// let mut disk = Persisted::default();
    /// disk.apply(&Persist::Vote { term: 3, vote: Some(NodeId::new(1)) });
    /// assert_eq!(disk.term, 3);
    /// ```
    pub fn apply(&mut self, change: &Persist) {
        match change {
            Persist::Vote { term, vote } => (self.term, self.vote) = (*term, *vote),
            Persist::Entries { after, entries } => self.log.replace_after(*after, entries),
        }
    }
}
