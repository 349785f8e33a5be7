//! `cargo xtask ci`: the whole of CI, as steps that each say their name and their time.
//!
//! Owns which steps there are and in which order, cheap ones first. Every step runs, whatever the
//! ones before it said, so that one run shows all that is wrong. Needs crates.io and nothing else;
//! what needs a tool beyond Rust is behind `--full` and says when the tool is missing.

mod full;

use clap::Args;

use crate::failure::Result;
use crate::process::{self, Config};
use crate::steps::Steps;
use crate::{bench, readme, test, tidy};

/// Run everything that a change has to pass.
#[derive(Args, Debug)]
pub(crate) struct Ci {
    /// Also run what needs more than Rust: valgrind, a sanitizer, the fuzzer.
    #[arg(long)]
    full: bool,
}

impl Ci {
    pub(crate) fn run(&self) -> Result {
        let mut steps = Steps::default();
        lint(&mut steps);
        for config in Config::BOTH {
            steps.run(&config.label("tests"), |tally| test::run_tests(config, tally));
        }
        steps.run_plain("README commands", readme::run_commands);
        steps.run("benches", bench::check);
        if self.full {
            full::run(&mut steps);
        }
        println!("\n{}\n{}", steps.table(), steps.tally);
        steps.finish()
    }
}

fn lint(steps: &mut Steps) {
    let fmt = ["fmt", "--all", "--check"];
    steps.run_plain("fmt", || process::run(&mut process::cargo(&fmt)));
    steps.run_plain("tidy", tidy::check);
    for config in Config::BOTH {
        let clippy = ["clippy", "--workspace", "--all-targets"];
        steps.run_plain(&config.label("clippy"), || {
            process::run(config.cargo(&clippy, "").args(["--", "--deny=warnings"]))
        });
    }
    for config in Config::BOTH {
        let doc = ["doc", "--workspace", "--no-deps", "--document-private-items"];
        steps.run_plain(&config.label("rustdoc"), || {
            process::run(&mut config.cargo(&doc, "--deny=warnings"))
        });
    }
}
