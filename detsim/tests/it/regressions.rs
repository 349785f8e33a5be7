//! A failure that was saved beside the tests is replayed before any seed.

use std::fs;
use std::path::Path;

use super::minimize::fresh;
use super::{Said, harness_in};

/// The race in a package of its own, as it stands when its file says `program`.
fn race(package: &Path, program: &str, vars: &[(&str, &str)]) -> Said {
    fs::write(package.join("program"), program).expect("the directory can be written");
    let out = package.join("out");
    let vars = [vars, &[("DETSIM_OUT", out.to_str().expect("a path in ASCII"))]].concat();
    let said = harness_in(package, &["races::a_race_over_time", "--exact", "--nocapture"], &vars);
    said.has("running 1 test");
    said
}

const KEPT: &str = "tests/detsim-regressions/it.races.a_race_over_time";

#[test]
fn what_was_saved_is_replayed_first() {
    let package = fresh("regressions");
    fs::create_dir_all(&package).expect("the directory can be made");
    let said = race(&package, "planted", &[("DETSIM_SAVE", "1")]);
    said.failed().has("saved as tests/detsim-regressions/").has("it takes:\n");
    let kept: Vec<_> = fs::read_dir(package.join(KEPT)).unwrap().flatten().collect();
    assert_eq!(kept.len(), 2, "the choices, and their story: {kept:?}");

    let records = fs::read_dir(package.join("out/it.races.a_race_over_time")).unwrap().flatten();
    let record = records.map(|entry| entry.path()).min().expect("the failure has a record");
    let record = record.to_str().expect("a path in ASCII");
    let vars = [("DETSIM_REPLAY", record), ("DETSIM_MINIMIZE", "1")];
    let said = race(&package, "mended", &vars);
    said.failed().has("no longer lead to the failure").has("now: it passed\n").has("DETSIM_SEED=");

    let again = "fails again; no seed was run\nreproduce with: DETSIM_REPLAY=tests/detsim-regr";
    race(&package, "planted", &[]).failed().has("failed: deadlock").has(again);
    race(&package, "edited", &[]).failed().has("failed: deadlock").has(again);
    race(&package, "mended", &[]).passed().has("50/50 seeds passed").has_not("regression");
    let said = race(&package, "rewritten", &[]);
    said.passed().has("no longer applies: ").has("never came up").has("50/50 seeds passed");

    let file = kept.iter().find(|file| file.path().extension().is_some_and(|e| e == "bin"));
    fs::write(file.expect("the choices").path(), "no choices").unwrap();
    race(&package, "mended", &[]).failed().has("it is no file of choices").has_not("seeds passed");
}

#[test]
fn one_seed_is_run_without_them() {
    let package = fresh("regressions-of-a-seed");
    let place = package.join(KEPT);
    fs::create_dir_all(&place).expect("the directory can be made");
    fs::write(place.join("1.bin"), "no choices").unwrap();
    let said = race(&package, "mended", &[("DETSIM_SEED", "1")]);
    said.has_not("it is no file of choices");
    race(&package, "mended", &[]).failed().has("it is no file of choices");
}
