//! What must hold in a Raft cluster, checked after every event.
//!
//! Owns: the safety properties of figure 3 of the Raft paper, as a [`Checker`] that watches nodes
//! from outside. Does not own: progress (that is `crate::liveness`). It trusts nothing that a node
//! *says*: it looks at term, role, log and commit index, and compares them with what it saw
//! before.
//!
//! It looks only at what changed, so an event that moves nothing costs a few comparisons. Log
//! matching is checked by induction: an entry, named by index and term, must have the same command
//! and the same predecessor wherever and whenever it appears; then equal entries have equal pasts.

use std::collections::BTreeMap;
use std::fmt;

use crate::core::{Entry, Index, NODES, Node, NodeId, Position, Role, Term};

/// A property that does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Violation {
    /// Election safety: at most one leader in a term.
    TwoLeaders {
        /// The term.
        term: Term,
        /// Its first leader.
        first: NodeId,
        /// Its second leader.
        second: NodeId,
    },
    /// Log matching: logs that share an entry share all before it.
    LogMismatch {
        /// Whose log.
        node: NodeId,
        /// The shared entry.
        at: Position,
        /// The term of its predecessor, and the command, as first seen.
        first: (Term, u64),
        /// The same in this log.
        second: (Term, u64),
    },
    /// Leader completeness: a leader has every entry that was committed before.
    Incomplete {
        /// Who leads.
        leader: NodeId,
        /// Its term.
        term: Term,
        /// The committed entry that it lacks.
        lacks: Position,
    },
    /// A node took back an entry that it had committed.
    TakenBack {
        /// The node.
        node: NodeId,
        /// The entry's place.
        index: Index,
    },
    /// State machine safety: nodes commit the same entries.
    CommitsDiffer {
        /// Who committed last.
        node: NodeId,
        /// The place.
        index: Index,
        /// What was committed there first.
        first: Entry,
        /// What this node committed there.
        second: Entry,
    },
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TwoLeaders { term, first, second } => {
                write!(f, "{first} and {second} both lead term {term}")
            }
            Self::LogMismatch { node, at: Position { term, index }, first, second } => write!(
                f,
                "entry {index} of term {term} on {node} holds command {} after term {}, elsewhere \
                 command {} after term {}",
                second.1, second.0, first.1, first.0
            ),
            Self::Incomplete { leader, term, lacks } => write!(
                f,
                "{leader} leads term {term} without the committed entry {} of term {}",
                lacks.index, lacks.term
            ),
            Self::TakenBack { node, index } => {
                write!(f, "{node} took back entry {index}, which it had committed")
            }
            Self::CommitsDiffer { node, index, first, second } => write!(
                f,
                "{node} committed command {} of term {} as entry {index}, where command {} of \
                 term {} was committed before",
                second.command, second.term, first.command, first.term
            ),
        }
    }
}

/// Watches the nodes of one cluster.
///
/// # Invariants
/// Each mirror equals its node as of the last [`Checker::observe`] that passed.
#[derive(Clone, Debug, Default)]
pub struct Checker {
    mirrors: [Mirror; NODES],
    leaders: BTreeMap<Term, NodeId>,
    /// By index: the entry first seen there, and its predecessor's term.
    entries: Vec<(Entry, Term)>,
    /// Entries of other terms seen at an index later; few, because few are overwritten.
    rivals: BTreeMap<(Index, Term), (Term, u64)>,
    committed: Vec<Entry>,
}

/// What was last seen of a node.
#[derive(Clone, Debug, Default)]
struct Mirror {
    leads: Option<Term>,
    log: Vec<Entry>,
    commit: Index,
}

impl Checker {
    /// Compares a node with what was seen before. To be called after each of its steps.
    ///
    /// # Errors
    /// The first property found broken. The checker is of no use afterwards.
    pub fn observe(&mut self, node: &Node) -> Result<(), Violation> {
        let mirror = &self.mirrors[node.id().index()];
        let log = node.log().entries();
        if mirror.log.len() != log.len() || mirror.log.last() != log.last() {
            self.observe_log(node.id(), log)?;
        }
        let mirror = &self.mirrors[node.id().index()];
        if mirror.commit != node.commit() {
            self.observe_commits(node)?;
        }
        let leads = (node.role() == Role::Leader).then(|| node.term());
        if self.mirrors[node.id().index()].leads != leads {
            self.observe_leadership(node, leads)?;
        }
        Ok(())
    }

    /// Notes that a node lost what a crash takes: role and commit index.
    pub fn forget_volatile(&mut self, node: NodeId) {
        let mirror = &mut self.mirrors[node.index()];
        mirror.leads = None;
        mirror.commit = 0;
    }

    /// What the cluster has committed so far.
    pub fn committed(&self) -> &[Entry] {
        &self.committed
    }

    /// The leaders so far, by term.
    pub const fn leaders(&self) -> &BTreeMap<Term, NodeId> {
        &self.leaders
    }

    fn observe_log(&mut self, node: NodeId, log: &[Entry]) -> Result<(), Violation> {
        let Self { mirrors, entries, rivals, .. } = self;
        let mirror = &mut mirrors[node.index()];
        // Where the last common entry is equal, log matching makes all before it equal.
        let mut same = mirror.log.len().min(log.len());
        while same > 0 && mirror.log[same - 1] != log[same - 1] {
            same -= 1;
        }
        if (same as Index) < mirror.commit {
            return Err(Violation::TakenBack { node, index: same as Index + 1 });
        }
        mirror.log.truncate(same);
        for (at, &entry) in log.iter().enumerate().skip(same) {
            let before = if at == 0 { 0 } else { log[at - 1].term };
            let second = (before, entry.command);
            let index = at as Index + 1;
            let first = match entries.get(at) {
                Some((seen, before)) if seen.term == entry.term => (*before, seen.command),
                Some(_) => *rivals.entry((index, entry.term)).or_insert(second),
                None => {
                    entries.push((entry, before));
                    second
                }
            };
            if first != second {
                let at = Position { term: entry.term, index };
                return Err(Violation::LogMismatch { node, at, first, second });
            }
            mirror.log.push(entry);
        }
        Ok(())
    }

    fn observe_commits(&mut self, node: &Node) -> Result<(), Violation> {
        let mirror = &mut self.mirrors[node.id().index()];
        let range = mirror.commit as usize..node.commit() as usize;
        for (at, &second) in
            node.log().entries().iter().enumerate().take(range.end).skip(range.start)
        {
            let index = at as Index + 1;
            match self.committed.get(at) {
                None => self.committed.push(second),
                Some(&first) if first == second => {}
                Some(&first) => {
                    let node = node.id();
                    return Err(Violation::CommitsDiffer { node, index, first, second });
                }
            }
        }
        mirror.commit = node.commit();
        Ok(())
    }

    fn observe_leadership(&mut self, node: &Node, leads: Option<Term>) -> Result<(), Violation> {
        let leader = node.id();
        self.mirrors[leader.index()].leads = leads;
        let Some(term) = leads else { return Ok(()) };
        let first = *self.leaders.entry(term).or_insert(leader);
        if first != leader {
            return Err(Violation::TwoLeaders { term, first, second: leader });
        }
        // By log matching, who has the last committed entry has them all.
        let index = self.committed.len() as Index;
        let lacks = Position { term: self.committed.last().map_or(0, |entry| entry.term), index };
        if node.log().contains(lacks) {
            Ok(())
        } else {
            Err(Violation::Incomplete { leader, term, lacks })
        }
    }
}

#[cfg(test)]
mod tests;
