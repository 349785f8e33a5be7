//! The workloads by name: one text for every peer, included by path into each peer's crate.
//!
//! The crate that includes this supplies `crate::peer` with tokio's shapes:
//!
//! | name | what it is |
//! | --- | --- |
//! | `simulate(seed, future) -> T` | a fresh simulation, run until `future` ends |
//! | `spawn(future) -> JoinHandle<()>`, `join(handle)` | a task, and waiting for its end |
//! | `yield_now()` | one scheduling point |
//! | `channel(capacity) -> (Sender, Receiver)` | a bounded channel |
//! | `sleep(Duration)`, `timeout(Duration, future)`, `Notify` | as tokio names them |
//! | `empty_simulation(seed)` | five nodes, one trivial task each, made and torn down |
//!
//! Not here: `raft`, which each peer drives as its users would, with tasks (`raft.rs`) or with the
//! kernel's callbacks; and workloads that one peer alone has.

mod memory;
mod tasks;

use bench_common::Work;

use crate::peer;

pub(crate) use memory::growth;

/// Any seed does: every repeat runs the same simulation.
const SEED: u64 = 1;

/// Channels are measured over so many seeds. detsim draws for each run how often tasks are stopped
/// before an operation, so that the figure of one seed says little of another's.
const CHANNEL_SEEDS: u64 = 10;

/// Does so many operations of a workload, in one or more fresh simulations.
pub(crate) fn run(name: &str, operations: u64) -> Option<Work> {
    let n = operations;
    match name {
        "yield-10" => peer::simulate(SEED, tasks::yields(10, n)),
        "yield-100" => peer::simulate(SEED, tasks::yields(100, n)),
        "yield-10k" => peer::simulate(SEED, tasks::yields(10_000, n)),
        "yield-100k" => peer::simulate(SEED, tasks::yields(100_000, n)),
        "spawn-1k" => peer::simulate(SEED, tasks::spawn_and_join(1_000, n)),
        "spawn-1" => peer::simulate(SEED, tasks::spawn_and_join(1, n)),
        "timers" => peer::simulate(SEED, tasks::timers(1_000, n)),
        "mpsc" => {
            let share = tasks::split_evenly(n, CHANNEL_SEEDS);
            (0..CHANNEL_SEEDS)
                .for_each(|seed| peer::simulate(seed, tasks::many_to_one(8, 16, share)));
        }
        "empty" => (0..n).for_each(peer::empty_simulation),
        _ => return None,
    }
    Some(Work::of(n))
}
