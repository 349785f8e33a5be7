//! `cargo xtask test`: every test in both configurations, with one closing count.
//!
//! Owns how the tests are run and counted; `ci` runs the same two steps through `run_tests`.

use std::process::Command;

use clap::Args;

use crate::failure::{Failure, Result};
use crate::process::{self, Config};
use crate::steps::{Outcome, Steps};
use crate::tally::Tally;

/// Run all tests, first on tokio itself, then on the simulation (`--cfg detsim`).
#[derive(Args, Debug)]
pub(crate) struct Test {}

impl Test {
    pub(crate) fn run(&self) -> Result {
        let mut steps = Steps::default();
        for config in Config::BOTH {
            let passed = steps.run(&config.label("tests"), |tally| run_tests(config, tally));
            if !passed {
                break;
            }
        }
        println!("{}", steps.tally);
        steps.finish()
    }
}

/// Unit, integration and doc tests of the whole workspace, counted into `tally`.
pub(crate) fn run_tests(config: Config, tally: &mut Tally) -> Result<Outcome> {
    // Without --no-fail-fast the count would stop at the first binary with a failure.
    count_tests(config.cargo(&["test", "--workspace", "--no-fail-fast"], ""), tally)
}

/// Runs a call of `cargo test`, its output passed on, and adds what it says to `tally`.
pub(crate) fn count_tests(mut cargo: Command, tally: &mut Tally) -> Result<Outcome> {
    let mut seen = Tally::default();
    let status = process::stream(&mut cargo, |line| {
        println!("{line}");
        seen.handle_line(line);
    })?;
    let result = match seen.failures.is_empty() {
        true => process::expect_success(&cargo, status),
        false => Err(Failure::new(seen.failures.join(", "))),
    };
    tally.add(seen);
    result.map(|()| Outcome::Passed)
}
