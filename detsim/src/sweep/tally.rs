//! The results of a sweep, in the order of its seeds.
//!
//! Workers finish in any order; what is counted, kept and printed is decided in seed order, so two
//! sweeps of one build say the same, whatever the machine did. Invariants: every result before
//! `next` is counted and none after it; once `failures_max` seeds have failed nothing more counts.

use std::collections::{BTreeMap, BTreeSet};

use crate::outcome::{Failed, RunOutcome, Verdict};
use crate::recording::Recording;

/// Failing seeds of one signature that are recorded.
const RECORDS_MAX: usize = 4;

/// How one seed went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Result {
    pub(crate) outcome: RunOutcome,
    /// What it printed, where that is kept.
    pub(crate) output: Vec<u8>,
}

/// A seed that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) seed: u64,
    pub(crate) failed: Failed,
    pub(crate) hash: u64,
    pub(crate) steps: u64,
    pub(crate) output: Vec<u8>,
    /// What was recorded of it, where it was.
    pub(crate) recording: Option<Box<Recording>>,
}

#[derive(Debug)]
pub(crate) struct Tally {
    first_seed: u64,
    failures_max: usize,
    /// The place of the next result that counts.
    next: u64,
    early: BTreeMap<u64, Result>,
    passed: u64,
    failures: Vec<Failure>,
    /// What the last seed that passed printed, where that was kept.
    last_output: Vec<u8>,
}

impl Tally {
    pub(crate) fn new(first_seed: u64, failures_max: usize) -> Self {
        Self {
            first_seed,
            failures_max,
            next: 0,
            early: BTreeMap::new(),
            passed: 0,
            failures: Vec::new(),
            last_output: Vec::new(),
        }
    }

    /// Takes in the result at this place of the sweep, and counts all that are in order now.
    pub(crate) fn enter(&mut self, index: u64, result: Result) {
        self.early.insert(index, result);
        while !self.is_full() {
            let Some(result) = self.early.remove(&self.next) else { return };
            self.count(result);
        }
        self.early.clear();
    }

    fn count(&mut self, result: Result) {
        let seed = self.first_seed + self.next;
        self.next += 1;
        let Result { outcome, output } = result;
        match outcome.verdict {
            Verdict::Pass => {
                self.passed += 1;
                self.last_output = output;
            }
            Verdict::Fail(failed) => {
                // Only the first of a signature is shown.
                let known =
                    self.failures.iter().any(|old| old.failed.signature == failed.signature);
                let output = if known { Vec::new() } else { output };
                let RunOutcome { hash, steps, recording, .. } = outcome;
                self.failures.push(Failure { seed, failed, hash, steps, output, recording });
            }
        }
    }

    /// Drops what was entered and counted from this place on.
    pub(crate) fn forget_from(&mut self, index: u64) {
        debug_assert!(self.failures.len() < self.failures_max, "a full tally is final");
        let first_forgotten = self.first_seed + index;
        let failures_after = self.failures.iter().filter(|f| f.seed >= first_forgotten).count();
        let counted_after = self.next.saturating_sub(index);
        self.passed -= counted_after - failures_after as u64;
        self.failures.retain(|failure| failure.seed < first_forgotten);
        self.early.retain(|at, _| *at < index);
        self.next = self.next.min(index);
    }

    /// Whether so many seeds have failed that the sweep ends.
    pub(crate) fn is_full(&self) -> bool {
        self.failures.len() >= self.failures_max
    }

    /// The seeds that count so far.
    pub(crate) fn counted(&self) -> u64 {
        self.next
    }

    pub(crate) fn passed(&self) -> u64 {
        self.passed
    }

    pub(crate) fn failures(&self) -> &[Failure] {
        &self.failures
    }

    /// What the last seed that passed printed, where that was kept.
    pub(crate) fn last_output(&self) -> &[u8] {
        &self.last_output
    }

