//! What is expected of each of tokio's tests, as a file that people read in a change.
//!
//! ```text
//! passing 2
//!
//! [sync_mpsc]
//! pass async_send_recv_with_buffer
//! fifo permits_are_given_in_this_order
//! todo start_send_past_cap
//! skip send_takes_a_second "wall-clock timing"
//!
//! [sync_watch] todo
//! ```
//!
//! `fifo` is `pass` for a test that demands one order of tasks where tokio promises none: it is run
//! under the scheduler that keeps this order. `todo` is what later work brings, for a whole program where it does not compile yet; `flaky` is
//! that too, for a test which passes now and then. `skip` is for what a simulation cannot do, with
//! a reason from a closed list. Owns the form, and what
//! counts as broken. Invariant: the count at the top only ever goes up, so that a `pass` which is
//! taken back shows in two places.

use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::str::FromStr;

use super::run::{Outcome, Results, Test};
use crate::failure::{Failure, Result};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Expectations {
    /// How many tests passed when the file was last updated.
    passing: usize,
    pub(super) programs: BTreeMap<String, Program>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Program {
    /// Compiles, and has these tests. It may have none on this target.
    Runs(BTreeMap<String, Expected>),
    /// Does not compile yet.
    Todo,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    Pass,
    /// Passes where tasks run in the order in which they became ready.
    Fifo,
    Todo,
    Flaky,
    Skip(Reason),
}

impl Expected {
    /// Is the test one of those that pass?
    pub(super) fn passes(self) -> bool {
        matches!(self, Self::Pass | Self::Fifo)
    }
}

/// Why a simulation cannot run a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reason {
    IoUring,
    RealDevice,
    RealProcess,
    RealSignal,
    TokioUnstable,
    WallClockTiming,
    Wasm,
}

impl Reason {
    const ALL: [(Self, &'static str); 7] = [
        (Self::IoUring, "io_uring"),
        (Self::RealDevice, "a real device"),
        (Self::RealProcess, "a real process"),
        (Self::RealSignal, "a real signal"),
        (Self::TokioUnstable, "tokio_unstable"),
        (Self::WallClockTiming, "wall-clock timing"),
        (Self::Wasm, "wasm"),
    ];
}

impl Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (_, text) =
            Self::ALL.iter().find(|(reason, _)| reason == self).expect("invariant: all");
        f.write_str(text)
    }
}

/// How results compare with expectations.
#[derive(Debug, Default)]
pub(super) struct Judged {
    /// One line for each expectation that is not met.
    pub(super) broken: Vec<String>,
    /// Tests and programs that do better than expected.
    better: Vec<String>,
}

impl Judged {
    /// A hint, where something is better than expected; it ends in a newline.
    pub(super) fn news(&self) -> String {
        let better = match self.better.len() {
            0 => return String::new(),
            1..=20 => self.better.join(", "),
            count => format!("{count} tests"),
        };
        format!("better than expected: {better}; `--update` writes it down\n")
    }
}

impl Expectations {
    /// Compares with what was seen of the programs that were asked for.
    pub(super) fn judge(&self, results: &Results, is_wanted: impl Fn(&str) -> bool) -> Judged {
        let mut judged = Judged::default();
        for (test, outcome) in &results.tests {
            judged.test(test, self.of(test), outcome);
        }
        for name in &results.refused {
            if self.programs.get(name) != Some(&Program::Todo) {
                judged.broken.push(format!("{name}: does not compile"));
            }
        }
        for (name, program) in self.programs.iter().filter(|(name, _)| is_wanted(name)) {
            for test in program.tests(name).filter(|test| !results.tests.contains_key(test)) {
                if !results.refused.contains(name) {
                    judged.broken.push(format!("{test}: expected, but there is no such test"));
                }
            }
        }
        let passing = self.count(Expected::passes);
        if passing < self.passing {
            let line = "the count of passing tests only goes up";
            let before = self.passing;
            judged.broken.push(format!("{line}: it was {before}, and is said to be {passing}"));
        }
        judged
    }

    /// Takes over what has become better, and what is new. What has become worse stays expected.
    pub(super) fn update(&mut self, results: &Results, is_wanted: impl Fn(&str) -> bool) {
        let before = std::mem::take(&mut self.programs);
        let is_kept = |name: &str| !is_wanted(name);
        self.programs.extend(before.iter().filter(|(name, _)| is_kept(name)).map(cloned));
        let old = Self { passing: self.passing, programs: before };
        for name in &results.refused {
            let program = old.programs.get(name).cloned().unwrap_or(Program::Todo);
            self.programs.insert(name.clone(), program);
        }
        for (test, outcome) in &results.tests {
            let now = match (old.of(test), outcome) {
                (None | Some(Expected::Todo), Outcome::Pass) => Expected::Pass,
                (None, _) => Expected::Todo,
                (Some(expected), _) => expected,
            };
            self.insert(test, now);
        }
        self.passing = self.passing.max(self.count(Expected::passes));
    }

    pub(super) fn count(&self, is_counted: impl Fn(Expected) -> bool) -> usize {
        let tests = self.programs.values().filter_map(|program| match program {
            Program::Runs(tests) => Some(tests.values()),
            Program::Todo => None,
        });
        tests.flatten().filter(|expected| is_counted(**expected)).count()
    }

