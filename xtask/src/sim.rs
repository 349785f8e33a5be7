//! `cargo xtask sim`: one of the example worlds from the shell, one line a seed.
//!
//! Owns the spelling of the flags. What a run is, and what its line says, is the world's: each has
//! a `run` that writes the lines and says whether anything was found.

use std::io;

use clap::{Args, Subcommand, ValueEnum};

use crate::failure::{Failure, Result};

/// Run an example world and print one line a seed; a finding is a failure.
#[derive(Args, Debug)]
pub(crate) struct Sim {
    #[command(subcommand)]
    world: World,
}

#[derive(Debug, Subcommand)]
enum World {
    Kv(Kv),
    Raft(Raft),
}

/// Which seeds to run.
#[derive(Args, Clone, Copy, Debug)]
struct Seeds {
    /// The first seed.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How many seeds, counting up from the first.
    #[arg(long, default_value_t = 1)]
    trials: u64,
}

/// A write-ahead log on a disk that tears, corrupts and forgets.
#[derive(Args, Debug)]
struct Kv {
    #[command(flatten)]
    seeds: Seeds,
    /// Whether records carry a checksum. Without, corrupt data is served.
    #[arg(long, default_value = "on")]
    checksums: Switch,
}

/// Five Raft nodes among partitions.
#[derive(Args, Debug)]
struct Raft {
    #[command(flatten)]
    seeds: Seeds,
    /// The rate at which messages are lost, from 0 to 1.
    #[arg(long, default_value = "0", value_name = "RATE", value_parser = rate)]
    drop: f64,
    /// The mistake that every node makes; any other word is answered with the list of names.
    #[arg(long, default_value = "none", value_name = "NAME")]
    bug: raft::core::Bug,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Switch {
    Off,
    On,
}

impl Sim {
    pub(crate) fn run(&self) -> Result {
        let mut out = io::stdout().lock();
        let (Seeds { seed, trials }, found) = match &self.world {
            World::Kv(kv) => (kv.seeds, kv::run(&kv.options(), &mut out)?),
            World::Raft(raft) => (raft.seeds, raft::trials::run(&raft.options(), &mut out)?),
        };
        match found {
            false => Ok(()),
            true => Err(Failure::new(format!("found in {trials} trial(s) from seed {seed} on"))),
        }
    }
}

impl Kv {
    fn options(&self) -> kv::Options {
        let Seeds { seed, trials } = self.seeds;
        let checksums = match self.checksums {
            Switch::Off => kv::Checksums::Off,
            Switch::On => kv::Checksums::On,
        };
        kv::Options { seed, trials, checksums }
    }
}

impl Raft {
    fn options(&self) -> raft::trials::Options {
        let Seeds { seed, trials } = self.seeds;
        raft::trials::Options { seed, trials, drop_rate: self.drop, bug: self.bug }
    }
}

fn rate(text: &str) -> std::result::Result<f64, &'static str> {
    let rate = text.parse().ok().filter(|rate| (0.0..=1.0).contains(rate));
    rate.ok_or("a rate is a number from 0 to 1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_from_0_to_1() {
        assert_eq!([rate("0"), rate("0.25"), rate("1")], [Ok(0.0), Ok(0.25), Ok(1.0)]);
        for text in ["-0.1", "1.5", "NaN", "much"] {
            assert!(rate(text).is_err(), "{text}");
        }
    }
}
