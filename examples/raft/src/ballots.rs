//! Faults that strike where votes are cast.
//!
//! Owns: the two moments of an election that matter, and what may go wrong in them: whoever stands
//! is cut off with a companion, or whoever votes crashes. Does not own: how a fault is carried out.
//! Invariant: a node is down for longer than a message is ever on its way. So a node that forgot its
//! vote is asked a second time only by a candidate that was behind a partition in between.

use crate::cluster::grants_vote;
use crate::core::{NODES, Node, NodeId, Output, Role};
use crate::plan::MS;

/// What a step did in an election.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ballot {
    /// The node stands.
    Stands,
    /// It gave its vote to another.
    VotesFor(NodeId),
}

/// What goes wrong then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strike {
    /// The node is cut off from all but its companion.
    Cut {
        /// Its own name for nobody.
        companion: NodeId,
        /// For how long.
        for_ns: u64,
    },
    /// The node loses its power.
    Crash {
        /// For how long.
        down_ns: u64,
    },
}

/// How often it does.
pub const STRIKE_RATE: f64 = 0.3;

/// The least time that a node is down: messages take 8 ms at most.
const DOWN_NS_MIN: u64 = 20 * MS;

impl Ballot {
    /// What a step of `node`, whose role was `before`, did in an election, if anything.
    pub fn cast(before: Option<Role>, node: &Node, out: &[Output]) -> Option<Self> {
        match node.role() {
            Role::Candidate => (before != Some(Role::Candidate)).then_some(Self::Stands),
            _ => node.vote().filter(|_| grants_vote(out)).map(Self::VotesFor),
        }
    }

    /// Draws what may go wrong; `below` is given a bound and returns a number below it.
    pub fn strike(self, below: &mut dyn FnMut(u64) -> u64) -> Strike {
        match self {
            Self::Stands => Strike::Cut {
                companion: NodeId::new(below(NODES as u64) as usize),
                for_ns: 40 * MS + below(120 * MS),
            },
            Self::VotesFor(_) => Strike::Crash { down_ns: DOWN_NS_MIN + below(60 * MS) },
        }
    }

    /// What is told of it.
    pub fn told(self, who: NodeId, strike: Strike) -> String {
        let doing = match self {
            Self::Stands => "stands for election and".to_owned(),
            Self::VotesFor(whom) => format!("votes for {whom} and"),
        };
        match strike {
            Strike::Cut { companion, for_ns } if companion == who => {
                format!("{who} {doing} is cut off from all others for {} ms", for_ns.div_ceil(MS))
            }
            Strike::Cut { companion, for_ns } => format!(
                "{who} {doing} is cut off from all but {companion} for {} ms",
                for_ns.div_ceil(MS)
            ),
            Strike::Crash { down_ns } => {
                format!("{who} {doing} crashes for {} ms", down_ns.div_ceil(MS))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn every_strike_is_told() {
        let [a, b] = [0, 1].map(NodeId::new);
        let cut = |companion| Strike::Cut { companion, for_ns: 90 * MS };
        let told = [
            Ballot::Stands.told(a, cut(b)),
            Ballot::Stands.told(a, cut(a)),
            Ballot::VotesFor(b).told(a, Strike::Crash { down_ns: 24 * MS - 1 }),
        ];
        expect![[r#"
            n1 stands for election and is cut off from all but n2 for 90 ms
            n1 stands for election and is cut off from all others for 90 ms
            n1 votes for n2 and crashes for 24 ms"#]]
        .assert_eq(&told.join("\n"));
    }
}
