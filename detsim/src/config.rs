//! What the environment says: the only reader of environment variables in detsim.
//!
//! Owns: the names of the variables, what each may hold, and the words in which a bad value is
//! refused. Does not own: what a setting does (the sweep, the worker and the log decide), nor the
//! arguments of the test attribute ([`crate::spec`]). Invariants: parsing is a pure function of
//! (name, value); an unset and an empty variable mean the same; nothing is guessed from a bad value.

mod parse;
#[cfg(test)]
mod tests;

use std::fmt;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

pub(crate) use parse::Seeds;

/// Everything that the environment may say about a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Config {
    /// `DETSIM_SEED`: run this one seed and show its output. Wins over `DETSIM_SEEDS`.
    pub(crate) seed: Option<u64>,
    /// `DETSIM_SEEDS`: how many seeds, or which.
    pub(crate) seeds: Option<Seeds>,
    /// `DETSIM_SEED_BASE`: the first seed of a sweep given as a count.
    pub(crate) seed_base: Option<u64>,
    /// `DETSIM_JOBS`: how many workers run at the same time, over all tests of the process.
    pub(crate) jobs: Option<NonZeroUsize>,
    /// `DETSIM_STRATEGY`: the scheduler of every run.
    pub(crate) strategy: Option<String>,
    /// `DETSIM_BUDGET`: the wall time after which a sweep hands out no more seeds, and a
    /// minimisation no more sets.
    pub(crate) budget: Option<Duration>,
    /// `DETSIM_OUT`: where reports of failures are written.
    pub(crate) out: Option<PathBuf>,
    /// `DETSIM_LOG`: the filter of the `tracing` output of every run.
    pub(crate) log: Option<String>,
    /// `DETSIM_IN_PROCESS`: run the seeds in the test process itself.
    pub(crate) in_process: bool,
    /// `DETSIM_REPLAY`: run the choices of this record instead of seeds.
    pub(crate) replay: Option<PathBuf>,
    /// `DETSIM_MINIMIZE`: cut failing runs down to the choices that matter.
    pub(crate) minimize: bool,
    /// `DETSIM_MINIMIZE=<runs>`: the most runs that this may take.
    pub(crate) replays_max: Option<u32>,
    /// `DETSIM_SAVE`: keep what that comes to as a regression, which every sweep begins with.
    pub(crate) save: bool,
    /// Set by the parent for its workers only.
    pub(crate) worker: Option<WorkerLink>,
    /// What cargo says of the package whose test runs.
    pub(crate) package: Option<String>,
    /// Whether this is a continuous-integration machine, where nothing is redrawn.
    pub(crate) is_ci: bool,
}

/// How a worker reaches its parent, as the internal variable carries it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WorkerLink {
    /// The version of the protocol that the parent speaks.
    pub(crate) version: u32,
    /// The file descriptor of the connection.
    pub(crate) fd: i32,
}

/// A variable whose value cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BadValue {
    name: &'static str,
    value: String,
    allowed: &'static str,
}

impl fmt::Display for BadValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, value, allowed } = self;
        write!(f, "detsim: {name}={value} cannot be used; allowed: {allowed}")
    }
}

pub(crate) const SEED: &str = "DETSIM_SEED";
pub(crate) const SEEDS: &str = "DETSIM_SEEDS";
pub(crate) const SEED_BASE: &str = "DETSIM_SEED_BASE";
pub(crate) const JOBS: &str = "DETSIM_JOBS";
pub(crate) const STRATEGY: &str = "DETSIM_STRATEGY";
pub(crate) const BUDGET: &str = "DETSIM_BUDGET";
pub(crate) const OUT: &str = "DETSIM_OUT";
pub(crate) const LOG: &str = "DETSIM_LOG";
pub(crate) const IN_PROCESS: &str = "DETSIM_IN_PROCESS";
pub(crate) const REPLAY: &str = "DETSIM_REPLAY";
pub(crate) const MINIMIZE: &str = "DETSIM_MINIMIZE";
pub(crate) const SAVE: &str = "DETSIM_SAVE";
pub(crate) const WORKER: &str = "DETSIM_WORKER";

