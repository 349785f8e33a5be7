//! Misuse is said where it happens.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::time::Duration;

use detsim_executor::{NodeId, Sim, message_of};
use detsim_net::Network;

use crate::world::MS;

fn refusal(f: impl FnOnce(&Network<u32>, NodeId)) -> String {
    let sim = Sim::new(1);
    let node = sim.node("a").id();
    let network = Network::new(&sim);
    let payload = catch_unwind(AssertUnwindSafe(|| f(&network, node))).unwrap_err();
    message_of(&*payload)
}

#[test]
fn a_node_of_nowhere_is_refused() {
    let stranger = NodeId(9);
    let text = "detsim: there is no node n9 in this simulation; its id is of another one; make \
                nodes with `Sim::node`";
    assert_eq!(refusal(|network, a| network.send(a, stranger, 1)), text);
    assert_eq!(refusal(|network, a| network.send(stranger, a, 1)), text);
    assert_eq!(refusal(|network, _| network.register(stranger, |_, _| ())), text);
    assert_eq!(refusal(|network, a| network.partition(a, stranger)), text);
    assert_eq!(refusal(|network, a| network.heal(a, stranger)), text);
    assert_eq!(refusal(|network, a| network.link(a, stranger).set_drop_rate(0.5)), text);
}

#[test]
fn settings_out_of_range_are_refused() {
    assert_eq!(
        refusal(|network, _| network.set_delay_range(2 * MS, MS)),
        "detsim: the delay range 2ms..=1ms is empty; its end comes first"
    );
    assert_eq!(
        refusal(|network, _| network.set_delay_range(MS, Duration::MAX)),
        "detsim: a delay of 18446744073709551615.999999999s is longer than virtual time, which \
         ends after 584 years"
    );
    assert_eq!(
        refusal(|network, _| network.set_drop_rate(1.5)),
        "detsim: the drop rate is 1.5, but a rate lies between 0 and 1"
    );
    assert_eq!(
        refusal(|network, a| network.link(a, a).set_duplicate_rate(f64::NAN)),
        "detsim: the duplicate rate is NaN, but a rate lies between 0 and 1"
    );
}

#[test]
fn a_refused_setting_changes_nothing() {
    let sim = Sim::new(1);
    let (a, b) = (sim.node("a").id(), sim.node("b").id());
    let network = Network::new(&sim);
    network.register(b, |_, ()| ());
    let refused = catch_unwind(AssertUnwindSafe(|| network.set_drop_rate(-0.1)));
    assert!(refused.is_err());
    network.send(a, b, ());
    sim.run().unwrap();
    assert_eq!(network.stats().delivered, 1);
}

#[test]
fn a_panic_names_the_line_that_called() {
    static LINE: Mutex<Option<u32>> = Mutex::new(None);
    let (before, here) = (std::panic::take_hook(), std::thread::current().id());
    std::panic::set_hook(Box::new(move |info| {
        // Tests on other threads panic too.
        if std::thread::current().id() == here {
            *LINE.lock().unwrap() = info.location().map(|place| place.line());
        } else {
            before(info);
        }
    }));
    let line = line!() + 1;
    refusal(|network, a| network.send(a, NodeId(9), 1));
    drop(std::panic::take_hook());
    assert_eq!(*LINE.lock().unwrap(), Some(line));
}

#[test]
fn a_network_of_the_past_says_so() {
    let sim = Sim::new(1);
    let a = sim.node("a").id();
    let network = Network::new(&sim);
    drop(sim);
    let payload = catch_unwind(AssertUnwindSafe(|| network.send(a, a, ()))).unwrap_err();
    assert!(message_of(&*payload).starts_with("detsim: this simulation has ended"));
}

#[test]
fn a_handler_that_panics_fails_the_run() {
    let sim = Sim::new(1);
    let a = sim.node("a").id();
    let network = Network::new(&sim);
    network.register(a, |_, ()| panic!("no such state"));
    network.send(a, a, ());
    assert!(sim.run().unwrap_err().to_string().contains("no such state"));
}
