//! One thread of a sweep: takes chunks, has them run by a worker of its own, enters the results.
//!
//! Owns: the worker, its replacement when it is lost, and the audit of seeds that ran in process.
//! Does not own: what is handed out (`board.rs`). Invariant: forks come from one worker and runs in
//! process from another; the two never mix.

use std::time::Duration;

use super::board::{Board, Chunk};
use super::tally::Result as Run;
use super::tokens::{Token, Tokens};
use super::trust;
use crate::outcome::{Keeps, Kind, RunOutcome, Verdict};
use crate::spec::Spec;
use crate::wall::Stopwatch;
use crate::worker::judge::judge;
use crate::worker::parent::{Lost, Worker};
use crate::worker::protocol::{Mode, Outputs, Request};
use crate::worker::sys;

/// Runs chunks until there are none.
pub(crate) fn pump(board: &Board, spec: &Spec, tokens: &Tokens) {
    let mut forks = Runner::new(spec, Mode::Fork);
    let mut direct = Runner::new(spec, Mode::InProcess);
    let mut pace = Pace::default();
    loop {
        let token = tokens.take();
        let fair_share = board.left() / (2 * tokens.count() as u64);
        let Some(chunk) = board.take(pace.size().min(fair_share)) else { return };
        let clock = Stopwatch::start();
        let done = match chunk.mode {
            Mode::Fork => run_forked(board, &chunk, &mut forks, &token),
            Mode::InProcess => run_direct(board, &chunk, &mut direct, &mut forks, &token),
        };
        if let Err(lost) = done {
            board.give_up(lost.to_string());
            return;
        }
        pace.ran(chunk.end - chunk.first, clock.elapsed());
    }
}

fn run_forked(
    board: &Board,
    chunk: &Chunk,
    forks: &mut Runner<'_>,
    token: &Token<'_>,
) -> Result<(), Lost> {
    let seed = |index| board.plan().seed(index);
    let is_replay = board.plan().is_replay;
    let outputs = if is_replay { Outputs::All } else { Outputs::Failing };
    let keeps = if is_replay { Keeps::All } else { Keeps::Verdict };
    let ask = Ask { outputs, keeps, set: None };
    let mut index = chunk.first;
    forks.run(token, seed(chunk.first), chunk.end - chunk.first, ask, |run| {
        let goes_on = board.enter(chunk, index, run);
        index += 1;
        goes_on
    })
}

/// Runs a chunk back to back, confirms what failed by a fork, and audits its last seed by one.
fn run_direct(
    board: &Board,
    chunk: &Chunk,
    direct: &mut Runner<'_>,
    forks: &mut Runner<'_>,
    token: &Token<'_>,
) -> Result<(), Lost> {
    let ask = Ask { outputs: Outputs::All, keeps: Keeps::Verdict, set: None };
    let count = chunk.end - chunk.first;
    let mut runs = Vec::new();
    direct.run(token, board.plan().seed(chunk.first), count, ask, |run| {
        runs.push(run);
        true
    })?;
    for (index, run) in (chunk.first..).zip(runs) {
        let seed = board.plan().seed(index);
        let is_audited = index + 1 == chunk.end || run.outcome.verdict != Verdict::Pass;
        let run = match is_audited.then(|| forks.run_one(token, seed, ask)).transpose()? {
            None => run,
            Some(audit) => match trust::difference(seed, &audit, &run) {
                None => audit,
                Some(difference) => {
                    board.distrust(difference);
                    return Ok(());
                }
            },
        };
        if !board.enter(chunk, index, run) {
            return Ok(());
        }
    }
    Ok(())
}

/// What is asked of a worker beside the seeds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask<'a> {
    pub(crate) outputs: Outputs,
    pub(crate) keeps: Keeps,
    /// The encoded choices to take instead of the seed's.
    pub(crate) set: Option<&'a [u8]>,
}

/// A worker that is started when it is needed, and again when it was lost.
#[derive(Debug)]
pub(crate) struct Runner<'a> {
    spec: &'a Spec,
    mode: Mode,
    worker: Option<Worker>,
    /// The shortest processor time that a seed has taken: it does not depend on what else the
    /// machine does.
    fastest: Duration,
}

impl<'a> Runner<'a> {
    pub(crate) fn new(spec: &'a Spec, mode: Mode) -> Self {
        Self { spec, mode, worker: None, fastest: Duration::MAX }
    }

    /// The shortest processor time that a seed has taken.
    pub(crate) fn fastest(&self) -> Duration {
        self.fastest
    }