/// The variables that steer the parent only. A worker does not get them: its environment is the
/// same in a sweep and in the replay of one seed.
pub(crate) const PARENT_ONLY: [&str; 10] =
    [SEED, SEEDS, SEED_BASE, JOBS, BUDGET, OUT, IN_PROCESS, REPLAY, MINIMIZE, SAVE];

impl Config {
    /// Reads the environment of this process.
    pub(crate) fn from_env() -> Result<Self, BadValue> {
        Self::from_reader(&read)
    }

    /// Reads from anything that maps a name to a value.
    fn from_reader(read: &Read<'_>) -> Result<Self, BadValue> {
        let minimize = parsed(read, MINIMIZE, parse::MINIMIZE_ALLOWED, parse::minimize)?;
        let save = parsed(read, SAVE, "1 or 0", parse::switch)?.unwrap_or(false);
        let config = Self {
            seed: parsed(read, SEED, parse::SEED_ALLOWED, parse::seed)?,
            seeds: parsed(read, SEEDS, parse::SEEDS_ALLOWED, parse::seeds)?,
            seed_base: parsed(read, SEED_BASE, parse::SEED_ALLOWED, parse::seed)?,
            jobs: parsed(read, JOBS, parse::JOBS_ALLOWED, parse::jobs)?,
            strategy: parsed(read, STRATEGY, parse::STRATEGY_ALLOWED, parse::strategy)?,
            budget: parsed(read, BUDGET, parse::BUDGET_ALLOWED, parse::budget)?,
            out: parsed(read, OUT, "a directory", |text| Some(PathBuf::from(text)))?,
            log: parsed(read, LOG, parse::LOG_ALLOWED, parse::log)?,
            in_process: parsed(read, IN_PROCESS, "1 or 0", parse::switch)?.unwrap_or(false),
            replay: parsed(read, REPLAY, "the directory of a record", |text| {
                Some(PathBuf::from(text))
            })?,
            minimize: save || minimize.is_some_and(|runs| runs > 0),
            replays_max: minimize.filter(|runs| *runs > 1),
            save,
            worker: parsed(read, WORKER, "nothing: detsim sets it itself", parse::worker)?,
            package: read("CARGO_PKG_NAME").ok().flatten(),
            is_ci: !matches!(read("CI"), Ok(None)),
        };
        config.without_contradiction()
    }

    /// A range names its own first seed, so a base beside it would go unheard.
    fn without_contradiction(self) -> Result<Self, BadValue> {
        if let (Some(seed), Some(_)) = (self.seed, &self.replay) {
            let allowed = "not beside DETSIM_REPLAY: a record is of a seed of its own";
            return Err(BadValue { name: SEED, value: seed.to_string(), allowed });
        }
        match (self.seed_base, &self.seeds) {
            (Some(base), Some(Seeds::Range(_))) => Err(BadValue {
                name: SEED_BASE,
                value: base.to_string(),
                allowed: "only beside a count: DETSIM_SEEDS=a..b names its own first seed",
            }),
            _ => Ok(self),
        }
    }
}

/// A variable's text: `Ok(None)` where it is unset or empty, `Err` where it is not UTF-8.
type Read<'a> = dyn Fn(&str) -> Result<Option<String>, String> + 'a;

fn parsed<T>(
    read: &Read<'_>,
    name: &'static str,
    allowed: &'static str,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, BadValue> {
    let text = read(name).map_err(|value| BadValue { name, value, allowed })?;
    let Some(value) = text else { return Ok(None) };
    match parse(value.trim()) {
        Some(parsed) => Ok(Some(parsed)),
        None => Err(BadValue { name, value, allowed }),
    }
}

#[expect(clippy::disallowed_methods, reason = "this file is the reader of the environment")]
fn read(name: &str) -> Result<Option<String>, String> {
    let Some(value) = std::env::var_os(name) else { return Ok(None) };
    match value.into_string() {
        Ok(text) if text.trim().is_empty() => Ok(None),
        Ok(text) => Ok(Some(text)),
        Err(bytes) => Err(bytes.to_string_lossy().into_owned()),
    }
}
