//! The bugs that are planted in the other examples, held to the same figures as the kernels.

use detsim::Sim;
use detsim_fs::FaultProfile;
use kv::{Checksums, PROFILE};
use raft::core::Bug;
use raft::world::{Problem, Scenario};
use workerpool::{Job, run};

use crate::found::{at_most, sweep_of};

fn cluster(sim: &Sim, bug: Bug) -> Result<(), Problem> {
    Scenario { drop_rate: 0.0, bug }.check(sim).map(drop)
}

#[detsim::test(seeds = 1000)]
#[ignore = "fails on purpose"]
fn split_brain(sim: &mut Sim) -> Result<(), Problem> {
    cluster(sim, Bug::VoteNotPersisted)
}

#[detsim::test(seeds = 1000)]
#[ignore = "fails on purpose"]
fn figure_eight(sim: &mut Sim) -> Result<(), Problem> {
    cluster(sim, Bug::CommitOldTermByCounting)
}

#[detsim::test(seeds = 100)]
#[ignore = "fails on purpose"]
fn one_way_livelock(sim: &mut Sim) -> Result<(), Problem> {
    cluster(sim, Bug::OneWayLivelock)
}

#[detsim::test(seeds = 200)]
#[ignore = "fails on purpose"]
fn corrupt_data_is_served(sim: &mut Sim) -> Result<(), kv::Problem> {
    kv::check(sim, PROFILE, Checksums::Off)
}

#[detsim::test(seeds = 200)]
#[ignore = "fails on purpose"]
fn a_disk_lies_about_sync(sim: &mut Sim) -> Result<(), kv::Problem> {
    kv::check(sim, FaultProfile { skip_sync_rate: 0.5, ..PROFILE }, Checksums::On)
}

async fn pool(bug: workerpool::Bug) {
    let jobs = (0..6).map(|id| Job { id, amount: u64::from(id) + 1 }).collect();
    let summary = run(jobs, bug).await;
    assert_eq!(summary.total, 21, "the total of {:?}", summary.booked);
}

#[detsim::test(seeds = 1000)]
#[ignore = "fails on purpose"]
async fn lost_update() {
    pool(workerpool::Bug::LostUpdate).await;
}

#[detsim::test(seeds = 1000)]
#[ignore = "fails on purpose"]
async fn lost_wakeup() {
    pool(workerpool::Bug::LostWakeup).await;
}

#[detsim::test(seeds = 1000)]
#[ignore = "fails on purpose"]
async fn ab_ba() {
    pool(workerpool::Bug::AbBa).await;
}

/// The kernels, more than half of all planted bugs, come down to at most two decisions in twenty
/// runs each; so the median is there. These are the rest.
#[test]
fn no_planted_bug_needs_more_than_eight_decisions() {
    for (bug, decisions, runs) in [
        ("figure_eight", 8, 150),
        ("one_way_livelock", 2, 60),
        ("corrupt_data_is_served", 1, 20),
        ("a_disk_lies_about_sync", 1, 20),
        ("lost_update", 4, 60),
        ("lost_wakeup", 8, 300),
        ("ab_ba", 4, 60),
    ] {
        at_most(&sweep_of("others", bug), decisions, runs);
    }
}

#[test]
fn a_split_brain_is_a_crash_two_elections_and_a_lost_vote() {
    let found = sweep_of("others", "split_brain");
    at_most(&found, 8, 400);
    found.says(&["both lead term", "its disk knows of no vote in it", "the next voter crashes"]);
    found.says_not(&["is cut off", "hears nobody", "was lost"]);
}
