//! Raft for eight simulated seconds as detsim's users write it: handlers on a `Network`, timers and
//! a client on the `Sim`.
//!
//! The scenario, the pauses and the delays are those of the peers' driver (`workloads/raft.rs`), and
//! so are the protocol and the checker that looks at a node after every step. The run's hash is
//! taken.

use std::cell::RefCell;
use std::hint::black_box;
use std::rc::Rc;
use std::time::Duration;

use bench_common::Work;
use bench_raft::cluster::Cluster;
use bench_raft::core::{Bug, Input, Message, NODES, NodeId, Output, Role, Timer};
use detsim::{Network, Sim, SimTime};

const CUT_OFF: SimTime = SimTime::from_secs(3);
const HEALED: SimTime = SimTime::from_secs(5);
const END: SimTime = SimTime::from_secs(8);

/// A leader proposes after each such pause: 30 to 120 ms.
const PAUSE_NS: [u64; 2] = [30_000_000, 120_000_000];

/// So many runs, one seed each.
pub(crate) fn runs(operations: u64) -> Work {
    let events = (0..operations).map(run).sum();
    Work { operations, events }
}

fn run(seed: u64) -> u64 {
    let sim = Sim::new(seed);
    let world = World::new(&sim);
    NodeId::all().for_each(|id| world.start(id));
    world.at(CUT_OFF, World::cut_leader_off);
    world.at(HEALED, World::heal);
    sim.run_until(END).unwrap_or_else(|failure| panic!("{failure}"));
    black_box(sim.hash());
    world.expect_agreement();
    world.state.borrow().cluster.counts().events()
}

/// A cluster and what drives it.
struct World {
    sim: Sim,
    network: Network<Message>,
    hosts: [detsim::NodeId; NODES],
    state: RefCell<State>,
}

/// What changes from event to event.
struct State {
    cluster: Cluster,
    /// Kept from step to step for its capacity.
    outputs: Vec<Output>,
    /// The nodes whose client has a proposal on its way.
    awaited: [bool; NODES],
    cut_off: Option<NodeId>,
    commands: u64,
}

impl World {
    fn new(sim: &Sim) -> Rc<Self> {
        let network = Network::new(sim);
        network.set_delay_range(Duration::from_millis(1), Duration::from_millis(8));
        let state = State {
            cluster: Cluster::new(Bug::None),
            outputs: Vec::new(),
            awaited: [false; NODES],
            cut_off: None,
            commands: 0,
        };
        let hosts = ["n1", "n2", "n3", "n4", "n5"].map(|name| sim.node(name).id());
        Rc::new(Self { sim: sim.clone(), network, hosts, state: RefCell::new(state) })
    }

    fn at(self: &Rc<Self>, at: SimTime, act: fn(&Self)) {
        let world = Rc::clone(self);
        self.sim.at(at, move || act(&world));
    }

    fn start(self: &Rc<Self>, id: NodeId) {
        let world = Rc::clone(self);
        self.network.register(self.hosts[id.index()], move |from, message| {
            let from = world.name_of(from);
            world.step(id, Input::Message { from, message });
        });
        self.step(id, Input::Start);
    }

    fn step(self: &Rc<Self>, id: NodeId, input: Input) {
        let mut state = self.state.borrow_mut();
        let State { cluster, outputs, awaited, .. } = &mut *state;
        let jitter = &mut |bound| self.sim.random_below(bound);
        let stepped = cluster.step(id, input, self.sim.now().as_nanos(), jitter, outputs);
        stepped.unwrap_or_else(|violation| panic!("{violation}"));
        for output in outputs.drain(..) {
            match output {
                Output::Send { to, message } => {
                    self.network.send(self.hosts[id.index()], self.hosts[to.index()], message);
                }
                Output::SetTimer { timer, at_ns } => self.set_timer(id, timer, at_ns),
                Output::Persist(_) | Output::Committed { .. } | Output::Refused { .. } => {}
            }
        }
        if leads(cluster, id) && !awaited[id.index()] {
            awaited[id.index()] = true;
            self.await_proposal(id);
        }
    }

    fn set_timer(self: &Rc<Self>, id: NodeId, timer: Timer, at_ns: u64) {
        let world = Rc::clone(self);
        self.sim.at(SimTime::from_nanos(at_ns), move || world.step(id, Input::Timer(timer)));
    }

    fn await_proposal(self: &Rc<Self>, id: NodeId) {
        let [min, max] = PAUSE_NS;
        let pause = Duration::from_nanos(self.sim.random_range(min, max));
        let world = Rc::clone(self);
        self.sim.after(pause, move || world.propose(id));
    }

    fn propose(self: &Rc<Self>, id: NodeId) {
        let mut state = self.state.borrow_mut();
        state.awaited[id.index()] = false;
        if !leads(&state.cluster, id) {
            return;
        }
        state.commands += 1;
        let command = state.commands;
        drop(state);
        self.step(id, Input::Propose(command));
    }

    fn cut_leader_off(&self) {
        let leader = self.leader();
        self.state.borrow_mut().cut_off = Some(leader);
        let others: Vec<_> = leader.peers().map(|peer| self.hosts[peer.index()]).collect();
        self.network.partition(self.hosts[leader.index()], &others);
    }

    fn heal(&self) {
        let cut_off = self.state.borrow().cut_off;
        assert_ne!(Some(self.leader()), cut_off, "the others elect a leader of their own");
        self.network.heal_all();
    }

    fn leader(&self) -> NodeId {
        let leader = self.state.borrow().cluster.leader();
        leader.expect("two seconds are enough for an election")
    }

    fn name_of(&self, host: detsim::NodeId) -> NodeId {
        let at = self.hosts.iter().position(|&known| known == host);
        NodeId::new(at.expect("invariant: only nodes of the cluster send"))
    }

    /// One leader, that all follow, and committed proposals.
    fn expect_agreement(&self) {
        let cluster = &self.state.borrow().cluster;
        assert_eq!(cluster.leaders().iter().count(), 1, "one leader is left");
        assert!(cluster.up().all(|node| node.leader() == cluster.leader()), "and all follow it");
        assert!(cluster.checker().committed().len() > 50, "and proposals were committed");
    }
}

fn leads(cluster: &Cluster, id: NodeId) -> bool {
    cluster.node(id).is_some_and(|node| node.role() == Role::Leader)
}
