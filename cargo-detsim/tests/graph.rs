//! `cargo detsim test` on whole projects, which have never heard of detsim.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// Runs `cargo detsim test` in the fixture, in a target directory below this build's. The kernel
/// is shared with everything else in the checkout that needs one.
fn detsim_test(fixture: &Path, args: &[&str]) -> Output {
    let name = fixture.file_name().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-detsim"));
    command.current_dir(fixture).args(["detsim", "test", "--kernel-dir"]);
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/detsim/kernel"));
    command.arg("--target-dir").arg(Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)).args(args);
    // What this test was built with is nothing that the project asks for.
    for flags in ["RUSTFLAGS", "RUSTDOCFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_TARGET_DIR"] {
        command.env_remove(flags);
    }
    command.output().unwrap()
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

#[test]
fn a_project_runs_simulated_and_stays_as_it_is() {
    let streams = fixture("streams");
    let before = contents(&streams);
    let output = detsim_test(&streams, &["--locked"]);
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}\n{err}");
    assert!(out.contains("test result: ok. 4 passed; 0 failed"), "{out}");
    assert!(out.contains("test result: ok. 1 passed; 0 failed"), "the documentation's: {out}");
    assert!(contents(&streams) == before, "the project has changed");
}

#[test]
fn a_project_without_tokio_is_told_so() {
    let output = detsim_test(&fixture("without_tokio"), &["--locked"]);
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(err.contains("error: detsim: nothing to simulate;"), "{err}");
}
