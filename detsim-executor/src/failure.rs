//! Why a run failed: plain data, whose `Display` is the report.
//!
//! Owns: [`Failure`] and its signature. Does not own: how a deadlock is found
//! ([`crate::deadlock`]). Invariants: no address, wall time or absolute path; the signature is made
//! of kind and places, never of numbers, names or messages that differ from seed to seed.

use crate::SimTime;
use crate::block::TaskTag;
use crate::deadlock::{BlockedTask, Deadlock};
use crate::kernel::Kernel;
use crate::site;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::panic::Location;

/// Why a run failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Failure {
    /// Nothing can run, and nothing is on its way.
    Deadlock(Box<Deadlock>),
    /// A bound of the run was reached.
    Limit(Box<LimitReached>),
    /// As a limit of steps, with nothing on its way: tasks keep each other busy for ever.
    Livelock(Box<LimitReached>),
    /// Nothing can run, but a task that waits for something foreign to the simulation would have
    /// gone on, had anybody polled it.
    LostWakeup(Box<Deadlock>),
    /// A panic that no join handle took.
    Panic(Box<Panicked>),
}

/// Where in a run something happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Where {
    /// Virtual time.
    pub at: SimTime,
    /// The step.
    pub step: u64,
    /// The seed of the run.
    pub seed: u64,
}

/// A panic.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Panicked {
    /// When.
    pub place: Where,
    /// The task, as reports name it; a callback or a handler is `the simulation`.
    pub task: String,
    /// The node, where there is one.
    pub node: Option<String>,
    /// Where the task was spawned.
    pub spawned: Option<String>,
    /// The text.
    pub message: String,
    /// What was in the devices, such as a table of sockets.
    pub devices: String,
}

/// A limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitReached {
    /// When.
    pub place: Where,
    /// Which, with its value.
    pub limit: String,
    /// The tasks that were polled most, with their polls.
    pub busiest: Vec<(BlockedTask, u64)>,
    /// What was in the devices, such as a table of sockets.
    pub devices: String,
}

impl Failure {
    /// Kind and place: the same for seeds that fail the same way.
    pub fn signature(&self) -> String {
        match self {
            Self::Deadlock(deadlock) => format!("deadlock {}", deadlock.sites()),
            Self::LostWakeup(deadlock) => format!("lost wakeup {}", deadlock.sites()),
            Self::Limit(limit) => format!("limit {}", masked(&limit.limit)),
            Self::Livelock(limit) => {
                let spawned = limit.busiest.first().map_or("", |(task, _)| task.spawned.as_str());
                format!("livelock {spawned}")
            }
            Self::Panic(panic) => format!("panic {}", masked(&panic.message)),
        }
    }

    /// The verdict, one word or two.
    pub fn verdict(&self) -> &'static str {
        match self {
            Self::Deadlock(_) => "deadlock",
            Self::Limit(_) => "limit",
            Self::Livelock(_) => "livelock",
            Self::LostWakeup(_) => "lost wakeup",
            Self::Panic(_) => "panic",
        }
    }

    pub(crate) fn panicked(kernel: &Kernel, tag: TaskTag, message: String) -> Self {
        let (_, index) = crate::waker::unpack(tag.word);
        let slot = kernel.tasks.get(index).filter(|_| !tag.is_nobody());
        Self::Panic(Box::new(Panicked {
            place: kernel.place(),
            task: kernel.shown_task(tag),
            node: slot.and_then(|slot| kernel.shown_node(slot.node)),
            spawned: slot.map(|_| site::shown(kernel.tasks.cold(index).site)),
            message,
            devices: String::new(),
        }))
    }

    pub(crate) fn too_many_tasks(kernel: &Kernel, site: &'static Location<'static>) -> Self {
        let limit = format!(
            "more than {} tasks alive at once, the last spawned at {}",
            kernel.limits.tasks,
            site::shown(site)
        );
        Self::limit(kernel, limit)
    }

    pub(crate) fn limit(kernel: &Kernel, limit: String) -> Self {
        Self::Limit(Box::new(LimitReached::new(kernel, limit)))
    }

    /// Where the devices of the run are shown; empty before that.
    pub(crate) fn devices_mut(&mut self) -> &mut String {
        match self {
            Self::Deadlock(deadlock) | Self::LostWakeup(deadlock) => &mut deadlock.devices,
            Self::Limit(limit) | Self::Livelock(limit) => &mut limit.devices,
            Self::Panic(panic) => &mut panic.devices,
        }
    }

    pub(crate) fn steps(kernel: &Kernel) -> Self {
        let limit = format!("{} steps", kernel.limits.steps);
        let reached = Box::new(LimitReached::new(kernel, limit));
        match kernel.queue.next() {
            None => Self::Livelock(reached),
            Some(_) => Self::Limit(reached),
        }
    }
}

