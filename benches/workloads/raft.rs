//! Raft for eight simulated seconds: five nodes, an election, a steady leader that takes proposals,
//! two seconds in which it is cut off, and the healed cluster.
//!
//! The protocol, its disks and the checker that looks at a node after every step are the example's
//! (`bench_raft`); here is a driver of one task per node, for simulators of tokio's shape. An event
//! is a message or a timer that reached a node.
//!
//! The crate that includes this supplies, beside what `workloads.rs` lists, in `crate::peer`:
//!
//! | name | what it is |
//! | --- | --- |
//! | `raft_simulation(seed, node, supervisor)` | five connected nodes run `node(id, endpoint)` |
//! | `Endpoint`: `send`, `receive_until` | datagrams of a `Message`, 1 to 8 ms under way |
//! | `now_ns()`, `isolate(id, cut)` | virtual time since the start; cutting a node off |

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bench_common::{Random, Work};
use bench_raft::cluster::Cluster;
use bench_raft::core::{Bug, Input, Message, NodeId, Output, Role, Timer};

use crate::peer;

const CUT_OFF: Duration = Duration::from_secs(3);
const HEALED: Duration = Duration::from_secs(5);
const END: Duration = Duration::from_secs(8);

/// A leader proposes after each such pause: 30 to 120 ms.
const PAUSE_NS: [u64; 2] = [30_000_000, 120_000_000];

/// So many runs, one seed each.
pub(crate) fn runs(operations: u64) -> Work {
    let events = (0..operations).map(run).sum();
    Work { operations, events }
}

fn run(seed: u64) -> u64 {
    let world = Arc::new(World { seed, cluster: Mutex::new(Cluster::new(Bug::None)) });
    let of_nodes = Arc::clone(&world);
    let node = move |id, endpoint| Driver::new(Arc::clone(&of_nodes), id, endpoint).drive();
    peer::raft_simulation(seed, node, supervise(Arc::clone(&world)));
    world.cluster().counts().events()
}

/// What the tasks of one run share.
struct World {
    seed: u64,
    cluster: Mutex<Cluster>,
}

impl World {
    fn cluster(&self) -> MutexGuard<'_, Cluster> {
        self.cluster.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn leader(&self) -> NodeId {
        self.cluster().leader().expect("two seconds are enough for an election")
    }
}

/// Cuts the leader off, mends the links, and asks for one leader that all agree with.
async fn supervise(world: Arc<World>) {
    peer::sleep(CUT_OFF).await;
    let cut_off = world.leader();
    peer::isolate(cut_off, true);
    peer::sleep(HEALED - CUT_OFF).await;
    assert_ne!(world.leader(), cut_off, "the others elect a leader of their own");
    peer::isolate(cut_off, false);
    peer::sleep(END - HEALED).await;
    let cluster = world.cluster();
    assert_eq!(cluster.leaders().iter().count(), 1, "one leader is left");
    assert!(cluster.up().all(|node| node.leader() == cluster.leader()), "and all follow it");
    assert!(cluster.checker().committed().len() > 50, "and proposals were committed");
}

/// One node's task.
struct Driver {
    world: Arc<World>,
    id: NodeId,
    endpoint: peer::Endpoint,
    random: Random,
    outputs: Vec<Output>,
    /// The earliest time at which each timer was asked for. One slot is enough: the core takes a
    /// timer that never comes for one that an earlier one replaced.
    timers_ns: [Option<u64>; 2],
    /// While the node leads: when it proposes next.
    propose_ns: Option<u64>,
}

/// What a node waits for when no message comes.
#[derive(Clone, Copy)]
enum Alarm {
    Timer(Timer),
    Propose,
    End,
}

impl Driver {
    fn new(world: Arc<World>, id: NodeId, endpoint: peer::Endpoint) -> Self {
        let random = Random::new(world.seed ^ ((id.index() as u64 + 1) << 32));
        let (outputs, timers_ns, propose_ns) = (Vec::new(), [None; 2], None);
        Self { world, id, endpoint, random, outputs, timers_ns, propose_ns }
    }

    async fn drive(mut self) {
        self.step(Input::Start).await;
        let mut command = 0;
        loop {
            let (due_ns, alarm) = self.next_alarm();
            let input = match self.endpoint.receive_until(due_ns).await {
                Some((from, message)) => Input::Message { from, message },
                None => match alarm {
                    Alarm::End => return,
                    Alarm::Timer(timer) => {
                        self.timers_ns[timer as usize] = None;
                        Input::Timer(timer)
                    }
                    Alarm::Propose => {
                        self.propose_ns = None;
                        command += 1;
                        Input::Propose(command)
                    }
                },
            };
            self.step(input).await;
        }
    }

    async fn step(&mut self, input: Input) {
        let Self { world, id, random, outputs, .. } = self;
        let jitter = &mut |bound| random.between(0, bound - 1);
        let leads = {
            let mut cluster = world.cluster();
            let stepped = cluster.step(*id, input, peer::now_ns(), jitter, outputs);
            stepped.unwrap_or_else(|violation| panic!("{violation}"));
            leads(&cluster, *id)
        };
        self.await_proposal(leads);
        let mut outputs = std::mem::take(&mut self.outputs);
        for output in outputs.drain(..) {
            self.carry_out(output).await;
        }
        self.outputs = outputs;
    }

    async fn carry_out(&mut self, output: Output) {
        match output {
            Output::Send { to, message } => self.endpoint.send(to, message).await,
            Output::SetTimer { timer, at_ns } => {
                let slot = &mut self.timers_ns[timer as usize];
                *slot = Some(slot.map_or(at_ns, |earlier| earlier.min(at_ns)));
            }
            Output::Persist(_) | Output::Committed { .. } | Output::Refused { .. } => {}
        }
    }

    fn await_proposal(&mut self, leads: bool) {
        if !leads {
            self.propose_ns = None;
        } else if self.propose_ns.is_none() {
            let [min, max] = PAUSE_NS;
            self.propose_ns = Some(peer::now_ns() + self.random.between(min, max));
        }
    }

    fn next_alarm(&self) -> (u64, Alarm) {
        let [election, heartbeat] = self.timers_ns;
        let alarms = [
            (election, Alarm::Timer(Timer::Election)),
            (heartbeat, Alarm::Timer(Timer::Heartbeat)),
            (self.propose_ns, Alarm::Propose),
        ];
        let end = (u64::try_from(END.as_nanos()).expect("eight seconds"), Alarm::End);
        let set = alarms.into_iter().filter_map(|(at_ns, alarm)| Some((at_ns?, alarm)));
        set.fold(end, |first, next| if next.0 < first.0 { next } else { first })
    }
}

/// A message with its sender, as endpoints deliver it.
pub(crate) type Letter = (NodeId, Message);

fn leads(cluster: &Cluster, id: NodeId) -> bool {
    cluster.node(id).is_some_and(|node| node.role() == Role::Leader)
}
