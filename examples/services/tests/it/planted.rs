//! The planted bugs are found, and a seed has one trace.

use std::process::Command;

use detsim::{Failure, Sim, SimConfig};
use services::Bug;

use crate::scenarios;

async fn scenario(bug: Bug) {
    match bug {
        Bug::None | Bug::CutLine => scenarios::chat(bug).await,
        Bug::HalfCloseIsHangup => scenarios::rpc(bug).await,
        Bug::LostPipeline => scenarios::http(bug).await,
        Bug::CountedTwice => scenarios::gossip(bug).await,
    }
}

/// Sweeps that fail on purpose: what `cargo test -p services -- --ignored cut_line` shows a person.
mod swept {
    use super::{Bug, scenario};

    #[detsim::test(seeds = 200)]
    #[ignore = "fails on purpose"]
    async fn cut_line() {
        scenario(Bug::CutLine).await;
    }

    #[detsim::test(seeds = 200)]
    #[ignore = "fails on purpose"]
    async fn half_close_is_hangup() {
        scenario(Bug::HalfCloseIsHangup).await;
    }

    #[detsim::test(seeds = 200)]
    #[ignore = "fails on purpose"]
    async fn lost_pipeline() {
        scenario(Bug::LostPipeline).await;
    }

    #[detsim::test(seeds = 200)]
    #[ignore = "fails on purpose"]
    async fn counted_twice() {
        scenario(Bug::CountedTwice).await;
    }
}

fn fails(seed: u64, bug: Bug) -> Option<Failure> {
    Sim::new(seed).block_on(scenario(bug)).err()
}

/// The bug is found within so many seeds, and says so; then the same seed fails the same way again.
fn is_found(bug: Bug, within: u64, says: &str) {
    let found = (0..within).find_map(|seed| fails(seed, bug).map(|failure| (seed, failure)));
    let (seed, failure) = found.unwrap_or_else(|| panic!("{bug:?} was not found"));
    assert!(failure.to_string().contains(says), "seed {seed}: {failure}");
    for _ in 0..10 {
        assert_eq!(fails(seed, bug).as_ref(), Some(&failure), "{bug:?}, seed {seed}");
    }
}

#[test]
fn a_line_that_a_short_read_cuts_is_found() {
    is_found(Bug::CutLine, 10, "nobody said");
}

#[test]
fn a_half_close_that_is_taken_for_a_hangup_is_found() {
    is_found(Bug::HalfCloseIsHangup, 10, "calls without an answer");
}

#[test]
fn a_pipelined_request_that_is_lost_is_found() {
    is_found(Bug::LostPipeline, 10, "a request");
}

#[test]
fn votes_that_are_counted_twice_are_found() {
    is_found(Bug::CountedTwice, 10, "more votes than were cast");
}

fn trace(seed: u64, bug: Bug) -> String {
    let mut config = SimConfig::default();
    config.record = true;
    let sim = Sim::with_config(seed, config);
    // What matters is what happened, also where that is a failure.
    let _ = sim.block_on(scenario(bug));
    sim.trace().to_string()
}

fn traces(seed: u64) -> String {
    let all = [Bug::None, Bug::HalfCloseIsHangup, Bug::LostPipeline, Bug::CountedTwice];
    all.map(|bug| trace(seed, bug)).concat()
}

#[test]
#[ignore = "prints traces, for the test below"]
#[expect(clippy::print_stdout, reason = "another process reads it")]
fn prints_its_traces() {
    print!("<<<{}>>>", traces(7));
}

#[test]
fn a_seed_has_one_trace_in_one_process_and_in_two() {
    let here = traces(7);
    assert!(here.lines().count() > 1_000);
    assert_eq!(here, traces(7));
    assert_ne!(here, traces(8));
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["planted::prints_its_traces", "--exact", "--ignored", "--nocapture"]);
    let there = String::from_utf8(command.output().unwrap().stdout).unwrap();
    assert_eq!(there.split("<<<").nth(1).and_then(|t| t.split(">>>").next()), Some(&*here));
}

#[test]
#[ignore = "prints how many seeds find each bug"]
#[expect(clippy::print_stdout, reason = "a table for people")]
fn prints_how_soon_bugs_are_found() {
    let bugs = [Bug::CutLine, Bug::HalfCloseIsHangup, Bug::LostPipeline, Bug::CountedTwice];
    for bug in bugs {
        let failing: Vec<u64> = (0..400).filter(|seed| fails(*seed, bug).is_some()).collect();
        let first = failing.first().expect("no seed of 400 finds it");
        println!("{bug:?}: {} of 400 seeds, the first is {first}", failing.len());
    }
}
