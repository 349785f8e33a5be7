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
