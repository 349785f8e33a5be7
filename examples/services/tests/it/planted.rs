//! The planted bugs are found, and a seed has one trace.

use std::process::Command;

use detsim::{Failure, Sim, SimConfig};
use services::Bug;

use crate::scenarios;
use crate::world::Weather;

const BUGS: [Bug; 4] = [Bug::CutLine, Bug::ForgottenCalls, Bug::CutBody, Bug::CountedTwice];

async fn scenario(bug: Bug, weather: Weather) {
    scenario_of(bug, bug, weather).await;
}

/// The service that could have the one bug, with the other or with none.
async fn scenario_of(own: Bug, bug: Bug, weather: Weather) {
    match own {
        Bug::None | Bug::CutLine => scenarios::chat(bug, weather).await,
        Bug::ForgottenCalls => scenarios::rpc(bug, weather).await,
        Bug::CutBody => scenarios::http(bug, weather).await,
        Bug::CountedTwice => scenarios::gossip(bug, weather).await,
    }
}

/// Sweeps that fail on purpose: what `cargo test -p services -- --ignored cut_line` shows a person.
mod swept {
    use super::{Bug, Weather, scenario};

    #[detsim::test(seeds = 200)]
    #[ignore = "fails on purpose"]
    async fn cut_line() {
        scenario(Bug::CutLine, Weather::Rough).await;
    }

    #[detsim::test(seeds = 200)]
    #[ignore = "fails on purpose"]
    async fn forgotten_calls() {
        scenario(Bug::ForgottenCalls, Weather::Rough).await;
    }

    #[detsim::test(seeds = 200)]
    #[ignore = "fails on purpose"]
    async fn cut_body() {
        scenario(Bug::CutBody, Weather::Rough).await;
    }

    #[detsim::test(seeds = 200)]
    #[ignore = "fails on purpose"]
    async fn counted_twice() {
        scenario(Bug::CountedTwice, Weather::Rough).await;
    }
}

fn fails(seed: u64, bug: Bug, weather: Weather) -> Option<Failure> {
    Sim::new(seed).block_on(scenario(bug, weather)).err()
}

/// Of so many seeds with faults some find the bug, and say so, and not all; the first of them fails the same way
/// again; and of as many seeds without faults none finds it.
fn is_found(bug: Bug, within: u64, says: &str) {
    let found = |seed| fails(seed, bug, Weather::Rough).map(|failure| (seed, failure));
    let found: Vec<(u64, Failure)> = (0..within).filter_map(found).collect();
    let share = found.len() as u64;
    assert!(share > 0 && share < within, "{bug:?} was found by {share} seeds of {within}");
    let (seed, failure) = &found[0];
    assert!(failure.to_string().contains(says), "seed {seed}: {failure}");
    assert_eq!(fails(*seed, bug, Weather::Rough).as_ref(), Some(failure), "{bug:?}, seed {seed}");
    for seed in 0..within {
        let fails = fails(seed, bug, Weather::Fair);
        assert!(fails.is_none(), "without a fault, seed {seed} fails: {fails:?}");
    }
}

#[test]
fn a_line_that_a_short_read_cuts_is_found() {
    is_found(Bug::CutLine, 20, "nobody said");
}

#[test]
fn a_payment_that_is_made_again_over_another_connection_is_found() {
    is_found(Bug::ForgottenCalls, 60, "an account holds something else");
}

#[test]
fn a_body_that_ends_with_its_server_is_found() {
    is_found(Bug::CutBody, 60, "of which a part is missing");
}

#[test]
fn votes_that_are_counted_twice_are_found() {
    is_found(Bug::CountedTwice, 20, "more votes than were cast");
}

fn trace(seed: u64, own: Bug, bug: Bug) -> String {
    let mut config = SimConfig::default();
    config.record = true;
    let sim = Sim::with_config(seed, config);
    // What matters is what happened, also where that is a failure.
    let _ = sim.block_on(scenario_of(own, bug, Weather::Rough));
    sim.trace().to_string()
}

/// Each fault of nodes, of clocks and of links comes over services within so many seeds of each of them, as the
/// trace has it.
#[test]
fn every_fault_of_the_environment_meets_a_service() {
    const SEEDS: u64 = 40;
    let faults = [
        " crashes",
        "is killed",
        "restarts",
        "pauses",
        "resumes",
        "its clock is",
        "its clock drifts",
        "partition ",
        "slow ",
        "heal ",
        "is reset at",
        "is lost",
        "will arrive twice",
        "is held back",
        "lags",
        "cut short",
    ];
    let mut seeds = [0; 16];
    for own in BUGS {
        for trace in (0..SEEDS).map(|seed| trace(seed, own, Bug::None)) {
            for (seeds, fault) in seeds.iter_mut().zip(faults) {
                *seeds += usize::from(trace.contains(fault));
            }
        }
    }
    for (fault, seeds) in faults.into_iter().zip(seeds) {
        assert!(seeds >= 5, "{fault:?} in {seeds} seeds of {}", 4 * SEEDS);
    }
}

fn traces(seed: u64) -> String {
    let faulty = BUGS.map(|bug| trace(seed, bug, bug));
    faulty.into_iter().chain(BUGS.map(|own| trace(seed, own, Bug::None))).collect()
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
    for bug in [Bug::None].into_iter().chain(BUGS) {
        let fails = |seed: &u64| fails(*seed, bug, Weather::Rough).is_some();
        let failing: Vec<u64> = (0..400).filter(fails).collect();
        println!("{bug:?}: {} of 400 seeds, the first is {:?}", failing.len(), failing.first());
    }
}
