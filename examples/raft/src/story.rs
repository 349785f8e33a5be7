//! What led up to something: the last votes, elections, crashes and restarts.
//!
//! Owns: a short memory of what changed hands, told as one line each. Does not own: the checks.
//! Invariant: it keeps [`KEPT_MAX`] turns at most, whatever the length of a run.

use std::collections::VecDeque;
use std::fmt;

use crate::core::{NodeId, Term};

/// How many turns are kept.
pub const KEPT_MAX: usize = 12;

/// The last turns of a run, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Story {
    turns: VecDeque<Turn>,
    told: u64,
}

/// Something that a person would tell of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// When, in nanoseconds.
    pub at_ns: u64,
    /// Whose doing.
    pub node: NodeId,
    /// What.
    pub what: What,
}

/// What a node did, or what was done to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// It lost all that was not on its disk.
    Crashes,
    /// It was elected.
    Leads(Term),
    /// It came up with what was on its disk: a term, and the vote in it.
    Restarts(Term, Option<NodeId>),
    /// It gave its vote.
    Votes(Term, NodeId),
}

impl Story {
    /// One more turn; the oldest is forgotten.
    pub fn tell(&mut self, at_ns: u64, node: NodeId, what: What) {
        if self.turns.len() == KEPT_MAX {
            self.turns.pop_front();
        }
        self.turns.push_back(Turn { at_ns, node, what });
        self.told += 1;
    }

    /// How many turns were told so far, those included that are forgotten.
    pub fn told(&self) -> u64 {
        self.told
    }

    /// The turns, oldest first.
    pub fn turns(&self) -> impl Iterator<Item = &Turn> {
        self.turns.iter()
    }
}

impl fmt::Display for Story {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.turns.iter().try_for_each(|turn| writeln!(f, "  {turn}"))
    }
}

impl fmt::Display for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, micros) = (self.at_ns / 1_000_000_000, self.at_ns / 1_000 % 1_000_000);
        write!(f, "{seconds}.{micros:06}s  {} {}", self.node, self.what)
    }
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Crashes => f.write_str("crashes"),
            Self::Leads(term) => write!(f, "leads term {term}"),
            Self::Restarts(term, None) => {
                write!(f, "restarts in term {term}: its disk knows of no vote in it")
            }
            Self::Restarts(term, Some(vote)) => {
                write!(f, "restarts in term {term}: its disk knows of its vote for {vote}")
            }
            Self::Votes(term, vote) => write!(f, "votes for {vote} in term {term}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn a_story_is_short_and_in_order() {
        let mut story = Story::default();
        let (a, b) = (NodeId::new(0), NodeId::new(1));
        (0..20).for_each(|ms| story.tell(ms * 1_000_000, a, What::Crashes));
        assert_eq!(story.turns().count(), KEPT_MAX);
        story.tell(153_036_000, a, What::Votes(1, b));
        story.tell(1_000_000_000, b, What::Leads(1));
        story.tell(1_000_001_000, b, What::Restarts(1, None));
        let lines: Vec<String> = story.turns().skip(8).map(ToString::to_string).collect();
        expect![[r#"
            0.019000s  n1 crashes
            0.153036s  n1 votes for n2 in term 1
            1.000000s  n2 leads term 1
            1.000001s  n2 restarts in term 1: its disk knows of no vote in it"#]]
        .assert_eq(&lines.join("\n"));
    }
}
