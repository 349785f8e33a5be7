//! `cargo xtask ci`: the whole of CI, as steps that each say their name and their time.
//!
//! Owns which steps there are and in which order, cheap ones first. Every step runs, whatever the
//! ones before it said, so that one run shows all that is wrong. Needs crates.io and nothing else;
//! what needs a tool beyond Rust is behind `--full` and says when the tool is missing.

mod browser;
mod capture;
mod full;
mod releases;

use clap::Args;

use crate::failure::{Failure, Result};
use crate::process::{self, Config};
use crate::steps::Steps;
use crate::{bench, conformance, readme, test, tidy};

/// Run everything that a change has to pass.
#[derive(Args, Debug)]
pub(crate) struct Ci {
    /// Also run what needs more than Rust: valgrind, a sanitizer, the fuzzer, a browser.
    #[arg(long)]
    full: bool,
    /// Only the steps whose names have this in them, such as `page` or `clippy`.
    #[arg(long, value_name = "WORDS")]
    only: Option<String>,
}

impl Ci {
    pub(crate) fn run(&self) -> Result {
        let mut steps = Steps::only(self.only.clone());
        lint(&mut steps);
        for config in Config::BOTH {
            steps.run(&config.label("tests"), |tally| test::run_tests(config, tally));
        }
        steps.run("conformance, first part", |tally| conformance::check(CONFORMANCE, tally));
        steps.run_plain("determinism", determinism);
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

/// The programs of tokio's test-suite that every change is judged by, as their names begin. All of
/// them take minutes more, and are for `--full`.
const CONFORMANCE: &[&str] = &["sync_", "time_"];

/// Commands of this program whose standard output is the same in every process that runs them:
/// what sweeps find and tell, run hashes included, and what the worlds' runs come to.
const REPEATABLE: [&[&str]; 3] = [
    &["demo"],
    &["sim", "raft", "--trials", "20", "--drop", "0.05"],
    &["sim", "kv", "--trials", "20"],
];

/// Runs each repeatable command in two processes and demands the same bytes.
fn determinism() -> Result {
    for command in REPEATABLE {
        let run = || process::output(process::program(process::this_program()?).args(command));
        let (first, second) = (run()?, run()?);
        let name = command.join(" ");
        if let Some((number, one, other)) = first_difference(&first, &second) {
            let text = format!("`{name}` differs in line {number}: `{one}`, then `{other}`");
            return Err(Failure::new(text));
        }
        println!("`{name}`: {} lines, twice the same", first.lines().count());
    }
    Ok(())
}

/// Number and texts of the first line in which two outputs differ.
fn first_difference<'a>(one: &'a str, other: &'a str) -> Option<(usize, &'a str, &'a str)> {
    let (mut ones, mut others) = (one.lines(), other.lines());
    for number in 1.. {
        match (ones.next(), others.next()) {
            (None, None) => break,
            (one, other) if one == other => {}
            (one, other) => return Some((number, one.unwrap_or("end"), other.unwrap_or("end"))),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_differ_where_a_line_does() {
        assert_eq!(first_difference("a\nb\n", "a\nb\n"), None);
        assert_eq!(first_difference("a\nb\n", "a\nc\n"), Some((2, "b", "c")));
        assert_eq!(first_difference("a\n", "a\nb\n"), Some((2, "end", "b")));
    }
}
