//! Whether seeds may run back to back in one process: the measured exception to a fork per seed.
//!
//! Owns: the prelude that earns the exception, and what counts as a difference. Does not own: the
//! audits (`pump.rs`) nor the fall back (`board.rs`). Invariant: without a run hash there is no
//! evidence, so a body that never enters the kernel always runs in forks.

use std::time::Duration;

use super::board::Board;
use super::pump::{Ask, Runner};
use super::tally::Result as Run;
use super::tokens::Tokens;
use crate::outcome::{Keeps, Kind, Verdict};
use crate::spec::Spec;
use crate::worker::parent::Lost;
use crate::worker::protocol::{Mode, Outputs};

/// The seeds that run both ways first.
const PRELUDE_SEEDS: u64 = 8;
/// Sweeps below this size would not earn the prelude back.
const SEEDS_MIN: u64 = 256;

/// A fork costs a fraction of a millisecond, or a few where a worker is large; where a run takes
/// longer than this, doing without cannot be worth it, and trying would keep the others waiting.
const TOO_SLOW: Duration = Duration::from_millis(5);

/// Runs the first seeds both ways; where they are the same and the exception is worth it, lets the
/// rest of the sweep run in process. The seeds count, by their forks.
///
/// # Errors
/// Where no worker comes up.
pub(crate) fn prelude(board: &Board, spec: &Spec, tokens: &Tokens) -> Result<(), Lost> {
    if board.plan().count < SEEDS_MIN {
        return Ok(());
    }
    let ask = Ask { outputs: Outputs::All, keeps: Keeps::Verdict, set: None };
    let token = tokens.take();
    let mut forks = Runner::new(spec, Mode::Fork);
    let mut direct = Runner::new(spec, Mode::InProcess);
    for _ in 0..PRELUDE_SEEDS {
        let Some(chunk) = board.take(1) else { return Ok(()) };
        let seed = board.plan().seed(chunk.first);
        let forked = forks.run_one(&token, seed, ask)?;
        let could_be = forked.outcome.hash != 0
            && forked.outcome.verdict == Verdict::Pass
            && forks.fastest() < TOO_SLOW;
        let same = could_be && {
            let direct = direct.run_one(&token, seed, ask)?;
            difference(seed, &forked, &direct).is_none()
        };
        if !board.enter(&chunk, chunk.first, forked) || !same {
            return Ok(());
        }
    }
    if is_worth_it(forks.fastest(), direct.fastest()) {
        board.trust_in_process();
    }
    Ok(())
}

/// Over 1.25 times the throughput, by the fastest seed each way.
fn is_worth_it(forks: Duration, direct: Duration) -> bool {
    forks.as_nanos() * 4 > direct.as_nanos() * 5
}

/// What tells the same seed in a fork and in process apart, if anything does. A run that took its
/// worker along cannot tell how; that the fork failed, too, has to do.
pub(crate) fn difference(seed: u64, forked: &Run, direct: &Run) -> Option<String> {
    let crashed = |run: &Run| match &run.outcome.verdict {
        Verdict::Fail(failed) => failed.kind == Kind::Crash,
        Verdict::Pass => false,
    };
    if crashed(direct) && forked.outcome.verdict != Verdict::Pass {
        return None;
    }
    let what = if forked.outcome.verdict != direct.outcome.verdict {
        "its verdict"
    } else if forked.outcome.hash != direct.outcome.hash {
        "its run hash"
    } else if forked.output != direct.output {
        "its output"
    } else {
        return None;
    };
    Some(format!(
        "detsim: seed {seed} gave another run in a process that had run other seeds ({what} \
         differs), so something outlives a run, such as a static; every seed ran in a process of \
         its own instead"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::RunOutcome;

    fn run(outcome: RunOutcome, output: &str) -> Run {
        Run { outcome, output: output.as_bytes().to_vec() }
    }

    #[test]
    fn verdict_hash_and_output_are_compared() {
        let hash = |hash| RunOutcome { hash, ..RunOutcome::PASS };
        let failed = RunOutcome::failed(Kind::Panic, "a".to_owned(), "b".to_owned());
        let same = run(hash(1), "x");
        assert_eq!(difference(7, &same, &same), None);
        for (other, what) in [
            (run(hash(2), "x"), "run hash"),
            (run(hash(1), "y"), "output"),
            (run(failed, "x"), "verdict"),
        ] {
            let told = difference(7, &same, &other).unwrap();
            assert!(told.contains(what) && told.contains("seed 7"), "{told}");
        }
    }

    #[test]
    fn a_crash_in_process_is_the_same_as_any_failure_of_the_fork() {
        let crash = run(RunOutcome::failed(Kind::Crash, "gone".into(), "gone".into()), "");
        let stuck = run(RunOutcome::failed(Kind::Limit, "spins".into(), "spins".into()), "x");
        assert_eq!(difference(7, &stuck, &crash), None);
        assert!(difference(7, &crash, &stuck).is_some());
        assert!(difference(7, &run(RunOutcome::PASS, ""), &crash).is_some());
    }

    #[test]
    fn a_quarter_more_throughput_is_asked_for() {
        let us = Duration::from_micros;
        assert!(is_worth_it(us(126), us(100)));
        assert!(!is_worth_it(us(125), us(100)));
        assert!(!is_worth_it(us(100), us(100)));
    }
}
