//! What happened: one closed enum of plain data.
//!
//! Owns: [`Event`], the payloads of network and disk, and a line of text for each. Does not own:
//! when an event is kept (that is [`crate::trace`]). Whoever adds an event also adds its line
//! here; a match elsewhere that forgets it does not compile. No address, wall time or absolute
//! path is ever part of an event.

#![expect(missing_docs, reason = "variants are documented; their fields are what they are called")]

use crate::SimTime;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The number of a task: the how manieth that this run spawned.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct TaskNumber(pub u32);

/// The number of a node; 0 is the simulation itself.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct NodeId(pub u16);

impl NodeId {
    /// The node of whatever belongs to no node.
    pub const NONE: Self = Self(0);
}

/// An event with its moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moment {
    /// Virtual time.
    pub at: SimTime,
    /// The step (poll, callback or delivery) during which it happened.
    pub step: u64,
    /// What.
    pub event: Event,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// A task was aborted.
    Aborted { task: TaskNumber },
    /// A task waits.
    Blocked { task: TaskNumber, op: String, resource: String, site: String },
    /// A callback of the scenario ran.
    Called { site: String },
    /// Something of a disk.
    Disk(DiskEvent),
    /// A task ran to its end.
    Finished { task: TaskNumber },
    /// Something of the network.
    Net(NetEvent),
    /// A node was crashed, killed, restarted, paused or resumed.
    Node { node: NodeId, change: NodeChange },
    /// A line of the program under test.
    Noted { node: NodeId, text: String },
    /// A task did something with a shared object.
    Operated { task: TaskNumber, op: String, object: String },
    /// A task panicked.
    Panicked { task: TaskNumber, message: String },
    /// A task was stopped right before an operation.
    Preempted { task: TaskNumber, op: String },
    /// A task was spawned.
    Spawned { task: TaskNumber, node: NodeId, name: String, site: String },
    /// A task was polled.
    Stepped { task: TaskNumber },
}

/// What can happen to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NodeChange {
    /// Lost its power: tasks and whatever was not durable are gone.
    Crashed,
    /// Its process died: tasks are gone.
    Killed,
    /// Nothing of it runs, time goes on.
    Paused,
    /// Came up again.
    Restarted,
    /// Runs again.
    Resumed,
}

/// What can happen on the network. Messages are numbered in the order they were sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NetEvent {
    /// A message arrived.
    Delivered { message: u64, from: NodeId, to: NodeId },
    /// A message is lost.
    Dropped { message: u64, from: NodeId, to: NodeId, why: DropReason },
    /// A message will arrive twice.
    Duplicated { message: u64, from: NodeId, to: NodeId },
    /// Links were healed.
    Healed { from: Vec<NodeId>, to: Vec<NodeId> },
    /// A message is held back until the link opens and the receiver runs.
    Held { message: u64, from: NodeId, to: NodeId },
    /// Links were cut.
    Partitioned { from: Vec<NodeId>, to: Vec<NodeId>, holds: bool },
    /// A message was sent.
    Sent { message: u64, from: NodeId, to: NodeId, latency_ns: u64 },
}

/// Why a message was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DropReason {
    /// The link drops at this rate, when the message was sent.
    LossAtSend,
    /// The link drops at this rate, when the message was to arrive.
    LossAtDelivery,
    /// The receiver has no handler, or is down.
    NoReceiver,
    /// The sender is down: a destructor of its tasks sent it.
    NoSender,
    /// The link is cut.
    Partition,
}

/// What can happen to a disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DiskEvent {
    /// A byte went to the medium wrong.
    Corrupted { node: NodeId, offset: u64 },
    /// Power was lost: sectors that survived, were lost, were torn.
    Crashed { node: NodeId, survived: u32, lost: u32, torn: u32 },
    /// A write was refused, the disk being full.
    Full { node: NodeId, offset: u64, len: u64 },
    /// A sync reported success and made nothing durable.
    SyncSkipped { node: NodeId },
    /// A sync made the pending writes durable.
    Synced { node: NodeId, sectors: u32 },
    /// Bytes were written.
    Wrote { node: NodeId, offset: u64, len: u64 },
}

