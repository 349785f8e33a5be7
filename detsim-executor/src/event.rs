//! What happened: one closed enum of small, plain data.
//!
//! Owns: [`Event`], the payloads of network and disk, and the numbers by which they name things.
//! Does not own: the things themselves (the tables of a [`crate::trace::Trace`]), their text
//! (`trace/text.rs`), or when an event is kept (the recorder). Whoever adds an event also adds its
//! text; a match elsewhere that forgets it does not compile. Invariants: no address, wall time or
//! absolute path is ever part of an event; a [`Moment`] takes at most 32 bytes of memory.

#![expect(missing_docs, reason = "variants are documented; their fields are what they are called")]

use crate::SimTime;
use crate::block::OpKind;
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

/// A text of the trace: a name, a place in the source, a message; 0 is the empty one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TextId(pub u32);

/// A shared object of the trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ObjectId(pub u32);

/// A set of nodes of the trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SetId(pub u32);

/// A choice of the trace that was not the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ChoiceId(pub u32);

/// A number of 64 bits that keeps the alignment of one of 32, so that an event stays small.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[repr(Rust, packed(4))]
pub struct Wide(u64);

impl Wide {
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    pub const fn get(self) -> u64 {
        self.0
    }
}

/// An event with its moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moment {
    /// Virtual time.
    pub at: SimTime,
    /// The step (poll, callback or delivery) during which it happened. A run that is recorded
    /// keeps at least one event a step, so that 32 bits outlast its memory.
    pub step: u32,
    /// What.
    pub event: Event,
}

const _: () = assert!(size_of::<Moment>() <= 32);

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// A task was aborted.
    Aborted { task: TaskNumber },
    /// A task waits.
    Blocked { task: TaskNumber, op: OpKind, object: ObjectId, site: TextId },
    /// A callback of the scenario ran.
    Called { site: TextId },
    /// A choice was not the default. Comes right before what it brought about.
    Chose { choice: ChoiceId },
    /// Something of a disk.
    Disk(DiskEvent),
    /// A task ran to its end.
    Finished { task: TaskNumber },
    /// Something of the network.
    Net(NetEvent),
    /// A node was crashed, killed, restarted, paused or resumed.
    Node { node: NodeId, change: NodeChange },
    /// A line of the program under test.
    Noted { node: NodeId, text: TextId },
    /// A task did something with a shared object.
    Operated { task: TaskNumber, op: OpKind, object: ObjectId },
    /// A task panicked.
    Panicked { task: TaskNumber, message: TextId },
    /// A task was stopped right before an operation.
    Preempted { task: TaskNumber, op: OpKind, object: ObjectId },
    /// A task was spawned; the table of tasks says what it is.
    Spawned { task: TaskNumber },
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NetEvent {
    /// A message arrived.
    Delivered { message: u32, from: NodeId, to: NodeId },
    /// A message is lost.
    Dropped { message: u32, from: NodeId, to: NodeId, why: DropReason },
    /// A message will arrive twice.
    Duplicated { message: u32, from: NodeId, to: NodeId },
    /// Links were healed.
    Healed { from: SetId, to: SetId },
    /// A message is held back until the link opens and the receiver runs.
    Held { message: u32, from: NodeId, to: NodeId },
    /// Links were cut.
    Partitioned { from: SetId, to: SetId, holds: bool },
    /// A message was sent.
    Sent { message: u32, from: NodeId, to: NodeId, latency_ns: Wide },
    /// A fault reset a connection at one end; `by` is who wrote to it.
    Reset { by: NodeId, at: NodeId },
    // Numbers are part of the format of traces: whatever is new stands at the end.
    /// A message takes much longer than others: the tail of the latency.
    Lagged { message: u32, from: NodeId, to: NodeId },
    /// A name could not be resolved for now.
    LookupFailed { node: NodeId },
    /// A read or a write was given less than it could have been.
    Shortened { node: NodeId, bytes: Wide },
    /// Links take this many times as long.
    Slowed { from: SetId, to: SetId, factor: u32 },
    /// What a message that was just sent is for the sockets: between which addresses, and, of a
    /// connection, from which byte on, the first one being 1.
    Packet { message: u32, source: TextId, target: TextId, seq: u32, bytes: u16, kind: PacketKind },
    /// A lookup of a name is answered as it should not be.
    LookupFaulted { node: NodeId, fault: LookupFault },
}

