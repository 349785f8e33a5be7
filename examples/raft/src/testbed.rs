//! The smallest driver there is: an ordered queue of events, links that can be cut, and a
//! generator of numbers. Tests of the core run on it, without any simulator.

use std::collections::BTreeMap;

use crate::cluster::{Cluster, grants_vote};
use crate::core::{
    Body, Bug, Config, Input, Message, NODES, Node, NodeId, NodeSet, Output, Persisted,
};
use crate::core::{Entry, Role, Term, Timer};
use crate::finding::Finding;
use crate::liveness::Mark;
use crate::plan::{Action, END_NS, MS, Plan, Target, client_pause_ns};

#[derive(Clone, Debug)]
enum Event {
    Input(NodeId, Input),
    Restart(NodeId),
    Client,
    Action(Action),
}

/// A generator of numbers (SplitMix64).
#[derive(Debug)]
pub(crate) struct Numbers(u64);

impl Numbers {
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((u128::from(word ^ (word >> 31)) * u128::from(bound)) >> 64) as u64
    }
}

pub(crate) struct Testbed {
    pub(crate) cluster: Cluster,
    pub(crate) now_ns: u64,
    pub(crate) hash: u64,
    queue: BTreeMap<(u64, u64), Event>,
    queued: u64,
    numbers: Numbers,
    deaf_to: [NodeSet; NODES],
    out: Vec<Output>,
    next_voter_down_ns: Option<u64>,
    mark: Mark,
    commands: u64,
}

impl Testbed {
    /// Five nodes about to start, messages that take 1 to 8 ms, no faults and no client.
    pub(crate) fn new(seed: u64, bug: Bug) -> Self {
        let mut testbed = Self {
            cluster: Cluster::new(bug),
            now_ns: 0,
            hash: 0,
            queue: BTreeMap::new(),
            queued: 0,
            numbers: Numbers(seed.wrapping_mul(0x2545_F491_4F6C_DD1D)),
            deaf_to: [NodeSet::EMPTY; NODES],
            out: Vec::new(),
            next_voter_down_ns: None,
            mark: Mark::default(),
            commands: 0,
        };
        for id in NodeId::all() {
            testbed.after(0, Event::Input(id, Input::Start));
        }
        testbed
    }

    /// Adds a client, and the faults of a plan drawn from the same seed.
    pub(crate) fn with_plan(mut self) -> Self {
        let plan = Plan::draw(&mut |bound| self.numbers.below(bound));
        for (at_ns, action) in plan.actions {
            self.after(at_ns, Event::Action(action));
        }
        self.after(0, Event::Client);
        self
    }

    /// A whole run.
    pub(crate) fn run(&mut self) -> Result<(), Finding> {
        self.run_until(END_NS)
    }

    pub(crate) fn run_until(&mut self, end_ns: u64) -> Result<(), Finding> {
        while let Some(next) = self.queue.first_entry() {
            if next.key().0 > end_ns {
                break;
            }
            let ((at_ns, _), event) = next.remove_entry();
            self.now_ns = at_ns;
            self.handle(event)?;
        }
        self.now_ns = end_ns;
        Ok(())
    }

    pub(crate) fn propose(&mut self, id: NodeId, command: u64) -> Result<(), Finding> {
        self.step(id, Input::Propose(command))
    }

    pub(crate) fn act(&mut self, action: Action) -> Result<(), Finding> {
        match action {
            Action::Split { who, companion } => {
                let mut side = NodeSet::only(self.pick(who));
                side.insert(companion);
                self.cut(side, side.complement());
                self.cut(side.complement(), side);
            }
            Action::Deafen(who) => {
                let who = NodeSet::only(self.pick(who));
                self.cut(who.complement(), who);
            }
            Action::Heal => self.deaf_to = [NodeSet::EMPTY; NODES],
            Action::Crash { who, down_ns } => self.crash(self.pick(who), down_ns),
            Action::CrashNextVoter { down_ns } => self.next_voter_down_ns = Some(down_ns),
            Action::Mark => self.mark = Mark::of(&self.cluster),
            Action::ExpectProgress => self.mark.expect_progress(&self.cluster)?,
            Action::ExpectCalm => self.mark.expect_calm(&self.cluster)?,
            Action::ExpectAgreement => self.mark.expect_agreement(&self.cluster)?,
        }
        Ok(())
    }

    fn handle(&mut self, event: Event) -> Result<(), Finding> {
        match event {
            Event::Input(to, Input::Message { from, .. })
                if self.deaf_to[to.index()].contains(from) => {}
            Event::Input(id, input) => self.step(id, input)?,
            Event::Restart(id) => {
                if self.cluster.restart(id) {
                    self.step(id, Input::Start)?;
                }
            }
            Event::Client => self.speak_as_client()?,
            Event::Action(action) => self.act(action)?,
        }
        Ok(())
    }

    /// Proposes to everybody who takes itself for a leader.
    fn speak_as_client(&mut self) -> Result<(), Finding> {
        for id in self.cluster.leaders().iter() {
            self.commands += 1;
            self.propose(id, self.commands)?;
        }
        let pause_ns = client_pause_ns(self.now_ns, &mut |bound| self.numbers.below(bound));
        self.after(pause_ns, Event::Client);
        Ok(())
    }

