//! The peers: which there are, how each is built, and how a built one is asked.
//!
//! Adding a peer is one package beside this one and one line in [`PEERS`].
//!
//! Invariant: each peer has a target directory of its own, because their cfgs differ and cargo
//! would otherwise build the whole graph anew at every change of peer.

use std::path::{Path, PathBuf};
use std::process::{Command as Process, Output, Stdio};

use bench_common::Command;

/// The name of our own entry in [`PEERS`].
pub(crate) const OURS: &str = "detsim";

/// In the order of the tables' columns.
pub(crate) const PEERS: &[Peer] = &[
    Peer { name: OURS, package: "ours", rustflags: "--cfg detsim" },
    Peer { name: "tokio", package: "tokio-peer", rustflags: "" },
    Peer { name: "madsim", package: "madsim-peer", rustflags: "--cfg madsim" },
    Peer { name: "turmoil", package: "turmoil-peer", rustflags: "" },
];

/// A package that runs the workloads.
#[derive(Debug)]
pub(crate) struct Peer {
    /// As tables name it.
    pub(crate) name: &'static str,
    /// Its folder under `benches`, and its cargo package.
    package: &'static str,
    /// What its whole graph is compiled with.
    rustflags: &'static str,
}

/// How to compile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Profile {
    Release,
    Dev,
}

/// A peer whose program can be asked.
#[derive(Debug)]
pub(crate) struct Built {
    /// As tables name it.
    pub(crate) name: &'static str,
    /// `None` for a peer whose package does not exist: every answer is then absent.
    program: Option<PathBuf>,
}

impl Peer {
    /// Compiles the peer, with cargo's own output on the terminal.
    pub(crate) fn build(&self, profile: Profile) -> Result<Built, String> {
        let folder = benches_folder().join(self.package);
        if !folder.join("Cargo.toml").exists() {
            return Ok(Built { name: self.name, program: None });
        }
        let target = target_folder()?.join("peers").join(self.name);
        let mut cargo = Process::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "--package", self.package, "--target-dir"]).arg(&target);
        cargo.current_dir(folder).env("RUSTFLAGS", self.rustflags);
        cargo.env_remove("CARGO_ENCODED_RUSTFLAGS");
        if profile == Profile::Release {
            cargo.arg("--release");
        }
        let status = cargo.status().map_err(|error| format!("cargo does not start: {error}"))?;
        if !status.success() {
            return Err(format!("{} does not build, see above", self.name));
        }
        let program = target.join(profile.folder()).join(self.package);
        Ok(Built { name: self.name, program: Some(program) })
    }
}

impl Profile {
    fn folder(self) -> &'static str {
        match self {
            Self::Release => "release",
            Self::Dev => "debug",
        }
    }
}

impl Built {
    /// Runs the peer's program once. `None` where the peer does not have what is asked for.
    pub(crate) fn ask(
        &self,
        command: Command,
        name: &str,
        operations: u64,
    ) -> Result<Option<String>, String> {
        match self.output_under(&[], command, name, operations)? {
            None => Ok(None),
            Some(output) => {
                let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
                Ok(Some(text).filter(|text| text != "absent"))
            }
        }
    }

    /// Runs the peer's program once, as an argument of `wrapper` when that is not empty.
    pub(crate) fn output_under(
        &self,
        wrapper: &[&str],
        command: Command,
        name: &str,
        operations: u64,
    ) -> Result<Option<Output>, String> {
        let Some(program) = &self.program else { return Ok(None) };
        let mut process = match wrapper {
            [] => Process::new(program),
            [tool, arguments @ ..] => {
                let mut process = Process::new(tool);
                process.args(arguments).arg(program);
                process
            }
        };
        process.args([command.word(), name, &operations.to_string()]);
        let output = process.stdin(Stdio::null()).output();
        let output = output.map_err(|error| format!("{} does not start: {error}", self.name))?;
        if output.status.success() {
            return Ok(Some(output));
        }
        let said = String::from_utf8_lossy(&output.stderr);
        Err(format!("{} {name} {operations}: {}\n{said}", self.name, output.status))
    }
}

fn benches_folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the runner is a folder of benches")
}

/// The target directory that this program was built into: cargo marks it with a tag file.
fn target_folder() -> Result<PathBuf, String> {
    let program = std::env::current_exe().map_err(|error| format!("no path to itself: {error}"))?;
    let found = program.ancestors().find(|folder| folder.join("CACHEDIR.TAG").exists());
    found.map(Path::to_path_buf).ok_or_else(|| {
        format!("{} is in no cargo target directory; start it by cargo run", program.display())
    })
}
