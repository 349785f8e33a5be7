//! The compiler that the project is built with, asked for what it says of itself.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use cargo_detsim::failure::{Failure, Result};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Toolchain {
    /// The triple that it runs on.
    pub(crate) host: String,
    /// A word for a directory: what one compiler builds, another cannot read.
    pub(crate) key: String,
    /// The compiler itself, where rustup only stands in for it.
    pub(crate) rustc: PathBuf,
}

impl Toolchain {
    /// The toolchain of the current directory.
    pub(crate) fn find() -> Result<Self> {
        let version = rustc(&["--version", "--verbose"])?;
        let sysroot = rustc(&["--print", "sysroot"])?;
        let field = |name| field(&version, name);
        let release = field("release: ")?;
        let commit = field("commit-hash: ")?.chars().take(9).collect::<String>();
        Ok(Self {
            host: field("host: ")?.to_owned(),
            key: format!("{release}-{commit}"),
            rustc: PathBuf::from(sysroot.trim_end()).join("bin/rustc"),
        })
    }
}

fn rustc(args: &[&str]) -> Result<String> {
    let mut rustc = Command::new("rustc");
    let output = rustc.args(args).stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| Failure::start(&rustc, &error))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(Failure::new(format!("detsim: `rustc {}` failed", args.join(" ")))),
    }
}

fn field<'a>(version: &'a str, name: &str) -> Result<&'a str> {
    let found = version.lines().find_map(|line| line.strip_prefix(name));
    found.ok_or_else(|| Failure::new(format!("detsim: rustc does not say its `{name}`")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_compiler_of_this_build_describes_itself() {
        let toolchain = Toolchain::find().unwrap();
        assert!(toolchain.host.contains('-'), "{toolchain:?}");
        assert!(toolchain.key.starts_with("1."), "{toolchain:?}");
        assert!(toolchain.rustc.is_file(), "{toolchain:?}");
    }

    #[test]
    fn a_field_that_is_missing_is_named() {
        assert_eq!(field("a: 1\nhost: x-y\n", "host: ").unwrap(), "x-y");
        let failure = field("a: 1\n", "host: ").unwrap_err();
        assert_eq!(failure.to_string(), "detsim: rustc does not say its `host: `");
    }
}
