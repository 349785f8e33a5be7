//! The table of ARCHITECTURE.md that says which crate may use which, held against the manifests.
//!
//! Only names that the table gives meaning to are judged: the crates of this repository, and
//! tokio. Features and versions are cargo's business.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;

/// What the last column of the table allows each crate.
#[derive(Debug)]
pub(super) struct Layers {
    allowed: BTreeMap<String, BTreeSet<String>>,
}

/// Words of the table that are not a crate's short name.
const ALL: &str = "all of them";
const ANYTHING: &str = "anything";

/// A dev-dependency that the table forbids but that builds no second kernel: the attributes are
/// tested as users write them.
const DEV: [(&str, &str); 1] = [("detsim-macros", "detsim")];

impl Layers {
    /// Reads the rows `| crate, .. | owns | may use |`; prose around the table is skipped.
    pub(super) fn parse(architecture: &str) -> Self {
        let rows = architecture.lines().filter_map(row).collect::<Vec<_>>();
        let names = rows.iter().flat_map(|(names, _)| names.clone()).collect::<BTreeSet<_>>();
        let mut allowed = BTreeMap::new();
        for (crates, uses) in rows {
            for name in crates {
                allowed.insert(name, expand(uses, &names));
            }
        }
        Self { allowed }
    }

    /// Findings for the manifest at `path`. Packages without a row of their own take the row of
    /// a folder above them, `examples/*` for one.
    pub(super) fn check(&self, path: &str, manifest: &str) -> Vec<Finding> {
        let folder = path.trim_end_matches("Cargo.toml").trim_end_matches('/');
        let row = std::iter::successors(Some(folder), |f| f.rsplit_once('/').map(|(up, _)| up))
            .find_map(|folder| self.allowed.get(folder));
        let Some(allowed) = row else {
            let is_package = manifest.lines().any(|line| line == "[package]");
            let text = "no row in the table of ARCHITECTURE.md for this crate";
            return is_package.then(|| Finding::new(path, 0, text)).into_iter().collect();
        };
        let judged = |name: &str| name == "tokio" || self.allowed.contains_key(name);
        let mut findings = Vec::new();
        for dependency in dependencies(manifest) {
            let name = dependency.name;
            let excused = dependency.dev && DEV.contains(&(folder, name));
            // The fuzz targets of a crate lie below it.
            let excused = excused || folder.starts_with(&format!("{name}/"));
            if judged(name) && !allowed.contains(name) && !allowed.contains(ANYTHING) && !excused {
                let text = format!("`{name}` is not among what ARCHITECTURE.md lets it use");
                findings.push(Finding::new(path, dependency.line, text));
            }
        }
        findings
    }
}

/// The names and the last column of one row.
fn row(line: &str) -> Option<(Vec<String>, &str)> {
    let mut cells = line.strip_prefix('|')?.strip_suffix('|')?.split('|').map(str::trim);
    let (crates, _, uses) = (cells.next()?, cells.next()?, cells.next()?);
    let names = crates.split(", ").map(|name| name.strip_prefix('`')?.strip_suffix('`'));
    let names = names.map(|name| Some(name?.trim_end_matches("/*").to_owned()));
    Some((names.collect::<Option<_>>()?, uses))
}

/// `executor, net` as the full names of crates; words that name none are kept as they are.
fn expand(uses: &str, names: &BTreeSet<String>) -> BTreeSet<String> {
    let expand_word = |word: &str| match word {
        ALL => names.iter().cloned().collect::<Vec<_>>(),
        _ if names.contains(&format!("detsim-{word}")) => vec![format!("detsim-{word}")],
        _ => vec![word.to_owned()],
    };
    uses.split(", ").flat_map(expand_word).collect()
}

struct Dependency<'a> {
    line: usize,
    name: &'a str,
    dev: bool,
}

/// The dependencies of a manifest in the form that this repository writes: one a line.
fn dependencies(manifest: &str) -> Vec<Dependency<'_>> {
    let mut section = "";
    let mut found = Vec::new();
    for (number, line) in (1..).zip(manifest.lines()) {
        if let Some(header) = line.strip_prefix('[') {
            section = header.trim_end_matches(']');
        } else if section.ends_with("dependencies") && section != "workspace.dependencies" {
            let dev = section.ends_with("dev-dependencies");
            found.extend(dependency(line).map(|name| Dependency { line: number, name, dev }));
        }
    }
    found
}

/// The package that a line of a dependency table names, its alias looked through.
fn dependency(line: &str) -> Option<&str> {
    if let Some((_, package)) = line.split_once("package = \"") {
        return package.split('"').next();
    }
    let (key, _) = line.split_once('=').filter(|_| !line.starts_with('#'))?;
    key.trim().split('.').next()
}

#[cfg(test)]
mod tests {
    use super::super::report;
    use super::*;
    use expect_test::{Expect, expect};

    const TABLE: &str = "\
# Title
| crate | owns | may use |
|---|---|---|
| `detsim-executor` | the kernel | no detsim crate |
| `detsim-net` | links | executor |
| `detsim-macros` | attributes | syn, quote |
| `detsim` | facade | executor, net, macros |
| `detsim-shim-tokio` | names | all of them, tokio |
| `examples/*`, `xtask` | worlds | anything |
";

    fn check(path: &str, manifest: &str, expect: Expect) {
        expect.assert_eq(&report(&Layers::parse(TABLE).check(path, manifest)));
    }

    #[test]
    fn what_the_table_allows_is_no_finding() {
        let all =
            "[package]\n[dependencies]\ndetsim.workspace = true\ntokio = { version = \"1\" }\n";
        check("detsim-shim-tokio/Cargo.toml", all, expect![""]);
        check("examples/raft/Cargo.toml", all, expect![""]);
        check("xtask/Cargo.toml", all, expect![""]);
        check("Cargo.toml", "[workspace.dependencies]\ntokio = \"1\"\n", expect![""]);
    }

    #[test]
    fn arrows_never_run_back() {
        check(
            "detsim-net/Cargo.toml",
            "[package]\n[dependencies]\ndetsim-executor.workspace = true\nserde = \"1\"\n\
             detsim = { workspace = true }\n[target.'cfg(unix)'.dev-dependencies]\n\
             real = { package = \"tokio\", version = \"1\" }\n",
            expect![[r"
                detsim-net/Cargo.toml:5: `detsim` is not among what ARCHITECTURE.md lets it use
                detsim-net/Cargo.toml:7: `tokio` is not among what ARCHITECTURE.md lets it use
            "]],
        );
    }

    #[test]
    fn attributes_may_be_tested_on_the_facade() {
        let dev = "[package]\n[dev-dependencies]\ndetsim.workspace = true\n";
        check("detsim-macros/Cargo.toml", dev, expect![""]);
        check(
            "detsim-macros/Cargo.toml",
            &dev.replace("dev-", ""),
            expect![[r"
                detsim-macros/Cargo.toml:3: `detsim` is not among what ARCHITECTURE.md lets it use
            "]],
        );
    }

    #[test]
    fn every_package_has_a_row() {
        check(
            "detsim-new/Cargo.toml",
            "[package]\nname = \"detsim-new\"\n",
            expect![[r"
                detsim-new/Cargo.toml: no row in the table of ARCHITECTURE.md for this crate
            "]],
        );
    }
}
