//! What a person may type.
//!
//! Owns the commands, their flags and their help; what a command does is in `cmd/`. Flags of ours
//! come first, and everything from the first word on that is not ours belongs to cargo.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use cargo_detsim::minimize::Minimize;
use cargo_detsim::trace::Trace;
use clap::{Args, Parser, Subcommand};

use crate::cmd;
use cargo_detsim::failure::Result;

#[derive(Debug, Parser)]
#[command(bin_name = "cargo detsim", version, about = "Runs a project on the simulated tokio")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Build the project as `cargo build` does, `--tests --keep-going` for one, on the simulated
    /// tokio.
    Build(Graph),
    /// Run the project's tests with every crate of its graph on the simulated tokio.
    ///
    /// Takes what `cargo test` takes, `--no-run` and filters after `--` included. No file of the
    /// project is touched; the build is kept in `detsim/` below its target directory.
    Test(Graph),
    Minimize(Minimize),
    Trace(Trace),
}

/// What every command takes that builds a graph.
#[derive(Args, Debug)]
pub(crate) struct Graph {
    /// Where the simulator's own crates are kept once they are built [default: `detsim/kernel`
    /// below the target directory].
    #[arg(long, value_name = "DIR")]
    pub(crate) kernel_dir: Option<PathBuf>,
    /// Arguments of cargo's own command.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGS")]
    pub(crate) cargo: Vec<OsString>,
}

/// Runs the command line that followed `program`.
pub(crate) fn run(program: PathBuf, mut args: Vec<OsString>) -> Result<ExitCode> {
    // Cargo passes on the word that it found this program by.
    if args.first().is_some_and(|word| word == "detsim") {
        args.remove(0);
    }
    args.insert(0, program.into());
    match parse(args).unwrap_or_else(|error| error.exit()) {
        Command::Build(graph) => cmd::build::run("build", graph),
        Command::Test(graph) => cmd::build::run("test", graph),
        Command::Minimize(wanted) => cmd::minimize::run(&wanted),
        Command::Trace(wanted) => wanted.run().map(|()| ExitCode::SUCCESS),
    }
}

/// Everything from a double dash on is the tests' own. A parser would take the dash away.
fn parse(mut words: Vec<OsString>) -> clap::error::Result<Command> {
    let dash = words.iter().position(|word| word == "--");
    let behind = words.split_off(dash.unwrap_or(words.len()));
    let mut command = Cli::try_parse_from(words)?.command;
    if let Command::Build(graph) | Command::Test(graph) = &mut command {
        graph.cargo.extend(behind);
    }
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(words: &[&str]) -> Graph {
        let words = ["cargo detsim", "test"].iter().chain(words);
        match parse(words.map(OsString::from).collect()) {
            Ok(Command::Test(graph)) => graph,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_first_word_that_is_not_ours_begins_cargos() {
        let parsed = test(&["--kernel-dir", "k", "-p", "a", "--locked", "name", "--", "--exact"]);
        assert_eq!(parsed.kernel_dir, Some(PathBuf::from("k")));
        assert_eq!(parsed.cargo, ["-p", "a", "--locked", "name", "--", "--exact"]);
        assert_eq!(test(&["--locked", "--kernel-dir", "k"]).kernel_dir, None);
    }

    #[test]
    fn a_double_dash_is_passed_on() {
        assert_eq!(test(&["--", "--nocapture"]).cargo, ["--", "--nocapture"]);
        assert_eq!(test(&["--kernel-dir", "k", "--", "--help"]).cargo, ["--", "--help"]);
        assert_eq!(test(&["-v", "--", "--help"]).cargo, ["-v", "--", "--help"]);
    }
}
