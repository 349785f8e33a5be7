//! Writes the page of a small recorded run to standard output: `cargo run --example trace_page`.
//!
//! The world: a node that asks two others, over links that lose, with a partition and a crash.
#![expect(clippy::print_stdout, reason = "the page is what this program is for")]

use std::time::Duration;

use detsim::trace::{self, ExportOptions, Format, Header, Recorded};
use detsim::{Network, Sim, SimConfig};

const SEED: u64 = 7;

fn main() {
    let mut config = SimConfig::default();
    config.record = true;
    let sim = Sim::with_config(SEED, config);
    let network = Network::<u64>::new(&sim);
    network.set_drop_rate(0.1);
    let [client, left, right] = ["client", "left", "right"].map(|name| sim.node(name).id());
    for server in [left, right] {
        let answers = network.clone();
        network.register(server, move |from, n| answers.send(server, from, n + 1));
    }
    network.register(client, |_, _| {});
    for n in 0..8 {
        let (network, clock) = (network.clone(), sim.clone());
        drop(sim.node("client").spawn(format!("asker-{n}"), async move {
            detsim::sleep_until(clock.now() + Duration::from_millis(n)).await;
            network.send(client, if n % 2 == 0 { left } else { right }, n);
        }));
    }
    let (cut, heal) = (network.clone(), network.clone());
    sim.after(Duration::from_millis(3), move || cut.partition(client, left));
    sim.after(Duration::from_millis(5), move || heal.heal_all());
    let crashes = sim.node("right");
    sim.after(Duration::from_millis(6), move || crashes.crash());
    sim.run().expect("nothing here fails");

    let header = Header::new("trace_page", SEED, "random");
    let recorded = Recorded { header, trace: sim.trace() };
    let mut options = ExportOptions::default();
    options.format = Format::Html;
    options.minimized = Some(minimized(&recorded));
    print!("{}", trace::export(&recorded, &options));
}

/// The run as it would be if only losses mattered: the page marks these decisions.
fn minimized(recorded: &Recorded) -> Recorded {
    let mut kept = recorded.clone();
    let tables = recorded.trace.tables.clone();
    kept.trace.tables.choices.retain(|chosen| tables.text(chosen.domain).ends_with("/loss"));
    kept
}
