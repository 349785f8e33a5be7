//! What goes wrong in a run, and when.
//!
//! Owns: the phases of a run (normal until 3 s, trouble until 5 s, healed until 8 s) and the faults
//! in them, drawn once per run. Does not own: how a fault is carried out. A plan is plain data, so a
//! failing run can say what was done to it.

use std::fmt;

use crate::core::{NODES, NodeId};

/// When the trouble begins.
pub const TROUBLE_NS: u64 = 3_000 * MS;
/// When everything is whole again.
pub const HEALED_NS: u64 = 5_000 * MS;
/// When the run is over.
pub const END_NS: u64 = 8_000 * MS;
/// Nanoseconds of a millisecond.
pub const MS: u64 = 1_000_000;

/// How often a leader crashes in a run of elections.
const LEADER_CRASHES: usize = 4;

/// Whom a fault is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The leader of the highest term at that time; node 0 where there is none.
    Leader,
    /// This node.
    Node(NodeId),
}

/// One thing to do to the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Cut the target off, with one companion or alone.
    Split {
        /// Who.
        who: Target,
        /// Who stays with it; the target's own name for nobody.
        companion: NodeId,
    },
    /// From now on the target can send but not hear.
    Deafen(Target),
    /// Mend all links.
    Heal,
    /// Take the target down for a while.
    Crash {
        /// Who.
        who: Target,
        /// For how long.
        down_ns: u64,
    },
    /// Take the node that casts the next vote for another down, right after it did.
    CrashNextVoter {
        /// For how long.
        down_ns: u64,
    },
    /// Remember how far the cluster has come.
    Mark,
    /// Since the mark something was committed.
    ExpectProgress,
    /// Since the mark nobody was unseated.
    ExpectCalm,
    /// All nodes are up, follow one leader and have all that was committed by the mark.
    ExpectAgreement,
}

impl Target {
    fn shown(self) -> String {
        match self {
            Self::Leader => "the leader".to_owned(),
            Self::Node(id) => id.to_string(),
        }
    }
}

impl Action {
    /// What is told of a fault; `None` for whatever is none.
    fn fault(self) -> Option<String> {
        Some(match self {
            Self::Split { who, companion } => {
                format!("{} is cut off, {companion} with it", who.shown())
            }
            Self::Deafen(who) => format!("{} hears nobody any more", who.shown()),
            Self::Crash { who, down_ns } => {
                format!("{} crashes for {} ms", who.shown(), down_ns.div_ceil(MS))
            }
            Self::CrashNextVoter { down_ns } => {
                format!("the next voter crashes for {} ms, its vote cast", down_ns.div_ceil(MS))
            }
            Self::Heal
            | Self::Mark
            | Self::ExpectProgress
            | Self::ExpectCalm
            | Self::ExpectAgreement => return None,
        })
    }
}

/// The trouble of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The leader is cut off with one other node.
    Split,
    /// One node cannot hear.
    OneWay,
    /// Partitions and crashes follow each other.
    Churn,
    /// Leaders crash, and what goes wrong beside does so at the elections that follow.
    Elections,
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Split => "split",
            Self::OneWay => "one-way",
            Self::Churn => "churn",
            Self::Elections => "elections",
        })
    }
}

/// All that goes wrong in one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Its kind.
    pub trouble: Trouble,
    /// What to do and when, in order of time.
    pub actions: Vec<(u64, Action)>,
}

