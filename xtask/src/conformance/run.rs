//! The test programs run: each test in a process of its own, with a time limit.
//!
//! That is what nextest does, and one way of running means the same on every machine. Owns what
//! counts as passing: the process ends by itself, with success. What a test prints is kept in a
//! file of its name, for whoever wants to know why.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::scratch::Built;
use crate::failure::Result;
use crate::process;
use crate::steps::WallTime;

/// What became of one test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Pass,
    Fail,
    /// Has not ended within the time limit.
    Hang,
}

/// What was seen of every program that was asked for.
#[derive(Debug, Default)]
pub(super) struct Results {
    pub(super) tests: BTreeMap<Test, Outcome>,
    /// Programs that do not compile.
    pub(super) refused: Vec<String>,
}

impl Results {
    pub(super) fn passing(&self) -> u64 {
        self.tests.values().filter(|outcome| **outcome == Outcome::Pass).count() as u64
    }
}

/// A test by the names of its program and of itself.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Test {
    pub(super) program: String,
    pub(super) name: String,
}

impl std::fmt::Display for Test {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}::{}", self.program, self.name)
    }
}

pub(super) struct Runner {
    /// Where the tests believe their package to be.
    pub(super) dir: PathBuf,
    pub(super) jobs: usize,
    /// How often a test has to pass.
    pub(super) repeats: u32,
    pub(super) timeout: Duration,
    /// Tests that demand one order of tasks.
    pub(super) ordered: BTreeSet<Test>,
}

impl Runner {
    pub(super) fn run(&self, built: Built) -> Result<Results> {
        let mut tests = Vec::new();
        for (program, path) in &built.programs {
            let test = |name| Test { program: program.clone(), name };
            tests.extend(self.list(path)?.into_iter().map(test));
        }
        let todo = Mutex::new(tests.into_iter());
        let next = || todo.lock().unwrap_or_else(PoisonError::into_inner).next();
        let worker = || {
            let mut done = Vec::new();
            while let Some(test) = next() {
                let outcome = self.run_one(&test, &built.programs[&test.program])?;
                done.push((test, outcome));
            }
            Ok(done)
        };
        let done = thread::scope(|scope| {
            let workers = (0..self.jobs).map(|_| scope.spawn(worker)).collect::<Vec<_>>();
            let join = |worker: thread::ScopedJoinHandle<'_, _>| worker.join();
            workers.into_iter().map(join).collect::<Vec<thread::Result<Result<_>>>>()
        });
        let mut results = Results { refused: built.refused, ..Results::default() };
        for worker in done {
            results.tests.extend(worker.expect("invariant: a worker does not panic")?);
        }
        Ok(results)
    }

    /// The tests of a program, without those that tokio itself ignores.
    fn list(&self, program: &Path) -> Result<Vec<String>> {
        let names = |args: &[&str]| -> Result<Vec<String>> {
            let mut command = process::program(program);
            let text = process::output(command.args(["--list", "--format=terse"]).args(args))?;
            let names = text.lines().filter_map(|line| line.strip_suffix(": test"));
            Ok(names.map(str::to_owned).collect())
        };
        let ignored = names(&["--ignored"])?;
        Ok(names(&[])?.into_iter().filter(|name| !ignored.contains(name)).collect())
    }

    fn run_one(&self, test: &Test, program: &Path) -> Result<Outcome> {
        for _ in 1..self.repeats {
            match self.run_once(test, program)? {
                Outcome::Pass => {}
                other => return Ok(other),
            }
        }
        self.run_once(test, program)
    }

    fn run_once(&self, test: &Test, program: &Path) -> Result<Outcome> {
        let log = self.log(test);
        fs::create_dir_all(log.parent().expect("invariant: a file has a directory"))?;
        let log = File::create(log)?;
        let mut command = Command::new(program);
        command.args([&test.name, "--exact", "--nocapture", "--test-threads=1"]);
        command.current_dir(&self.dir).stdin(Stdio::null());
        if self.ordered.contains(test) {
            command.env("DETSIM_STRATEGY", "fifo");
        }
        command.stdout(log.try_clone()?).stderr(log);
        self.wait(command.spawn()?)
    }

    fn wait(&self, mut child: Child) -> Result<Outcome> {
        const POLL_MAX: Duration = Duration::from_millis(50);
        let start = WallTime::now();
        let mut poll = Duration::from_millis(1);
        while start.elapsed() < self.timeout {
            match child.try_wait()? {
                Some(status) if status.success() => return Ok(Outcome::Pass),
                Some(_) => return Ok(Outcome::Fail),
                None => thread::sleep(poll),
            }
            poll = (poll * 2).min(POLL_MAX);
        }
        child.kill()?;
        child.wait()?;
        Ok(Outcome::Hang)
    }

    /// Where the output of a test is kept.
    fn log(&self, test: &Test) -> PathBuf {
        self.dir.join("logs").join(&test.program).join(format!("{}.txt", test.name))
    }
}