    /// The tests that demand one order of tasks.
    pub(super) fn ordered(&self) -> impl Iterator<Item = Test> + '_ {
        let tests = self.programs.iter().flat_map(|(name, program)| program.tests(name));
        tests.filter(|test| self.of(test) == Some(Expected::Fifo))
    }

    pub(super) fn of(&self, test: &Test) -> Option<Expected> {
        match self.programs.get(&test.program)? {
            Program::Runs(tests) => tests.get(&test.name).copied(),
            Program::Todo => Some(Expected::Todo),
        }
    }

    fn insert(&mut self, test: &Test, expected: Expected) {
        let program = self.programs.entry(test.program.clone()).or_insert(Program::Todo);
        if *program == Program::Todo {
            *program = Program::Runs(BTreeMap::new());
        }
        if let Program::Runs(tests) = program {
            tests.insert(test.name.clone(), expected);
        }
    }
}

impl Judged {
    fn test(&mut self, test: &Test, expected: Option<Expected>, outcome: &Outcome) {
        match (expected, outcome) {
            (Some(Expected::Pass | Expected::Fifo), Outcome::Fail) => {
                self.broken.push(format!("{test}: expected to pass, fails"));
            }
            (Some(Expected::Pass | Expected::Fifo), Outcome::Hang) => {
                self.broken.push(format!("{test}: expected to pass, hangs"));
            }
            (Some(Expected::Skip(reason)), Outcome::Pass) => {
                self.broken.push(format!("{test}: passes, and is skipped for {reason}"));
            }
            (Some(Expected::Todo), Outcome::Pass) => self.better.push(test.to_string()),
            (None, _) => self.broken.push(format!("{test}: nothing is expected of it")),
            _ => {}
        }
    }
}

impl Program {
    fn tests<'a>(&'a self, program: &'a str) -> impl Iterator<Item = Test> + 'a {
        let tests = match self {
            Self::Runs(tests) => Some(tests.keys()),
            Self::Todo => None,
        };
        let test = |name: &String| Test { program: program.to_owned(), name: name.clone() };
        tests.into_iter().flatten().map(test)
    }
}

fn cloned((name, program): (&String, &Program)) -> (String, Program) {
    (name.clone(), program.clone())
}

const HEAD: &str = "\
# What each of tokio's own tests does on the simulation: `pass`, `todo`, `fifo` for one that demands
# an order of tasks, `flaky`, or `skip` for a reason. `cargo xtask conformance --update` writes what
# passes now; only people write the latter three.
";

impl Display for Expectations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{HEAD}passing {}", self.passing)?;
        for (name, program) in &self.programs {
            match program {
                Program::Todo => writeln!(f, "\n[{name}] todo")?,
                Program::Runs(tests) => {
                    writeln!(f, "\n[{name}]")?;
                    tests.iter().try_for_each(|(test, expected)| line(f, test, *expected))?;
                }
            }
        }
        Ok(())
    }
}

fn line(f: &mut fmt::Formatter<'_>, test: &str, expected: Expected) -> fmt::Result {
    match expected {
        Expected::Pass => writeln!(f, "pass {test}"),
        Expected::Fifo => writeln!(f, "fifo {test}"),
        Expected::Todo => writeln!(f, "todo {test}"),
        Expected::Flaky => writeln!(f, "flaky {test}"),
        Expected::Skip(reason) => writeln!(f, "skip {test} \"{reason}\""),
    }
}

impl FromStr for Expectations {
    type Err = Failure;

    fn from_str(text: &str) -> Result<Self> {
        let mut expectations = Self::default();
        let mut program = String::new();
        for (number, line) in (1..).zip(text.lines()) {
            expectations
                .read(line, &mut program)
                .ok_or_else(|| Failure::new(format!("expectations, line {number}: `{line}`")))?;
        }
        Ok(expectations)
    }
}

impl Expectations {
    /// Takes one line, or nothing if it is none. `program` is the one that the line is about.
    fn read(&mut self, line: &str, program: &mut String) -> Option<()> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let mut insert = |name: &str, expected| {
            let test = Test { program: program.clone(), name: name.to_owned() };
            self.insert(&test, expected);
        };
        match word {
            "" | "#" => {}
            "passing" => self.passing = rest.parse().ok()?,
            "pass" => insert(rest, Expected::Pass),
            "fifo" => insert(rest, Expected::Fifo),
            "todo" => insert(rest, Expected::Todo),
            "flaky" => insert(rest, Expected::Flaky),
            "skip" => {
                let (name, reason) = rest.split_once(' ')?;
                let reason = reason.strip_prefix('"')?.strip_suffix('"')?;
                let (reason, _) = Reason::ALL.iter().find(|(_, text)| *text == reason)?;
                insert(name, Expected::Skip(*reason));
            }
            _ => {
                *program = word.strip_prefix('[')?.strip_suffix(']')?.to_owned();
                let expected = match rest {
                    "" => Program::Runs(BTreeMap::new()),
                    "todo" => Program::Todo,
                    _ => return None,
                };
                self.programs.insert(program.clone(), expected);
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests;
