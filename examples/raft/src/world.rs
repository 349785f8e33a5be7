//! The cluster in a simulation: five nodes on `Sim` and `Network`, a client, and a plan of faults.
//!
//! Owns: the driver, that is, what turns deliveries and timers into inputs and outputs into sends
//! and timers; crashes and restarts; and the end of a run. Does not own: the protocol, the
//! invariants, or what goes wrong when. Once something was found the world stands still: nothing
//! is fed to the nodes any more, so the queue runs dry at once.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;
use std::time::Duration;

use detsim::{Failure, Network, RunHash, Sim, SimTime, Stream};

use crate::ballots::{Ballot, STRIKE_RATE, Strike};
use crate::cluster::{Cluster, Counts, grants_vote};
use crate::core::{Bug, Config, Input, Message, NODES, Node, NodeId, NodeSet, Output, Timer};
use crate::finding::Finding;
use crate::liveness::{Mark, Stall};
use crate::plan::{Action, END_NS, Plan, Target, Trouble, client_pause_ns};
use crate::story::{Story, Turn, What};

/// Above this rate of loss only safety is checked.
const LIVELY_DROP_RATE: f64 = 0.02;

/// How often a message comes twice where faults strike at ballots.
const DUPLICATE_RATE: f64 = 0.02;

/// What a run is made of, beside its seed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Scenario {
    /// The rate at which messages are lost, in `0.0..=1.0`.
    pub drop_rate: f64,
    /// The mistake that every node makes.
    pub bug: Bug,
    /// What goes wrong, and when.
    pub faults: Faults,
}

/// What goes wrong in a run, and when.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Faults {
    /// What was planned for the run before it began, by the clock: see [`crate::plan`].
    #[default]
    Planned,
    /// What strikes where votes are cast: see [`crate::ballots`]. Leaders crash now and then, so
    /// that there are elections; candidates ask again, and messages come twice.
    AtBallots,
}

/// How a run went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// What was found first, and when.
    pub finding: Option<(SimTime, Finding)>,
    /// What led up to that.
    pub story: Story,
    /// What went wrong on purpose.
    pub trouble: Trouble,
    /// Messages, timers, proposals, crashes.
    pub counts: Counts,
    /// Elections that were won.
    pub elections: usize,
    /// Entries that were committed.
    pub commits: usize,
    /// The hash of the run.
    pub hash: RunHash,
}

impl Scenario {
    /// Runs eight simulated seconds: normal until 3 s, in trouble until 5 s, then healed.
    ///
    /// # Errors
    /// The simulation's own verdict, such as an exceeded step budget. What the *cluster* did wrong
    /// is in the outcome.
    ///
    /// # Determinism
    /// All draws are the simulation's: the same seed gives the same run.
    pub fn run(self, sim: &Sim) -> Result<Outcome, Failure> {
        let draw = match self.faults {
            Faults::Planned => Plan::draw,
            Faults::AtBallots => Plan::draw_elections,
        };
        let plan = draw(&mut |bound| sim.random_below(bound));
        let mut plan = plan.with_faults(&mut |what| sim.fault(what, 1.0));
        if self.drop_rate > LIVELY_DROP_RATE {
            plan = plan.safety_only();
        }
        let world = World::new(sim, self);
        for (at_ns, action) in plan.actions {
            let world = Rc::clone(&world);
            sim.at(SimTime::from_nanos(at_ns), move || world.act(action));
        }
        NodeId::all().for_each(|id| world.start(id));
        world.speak_as_client();
        sim.run_until(SimTime::from_nanos(END_NS))?;
        Ok(world.outcome(plan.trouble))
    }

    /// As [`Self::run`], for tests: what was found is an error.
    ///
    /// # Errors
    /// What the cluster did wrong, or the simulation's own verdict.
    pub fn check(self, sim: &Sim) -> Result<Outcome, Problem> {
        let outcome = self.run(sim).map_err(Problem::Failed)?;
        match outcome.finding {
            None => Ok(outcome),
            Some((at, finding)) => {
                let Outcome { story, trouble, .. } = outcome;
                Err(Problem::Found { finding, at, story, trouble })
            }
        }
    }
}

/// Why a run did not pass. Test harnesses print an error's `Debug`, so that is the text for people.
pub enum Problem {
    /// The cluster did something wrong.
    Found {
        /// What.
        finding: Finding,
        /// When it showed.
        at: SimTime,
        /// What led up to it.
        story: Story,
        /// What went wrong on purpose in this run.
        trouble: Trouble,
    },
    /// The simulation ended otherwise.
    Failed(Failure),
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Found { finding, at, story, trouble } => {
                write!(f, "{finding}\nat {at}, in a run with trouble of the kind: {trouble}\n")?;
                write!(f, "what led up to it:\n{story}")
            }
            Self::Failed(failure) => failure.fmt(f),
        }
    }
}

impl fmt::Debug for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Problem {}