/// What can be wrong with the answer of a resolver that answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum LookupFault {
    /// It takes long.
    Lagged,
    /// The addresses come in another order.
    Reordered,
    /// The addresses are those from before the last change.
    Stale,
}

impl LookupFault {
    /// The words of reports.
    pub fn words(self) -> &'static str {
        match self {
            Self::Lagged => "takes long",
            Self::Reordered => "is answered in another order",
            Self::Stale => "is answered with old addresses",
        }
    }
}

/// What a packet between sockets is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum PacketKind {
    /// Asks for a connection.
    Syn,
    /// Answers that.
    SynAck,
    /// Completes a connection, or asks whether the peer is there.
    Ack,
    /// Carries bytes of a connection.
    Data,
    /// Says that no more bytes will come.
    Fin,
    /// Says that there is no such connection.
    Reset,
    /// Stands for itself.
    Datagram,
    /// Says that nobody has the port of a datagram.
    Unreachable,
}

impl PacketKind {
    /// The word of reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Syn => "SYN",
            Self::SynAck => "SYN+ACK",
            Self::Ack => "ACK",
            Self::Data => "data",
            Self::Fin => "FIN",
            Self::Reset => "RST",
            Self::Datagram => "datagram",
            Self::Unreachable => "port unreachable",
        }
    }
}

/// Why a message was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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
    /// A rule of the scenario says so.
    Rule,
    /// The receiver's queue is full.
    Overflow,
}

/// What can happen to a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum DiskEvent {
    /// A byte went to the medium wrong.
    Corrupted { node: NodeId, offset: Wide },
    /// Power was lost: sectors that survived, were lost, were torn.
    Crashed { node: NodeId, survived: u32, lost: u32, torn: u32 },
    /// A write was refused, the disk being full.
    Full { node: NodeId, offset: Wide, len: u32 },
    /// A sync reported success and made nothing durable.
    SyncSkipped { node: NodeId },
    /// A sync made the pending writes durable.
    Synced { node: NodeId, sectors: u32 },
    /// Bytes were written.
    Wrote { node: NodeId, offset: Wide, len: u32 },
    // Numbers are part of the format of traces: whatever is new stands at the end.
    /// An injected fault had an effect.
    Faulted { node: NodeId, fault: DiskFault },
}

/// A fault of a file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum DiskFault {
    /// A bit of what was read had changed on the medium.
    BitRot,
    /// A call was interrupted by a signal.
    Interrupted,
    /// A sync reported success and made nothing durable.
    LostSync,
    /// A write reported success and wrote nothing.
    LostWrite,
    /// A write went to another place of its file.
    MisdirectedWrite,
    /// A sector could not be read.
    ReadError,
    /// A read gave less than it could have.
    ShortRead,
    /// A write took less than it could have.
    ShortWrite,
    /// A call took much longer than others.
    Stall,
    /// A read gave what had been there before the last write.
    StaleRead,
    /// A sync failed, and what it was to write is lost.
    SyncError,
    /// A write failed.
    WriteError,
}

impl DiskFault {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::BitRot,
        Self::Interrupted,
        Self::LostSync,
        Self::LostWrite,
        Self::MisdirectedWrite,
        Self::ReadError,
        Self::ShortRead,
        Self::ShortWrite,
        Self::Stall,
        Self::StaleRead,
        Self::SyncError,
        Self::WriteError,
    ];

    /// The word of streams and exports.
    pub fn word(self) -> &'static str {
        match self {
            Self::BitRot => "bit_rot",
            Self::Interrupted => "interrupted",
            Self::LostSync => "lost_sync",
            Self::LostWrite => "lost_write",
            Self::MisdirectedWrite => "misdirected_write",
            Self::ReadError => "read_error",
            Self::ShortRead => "short_read",
            Self::ShortWrite => "short_write",
            Self::Stall => "stall",
            Self::StaleRead => "stale_read",
            Self::SyncError => "sync_error",
            Self::WriteError => "write_error",
        }
    }
}

/// What an event is about, as filters name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EventKind {
    Aborted,
    Blocked,
    Called,
    Chose,
    Disk,
    Finished,
    Net,
    Node,
    Noted,
    Operated,
    Panicked,
    Preempted,
    Spawned,
    Stepped,
}

