//! A test: many seeds over all processors, and one verdict.
//!
//! Owns: the course of a sweep, from the configuration to the last line. Does not own: how a seed
//! runs ([`crate::worker`], [`crate::attempt`]). The parts: `plan` says which seeds, `tokens` how
//! many at a time, `board` and `pump` run them, `trust` decides on the in-process exception, `tally`
//! counts, `summary`, `progress` and `files` tell.
//!
//! Invariants: what is said depends on the seeds alone, not on which worker was faster; a sweep that
//! ran nothing does not pass.

#[cfg(target_os = "linux")]
mod board;
mod files;
mod in_process;
mod plan;
mod progress;
#[cfg(target_os = "linux")]
mod pump;
mod summary;
mod tally;
#[cfg(target_os = "linux")]
mod tokens;
#[cfg(target_os = "linux")]
mod trust;

use std::env;
use std::panic::resume_unwind;

use crate::attempt::Body;
use crate::config::Config;
use crate::console;
use crate::spec::Spec;
use plan::Plan;
use summary::Origin;
use tally::{Bucket, Tally};

/// Runs the seeds of a test and returns where all of them passed.
///
/// In a worker process, which the sweep itself starts, it serves the parent and never returns.
///
/// # Panics
/// Where a seed fails, with the first failing seed's report, the summary and the commands that run
/// the failing seeds again; where the environment holds a value that cannot be used; where it is
/// called inside a run.
pub fn sweep(spec: &Spec, body: Body<'_>) {
    let config = Config::from_env().unwrap_or_else(|bad| fail(bad.to_string()));
    in_process::refuse_nesting(spec).unwrap_or_else(|why| fail(why));
    #[cfg(target_os = "linux")]
    if let Some(link) = config.worker {
        crate::worker::serve::serve(link, spec, body, &config);
    }
    let plan = Plan::new(spec, &config).unwrap_or_else(|why| fail(why));
    let done = run(spec, body, &config, plan);
    conclude(spec, &config, plan, &done.unwrap_or_else(|why| fail(why)));
}

/// What came of a sweep.
#[derive(Debug)]
struct Done {
    tally: Tally,
    /// What the user should know beside the verdict.
    remarks: Vec<String>,
    /// Whether the one seed was already seen while it ran.
    is_shown: bool,
}

fn run(spec: &Spec, body: Body<'_>, config: &Config, plan: Plan) -> Result<Done, String> {
    if config.in_process || (plan.count == 1 && in_process::is_debugged()) {
        return Ok(in_process::run(spec, body, config, plan));
    }
    #[cfg(target_os = "linux")]
    return forked::run(spec, config, plan);
    #[cfg(not(target_os = "linux"))]
    {
        console::announce(
            "detsim: seeds run in the test process on this system: statics, hash seeds and \
             addresses are not repeated, and a crash ends the test",
        );
        Ok(in_process::run(spec, body, config, plan))
    }
}

#[cfg(target_os = "linux")]
mod forked {
    //! The sweep over worker processes.

    use std::thread;

    use super::board::Board;
    use super::plan::Plan;
    use super::progress::Progress;
    use super::pump::{Ask, Runner, pump};
    use super::tally::Tally;
    use super::tokens::Tokens;
    use super::{Done, trust};
    use crate::config::Config;
    use crate::outcome::{RunOutcome, Verdict};
    use crate::spec::Spec;
    use crate::worker::protocol::{Mode, Outputs};

    pub(super) fn run(spec: &Spec, config: &Config, plan: Plan) -> Result<Done, String> {
        let tokens = Tokens::shared(config.jobs);
        let progress = Progress::new(spec.test_name(), plan.count, config.is_ci);
        let board = Board::new(plan, spec.limits.failures_max, config.budget, progress);
        trust::prelude(&board, spec, tokens).map_err(|lost| lost.to_string())?;
        let threads = board.left().min(tokens.count() as u64);
        thread::scope(|scope| {
            // One fewer than there are: this thread is one, too.
            for _ in 1..threads {
                scope.spawn(|| pump(&board, spec, tokens));
            }
            if threads > 0 {
                pump(&board, spec, tokens);
            }
        });
        let (mut tally, difference) = board.finish()?;
        let mut remarks: Vec<String> = difference.into_iter().collect();
        if !plan.is_replay {
            remarks.extend(confirm(&mut tally, spec, tokens));
        }
        Ok(Done { tally, remarks, is_shown: false })
    }

