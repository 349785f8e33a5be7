//! Builds every peer, runs the workloads side by side, prints the tables. `cargo xtask bench` is
//! this.
//!
//! Owns the order of things; each part (times, memory, counts, dev profile) has its module, which
//! takes the built peers and returns its text. Figures are reported and held against their goals in
//! the tables; no goal that is missed changes the exit status, because a shared machine is not a
//! judge.

mod count;
mod dev;
mod memory;
mod options;
mod peers;
mod table;
mod times;

use std::process::ExitCode;

use clap::Parser;

use options::Options;
use peers::{Built, PEERS, Profile};

fn main() -> ExitCode {
    let options = Options::parse();
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(fact) => {
            eprintln!("bench: {fact}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), String> {
    options.refuse_unknown_names()?;
    let peers = build_all()?;
    println!("{}", times::report(&peers, options)?);
    println!("{}", memory::report(&peers, options)?);
    if options.count {
        println!("{}", count::report(&peers, options)?);
    }
    if options.dev {
        println!("{}", dev::report(&peers, options)?);
    }
    Ok(())
}

/// The peers that are there; one that is not there yet is left out, one that does not build is an
/// error.
fn build_all() -> Result<Vec<Built>, String> {
    let built = PEERS.iter().map(|peer| peer.build(Profile::Release));
    built.collect()
}
