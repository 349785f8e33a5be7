//! Nothing of a simulation outlives it.

use std::cell::Cell;
use std::rc::Rc;

use detsim_executor::Sim;
use detsim_net::Network;

/// A token, and what holds the network.
type Heavy = (Rc<()>, Option<Rc<dyn Fn()>>);

/// A handler that holds the network that holds it, and messages that hold it too.
#[test]
fn a_cycle_through_handlers_and_messages_ends_with_the_simulation() {
    for seed in 0..10_000 {
        let token = Rc::new(());
        let sim = Sim::new(seed);
        let (a, b) = (sim.node("a").id(), sim.node("b").id());
        let network: Network<Heavy> = Network::new(&sim);
        let (own, held) = (network.clone(), Rc::clone(&token));
        network.register(b, move |from, message| {
            let _held = &held;
            own.send(b, from, message);
        });
        let (own, held) = (network.clone(), Rc::clone(&token));
        let speak: Rc<dyn Fn()> = Rc::new(move || {
            let _held = (&own, &held);
        });
        network.send(a, b, (Rc::clone(&token), Some(speak)));
        if seed % 2 == 0 {
            sim.run().unwrap();
        }
        drop(sim);
        drop(network);
        assert_eq!(Rc::strong_count(&token), 1, "seed {seed}");
    }
}

#[test]
fn lost_messages_are_dropped_at_once() {
    let sim = Sim::new(1);
    let (a, b) = (sim.node("a").id(), sim.node("b").id());
    let network = Network::new(&sim);
    let token = Rc::new(());
    network.partition(a, b);
    network.send(a, b, Rc::clone(&token));
    assert_eq!(Rc::strong_count(&token), 1);
    network.heal_all();
    network.send(a, b, Rc::clone(&token));
    sim.run().unwrap();
    assert_eq!(Rc::strong_count(&token), 1, "nobody listens");
}

#[test]
fn destructors_and_clones_use_the_network() {
    /// Sends a number when it is cloned or dropped.
    struct Loud {
        ends: [detsim_executor::NodeId; 2],
        network: Network<Option<Self>>,
        sent: Rc<Cell<u32>>,
    }
    impl Loud {
        fn speak(&self) {
            self.sent.set(self.sent.get() + 1);
            self.network.send(self.ends[0], self.ends[1], None);
        }
    }
    impl Clone for Loud {
        fn clone(&self) -> Self {
            self.speak();
            let network = self.network.clone();
            Self { ends: self.ends, network, sent: Rc::clone(&self.sent) }
        }
    }
    impl Drop for Loud {
        fn drop(&mut self) {
            self.speak();
        }
    }
    let sim = Sim::new(1);
    let ends = [sim.node("a").id(), sim.node("b").id()];
    let network: Network<Option<Loud>> = Network::new(&sim);
    network.register(ends[1], |_, message| drop(message));
    network.set_duplicate_rate(1.0);
    let sent = Rc::new(Cell::new(0));
    let loud = Loud { ends, network: network.clone(), sent: Rc::clone(&sent) };
    network.send(ends[0], ends[1], Some(loud));
    sim.run().unwrap();
    let stats = network.stats();
    assert_eq!((sent.get(), stats.sent, stats.delivered), (3, 4, 8));
}
