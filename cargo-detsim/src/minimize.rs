//! `minimize`: a failing seed, cut down to the few choices that matter.
//!
//! Owns: finding the record of a seed, and calling its test again with it. Does not own: the
//! minimising, which the test's own process does, nor its report, which this prints.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use clap::Args;

use crate::failure::{Failure, Result};

/// Cut the recorded failure of a seed down to the few choices that matter, and tell them.
#[derive(Args, Debug, Default)]
pub struct Minimize {
    /// The failing seed, as the sweep named it.
    seed: u64,
    /// The test, or a part of its path, where several have failed with this seed.
    #[arg(long)]
    test: Option<String>,
    /// The directory of the records, where `DETSIM_OUT` named one.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// The most runs that it may take [default: 2000].
    #[arg(long, value_name = "RUNS", value_parser = clap::value_parser!(u32).range(2..))]
    replays: Option<u32>,
    /// The most time that it may take: 90s, 5m [default: 120s].
    #[arg(long, value_name = "TIME")]
    time: Option<String>,
    /// Keep the result in `tests/detsim-regressions/`: from then on every run of the test begins
    /// with it.
    #[arg(long)]
    save: bool,
}

/// What the record of a run says of how to run it again.
#[derive(Debug, Default, PartialEq, Eq)]
struct Env {
    test: String,
    command: String,
    strategy: Option<String>,
    rustflags: Option<String>,
}

/// The report that the test's process leaves in the record.
const STORY: &str = "minimized.txt";

impl Minimize {
    /// Finds the record below one of the `targets`, which are target directories, and minimises it.
    /// Cargo is called in `root`.
    ///
    /// # Errors
    /// Where there is no record of the seed or more than one, and where its test fails in another
    /// way by now.
    pub fn run(&self, targets: &[PathBuf], root: &Path) -> Result {
        let directories = match &self.out {
            Some(out) => vec![out.clone()],
            None => targets.iter().map(|dir| dir.join("detsim").join("failures")).collect(),
        };
        let found = records(&directories, self.seed, self.test.as_deref());
        let (record, env) = self.only(found, &directories)?;
        let story = record.join(STORY);
        // What an earlier call left would look like the answer of this one.
        let _none = fs::remove_file(&story);
        let mut command = self.again(&env, &record)?;
        let said = command.current_dir(root).output();
        let said = said.map_err(|error| Failure::start(&command, &error))?;
        match fs::read_to_string(&story) {
            Ok(text) => {
                self.saved(&said).into_iter().for_each(|line| println!("{line}\n"));
                print!("{text}");
                Ok(())
            }
            Err(_) => Err(Failure::new(format!(
                "seed {} of {} was not minimised; its test said:\n{}",
                self.seed,
                env.test,
                text(&said)
            ))),
        }
    }

    /// The line of the test that says where it saved the result.
    fn saved(&self, said: &Output) -> Option<String> {
        let text = text(said);
        let mut lines = text.lines().filter(|line| line.contains("detsim-regressions"));
        self.save.then(|| lines.next().map(str::to_owned)).flatten()
    }

    /// The one record that is meant.
    fn only(&self, mut found: Vec<(PathBuf, Env)>, looked: &[PathBuf]) -> Result<(PathBuf, Env)> {
        if found.len() > 1 {
            let tests: Vec<&str> = found.iter().map(|(_, env)| env.test.as_str()).collect();
            let (seed, tests) = (self.seed, tests.join(", "));
            return Err(Failure::new(format!("seed {seed} failed in {tests}; name one by --test")));
        }
        found.pop().ok_or_else(|| {
            let looked: Vec<String> = looked.iter().map(|dir| dir.display().to_string()).collect();
            Failure::new(format!(
                "there is no record of seed {} in {}; run the test that fails once more, or name \
                 the directory of DETSIM_OUT by --out",
                self.seed,
                looked.join(", ")
            ))
        })
    }

    /// The test again, on the record. Its progress goes straight to the terminal.
    fn again(&self, env: &Env, record: &Path) -> Result<Command> {
        let mut words = env.command.split(' ');
        let program = words.next().filter(|program| !program.is_empty());
        let program = program.ok_or_else(|| {
            let record = record.display();
            Failure::new(format!("{record}/env.toml names no command; run the test once more"))
        })?;
        let record = fs::canonicalize(record).map_err(|error| Failure::file(record, &error))?;
        let mut command = Command::new(program);
        command.args(words).stdin(Stdio::null()).stderr(Stdio::inherit());
        for name in UNSET {
            command.env_remove(name);
        }
        let runs = self.replays.unwrap_or(1).to_string();
        let given = [
            ("DETSIM_REPLAY", Some(record.as_os_str())),
            ("DETSIM_MINIMIZE", Some(OsStr::new(&runs))),
            ("DETSIM_BUDGET", self.time.as_deref().map(OsStr::new)),
            ("DETSIM_SAVE", self.save.then(|| OsStr::new("1"))),
            ("DETSIM_STRATEGY", env.strategy.as_deref().map(OsStr::new)),
            ("RUSTFLAGS", env.rustflags.as_deref().map(OsStr::new)),
        ];
        for (name, value) in given {
            command.envs(value.map(|value| (name, value)));
        }
        command.envs(path_with_us().map(|path| ("PATH", path)));
        Ok(command)
    }
}

