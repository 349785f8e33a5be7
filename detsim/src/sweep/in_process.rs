//! Seeds in the test process itself: under a debugger, on request, and where there is no fork.
//!
//! Statics and addresses are what earlier seeds left, a crash ends the whole test, and no watchdog
//! looks on; in exchange a breakpoint is hit where it stands.

use std::cell::Cell;
use std::fs;

use super::Done;
use super::plan::Plan;
use super::progress::Progress;
use super::tally::{Result as Run, Tally};
use crate::attempt::{Body, attempt};
use crate::config::Config;
use crate::outcome::{Keeps, RunOptions, RunOutcome, Verdict};
use crate::spec::Spec;
use crate::wall::Stopwatch;
use crate::{hook, log};

thread_local! {
    /// The test whose seed runs on this thread.
    static RUNNING: Cell<Option<&'static str>> = const { Cell::new(None) };
}

/// Runs the seeds on this thread, one after the other.
pub(super) fn run(spec: &Spec, body: Body<'_>, config: &Config, plan: Plan) -> Done {
    hook::chain();
    if let Some(filter) = &config.log {
        log::enable(filter);
    }
    let strategy = config.strategy.clone().or_else(|| spec.strategy.map(str::to_owned));
    let keeps = if plan.count == 1 { Keeps::All } else { Keeps::Verdict };
    let options = RunOptions { keeps, strategy, replay: None };
    let progress = Progress::new(spec.test_name(), plan.count, config.is_ci);
    let mut tally = Tally::new(plan.first, spec.limits.failures_max);
    let clock = Stopwatch::start();
    RUNNING.set(Some(spec.path));
    for index in 0..plan.count {
        let in_time = index == 0 || config.budget.is_none_or(|budget| clock.elapsed() < budget);
        if !in_time || tally.is_full() {
            break;
        }
        let outcome = attempt(body, plan.seed(index), &options);
        let outcome = told(&tally, outcome, body, plan.seed(index), &options);
        tally.enter(index, Run { outcome, output: Vec::new() });
        progress.moved(tally.counted(), tally.failures().len());
    }
    RUNNING.set(None);
    Done { tally, remarks: Vec::new(), is_shown: true }
}

/// The same outcome with all that its report can say, where it is the first of its kind.
fn told(
    tally: &Tally,
    outcome: RunOutcome,
    body: Body<'_>,
    seed: u64,
    options: &RunOptions,
) -> RunOutcome {
    let Verdict::Fail(failed) = &outcome.verdict else { return outcome };
    let is_known = tally.failures().iter().any(|f| f.failed.signature == failed.signature);
    if is_known || options.keeps == Keeps::All {
        return outcome;
    }
    let again = attempt(body, seed, &RunOptions { keeps: Keeps::All, ..options.clone() });
    let is_same = matches!(&again.verdict, Verdict::Fail(f) if f.signature == failed.signature);
    if is_same && again.hash == outcome.hash { again } else { outcome }
}

/// A run belongs to one test, and its process to one seed: a sweep inside it is refused.
pub(super) fn refuse_nesting(spec: &Spec) -> Result<(), String> {
    let outer = RUNNING.get();
    #[cfg(target_os = "linux")]
    let outer = outer.or_else(crate::worker::serve::serving);
    match outer {
        None => Ok(()),
        Some(outer) => Err(format!(
            "detsim: {} starts a sweep inside a run of {outer}; a run is one seed of one test; \
             call the function that both tests share instead of the test",
            spec.path
        )),
    }
}

/// Whether a debugger holds this process.
pub(super) fn is_debugged() -> bool {
    fs::read_to_string("/proc/self/status").is_ok_and(|status| {
        let tracer = status.lines().find_map(|line| line.strip_prefix("TracerPid:"));
        tracer.is_some_and(|pid| pid.trim() != "0")
    })
}