    /// The failures to run again, recorded: of every signature the first seed, whose report is
    /// shown, and then the shortest runs.
    pub(crate) fn recordable(&mut self) -> Vec<&mut Failure> {
        let mut chosen: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
        let mut by_length: Vec<&Failure> = self.failures.iter().collect();
        by_length.sort_by_key(|failure| (failure.steps, failure.seed));
        for failure in &self.failures {
            chosen.entry(&failure.failed.signature).or_insert_with(|| vec![failure.seed]);
        }
        for failure in by_length {
            let seeds = chosen.entry(&failure.failed.signature).or_default();
            if seeds.len() < RECORDS_MAX && !seeds.contains(&failure.seed) {
                seeds.push(failure.seed);
            }
        }
        let chosen: BTreeSet<u64> = chosen.into_values().flatten().collect();
        self.failures.iter_mut().filter(|failure| chosen.contains(&failure.seed)).collect()
    }

    /// The failures by signature, in the order in which each was first seen.
    pub(crate) fn buckets(&self) -> Vec<Bucket<'_>> {
        let mut buckets: Vec<Bucket<'_>> = Vec::new();
        for failure in &self.failures {
            let same = |bucket: &&mut Bucket<'_>| {
                bucket.first.failed.signature == failure.failed.signature
            };
            match buckets.iter_mut().find(same) {
                Some(bucket) => bucket.others.push(failure.seed),
                None => buckets.push(Bucket { first: failure, others: Vec::new() }),
            }
        }
        buckets
    }
}

/// The failures of one signature.
#[derive(Debug)]
pub(crate) struct Bucket<'a> {
    pub(crate) first: &'a Failure,
    /// The seeds after the first that fail in the same way.
    pub(crate) others: Vec<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Kind;
    use detsim_executor::Stream;

    fn pass() -> Result {
        Result { outcome: RunOutcome::PASS, output: Vec::new() }
    }

    fn fail(signature: &str) -> Result {
        let outcome =
            RunOutcome::failed(Kind::Panic, signature.to_owned(), format!("report {signature}"));
        Result { outcome, output: b"printed".to_vec() }
    }

    /// Every 7th seed fails, in two ways.
    fn result(index: u64) -> Result {
        match index % 14 {
            6 => fail("a"),
            13 => fail("b"),
            _ => pass(),
        }
    }

    fn seeds(tally: &Tally) -> Vec<u64> {
        tally.failures().iter().map(|failure| failure.seed).collect()
    }

    #[test]
    fn the_order_of_arrival_does_not_matter() {
        for shuffle in 0..50 {
            let mut words = Stream::new(shuffle);
            let mut order: Vec<u64> = (0..100).collect();
            for last in (1..order.len()).rev() {
                order.swap(last, words.below(last as u64 + 1) as usize);
            }
            let mut tally = Tally::new(1000, 5);
            for index in order {
                tally.enter(index, result(index));
            }
            assert_eq!(seeds(&tally), [1006, 1013, 1020, 1027, 1034]);
            assert_eq!((tally.counted(), tally.passed()), (35, 30));
        }
    }

    #[test]
    fn failures_are_put_together_by_signature() {
        let mut tally = Tally::new(0, 100);
        (0..42).for_each(|index| tally.enter(index, result(index)));
        let buckets = tally.buckets();
        let told: Vec<_> = buckets.iter().map(|b| (b.first.seed, b.others.as_slice())).collect();
        assert_eq!(told, [(6, &[20, 34][..]), (13, &[27, 41][..])]);
        assert_eq!(buckets[0].first.output, b"printed");
        assert_eq!(tally.failures()[2].output, b"");
    }

    #[test]
    fn the_first_and_the_shortest_of_a_signature_are_recorded() {
        let mut tally = Tally::new(0, 100);
        for (index, steps) in [90, 20, 80, 10, 40, 30, 50].into_iter().enumerate() {
            let mut result = fail(if index == 2 { "b" } else { "a" });
            result.outcome.steps = steps;
            tally.enter(index as u64, result);
        }
        let seeds: Vec<u64> = tally.recordable().iter().map(|failure| failure.seed).collect();
        assert_eq!(seeds, [0, 1, 2, 3, 5]);
    }

    #[test]
    fn what_is_forgotten_counts_again() {
        let mut tally = Tally::new(100, 100);
        (0..30).chain([40]).for_each(|index| tally.enter(index, result(index)));
        tally.forget_from(10);
        assert_eq!((tally.counted(), tally.passed()), (10, 9));
        assert_eq!(seeds(&tally), [106]);
        (10..30).for_each(|index| tally.enter(index, pass()));
        assert_eq!((tally.counted(), tally.passed()), (30, 29));
    }
}