    fn step(&mut self, id: NodeId, input: Input) -> Result<(), Finding> {
        self.note(id);
        let mut out = std::mem::take(&mut self.out);
        let Self { cluster, numbers, now_ns, .. } = self;
        cluster.step(id, input, *now_ns, &mut |bound| numbers.below(bound), &mut out)?;
        if let Some(down_ns) = self.next_voter_down_ns.take_if(|_| grants_vote(&out)) {
            self.crash(id, down_ns);
        }
        for output in out.drain(..) {
            self.carry_out(id, output);
        }
        self.out = out;
        Ok(())
    }

    fn carry_out(&mut self, from: NodeId, output: Output) {
        match output {
            Output::Send { to, message } => {
                let delay_ns = MS + self.numbers.below(7 * MS);
                self.after(delay_ns, Event::Input(to, Input::Message { from, message }));
            }
            Output::SetTimer { timer, at_ns } => {
                self.after(at_ns - self.now_ns, Event::Input(from, Input::Timer(timer)));
            }
            Output::Persist(_) | Output::Committed { .. } | Output::Refused { .. } => {}
        }
    }

    fn crash(&mut self, id: NodeId, down_ns: u64) {
        self.cluster.crash(id);
        self.after(down_ns, Event::Restart(id));
    }

    fn cut(&mut self, from: NodeSet, to: NodeSet) {
        for to in to.iter() {
            from.iter().for_each(|from| self.deaf_to[to.index()].insert(from));
        }
    }

    fn pick(&self, target: Target) -> NodeId {
        match target {
            Target::Node(id) => id,
            Target::Leader => self.cluster.leader().unwrap_or(NodeId::new(0)),
        }
    }

    fn note(&mut self, id: NodeId) {
        let word = self.now_ns ^ ((id.index() as u64) << 56);
        self.hash = (self.hash.rotate_left(5) ^ word).wrapping_mul(0x517C_C1B7_2722_0A95);
    }

    fn after(&mut self, delay_ns: u64, event: Event) {
        self.queued += 1;
        self.queue.insert((self.now_ns + delay_ns, self.queued), event);
    }
}

/// One node by itself, whose peers are the test.
#[derive(Debug)]
pub(crate) struct Solo {
    pub(crate) node: Node,
    pub(crate) disk: Persisted,
    pub(crate) now_ns: u64,
}

impl Solo {
    /// A node that has started from `disk`.
    pub(crate) fn start(id: usize, disk: Persisted, bug: Bug) -> Self {
        let config = Config { bug, ..Config::new(NodeId::new(id)) };
        let mut solo = Self { node: Node::new(config, disk.clone()), disk, now_ns: 0 };
        solo.step(Input::Start);
        solo
    }

    /// The same node after a crash.
    pub(crate) fn restart(self, bug: Bug) -> Self {
        Self::start(self.node.id().index(), self.disk, bug)
    }

    /// Feeds one input, keeps what is to be kept, and returns the outputs.
    pub(crate) fn step(&mut self, input: Input) -> Vec<Output> {
        let mut out = Vec::new();
        self.node.step(input, self.now_ns, &mut |_| 0, &mut out);
        for output in &out {
            if let Output::Persist(change) = output {
                self.disk.apply(change);
            }
        }
        out
    }

    /// Feeds one message and returns what the node sends.
    pub(crate) fn hear(&mut self, from: usize, term: Term, body: Body) -> Vec<(NodeId, Message)> {
        let from = NodeId::new(from);
        sends(self.step(Input::Message { from, message: Message { term, body } }))
    }

    /// Lets the election timeout pass and returns what the node sends.
    pub(crate) fn wait(&mut self) -> Vec<(NodeId, Message)> {
        self.now_ns += 240_000_000;
        sends(self.step(Input::Timer(Timer::Election)))
    }

    /// Makes the node the leader of the next term, with the votes of nodes 3 and 4.
    pub(crate) fn elect(&mut self) -> Vec<(NodeId, Message)> {
        self.wait();
        let term = self.node.term() + 1;
        for peer in [3, 4] {
            self.hear(peer, term, Body::PreVoteReply { granted: true });
        }
        self.hear(3, term, Body::VoteReply { granted: true });
        let sent = self.hear(4, term, Body::VoteReply { granted: true });
        assert_eq!((self.node.role(), self.node.term()), (Role::Leader, term));
        sent
    }
}

/// The messages among the outputs.
pub(crate) fn sends(out: Vec<Output>) -> Vec<(NodeId, Message)> {
    let sent = out.into_iter().filter_map(|output| match output {
        Output::Send { to, message } => Some((to, message)),
        _ => None,
    });
    sent.collect()
}

/// A disk in `term` with a log of entries of these terms; the command is the index.
pub(crate) fn disk(term: Term, log: &[Term]) -> Persisted {
    let mut disk = Persisted { term, ..Persisted::default() };
    for (&term, command) in log.iter().zip(1..) {
        disk.log.push(Entry { term, command });
    }
    disk
}
