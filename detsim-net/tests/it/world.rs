//! A small world: nodes that write down what arrives.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use detsim_executor::event::NetEvent;
use detsim_executor::{Event, NodeId, Sim, SimConfig, SimTime};
use detsim_net::Network;

pub(crate) const MS: Duration = Duration::from_millis(1);

/// What arrived: when, where, from whom, what.
pub(crate) type Heard = (SimTime, NodeId, NodeId, u32);

pub(crate) struct World {
    pub(crate) sim: Sim,
    pub(crate) network: Network<u32>,
    heard: Rc<RefCell<Vec<Heard>>>,
}

impl World {
    /// Recorded, with a fixed latency of 1 ms.
    pub(crate) fn new(seed: u64) -> Self {
        let mut config = SimConfig::default();
        config.record = true;
        let world = Self::with_config(seed, config);
        world.network.set_delay_range(MS, MS);
        world
    }

    pub(crate) fn with_config(seed: u64, config: SimConfig) -> Self {
        let sim = Sim::with_config(seed, config);
        let network = Network::new(&sim);
        Self { sim, network, heard: Rc::default() }
    }

    /// Nodes that listen.
    pub(crate) fn nodes<const N: usize>(&self, names: [&str; N]) -> [NodeId; N] {
        names.map(|name| {
            let id = self.sim.node(name).id();
            let (sim, heard) = (self.sim.clone(), Rc::clone(&self.heard));
            self.network.register(id, move |from, what| {
                heard.borrow_mut().push((sim.now(), id, from, what));
            });
            id
        })
    }

    pub(crate) fn run_ms(&self, ms: u64) {
        self.sim.run_for(Duration::from_millis(ms)).unwrap();
    }

    /// What arrived since the last call, by content.
    pub(crate) fn heard(&self) -> Vec<u32> {
        self.take_heard().into_iter().map(|heard| heard.3).collect()
    }

    pub(crate) fn take_heard(&self) -> Vec<Heard> {
        self.heard.take()
    }

    /// Whether the trace holds such an event.
    pub(crate) fn has(&self, is_it: impl Fn(&NetEvent) -> bool) -> bool {
        let net = |event: &Event| matches!(event, Event::Net(event) if is_it(event));
        self.sim.trace().moments.iter().any(|moment| net(&moment.event))
    }
}
