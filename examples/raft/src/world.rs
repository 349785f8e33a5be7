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

use crate::cluster::{Cluster, Counts, grants_vote};
use crate::core::{Bug, Input, Message, NODES, NodeId, NodeSet, Output, Timer};
use crate::finding::Finding;
use crate::liveness::{Mark, Stall};
use crate::plan::{Action, END_NS, Plan, Target, Trouble, client_pause_ns};
use crate::story::Story;

/// Above this rate of loss only safety is checked.
const LIVELY_DROP_RATE: f64 = 0.02;

/// What a run is made of, beside its seed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Scenario {
    /// The rate at which messages are lost, in `0.0..=1.0`.
    pub drop_rate: f64,
    /// The mistake that every node makes.
    pub bug: Bug,
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
        let plan = Plan::draw(&mut |bound| sim.random_below(bound));
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
        let state = State {
            cluster: Cluster::new(scenario.bug),
            out: Vec::with_capacity(32),
            next_voter_down_ns: None,
            mark: Mark::default(),
            commands: 0,
            finding: None,
        };
        let hosts = std::array::from_fn(|at| sim.node(NodeId::new(at).to_string()));
        let draws = std::array::from_fn(|at| sim.stream(&format!("raft/{}", NodeId::new(at))));
        Rc::new(Self {
            sim: sim.clone(),
            network,
            hosts,
            state: RefCell::new(state),
            draws: RefCell::new(draws),
            client_draws: RefCell::new(sim.stream("raft/client")),
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
        let result = cluster.step(id, input, self.now_ns(), jitter, out);
        let down_ns = next_voter_down_ns.take_if(|_| grants_vote(out));
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
        self.state.borrow_mut().cluster.crash(id);
        self.hosts[id.index()].crash();
        let world = Rc::clone(self);
        self.sim.after(Duration::from_nanos(down_ns), move || world.restart(id));
    }

    fn restart(self: &Rc<Self>, id: NodeId) {
        // A node that was taken down twice comes up once.
        if self.state.borrow_mut().cluster.restart(id) {
            self.hosts[id.index()].restart();
            self.start(id);
        }
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
