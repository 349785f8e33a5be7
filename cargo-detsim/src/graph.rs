//! The directory that a build of a project's graph is made in, and what cargo is told about it.
//!
//! Below it lie `graph/<target>/` with the [`Plan`] and two links to this program, by whose names
//! cargo calls it, and what cargo itself builds. Owns when a tokio that was built before is out of
//! date: cargo sees the registry's source, which never changes, and not the shim that stands in.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::kernel::Kernel;
use cargo_detsim::failure::{Failure, Result};

/// By this name cargo calls us in place of the compiler, with the compiler as first argument.
pub(crate) const RUSTC: &str = "detsim-rustc";
/// By this name cargo calls us in place of rustdoc.
pub(crate) const RUSTDOC: &str = "detsim-rustdoc";

const PLAN: &str = "plan.json";
const STAMP: &str = "stamp";
/// Keeps the flags that the crates of the graph were built with.
const FLAGS: &str = "flags";

/// The flag that has rustix call libc. Set by the stand-in for the compiler, so that cargo, which chooses
/// dependencies by it and gives it to build scripts, does not know that it may change.
pub(crate) const CALLS_LIBC: &str = "rustix_use_libc";

/// What is replaced by what. It lies beside the links, so that a wrapper reads no environment.
#[derive(Debug, Deserialize, PartialEq, Eq, Serialize)]
pub(crate) struct Plan {
    /// The root files of the tokio packages that are replaced.
    pub(crate) tokio: Vec<PathBuf>,
    /// The root file of the shim.
    pub(crate) shim: PathBuf,
    pub(crate) kernel: Kernel,
}

impl Plan {
    /// The plan beside `program`, a link that cargo called.
    pub(crate) fn of(program: &Path) -> Result<Self> {
        let path = program.with_file_name(PLAN);
        let text = fs::read(&path).map_err(|error| Failure::file(&path, &error))?;
        serde_json::from_slice(&text).map_err(|error| Failure::file(&path, &error.into()))
    }
}

#[derive(Debug)]
pub(crate) struct Graph {
    build_dir: PathBuf,
    plan_dir: PathBuf,
}

impl Graph {
    /// Writes down `plan` for builds of `target` in `build_dir`. If anything has changed in what
    /// stands in for tokio, cargo will compile it again.
    pub(crate) fn prepare(build_dir: PathBuf, target: &str, plan: &Plan) -> Result<Self> {
        let plan_dir = build_dir.join("graph").join(target);
        let graph = Self { build_dir, plan_dir };
        graph.write(plan).map_err(|error| Failure::file(&graph.plan_dir, &error))?;
        let built = graph.build_dir.join(target);
        graph.check_flags(&built).map_err(|error| Failure::file(&built, &error))?;
        graph.refresh(plan, &built).map_err(|error| Failure::file(&built, &error))?;
        Ok(graph)
    }

    /// A call of cargo that builds here, with us between it and the compiler. By the environment
    /// where that alone outranks what a project configures and what an older cargo knows.
    pub(crate) fn cargo(&self, subcommand: &str, target: &str) -> Command {
        let mut cargo = Command::new("cargo");
        cargo.args([subcommand, "--target", target, "--target-dir"]).arg(&self.build_dir);
        cargo.env("CARGO_BUILD_BUILD_DIR", &self.build_dir);
        cargo.env("RUSTC_WRAPPER", self.plan_dir.join(RUSTC));
        cargo.env("RUSTDOC", self.plan_dir.join(RUSTDOC));
        cargo
    }

    fn write(&self, plan: &Plan) -> io::Result<()> {
        fs::create_dir_all(&self.plan_dir)?;
        let program = std::env::current_exe()?;
        for name in [RUSTC, RUSTDOC] {
            link(&program, &self.plan_dir.join(name))?;
        }
        fs::write(self.plan_dir.join(PLAN), serde_json::to_vec_pretty(plan)?)
    }

    /// Throws away what was built with other flags: what build scripts said then still counts for cargo.
    fn check_flags(&self, built: &Path) -> io::Result<()> {
        let file = self.plan_dir.join(FLAGS);
        if fs::read_to_string(&file).is_ok_and(|old| old == CALLS_LIBC) {
            return Ok(());
        }
        if built.exists() {
            fs::remove_dir_all(built)?;
        }
        fs::write(file, CALLS_LIBC)
    }

    fn refresh(&self, plan: &Plan, built: &Path) -> io::Result<()> {
        let stamp_file = self.plan_dir.join(STAMP);
        let stamp = stamp(plan)?;
        if fs::read_to_string(&stamp_file).is_ok_and(|old| old == stamp) {
            return Ok(());
        }
        if built.exists() {
            forget_tokio(built)?;
        }
        fs::write(stamp_file, stamp)
    }
}

/// A link that is right already stays: cargo looks at its time.
fn link(to: &Path, link: &Path) -> io::Result<()> {
    if fs::read_link(link).is_ok_and(|old| old == to) {
        return Ok(());
    }
    match fs::remove_file(link) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => symlink(to, link),
    }
}

/// Everything that a compiled stand-in is made of: paths, sizes and times.
fn stamp(plan: &Plan) -> io::Result<String> {
    let mut files = vec![std::env::current_exe()?];
    files.extend(plan.kernel.externs.iter().map(|(_, file)| file.clone()));
    let shim = plan.shim.parent().expect("invariant: a file has a directory");
    files_below(shim, &mut files)?;
    files.sort();
    let line = |file: &PathBuf| {
        let found = fs::metadata(file)?;
        let (len, seconds, nanos) = (found.len(), found.mtime(), found.mtime_nsec());
        Ok(format!("{} {len} {seconds}.{nanos:09}\n", file.display()))
    };
    files.iter().map(line).collect()
}

fn files_below(dir: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        match entry.file_type()?.is_dir() {
            true => files_below(&entry.path(), files)?,
            false => files.push(entry.path()),
        }
    }
    Ok(())
}

/// Takes from cargo the knowledge that it has built tokio, in every profile. Where that lies
/// elsewhere than expected, the whole build goes.
fn forget_tokio(built: &Path) -> io::Result<()> {
    let mut is_known = false;
    for entry in fs::read_dir(built)? {
        let fingerprints = entry?.path().join(".fingerprint");
        if fingerprints.is_dir() {
            is_known = true;
            forget_tokio_in(&fingerprints)?;
        }
    }
    if is_known { Ok(()) } else { fs::remove_dir_all(built) }
}

fn forget_tokio_in(fingerprints: &Path) -> io::Result<()> {
    for entry in fs::read_dir(fingerprints)? {
        let entry = entry?;
        if is_tokio(&entry.file_name().to_string_lossy()) {
            fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}

/// `tokio-<hash>`, and no other crate whose name begins so.
fn is_tokio(unit: &str) -> bool {
    let hash = unit.strip_prefix("tokio-");
    hash.is_some_and(|hash| hash.chars().all(|digit| digit.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests;
