//! The sweep as its users meet it: this binary runs tests of its own that fail on purpose
//! ([`victims`]), and reads what they say.

#![cfg(target_os = "linux")]

mod endings;
mod kernel;
mod lock;
mod minimize;
mod races;
mod regressions;
mod repeats;
mod scenarios;
mod settings;
mod victims;

use std::path::Path;
use std::process::Command;

/// What a test run said.
struct Said {
    passed: bool,
    text: String,
}

impl Said {
    #[track_caller]
    fn has(&self, part: &str) -> &Self {
        assert!(self.text.contains(part), "{part:?} is not in:\n{}", self.text);
        self
    }

    #[track_caller]
    fn has_not(&self, part: &str) -> &Self {
        assert!(!self.text.contains(part), "{part:?} is in:\n{}", self.text);
        self
    }

    #[track_caller]
    fn passed(&self) -> &Self {
        assert!(self.passed, "must pass:\n{}", self.text);
        self
    }

    #[track_caller]
    fn failed(&self) -> &Self {
        assert!(!self.passed, "must fail:\n{}", self.text);
        self
    }

    /// The text between two markers.
    #[track_caller]
    fn between(&self, start: &str, end: &str) -> &str {
        let (_, rest) = self.text.split_once(start).unwrap_or_else(|| {
            panic!("{start:?} is not in:\n{}", self.text);
        });
        rest.split_once(end).map_or(rest, |(middle, _)| middle)
    }
}

/// Runs tests of this binary by the harness's own arguments.
fn harness(args: &[&str], vars: &[(&str, &str)]) -> Said {
    harness_in(Path::new("."), args, vars)
}

/// The same in a directory of one's own.
fn harness_in(directory: &Path, args: &[&str], vars: &[(&str, &str)]) -> Said {
    let out = std::env::temp_dir().join("detsim-it");
    let binary = std::env::current_exe().expect("this test has a binary");
    let mut command = Command::new(binary);
    command
        .current_dir(directory)
        .args(args)
        .arg("--include-ignored")
        .env("DETSIM_OUT", out)
        .env("CARGO_PKG_NAME", "detsim");
    for name in [
        "SEED",
        "SEEDS",
        "SEED_BASE",
        "JOBS",
        "STRATEGY",
        "BUDGET",
        "LOG",
        "IN_PROCESS",
        "REPLAY",
        "MINIMIZE",
        "SAVE",
    ] {
        command.env_remove(format!("DETSIM_{name}"));
    }
    let output = command.envs(vars.iter().copied()).output().expect("this binary starts");
    let text = [output.stdout, output.stderr].concat();
    Said { passed: output.status.success(), text: String::from_utf8_lossy(&text).into_owned() }
}

/// Runs one victim.
fn victim(name: &str, vars: &[(&str, &str)]) -> Said {
    let name = format!("victims::{name}");
    let said = harness(&[&name, "--exact", "--nocapture"], vars);
    said.has("running 1 test");
    said
}
