//! One Raft node as a machine without I/O.
//!
//! Owns: the protocol of the Raft paper (election, replication, commit) with pre-vote and
//! quorum check. Does not own: clock, network, disk or randomness. A driver calls
//! [`Node::step`] with what happened and carries out, in order, what comes back; the same node
//! runs on a simulation's callbacks and in a task of an async runtime.
//!
//! A leader adds no entry of its own: entries of earlier terms are committed by the first
//! proposal of its term.
//!
//! # Timers
//! A timer is asked for once and never cancelled. A heartbeat that arrives only moves a deadline;
//! when the timer fires before it, the node asks for another. So a follower that hears thirty
//! heartbeats a second sets six timers. A timer that fires early, twice, or for an earlier life
//! of the node does no harm.
//!
//! # Planted bugs
//! [`Bug`] switches on one of three classic mistakes; each is one branch, marked `PLANTED BUG`.

mod election;
mod log;
mod message;
mod persist;
mod replication;

pub use log::{BATCH, Entries, Entry, Index, Log, Position, Term};
pub use message::{Body, MAJORITY, Message, NODES, NodeId, NodeSet};
pub use persist::{Persist, Persisted};

use std::fmt;
use std::str::FromStr;

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// The node begins its life. Always the first input, once.
    Start,
    /// A message arrived.
    Message {
        /// Who sent it.
        from: NodeId,
        /// What it says.
        message: Message,
    },
    /// A timer fired that [`Output::SetTimer`] asked for.
    Timer(Timer),
    /// A client asks for a command to be put into the log.
    Propose(u64),
}

/// What the driver has to do. The order of outputs is part of their meaning, see [`Persist`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Make this durable before going on.
    Persist(Persist),
    /// Send this.
    Send {
        /// To whom.
        to: NodeId,
        /// What.
        message: Message,
    },
    /// Feed [`Input::Timer`] back, not before this time.
    SetTimer {
        /// Which timer.
        timer: Timer,
        /// When, on the clock that `step` is told.
        at_ns: u64,
    },
    /// This entry is committed: apply it. Entries come in order, each once in a node's life.
    Committed {
        /// Its place.
        index: Index,
        /// The entry.
        entry: Entry,
    },
    /// The proposal was not taken, because this node does not lead.
    Refused {
        /// What was proposed.
        command: u64,
        /// Who may lead.
        leader: Option<NodeId>,
    },
}

/// The two timers of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timer {
    /// No leader was heard of; for a leader: not enough followers were.
    Election,
    /// The leader speaks; a candidate asks again.
    Heartbeat,
}

/// What a node takes itself for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Follows a leader, or waits for one.
    Follower,
    /// Asks whether an election could be won.
    PreCandidate,
    /// Stands for election.
    Candidate,
    /// Leads its term.
    Leader,
}

/// A mistake to switch on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bug {
    /// The node is correct.
    #[default]
    None,
    /// A restarted node has forgotten whom it voted for.
    VoteNotPersisted,
    /// A leader commits an entry of an earlier term as soon as a majority has it (figure 8).
    CommitOldTermByCounting,
    /// A node that cannot hear starts elections all the same, and unseats every leader.
    OneWayLivelock,
}

impl Bug {
    const NAMES: [(&'static str, Self); 4] = [
        ("none", Self::None),
        ("vote-not-persisted", Self::VoteNotPersisted),
        ("commit-old-term-by-counting", Self::CommitOldTermByCounting),
        ("one-way-livelock", Self::OneWayLivelock),
    ];
}

impl fmt::Display for Bug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::NAMES.iter().find(|(_, bug)| bug == self).map(|(name, _)| name);
        f.write_str(name.expect("invariant: every bug has a name"))
    }
}

impl FromStr for Bug {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::NAMES.iter().find(|(name, _)| *name == text).map(|&(_, bug)| bug);
        found.ok_or_else(|| {
            let names = Self::NAMES.map(|(name, _)| name).join(", ");
            format!("no bug is called {text:?}; the names are {names}")
        })
    }
}

/// What a node is told once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Who it is.
    pub id: NodeId,
    /// How often a leader speaks.
    pub heartbeat_ns: u64,
    /// How long a silence is long enough for an election; each node waits up to twice as long.
    pub election_ns: u64,
    /// Whether a candidate asks those again that have not given it their vote, as often as a leader
    /// speaks: requests are lost behind a partition.
    pub asks_again: bool,
    /// The mistake it makes.
    pub bug: Bug,
}

impl Config {
    /// A correct node with a heartbeat every 38 ms and elections after 120 to 240 ms, which asks for
    /// each vote once.
    pub const fn new(id: NodeId) -> Self {
        let (heartbeat_ns, election_ns) = (38_000_000, 120_000_000);
        Self { id, heartbeat_ns, election_ns, asks_again: false, bug: Bug::None }
    }
}

/// One node.
///
/// # Invariants
/// `commit` never exceeds the log's length; as a leader `matched[p] < next[p] <= last + 1` for
/// each peer `p`, and `matched` holds the node's own last index at its own place.
///
/// # Examples
/// ```
/// use raft::core::{Config, Input, Node, NodeId, Output, Persisted, Timer};
/// let mut node = Node::new(Config::new(NodeId::new(0)), Persisted::default());
/// let mut out = Vec::new();
/// node.step(Input::Start, 0, &mut |_bound| 7, &mut out);
/// assert_eq!(out, [Output::SetTimer { timer: Timer::Election, at_ns: 120_000_007 }]);
/// ```
#[derive(Clone, Debug)]
pub struct Node {
    config: Config,
    // Durable.
    term: Term,
    vote: Option<NodeId>,
    log: Log,
    // Lost in a crash.
    role: Role,
    leader: Option<NodeId>,
    leader_heard_ns: u64,
    commit: Index,
    /// Who granted a (pre-)vote; for a leader: who answered since the last quorum check.
    answers: NodeSet,
    next: [Index; NODES],
    matched: [Index; NODES],
    clock: Deadlines,
}

