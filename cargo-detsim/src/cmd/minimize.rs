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
    wanted.run(&targets(target_directory), &workspace_root)?;
    Ok(ExitCode::SUCCESS)
}

/// Where tests look for the directory that they were built in, which cargo marks: that of plain
/// builds, that of `cargo detsim`, and those in it, one for each target triple.
fn targets(plain: PathBuf) -> Vec<PathBuf> {
    let ours = plain.join("detsim");
    let within = std::fs::read_dir(&ours).into_iter().flatten().flatten();
    let marked = within.map(|entry| entry.path()).filter(|dir| dir.join("CACHEDIR.TAG").is_file());
    let mut targets: Vec<PathBuf> = marked.collect();
    targets.sort();
    targets.splice(0..0, [plain, ours]);
    targets
}

fn metadata() -> Result<Metadata> {
    let mut cargo = Command::new("cargo");
    cargo.args(["metadata", "--no-deps", "--format-version=1"]).stderr(Stdio::inherit());
    let output = cargo.output().map_err(|error| Failure::start(&cargo, &error))?;
    serde_json::from_slice(&output.stdout).map_err(|_| {
        Failure::new("detsim: there is no project here; run this in the directory of one")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_triple_has_a_directory_of_its_own() {
        let root = std::env::temp_dir().join(format!("detsim-targets-{}", std::process::id()));
        for dir in ["detsim/kernel", "detsim/x86_64-unknown-linux-gnu"] {
            std::fs::create_dir_all(root.join(dir)).unwrap();
        }
        let triple = root.join("detsim/x86_64-unknown-linux-gnu");
        std::fs::write(triple.join("CACHEDIR.TAG"), "").unwrap();
        assert_eq!(targets(root.clone()), [root.clone(), root.join("detsim"), triple]);
        std::fs::remove_dir_all(root).unwrap();
    }
}
