//! The correct cluster, under thousands of plans of partitions and crashes.

use detsim::Sim;
use raft::world::{Faults, Problem, Scenario};

/// The least number of messages and timers that make a run worth the name.
const EVENTS_MIN: u64 = 2_700;

/// Election safety, log matching, leader completeness and state machine safety after every
/// message and timer; progress and agreement once all is healed.
#[detsim::test(seeds = 5000)]
fn no_two_leaders(sim: &mut Sim) -> Result<(), Problem> {
    let outcome = Scenario::default().check(sim)?;
    let events = outcome.counts.events();
    assert!(events >= EVENTS_MIN, "only {events} messages and timers: {outcome}");
    Ok(())
}

/// One message of ten is lost on each of its two ends; nothing unsafe comes of it.
#[detsim::test(seeds = 1000)]
fn losses_harm_nobody(sim: &mut Sim) -> Result<(), Problem> {
    Scenario { drop_rate: 0.1, ..Scenario::default() }.check(sim).map(|_| ())
}

/// Candidates are cut off as they stand and voters crash as they vote; their disks remember.
#[detsim::test(seeds = 1000)]
fn faults_at_ballots_harm_nobody(sim: &mut Sim) -> Result<(), Problem> {
    Scenario { faults: Faults::AtBallots, ..Scenario::default() }.check(sim).map(|_| ())
}
