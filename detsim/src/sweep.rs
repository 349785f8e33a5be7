//! A test: many seeds over all processors, and one verdict.
//!
//! Owns: the course of a sweep, from the configuration to the last line. Does not own: how a seed
//! runs ([`crate::worker`], [`crate::attempt`]). The parts: `plan` says which seeds, `tokens` how
//! many at a time, `board` and `pump` run them, `trust` decides on the in-process exception, `tally`
//! counts, `summary` and `progress` tell, `records` keeps what failed, `replay` runs that again,
//! `regressions` what was committed of it.
//!
//! Invariants: what is said depends on the seeds alone, not on which worker was faster; a sweep that
//! ran nothing does not pass.

#[cfg(target_os = "linux")]
mod board;
mod in_process;
mod plan;
mod progress;
#[cfg(target_os = "linux")]
pub(crate) mod pump;
mod records;
mod regressions;
mod replay;
mod summary;
mod tally;
#[cfg(target_os = "linux")]
pub(crate) mod tokens;
#[cfg(target_os = "linux")]
mod trust;

use std::env;
use std::panic::resume_unwind;

use crate::attempt::Body;
use crate::config::Config;
use crate::console;
use crate::recording::Recording;
use crate::spec::Spec;
use plan::Plan;
use records::Shelf;
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
    // The threads and waits of a sweep are no part of a run that this thread may have otherwise.
    let _aside = detsim_executor::threads::aside();
    let config = Config::from_env().unwrap_or_else(|bad| fail(bad.to_string()));
    in_process::refuse_nesting(spec).unwrap_or_else(|why| fail(why));
    #[cfg(target_os = "linux")]
    if let Some(link) = config.worker {
        crate::worker::serve::serve(link, spec, body, &config);
    }
    let binary = env::current_exe().ok();
    if config.in_process || in_process::is_debugged() {
        // A debugger is to see the threads as they are.
        detsim_executor::threads::keep_threads_apart();
    }
    let shelf = Shelf::new(spec, &config, Origin::new(&config, binary.as_deref()));
    if let Some(record) = &config.replay {
        return replay::run(&shelf, body, record);
    }
    let plan = Plan::new(spec, &config).unwrap_or_else(|why| fail(why));
    if !plan.is_replay {
        regressions::run(&shelf, body);
    }
    let done = run(spec, body, &config, plan).unwrap_or_else(|why| fail(why));
    conclude(&shelf, body, plan, &done);
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

    use std::collections::BTreeSet;
    use std::thread;

    use super::board::Board;
    use super::plan::Plan;
    use super::progress::Progress;
    use super::pump::{Ask, Runner, pump};
    use super::tally::Tally;
    use super::tokens::Tokens;
    use super::{Done, trust};
    use crate::config::Config;
    use crate::outcome::{Keeps, RunOutcome, Verdict};
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

    /// Runs the first and the shortest seeds of every signature again, recorded, for their reports
    /// and records; says which of them did not repeat.
    fn confirm(tally: &mut Tally, spec: &Spec, tokens: &Tokens) -> Vec<String> {
        let mut runner = Runner::new(spec, Mode::Fork);
        let (mut remarks, mut seen, mut recorded) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
        for failure in tally.recordable() {
            let signature = failure.failed.signature.clone();
            let is_first = seen.insert(signature.clone());
            // What leaves no recording is not worth another run.
            if !is_first && !recorded.contains(&signature) {
                continue;
            }
            let seed = failure.seed;
            // Only the first is told.
            let keeps = if is_first { Keeps::All } else { Keeps::Trace };
            let ask = Ask { outputs: Outputs::Failing, keeps, set: None };
            let again = match runner.run_one(&tokens.take(), seed, ask) {
                Ok(again) => again,
                Err(lost) => {
                    remarks.push(format!("detsim: seed {seed} was not run again: {lost}"));
                    continue;
                }
            };
            match again.outcome {
                RunOutcome { verdict: Verdict::Fail(failed), hash, recording, .. }
                    if failed.signature == signature && hash == failure.hash =>
                {
                    if recording.is_some() {
                        recorded.insert(signature);
                    }
                    (failure.failed, failure.recording) = (failed, recording);
                    if is_first {
                        failure.output = again.output;
                    }
                }
                other => remarks.push(did_not_repeat(seed, &other)),
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
fn conclude(shelf: &Shelf<'_>, body: Body<'_>, plan: Plan, done: &Done) {
    let Done { tally, remarks, is_shown } = done;
    let (spec, origin) = (shelf.spec, &shelf.origin);
    let buckets = tally.buckets();
    let mut lines = Vec::new();
    for Bucket { first, .. } in buckets.iter().filter(|_| !is_shown) {
        show_output(first.seed, &first.output);
    }
    if plan.is_replay && tally.failures().is_empty() {
        show_output(plan.first, tally.last_output());
    }
    for bucket in &buckets {
        lines.push(summary::failure(bucket, spec));
        lines.extend(write_records(shelf, tally, bucket));
        lines.extend(minimized(shelf, body, tally, bucket));
    }
    lines.extend(remarks.iter().cloned());
    lines.push(summary::passed(tally, plan.count));
    for bucket in &buckets {
        lines.push(summary::reproduce(spec, origin, bucket.first.seed));
        lines.extend(to_minimize(shelf, tally, bucket));
    }
    match tally.failures() {
        [] => console::print(&format!("{}\n", lines.join("\n"))),
        _ => fail(lines.join("\n")),
    }
}

/// Writes the records of a signature's seeds: of the first, and of those that were run again. What
/// is returned says why one could not be.
fn write_records(shelf: &Shelf<'_>, tally: &Tally, bucket: &Bucket<'_>) -> Vec<String> {
    let Bucket { first, others } = bucket;
    let mut remarks = Vec::new();
    let of_others = tally.failures().iter().filter(|f| others.contains(&f.seed));
    for failure in of_others.filter(|f| f.recording.is_some()) {
        let alone = Bucket { first: failure, others: Vec::new() };
        remarks.extend(shelf.write(failure, &report(shelf, &alone)));
    }
    remarks.extend(shelf.write(first, &report(shelf, bucket)));
    remarks
}

fn report(shelf: &Shelf<'_>, bucket: &Bucket<'_>) -> String {
    let command = summary::reproduce(shelf.spec, &shelf.origin, bucket.first.seed);
    [summary::failure(bucket, shelf.spec), command].join("\n") + "\n"
}

/// Minimises the shortest recorded run of a signature, where that is asked for.
fn minimized(
    shelf: &Shelf<'_>,
    body: Body<'_>,
    tally: &Tally,
    bucket: &Bucket<'_>,
) -> Option<String> {
    if !(shelf.config.minimize || shelf.spec.minimize) {
        return None;
    }
    let Some((failure, recording)) = shortest(tally, bucket) else {
        return Some(format!(
            "detsim: seed {} is not minimised: it left no recording; a process that ends inside a \
             run leaves none",
            bucket.first.seed
        ));
    };
    let (tape, place) = (shelf.tape(failure, recording), shelf.place(failure.seed));
    let told = replay::minimized(shelf, body, &tape, place.as_ref());
    Some(told.unwrap_or_else(|why| why) + "\n")
}

/// The recorded run of a signature with the fewest choices.
fn shortest<'t>(
    tally: &'t Tally,
    bucket: &Bucket<'_>,
) -> Option<(&'t tally::Failure, &'t Recording)> {
    let signature = &bucket.first.failed.signature;
    let same = tally.failures().iter().filter(|f| f.failed.signature == *signature);
    let recorded = same.filter_map(|failure| Some((failure, failure.recording.as_deref()?)));
    recorded.min_by_key(|(f, recording)| (recording.choices.len(), f.seed))
}

/// The command that minimises a failure, where there is a record of it and it is not done yet.
fn to_minimize(shelf: &Shelf<'_>, tally: &Tally, bucket: &Bucket<'_>) -> Option<String> {
    if shelf.config.minimize || shelf.spec.minimize {
        return None;
    }
    let seed = shortest(tally, bucket)?.0.seed;
    let record = shelf.place(seed)?.path().to_owned();
    Some(summary::minimize(shelf.spec, &shelf.origin, &shelf.shown(&record), seed))
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
