//! From thousands of choices to the few that matter.
//!
//! Owns: the course of a minimisation: the check that the run still fails, the search, the restart
//! from other seeds, the last recorded run and its passing neighbour. Does not own: how sets are
//! searched (`shrink`), run ([`engine`]) or told ([`story`]). Invariants: what is kept fails with
//! the signature that was given, never only with its message; the result depends on the runs alone,
//! unless the time ends it.

mod decision;
pub(crate) mod engine;
mod shrink;
pub(crate) mod story;

use std::time::Duration;

use detsim_executor::Choice;

use crate::console;
use crate::failures::tape::Tape;
use crate::outcome::{Failed, Keeps, RunOutcome, Verdict};
use crate::recording::Recording;
use crate::wall::Stopwatch;
use decision::{Decision, decisions};
use engine::{Batch, Engine, Job, Like};
use shrink::{Oracle, Shrunk, reduce, refine};

/// What bounds a minimisation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    pub(crate) replays_max: u32,
    pub(crate) wall: Duration,
}

impl Budget {
    pub(crate) const DEFAULT: Self = Self { replays_max: 2_000, wall: Duration::from_secs(120) };
}

/// What came of it.
#[derive(Clone, Debug)]
pub(crate) struct Minimized {
    /// The choices that are left, with the seed that they belong to.
    pub(crate) tape: Tape,
    /// How many there were.
    pub(crate) from: usize,
    /// Runs that it took.
    pub(crate) replays: u32,
    /// The budget ended the search.
    pub(crate) cut_short: bool,
    pub(crate) failed: Failed,
    pub(crate) recording: Box<Recording>,
    pub(crate) neighbour: Option<Neighbour>,
    pub(crate) confirmed: Confirmed,
}

/// How often the set that is left was run once more, and failed in the same way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Confirmed {
    pub(crate) runs: u32,
    pub(crate) same: u32,
}

/// The same choices without one of them, which does not fail in this way.
#[derive(Clone, Debug)]
pub(crate) struct Neighbour {
    /// The place of the choice that is left out.
    pub(crate) without: usize,
    pub(crate) verdict: Verdict,
    pub(crate) recording: Box<Recording>,
}

/// More choices than this are worth a look at other seeds: nobody reads more of them with ease.
const FEW: usize = 4;
/// Other seeds that are looked at, how many of them are minimised, and what each may cost.
const OTHER_SEEDS: u64 = 64;
const OTHERS_MAX: usize = 3;
const OTHER_REPLAYS_MAX: u32 = 400;

/// Runs that confirm what is left, and how many of them are given out at a time.
const CONFIRMATIONS: u32 = 100;
const CONFIRMATIONS_AT_A_TIME: u32 = 20;

/// What is known of the failure beside the run that is minimised.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    /// What an interrupted minimisation had come to.
    pub(crate) resumed: Option<Tape>,
    /// Other runs of the test that failed in the same way.
    pub(crate) others: Vec<Tape>,
}

/// Minimises the run of `tape`. `save` gets what is best so far, so that a minimisation that was
/// interrupted can go on from there.
///
/// # Errors
/// Where the run does not fail in the same way any more, or nothing can be run.
pub(crate) fn minimize(
    engine: &mut dyn Engine,
    tape: &Tape,
    known: &Known,
    budget: Budget,
    save: &mut dyn FnMut(&Tape),
    draws: bool,
) -> Result<Minimized, String> {
    let mut hunt =
        Hunt { engine, tape, clock: Stopwatch::start(), budget, save, draws, lost: None, best: 0 };
    let (mut seed, start) = hunt.start(known.resumed.as_ref())?;
    let mut given = start.clone();
    let mut shrunk = hunt.reduce(seed, start, budget.replays_max.saturating_sub(1));
    shrunk.replays += 1;
    if shrunk.kept.len() > FEW && !shrunk.cut_short {
        hunt.restart(&mut seed, &mut given, &mut shrunk, &known.others);
    }
    let mut search = Search { hunt: &mut hunt, seed };
    let shrunk = refine(shrunk, &given, &mut search, budget.replays_max);
    if draws {
        console::draw("\r\x1b[K");
    }
    if let Some(lost) = hunt.lost.take() {
        return Err(lost);
    }
    hunt.finish(seed, shrunk)
}

/// One minimisation under way.
struct Hunt<'a> {
    engine: &'a mut dyn Engine,
    tape: &'a Tape,
    clock: Stopwatch,
    budget: Budget,
    save: &'a mut dyn FnMut(&Tape),
    draws: bool,
    /// Why nothing can be run any more.
    lost: Option<String>,
    /// How many choices the best set so far has.
    best: usize,
}

