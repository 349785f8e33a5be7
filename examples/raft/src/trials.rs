//! Runs of the world from the shell: one line a seed.
//!
//! Owns: what `cargo xtask sim raft` runs and prints. Does not own: the arguments' spelling.

use std::io::{self, Write};

use detsim::Sim;

use crate::core::Bug;
use crate::world::Scenario;

/// Which runs to make.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// The first seed.
    pub seed: u64,
    /// How many seeds, counting up from the first.
    pub trials: u64,
    /// The rate at which messages are lost, in `0.0..=1.0`.
    pub drop_rate: f64,
    /// The mistake that every node makes.
    pub bug: Bug,
}

impl Default for Options {
    fn default() -> Self {
        Self { seed: 0, trials: 1, drop_rate: 0.0, bug: Bug::None }
    }
}

/// Makes the runs, prints one line for each, and says whether something was found.
///
/// # Errors
/// Those of `out`.
pub fn run(options: &Options, out: &mut dyn Write) -> io::Result<bool> {
    let Options { seed, trials, drop_rate, bug } = *options;
    let mut found = false;
    for seed in seed..seed.saturating_add(trials) {
        match (Scenario { drop_rate, bug, ..Scenario::default() }).run(&Sim::new(seed)) {
            Ok(outcome) => {
                found |= outcome.finding.is_some();
                writeln!(out, "seed={seed} {outcome}")?;
            }
            Err(failure) => {
                found = true;
                writeln!(out, "seed={seed} FAILED: {failure}")?;
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_a_seed_and_a_verdict() {
        let mut out = Vec::new();
        let options = Options { seed: 5, trials: 3, ..Options::default() };
        assert!(!run(&options, &mut out).unwrap());
        let text = String::from_utf8(out).unwrap();
        let seeds: Vec<_> = text.lines().map(|line| line.split_once(' ').unwrap().0).collect();
        assert_eq!(seeds, ["seed=5", "seed=6", "seed=7"]);
    }

    #[test]
    fn a_finding_is_said_and_counted() {
        let mut out = Vec::new();
        let bug = Bug::OneWayLivelock;
        assert!(run(&Options { trials: 20, bug, ..Options::default() }, &mut out).unwrap());
        assert!(String::from_utf8(out).unwrap().contains("FOUND at "));
    }
}
