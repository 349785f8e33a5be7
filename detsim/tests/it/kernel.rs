//! What a sweep says of scenarios of the kernel.

use super::harness;

fn scenario(name: &str, vars: &[(&str, &str)]) -> super::Said {
    let said = harness(&[&format!("scenarios::{name}"), "--exact", "--nocapture"], vars);
    said.has("running 1 test");
    said
}

#[test]
fn scenarios_pass_and_repeat() {
    scenario("passes", &[]).passed().has("30/30 seeds passed\n");
    let hash = |vars: &[(&str, &str)]| {
        let vars = [vars, &[("DETSIM_SEED", "7")]].concat();
        scenario("passes", &vars).passed().between("hash ", "\n").to_owned()
    };
    assert_eq!(hash(&[]), hash(&[]));
    assert_eq!(hash(&[]), hash(&[("DETSIM_IN_PROCESS", "1")]));
}

#[test]
fn a_deadlock_is_the_verdict_however_the_test_passes_it_on() {
    let said = scenario("deadlocks", &[]);
    said.failed()
        .has("detsim: seed 4 of scenarios::deadlocks failed: deadlock\n")
        .has("\"waiter\"")
        .has("on an `Err` value: Deadlock(..)")
        .has("27/30 seeds passed; failing seeds: [4, 14, 24]\n");
    let said = scenario("deadlocks_and_returns_it", &[]);
    said.failed().has("failed: deadlock\n").has("29/30 seeds passed; failing seeds: [4]\n");
}

#[test]
fn a_failing_seed_repeats_its_hash() {
    let hash = |vars: &[(&str, &str)]| {
        let said = scenario("deadlocks", vars);
        said.failed().has("seed 14 of").between("run hash: ", "\n").to_owned()
    };
    let alone = hash(&[("DETSIM_SEED", "14")]);
    assert_eq!(alone.len(), 16, "{alone}");
    for _ in 0..10 {
        assert_eq!(hash(&[("DETSIM_SEED", "14")]), alone);
        assert_eq!(hash(&[("DETSIM_SEEDS", "6..20")]), alone);
    }
    assert_eq!(hash(&[("DETSIM_SEED", "14"), ("DETSIM_IN_PROCESS", "1")]), alone);
}

#[test]
fn a_panic_in_a_task_names_task_and_line() {
    let said = scenario("a_task_panics", &[]);
    said.failed()
        .has("failed: panic\n")
        .has("balance is 400")
        .has("\"bad\"")
        .has("panicked at detsim/tests/it/scenarios.rs:")
        .has("29/30 seeds passed; failing seeds: [4]\n");
    scenario("a_task_panics_as_expected", &[]).passed();
}

#[test]
fn async_functions_deadlock_and_return_errors() {
    let said = scenario("an_async_function", &[]);
    said.failed()
        .has("detsim: seed 2 of scenarios::an_async_function failed: deadlock\n")
        .has("Error: \"three\"")
        .has("4/6 seeds passed; failing seeds: [2, 3]\n");
}

#[test]
fn a_test_that_expects_a_failure_fails_for_its_own_reason() {
    let said = scenario("fails_for_its_own_reason", &[]);
    said.failed().has("failed: panic\n").has("seeds differ").has("DEADLOCK");
}

#[test]
fn endless_runs_are_stopped_and_named() {
    let said = scenario("never_ends", &[]);
    said.failed().has("failed: livelock\n").has("\"spinner\"").has("1000 steps");
    let said = scenario("spins_in_one_poll", &[]);
    said.failed()
        .has("\"miner\" spins: no step for 0.300 s of wall time after step")
        .has("2/3 seeds passed; failing seeds: [1]\n");
}

#[test]
fn a_panic_in_a_drop_at_the_end_fails_the_run() {
    let said = scenario("a_drop_panics", &[]);
    said.failed().has("panic in drop").has("2/3 seeds passed; failing seeds: [1]\n");
}

#[test]
fn the_log_carries_time_node_and_task() {
    let said = scenario("logs", &[("DETSIM_LOG", "info")]);
    let line = said.failed().text.lines().find(|line| line.ends_with("from inside"));
    let line = line.expect("the event is printed");
    assert!(line.starts_with("1.5000") && line.contains("s n1 task 0 \"writer\"  INFO"), "{line}");
    said.has("outside the simulation  INFO it::scenarios: before");
}
