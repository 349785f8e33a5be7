//! Runs sets of choices, several at a time where that can be.
//!
//! Owns: [`Engine`], and its form inside the test process. Does not own: the one over worker
//! processes (`crew.rs`). Invariant: which outcomes come back depends on the jobs alone, not on
//! which was done first.

#[cfg(target_os = "linux")]
mod crew;

use detsim_executor::Choice;

use crate::attempt::{Body, attempt};
use crate::hook;
use crate::minimize::like;
use crate::outcome::{Keeps, RunOptions, RunOutcome};

#[cfg(target_os = "linux")]
pub(crate) use crew::with_crew;

/// One run.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) seed: u64,
    /// The choices to take; `None`: the seed's own.
    pub(crate) set: Option<Vec<Choice>>,
    pub(crate) keeps: Keeps,
}

/// Which outcomes are asked for.
#[derive(Clone, Debug)]
pub(crate) enum Like {
    /// All.
    Any,
    /// Those that fail with this signature.
    All(String),
    /// The lowest one that fails with this signature.
    First(String),
}

impl Like {
    fn takes(&self, outcome: &RunOutcome) -> bool {
        match self {
            Self::Any => true,
            Self::All(signature) | Self::First(signature) => like(outcome, signature),
        }
    }

    fn is_first(&self) -> bool {
        matches!(self, Self::First(_))
    }
}

/// Jobs that are done together.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) jobs: Vec<Job>,
    pub(crate) like: Like,
}

/// Runs jobs.
pub(crate) trait Engine {
    /// The outcomes that are asked for, in the order of their jobs, with the places of these.
    ///
    /// # Errors
    /// Where nothing can be run.
    fn run(&mut self, batch: Batch) -> Result<Vec<(usize, RunOutcome)>, String>;
}

/// Runs jobs in this process, one after the other.
pub(crate) struct Here<'a> {
    body: Body<'a>,
    strategy: Option<String>,
}

impl<'a> Here<'a> {
    pub(crate) fn new(body: Body<'a>, strategy: Option<String>) -> Self {
        hook::chain();
        Self { body, strategy }
    }
}

impl Engine for Here<'_> {
    fn run(&mut self, batch: Batch) -> Result<Vec<(usize, RunOutcome)>, String> {
        let mut found = Vec::new();
        for (place, Job { seed, set, keeps }) in batch.jobs.into_iter().enumerate() {
            let options = RunOptions { keeps, replay: set, strategy: self.strategy.clone() };
            let outcome = attempt(self.body, seed, &options);
            if batch.like.takes(&outcome) {
                found.push((place, outcome));
                if batch.like.is_first() {
                    break;
                }
            }
        }
        Ok(found)
    }
}
