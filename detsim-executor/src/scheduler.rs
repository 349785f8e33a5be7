//! Who runs next.
//!
//! Owns: the trait [`Scheduler`], what it sees ([`Ready`], [`Pick`]), and [`Strategy`], the name
//! by which one is asked for. Does not own: the tasks. Invariants: a scheduler's picks depend on
//! what it was given and on its own stream only; each ready task is given once and picked once.

mod fifo;
mod random;

pub use fifo::Fifo;
pub use random::Random;

use crate::block::OpKind;
use crate::rng::Stream;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A task that can run, with what it is about to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ready {
    /// The slot of the task.
    pub slot: u32,
    /// The signature of the task.
    pub task: u64,
    /// What it will do first: the operation it was stopped before, or was waiting for.
    pub op: OpKind,
    /// The signature of the object of that operation; 0 where there is none.
    pub object: u64,
}

/// The moment of a pick.
#[derive(Clone, Copy, Debug)]
pub struct Pick {
    /// The slot of the task that ran last.
    pub current: Option<u32>,
    /// That task let others run of its own will (and did not get stopped before an operation).
    pub is_yield: bool,
}

/// A policy of who runs next.
pub trait Scheduler: fmt::Debug {
    /// A task became ready.
    fn ready(&mut self, task: Ready);

    /// Takes one of the ready tasks.
    fn pick(&mut self, at: Pick) -> Option<u32>;

    /// After how many operations the task that is about to run is stopped again, at the earliest
    /// 1; `None`: it runs until it waits.
    fn preempt_after(&mut self) -> Option<u32>;

    /// The task of this slot will not run: it was aborted or its node was stopped.
    fn remove(&mut self, slot: u32);

    /// How many are ready.
    fn len(&self) -> usize;

    /// Nobody is ready?
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The slot that a run of defaults would take now: the task that has been ready longest. All
    /// schedulers agree on it: a recorded run of any of them is replayed against this default.
    fn default_pick(&self, at: Pick) -> Option<u32>;
}

/// The built-in strategies.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[non_exhaustive]
pub enum Strategy {
    /// A uniform pick among the ready tasks, and preemptions at a rate drawn for the run.
    #[default]
    Random,
    /// First come, first served; no preemption. The run of all defaults.
    Fifo,
}

impl Strategy {
    /// All of them, by name.
    pub const ALL: [(&'static str, Self); 2] = [("random", Self::Random), ("fifo", Self::Fifo)];

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Fifo => "fifo",
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Strategy {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known = Self::ALL.iter().find(|(known, _)| *known == name);
        known.map(|(_, strategy)| *strategy).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|(name, _)| *name).collect();
            format!("\"{name}\" is no strategy; there are: {}", names.join(", "))
        })
    }
}

/// The scheduler of a run: the built-in ones cost no indirect call.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct Policy {
    random: Random,
    kind: Kind,
    fifo: Fifo,
    other: Option<Box<dyn Scheduler>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kind {
    Random,
    #[default]
    Fifo,
    Other,
}

impl Policy {
    /// Makes this the policy of `strategy`, keeping the memory of earlier runs.
    pub(crate) fn reset(&mut self, strategy: Strategy, stream: Stream) {
        self.random.reset(stream);
        self.fifo = Fifo::default();
        self.other = None;
        self.kind = match strategy {
            Strategy::Random => Kind::Random,
            Strategy::Fifo => Kind::Fifo,
        };
    }

    /// Makes a scheduler from outside the policy.
    pub(crate) fn set_other(&mut self, scheduler: Box<dyn Scheduler>) {
        (self.kind, self.other) = (Kind::Other, Some(scheduler));
    }

    fn current(&mut self) -> &mut dyn Scheduler {
        match (self.kind, &mut self.other) {
            (Kind::Fifo, _) => &mut self.fifo,
            (Kind::Other, Some(other)) => &mut **other,
            _ => &mut self.random,
        }
    }

    /// The task in `slot` became ready; `task` says more of it, to whoever asks.
    #[inline]
    pub(crate) fn ready(&mut self, slot: u32, task: impl FnOnce() -> Ready) {
        if self.kind == Kind::Random {
            return self.random.push(slot);
        }
        self.current().ready(task());
    }

    /// The walk picks, whatever the moment.
    #[inline]
    pub(crate) fn is_random(&self) -> bool {
        self.kind == Kind::Random
    }

    /// What [`Policy::ready`] does where [`Policy::is_random`].
    #[inline]
    pub(crate) fn push(&mut self, slot: u32) {
        self.random.push(slot);
    }

    /// What [`Policy::pick`] does where [`Policy::is_random`].
    #[inline]
    pub(crate) fn pick_at_random(&mut self) -> Option<u32> {
        self.random.take()
    }

    /// What [`Policy::push`] and then [`Policy::pick_at_random`] do.
    #[inline]
    pub(crate) fn exchange_at_random(&mut self, slot: u32) -> u32 {
        self.random.exchange(slot)
    }

    pub(crate) fn pick(&mut self, at: Pick) -> Option<u32> {
        self.current().pick(at)
    }

    #[inline]
    pub(crate) fn preempt_after(&mut self) -> Option<u32> {
        self.current().preempt_after()
    }

    pub(crate) fn remove(&mut self, slot: u32) {
        self.current().remove(slot);
    }

    /// Is nobody ready?
    pub(crate) fn is_empty(&mut self) -> bool {
        self.current().is_empty()
    }

    #[cfg(test)]
    pub(crate) fn len(&mut self) -> usize {
        self.current().len()
    }

    pub(crate) fn default_pick(&mut self, at: Pick) -> Option<u32> {
        self.current().default_pick(at)
    }
}

#[cfg(test)]
mod tests;
