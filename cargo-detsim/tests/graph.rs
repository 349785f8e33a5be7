//! `cargo detsim test` on whole projects, which have never heard of detsim.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// Runs `cargo detsim` in the fixture, in a target directory below this build's. The kernel is
/// shared with everything else in the checkout that needs one.
fn detsim(fixture: &Path, command: &str, args: &[&str]) -> Command {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join(fixture.file_name().unwrap());
    let kernel = target.join("detsim/kernel");
    if !kernel.exists() {
        fs::create_dir_all(kernel.parent().unwrap()).unwrap();
        let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/detsim/kernel");
        fs::create_dir_all(&shared).unwrap();
        symlink(shared, kernel).unwrap();
    }
    let mut detsim = Command::new(env!("CARGO_BIN_EXE_cargo-detsim"));
    detsim.current_dir(fixture).args(["detsim", command]).args(args);
    // What this test was built with is nothing that the project asks for.
    for flags in ["RUSTFLAGS", "RUSTDOCFLAGS", "CARGO_ENCODED_RUSTFLAGS"] {
        detsim.env_remove(flags);
    }
    detsim.env("CARGO_TARGET_DIR", target);
    detsim
}

fn detsim_test(fixture: &Path, args: &[&str]) -> Command {
    detsim(fixture, "test", args)
}

/// Every file below `dir` with what is in it.
fn contents(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(contents(&path)),
            false => drop(found.insert(path.clone(), fs::read(path).unwrap())),
        }
    }
    found
}

/// One test, since two builds in one directory would wait for each other.
#[test]
fn a_project_runs_simulated_and_stays_as_it_is() {
    let streams = fixture("streams");
    let before = contents(&streams);
    passes(&streams);
    is_reproduced(&streams);
    is_minimised_and_shown(&streams);
    assert!(contents(&streams) == before, "the project has changed");
}

/// Its own tests and those of its documentation, on virtual time.
fn passes(streams: &Path) {
    let output = detsim_test(streams, &["--locked"]).output().unwrap();
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}\n{err}");
    assert!(out.contains("test result: ok. 4 passed; 0 failed; 2 ignored"), "{out}");
    assert!(out.contains("test result: ok. 1 passed; 0 failed"), "the documentation's: {out}");
}

/// A failure ends in a line to type, which fails in the same way.
fn is_reproduced(streams: &Path) {
    let planted = ["--locked", "--test", "hours", "two_wait", "--", "--ignored"];
    let line = reproduce_line(&mut detsim_test(streams, &planted));
    let typed = line.strip_prefix("DETSIM_SEED=0 cargo detsim test ").unwrap_or_else(|| {
        panic!("another command than this: {line}");
    });
    let typed = typed.split(' ').collect::<Vec<_>>();
    let again = reproduce_line(detsim_test(streams, &typed).env("DETSIM_SEED", "0"));
    assert_eq!(again, line);
}

/// A race, from the sweep's record to the report of what it takes, twice the same.
fn is_minimised_and_shown(streams: &Path) {
    let race = ["--locked", "--test", "hours", "two_take_two_locks", "--", "--ignored"];
    let line = reproduce_line(detsim_test(streams, &race).env("DETSIM_SEEDS", "300"));
    let seed = line.strip_prefix("DETSIM_SEED=").and_then(|rest| rest.split(' ').next()).unwrap();
    let minimize = || printed(&mut detsim(streams, "minimize", &[seed, "--test", "two_take"]));
    let report = minimize();
    for part in [
        "cycle: task 1 -> task 2 -> task 1",
        "it takes:\n",
        "100 of 100 repeats fail the same way",
        "the test passes; the two runs part here:",
        "\nreproduce with: DETSIM_REPLAY=",
    ] {
        assert!(report.replace("\n        ", " ").contains(part), "{part:?} is not in:\n{report}");
    }
    let (_, rest) = report.split_once("DETSIM_REPLAY=").unwrap();
    let record = Path::new(rest.split(' ').next().unwrap()).parent().unwrap();
    fs::remove_file(record.join("minimized.bin")).unwrap();
    assert_eq!(minimize(), report);

    let shown = printed(&mut detsim(streams, "trace", &["diff", record.to_str().unwrap()]));
    assert!(shown.contains("two_take_two_locks, seed "), "{shown}");
    let shown = printed(&mut detsim(streams, "trace", &["view", record.to_str().unwrap()]));
    assert!(shown.contains(" waits: lock on Mutex of tests/hours.rs:"), "{shown}");
    let none = detsim(streams, "minimize", &["123456789"]).output().unwrap();
    let why = String::from_utf8_lossy(&none.stderr);
    assert!(
        !none.status.success() && why.contains("there is no record of seed 123456789"),
        "{why}"
    );
}

/// What a command prints that succeeds.
fn printed(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} says:\n{err}");
    String::from_utf8(output.stdout).unwrap()
}

/// The line of a failing test's report that says what to type.
fn reproduce_line(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{text}");
    let line = text.lines().find_map(|line| line.trim().strip_prefix("reproduce with: "));
    line.unwrap_or_else(|| panic!("no line to reproduce: {text}")).to_owned()
}

#[test]
fn a_project_without_tokio_is_told_so() {
    let output = detsim_test(&fixture("without_tokio"), &["--locked"]).output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(err.contains("error: detsim: nothing to simulate;"), "{err}");
}

/// Files of crates that call the system by themselves, past libc, where nobody tells them otherwise.
#[test]
fn files_of_rustix_are_on_the_simulated_disk() {
    let tempfiles = fixture("tempfiles");
    let printed = printed(&mut detsim_test(&tempfiles, &["--locked"]));
    assert!(printed.contains("test result: ok. 2 passed; 0 failed; 1 ignored"), "{printed}");

    let mapped = ["--locked", "--test", "settings", "mapped", "--", "--ignored"];
    let output = detsim_test(&tempfiles, &mapped).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    for part in
        ["a simulated file cannot be mapped into memory; mmap fails with ENODEV", "code: 19"]
    {
        assert!(text.contains(part), "{part:?} is not in:\n{text}");
    }
    for name in ["settings", "mapped"] {
        let past_the_run = Path::new("/tmp").join(format!("detsim-tempfiles-{name}"));
        assert!(!past_the_run.exists(), "{past_the_run:?} is on the real disk");
    }
}
