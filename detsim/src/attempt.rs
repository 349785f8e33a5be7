//! One seed, run to its end whatever happens.
//!
//! Owns: what stands around the user's code in every kind of process: entropy, the log, and the
//! catching of a panic. Does not own: the process around it ([`crate::worker`], [`crate::sweep`])
//! nor the run itself ([`crate::run`]).

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::hook::{self, Note};
use crate::interpose::{entropy, fs};
use crate::outcome::{Failed, Kind, RunOptions, RunOutcome, Verdict};
use crate::{log, signature};

/// One run of one seed. `Sync`, because some runs get a thread of their own.
pub type Body<'a> = &'a (dyn Fn(u64, &RunOptions) -> RunOutcome + Sync);

/// Runs one seed on this thread.
pub(crate) fn attempt(body: Body<'_>, seed: u64, options: &RunOptions) -> RunOutcome {
    hook::forget();
    fs::link_in();
    entropy::begin(seed);
    let printing = log::begin();
    // A body is a function of the seed: nothing that a panic broke is used again.
    let caught = catch_unwind(AssertUnwindSafe(|| body(seed, options)));
    drop(printing);
    entropy::end();
    match caught {
        Ok(outcome) => outcome,
        Err(payload) => {
            let verdict = Verdict::Fail(panicked(hook::message_of(&*payload)));
            // Its destructor is the user's and may panic.
            std::mem::forget(payload);
            RunOutcome { verdict, ..RunOutcome::PASS }
        }
    }
}

/// What stands around the one run of a program, until it is dropped.
pub(crate) fn alone(seed: u64, filter: Option<&str>) -> impl Sized {
    if let Some(filter) = filter {
        log::enable(filter);
    }
    fs::link_in();
    entropy::begin(seed);
    log::begin()
}

/// The failure of a run that ended in a panic with this message.
pub(crate) fn panicked(message: String) -> Failed {
    let note = hook::note_of(&message).unwrap_or(Note { site: String::new(), message });
    let report = match note.site.as_str() {
        "" => format!("the test panicked:\n{}", note.message),
        site => format!("the test panicked at {site}:\n{}", note.message),
    };
    Failed { kind: Kind::Panic, signature: signature::of_panic(&note), report }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_is_handed_on() {
        let body: Body<'_> = &|seed, _| RunOutcome { hash: seed, ..RunOutcome::PASS };
        assert_eq!(attempt(body, 7, &RunOptions::default()).hash, 7);
    }

    #[test]
    fn a_panic_is_a_verdict_with_its_site() {
        hook::chain();
        let body: Body<'_> = &|seed, _| panic!("seed {seed} is odd");
        let outcome = attempt(body, 3, &RunOptions::default());
        let Verdict::Fail(failed) = outcome.verdict else { panic!("must fail") };
        assert_eq!(failed.kind, Kind::Panic);
        assert!(failed.signature.ends_with(": seed # is odd"), "{}", failed.signature);
        assert!(failed.signature.contains("src/attempt.rs:"), "{}", failed.signature);
        assert!(failed.report.ends_with("seed 3 is odd"), "{}", failed.report);
    }
}
