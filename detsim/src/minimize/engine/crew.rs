//! Runs jobs over worker processes, one on each processor.
//!
//! Owns: the threads that keep the workers, and the handing out of jobs. Invariants: jobs are handed
//! out in their order; once the lowest outcome that is asked for is known, no later job is begun,
//! and every earlier one has been done.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use super::{Batch, Engine, Job, Like};
use crate::outcome::RunOutcome;
use crate::recording::encode;
use crate::spec::Spec;
use crate::sweep::pump::{Ask, Runner};
use crate::sweep::tokens::Tokens;
use crate::worker::parent::Lost;
use crate::worker::protocol::{Mode, Outputs, SET_BYTES_MAX};

/// What the threads share.
struct Crew<'a> {
    spec: &'a Spec,
    tokens: &'a Tokens,
    work: Mutex<Work>,
    changed: Condvar,
}

/// The batch that is being done.
#[derive(Debug)]
struct Work {
    jobs: Vec<Option<Job>>,
    next: usize,
    running: usize,
    like: Like,
    found: BTreeMap<usize, RunOutcome>,
    lost: Option<String>,
    is_closed: bool,
}

/// Gives `f` an engine of as many workers as there are tokens.
pub(crate) fn with_crew<R>(
    spec: &Spec,
    tokens: &Tokens,
    f: impl FnOnce(&mut dyn Engine) -> R,
) -> R {
    let crew = Crew { spec, tokens, work: Mutex::new(Work::new()), changed: Condvar::new() };
    thread::scope(|scope| {
        for _ in 0..tokens.count() {
            scope.spawn(|| crew.serve());
        }
        let mut foreman = Foreman(&crew);
        f(&mut foreman)
    })
}

/// Hands out batches; the threads end when it is dropped.
struct Foreman<'a, 'b>(&'a Crew<'b>);

impl Drop for Foreman<'_, '_> {
    fn drop(&mut self) {
        self.0.work().is_closed = true;
        self.0.changed.notify_all();
    }
}

impl Engine for Foreman<'_, '_> {
    fn run(&mut self, batch: Batch) -> Result<Vec<(usize, RunOutcome)>, String> {
        let mut work = self.0.work();
        work.jobs = batch.jobs.into_iter().map(Some).collect();
        (work.next, work.like) = (0, batch.like);
        work.found.clear();
        self.0.changed.notify_all();
        while work.is_busy() {
            work = self.0.wait(work);
        }
        if let Some(lost) = work.lost.take() {
            work.jobs.clear();
            return Err(lost);
        }
        Ok(work.take_found())
    }
}

impl Work {
    fn new() -> Self {
        Self {
            jobs: Vec::new(),
            next: 0,
            running: 0,
            like: Like::Any,
            found: BTreeMap::new(),
            lost: None,
            is_closed: false,
        }
    }

    /// Is there another job to begin?
    fn has_next(&self) -> bool {
        let is_found = self.like.is_first() && !self.found.is_empty();
        self.next < self.jobs.len() && self.lost.is_none() && !is_found
    }

    fn is_busy(&self) -> bool {
        self.running > 0 || self.has_next()
    }

    /// Ends the batch: the outcomes that were asked for. Jobs that nobody began are dropped.
    fn take_found(&mut self) -> Vec<(usize, RunOutcome)> {
        self.jobs.clear();
        let mut found: Vec<_> = std::mem::take(&mut self.found).into_iter().collect();
        if self.like.is_first() {
            found.truncate(1);
        }
        found
    }
}

impl<'a> Crew<'a> {
    fn work(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'g>(&self, work: MutexGuard<'g, Work>) -> MutexGuard<'g, Work> {
        self.changed.wait(work).unwrap_or_else(PoisonError::into_inner)
    }

    /// One thread: a worker of its own, and job after job.
    fn serve(&self) {
        let mut runner = Runner::new(self.spec, Mode::Fork);
        while let Some((place, job)) = self.take() {
            let outcome = self.run(&mut runner, &job);
            let mut work = self.work();
            work.running -= 1;
            match outcome {
                Ok(outcome) if work.like.takes(&outcome) => {
                    work.found.insert(place, outcome);
                }
                Ok(_) => {}
                Err(lost) => {
                    work.lost.get_or_insert(lost.to_string());
                }
            }
            self.changed.notify_all();
        }
    }

    /// Waits for a job; `None` where there will be none.
    fn take(&self) -> Option<(usize, Job)> {
        let mut work = self.work();
        loop {
            if work.is_closed {
                return None;
            }
            if work.has_next() {
                let place = work.next;
                let job = work.jobs[place].take().expect("invariant: a job is handed out once");
                (work.next, work.running) = (place + 1, work.running + 1);
                return Some((place, job));
            }
            work = self.wait(work);
        }
    }

    fn run(&self, runner: &mut Runner<'a>, job: &Job) -> Result<RunOutcome, Lost> {
        let set = job.set.as_ref().map(encode);
        if set.as_ref().is_some_and(|set| set.len() > SET_BYTES_MAX) {
            return Err(Lost::new("the run has more choices than a worker takes"));
        }
        let ask = Ask { outputs: Outputs::None, keeps: job.keeps, set: set.as_deref() };
        Ok(runner.run_one(&self.tokens.take(), job.seed, ask)?.outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Keeps;

    #[test]
    fn a_batch_that_is_over_leaves_no_jobs_behind() {
        let job = || Some(Job { seed: 1, set: None, keeps: Keeps::Choices });
        let mut work = Work::new();
        work.jobs = (0..4).map(|_| job()).collect();
        work.like = Like::First("deadlock".to_owned());
        assert!(work.has_next());
        (work.next, work.found) = (1, BTreeMap::from([(0, RunOutcome::PASS)]));
        assert!(!work.is_busy(), "the first is known");
        assert_eq!(work.take_found().len(), 1);
        assert!(!work.is_busy(), "the others are not begun");
    }
}
