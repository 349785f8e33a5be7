//! Records a run of a million events, writes its trace, and says how long it takes to look at:
//! `cargo run --release --example long_trace -- target/long`.
//!
//! The world: pairs of nodes, each of which asks the other over links that lose, from many tasks.
//! Standard output has a line for each figure; the file is one for `cargo xtask trace`.
#![expect(clippy::print_stdout, reason = "the figures are what this program is for")]
#![expect(clippy::disallowed_types, reason = "it measures time that passes")]

use std::path::Path;
use std::time::{Duration, Instant};

use detsim::trace::{self, Header, Recorded, StatsOptions, ViewOptions};
use detsim::{Network, Sim, SimConfig};

/// The least number of events.
const EVENTS: usize = 1_000_000;
const PAIRS: u64 = 4;
const TASKS: u64 = 10;
const SEED: u64 = 7;

fn main() {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "target/long".to_owned());
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder).expect("the directory can be made");

    let recorded = Recorded { header: Header::new("long_trace", SEED, "random"), trace: record() };
    let events = recorded.trace.moments.len();
    let file = folder.join(trace::FILE);
    trace::write(&recorded.trace, &recorded.header, &file).expect("the file can be written");
    let bytes = std::fs::metadata(&file).expect("it is there").len();
    let tenths = bytes * 10 / events as u64;
    println!("{events} events, {}.{} bytes an event on disk", tenths / 10, tenths % 10);

    let (page, passed) = timed(|| {
        let read = trace::read(folder).expect("what is written is read");
        trace::view(&read, &ViewOptions::default())
    });
    println!("first page of view: {passed:.0?}, {} lines", page.lines().count());
    let (tables, passed) = timed(|| {
        let read = trace::read(folder).expect("what is written is read");
        trace::stats(&read, &StatsOptions::default())
    });
    println!("stats: {passed:.0?}, {} lines", tables.lines().count());
}

/// Runs the world until it has done enough.
fn record() -> trace::Trace {
    let mut config = SimConfig::default();
    config.record = true;
    let sim = Sim::with_config(SEED, config);
    let network = Network::<u64>::new(&sim);
    network.set_drop_rate(0.01);
    for pair in 0..PAIRS {
        let [asks, answers] = ["asks", "answers"].map(|name| sim.node(format!("{name}-{pair}")));
        let replies = network.clone();
        network.register(answers.id(), move |from, n| replies.send(answers.id(), from, n + 1));
        network.register(asks.id(), |_, _| {});
        for task in 0..TASKS {
            let (network, clock) = (network.clone(), sim.clone());
            let (from, to) = (asks.id(), sim.node(format!("answers-{pair}")).id());
            drop(asks.spawn(format!("asker-{task}"), async move {
                for n in 0.. {
                    network.send(from, to, n);
                    detsim::sleep_until(clock.now() + Duration::from_millis(1)).await;
                }
            }));
        }
    }
    while sim.trace().moments.len() < EVENTS {
        sim.run_for(Duration::from_secs(1)).expect("nothing here fails");
    }
    sim.trace()
}

/// What `f` gives, and how long it took.
fn timed<R>(f: impl FnOnce() -> R) -> (R, Duration) {
    let start = Instant::now();
    let result = f();
    (result, start.elapsed())
}