impl EventKind {
    /// All of them, in the order of their words.
    pub const ALL: [Self; 14] = [
        Self::Aborted,
        Self::Blocked,
        Self::Called,
        Self::Chose,
        Self::Disk,
        Self::Finished,
        Self::Net,
        Self::Node,
        Self::Noted,
        Self::Operated,
        Self::Panicked,
        Self::Preempted,
        Self::Spawned,
        Self::Stepped,
    ];

    /// The word of filters and exports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Aborted => "aborted",
            Self::Blocked => "blocked",
            Self::Called => "called",
            Self::Chose => "chose",
            Self::Disk => "disk",
            Self::Finished => "finished",
            Self::Net => "net",
            Self::Node => "node",
            Self::Noted => "noted",
            Self::Operated => "operated",
            Self::Panicked => "panicked",
            Self::Preempted => "preempted",
            Self::Spawned => "spawned",
            Self::Stepped => "stepped",
        }
    }
}

impl Event {
    /// What it is about.
    pub fn kind(&self) -> EventKind {
        match self {
            Self::Aborted { .. } => EventKind::Aborted,
            Self::Blocked { .. } => EventKind::Blocked,
            Self::Called { .. } => EventKind::Called,
            Self::Chose { .. } => EventKind::Chose,
            Self::Disk(_) => EventKind::Disk,
            Self::Finished { .. } => EventKind::Finished,
            Self::Net(_) => EventKind::Net,
            Self::Node { .. } => EventKind::Node,
            Self::Noted { .. } => EventKind::Noted,
            Self::Operated { .. } => EventKind::Operated,
            Self::Panicked { .. } => EventKind::Panicked,
            Self::Preempted { .. } => EventKind::Preempted,
            Self::Spawned { .. } => EventKind::Spawned,
            Self::Stepped { .. } => EventKind::Stepped,
        }
    }

    /// The task that it happened to, where it is one's.
    pub fn task(&self) -> Option<TaskNumber> {
        match *self {
            Self::Aborted { task }
            | Self::Blocked { task, .. }
            | Self::Finished { task }
            | Self::Operated { task, .. }
            | Self::Panicked { task, .. }
            | Self::Preempted { task, .. }
            | Self::Spawned { task }
            | Self::Stepped { task } => Some(task),
            Self::Called { .. }
            | Self::Chose { .. }
            | Self::Disk(_)
            | Self::Net(_)
            | Self::Node { .. }
            | Self::Noted { .. } => None,
        }
    }
}

impl NetEvent {
    /// The ends of the link, where it is about one message: sender, then receiver.
    pub fn link(&self) -> Option<(NodeId, NodeId)> {
        match *self {
            Self::Delivered { from, to, .. }
            | Self::Dropped { from, to, .. }
            | Self::Duplicated { from, to, .. }
            | Self::Held { from, to, .. }
            | Self::Lagged { from, to, .. }
            | Self::Sent { from, to, .. } => Some((from, to)),
            Self::Healed { .. }
            | Self::LookupFailed { .. }
            | Self::LookupFaulted { .. }
            | Self::Packet { .. }
            | Self::Partitioned { .. }
            | Self::Reset { .. }
            | Self::Shortened { .. }
            | Self::Slowed { .. } => None,
        }
    }

    /// Where it happens: a message leaves at the sender and arrives at the receiver.
    pub fn node(&self) -> Option<NodeId> {
        if let Self::LookupFailed { node }
        | Self::LookupFaulted { node, .. }
        | Self::Shortened { node, .. } = *self
        {
            return Some(node);
        }
        let (from, to) = self.link()?;
        match self {
            Self::Delivered { .. } | Self::Held { .. } => Some(to),
            _ => Some(from),
        }
    }
}

impl DiskEvent {
    /// Whose disk it is.
    pub fn node(&self) -> NodeId {
        match *self {
            Self::Corrupted { node, .. }
            | Self::Crashed { node, .. }
            | Self::Faulted { node, .. }
            | Self::Full { node, .. }
            | Self::SyncSkipped { node }
            | Self::Synced { node, .. }
            | Self::Wrote { node, .. } => node,
        }
    }
}

impl fmt::Debug for Wide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

impl fmt::Display for Wide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
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