impl Hunt<'_> {
    /// The set to begin with, checked to fail in the same way.
    fn start(&mut self, resumed: Option<&Tape>) -> Result<(u64, Vec<Decision>), String> {
        if let Some(tape) = resumed {
            let outcome = self.run(tape.seed, &tape.choices, Keeps::Choices)?;
            if self.fails_the_same(&outcome) {
                return Ok((tape.seed, self.taken(&outcome, &tape.choices)));
            }
        }
        let outcome = self.run(self.tape.seed, &self.tape.choices, Keeps::Choices)?;
        if !self.fails_the_same(&outcome) {
            return Err(changed(self.tape, &outcome));
        }
        Ok((self.tape.seed, self.taken(&outcome, &self.tape.choices)))
    }

    fn reduce(&mut self, seed: u64, set: Vec<Decision>, replays_max: u32) -> Shrunk<Decision> {
        self.best = set.len();
        reduce(set, &mut Search { hunt: self, seed }, replays_max)
    }

    /// Looks for another seed that fails in the same way for fewer reasons: one that is known, or
    /// one of those that come next. The first that is better is taken.
    fn restart(
        &mut self,
        seed: &mut u64,
        given: &mut Vec<Decision>,
        shrunk: &mut Shrunk<Decision>,
        others: &[Tape],
    ) {
        let known = |tape: &Tape| (tape.seed, decisions(&tape.choices, &tape.domains));
        let mut starts: Vec<(u64, Vec<Decision>)> = others.iter().map(known).collect();
        if starts.is_empty() {
            shrunk.replays += OTHER_SEEDS as u32;
            starts = self.next_seeds();
        }
        starts.sort_by_key(|(seed, set)| (set.len(), *seed));
        for (other_seed, set) in starts.into_iter().take(OTHERS_MAX) {
            let left = self.budget.replays_max.saturating_sub(shrunk.replays);
            let choices: Vec<Choice> = set.iter().map(|decision| decision.choice).collect();
            let Ok(outcome) = self.run(other_seed, &choices, Keeps::Choices) else { return };
            if !self.fails_the_same(&outcome) {
                continue;
            }
            let other = self.reduce(other_seed, set.clone(), left.min(OTHER_REPLAYS_MAX));
            shrunk.replays += other.replays;
            if other.kept.len() < shrunk.kept.len() {
                (*seed, *given, shrunk.kept) = (other_seed, set, other.kept);
                return;
            }
        }
    }

    /// Those of the next seeds that fail in the same way.
    fn next_seeds(&mut self) -> Vec<(u64, Vec<Decision>)> {
        let seed = |n: u64| self.tape.seed.wrapping_add(n + 1);
        let job = |n| Job { seed: seed(n), set: None, keeps: Keeps::Choices };
        let jobs = (0..OTHER_SEEDS).map(job).collect();
        let found = self.batch(jobs, Like::All(self.tape.signature.clone())).unwrap_or_default();
        let start = |(place, outcome): &(usize, RunOutcome)| {
            (self.tape.seed.wrapping_add(*place as u64 + 1), self.taken(outcome, &[]))
        };
        found.iter().map(start).collect()
    }

    /// The last run, recorded in full, and a neighbour of it that passes.
    fn finish(&mut self, seed: u64, shrunk: Shrunk<Decision>) -> Result<Minimized, String> {
        let set: Vec<Choice> = shrunk.kept.iter().map(|decision| decision.choice).collect();
        let outcome = self.run(seed, &set, Keeps::All)?;
        if !self.fails_the_same(&outcome) {
            return Err(changed(self.tape, &outcome));
        }
        let RunOutcome { verdict: Verdict::Fail(failed), recording: Some(recording), .. } = outcome
        else {
            return Err("detsim: the minimised run left no recording".to_owned());
        };
        let tape = Tape {
            seed,
            hash: recording.hash,
            choices: recording.choices.clone(),
            domains: recording.domains.clone(),
            ..self.tape.clone()
        };
        (self.save)(&tape);
        let neighbour = self.neighbour(&tape)?;
        let confirmed = self.confirm(&tape)?;
        let Shrunk { replays, cut_short, .. } = shrunk;
        let from = self.tape.choices.len();
        Ok(Minimized { tape, from, replays, cut_short, failed, recording, neighbour, confirmed })
    }

    fn neighbour(&mut self, tape: &Tape) -> Result<Option<Neighbour>, String> {
        for without in (0..tape.choices.len()).rev() {
            let mut set = tape.choices.clone();
            set.remove(without);
            let outcome = self.run(tape.seed, &set, Keeps::Trace)?;
            if self.fails_the_same(&outcome) {
                continue;
            }
            let RunOutcome { verdict, recording, .. } = outcome;
            return Ok(recording.map(|recording| Neighbour { without, verdict, recording }));
        }
        Ok(None)
    }

    /// Runs what is left once more, many times, as long as there is time.
    fn confirm(&mut self, tape: &Tape) -> Result<Confirmed, String> {
        let job =
            || Job { seed: tape.seed, set: Some(tape.choices.clone()), keeps: Keeps::Verdict };
        let mut confirmed = Confirmed::default();
        while confirmed.runs < CONFIRMATIONS && self.clock.elapsed() < self.budget.wall {
            let jobs = (0..CONFIRMATIONS_AT_A_TIME).map(|_| job()).collect();
            let like = Like::All(tape.signature.clone());
            let same = self.engine.run(Batch { jobs, like })?.len() as u32;
            confirmed.runs += CONFIRMATIONS_AT_A_TIME;
            confirmed.same += same;
        }
        Ok(confirmed)
    }

    fn run(&mut self, seed: u64, set: &[Choice], keeps: Keeps) -> Result<RunOutcome, String> {
        let job = Job { seed, set: Some(set.to_vec()), keeps };
        let mut found = self.engine.run(Batch { jobs: vec![job], like: Like::Any })?;
        Ok(found.pop().expect("invariant: a job has an outcome").1)
    }

    fn batch(&mut self, jobs: Vec<Job>, like: Like) -> Option<Vec<(usize, RunOutcome)>> {
        match self.engine.run(Batch { jobs, like }) {
            Ok(found) => Some(found),
            Err(lost) => {
                self.lost = Some(lost);
                None
            }
        }
    }

    fn fails_the_same(&self, outcome: &RunOutcome) -> bool {
        like(outcome, &self.tape.signature)
    }

    /// The choices of a run that took effect; where it left none, those that it was given.
    fn taken(&self, outcome: &RunOutcome, given: &[Choice]) -> Vec<Decision> {
        match &outcome.recording {
            Some(recording) => decisions(&recording.choices, &recording.domains),
            None => decisions(given, &self.tape.domains),
        }
    }

    fn draw(&self, replays: u32) {
        if self.draws {
            let (seed, from, best) = (self.tape.seed, self.tape.choices.len(), self.best);
            console::draw(&format!(
                "\r\x1b[Kminimising seed {seed}: {from} choices, {best} left after {replays} runs"
            ));
        }
    }
}