    pub(crate) fn run_one(
        &mut self,
        token: &Token<'_>,
        seed: u64,
        ask: Ask<'_>,
    ) -> Result<Run, Lost> {
        let mut only = None;
        self.run(token, seed, 1, ask, |run| only.replace(run).is_none())?;
        Ok(only.expect("invariant: one seed gives one run"))
    }

    /// Runs seeds in a row and hands each run on, until `enter` says that it is enough. A worker
    /// that is lost is replaced; a seed that loses two of them has failed, and one that loses the
    /// worker in which it ran itself fails at once.
    ///
    /// # Errors
    /// Where no worker comes up.
    pub(crate) fn run(
        &mut self,
        token: &Token<'_>,
        first: u64,
        count: u64,
        ask: Ask<'_>,
        mut enter: impl FnMut(Run) -> bool,
    ) -> Result<(), Lost> {
        let (mut done, mut lost_at) = (0, None);
        while done < count {
            let (next, left) = (first + done, count - done);
            let mut enter_next = |run| {
                done += 1;
                enter(run)
            };
            let lost = self.run_some(token, next, left, ask, &mut enter_next)?;
            let Some(lost) = lost else { return Ok(()) };
            if lost_at.replace(done) == Some(done) || self.mode == Mode::InProcess {
                done += 1;
                if !enter(Run { outcome: took_worker_along(&lost), output: Vec::new() }) {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// As [`Runner::run`], until the worker is lost.
    fn run_some(
        &mut self,
        token: &Token<'_>,
        first: u64,
        count: u64,
        ask: Ask<'_>,
        enter: &mut impl FnMut(Run) -> bool,
    ) -> Result<Option<Lost>, Lost> {
        let mut worker = match self.worker.take() {
            Some(worker) => worker,
            None => Worker::start(self.spec)?,
        };
        worker.pin(place(token));
        let Ask { outputs, keeps, set } = ask;
        let set_bytes = set.map(|set| set.len() as u32);
        let request = Request { mode: self.mode, outputs, keeps, set_bytes, first, count };
        if let Err(lost) = worker.ask(&request, set.unwrap_or_default()) {
            return Ok(Some(lost));
        }
        for _ in 0..count {
            let ran = match worker.answer() {
                Ok(ran) => ran,
                Err(lost) => return Ok(Some(lost)),
            };
            self.fastest = self.fastest.min(Duration::from_nanos(ran.head.busy_ns));
            let outcome = judge(&ran);
            if !enter(Run { outcome, output: ran.output }) {
                // It may be in the middle of a seed that nobody wants: it is not kept.
                return Ok(None);
            }
        }
        self.worker = Some(worker);
        Ok(None)
    }
}

/// The processor of a token. The first one differs from process to process, so that test processes
/// beside each other, as nextest starts them, do not all meet on the same.
fn place(token: &Token<'_>) -> usize {
    let cpus = sys::allowed_cpus();
    let turn = std::process::id() as usize + token.number();
    cpus.get(turn % cpus.len().max(1)).copied().unwrap_or(0)
}

fn took_worker_along(lost: &Lost) -> RunOutcome {
    let kind = Kind::Crash;
    let report = format!("this seed took its worker process along: {lost}");
    RunOutcome::failed(kind, format!("{kind}: took its worker along"), report)
}

/// How many seeds a chunk takes: as many as fill about [`CHUNK_TIME`].
#[derive(Debug)]
struct Pace {
    per_seed: Duration,
}

const CHUNK_TIME: Duration = Duration::from_millis(25);
const CHUNK_SEEDS_MAX: u128 = 256;

impl Default for Pace {
    fn default() -> Self {
        Self { per_seed: CHUNK_TIME }
    }
}

impl Pace {
    fn size(&self) -> u64 {
        (CHUNK_TIME.as_nanos() / self.per_seed.as_nanos().max(1)).clamp(1, CHUNK_SEEDS_MAX) as u64
    }

    fn ran(&mut self, seeds: u64, time: Duration) {
        self.per_seed = time / u32::try_from(seeds).unwrap_or(u32::MAX).max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_grow_with_the_pace() {
        let mut pace = Pace::default();
        assert_eq!(pace.size(), 1);
        pace.ran(1, Duration::from_millis(1));
        assert_eq!(pace.size(), 25);
        pace.ran(25, Duration::from_micros(25));
        assert_eq!(pace.size(), 256);
        pace.ran(256, Duration::from_secs(256));
        assert_eq!(pace.size(), 1);
    }
}
