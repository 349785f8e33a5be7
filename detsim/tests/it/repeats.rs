//! The same seed is the same run: in a sweep, alone, first or last, in any process.

use super::victim;

/// What the first failing seed printed.
fn told(name: &str, vars: &[(&str, &str)], seed: u64) -> String {
    let said = victim(name, vars);
    said.failed().between(&format!("output of seed {seed}:\n"), "end of the output").to_owned()
}

#[test]
fn all_sources_repeat_in_sweep_and_replay() {
    let alone = told("tells_all", &[("DETSIM_SEED", "5")], 5);
    assert!(alone.contains("runs before: 0") && alone.contains("map: "), "{alone}");
    for (seeds, jobs) in [("0..20", "1"), ("5..6", "1"), ("0..6", "2"), ("4..16", "3")] {
        let swept = told("tells_all", &[("DETSIM_SEEDS", seeds), ("DETSIM_JOBS", jobs)], 5);
        assert_eq!(swept, alone, "seeds {seeds}, {jobs} jobs");
    }
}

#[test]
fn all_sources_repeat_from_process_to_process() {
    let first = told("tells_all", &[("DETSIM_SEED", "17")], 17);
    for filler in ["", "a variable that moves the stack"] {
        let vars = [("DETSIM_SEED", "17"), ("DETSIM_IT_FILLER", filler)];
        assert_eq!(told("tells_all", &vars, 17), first, "{filler:?}");
    }
}

#[test]
fn hash_order_belongs_to_the_seed() {
    let order = |seed| {
        let said = victim("tells_all", &[("DETSIM_SEED", seed)]);
        said.between("map: ", "\n").to_owned()
    };
    assert_eq!(order("3"), order("3"));
    assert_ne!(order("3"), order("4"));
}

#[test]
fn quick_seeds_run_back_to_back() {
    victim("has_a_hash", &[]).passed().has("3000/3000 seeds passed").has_not("process of its own");
    let said = victim("has_a_hash_and_fails", &[]);
    said.failed().has("2997/3000 seeds passed; failing seeds: [999, 1999, 2999]\n");
    said.has_not("process of its own").has_not("did not repeat");
    let said = victim("has_a_hash_and_aborts", &[]);
    said.failed().has("2997/3000 seeds passed; failing seeds: [999, 1999, 2999]\n");
    said.has_not("process of its own").has("signal 6 (SIGABRT: abort)");
}

#[test]
fn what_leaks_from_seed_to_seed_is_found_and_ends_the_exception() {
    let remark = "every seed ran in a process of its own instead";
    let said = victim("leaks_into_later_seeds", &[]);
    said.passed().has(remark).has("its run hash differs").has("3000/3000 seeds passed");
    let said = victim("crashes_back_to_back", &[]);
    said.passed().has(remark).has("its verdict differs").has("3000/3000 seeds passed");
}

#[test]
fn statics_are_fresh_for_every_seed() {
    victim("counts_in_a_static", &[]).passed().has("50/50 seeds passed");
}