    /// Runs the first seed of every signature again, recorded, for its report; says which of them
    /// did not repeat.
    fn confirm(tally: &mut Tally, spec: &Spec, tokens: &Tokens) -> Vec<String> {
        let mut runner = Runner::new(spec, Mode::Fork);
        let ask = Ask { outputs: Outputs::Failing, record: true };
        let mut remarks = Vec::new();
        for first in tally.firsts_mut() {
            let again = match runner.run_one(&tokens.take(), first.seed, ask) {
                Ok(again) => again,
                Err(lost) => {
                    remarks.push(format!("detsim: seed {} was not run again: {lost}", first.seed));
                    continue;
                }
            };
            match again.outcome {
                RunOutcome { verdict: Verdict::Fail(failed), hash, .. }
                    if failed.signature == first.failed.signature && hash == first.hash =>
                {
                    first.failed = failed;
                    first.output = again.output;
                }
                other => remarks.push(did_not_repeat(first.seed, &other)),
            }
        }
        remarks
    }

    fn did_not_repeat(seed: u64, again: &RunOutcome) -> String {
        let came = match &again.verdict {
            Verdict::Pass => "it passed",
            Verdict::Fail(failed) => failed.signature.as_str(),
        };
        format!(
            "detsim: seed {seed} did not repeat: run again, {came}; something outside the \
             simulation reaches it, such as real time, a real thread, a file or a socket"
        )
    }
}

/// Tells what came of the sweep, and panics where a seed failed.
fn conclude(spec: &Spec, config: &Config, plan: Plan, done: &Done) {
    let Done { tally, remarks, is_shown } = done;
    let binary = env::current_exe().ok();
    let origin = Origin::new(config, binary.as_deref());
    let mut lines = Vec::new();
    for Bucket { first, .. } in tally.buckets().iter().filter(|_| !is_shown) {
        show_output(first.seed, &first.output);
    }
    if plan.is_replay && tally.failures().is_empty() {
        show_output(plan.first, tally.last_output());
    }
    for bucket in tally.buckets() {
        lines.push(summary::failure(&bucket, spec));
        lines.extend(write_report(&bucket, spec, config, &origin));
    }
    lines.extend(remarks.iter().cloned());
    lines.push(summary::passed(tally, plan.count));
    let firsts = tally.buckets().into_iter().map(|bucket| bucket.first.seed);
    lines.extend(firsts.map(|seed| summary::reproduce(spec, &origin, seed)));
    match tally.failures() {
        [] => console::print(&format!("{}\n", lines.join("\n"))),
        _ => fail(lines.join("\n")),
    }
}

/// Writes the report of a signature's first seed; what is returned says why it could not be.
fn write_report(
    bucket: &Bucket<'_>,
    spec: &Spec,
    config: &Config,
    origin: &Origin<'_>,
) -> Option<String> {
    let directory = files::directory(config.out.as_deref(), origin.binary)?;
    let seed = bucket.first.seed;
    let text =
        [summary::failure(bucket, spec), summary::reproduce(spec, origin, seed)].join("\n") + "\n";
    let error = files::write_report(&directory, spec.path, seed, &text).err()?;
    Some(format!("detsim: the report of seed {seed} cannot be written: {error}"))
}

/// Shows what a seed printed, marked off from what the test itself prints.
fn show_output(seed: u64, output: &[u8]) {
    if !output.is_empty() {
        let text = String::from_utf8_lossy(output);
        let text = text.trim_end_matches('\n');
        console::print(&format!("output of seed {seed}:\n{text}\nend of the output\n"));
    }
}

/// Ends the test with this text as its last: no hook adds lines of its own behind it.
pub(crate) fn fail(text: String) -> ! {
    console::error(&text);
    resume_unwind(Box::new(text))
}
