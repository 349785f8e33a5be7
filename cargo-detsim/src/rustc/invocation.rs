//! One call of the compiler as words, and the two calls that one of tokio becomes.
//!
//! Pure: nothing here runs anything. Knows how cargo spells the few flags that are changed;
//! everything else stays as it is and where it is.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::graph::{CALLS_LIBC, Plan};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Invocation(Vec<OsString>);

/// The real tokio's name as a crate. Cargo looks for files of tokio's name only.
const REAL: &str = "tokio_real";

/// Features of tokio that the shim stands on, whichever the project asks for. They take no
/// dependency, so the graph has all that they need.
const FEATURES: [&str; 3] = ["rt", "sync", "time"];

impl Invocation {
    pub(crate) fn new(args: Vec<OsString>) -> Self {
        Self(args)
    }

    /// Cargo names the target for what is tested, and no target for what runs while it builds.
    pub(crate) fn is_for_target(&self) -> bool {
        self.value("--target").is_some()
    }

    /// Has rustix call libc, as it would by this flag of the whole build. Cargo asks the compiler which flags
    /// are set before it chooses dependencies and runs rustix's build script, and hears of it there.
    pub(crate) fn call_libc(&mut self) {
        self.push("--cfg");
        self.push(CALLS_LIBC);
    }

    /// Whether `file` is the root of the crate.
    pub(crate) fn compiles(&self, file: &Path) -> bool {
        self.0.iter().any(|arg| Path::new(arg) == file)
    }

    /// Lets the compiler find crates in `dirs` that a dependency names.
    pub(crate) fn search(&mut self, dirs: &[PathBuf]) {
        for dir in dirs {
            self.push("-L");
            let mut place = OsString::from("dependency=");
            place.push(dir);
            self.0.push(place);
        }
    }

    /// This call of tokio, to compile it under another name. It announces no artifact, for cargo
    /// would begin with the crates behind tokio while the shim is still to come.
    pub(crate) fn real(&self) -> Self {
        let mut real = self.clone();
        real.replace_value("--crate-name", REAL);
        for arg in &mut real.0 {
            if let Some(kinds) = arg.to_str().and_then(|arg| arg.strip_prefix("--json=")) {
                let kinds = kinds.split(',').filter(|kind| *kind != "artifacts");
                *arg = format!("--json={}", kinds.collect::<Vec<_>>().join(",")).into();
            }
        }
        for feature in FEATURES {
            real.push("--cfg");
            real.push(&format!("feature=\"{feature}\""));
        }
        real
    }

    /// This call of tokio, to compile the shim in its place. The graph's own crates come before
    /// the kernel's of the same name, so that types which tokio shows remain the project's.
    pub(crate) fn shim(mut self, tokio: &Path, plan: &Plan) -> Self {
        for arg in &mut self.0 {
            if Path::new(arg) == tokio {
                *arg = plan.shim.clone().into();
            }
        }
        self.replace_value("--edition", "2024");
        let cfgs = ["--cfg", "detsim", "--cfg", "detsim=\"graph\""];
        let known = ["--check-cfg", "cfg(detsim, values(none(), \"graph\"))"];
        for word in cfgs.into_iter().chain(known).chain(["-Copt-level=3"]) {
            self.push(word);
        }
        let real = self.real_file();
        self.push_extern("tokio", &real);
        for (name, file) in &plan.kernel.externs {
            self.push_extern(name, file);
        }
        self.search(&plan.kernel.search);
        self
    }

    pub(crate) fn into_args(self) -> Vec<OsString> {
        self.0
    }

    /// The file that the compiler makes of [`real`](Self::real).
    fn real_file(&self) -> PathBuf {
        let is_linked = self.value("--emit").is_none_or(|kinds| {
            kinds.to_string_lossy().split(',').any(|kind| kind.starts_with("link"))
        });
        let suffix = self.codegen("extra-filename").unwrap_or_default();
        let extension = if is_linked { "rlib" } else { "rmeta" };
        let dir = self.value("--out-dir").unwrap_or_default();
        Path::new(dir).join(format!("lib{REAL}{suffix}.{extension}"))
    }

    /// The value in `flag value` or `flag=value`.
    fn value(&self, flag: &str) -> Option<&OsStr> {
        let at = self.0.iter().position(|arg| attached(arg, flag).is_some() || arg == flag)?;
        match attached(&self.0[at], flag) {
            Some(value) => Some(OsStr::new(value)),
            None => self.0.get(at + 1).map(OsString::as_os_str),
        }
    }

    /// The value of `name` in `-C name=value`.
    fn codegen(&self, name: &str) -> Option<&str> {
        self.0.iter().find_map(|arg| {
            let option = arg.to_str()?;
            attached(OsStr::new(option.strip_prefix("-C").unwrap_or(option)), name)
        })
    }

    fn replace_value(&mut self, flag: &str, value: &str) {
        for at in 0..self.0.len() {
            if self.0[at] == flag && at + 1 < self.0.len() {
                self.0[at + 1] = value.into();
            } else if attached(&self.0[at], flag).is_some() {
                self.0[at] = format!("{flag}={value}").into();
            }
        }
    }

    fn push_extern(&mut self, name: &str, file: &Path) {
        let mut place = OsString::from(format!("{name}="));
        place.push(file);
        self.push("--extern");
        self.0.push(place);
    }

    fn push(&mut self, word: &str) {
        self.0.push(word.into());
    }
}

fn attached<'a>(arg: &'a OsStr, flag: &str) -> Option<&'a str> {
    arg.to_str()?.strip_prefix(flag)?.strip_prefix('=')
}

#[cfg(test)]
mod tests;
