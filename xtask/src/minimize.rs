//! `cargo xtask minimize`: a failing seed, cut down to the few choices that matter.
//!
//! Owns: finding the record of a seed, and calling its test again with it. Does not own: the
//! minimising, which the test's own process does, nor its report, which this prints.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;

use crate::failure::{Failure, Result};
use crate::process;

/// Cut the recorded failure of a seed down to the few choices that matter, and tell them.
#[derive(Args, Debug)]
pub(crate) struct Minimize {
    /// The failing seed, as the sweep named it.
    seed: u64,
    /// The test, or a part of its path, where several have failed with this seed.
    #[arg(long)]
    test: Option<String>,
    /// The directory of the records, where `DETSIM_OUT` named one.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
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
    pub(crate) fn run(&self) -> Result {
        let directories = match &self.out {
            Some(out) => vec![out.clone()],
            None => targets().into_iter().map(|dir| dir.join("detsim").join("failures")).collect(),
        };
        let found = records(&directories, self.seed, self.test.as_deref());
        let (record, env) = self.only(found, &directories)?;
        let story = record.join(STORY);
        // What an earlier call left would look like the answer of this one.
        let _none = fs::remove_file(&story);
        let mut said = Vec::new();
        let mut command = again(&env, &record)?;
        process::stream(&mut command, |line| said.push(line.to_owned()))?;
        match fs::read_to_string(&story) {
            Ok(text) => {
                print!("{text}");
                Ok(())
            }
            Err(_) => Err(Failure::new(format!(
                "seed {} of {} was not minimised; its test said:\n{}",
                self.seed,
                env.test,
                said.join("\n")
            ))),
        }
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
}

/// The target directories of this workspace: of plain builds, and of those under `--cfg detsim`.
fn targets() -> Vec<PathBuf> {
    let target = process::target_dir();
    let cfg = target.join("cfg-detsim");
    vec![target, cfg]
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

/// The test again, on the record.
fn again(env: &Env, record: &Path) -> Result<Command> {
    let mut words = env.command.split(' ');
    let program = words.next().filter(|program| !program.is_empty());
    let program = program.ok_or_else(|| {
        let record = record.display();
        Failure::new(format!("{record}/env.toml names no command; run the test once more"))
    })?;
    let mut command = process::program(program);
    command.args(words);
    command.env("DETSIM_REPLAY", fs::canonicalize(record)?).env("DETSIM_MINIMIZE", "1");
    for name in ["DETSIM_SEED", "DETSIM_SEEDS"] {
        command.env_remove(name);
    }
    if let Some(strategy) = &env.strategy {
        command.env("DETSIM_STRATEGY", strategy);
    }
    if let Some(flags) = &env.rustflags {
        command.env("RUSTFLAGS", flags);
    }
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENV: &str = "# A failing run.\nseed = 7\ntest = \"pool::drains\"\n\
                       signature = \"panic: \\\"x\\\"\"\ncommand = \"cargo test -p pool drains\"\n\
                       rustflags = \"--cfg detsim\"\n";

    #[test]
    fn a_record_says_how_it_is_run_again() {
        let env = parse(ENV);
        assert_eq!((env.test.as_str(), env.strategy.as_deref()), ("pool::drains", None));
        assert_eq!(unquoted("\"panic: \\\"x\\\"\""), "panic: \"x\"");
        let here = std::env::temp_dir();
        let command = again(&env, &here).unwrap();
        assert_eq!(process::typed(&command), "cargo test -p pool drains");
        let vars: Vec<_> = command.get_envs().filter(|(_, value)| value.is_some()).collect();
        assert_eq!(vars.len(), 3, "{vars:?}");
        assert!(again(&Env::default(), &here).is_err());
    }

    #[test]
    fn a_seed_of_several_tests_has_to_be_told_apart() {
        let root = std::env::temp_dir().join(format!("xtask-minimize-{}", std::process::id()));
        for test in ["pool.drains", "pool.fills"] {
            let place = root.join(test).join("7");
            fs::create_dir_all(&place).unwrap();
            let text = ENV.replace("pool::drains", &test.replace('.', "::"));
            fs::write(place.join("env.toml"), text).unwrap();
        }
        let find = |test: Option<&str>| {
            let wanted = Minimize { seed: 7, test: test.map(str::to_owned), out: None };
            let directories = [root.clone(), root.join("none")];
            wanted.only(records(&directories, 7, test), &directories)
        };
        let text = find(None).unwrap_err().to_string();
        assert_eq!(text, "seed 7 failed in pool::drains, pool::fills; name one by --test");
        assert_eq!(find(Some("fills")).unwrap().0, root.join("pool.fills/7"));
        assert!(find(Some("stops")).unwrap_err().to_string().starts_with("there is no record"));
        fs::remove_dir_all(root).unwrap();
    }
}
