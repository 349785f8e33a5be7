//! What is needed to run a failing run again, on another machine: the file `env.toml`.
//!
//! Owns: its fields and their text. Does not own: reading it, which is the command line's.
//! Invariant: no absolute path and no wall time is written.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use crate::spec::Spec;

/// The fields.
#[derive(Clone, Debug, Default)]
pub(crate) struct Env<'a> {
    pub(crate) seed: u64,
    pub(crate) strategy: Option<&'a str>,
    pub(crate) test: &'a str,
    pub(crate) package: Option<&'a str>,
    pub(crate) commit: Option<String>,
    pub(crate) signature: &'a str,
    /// The flags of the compiler that the test needs.
    pub(crate) rustflags: Option<&'a str>,
    /// The test's binary, from the target directory on.
    pub(crate) binary: Option<String>,
    /// The command that runs the test, without its variables.
    pub(crate) command: String,
}

impl Env<'_> {
    pub(crate) fn to_toml(&self) -> String {
        let mut text = String::from("# A failing run of detsim: what it takes to run it again.\n");
        let _infallible = writeln!(text, "seed = {}", self.seed);
        let fields = [
            ("strategy", self.strategy),
            ("test", Some(self.test)),
            ("package", self.package),
            ("commit", self.commit.as_deref()),
            ("detsim", Some(env!("CARGO_PKG_VERSION"))),
            ("rustflags", self.rustflags),
            ("binary", self.binary.as_deref()),
            ("signature", Some(self.signature)),
            ("command", Some(&self.command)),
        ];
        for (name, value) in fields {
            if let Some(value) = value {
                let _infallible = writeln!(text, "{name} = {}", quoted(value));
            }
        }
        text
    }
}

/// A basic string of TOML.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => {
                let _infallible = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out + "\""
}

/// The flags of the compiler that a test needs.
pub(crate) fn rustflags(spec: &Spec) -> Option<&'static str> {
    spec.needs_cfg().then_some("--cfg detsim")
}

/// The commit that is checked out above `below`, read from the files of git.
pub(crate) fn commit(below: &Path) -> Option<String> {
    let git = below.ancestors().map(|above| above.join(".git")).find(|git| git.exists())?;
    let git = if git.is_dir() { git } else { linked(&git)? };
    let head = fs::read_to_string(git.join("HEAD")).ok()?;
    let Some(name) = head.trim().strip_prefix("ref: ") else { return Some(head.trim().to_owned()) };
    let common = fs::read_to_string(git.join("commondir")).ok();
    let common = common.map_or_else(|| git.clone(), |path| git.join(path.trim()));
    let loose = fs::read_to_string(common.join(name)).ok().map(|text| text.trim().to_owned());
    loose.or_else(|| packed(&common.join("packed-refs"), name))
}

/// Where the `.git` file of a linked worktree points to.
fn linked(file: &Path) -> Option<PathBuf> {
    let text = fs::read_to_string(file).ok()?;
    let path = text.trim().strip_prefix("gitdir: ")?;
    Some(file.parent()?.join(path))
}

fn packed(file: &Path, name: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let line = |line: &str| {
        let (commit, named) = line.split_once(' ')?;
        (named == name).then(|| commit.to_owned())
    };
    text.lines().find_map(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn every_field_is_a_line() {
        let env = Env {
            seed: 7,
            test: "pool::drains",
            package: Some("pool"),
            commit: Some("0123abcd".to_owned()),
            signature: "panic at src/a.rs:1: \"x\" is\tnot \\",
            binary: Some("debug/deps/pool-0123".to_owned()),
            command: "cargo test -p pool drains -- --exact".to_owned(),
            ..Env::default()
        };
        expect![[r#"
            # A failing run of detsim: what it takes to run it again.
            seed = 7
            test = "pool::drains"
            package = "pool"
            commit = "0123abcd"
            detsim = "0.1.0"
            binary = "debug/deps/pool-0123"
            signature = "panic at src/a.rs:1: \"x\" is\u0009not \\"
            command = "cargo test -p pool drains -- --exact"
        "#]]
        .assert_eq(&env.to_toml());
    }

    #[test]
    fn the_commit_is_read_from_the_files_of_git() {
        let root = std::env::temp_dir().join(format!("detsim-env-{}", std::process::id()));
        let (git, below) = (root.join(".git"), root.join("a/b"));
        fs::create_dir_all(git.join("refs/heads")).unwrap();
        fs::create_dir_all(&below).unwrap();
        let check = |expected: Option<&str>| assert_eq!(commit(&below).as_deref(), expected);
        check(None);
        fs::write(git.join("HEAD"), "0123\n").unwrap();
        check(Some("0123"));
        fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(git.join("packed-refs"), "# pack\n4567 refs/heads/main\n").unwrap();
        check(Some("4567"));
        fs::write(git.join("refs/heads/main"), "89ab\n").unwrap();
        check(Some("89ab"));
        fs::remove_dir_all(root).unwrap();
    }
}
