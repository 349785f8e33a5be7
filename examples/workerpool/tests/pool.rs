//! The pool, swept.
//!
//! Under `--cfg detsim` each `#[detsim::test]` sweeps its seeds; without it, it is one run on tokio.
//! The tests that are ignored fail on purpose, each through one planted bug.

use workerpool::{Bug, Job, Summary, run};

fn jobs() -> Vec<Job> {
    (0..6).map(|id| Job { id, amount: u64::from(id) + 1 }).collect()
}

fn check(summary: &Summary) {
    let mut booked = summary.booked.clone();
    booked.sort_unstable();
    assert_eq!(booked, [0, 1, 2, 3, 4, 5]);
    assert_eq!(summary.total, 21, "the total of {:?}", summary.booked);
}

#[detsim::test(seeds = 5000)]
async fn every_job_is_booked_once() {
    check(&run(jobs(), Bug::None).await);
}

#[detsim::test(seeds = 1000)]
#[ignore = "fails on purpose: an update is lost between two locks"]
async fn lost_update() {
    check(&run(jobs(), Bug::LostUpdate).await);
}

#[detsim::test(seeds = 1000)]
#[ignore = "fails on purpose: the last wakeup of a shutdown is lost"]
async fn lost_wakeup() {
    check(&run(jobs(), Bug::LostWakeup).await);
}

#[detsim::test(seeds = 1000)]
#[ignore = "fails on purpose: two locks are taken in two orders"]
async fn ab_ba() {
    check(&run(jobs(), Bug::AbBa).await);
}

#[cfg(detsim)]
mod planted {
    use super::{check, jobs};
    use detsim::{Failure, Sim, SimConfig};
    use std::process::Command;
    use workerpool::{Bug, run};

    /// Seeds within which each planted bug is found.
    const WITHIN: u64 = 200;

    fn fails(seed: u64, bug: Bug) -> Option<Failure> {
        let sim = Sim::new(seed);
        sim.block_on(async move { check(&run(jobs(), bug).await) }).err()
    }

    fn first(bug: Bug) -> (u64, Failure) {
        let found = (0..WITHIN).find_map(|seed| fails(seed, bug).map(|failure| (seed, failure)));
        found.unwrap_or_else(|| panic!("{bug} was not found in {WITHIN} seeds"))
    }

    #[test]
    fn the_lost_update_is_found() {
        let (_, failure) = first(Bug::LostUpdate);
        assert!(failure.to_string().contains("the total of"), "{failure}");
    }

    #[test]
    fn the_lost_wakeup_is_found_and_explained() {
        let (_, failure) = first(Bug::LostWakeup);
        assert_eq!(failure.verdict(), "deadlock");
        let text = failure.to_string();
        assert!(text.contains("waits: notified at examples/workerpool/src/pool.rs:"), "{text}");
    }

    #[test]
    fn the_two_orders_are_found_with_their_cycle() {
        let (_, failure) = first(Bug::AbBa);
        let Failure::Deadlock(deadlock) = &failure else { panic!("{failure}") };
        assert!(!deadlock.cycles.is_empty(), "{failure}");
        let text = failure.to_string();
        assert!(text.contains("held by") && text.contains("stack: workerpool::"), "{text}");
    }

    #[test]
    fn a_failing_seed_fails_the_same_way_100_times() {
        for bug in [Bug::LostUpdate, Bug::LostWakeup, Bug::AbBa] {
            let (seed, failure) = first(bug);
            for _ in 0..100 {
                assert_eq!(fails(seed, bug).as_ref(), Some(&failure), "{bug}, seed {seed}");
            }
        }
    }

    fn trace(seed: u64) -> String {
        let mut config = SimConfig::default();
        config.record = true;
        let sim = Sim::with_config(seed, config);
        sim.block_on(async { check(&run(jobs(), Bug::None).await) }).unwrap();
        sim.trace().to_string()
    }

    #[test]
    #[ignore = "prints a trace, for the test below"]
    #[expect(clippy::print_stdout, reason = "another process reads it")]
    fn prints_its_trace() {
        print!("<<<{}>>>", trace(7));
    }

    #[test]
    fn a_seed_has_one_trace_in_one_process_and_in_two() {
        let here = trace(7);
        assert!(here.lines().count() > 100);
        assert_eq!(here, trace(7));
        assert_ne!(here, trace(8));
        let there = || {
            let exe = std::env::current_exe().unwrap();
            let mut command = Command::new(exe);
            let args = ["planted::prints_its_trace", "--exact", "--ignored", "--nocapture"];
            String::from_utf8(command.args(args).output().unwrap().stdout).unwrap()
        };
        let (one, two) = (there(), there());
        assert_eq!(one.split("<<<").nth(1).and_then(|t| t.split(">>>").next()), Some(&*here));
        assert_eq!(two.split("<<<").nth(1).and_then(|t| t.split(">>>").next()), Some(&*here));
    }
}
