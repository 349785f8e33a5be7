//! How one run ends, as plain data that crosses processes.
//!
//! Owns: [`RunOutcome`] and the closed set of verdicts, and [`TestOutput`], what a test function
//! may return. Does not own: how a run is made ([`crate::run`]) nor how an outcome is told
//! ([`crate::sweep`]). Invariant: nothing here holds an address, a wall time or a thread.

use std::fmt;

use detsim_executor::Choice;

use crate::recording::Recording;

/// What the sweep asks of one run, beside its seed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunOptions {
    /// What is kept of the run. The run itself is the same.
    pub keeps: Keeps,
    /// Take these choices, and defaults for all others, instead of the seed's.
    pub replay: Option<Vec<Choice>>,
    /// The scheduler, where the environment or the attribute names one.
    pub strategy: Option<String>,
}

/// What is kept of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Keeps {
    /// Its verdict.
    #[default]
    Verdict,
    /// The choices that were not defaults, too.
    Choices,
    /// The events, too.
    Trace,
    /// All that, and the stacks and sentences of the report, whose symbols take a debug build some
    /// tenths of a second to find.
    All,
}

/// One finished run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunOutcome {
    /// Whether it passed.
    pub verdict: Verdict,
    /// The happens-before hash of the run; 0 where the run ended too early to have one.
    pub hash: u64,
    /// Polls, callbacks and deliveries.
    pub steps: u64,
    /// Events that were recorded or counted.
    pub events: u64,
    /// Virtual time at the end, in nanoseconds.
    pub sim_time_ns: u64,
    /// What was recorded, where that was asked for.
    pub recording: Option<Box<Recording>>,
}

/// Whether a run passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The test function returned, and returned no error.
    Pass,
    /// Anything else.
    Fail(Failed),
}

/// Why a run failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// Which of the closed set of reasons.
    pub kind: Kind,
    /// Kind and site: equal for two runs that fail in the same way.
    pub signature: String,
    /// The report, ready to print.
    pub report: String,
}

/// The closed set of reasons why a run fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    /// A panic that nobody handled.
    Panic = 1,
    /// What the test checks does not hold: it returned an error.
    Property = 2,
    /// No task can run and nothing will wake one.
    Deadlock = 3,
    /// Tasks run on and get nowhere.
    Livelock = 4,
    /// A task sleeps though what it waits for has happened.
    LostWakeup = 5,
    /// Something outlived the run that must not.
    Leak = 6,
    /// A limit of the run was reached.
    Limit = 7,
    /// The process ended before the run did.
    Crash = 8,
    /// The same seed gave two different runs.
    Nondeterminism = 9,
    /// detsim itself could not run the seed.
    Harness = 10,
}

impl Kind {
    const ALL: [Self; 10] = [
        Self::Panic,
        Self::Property,
        Self::Deadlock,
        Self::Livelock,
        Self::LostWakeup,
        Self::Leak,
        Self::Limit,
        Self::Crash,
        Self::Nondeterminism,
        Self::Harness,
    ];

    /// The kind with this number, if there is one.
    pub(crate) fn from_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| *kind as u8 == number)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Panic => "panic",
            Self::Property => "property violated",
            Self::Deadlock => "deadlock",
            Self::Livelock => "livelock",
            Self::LostWakeup => "lost wakeup",
            Self::Leak => "leak",
            Self::Limit => "limit reached",
            Self::Crash => "crash of the process",
            Self::Nondeterminism => "nondeterminism",
            Self::Harness => "harness error",
        })
    }
}

impl RunOutcome {
    /// A run that passed, of which nothing else is known.
    pub const PASS: Self = Self {
        verdict: Verdict::Pass,
        hash: 0,
        steps: 0,
        events: 0,
        sim_time_ns: 0,
        recording: None,
    };

    /// A run that failed before it had a hash.
    pub(crate) fn failed(kind: Kind, signature: String, report: String) -> Self {
        Self { verdict: Verdict::Fail(Failed { kind, signature, report }), ..Self::PASS }
    }
}

/// What a test function may return: `()` or `Result<(), E>`.
pub trait TestOutput {
    /// The error that the test returned, in the words of the test harness.
    ///
    /// # Errors
    /// `Error: {e:?}`, where the test returned `Err(e)`.
    fn into_result(self) -> Result<(), String>;
}

impl TestOutput for () {
    fn into_result(self) -> Result<(), String> {
        Ok(())
    }
}

impl<E: fmt::Debug> TestOutput for Result<(), E> {
    fn into_result(self) -> Result<(), String> {
        self.map_err(|error| format!("Error: {error:?}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_own_number() {
        for kind in Kind::ALL {
            assert_eq!(Kind::from_number(kind as u8), Some(kind));
        }
        assert_eq!(Kind::from_number(0), None);
        assert_eq!(Kind::from_number(11), None);
    }

    #[test]
    fn a_returned_error_is_told_as_the_test_harness_tells_it() {
        assert_eq!(().into_result(), Ok(()));
        assert_eq!(Ok::<(), String>(()).into_result(), Ok(()));
        assert_eq!(Err::<(), _>("no quorum").into_result(), Err("Error: \"no quorum\"".to_owned()));
    }
}