impl LimitReached {
    fn new(kernel: &Kernel, limit: String) -> Self {
        let (place, busiest) = (kernel.place(), kernel.busiest());
        Self { place, limit, busiest, devices: String::new() }
    }
}

impl Kernel {
    /// Where the run stands.
    pub(crate) fn place(&self) -> Where {
        Where { at: self.now(), step: self.steps(), seed: self.seed() }
    }

    /// `task 17 "apply-loop"`.
    pub(crate) fn shown_task(&self, tag: TaskTag) -> String {
        if tag.is_nobody() {
            return "the simulation".to_owned();
        }
        match self.names.text(tag.name) {
            Some(name) => format!("task {} \"{name}\"", tag.number),
            None => format!("task {}", tag.number),
        }
    }

    pub(crate) fn shown_node(&self, node: crate::event::NodeId) -> Option<String> {
        (node != crate::event::NodeId::NONE).then(|| self.nodes.name(node).to_owned())
    }

    fn busiest(&self) -> Vec<(BlockedTask, u64)> {
        let mut tasks: Vec<(u32, u32)> =
            self.tasks.living().map(|(index, slot)| (slot.polls, index)).collect();
        tasks.sort_unstable_by_key(|(polls, index)| (std::cmp::Reverse(*polls), *index));
        tasks.truncate(5);
        tasks.iter().map(|(polls, index)| (self.blocked_task(*index), u64::from(*polls))).collect()
    }
}

/// Digits as `#`, so that one kind of failure has one signature.
fn masked(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.lines().next().unwrap_or_default().chars() {
        match c {
            '0'..='9' if out.ends_with('#') => {}
            '0'..='9' => out.push('#'),
            c => out.push(c),
        }
    }
    out
}

impl fmt::Display for Where {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at {}, step {}, seed {}", self.at, self.step, self.seed)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Deadlock(deadlock) => {
                writeln!(
                    f,
                    "DEADLOCK {}: {}, no timer or packet pending",
                    deadlock.place,
                    deadlock.count()
                )?;
                deadlock.fmt(f)
            }
            Self::LostWakeup(deadlock) => {
                writeln!(f, "LOST WAKEUP {}: nothing runs, yet a task could", deadlock.place)?;
                deadlock.fmt(f)
            }
            Self::Limit(limit) => {
                writeln!(f, "LIMIT {}: {}", limit.place, limit.limit)?;
                limit.fmt(f)
            }
            Self::Livelock(limit) => {
                let (place, limit_text) = (limit.place, &limit.limit);
                writeln!(f, "LIVELOCK {place}: {limit_text} with no timer or packet pending")?;
                limit.fmt(f)
            }
            Self::Panic(panic) => panic.fmt(f),
        }
    }
}

impl fmt::Display for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PANIC {} in {}", self.place, self.task)?;
        if let Some(node) = &self.node {
            write!(f, " on {node}")?;
        }
        if let Some(spawned) = &self.spawned {
            write!(f, ", spawned at {spawned}")?;
        }
        writeln!(f)?;
        self.message.lines().try_for_each(|line| writeln!(f, "  {line}"))?;
        f.write_str(&self.devices)
    }
}

impl fmt::Display for LimitReached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.busiest.is_empty() {
            writeln!(f, "  no task is alive: callbacks keep the run going")?;
        } else {
            writeln!(f, "  the tasks that ran most:")?;
        }
        self.busiest.iter().try_for_each(|(task, polls)| {
            writeln!(f, "  {:>12} polls  {}, spawned at {}", polls, task.title(), task.spawned)
        })?;
        f.write_str(&self.devices)
    }
}

impl std::error::Error for Failure {}

#[cfg(test)]
mod tests {
    use super::masked;

    #[test]
    fn numbers_do_not_make_a_signature() {
        assert_eq!(
            masked("two leaders in term 17: 3 and 4\nmore"),
            "two leaders in term #: # and #"
        );
    }
}
