//! Tasks that are stopped in the middle of their polls before every operation that they do there.
//!
//! An operation is a *hold*: the poll is put aside on the thread that it is on, others run, and it goes
//! on. How many a run takes is counted in one that is recorded, which does the same. The operations
//! themselves, and a share of making and ending the run, are part of the figure. Invariant: a run takes
//! no more holds than detsim takes before it begins to leave some out.

use std::hint::black_box;
use std::sync::Arc;

use bench_common::Work;
use detsim::{Event, Sim, SimConfig};
use detsim_executor::Scheduler;
use detsim_executor::scheduler::{Fifo, Pick, Ready};
use tokio::sync::Notify;

const TASKS: u64 = 4;
const OPERATIONS: u64 = 8;

/// As many runs as come to at least so many holds.
pub(crate) fn holds(wanted: u64) -> Work {
    let each = holds_of_a_run();
    let runs = wanted.div_ceil(each);
    for _ in 0..runs {
        black_box(run(false).hash());
    }
    Work::of(runs * each)
}

fn holds_of_a_run() -> u64 {
    let trace = run(true).trace();
    let stops =
        trace.moments.iter().filter(|moment| matches!(moment.event, Event::Preempted { .. }));
    let holds = stops.count() as u64;
    assert!(holds > TASKS * OPERATIONS / 2, "{holds} holds");
    holds
}

fn run(record: bool) -> Sim {
    let mut config = SimConfig::default();
    config.record = record;
    let sim = Sim::with_config(1, config);
    sim.set_scheduler(Box::new(StopsAlways::default()));
    for _ in 0..TASKS {
        // The run ends when all have ended.
        drop(sim.spawn("notifies", async {
            let notify = Arc::new(Notify::new());
            for _ in 0..OPERATIONS {
                notify.notify_one();
            }
        }));
    }
    sim.run().unwrap_or_else(|failure| panic!("{failure}"));
    sim
}

/// In the order in which tasks became ready, each until its next operation.
#[derive(Debug, Default)]
struct StopsAlways(Fifo);

impl Scheduler for StopsAlways {
    fn ready(&mut self, task: Ready) {
        self.0.ready(task);
    }

    fn pick(&mut self, at: Pick) -> Option<u32> {
        self.0.pick(at)
    }

    fn preempt_after(&mut self) -> Option<u32> {
        Some(1)
    }

    fn remove(&mut self, slot: u32) {
        self.0.remove(slot);
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn default_pick(&self, at: Pick) -> Option<u32> {
        self.0.default_pick(at)
    }
}
