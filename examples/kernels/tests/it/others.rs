//! The bugs that are planted in the other examples, held to the same figures as the kernels.

use detsim::Sim;
use detsim_fs::FaultProfile;
use kv::{Checksums, PROFILE};
use raft::core::Bug;
use raft::world::{Faults, Problem, Scenario};
use workerpool::{Job, run};

use crate::found::{at_most, sweep_of};
use crate::scenarios;
use crate::world::Weather;

fn cluster(sim: &Sim, bug: Bug) -> Result<(), Problem> {
    Scenario { bug, ..Scenario::default() }.check(sim).map(drop)
}

/// The names of the tests here that fail on purpose.
pub(crate) const OTHERS: [&str; 9] = [
    "split_brain",
    "split_brain_behind_a_partition",
    "figure_eight",
    "one_way_livelock",
    "corrupt_data_is_served",
    "a_disk_lies_about_sync",
    "lost_update",
    "lost_wakeup",
    "ab_ba",
];

#[detsim::test(seeds = 1000)]
#[ignore = "fails on purpose"]
fn split_brain(sim: &mut Sim) -> Result<(), Problem> {
    cluster(sim, Bug::VoteNotPersisted)
}

#[detsim::test(seeds = 1000)]
#[ignore = "fails on purpose"]
fn split_brain_behind_a_partition(sim: &mut Sim) -> Result<(), Problem> {
    let scenario = Scenario { faults: Faults::AtBallots, ..Scenario::default() };
    Scenario { bug: Bug::VoteNotPersisted, ..scenario }.check(sim).map(drop)
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

/// The bugs of the services, under every fault that the seed has in store.
pub(crate) const SERVICES: [&str; 4] = ["cut_line", "forgotten_calls", "cut_body", "counted_twice"];

#[detsim::test(seeds = 200)]
#[ignore = "fails on purpose"]
async fn cut_line() {
    scenarios::chat(services::Bug::CutLine, Weather::Rough).await;
}

#[detsim::test(seeds = 200)]
#[ignore = "fails on purpose"]
async fn forgotten_calls() {
    scenarios::rpc(services::Bug::ForgottenCalls, Weather::Rough).await;
}

#[detsim::test(seeds = 200)]
#[ignore = "fails on purpose"]
async fn cut_body() {
    scenarios::http(services::Bug::CutBody, Weather::Rough).await;
}

#[detsim::test(seeds = 200)]
#[ignore = "fails on purpose"]
async fn counted_twice() {
    scenarios::gossip(services::Bug::CountedTwice, Weather::Rough).await;
}

#[test]
fn a_split_brain_is_a_crash_two_elections_and_a_lost_vote() {
    let found = sweep_of("others", "split_brain");
    at_most(&found, 8, 400);
    found.says(&["both lead term", "its disk knows of no vote in it", "the next voter crashes"]);
    found.says_not(&["is cut off", "hears nobody", "was lost"]);
}

/// The partition is named with its sides, the two elections with their terms and leaders, and the
/// vote with whose it was and how it was lost. Leaders crashed in that run too, messages were late
/// and came twice, and nothing of that is left.
#[test]
fn a_split_brain_behind_a_partition_is_told_as_one() {
    let found = sweep_of("others", "split_brain_behind_a_partition");
    at_most(&found, 2, 60);
    found.says(&[
        "n1 and n5 both lead term 1",
        "1. a fault of the scenario: n5 stands for election and is cut off from all but n4 for 75 ms",
        "2. a fault of the scenario: n3 votes for n1 and crashes for 25 ms",
        "* n4, n5 | n1, n2, n3: cut off from each other, messages are lost",
        "votes for n1 in term 1",
        "leads term 1",
        "restarts in term 1: its disk knows of no vote in it",
        "* n4, n5 | n1, n2, n3: connected again",
        "votes for n5 in term 1",
        "found: n1 and n5 both lead term 1",
    ]);
    found.says_not(&["the leader crashes", "more than the least", "twice", "3. "]);
    found.is_reported_as("split_brain_behind_a_partition");
}
