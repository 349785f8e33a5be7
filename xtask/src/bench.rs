//! `cargo xtask bench`: forwards to the measurements in `benches/`.
//!
//! The benches are a workspace of their own, since the peers beside us need flags and target
//! directories that nothing else may see. What is measured, and how, is theirs alone.

use clap::Args;

use crate::failure::Result;
use crate::process;
use crate::steps::Outcome;
use crate::tally::Tally;
use crate::test;

/// Measure detsim beside its peers and print the ratios.
#[derive(Args, Debug)]
pub(crate) struct Bench {
    /// Arguments for the benches; `--help` after `--` lists them.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<String>,
}

impl Bench {
    pub(crate) fn run(&self) -> Result {
        let run = ["run", "--release", "--quiet", "--package=bench-run", MANIFEST, "--"];
        process::run(process::cargo(&run).args(&self.args))
    }
}

/// Points cargo at the workspace of the benches.
const MANIFEST: &str = "--manifest-path=benches/Cargo.toml";

/// What CI wants of the benches: they are formatted, free of warnings, and their own tests pass.
pub(crate) fn check(tally: &mut Tally) -> Result<Outcome> {
    process::run(&mut process::cargo(&["fmt", "--all", "--check", MANIFEST]))?;
    let clippy = ["clippy", "--all-targets", MANIFEST, "--", "--deny=warnings"];
    process::run(&mut process::cargo(&clippy))?;
    check_peer("ours", "detsim")?;
    check_peer("madsim-peer", "madsim")?;
    test::count_tests(process::cargo(&["test", MANIFEST]), tally)
}

/// Checks a peer that compiles under its cfg only, in the target directory that the runner uses.
fn check_peer(package: &str, cfg: &str) -> Result {
    let (package, target) =
        (format!("--package={package}"), format!("--target-dir=benches/target/peers/{cfg}"));
    let clippy = ["clippy", &package, MANIFEST, &target, "--", "--deny=warnings"];
    process::run(process::cargo(&clippy).env("RUSTFLAGS", format!("--cfg {cfg}")))
}
