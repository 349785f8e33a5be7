//! `cargo xtask tidy`: the rules of this repository that no lint knows.
//!
//! Owns the list of rules and the walk over the files. A rule is a pure function from text to
//! findings, so that each is tested on a few lines of sample; only this file and `licences` touch
//! the world. The whole tree is also checked by a plain test, so `cargo test` is enough.

mod code;
mod layers;
mod licences;
mod reasons;
mod source;
mod text;

use std::fmt;
use std::fs;
use std::path::Path;

use clap::Args;

use crate::failure::{Failure, Result};
use crate::process::root;

/// Check what no lint checks: module docs, sizes, layers, licences, where `unsafe` may stand.
#[derive(Args, Debug)]
pub(crate) struct Tidy {}

impl Tidy {
    pub(crate) fn run(&self) -> Result {
        check()
    }
}

/// Prints every finding, and fails if there is one.
pub(crate) fn check() -> Result {
    let findings = findings(root())?;
    findings.iter().for_each(|finding| println!("{finding}"));
    match findings.len() {
        0 => Ok(()),
        count => Err(Failure::new(format!("tidy: {count} finding(s), listed above"))),
    }
}

/// One broken rule: where, and what to do about it. A line of 0 stands for the whole file.
#[derive(Debug)]
struct Finding {
    path: String,
    line: usize,
    text: String,
}

impl Finding {
    fn new(path: &str, line: usize, text: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, text: text.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path, self.text),
            line => write!(f, "{}:{line}: {}", self.path, self.text),
        }
    }
}

fn findings(root: &Path) -> Result<Vec<Finding>> {
    let read = |path: &str| fs::read_to_string(root.join(path));
    let mut findings = reasons::check(&read("Cargo.toml")?, &read("DESIGN.md")?);
    let machine = text::machine_paths(root);
    let layers = layers::Layers::parse(&read("ARCHITECTURE.md")?);
    for path in source::files(root)? {
        let text = read(&path)?;
        findings.extend(text::check(&path, &text, &machine));
        if path.ends_with(".rs") {
            findings.extend(code::check(&path, &text));
        }
        if path.ends_with("Cargo.toml") {
            findings.extend(layers.check(&path, &text));
        }
    }
    findings.extend(licences::check()?);
    Ok(findings)
}

#[cfg(test)]
fn report(findings: &[Finding]) -> String {
    findings.iter().map(|finding| format!("{finding}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_is_tidy() {
        let report = report(&findings(root()).unwrap());
        assert!(report.is_empty(), "\n{report}");
    }
}
