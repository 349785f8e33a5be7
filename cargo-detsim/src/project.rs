//! The project whose tests are to run, as `cargo metadata` describes it.
//!
//! Owns which packages of a graph are replaced: every tokio 1.x, wherever it comes from. Does not
//! own whether that is possible for one compilation or another, which is the wrapper's.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;

use crate::cargo_args::CargoArgs;
use cargo_detsim::failure::{Failure, Result};

#[derive(Debug)]
pub(crate) struct Project {
    /// Where cargo would build it.
    pub(crate) target_dir: PathBuf,
    /// The root file of every tokio that the simulation replaces.
    pub(crate) tokio: Vec<PathBuf>,
}

/// The oldest tokio that the shim stands on: `1.MINOR_MIN`.
const MINOR_MIN: u64 = 38;

impl Project {
    /// Reads the graph that `args` would build for `target`.
    pub(crate) fn read(args: &CargoArgs, target: &str) -> Result<Self> {
        let mut cargo = Command::new("cargo");
        cargo.args(["metadata", "--format-version=1", "--filter-platform", target]);
        cargo.args(args.for_metadata()).stderr(Stdio::inherit());
        let output = cargo.output().map_err(|error| Failure::start(&cargo, &error))?;
        match output.status.success() {
            true => Self::judge(&output.stdout),
            false => Err(Failure::new("detsim: cargo cannot read this project; see above")),
        }
    }

    fn judge(json: &[u8]) -> Result<Self> {
        let metadata = serde_json::from_slice::<Metadata>(json);
        let metadata = metadata.map_err(|error| {
            Failure::new(format!("detsim: `cargo metadata` cannot be read; {error}"))
        })?;
        let named = |name| metadata.packages.iter().filter(move |package| package.name == name);
        if named("detsim-executor").next().is_some() {
            return Err(Failure::new(
                "detsim: the graph has the simulator in it already; a second one would know nothing \
                 of the first; run `RUSTFLAGS=\"--cfg detsim\" cargo test`",
            ));
        }
        let tokio = named("tokio");
        let tokio = tokio.map(Package::root).collect::<Result<Vec<_>>>()?;
        let tokio = tokio.into_iter().flatten().map(Path::to_owned).collect::<Vec<_>>();
        if tokio.is_empty() {
            return Err(Failure::new(
                "detsim: nothing to simulate; no crate of this project's graph uses tokio 1; run \
                 `cargo test`, or write a scenario against the `detsim` crate",
            ));
        }
        Ok(Self { target_dir: metadata.target_directory, tokio })
    }
}

/// The part of cargo's answer that matters here.
#[derive(Debug, Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    target_directory: PathBuf,
}

#[derive(Debug, Deserialize)]
struct Package {
    name: String,
    version: String,
    targets: Vec<Target>,
}

#[derive(Debug, Deserialize)]
struct Target {
    kind: Vec<String>,
    src_path: PathBuf,
}

impl Package {
    /// The root file of a tokio that is replaced. One before 1.0 has other types and stays real.
    fn root(&self) -> Result<Option<&Path>> {
        let mut numbers = self.version.split('.').map(|number| number.parse::<u64>().ok());
        match (numbers.next().flatten(), numbers.next().flatten()) {
            (Some(1), Some(minor)) if minor < MINOR_MIN => Err(Failure::new(format!(
                "detsim: the graph has tokio {}; the simulation stands on 1.{MINOR_MIN} and newer; \
                 `cargo update -p tokio`, or `cargo update` where other crates keep it old",
                self.version
            ))),
            (Some(1), Some(_)) => Ok(self.library()),
            _ => Ok(None),
        }
    }

    fn library(&self) -> Option<&Path> {
        let library = |target: &&Target| target.kind.iter().any(|kind| kind == "lib");
        self.targets.iter().find(library).map(|target| &*target.src_path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(packages: &[(&str, &str)], expect: Expect) {
        let package = |(name, version): &(&str, &str)| {
            serde_json::json!({
                "name": name, "version": version, "targets": [
                    { "kind": ["test"], "src_path": "/src/tests/a.rs" },
                    { "kind": ["lib"], "src_path": format!("/src/{name}-{version}/src/lib.rs") },
                ],
            })
        };
        let packages = packages.iter().map(package).collect::<Vec<_>>();
        let json = serde_json::json!({ "packages": packages, "target_directory": "/target" });
        let text = match Project::judge(json.to_string().as_bytes()) {
            Ok(project) => format!("{:?} {:?}", project.target_dir, project.tokio),
            Err(failure) => failure.to_string(),
        };
        expect.assert_eq(&text);
    }

    #[test]
    fn every_tokio_1_is_replaced() {
        check(
            &[("tokio", "1.38.0"), ("tokio", "0.2.25"), ("tokio-util", "0.7.0")],
            expect![[r#""/target" ["/src/tokio-1.38.0/src/lib.rs"]"#]],
        );
        check(
            &[("tokio", "1.54.1"), ("tokio", "1.60.0-alpha.1")],
            expect![[
                r#""/target" ["/src/tokio-1.54.1/src/lib.rs", "/src/tokio-1.60.0-alpha.1/src/lib.rs"]"#
            ]],
        );
    }

    #[test]
    fn a_graph_without_tokio_has_nothing_to_simulate() {
        check(
            &[("serde", "1.0.0"), ("tokio", "0.2.25")],
            expect![
                "detsim: nothing to simulate; no crate of this project's graph uses tokio 1; run `cargo test`, or write a scenario against the `detsim` crate"
            ],
        );
    }

    #[test]
    fn a_graph_has_one_simulator() {
        check(
            &[("tokio", "1.54.1"), ("detsim-executor", "0.1.0")],
            expect![[
                r#"detsim: the graph has the simulator in it already; a second one would know nothing of the first; run `RUSTFLAGS="--cfg detsim" cargo test`"#
            ]],
        );
    }

    #[test]
    fn an_old_tokio_is_named_with_the_way_out() {
        check(
            &[("tokio", "1.37.0")],
            expect![
                "detsim: the graph has tokio 1.37.0; the simulation stands on 1.38 and newer; `cargo update -p tokio`, or `cargo update` where other crates keep it old"
            ],
        );
    }
}
