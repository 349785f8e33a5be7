//! The arguments that are cargo's, as far as we have to understand them.
//!
//! Knows how cargo spells a flag, and that what follows `--` is the tests' own. Everything is
//! passed on as it was given; the one thing taken out is what we put in ourselves.

use std::ffi::{OsStr, OsString};

/// Arguments of `cargo test`, in the order in which they were typed.
#[derive(Clone, Debug)]
pub(crate) struct CargoArgs(Vec<OsString>);

/// Flags that decide what a graph consists of, with and without a value. They mean the same to
/// `cargo metadata`.
const GRAPH: [&str; 5] = ["--manifest-path", "--lockfile-path", "--features", "-F", "--config"];
const GRAPH_BARE: [&str; 5] =
    ["--locked", "--offline", "--frozen", "--all-features", "--no-default-features"];

impl CargoArgs {
    pub(crate) fn new(args: Vec<OsString>) -> Self {
        Self(args)
    }

    /// The last value of `flag`, given as `flag value` or as `flag=value`.
    pub(crate) fn value(&self, flag: &str) -> Option<OsString> {
        self.values(flag).pop()
    }

    /// Removes `flag` with its value and returns the last one.
    pub(crate) fn take_value(&mut self, flag: &str) -> Option<OsString> {
        let value = self.value(flag);
        let (mut kept, mut skip) = (Vec::new(), false);
        let own = self.own().len();
        for (at, arg) in std::mem::take(&mut self.0).into_iter().enumerate() {
            let is_value = std::mem::take(&mut skip);
            skip = at < own && arg == flag;
            if at >= own || !(is_value || skip || attached(&arg, flag).is_some()) {
                kept.push(arg);
            }
        }
        self.0 = kept;
        value
    }

    /// What `cargo metadata` has to be given to see the same graph.
    pub(crate) fn for_metadata(&self) -> Vec<OsString> {
        let bare = GRAPH_BARE.iter().filter(|flag| self.own().iter().any(|arg| arg == **flag));
        let mut args = bare.map(OsString::from).collect::<Vec<_>>();
        for flag in GRAPH {
            args.extend(self.values(flag).into_iter().flat_map(|value| [flag.into(), value]));
        }
        args
    }

    pub(crate) fn iter(&self) -> std::slice::Iter<'_, OsString> {
        self.0.iter()
    }

    fn own(&self) -> &[OsString] {
        let end = self.0.iter().position(|arg| arg == "--");
        &self.0[..end.unwrap_or(self.0.len())]
    }

    fn values(&self, flag: &str) -> Vec<OsString> {
        let own = self.own();
        let value = |(at, arg): (usize, &OsString)| match arg == flag {
            true => own.get(at + 1).cloned(),
            false => attached(arg, flag).map(OsString::from),
        };
        own.iter().enumerate().filter_map(value).collect()
    }
}

/// The value in `--flag=value`. A path that is not UTF-8 has to be given as a word of its own.
fn attached<'a>(arg: &'a OsStr, flag: &str) -> Option<&'a str> {
    arg.to_str()?.strip_prefix(flag)?.strip_prefix('=')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(words: &str) -> CargoArgs {
        CargoArgs::new(words.split_whitespace().map(OsString::from).collect())
    }

    #[test]
    fn both_spellings_of_a_value_are_read_up_to_the_double_dash() {
        let args = args("--target a -p x --target=b name -- --target c");
        assert_eq!(args.value("--target").unwrap(), "b");
        assert_eq!(args.value("-p").unwrap(), "x");
        assert_eq!(args.value("--target-dir"), None);
    }

    #[test]
    fn a_value_is_taken_out_and_nothing_else() {
        let mut args = args("--target-dir a --locked --target-dir=b -- --target-dir c");
        assert_eq!(args.take_value("--target-dir").unwrap(), "b");
        let rest = args.iter().map(|arg| arg.to_str().unwrap()).collect::<Vec<_>>();
        assert_eq!(rest, ["--locked", "--", "--target-dir", "c"]);
        assert_eq!(args.take_value("--target-dir"), None);
    }

    #[test]
    fn metadata_is_asked_about_the_same_graph() {
        let args = args("-p x --locked -F a --features=b,c --release name -- --offline");
        assert_eq!(args.for_metadata(), ["--locked", "--features", "b,c", "-F", "a"]);
    }
}
