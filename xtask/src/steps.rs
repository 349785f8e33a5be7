//! A run of named steps: each announced, timed and remembered, with a table at the end.
//!
//! The steps own wall time in this package. A failed step does not end the run; whoever
//! wants that asks `run` how the step went.

use std::fmt::Write as _;
use std::time::Duration;

use crate::failure::{Failure, Result};
use crate::tally::Tally;

#[expect(clippy::disallowed_types, reason = "people wait for these steps in wall time")]
pub(crate) type WallTime = std::time::Instant;

/// How a step that was not stopped by an error ended.
#[derive(Debug)]
pub(crate) enum Outcome {
    Passed,
    /// The step could not be taken here; the text says what is missing.
    Skipped(String),
}

#[derive(Debug, Default)]
pub(crate) struct Steps {
    pub(crate) tally: Tally,
    /// Steps whose names do not have this in them are passed over.
    only: Option<String>,
    done: Vec<Step>,
}

#[derive(Debug)]
struct Step {
    name: String,
    took: Duration,
    result: Result<Outcome>,
}

impl Steps {
    /// Takes none but the steps whose names have these words in them.
    pub(crate) fn only(words: Option<String>) -> Self {
        Self { only: words, ..Self::default() }
    }

    /// Takes one step and says whether the run may go on as if nothing had happened.
    pub(crate) fn run(
        &mut self,
        name: &str,
        body: impl FnOnce(&mut Tally) -> Result<Outcome>,
    ) -> bool {
        if self.only.as_ref().is_some_and(|words| !name.contains(words)) {
            return true;
        }
        println!("==> {name}");
        let start = WallTime::now();
        let result = body(&mut self.tally);
        let step = Step { name: name.to_owned(), took: start.elapsed(), result };
        println!("<== {step}");
        let passed = step.result.is_ok();
        self.done.push(step);
        passed
    }

    /// A step that cannot be skipped and runs no tests.
    pub(crate) fn run_plain(&mut self, name: &str, body: impl FnOnce() -> Result) -> bool {
        self.run(name, |_| body().map(|()| Outcome::Passed))
    }

    /// One line a step, in the order in which they ran.
    pub(crate) fn table(&self) -> String {
        let width = self.done.iter().map(|step| step.name.len()).max().unwrap_or(0);
        self.done.iter().fold(String::new(), |mut table, step| {
            let seconds = step.seconds();
            let _ = writeln!(table, "{:width$}  {seconds:>8}  {}", step.name, step.verdict());
            table
        })
    }

    /// An error that names the failed steps and the reason of the first.
    pub(crate) fn finish(&self) -> Result {
        if let (Some(words), []) = (&self.only, self.done.as_slice()) {
            return Err(Failure::new(format!("no step has `{words}` in its name")));
        }
        let mut failed =
            self.done.iter().filter_map(|step| Some((&*step.name, step.result.as_ref().err()?)));
        let Some((first, reason)) = failed.next() else { return Ok(()) };
        let others = failed.fold(String::new(), |others, (name, _)| others + "; also " + name);
        Err(Failure::new(format!("{first} failed: {reason}{others}")))
    }
}

impl Step {
    fn seconds(&self) -> String {
        format!("{}.{} s", self.took.as_secs(), self.took.subsec_millis() / 100)
    }

    fn verdict(&self) -> String {
        match &self.result {
            Ok(Outcome::Passed) => "ok".to_owned(),
            Ok(Outcome::Skipped(reason)) => format!("skipped: {reason}"),
            Err(failure) => format!("FAILED: {failure}"),
        }
    }
}

impl std::fmt::Display for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {} ({})", self.name, self.verdict(), self.seconds())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn step(name: &str, millis: u64, result: Result<Outcome>) -> Step {
        Step { name: name.to_owned(), took: Duration::from_millis(millis), result }
    }

    fn sample() -> Steps {
        let done = vec![
            step("fmt", 950, Ok(Outcome::Passed)),
            step("tests (cfg detsim)", 83_249, Err(Failure::new("a::b"))),
            step("fuzz", 0, Ok(Outcome::Skipped("cargo-fuzz is not installed".into()))),
            step("tidy", 12, Err(Failure::new("2 findings"))),
        ];
        Steps { done, ..Steps::default() }
    }

    #[test]
    fn the_table_is_aligned() {
        expect![[r"
            fmt                    0.9 s  ok
            tests (cfg detsim)    83.2 s  FAILED: a::b
            fuzz                   0.0 s  skipped: cargo-fuzz is not installed
            tidy                   0.0 s  FAILED: 2 findings
        "]]
        .assert_eq(&sample().table());
    }

    #[test]
    fn the_closing_error_names_every_failed_step() {
        expect!["tests (cfg detsim) failed: a::b; also tidy"]
            .assert_eq(&sample().finish().unwrap_err().to_string());
        assert!(Steps::default().finish().is_ok());
    }

    #[test]
    fn a_failed_step_is_remembered_and_the_next_one_runs() {
        let mut steps = Steps::default();
        assert!(!steps.run_plain("first", || Err(Failure::new("no"))));
        assert!(steps.run_plain("second", || Ok(())));
        assert_eq!(steps.done.len(), 2);
    }

    #[test]
    fn steps_of_other_names_are_passed_over() {
        let mut steps = Steps::only(Some("page".to_owned()));
        assert!(steps.run_plain("tests", || Err(Failure::new("no"))));
        expect!["no step has `page` in its name"]
            .assert_eq(&steps.finish().unwrap_err().to_string());
        assert!(steps.run_plain("a page in a browser", || Ok(())) && steps.finish().is_ok());
    }
}
