//! How seeds end, and what is said of it.

use super::{harness, victim};

#[test]
fn a_sweep_that_passes_says_how_many_and_nothing_else() {
    let said = victim("passes", &[]);
    said.passed().has("40/40 seeds passed\n").has_not("passes\n").has_not("reproduce");
}

#[test]
fn failing_seeds_are_listed_and_shown_once() {
    let said = victim("fails_sometimes", &[]);
    said.failed()
        .has("detsim: seed 3 of victims::fails_sometimes failed: panic\n")
        .has("seed 3 is bad")
        .has("the same failure in other seeds: [10, 17]")
        .has("seed 3 was here")
        .has_not("seed 10 was here")
        .has_not("seed 4 was here")
        .has(
            "17/20 seeds passed; failing seeds: [3, 10, 17]\nreproduce with: DETSIM_SEED=3 cargo \
             test -p detsim --test it victims::fails_sometimes -- --exact --include-ignored\n",
        );
}

#[test]
fn each_way_to_fail_has_its_own_report() {
    let said = victim("fails_in_two_ways", &[]);
    said.failed().has("first way").has("second way").has("failing seeds: [2, 4, 5]");
    assert_eq!(said.text.matches("reproduce with: DETSIM_SEED=").count(), 2, "{}", said.text);
}

#[test]
fn a_sweep_ends_after_enough_failures() {
    let said = victim("fails_always", &[]);
    said.failed().has(
        "0/4 seeds passed; failing seeds: [0, 1, 2, 3]; stopped at 4 failing seeds, 996 not run",
    );
}

#[test]
fn should_panic_sees_the_message_of_the_first_failing_seed() {
    victim("panics_as_expected", &[]).passed();
    victim("panics_otherwise", &[]).failed().has("panic did not contain expected string");
}

#[test]
fn a_process_that_ends_is_its_seeds_failure() {
    for (name, seeds, what) in [
        ("aborts", "5/6", "the process ended with signal 6 (SIGABRT: abort)"),
        ("overflows_its_stack", "3/4", "stack overflow; the process ended with signal 6"),
        ("exits", "3/4", "the process ended with exit code 7 inside the test"),
        ("exits_well", "3/4", "the process ended with exit code 0 inside the test"),
        ("is_killed", "3/4", "the process ended with signal 9 (SIGKILL"),
        ("kills_its_worker", "3/4", "this seed took its worker process along"),
        (
            "panics_in_drop",
            "3/4",
            "the process ended with signal 6 (SIGABRT: abort), after a panic",
        ),
        ("drops_badly", "3/4", "a panic whose payload is no text"),
    ] {
        let summary = format!("{seeds} seeds passed; failing seeds: [2]\n");
        victim(name, &[]).failed().has(what).has(&summary).has("DETSIM_SEED=2 cargo test");
    }
}

#[test]
fn a_crash_names_the_panic_before_it() {
    victim("panics_in_drop", &[]).failed().has("panic in drop").has("tests/it/victims.rs:");
}

#[test]
fn limits_of_a_run_are_named() {
    for (name, what) in [
        ("spins", "the test spins: no step for 0.300 s of wall time"),
        ("hangs", "the test hangs: no step for 0.300 s of wall time"),
        ("eats_memory", "out of memory; the process ended with signal 6"),
        ("prints_for_ever", "failed printing to stdout"),
    ] {
        victim(name, &[]).failed().has(what).has("2/3 seeds passed; failing seeds: [1]\n");
    }
}

#[test]
fn output_without_a_newline_is_kept() {
    victim("prints_no_newline", &[]).failed().has("no newline from 1").has("; nor here");
}

#[test]
fn errors_that_are_returned_are_told() {
    victim("returns_an_error", &[]).failed().has("Error: \\\"no quorum\\\"");
}

#[test]
fn a_sweep_inside_a_run_is_refused() {
    victim("starts_a_sweep", &[]).failed().has(
        "detsim: it::victims::passes starts a sweep inside a run of it::victims::starts_a_sweep",
    );
}

#[test]
fn a_test_may_install_a_global_subscriber() {
    let said = victim("sets_a_global_subscriber", &[]);
    said.failed().has("hello from 4").has("4/5 seeds passed; failing seeds: [4]\n");
    let said = victim("sets_a_global_subscriber", &[("DETSIM_LOG", "info")]);
    said.failed().has("hello from 4").has("4/5 seeds passed; failing seeds: [4]\n");
}

#[test]
fn tests_sweep_side_by_side() {
    let said = harness(&["victims::passes", "victims::counts", "--test-threads=4"], &[]);
    said.passed().has("running 2 tests").has("2 passed");
}
