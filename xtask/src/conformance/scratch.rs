//! The package that tokio's tests are built in, graph-wide on the simulation.
//!
//! It lies in the target directory and holds a manifest, a lock file and nothing else: the tests
//! stay in the registry's copy of tokio. Owns which tests there are and what became of building
//! them; does not own what they do.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::{Failure, Result};
use crate::process;

const MANIFEST: &str = include_str!("../../conformance/manifest.toml");
const LOCK: &str = include_str!("../../conformance/Cargo.lock");

pub(super) struct Scratch {
    pub(super) dir: PathBuf,
    /// The test programs of tokio by name, with the file of each.
    sources: BTreeMap<String, PathBuf>,
}

/// The programs that could be built, and the names of those that could not.
pub(super) struct Built {
    pub(super) programs: BTreeMap<String, PathBuf>,
    pub(super) refused: Vec<String>,
}

impl Scratch {
    /// Makes the package anew, for the programs whose name `is_wanted`.
    pub(super) fn make(is_wanted: impl Fn(&str) -> bool) -> Result<Self> {
        let dir = process::target_dir().join("detsim/conformance");
        fs::create_dir_all(&dir)?;
        fs::write(dir.join("lib.rs"), "")?;
        fs::write(dir.join("Cargo.lock"), LOCK)?;
        write_if_new(&dir.join("Cargo.toml"), MANIFEST)?;
        let mut sources = sources(&dir)?;
        sources.retain(|name, _| is_wanted(name));
        let tests = sources.iter().map(|(name, path)| {
            format!("[[test]]\nname = \"{name}\"\npath = \"{}\"\n\n", path.display())
        });
        let manifest = MANIFEST.to_owned() + &tests.collect::<String>();
        write_if_new(&dir.join("Cargo.toml"), &manifest)?;
        Ok(Self { dir, sources })
    }

    /// Builds every program that can be built, `jobs` at a time.
    pub(super) fn build(&self, jobs: Option<u32>) -> Result<Built> {
        let mut cargo = self.cargo_detsim();
        if let Some(jobs) = jobs {
            cargo.arg(format!("--jobs={jobs}"));
        }
        cargo.args(["--tests", "--keep-going", "--message-format=json"]);
        let mut programs = BTreeMap::new();
        // How cargo ends is no news, nor what the compiler says: that some programs do not build
        // is an expectation.
        process::stream(&mut cargo, |line| {
            if let Some((name, path)) = program(line) {
                programs.insert(name, path);
            }
        })?;
        let refused = self.sources.keys().filter(|name| !programs.contains_key(*name)).cloned();
        Ok(Built { refused: refused.collect(), programs })
    }

    /// Lets the compiler say why it refuses a program.
    pub(super) fn explain(&self, program: &str) -> Result {
        let mut cargo = self.cargo_detsim();
        process::stream(cargo.args(["--test", program]), |_| {}).map(drop)
    }

    fn cargo_detsim(&self) -> Command {
        let mut cargo = process::cargo(&["run", "--quiet", "--package=cargo-detsim", "--"]);
        cargo.args(["build", "--kernel-dir"]).arg(process::target_dir().join("detsim/kernel"));
        cargo.arg("--target-dir").arg(self.dir.join("target"));
        cargo.arg("--manifest-path").arg(self.dir.join("Cargo.toml"));
        cargo.arg("--locked");
        cargo
    }
}

/// Cargo takes a manifest that was written again for a changed one.
fn write_if_new(path: &Path, text: &str) -> Result {
    match fs::read_to_string(path) {
        Ok(old) if old == text => Ok(()),
        _ => Ok(fs::write(path, text)?),
    }
}

/// The tests in the copy of tokio that the package in `dir` depends on.
fn sources(dir: &Path) -> Result<BTreeMap<String, PathBuf>> {
    let metadata = ["metadata", "--format-version=1", "--locked", "--manifest-path"];
    let json = process::output(process::cargo(&metadata).arg(dir.join("Cargo.toml")))?;
    let is_tokio = |manifest: &&str| {
        let package = Path::new(manifest).parent().and_then(Path::file_name);
        package.is_some_and(|name| name.to_string_lossy().starts_with("tokio-1."))
    };
    let Some(manifest) = values(&json, "manifest_path").find(is_tokio) else {
        return Err(Failure::new("cargo knows no published tokio 1"));
    };
    let mut sources = BTreeMap::new();
    for entry in fs::read_dir(Path::new(manifest).with_file_name("tests"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            sources.insert(name, path);
        }
    }
    Ok(sources)
}

/// Name and file of the test program that a line of cargo's tells of.
fn program(line: &str) -> Option<(String, PathBuf)> {
    let is_test =
        line.contains(r#""reason":"compiler-artifact""#) && line.contains(r#""kind":["test"]"#);
    let path = PathBuf::from(values(line, "executable").next().filter(|_| is_test)?);
    let (name, _) = path.file_name()?.to_str()?.rsplit_once('-')?;
    Some((name.to_owned(), path))
}

/// The strings that `key` has in a text in JSON. Enough for names and paths; one with an escape
/// in it is passed over.
fn values<'a>(json: &'a str, key: &str) -> impl Iterator<Item = &'a str> {
    let start = format!(r#""{key}":""#);
    let mut rest = json;
    let values = std::iter::from_fn(move || {
        let (_, from) = rest.split_once(start.as_str())?;
        let (value, after) = from.split_once('"')?;
        rest = after;
        Some(value)
    });
    values.filter(|value| !value.contains('\\'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_cargos_names_a_test_program() {
        let line = |kind| {
            format!(
                r#"{{"reason":"compiler-artifact","manifest_path":"/c/Cargo.toml","target":{{"kind":["{kind}"],"name":"sync_mpsc"}},"executable":"/t/deps/sync_mpsc-0a1b"}}"#
            )
        };
        let expected = ("sync_mpsc".to_owned(), PathBuf::from("/t/deps/sync_mpsc-0a1b"));
        assert_eq!(program(&line("test")), Some(expected));
        assert_eq!(program(&line("lib")), None);
        assert_eq!(program(r#"{"reason":"build-finished","success":false}"#), None);
    }

    #[test]
    fn values_are_read_in_order() {
        let json = r#"{"a":"1","b":"x","c":[{"a":"2"}],"a":"\"3","a":null,"a":"4"}"#;
        assert_eq!(values(json, "a").collect::<Vec<_>>(), ["1", "2", "4"]);
    }
}
