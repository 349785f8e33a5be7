//! The record of a run, and its hash.
//!
//! Owns: [`RunHash`] (always on), and [`Trace`] (kept only in a recorded run) with the tables that
//! its events name things by. Does not own: the events themselves, their text (`trace/text.rs`),
//! how they are kept (`trace/recorder.rs`), or files. Invariants: equal runs give equal hashes and
//! equal traces, byte for byte; recording changes neither the run nor its hash; a table never
//! panics on a number that it does not have.

mod recorder;
mod text;

use crate::block::ResourceKind;
use crate::choice::Choice;
use crate::event::{ChoiceId, Event, Moment, NodeId, ObjectId, SetId, TaskNumber, TextId};
use crate::rng::fold;
use serde::{Deserialize, Serialize};
use std::fmt;

pub(crate) use recorder::Recorder;
pub use text::{Line, NodeShown, Predicate, TaskShown};

/// The fingerprint of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RunHash {
    /// The happens-before (L2) shape: a sum over the operations, each folded with the history of
    /// its task and of its object. Equal for runs that differ only in the order of independent
    /// operations.
    pub shape: u64,
    /// Every step in its order: equal only for the same run.
    pub order: u64,
}

impl RunHash {
    /// One more operation, whose own history is `event`.
    #[inline]
    pub(crate) fn operation(&mut self, event: u64) {
        self.shape = self.shape.wrapping_add(event);
    }

    /// One more step.
    #[inline]
    pub(crate) fn step(&mut self, what: u64) {
        self.order = (self.order ^ what).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
    }

    /// Both in one word.
    pub fn word(self) -> u64 {
        fold(self.shape, self.order)
    }
}

impl fmt::Display for RunHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.word())
    }
}

/// The events of a recorded run. Displayed, it is one line an event.
///
/// # Examples
/// ```
/// use detsim_executor::{Sim, SimConfig};
/// let mut config = SimConfig::default();
/// config.record = true;
/// let sim = Sim::with_config(7, config);
/// drop(sim.spawn("hello", async {}));
/// sim.run().unwrap();
/// let trace = sim.trace();
/// assert_eq!(trace.moments.len(), 3);
/// let last = trace.line(&trace.moments[2]).to_string();
/// assert!(last.ends_with("task 0 \"hello\" ends"), "{last}");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trace {
    /// In the order they happened.
    pub moments: Vec<Moment>,
    /// What the events name by number.
    pub tables: Tables,
}

/// What the events of a trace name by number: each thing once, in the order of its first event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tables {
    /// Names, places in the source, messages; the first is empty.
    pub texts: Vec<String>,
    /// Tasks by their number.
    pub tasks: Vec<TaskInfo>,
    /// Names of nodes by their number.
    pub nodes: Vec<TextId>,
    /// Shared objects.
    pub objects: Vec<ObjectInfo>,
    /// Sets of nodes.
    pub sets: Vec<Vec<NodeId>>,
    /// Choices that were not the default, in the order they were made.
    pub choices: Vec<Chosen>,
}

/// What is known of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskInfo {
    /// What it was called when it was spawned.
    pub name: TextId,
    /// Where it was spawned.
    pub site: TextId,
    /// Where it lives.
    pub node: NodeId,
    /// Its signature, by which choices name it.
    pub sig: u64,
}

/// What is known of a shared object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObjectInfo {
    /// Its kind.
    pub kind: ResourceKind,
    /// Where it was created.
    pub site: TextId,
    /// Its signature.
    pub sig: u64,
}

/// A choice with the name of its domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chosen {
    /// The choice.
    pub choice: Choice,
    /// The name of its domain: [`DOMAIN_PICK`] or [`DOMAIN_STOP`] of the scheduler, else the stream's.
    pub domain: TextId,
}

/// The domain of the choice which task runs next; picked and default are signatures of tasks.
pub const DOMAIN_PICK: &str = "pick";
/// The domain of the choice to stop a task before an operation; the actor is the task's signature.
pub const DOMAIN_STOP: &str = "stop";

impl Trace {
    /// The line of an event of this trace.
    pub fn line<'a>(&'a self, moment: &'a Moment) -> Line<'a> {
        Line { tables: &self.tables, moment }
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.moments.iter().try_for_each(|moment| writeln!(f, "{}", self.line(moment)))
    }
}

impl Tables {
    /// A text; a question mark where there is none of this number.
    pub fn text(&self, id: TextId) -> &str {
        self.texts.get(id.0 as usize).map_or("?", String::as_str)
    }

    /// What is known of a task.
    pub fn task(&self, task: TaskNumber) -> Option<&TaskInfo> {
        self.tasks.get(task.0 as usize)
    }

    /// What is known of an object.
    pub fn object(&self, object: ObjectId) -> Option<&ObjectInfo> {
        self.objects.get(object.0 as usize)
    }

    /// The nodes of a set; none where there is no set of this number.
    pub fn set(&self, set: SetId) -> &[NodeId] {
        self.sets.get(set.0 as usize).map_or(&[], Vec::as_slice)
    }

    /// A choice that was not the default.
    pub fn choice(&self, choice: ChoiceId) -> Option<&Chosen> {
        self.choices.get(choice.0 as usize)
    }

    /// The task of this signature.
    pub fn task_of(&self, sig: u64) -> Option<TaskNumber> {
        let index = self.tasks.iter().position(|task| task.sig == sig)?;
        Some(TaskNumber(index as u32))
    }

    /// The task that an event happened to. Of a choice it is the task that the choice is about:
    /// the one that runs instead, or the one that is stopped.
    pub fn task_at(&self, event: &Event) -> Option<TaskNumber> {
        let &Event::Chose { choice } = event else { return event.task() };
        let chosen = self.choice(choice)?;
        match self.text(chosen.domain) {
            DOMAIN_PICK => self.task_of(chosen.choice.picked),
            _ => self.task_of(chosen.choice.anchor.actor),
        }
    }

    /// The node that an event happened on, where it is one.
    pub fn node_at(&self, event: &Event) -> Option<NodeId> {
        match event {
            Event::Disk(event) => Some(event.node()),
            Event::Net(event) => event.node(),
            Event::Node { node, .. } | Event::Noted { node, .. } => Some(*node),
            Event::Called { .. } => None,
            _ => self.task(self.task_at(event)?).map(|task| task.node),
        }
    }

    /// A task, as texts name it: `task 17 "apply-loop"`.
    pub fn task_shown(&self, task: TaskNumber) -> TaskShown<'_> {
        TaskShown { tables: self, task }
    }

    /// A node, as texts name it: by its name, or `n7`.
    pub fn node_shown(&self, node: NodeId) -> NodeShown<'_> {
        NodeShown { tables: self, node }
    }

    /// What happened, without to whom: `waits: lock on Mutex of src/a.rs:1 at src/b.rs:2`.
    pub fn predicate<'a>(&'a self, event: &'a Event) -> Predicate<'a> {
        Predicate { tables: self, event }
    }
}

#[cfg(test)]
mod tests;
