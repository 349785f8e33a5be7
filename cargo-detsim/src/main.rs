//! `cargo detsim`: the tests of a project as it is, on the simulated tokio.
//!
//! One program in three parts, told apart by the name that it is called by. As `cargo-detsim` it is
//! what a person types; it prepares a build and hands over to cargo. Cargo then calls it by the
//! names of [`graph::RUSTC`] and [`graph::RUSTDOC`], once a crate, and there the one substitution
//! happens that everything else serves: where tokio is compiled, the shim takes its place.
//!
//! This file owns that choice and the exit status. Nothing of the project is ever written to: all
//! that is made lies in `detsim/` below its target directory.

#![expect(clippy::print_stderr, reason = "the product of a command line")]

#[cfg(not(unix))]
compile_error!("detsim: cargo-detsim runs on Linux and macOS only; build it there");

mod cargo_args;
mod cli;
mod cmd;
mod graph;
mod kernel;
mod project;
mod rustc;
mod rustdoc;
mod toolchain;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use cargo_detsim::failure::Result;

fn main() -> ExitCode {
    let mut args = std::env::args_os();
    let program = PathBuf::from(args.next().unwrap_or_default());
    match run(program, args.collect()) {
        Ok(code) => code,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(program: PathBuf, args: Vec<OsString>) -> Result<ExitCode> {
    match program.file_name().and_then(|name| name.to_str()) {
        Some(graph::RUSTC) => rustc::run(&graph::Plan::of(&program)?, args),
        Some(graph::RUSTDOC) => rustdoc::run(&graph::Plan::of(&program)?, args),
        _ => cli::run(program, args),
    }
}