/// The path of programs, with the directory of this one at its end: `cargo detsim` is found by it even
/// where it is not installed.
#[expect(clippy::disallowed_methods, reason = "a command line passes its environment on")]
fn path_with_us() -> Option<OsString> {
    let ours = std::env::current_exe().ok()?.parent()?.to_owned();
    let path = std::env::var_os("PATH")?;
    std::env::join_paths(std::env::split_paths(&path).chain([ours])).ok()
}

/// What the shell may say of other runs.
const UNSET: [&str; 6] = [
    "DETSIM_SEED",
    "DETSIM_SEEDS",
    "DETSIM_SEED_BASE",
    "RUSTFLAGS",
    "RUSTDOCFLAGS",
    "CARGO_ENCODED_RUSTFLAGS",
];

fn text(said: &Output) -> String {
    String::from_utf8_lossy(&said.stdout).into_owned()
}

/// The records of a seed, in the order of their paths.
fn records(directories: &[PathBuf], seed: u64, test: Option<&str>) -> Vec<(PathBuf, Env)> {
    let tests = directories.iter().filter_map(|dir| fs::read_dir(dir).ok()).flatten().flatten();
    let mut places: Vec<PathBuf> = tests.map(|entry| entry.path().join(seed.to_string())).collect();
    places.sort();
    let read = |place: PathBuf| {
        let env = parse(&fs::read_to_string(place.join("env.toml")).ok()?);
        let is_meant = test.is_none_or(|part| env.test.contains(part));
        is_meant.then_some((place, env))
    };
    places.into_iter().filter_map(read).collect()
}

/// Reads the lines `name = "value"` that detsim writes.
fn parse(text: &str) -> Env {
    let mut env = Env::default();
    for line in text.lines() {
        let Some((name, value)) = line.split_once(" = ") else { continue };
        let value = unquoted(value);
        match name {
            "test" => env.test = value,
            "command" => env.command = value,
            "strategy" => env.strategy = Some(value),
            "rustflags" => env.rustflags = Some(value),
            _ => {}
        }
    }
    env
}

/// The text of a basic string of TOML, of which these fields use two escapes.
fn unquoted(value: &str) -> String {
    let inner = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(value);
    inner.replace("\\\"", "\"").replace("\\\\", "\\")
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENV: &str = "# A failing run.\nseed = 7\ntest = \"pool::drains\"\n\
                       signature = \"panic: \\\"x\\\"\"\ncommand = \"cargo test -p pool drains\"\n\
                       rustflags = \"--cfg detsim\"\n";

    fn variables(wanted: &Minimize) -> String {
        let command = wanted.again(&parse(ENV), &std::env::temp_dir()).unwrap();
        let given = command.get_envs().filter_map(|(name, value)| Some((name, value?)));
        let given = given.filter(|(name, _)| *name != "DETSIM_REPLAY" && *name != "PATH");
        let shown = |(name, value): (&OsStr, &OsStr)| {
            format!("{}={}", name.to_string_lossy(), value.to_string_lossy())
        };
        given.map(shown).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_record_says_how_it_is_run_again() {
        let env = parse(ENV);
        assert_eq!((env.test.as_str(), env.strategy.as_deref()), ("pool::drains", None));
        assert_eq!(unquoted("\"panic: \\\"x\\\"\""), "panic: \"x\"");
        let wanted = Minimize::default();
        assert_eq!(variables(&wanted), "DETSIM_MINIMIZE=1 RUSTFLAGS=--cfg detsim");
        assert!(wanted.again(&Env::default(), &std::env::temp_dir()).is_err());
    }

    #[test]
    fn flags_become_variables() {
        let wanted = Minimize {
            replays: Some(300),
            time: Some("30s".to_owned()),
            save: true,
            ..Minimize::default()
        };
        let expected = "DETSIM_BUDGET=30s DETSIM_MINIMIZE=300 DETSIM_SAVE=1 RUSTFLAGS=--cfg detsim";
        assert_eq!(variables(&wanted), expected);
    }

    #[test]
    fn a_seed_of_several_tests_has_to_be_told_apart() {
        let root = std::env::temp_dir().join(format!("detsim-minimize-{}", std::process::id()));
        for test in ["pool.drains", "pool.fills"] {
            let place = root.join(test).join("7");
            fs::create_dir_all(&place).unwrap();
            let text = ENV.replace("pool::drains", &test.replace('.', "::"));
            fs::write(place.join("env.toml"), text).unwrap();
        }
        let find = |test: Option<&str>| {
            let test = test.map(str::to_owned);
            let wanted = Minimize { seed: 7, test, ..Minimize::default() };
            let directories = [root.clone(), root.join("none")];
            wanted.only(records(&directories, 7, wanted.test.as_deref()), &directories)
        };
        let text = find(None).unwrap_err().to_string();
        assert_eq!(text, "seed 7 failed in pool::drains, pool::fills; name one by --test");
        assert_eq!(find(Some("fills")).unwrap().0, root.join("pool.fills/7"));
        assert!(find(Some("stops")).unwrap_err().to_string().starts_with("there is no record"));
        fs::remove_dir_all(root).unwrap();
    }
}
