//! The shim over tokio's releases with long-term support, in both configurations.
//!
//! Owns: which releases those are. Does not own: the release that this repository is tested with, which is
//! in its lock file. The registry has to be reached, unless cargo has fetched them before.

use std::fs;

use crate::failure::Result;
use crate::process::{self, Config};
use crate::steps::Outcome;

/// The oldest and the newest that tokio still mends.
const RELEASES: [&str; 2] = ["1.51", "1.53"];

/// Checks that the shim builds over each of them.
pub(super) fn check() -> Result<Outcome> {
    for release in RELEASES {
        let dir = process::target_dir().join("detsim/releases").join(release);
        fs::create_dir_all(&dir)?;
        fs::write(dir.join("lib.rs"), "")?;
        fs::write(dir.join("Cargo.toml"), manifest(release))?;
        let manifest = format!("--manifest-path={}", dir.join("Cargo.toml").display());
        if !process::available(&mut process::cargo(&["fetch", "--quiet", &manifest])) {
            return Ok(Outcome::Skipped(format!("cargo cannot fetch tokio {release}")));
        }
        for config in Config::BOTH {
            process::run(&mut config.cargo(&["check", &manifest], ""))?;
        }
    }
    Ok(Outcome::Passed)
}

/// A package that wants this release, and all of the shim.
fn manifest(release: &str) -> String {
    let root = process::root().display();
    format!(
        "[package]\nname = \"releases\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
         [lib]\npath = \"lib.rs\"\n\n[workspace]\n\n[dependencies]\ntokio = \"~{release}\"\n\
         detsim-shim-tokio = {{ path = \"{root}/detsim-shim-tokio\", \
         features = [\"full\", \"test-util\"] }}\n"
    )
}
