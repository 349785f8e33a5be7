//! What the environment can say.

use std::process::Command;

use super::victim;

#[test]
fn nonsense_is_refused_by_name() {
    for (name, value, allowed) in [
        ("DETSIM_SEED", "abc", "a whole number"),
        ("DETSIM_SEEDS", "0", "a count of at least 1"),
        ("DETSIM_SEED_BASE", "-1", "a whole number"),
        ("DETSIM_JOBS", "none", "at least 1"),
        ("DETSIM_STRATEGY", "best", "random or fifo"),
        ("DETSIM_BUDGET", "soon", "90s, 5m"),
        ("DETSIM_LOG", "a=b=c", "a filter of tracing"),
        ("DETSIM_IN_PROCESS", "maybe", "1 or 0"),
        ("DETSIM_WORKER", "x", "detsim sets it itself"),
    ] {
        let said = victim("passes", &[(name, value)]);
        said.failed()
            .has(&format!("detsim: {name}={value} cannot be used; allowed: "))
            .has(allowed);
    }
}

#[test]
fn a_worker_variable_without_a_parent_ends_at_once() {
    let said = victim("passes", &[("DETSIM_WORKER", "2:77")]);
    said.failed().has("detsim: this process cannot serve as a worker: Bad file descriptor");
}

#[test]
fn one_seed_runs_alone_with_its_output() {
    let said = victim("passes", &[("DETSIM_SEED", "1234")]);
    said.passed().has("output of seed 1234:\nseed 1234 passes\n").has("1/1 seeds passed\n");
}

#[test]
fn counts_ranges_and_bases_choose_the_seeds() {
    victim("passes", &[("DETSIM_SEEDS", "7")]).passed().has("7/7 seeds passed\n");
    let said = victim("fails_sometimes", &[("DETSIM_SEEDS", "8..20")]);
    said.failed().has("10/12 seeds passed; failing seeds: [10, 17]\n");
    let vars = [("DETSIM_SEEDS", "3"), ("DETSIM_SEED_BASE", "9")];
    victim("fails_sometimes", &vars).failed().has("2/3 seeds passed; failing seeds: [10]\n");
}

#[test]
fn a_budget_ends_a_sweep_in_order() {
    let said = victim("takes_its_time", &[("DETSIM_BUDGET", "200ms")]);
    said.passed().has(" seeds passed; DETSIM_BUDGET is used up, ");
}

#[test]
fn the_strategy_is_part_of_the_command() {
    let said = victim("fails_sometimes", &[("DETSIM_STRATEGY", "fifo")]);
    said.failed().has("reproduce with: DETSIM_SEED=3 DETSIM_STRATEGY=fifo cargo test");
}

#[test]
fn seeds_can_run_in_the_test_process() {
    let said = victim("fails_sometimes", &[("DETSIM_IN_PROCESS", "1")]);
    said.failed().has("17/20 seeds passed; failing seeds: [3, 10, 17]\n").has("seed 4 was here");
    victim("counts_in_a_static", &[("DETSIM_IN_PROCESS", "1")]).failed().has("seed 1 is not");
}

#[test]
fn the_log_is_printed_where_it_is_asked_for() {
    victim("logs", &[]).failed().has_not("logged");
    let said = victim("logs", &[("DETSIM_LOG", "info")]);
    said.failed().has("INFO").has("logged").has("seed=1").has_not("not logged");
}

#[test]
fn the_command_runs_as_printed() {
    let said = victim("fails_sometimes", &[("DETSIM_SEEDS", "9..12")]);
    let command = said.failed().between("reproduce with: ", "\n");
    let typed = Command::new("sh").args(["-c", command]).output().expect("there is a shell");
    let text = String::from_utf8_lossy(&typed.stdout) + String::from_utf8_lossy(&typed.stderr);
    assert!(!typed.status.success(), "{text}");
    assert!(text.contains("0/1 seeds passed; failing seeds: [10]\n"), "{text}");
    assert!(text.contains(command), "{text}");
}

#[test]
fn reports_are_written_where_asked() {
    let out = std::env::temp_dir().join(format!("detsim-it-{}", std::process::id()));
    victim("fails_sometimes", &[("DETSIM_OUT", out.to_str().unwrap())]).failed();
    let report = out.join("it.victims.fails_sometimes/3/report.txt");
    let text = std::fs::read_to_string(report).unwrap();
    assert!(text.contains("seed 3 is bad") && text.ends_with("--include-ignored\n"), "{text}");
    std::fs::remove_dir_all(out).unwrap();
}
