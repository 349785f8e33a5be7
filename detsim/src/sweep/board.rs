//! What the threads of one sweep share: the seeds still to hand out, and the results so far.
//!
//! Owns: the handing out of chunks in seed order, the end of the sweep, and the fall back to forks.
//! Does not own: workers (`pump.rs`). Invariants: chunks are handed out in order and all of them are
//! finished unless the sweep is over, so what counts is always a prefix of the seeds; a result of a
//! chunk that was handed out before a fall back counts only if the fall back kept it.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::plan::Plan;
use super::progress::Progress;
use super::tally::{self, Tally};
use crate::wall::Stopwatch;
use crate::worker::protocol::Mode;

/// Some seeds in a row, by their places in the sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub(crate) first: u64,
    pub(crate) end: u64,
    pub(crate) mode: Mode,
    /// How many fall backs there were when it was handed out.
    epoch: u32,
}

#[derive(Debug)]
pub(crate) struct Board {
    plan: Plan,
    budget: Option<Duration>,
    clock: Stopwatch,
    progress: Progress,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    next: u64,
    tally: Tally,
    mode: Mode,
    epoch: u32,
    /// Where the seeds that ran in process begin: what a fall back runs again.
    in_process_from: u64,
    /// Why the sweep cannot go on at all.
    broken: Option<String>,
    /// What differed between a run in process and the same one in a fork.
    difference: Option<String>,
}

impl Board {
    pub(crate) fn new(
        plan: Plan,
        failures_max: usize,
        budget: Option<Duration>,
        progress: Progress,
    ) -> Self {
        let state = State {
            next: 0,
            tally: Tally::new(plan.first, failures_max),
            mode: Mode::Fork,
            epoch: 0,
            in_process_from: 0,
            broken: None,
            difference: None,
        };
        Self { plan, budget, clock: Stopwatch::start(), progress, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The next chunk, of at most `size` seeds; `None` where the sweep is over.
    pub(crate) fn take(&self, size: u64) -> Option<Chunk> {
        let mut state = self.state();
        let left = self.plan.count - state.next;
        // The first chunk is due however short the budget: no sweep passes without a run.
        let in_time = state.next == 0 || self.budget.is_none_or(|b| self.clock.elapsed() < b);
        if left == 0 || !in_time || state.is_over() {
            return None;
        }
        let first = state.next;
        state.next += size.clamp(1, left);
        Some(Chunk { first, end: state.next, mode: state.mode, epoch: state.epoch })
    }

    /// Takes in the result at `index` of a chunk. False where the chunk is of no use any more.
    pub(crate) fn enter(&self, chunk: &Chunk, index: u64, result: tally::Result) -> bool {
        let mut state = self.state();
        if chunk.epoch != state.epoch {
            return false;
        }
        state.tally.enter(index, result);
        self.progress.moved(state.tally.counted(), state.tally.failures().len());
        !state.is_over()
    }

    /// From here on seeds run back to back in their workers.
    pub(crate) fn trust_in_process(&self) {
        let mut state = self.state();
        state.mode = Mode::InProcess;
        state.in_process_from = state.next;
    }

    /// A run in process differed from the same run in a fork: back to forks, for every seed that
    /// was trusted.
    pub(crate) fn distrust(&self, difference: String) {
        let mut state = self.state();
        if state.mode == Mode::Fork || state.is_over() {
            return;
        }
        let from = state.in_process_from;
        state.mode = Mode::Fork;
        state.epoch += 1;
        state.next = from;
        state.tally.forget_from(from);
        state.difference = Some(difference);
    }

    /// The sweep cannot go on.
    pub(crate) fn give_up(&self, why: String) {
        self.state().broken.get_or_insert(why);
    }

    /// How many chunks of one seed could be handed out now.
    pub(crate) fn left(&self) -> u64 {
        self.plan.count - self.state().next
    }

    /// The end: the results and what differed, or why the sweep could not go on.
    pub(crate) fn finish(self) -> Result<(Tally, Option<String>), String> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        match state.broken {
            Some(why) => Err(why),
            None => Ok((state.tally, state.difference)),
        }
    }
}

impl State {
    fn is_over(&self) -> bool {
        self.tally.is_full() || self.broken.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::{Kind, RunOutcome};

    fn board(count: u64, budget: Option<Duration>) -> Board {
        let plan = Plan { first: 100, count, is_replay: false };
        Board::new(plan, 2, budget, Progress::new("test", count, true))
    }

    fn pass() -> tally::Result {
        tally::Result { outcome: RunOutcome::PASS, output: Vec::new() }
    }

    fn fail() -> tally::Result {
        let outcome = RunOutcome::failed(Kind::Panic, "panic".to_owned(), "panic".to_owned());
        tally::Result { outcome, output: Vec::new() }
    }

    fn range(chunk: Option<Chunk>) -> Option<(u64, u64)> {
        chunk.map(|chunk| (chunk.first, chunk.end))
    }

    #[test]
    fn chunks_cover_all_seeds_in_order() {
        let board = board(10, None);
        assert_eq!(range(board.take(4)), Some((0, 4)));
        assert_eq!(range(board.take(0)), Some((4, 5)));
        assert_eq!(range(board.take(99)), Some((5, 10)));
        assert_eq!(range(board.take(1)), None);
    }

    #[test]
    fn a_used_up_budget_still_runs_something() {
        let board = board(10, Some(Duration::ZERO));
        assert_eq!(range(board.take(4)), Some((0, 4)));
        assert_eq!(range(board.take(4)), None);
    }

    #[test]
    fn enough_failures_end_the_sweep() {
        let board = board(10, None);
        let chunk = board.take(4).unwrap();
        assert!(board.enter(&chunk, 0, fail()));
        assert!(!board.enter(&chunk, 1, fail()));
        assert_eq!(range(board.take(4)), None);
        assert_eq!(board.finish().unwrap().0.counted(), 2);
    }

    #[test]
    fn a_fall_back_runs_the_trusted_seeds_again() {
        let board = board(10, None);
        let prelude = board.take(2).unwrap();
        (0..2).for_each(|index| assert!(board.enter(&prelude, index, pass())));
        board.trust_in_process();
        let trusted = board.take(4).unwrap();
        assert_eq!(trusted.mode, Mode::InProcess);
        assert!(board.enter(&trusted, 2, fail()));
        board.distrust("seed 103 differs".to_owned());
        assert!(!board.enter(&trusted, 3, pass()));
        let again = board.take(99).unwrap();
        assert_eq!((again.first, again.end, again.mode), (2, 10, Mode::Fork));
        (2..10).for_each(|index| assert!(board.enter(&again, index, pass())));
        let (tally, difference) = board.finish().unwrap();
        assert_eq!((tally.passed(), tally.counted()), (10, 10));
        assert_eq!(difference.as_deref(), Some("seed 103 differs"));
    }

    #[test]
    fn a_broken_sweep_says_why() {
        let board = board(10, None);
        board.give_up("no process".to_owned());
        assert_eq!(range(board.take(4)), None);
        assert_eq!(board.finish().unwrap_err(), "no process");
    }
}
