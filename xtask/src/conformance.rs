//! `cargo xtask conformance`: tokio's own tests, as published, on the simulated tokio.
//!
//! Owns the command and the order of its steps. How the tests are built is in `scratch`, how they
//! are run in `run`, what is expected of each in `expectations`, and what a reader is told in
//! `compat`. Invariant: what fails is either expected to, with a reason, or fails the command.

mod compat;
mod expectations;
mod run;
mod scratch;

use std::time::Duration;

use clap::Args;

use crate::failure::{Failure, Result};
use crate::process;
use crate::steps::Outcome;
use crate::tally::Tally;
use expectations::Expectations;
use run::{Results, Runner};
use scratch::Scratch;

/// Run tokio's own tests on the simulated tokio and compare with what is expected of each.
#[derive(Args, Debug)]
pub(crate) struct Conformance {
    /// Only the test programs whose name begins so; all of them without.
    programs: Vec<String>,
    /// How many crates are compiled and how many tests are run at a time.
    #[arg(long)]
    jobs: Option<u32>,
    /// How often each test is run; it passes if it always does.
    #[arg(long, default_value_t = 1)]
    repeat: u32,
    /// Seconds after which a test is taken to hang.
    #[arg(long, default_value_t = 10)]
    timeout: u64,
    /// Write down what passes now, in the expectations and in COMPAT.md.
    #[arg(long)]
    update: bool,
}

const EXPECTATIONS: &str = "xtask/conformance/expectations.txt";
const COMPAT: &str = "COMPAT.md";

impl Conformance {
    pub(crate) fn run(&self) -> Result {
        self.judge().map(|_| ())
    }

    /// Runs the tests, and fails where one does not do what is expected of it.
    fn judge(&self) -> Result<Results> {
        let scratch = Scratch::make(|program| self.wants(program))?;
        let mut expectations = read()?;
        let results = self.results(&scratch, &expectations)?;
        if self.update {
            expectations.update(&results, |program| self.wants(program));
            std::fs::write(process::root().join(EXPECTATIONS), expectations.to_string())?;
            std::fs::write(process::root().join(COMPAT), compat::page(&expectations))?;
        }
        let judged = expectations.judge(&results, |program| self.wants(program));
        println!("{}{}", compat::counts(&expectations, &results), judged.news());
        judged.broken.iter().for_each(|line| println!("{line}"));
        match judged.broken.len() {
            0 => Ok(results),
            count => Err(Failure::new(format!("{count} expectation(s) not met, listed above"))),
        }
    }

    fn results(&self, scratch: &Scratch, expectations: &Expectations) -> Result<Results> {
        let built = scratch.build(self.jobs)?;
        // Who asks about a few programs wants to know what is wrong with them.
        let explained = match (self.programs.is_empty(), built.programs.is_empty()) {
            (false, _) => built.refused.len(),
            (true, nothing) => usize::from(nothing),
        };
        built.refused.iter().take(explained).try_for_each(|program| scratch.explain(program))?;
        let runner = Runner {
            dir: scratch.dir.clone(),
            jobs: self.jobs.map_or_else(parallelism, |jobs| jobs as usize),
            repeats: self.repeat,
            timeout: Duration::from_secs(self.timeout),
            ordered: expectations.ordered().collect(),
        };
        runner.run(built)
    }

    fn wants(&self, program: &str) -> bool {
        self.programs.is_empty() || self.programs.iter().any(|start| program.starts_with(start))
    }
}

/// Runs those programs whose names begin so, or all of them, as CI does. A machine that is busy with
/// other things is given the time that it needs.
pub(crate) fn check(programs: &[&str], tally: &mut Tally) -> Result<Outcome> {
    let programs = programs.iter().map(|&program| program.to_owned()).collect();
    let chosen = Conformance { programs, jobs: None, repeat: 1, timeout: 30, update: false };
    tally.passed += chosen.judge()?.passing();
    Ok(Outcome::Passed)
}

fn parallelism() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn read() -> Result<Expectations> {
    let text = std::fs::read_to_string(process::root().join(EXPECTATIONS))?;
    text.parse()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_says_what_is_expected() {
        let page = std::fs::read_to_string(process::root().join(COMPAT)).unwrap();
        let now = compat::page(&read().unwrap());
        assert!(page == now, "COMPAT.md is out of date: cargo xtask conformance --update");
    }
}
