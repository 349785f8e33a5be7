//! Child processes: how cargo is called, in which configuration, and how its output is read.
//!
//! Every child starts at the workspace root, with standard input closed, and without the compiler
//! flags of the caller's shell: a configuration means the same wherever it is run. Nothing here
//! decides what to run.

use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use crate::failure::{Failure, Result};

/// Whether the crates are built as tokio itself or as the simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Config {
    /// As published: the shim is tokio.
    Plain,
    /// Under `--cfg detsim`, in a target directory of its own, so that neither configuration
    /// throws away what the other one built.
    Detsim,
}

impl Config {
    pub(crate) const BOTH: [Self; 2] = [Self::Plain, Self::Detsim];

    /// `name`, marked with the configuration unless it is the plain one.
    pub(crate) fn label(self, name: &str) -> String {
        match self {
            Self::Plain => name.to_owned(),
            Self::Detsim => format!("{name} (cfg detsim)"),
        }
    }

    /// A call of cargo in this configuration. `rustdoc_flags` join those that it needs itself.
    pub(crate) fn cargo(self, args: &[&str], rustdoc_flags: &str) -> Command {
        let mut cargo = cargo(args);
        let flags = match self {
            Self::Plain => "",
            Self::Detsim => {
                cargo.arg("--target-dir").arg(target_dir().join("cfg-detsim"));
                cargo.env("RUSTFLAGS", "--cfg detsim");
                "--cfg detsim"
            }
        };
        let rustdoc_flags = format!("{flags} {rustdoc_flags}");
        if !rustdoc_flags.trim().is_empty() {
            cargo.env("RUSTDOCFLAGS", rustdoc_flags.trim());
        }
        cargo
    }
}

/// The root of the workspace.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("invariant: xtask is a member")
}

/// The target directory that this very program was built in.
pub(crate) fn target_dir() -> PathBuf {
    let beside = std::env::current_exe().ok().and_then(|exe| Some(exe.ancestors().nth(2)?.into()));
    beside.unwrap_or_else(|| root().join("target"))
}

/// This very program. Where a test run has built it anew meanwhile, the new one is the same.
pub(crate) fn this_program() -> Result<PathBuf> {
    let exe = std::env::current_exe()?;
    let path = exe.to_string_lossy();
    // What the system calls a program whose file was replaced.
    Ok(path.strip_suffix(" (deleted)").map_or_else(|| exe.clone(), PathBuf::from))
}

/// The target directories of this workspace: of plain builds, and of those under `--cfg detsim`.
pub(crate) fn target_dirs() -> Vec<PathBuf> {
    let target = target_dir();
    let cfg = target.join("cfg-detsim");
    vec![target, cfg]
}

/// Cargo without any flags from the caller's environment.
pub(crate) fn cargo(args: &[&str]) -> Command {
    let mut cargo = program("cargo");
    cargo.args(args);
    cargo
}

/// `name` at the workspace root, with nothing to read.
pub(crate) fn program(name: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(name);
    command.current_dir(root()).stdin(Stdio::null());
    for flags in ["RUSTFLAGS", "RUSTDOCFLAGS", "CARGO_ENCODED_RUSTFLAGS"] {
        command.env_remove(flags);
    }
    command
}

/// Runs `command` with its output passed on, and demands success.
pub(crate) fn run(command: &mut Command) -> Result {
    let status = command.status().map_err(|error| not_started(command, &error))?;
    expect_success(command, status)
}

/// Runs `command`, gives each line of its standard output to `line`, and returns how it ended.
pub(crate) fn stream(command: &mut Command, line: impl FnMut(&str)) -> Result<ExitStatus> {
    let child = command.stdout(Stdio::piped()).spawn();
    let mut child = child.map_err(|error| not_started(command, &error))?;
    let output = child.stdout.take().expect("invariant: standard output was asked for");
    let read = each_line(BufReader::new(output), line);
    let status = child.wait()?;
    read?;
    Ok(status)
}

/// The standard output of `command`, which has to succeed.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let mut text = String::new();
    let status = stream(command, |line| {
        text.push_str(line);
        text.push('\n');
    })?;
    expect_success(command, status)?;
    Ok(text)
}

/// Whether `command` can be started and succeeds; it prints nothing.
pub(crate) fn available(command: &mut Command) -> bool {
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// The command as one would type it, without its environment.
pub(crate) fn typed(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}

pub(crate) fn expect_success(command: &Command, status: ExitStatus) -> Result {
    match status.success() {
        true => Ok(()),
        false => Err(Failure::new(format!("`{}` ended with {status}", typed(command)))),
    }
}

fn not_started(command: &Command, error: &io::Error) -> Failure {
    Failure::new(format!("`{}` could not be started: {error}", typed(command)))
}

/// A test may print anything, so lines are bytes until here and a bad one is not an error.
fn each_line(mut from: impl BufRead, mut line: impl FnMut(&str)) -> io::Result<()> {
    let mut bytes = Vec::new();
    while from.read_until(b'\n', &mut bytes)? != 0 {
        let text = String::from_utf8_lossy(&bytes);
        line(text.strip_suffix('\n').unwrap_or(&text));
        bytes.clear();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_survive_bytes_that_are_not_text() {
        let mut lines = Vec::new();
        each_line(&b"one\n\xfftwo\nlast"[..], |line| lines.push(line.to_owned())).unwrap();
        assert_eq!(lines, ["one", "\u{fffd}two", "last"]);
    }

    #[test]
    fn a_failing_child_is_named() {
        let failure = run(program("false").arg("now")).unwrap_err();
        assert!(failure.to_string().starts_with("`false now` ended with"), "{failure}");
    }

    #[test]
    fn a_missing_program_is_named() {
        let failure = output(&mut program("no-such-program")).unwrap_err();
        assert!(failure.to_string().starts_with("`no-such-program` could not"), "{failure}");
    }
}
