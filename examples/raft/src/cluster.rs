//! Five nodes, their disks and the checker that watches them.
//!
//! Owns: what the members of a cluster have in common whatever drives them. Does not own: clock,
//! timers or network; a driver feeds inputs to [`Cluster::step`] and carries out the sends and
//! timers that come back. Invariant: a disk has taken in every [`Output::Persist`] of its node
//! before the driver sees the outputs of that step.

use crate::core::{Body, Message, Term};
use crate::core::{Bug, Config, Input, NODES, Node, NodeId, NodeSet, Output, Persisted, Role};
use crate::invariants::{Checker, Violation};
use crate::story::{Story, What};

/// A whole cluster.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// What all nodes are told, but for who they are.
    config: Config,
    nodes: [Option<Node>; NODES],
    disks: [Persisted; NODES],
    checker: Checker,
    counts: Counts,
    story: Story,
    /// When the last step was.
    now_ns: u64,
}

/// How much happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Counts {
    /// Messages that reached a node that was up.
    pub messages: u64,
    /// Timers that fired on a node that was up.
    pub timers: u64,
    /// Commands handed to a node that was up.
    pub proposals: u64,
    /// Crashes.
    pub crashes: u64,
}

impl Counts {
    /// Messages and timers.
    pub const fn events(&self) -> u64 {
        self.messages + self.timers
    }
}

impl Cluster {
    /// Five nodes with new disks, all up. Feed each [`Input::Start`] first.
    pub fn new(bug: Bug) -> Self {
        Self::of(Config { bug, ..Config::new(NodeId::new(0)) })
    }

    /// As [`Self::new`], of nodes that are all told the same but for who they are.
    pub fn of(config: Config) -> Self {
        let told = |at| Config { id: NodeId::new(at), ..config };
        let node = |at| Node::new(told(at), Persisted::default());
        Self {
            config,
            nodes: std::array::from_fn(|at| Some(node(at))),
            disks: Default::default(),
            checker: Checker::default(),
            counts: Counts::default(),
            story: Story::default(),
            now_ns: 0,
        }
    }

    /// Feeds one input to one node and checks the invariants. Appends to `out` what the node wants;
    /// for a node that is down nothing happens.
    ///
    /// # Errors
    /// The invariant that the step broke.
    pub fn step(
        &mut self,
        id: NodeId,
        input: Input,
        now_ns: u64,
        jitter: &mut dyn FnMut(u64) -> u64,
        out: &mut Vec<Output>,
    ) -> Result<(), Violation> {
        let Some(node) = &mut self.nodes[id.index()] else { return Ok(()) };
        match input {
            Input::Start => {}
            Input::Message { .. } => self.counts.messages += 1,
            Input::Timer(_) => self.counts.timers += 1,
            Input::Propose(_) => self.counts.proposals += 1,
        }
        let seen = out.len();
        let before = (node.term(), node.role(), node.vote());
        node.step(input, now_ns, jitter, out);
        self.now_ns = now_ns;
        if before != (node.term(), node.role(), node.vote()) {
            tell(&mut self.story, node, before, now_ns);
        }
        for output in &out[seen..] {
            if let Output::Persist(change) = output {
                self.disks[id.index()].apply(change);
            }
        }
        self.checker.observe(node)
    }

    /// Takes a node down: what is not on its disk is lost.
    pub fn crash(&mut self, id: NodeId) {
        if self.nodes[id.index()].take().is_some() {
            self.counts.crashes += 1;
            self.story.tell(self.now_ns, id, What::Crashes);
        }
        self.checker.forget_volatile(id);
    }

    /// Brings a node up from its disk, if it is down; says whether it was. Feed it
    /// [`Input::Start`] next.
    pub fn restart(&mut self, id: NodeId) -> bool {
        let down = self.nodes[id.index()].is_none();
        if down {
            let disk = self.disks[id.index()].clone();
            self.story.tell(self.now_ns, id, What::Restarts(disk.term, disk.vote));
            self.nodes[id.index()] = Some(Node::new(Config { id, ..self.config }, disk));
        }
        down
    }

    /// The node, if it is up.
    pub const fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes[id.index()].as_ref()
    }

    /// The node's disk.
    pub const fn disk(&self, id: NodeId) -> &Persisted {
        &self.disks[id.index()]
    }

    /// The nodes that are up.
    pub fn up(&self) -> impl Iterator<Item = &Node> {
        self.nodes.iter().flatten()
    }

    /// The nodes that take themselves for leaders; after a partition there may be several.
    pub fn leaders(&self) -> NodeSet {
        let mut leaders = NodeSet::EMPTY;
        self.up().filter(|node| node.role() == Role::Leader).for_each(|n| leaders.insert(n.id()));
        leaders
    }

    /// The leader of the highest term.
    pub fn leader(&self) -> Option<NodeId> {
        let leaders = self.up().filter(|node| node.role() == Role::Leader);
        leaders.max_by_key(|node| node.term()).map(Node::id)
    }

    /// The highest term that a node is in.
    pub fn term(&self) -> Term {
        self.up().map(Node::term).max().unwrap_or(0)
    }

    /// What the checker has seen.
    pub const fn checker(&self) -> &Checker {
        &self.checker
    }

    /// What led up to now.
    pub const fn story(&self) -> &Story {
        &self.story
    }

    /// How much happened.
    pub const fn counts(&self) -> Counts {
        self.counts
    }
}

/// Tells of a vote or an election, where there was one.
#[cold]
fn tell(story: &mut Story, node: &Node, before: (Term, Role, Option<NodeId>), now_ns: u64) {
    let (term, role, vote) = before;
    if let Some(voted) = node.vote()
        && (node.term(), node.vote()) != (term, vote)
    {
        story.tell(now_ns, node.id(), What::Votes(node.term(), voted));
    }
    if node.role() == Role::Leader && role != Role::Leader {
        story.tell(now_ns, node.id(), What::Leads(node.term()));
    }
}

/// Whether among these outputs is a vote for somebody else.
pub fn grants_vote(out: &[Output]) -> bool {
    let grant = |body: &Body| matches!(body, Body::VoteReply { granted: true });
    out.iter().any(
        |output| matches!(output, Output::Send { message: Message { body, .. }, .. } if grant(body)),
    )
}
