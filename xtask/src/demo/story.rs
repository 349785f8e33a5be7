//! What a sweep says, taken out of what libtest prints around it.
//!
//! libtest shows the captured output of a test between a headline with its name and the list of
//! names that follows; the sweep's own text is all of that. Nothing here knows what a finding is
//! about.

use std::fmt;

use crate::failure::{Failure, Result};

/// The sweep's own lines.
#[derive(Debug, Default)]
pub(super) struct Story {
    lines: Vec<String>,
    is_open: bool,
}

/// The end of the line that sums a sweep up, failing seeds apart.
const SUMMARY: &str = " seeds passed";
const REPRODUCE: &str = "reproduce with: ";

impl Story {
    /// Takes one line of the test binary's output.
    pub(super) fn handle_line(&mut self, line: &str) {
        if line.starts_with("---- ") && line.ends_with(" stdout ----") {
            self.is_open = true;
        } else if ["successes:", "failures:"].contains(&line) {
            self.is_open = false;
        } else if self.is_open {
            self.lines.push(line.to_owned());
        }
    }

    /// The command that the sweep ends with.
    pub(super) fn reproduce_line(&self) -> Result<&str> {
        let mut commands = self.lines.iter().filter_map(|line| line.strip_prefix(REPRODUCE));
        commands.next().ok_or_else(|| Failure::new(format!("the sweep printed no `{REPRODUCE}..`")))
    }

    /// What was found in the first failing seed: the lines from its headline to the summary,
    /// without those about other seeds and the empty ones.
    pub(super) fn finding(&self) -> Result<Vec<&str>> {
        let lines = self.lines.iter().map(String::as_str);
        let from_headline = lines.skip_while(|line| !line.starts_with("detsim: seed "));
        let finding = from_headline
            .take_while(|line| !line.starts_with("the same failure in other seeds"))
            .take_while(|line| !line.contains(SUMMARY))
            .filter(|line| !line.is_empty())
            .collect::<Vec<_>>();
        match finding.is_empty() {
            true => Err(Failure::new("the sweep printed no `detsim: seed ..`")),
            false => Ok(finding),
        }
    }

    /// An error unless a sweep was told here: a build that fails or a test that is not there tells
    /// none.
    pub(super) fn expect_sweep(&self) -> Result {
        match self.lines.iter().any(|line| line.contains(SUMMARY)) {
            true => Ok(()),
            false => Err(Failure::new("no sweep ran: see what cargo says above")),
        }
    }
}

/// Every line behind a bar, so that the story stands out from what is said around it.
impl fmt::Display for Story {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.lines.join("\n");
        text.trim().lines().try_for_each(|line| match line {
            "" => writeln!(f, "|"),
            _ => writeln!(f, "| {line}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    const FOUND: &str = "
running 1 test
test split_brain ... FAILED

failures:

---- split_brain stdout ----
detsim: seed 7 of split_brain failed: property
two leaders in term 3: n1 and n4
the same failure in other seeds: [9, 12]

4997/5000 seeds passed; failing seeds: [7, 9, 12]
reproduce with: DETSIM_SEED=7 cargo test -p raft split_brain

failures:
    split_brain

test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 2 filtered out; finished in 1.50s
";

    fn story(output: &str) -> Story {
        let mut story = Story::default();
        output.lines().for_each(|line| story.handle_line(line));
        story
    }

    #[test]
    fn the_sweeps_own_lines_are_kept() {
        expect![[r#"
            | detsim: seed 7 of split_brain failed: property
            | two leaders in term 3: n1 and n4
            | the same failure in other seeds: [9, 12]
            |
            | 4997/5000 seeds passed; failing seeds: [7, 9, 12]
            | reproduce with: DETSIM_SEED=7 cargo test -p raft split_brain
        "#]]
        .assert_eq(&story(FOUND).to_string());
    }

    #[test]
    fn the_command_and_the_finding_are_found() {
        let story = story(FOUND);
        let finding =
            ["detsim: seed 7 of split_brain failed: property", "two leaders in term 3: n1 and n4"];
        assert_eq!(story.finding().unwrap(), finding);
        let command = "DETSIM_SEED=7 cargo test -p raft split_brain";
        assert_eq!(story.reproduce_line().unwrap(), command);
    }

    #[test]
    fn no_sweep_is_an_error() {
        let story = story("running 0 tests\n\nsuccesses:\n\nsuccesses:\n\ntest result: ok.\n");
        assert!(story.expect_sweep().is_err());
        assert!(story.finding().is_err() && story.reproduce_line().is_err());
    }
}