/// The election deadline and the timers that are on their way.
#[derive(Clone, Debug)]
struct Deadlines {
    timeout_ns: u64,
    election_ns: u64,
    armed_ns: [u64; 2],
}

/// No timer is on its way.
const UNARMED: u64 = u64::MAX;

/// What one step is given.
struct Step<'a> {
    now_ns: u64,
    jitter: &'a mut dyn FnMut(u64) -> u64,
    out: &'a mut Vec<Output>,
}

impl Node {
    /// A node that finds `disk`, before [`Input::Start`].
    pub fn new(config: Config, disk: Persisted) -> Self {
        Self {
            config,
            term: disk.term,
            vote: disk.vote,
            log: disk.log,
            role: Role::Follower,
            leader: None,
            leader_heard_ns: 0,
            commit: 0,
            answers: NodeSet::EMPTY,
            next: [1; NODES],
            matched: [0; NODES],
            clock: Deadlines { timeout_ns: 0, election_ns: 0, armed_ns: [UNARMED; 2] },
        }
    }

    /// Takes in what happened at `now_ns` and appends to `out` what is to be done about it.
    ///
    /// `jitter` is given a bound and returns a number below it; it decides how long the node
    /// waits for its next election, and is asked only when an election has begun or ended.
    pub fn step(
        &mut self,
        input: Input,
        now_ns: u64,
        jitter: &mut dyn FnMut(u64) -> u64,
        out: &mut Vec<Output>,
    ) {
        let mut step = Step { now_ns, jitter, out };
        match input {
            Input::Start => self.await_election(&mut step),
            Input::Message { from, message } => self.handle_message(from, message, &mut step),
            Input::Timer(timer) => self.handle_timer(timer, &mut step),
            Input::Propose(command) => self.handle_proposal(command, &mut step),
        }
    }

    /// Who this is.
    pub const fn id(&self) -> NodeId {
        self.config.id
    }

    /// The term the node is in.
    pub const fn term(&self) -> Term {
        self.term
    }

    /// Whom it has voted for in its term.
    #[inline]
    pub const fn vote(&self) -> Option<NodeId> {
        self.vote
    }

    /// What it takes itself for.
    pub const fn role(&self) -> Role {
        self.role
    }

    /// Whom it takes for the leader.
    pub const fn leader(&self) -> Option<NodeId> {
        self.leader
    }

    /// How far it knows the log to be committed.
    pub const fn commit(&self) -> Index {
        self.commit
    }

    /// Its log.
    pub const fn log(&self) -> &Log {
        &self.log
    }

    fn handle_message(&mut self, from: NodeId, message: Message, step: &mut Step<'_>) {
        let Message { term, body } = message;
        if term > self.term && body.moves_term() {
            self.enter_term(term, step);
        }
        match body {
            Body::PreVote { last } => self.handle_pre_vote(from, term, last, step),
            Body::PreVoteReply { granted } => {
                self.handle_pre_vote_reply(from, term, granted, step);
            }
            Body::Vote { last } => self.handle_vote(from, term, last, step),
            Body::VoteReply { granted } => self.handle_vote_reply(from, term, granted, step),
            Body::Append { prev, commit, entries } if term == self.term => {
                self.handle_append(from, prev, commit, entries, step);
            }
            // A leader of the past: the answer's term tells it so.
            Body::Append { .. } => self.send(from, Body::Mismatch { hint: 0 }, step),
            Body::Appended { matched } => self.handle_appended(from, term, matched, step),
            Body::Mismatch { hint } => self.handle_mismatch(from, term, hint, step),
        }
    }

    fn handle_timer(&mut self, timer: Timer, step: &mut Step<'_>) {
        let armed_ns = &mut self.clock.armed_ns[timer as usize];
        if step.now_ns < *armed_ns {
            return;
        }
        *armed_ns = UNARMED;
        match timer {
            Timer::Heartbeat if self.role == Role::Leader => self.send_heartbeats(step),
            Timer::Heartbeat if self.role == Role::Candidate => self.ask_for_votes(step),
            Timer::Heartbeat => {}
            Timer::Election if step.now_ns < self.clock.election_ns => {
                self.arm(Timer::Election, self.clock.election_ns, step);
            }
            Timer::Election => self.handle_silence(step),
        }
    }

    fn send(&self, to: NodeId, body: Body, step: &mut Step<'_>) {
        step.out.push(Output::Send { to, message: Message { term: self.term, body } });
    }

    /// Asks for a timer, unless one comes early enough anyway.
    fn arm(&mut self, timer: Timer, at_ns: u64, step: &mut Step<'_>) {
        let armed_ns = &mut self.clock.armed_ns[timer as usize];
        if at_ns < *armed_ns {
            *armed_ns = at_ns;
            step.out.push(Output::SetTimer { timer, at_ns });
        }
    }
}

#[cfg(test)]
mod tests;