impl Plan {
    /// Draws a plan; `below` is given a bound and returns a number below it.
    pub fn draw(below: &mut dyn FnMut(u64) -> u64) -> Self {
        let (trouble, plan): (_, fn(&mut Actions, Below<'_>)) = match below(4) {
            0 => (Trouble::Split, split),
            1 => (Trouble::OneWay, one_way),
            _ => (Trouble::Churn, churn),
        };
        let mut actions = Vec::with_capacity(32);
        early_crashes(&mut actions, below);
        plan(&mut actions, below);
        actions.push((HEALED_NS, Action::Heal));
        actions.push((END_NS - 1_000 * MS, Action::Mark));
        actions.push((END_NS, Action::ExpectProgress));
        actions.push((END_NS, Action::ExpectAgreement));
        Self { trouble, actions }
    }

    /// Draws a plan that has leaders crash, for longer than a message is on its way, and no more.
    pub fn draw_elections(below: &mut dyn FnMut(u64) -> u64) -> Self {
        let mut actions = Vec::with_capacity(LEADER_CRASHES);
        for second in 1..=LEADER_CRASHES as u64 {
            let at_ns = second * 1_000 * MS + below(1_000 * MS);
            let down_ns = 20 * MS + below(200 * MS);
            actions.push((at_ns, Action::Crash { who: Target::Leader, down_ns }));
        }
        Self { trouble: Trouble::Elections, actions }
    }

    /// The same plan without the faults that `happens` turns down, each told as `n3 crashes .. at
    /// 3.2s`.
    pub fn with_faults(mut self, happens: &mut dyn FnMut(&str) -> bool) -> Self {
        self.actions.retain(|(at_ns, action)| match action.fault() {
            None => true,
            Some(what) => happens(&format!("at {} ms {what}", at_ns / MS)),
        });
        self
    }

    /// The same plan without its expectations, for networks so bad that nothing can be expected.
    pub fn safety_only(mut self) -> Self {
        self.actions.retain(|(_, action)| {
            !matches!(action, Action::ExpectProgress | Action::ExpectCalm | Action::ExpectAgreement)
        });
        self
    }
}

/// How long the client pauses. It is in less of a hurry while there is trouble, so that a leader
/// may come and go with nothing of its own to commit.
pub fn client_pause_ns(now_ns: u64, below: &mut dyn FnMut(u64) -> u64) -> u64 {
    let troubled = (TROUBLE_NS..HEALED_NS).contains(&now_ns);
    let least_ns = if troubled { 50 * MS } else { 20 * MS };
    least_ns + below(3 * least_ns)
}

type Below<'a> = &'a mut dyn FnMut(u64) -> u64;
type Actions = Vec<(u64, Action)>;

fn early_crashes(actions: &mut Actions, below: Below<'_>) {
    actions.push((0, Action::CrashNextVoter { down_ns: MS + below(10 * MS) }));
    let down_ns = 20 * MS + below(200 * MS);
    let who = if below(2) == 0 { Target::Leader } else { anyone(below) };
    actions.push((1_000 * MS + below(1_500 * MS), Action::Crash { who, down_ns }));
}

fn split(actions: &mut Actions, below: Below<'_>) {
    actions.push((TROUBLE_NS, Action::CrashNextVoter { down_ns: MS + below(10 * MS) }));
    actions.push((TROUBLE_NS, Action::Split { who: Target::Leader, companion: any_node(below) }));
    actions.push((HEALED_NS - 1_000 * MS, Action::Mark));
    actions.push((HEALED_NS, Action::ExpectProgress));
}

fn one_way(actions: &mut Actions, below: Below<'_>) {
    let who = if below(4) == 0 { Target::Leader } else { anyone(below) };
    actions.push((TROUBLE_NS, Action::Deafen(who)));
    actions.push((HEALED_NS - 1_000 * MS, Action::Mark));
    actions.push((HEALED_NS, Action::ExpectProgress));
    actions.push((HEALED_NS, Action::ExpectCalm));
}

fn churn(actions: &mut Actions, below: Below<'_>) {
    let mut at_ns = TROUBLE_NS;
    while at_ns < HEALED_NS - 100 * MS {
        actions.push((at_ns, Action::Heal));
        match below(4) {
            0 => {
                let down_ns = 50 * MS + below(300 * MS);
                actions.push((at_ns, Action::Crash { who: Target::Leader, down_ns }));
            }
            1 => actions.push((at_ns, Action::CrashNextVoter { down_ns: MS + below(10 * MS) })),
            _ => {
                let companion = any_node(below);
                actions.push((at_ns, Action::Split { who: Target::Leader, companion }));
            }
        }
        at_ns += 100 * MS + below(300 * MS);
    }
}

fn any_node(below: Below<'_>) -> NodeId {
    NodeId::new(below(NODES as u64) as usize)
}

fn anyone(below: Below<'_>) -> Target {
    Target::Node(any_node(below))
}

#[cfg(test)]
mod tests;