impl fmt::Display for TaskNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "task {}", self.0)
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "n{}", self.0)
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>14} {:>8}  {}", self.at.to_string(), self.step, self.event)
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Aborted { task } => write!(f, "{task} is aborted"),
            Self::Blocked { task, op, resource, site } => {
                write!(f, "{task} waits: {op} on {resource} at {site}")
            }
            Self::Called { site } => write!(f, "callback of {site}"),
            Self::Disk(event) => event.fmt(f),
            Self::Finished { task } => write!(f, "{task} ends"),
            Self::Net(event) => event.fmt(f),
            Self::Node { node, change } => write!(f, "{node} {}", change.verb()),
            Self::Noted { node, text } => write!(f, "{node} notes: {text}"),
            Self::Operated { task, op, object } => write!(f, "{task} does {op} on {object}"),
            Self::Panicked { task, message } => write!(f, "{task} panics: {message}"),
            Self::Preempted { task, op } => write!(f, "{task} is held before {op}"),
            Self::Spawned { task, node, name, site } => {
                write!(f, "{task} \"{name}\" is spawned on {node} at {site}")
            }
            Self::Stepped { task } => write!(f, "{task} runs"),
        }
    }
}

impl NodeChange {
    fn verb(self) -> &'static str {
        match self {
            Self::Crashed => "crashes",
            Self::Killed => "is killed",
            Self::Paused => "pauses",
            Self::Restarted => "restarts",
            Self::Resumed => "resumes",
        }
    }
}

impl fmt::Display for NetEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Delivered { message, from, to } => {
                write!(f, "{from} -> {to} message {message} arrives")
            }
            Self::Dropped { message, from, to, why } => {
                write!(f, "{from} -> {to} message {message} is lost ({})", why.words())
            }
            Self::Duplicated { message, from, to } => {
                write!(f, "{from} -> {to} message {message} will arrive twice")
            }
            Self::Healed { from, to } => write!(f, "heal {} -> {}", Set(from), Set(to)),
            Self::Held { message, from, to } => {
                write!(f, "{from} -> {to} message {message} is held back")
            }
            Self::Partitioned { from, to, holds } => {
                let rule = if *holds { "holds" } else { "drops" };
                write!(f, "partition {} -> {} ({rule})", Set(from), Set(to))
            }
            Self::Sent { message, from, to, latency_ns } => {
                write!(f, "{from} -> {to} message {message} leaves, {latency_ns} ns")
            }
        }
    }
}

impl DropReason {
    fn words(self) -> &'static str {
        match self {
            Self::LossAtSend => "loss when sent",
            Self::LossAtDelivery => "loss on arrival",
            Self::NoReceiver => "nobody listens",
            Self::NoSender => "the sender is down",
            Self::Partition => "partition",
        }
    }
}

impl fmt::Display for DiskEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Corrupted { node, offset } => {
                write!(f, "{node} disk: byte {offset} goes to the medium wrong")
            }
            Self::Crashed { node, survived, lost, torn } => write!(
                f,
                "{node} disk loses power: {survived} sectors survive, {lost} lost, {torn} torn"
            ),
            Self::Full { node, offset, len } => {
                write!(f, "{node} disk: no room for {len} bytes at {offset}")
            }
            Self::SyncSkipped { node } => write!(f, "{node} disk: sync skipped, reported as done"),
            Self::Synced { node, sectors } => write!(f, "{node} disk: {sectors} sectors durable"),
            Self::Wrote { node, offset, len } => {
                write!(f, "{node} disk: {len} bytes at {offset}")
            }
        }
    }
}

/// `{n1 n2}`, or just `n1`.
struct Set<'a>(&'a [NodeId]);

impl fmt::Display for Set<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [one] = self.0 {
            return one.fmt(f);
        }
        let names: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        write!(f, "{{{}}}", names.join(" "))
    }
}
