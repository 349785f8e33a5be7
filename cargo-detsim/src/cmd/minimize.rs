//! `cargo detsim minimize`: where this project's records lie, for the library.

use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

use cargo_detsim::failure::{Failure, Result};
use cargo_detsim::minimize::Minimize;
use serde::Deserialize;

/// The part of cargo's answer that matters here.
#[derive(Debug, Deserialize)]
struct Metadata {
    target_directory: PathBuf,
    workspace_root: PathBuf,
}

/// Finds the record of the seed in the project of the current directory, and minimises it.
pub(crate) fn run(wanted: &Minimize) -> Result<ExitCode> {
    let Metadata { target_directory, workspace_root } = metadata()?;
    // Plain builds, and those of `cargo detsim`.
    let targets = [target_directory.clone(), target_directory.join("detsim")];
    wanted.run(&targets, &workspace_root)?;
    Ok(ExitCode::SUCCESS)
}

fn metadata() -> Result<Metadata> {
    let mut cargo = Command::new("cargo");
    cargo.args(["metadata", "--no-deps", "--format-version=1"]).stderr(Stdio::inherit());
    let output = cargo.output().map_err(|error| Failure::start(&cargo, &error))?;
    serde_json::from_slice(&output.stdout).map_err(|_| {
        Failure::new("detsim: there is no project here; run this in the directory of one")
    })
}