/// Runs the sets of one seed for a search.
struct Search<'a, 'b> {
    hunt: &'a mut Hunt<'b>,
    seed: u64,
}

impl Oracle<Decision> for Search<'_, '_> {
    fn first_failing(&mut self, candidates: &[Vec<Decision>]) -> Option<(usize, Vec<Decision>)> {
        let job = |set: &Vec<Decision>| Job {
            seed: self.seed,
            set: Some(set.iter().map(|decision| decision.choice).collect()),
            keeps: Keeps::Choices,
        };
        let jobs = candidates.iter().map(job).collect();
        let found = self.hunt.batch(jobs, Like::First(self.hunt.tape.signature.clone()))?;
        let (place, outcome) = found.into_iter().next()?;
        let taken = match &outcome.recording {
            Some(_) => self.hunt.taken(&outcome, &[]),
            None => candidates[place].clone(),
        };
        Some((place, taken))
    }

    fn kept(&mut self, set: &[Decision], replays: u32) {
        let hunt = &mut *self.hunt;
        if set.len() < hunt.best {
            hunt.best = set.len();
            let choices = set.iter().map(|decision| decision.choice).collect();
            (hunt.save)(&Tape { seed: self.seed, choices, ..hunt.tape.clone() });
        }
        hunt.draw(replays);
    }

    fn is_over(&self) -> bool {
        self.hunt.lost.is_some() || self.hunt.clock.elapsed() >= self.hunt.budget.wall
    }
}

/// Does the run fail in this way?
fn like(outcome: &RunOutcome, signature: &str) -> bool {
    matches!(&outcome.verdict, Verdict::Fail(failed) if failed.signature == signature)
}

fn changed(tape: &Tape, outcome: &RunOutcome) -> String {
    let came = match &outcome.verdict {
        Verdict::Pass => "it passed",
        Verdict::Fail(failed) => failed.signature.as_str(),
    };
    format!(
        "detsim: the choices of seed {} no longer lead to the failure that was recorded\n  \
         recorded: {}\n  now: {came}\nthe test has changed since, or the seed does not determine \
         it; run the seed again: DETSIM_SEED={}",
        tape.seed, tape.signature, tape.seed
    )
}

#[cfg(test)]
mod tests;
