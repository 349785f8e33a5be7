//! `cargo detsim test` on whole projects, which have never heard of detsim.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// Runs `cargo detsim test` in the fixture, in a target directory below this build's. The kernel
/// is shared with everything else in the checkout that needs one.
fn detsim_test(fixture: &Path, args: &[&str]) -> Command {
    let name = fixture.file_name().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-detsim"));
    command.current_dir(fixture).args(["detsim", "test", "--kernel-dir"]);
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/detsim/kernel"));
    command.arg("--target-dir").arg(Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)).args(args);
    // What this test was built with is nothing that the project asks for.
    for flags in ["RUSTFLAGS", "RUSTDOCFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_TARGET_DIR"] {
        command.env_remove(flags);
    }
    command
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
    assert!(contents(&streams) == before, "the project has changed");
}

/// Its own tests and those of its documentation, on virtual time.
fn passes(streams: &Path) {
    let output = detsim_test(streams, &["--locked"]).output().unwrap();
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}\n{err}");
    assert!(out.contains("test result: ok. 4 passed; 0 failed; 1 ignored"), "{out}");
    assert!(out.contains("test result: ok. 1 passed; 0 failed"), "the documentation's: {out}");
}

/// A failure ends in a line to type, which fails in the same way.
fn is_reproduced(streams: &Path) {
    let planted = ["--locked", "--test", "hours", "--", "--ignored"];
    let line = reproduce_line(&mut detsim_test(streams, &planted));
    let typed = line.strip_prefix("DETSIM_SEED=0 cargo detsim test ").unwrap_or_else(|| {
        panic!("another command than this: {line}");
    });
    let typed = typed.split(' ').collect::<Vec<_>>();
    let again = reproduce_line(detsim_test(streams, &typed).env("DETSIM_SEED", "0"));
    assert_eq!(again, line);
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
