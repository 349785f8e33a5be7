//! `cargo xtask`: everything that a developer of detsim and CI type, as one program.
//!
//! This file owns the list of commands and the exit status. What a command does is in the file of
//! its name; nothing here starts a process or reads a file.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "the product of a command line")]

mod bench;
mod ci;
mod conformance;
mod demo;
mod failure;
mod process;
mod readme;
mod sim;
mod steps;
mod tally;
mod test;
mod tidy;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(bin_name = "cargo xtask", about = "What developers of detsim and its CI run")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Bench(bench::Bench),
    Ci(ci::Ci),
    Conformance(conformance::Conformance),
    Demo(demo::Demo),
    Minimize(cargo_detsim::minimize::Minimize),
    Sim(sim::Sim),
    Test(test::Test),
    Tidy(tidy::Tidy),
    Trace(cargo_detsim::trace::Trace),
}

impl Command {
    fn run(&self) -> failure::Result {
        match self {
            Self::Bench(command) => command.run(),
            Self::Ci(command) => command.run(),
            Self::Conformance(command) => command.run(),
            Self::Demo(command) => command.run(),
            Self::Minimize(command) => Ok(command.run(&process::target_dirs(), process::root())?),
            Self::Sim(command) => command.run(),
            Self::Test(command) => command.run(),
            Self::Tidy(command) => command.run(),
            Self::Trace(command) => Ok(command.run()?),
        }
    }
}

fn main() -> ExitCode {
    match Cli::parse().command.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("xtask: {failure}");
            ExitCode::FAILURE
        }
    }
}