/// A cluster and what drives it. Handlers and timers hold it until the simulation ends.
struct World {
    sim: Sim,
    network: Network<Message>,
    hosts: [detsim::Node; NODES],
    state: RefCell<State>,
    /// What each node draws, and the client: nobody's draws shift another's.
    draws: RefCell<[Stream; NODES]>,
    client_draws: RefCell<Stream>,
    /// What may go wrong at the ballots of each node, where anything may.
    strikes: Option<RefCell<[Stream; NODES]>>,
}

/// What changes from event to event.
struct State {
    cluster: Cluster,
    /// Kept from step to step for its capacity.
    out: Vec<Output>,
    next_voter_down_ns: Option<u64>,
    mark: Mark,
    commands: u64,
    finding: Option<(SimTime, Finding)>,
}

impl World {
    fn new(sim: &Sim, scenario: Scenario) -> Rc<Self> {
        let network = Network::new(sim);
        network.set_delay_range(Duration::from_millis(1), Duration::from_millis(8));
        network.set_drop_rate(scenario.drop_rate);
        let at_ballots = scenario.faults == Faults::AtBallots;
        if at_ballots {
            network.set_duplicate_rate(DUPLICATE_RATE);
        }
        let Scenario { bug, .. } = scenario;
        let config = Config { bug, asks_again: at_ballots, ..Config::new(NodeId::new(0)) };
        let state = State {
            cluster: Cluster::of(config),
            out: Vec::with_capacity(32),
            next_voter_down_ns: None,
            mark: Mark::default(),
            commands: 0,
            finding: None,
        };
        let hosts = std::array::from_fn(|at| sim.node(NodeId::new(at).to_string()));
        let draws = std::array::from_fn(|at| sim.stream(&format!("raft/{}", NodeId::new(at))));
        let strikes =
            std::array::from_fn(|at| sim.stream(&format!("raft/{}/ballots", NodeId::new(at))));
        Rc::new(Self {
            sim: sim.clone(),
            network,
            hosts,
            state: RefCell::new(state),
            draws: RefCell::new(draws),
            client_draws: RefCell::new(sim.stream("raft/client")),
            strikes: at_ballots.then(|| RefCell::new(strikes)),
        })
    }

    /// Begins the life of a node that is up: at the start of the run, or after a crash.
    fn start(self: &Rc<Self>, id: NodeId) {
        let world = Rc::clone(self);
        self.network.register(self.host(id), move |from, message| {
            let from = world.name_of(from);
            world.step(id, Input::Message { from, message });
        });
        self.step(id, Input::Start);
    }

    fn step(self: &Rc<Self>, id: NodeId, input: Input) {
        let mut state = self.state.borrow_mut();
        if state.finding.is_some() {
            return;
        }
        let State { cluster, out, next_voter_down_ns, .. } = &mut *state;
        let jitter = &mut |bound| self.draws.borrow_mut()[id.index()].below(bound);
        let (role, told) = (cluster.node(id).map(Node::role), cluster.story().told());
        let result = cluster.step(id, input, self.now_ns(), jitter, out);
        self.tell(cluster.story(), told);
        let down_ns = next_voter_down_ns.take_if(|_| grants_vote(out));
        let ballot = cluster.node(id).and_then(|node| Ballot::cast(role, node, out));
        for output in out.drain(..) {
            match output {
                Output::Send { to, message } => {
                    self.network.send(self.host(id), self.host(to), message);
                }
                Output::SetTimer { timer, at_ns } => self.set_timer(id, timer, at_ns),
                // The disk is the cluster's, and it is never slow.
                Output::Persist(_) | Output::Committed { .. } | Output::Refused { .. } => {}
            }
        }
        drop(state);
        if let Err(violation) = result {
            self.note(violation.into());
        }
        if let Some(down_ns) = down_ns {
            self.crash(id, down_ns);
        }
        if let Some(ballot) = ballot {
            self.strike(id, ballot);
        }
    }

    /// Tells the trace what the story has learnt since it was so long.
    fn tell(&self, story: &Story, since: u64) {
        if story.told() == since {
            return;
        }
        let turns: Vec<&Turn> = story.turns().collect();
        let news = turns.len() - turns.len().min((story.told() - since) as usize);
        // The trace knows of crashes by itself.
        for turn in turns[news..].iter().filter(|turn| turn.what != What::Crashes) {
            self.hosts[turn.node.index()].note(|| turn.what.to_string());
        }
    }

    /// Something may go wrong at a ballot.
    fn strike(self: &Rc<Self>, id: NodeId, ballot: Ballot) {
        let Some(strikes) = &self.strikes else { return };
        let strike = ballot.strike(&mut |bound| strikes.borrow_mut()[id.index()].below(bound));
        if !self.sim.fault(&ballot.told(id, strike), STRIKE_RATE) {
            return;
        }
        match strike {
            Strike::Crash { down_ns } => self.crash(id, down_ns),
            Strike::Cut { companion, for_ns } => {
                let mut side = NodeSet::only(id);
                side.insert(companion);
                let [side, others] = [side, side.complement()].map(|side| self.hosts_of(side));
                self.network.partition(&side, &others);
                let network = self.network.clone();
                self.sim.after(Duration::from_nanos(for_ns), move || network.heal(side, others));
            }
        }
    }

