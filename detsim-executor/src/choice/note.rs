//! What a recorded choice was about, for people.
//!
//! Owns: [`ChoiceNote`], plain data beside a [`Choice`](super::Choice), and the note while the run
//! goes on, whose stack is not looked up yet. Does not own: sentences, which reports make of it.
//! Invariant: a note is taken in a fully recorded run alone, and decides nothing.

use crate::SimTime;
use crate::stack::Stack;
use serde::{Deserialize, Serialize};

/// What a recorded choice was about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChoiceNote {
    /// Virtual time.
    pub at: SimTime,
    /// The step.
    pub step: u64,
    /// How many events the trace had.
    pub events: u64,
    /// Who ran, as reports name a task: `task 3 "worker-2"`; `the simulation` between two tasks.
    pub task: String,
    /// The domain's name, such as `net/n1/n2/loss`; empty for the scheduler's.
    pub domain: String,
    /// The decision.
    pub decided: Decided,
    /// Where the task stood, `function at file:line`, innermost first; empty where that is unknown.
    pub stack: Vec<String>,
}

/// A decision that was not the default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Decided {
    /// A number was drawn, below a bound.
    Drawn {
        /// The number.
        value: u64,
        /// The bound.
        bound: u64,
    },
    /// Something happened that by default does not.
    #[default]
    Happened,
    /// A task ran that was not the next one.
    Ran {
        /// The task that ran.
        task: String,
        /// The task that was next.
        instead_of: String,
    },
    /// A task was stopped before an operation; the others that were ready ran first.
    Stopped {
        /// The operation, such as `lock`.
        op: String,
        /// The object, such as `mutex of src/pool.rs:12`.
        object: String,
    },
}

/// Where a run stands.
#[derive(Clone, Debug, Default)]
pub(crate) struct Place {
    pub(crate) at: SimTime,
    pub(crate) step: u64,
    pub(crate) events: u64,
    pub(crate) task: String,
}

/// A note while the run goes on.
#[derive(Debug)]
pub(crate) struct Note {
    place: Place,
    domain: String,
    pub(crate) decided: Decided,
    pub(crate) stack: Option<Stack>,
}

impl Note {
    pub(crate) fn new(place: &Place, domain: String) -> Self {
        Self { place: place.clone(), domain, decided: Decided::Happened, stack: None }
    }

    /// The note as it leaves the run. Looks up the stack.
    pub(crate) fn told(&self) -> ChoiceNote {
        let Place { at, step, events, task } = self.place.clone();
        let stack = self.stack.as_ref().map(Stack::frames).unwrap_or_default();
        let (domain, decided) = (self.domain.clone(), self.decided.clone());
        ChoiceNote { at, step, events, task, domain, decided, stack }
    }
}