    fn set_timer(self: &Rc<Self>, id: NodeId, timer: Timer, at_ns: u64) {
        let world = Rc::clone(self);
        let fire = move || world.step(id, Input::Timer(timer));
        self.sim.at(SimTime::from_nanos(at_ns), fire);
    }

    fn act(self: &Rc<Self>, action: Action) {
        if self.state.borrow().finding.is_some() {
            return;
        }
        match action {
            Action::Split { who, companion } => {
                let mut side = NodeSet::only(self.pick(who));
                side.insert(companion);
                self.network.partition(self.hosts_of(side), self.hosts_of(side.complement()));
            }
            Action::Deafen(who) => {
                let who = NodeSet::only(self.pick(who));
                let others = self.hosts_of(who.complement());
                self.network.partition_one_way(others, self.hosts_of(who));
            }
            Action::Heal => self.network.heal_all(),
            Action::Crash { who, down_ns } => self.crash(self.pick(who), down_ns),
            Action::CrashNextVoter { down_ns } => {
                self.state.borrow_mut().next_voter_down_ns = Some(down_ns);
            }
            Action::Mark => {
                let mut state = self.state.borrow_mut();
                state.mark = Mark::of(&state.cluster);
            }
            Action::ExpectProgress => self.expect(Mark::expect_progress),
            Action::ExpectCalm => self.expect(Mark::expect_calm),
            Action::ExpectAgreement => self.expect(Mark::expect_agreement),
        }
    }

    fn expect(&self, expectation: fn(&Mark, &Cluster) -> Result<(), Stall>) {
        let state = self.state.borrow();
        let result = expectation(&state.mark, &state.cluster);
        drop(state);
        if let Err(stall) = result {
            self.note(stall.into());
        }
    }

    fn crash(self: &Rc<Self>, id: NodeId, down_ns: u64) {
        self.told_by(|cluster| cluster.crash(id));
        self.hosts[id.index()].crash();
        let world = Rc::clone(self);
        self.sim.after(Duration::from_nanos(down_ns), move || world.restart(id));
    }

    fn restart(self: &Rc<Self>, id: NodeId) {
        // A node that was taken down twice comes up once.
        if self.told_by(|cluster| cluster.restart(id)) {
            self.hosts[id.index()].restart();
            self.start(id);
        }
    }

    /// Does something to the cluster, and tells the trace what its story learns by that.
    fn told_by<R>(&self, act: impl FnOnce(&mut Cluster) -> R) -> R {
        let cluster = &mut self.state.borrow_mut().cluster;
        let told = cluster.story().told();
        let result = act(cluster);
        self.tell(cluster.story(), told);
        result
    }

    /// Proposes to everybody who takes itself for a leader, and comes back after a pause.
    fn speak_as_client(self: &Rc<Self>) {
        let leaders = self.state.borrow().cluster.leaders();
        for id in leaders.iter() {
            let mut state = self.state.borrow_mut();
            state.commands += 1;
            let command = state.commands;
            drop(state);
            self.step(id, Input::Propose(command));
        }
        if self.state.borrow().finding.is_none() {
            let mut draws = self.client_draws.borrow_mut();
            let pause_ns = client_pause_ns(self.now_ns(), &mut |n| draws.below(n));
            let world = Rc::clone(self);
            self.sim.after(Duration::from_nanos(pause_ns), move || world.speak_as_client());
        }
    }

    fn note(&self, finding: Finding) {
        self.sim.note(|| format!("found: {finding}"));
        self.state.borrow_mut().finding.get_or_insert((self.sim.now(), finding));
    }

    fn pick(&self, target: Target) -> NodeId {
        match target {
            Target::Node(id) => id,
            Target::Leader => self.state.borrow().cluster.leader().unwrap_or(NodeId::new(0)),
        }
    }

    fn host(&self, id: NodeId) -> detsim::NodeId {
        self.hosts[id.index()].id()
    }

    fn name_of(&self, host: detsim::NodeId) -> NodeId {
        let name = NodeId::all().find(|&id| self.host(id) == host);
        name.expect("invariant: only nodes of the cluster send")
    }

    fn hosts_of(&self, set: NodeSet) -> Vec<detsim::NodeId> {
        set.iter().map(|id| self.host(id)).collect()
    }

    fn now_ns(&self) -> u64 {
        self.sim.now().as_nanos()
    }

    fn outcome(&self, trouble: Trouble) -> Outcome {
        let state = self.state.borrow();
        let checker = state.cluster.checker();
        Outcome {
            finding: state.finding,
            story: state.cluster.story().clone(),
            trouble,
            counts: state.cluster.counts(),
            elections: checker.leaders().len(),
            commits: checker.committed().len(),
            hash: self.sim.hash(),
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { finding, trouble, counts, elections, commits, .. } = self;
        match finding {
            Some((at, finding)) => write!(f, "FOUND at {at}: {finding} (trouble: {trouble})"),
            None => write!(
                f,
                "ok: {} events, {elections} elections, {commits} commits, {} crashes \
                 (trouble: {trouble})",
                counts.events(),
                counts.crashes
            ),
        }
    }
}

#[cfg(test)]
mod tests;
