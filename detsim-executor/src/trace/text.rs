//! A line of text for each event, with everything named.
//!
//! Owns: the words. Does not own: columns, colours and files. Invariants: pure functions of a trace;
//! total: whatever the numbers of an event are, there is a text for it.

use super::{DOMAIN_PICK, DOMAIN_STOP, Tables};
use crate::event::{
    ChoiceId, DiskEvent, DiskFault, DropReason, Event, Moment, NetEvent, NodeChange, NodeId,
    ObjectId, PacketKind, SetId, TaskNumber,
};
use std::fmt;

/// See [`super::Trace::line`].
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    pub(super) tables: &'a Tables,
    pub(super) moment: &'a Moment,
}

/// See [`Tables::predicate`].
#[derive(Clone, Copy, Debug)]
pub struct Predicate<'a> {
    pub(super) tables: &'a Tables,
    pub(super) event: &'a Event,
}

/// See [`Tables::task_shown`].
#[derive(Clone, Copy, Debug)]
pub struct TaskShown<'a> {
    pub(super) tables: &'a Tables,
    pub(super) task: TaskNumber,
}

/// See [`Tables::node_shown`].
#[derive(Clone, Copy, Debug)]
pub struct NodeShown<'a> {
    pub(super) tables: &'a Tables,
    pub(super) node: NodeId,
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tables, moment } = *self;
        write!(f, "{:>14} {:>8}  ", moment.at.to_string(), moment.step)?;
        let event = &moment.event;
        if let Some(task) = tables.task_at(event) {
            write!(f, "{} ", tables.task_shown(task))?;
        } else if let Event::Node { node, .. } | Event::Noted { node, .. } = event {
            write!(f, "{} ", tables.node_shown(*node))?;
        } else if let Event::Disk(event) = event {
            write!(f, "{} ", tables.node_shown(event.node()))?;
        }
        tables.predicate(event).fmt(f)
    }
}

impl fmt::Display for TaskShown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.tables.task(self.task).map_or("", |task| self.tables.text(task.name));
        match name {
            "" => self.task.fmt(f),
            name => write!(f, "{} \"{name}\"", self.task),
        }
    }
}

impl fmt::Display for NodeShown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.tables.nodes.get(usize::from(self.node.0)) {
            Some(name) => f.pad(self.tables.text(*name)),
            None => self.node.fmt(f),
        }
    }
}

impl fmt::Display for Predicate<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tables = self.tables;
        match *self.event {
            Event::Aborted { .. } => f.write_str("is aborted"),
            Event::Blocked { op, object, site, .. } => {
                let (op, object, site) = (op.word(), self.object(object), tables.text(site));
                write!(f, "waits: {op} on {object} at {site}")
            }
            Event::Called { site } => write!(f, "callback of {}", tables.text(site)),
            Event::Chose { choice } => self.choice(f, choice),
            Event::Disk(event) => disk(f, &event),
            Event::Finished { .. } => f.write_str("ends"),
            Event::Net(event) => self.net(f, &event),
            Event::Node { change, .. } => f.write_str(change.verb()),
            Event::Noted { text, .. } => write!(f, "notes: {}", tables.text(text)),
            Event::Operated { op, object, .. } => {
                write!(f, "does {} on {}", op.word(), self.object(object))
            }
            Event::Panicked { message, .. } => write!(f, "panics: {}", tables.text(message)),
            Event::Preempted { op, object, .. } => {
                write!(f, "is held before {} on {}", op.word(), self.object(object))
            }
            Event::Spawned { task } => match tables.task(task) {
                Some(task) => {
                    let (node, site) = (tables.node_shown(task.node), tables.text(task.site));
                    write!(f, "is spawned on {node} at {site}")
                }
                None => f.write_str("is spawned"),
            },
            Event::Stepped { .. } => f.write_str("runs"),
        }
    }
}

impl<'a> Predicate<'a> {
    fn object(&self, object: ObjectId) -> ObjectShown<'a> {
        ObjectShown { tables: self.tables, object }
    }

    fn set(&self, set: SetId) -> SetShown<'a> {
        SetShown { tables: self.tables, nodes: self.tables.set(set) }
    }

    fn choice(&self, f: &mut fmt::Formatter<'_>, choice: ChoiceId) -> fmt::Result {
        let tables = self.tables;
        let Some(chosen) = tables.choice(choice) else { return f.write_str("is chosen") };
        let choice = chosen.choice;
        match tables.text(chosen.domain) {
            DOMAIN_PICK => match tables.task_of(choice.default) {
                Some(task) => write!(f, "is picked instead of {}", tables.task_shown(task)),
                None => f.write_str("is picked"),
            },
            DOMAIN_STOP => {
                write!(f, "is chosen to be held before its operation {}", choice.anchor.ordinal)
            }
            domain => write!(f, "{domain} draws {} instead of {}", choice.picked, choice.default),
        }
    }

    fn net(&self, f: &mut fmt::Formatter<'_>, event: &NetEvent) -> fmt::Result {
        if let Some((from, to)) = event.link() {
            let (from, to) = (self.tables.node_shown(from), self.tables.node_shown(to));
            write!(f, "{from} -> {to} ")?;
        }
        match *event {
            NetEvent::Delivered { message, .. } => write!(f, "message {message} arrives"),
            NetEvent::Dropped { message, why, .. } => {
                write!(f, "message {message} is lost ({})", why.words())
            }
            NetEvent::Duplicated { message, .. } => {
                write!(f, "message {message} will arrive twice")
            }
            NetEvent::Healed { from, to } => {
                write!(f, "heal {} -> {}", self.set(from), self.set(to))
            }
            NetEvent::Held { message, .. } => write!(f, "message {message} is held back"),
            NetEvent::Lagged { message, .. } => write!(f, "message {message} lags"),
            NetEvent::LookupFailed { .. } => write!(f, "a name is not resolved for now"),
            NetEvent::LookupFaulted { fault, .. } => write!(f, "a name {}", fault.words()),
            NetEvent::Reset { at, .. } => {
                write!(f, "a connection is reset at {}", self.tables.node_shown(at))
            }
            NetEvent::Partitioned { from, to, holds } => {
                let rule = if holds { "holds" } else { "drops" };
                write!(f, "partition {} -> {} ({rule})", self.set(from), self.set(to))
            }
            NetEvent::Packet { message, source, target, seq, bytes, kind } => {
                let (from, to) = (self.tables.text(source), self.tables.text(target));
                write!(f, "message {message} is {} {from} -> {to}", kind.word())?;
                match kind {
                    PacketKind::Data => write!(f, ", {bytes} bytes from {seq} on"),
                    PacketKind::Datagram => write!(f, ", {bytes} bytes"),
                    _ => Ok(()),
                }
            }
            NetEvent::Shortened { bytes, .. } => {
                write!(f, "a read or write is cut short, to {bytes} bytes")
            }
            NetEvent::Slowed { from, to, factor } => {
                write!(f, "slow {} -> {} ({factor} times)", self.set(from), self.set(to))
            }
            NetEvent::Sent { message, latency_ns, .. } => {
                write!(f, "message {message} leaves, {latency_ns} ns")
            }
        }
    }
}

fn said(fault: DiskFault) -> &'static str {
    match fault {
        DiskFault::BitRot => "a bit of what was read had changed",
        DiskFault::Interrupted => "a call was interrupted",
        DiskFault::LostSync => "a sync did nothing, reported as done",
        DiskFault::LostWrite => "a write did nothing, reported as done",
        DiskFault::MisdirectedWrite => "a write went elsewhere in its file",
        DiskFault::ReadError => "a read failed",
        DiskFault::ShortRead => "a read was short",
        DiskFault::ShortWrite => "a write was short",
        DiskFault::Stall => "a call stalled",
        DiskFault::StaleRead => "a read gave old bytes",
        DiskFault::SyncError => "a sync failed, and its data is lost",
        DiskFault::WriteError => "a write failed",
    }
}

fn disk(f: &mut fmt::Formatter<'_>, event: &DiskEvent) -> fmt::Result {
    match *event {
        DiskEvent::Corrupted { offset, .. } => {
            write!(f, "disk: byte {offset} goes to the medium wrong")
        }
        DiskEvent::Crashed { survived, lost, torn, .. } => {
            write!(f, "disk loses power: {survived} sectors survive, {lost} lost, {torn} torn")
        }
        DiskEvent::Faulted { fault, .. } => write!(f, "disk: {}", said(fault)),
        DiskEvent::Full { offset, len, .. } => {
            write!(f, "disk: no room for {len} bytes at {offset}")
        }
        DiskEvent::SyncSkipped { .. } => f.write_str("disk: sync skipped, reported as done"),
        DiskEvent::Synced { sectors, .. } => write!(f, "disk: {sectors} sectors durable"),
        DiskEvent::Wrote { offset, len, .. } => write!(f, "disk: {len} bytes at {offset}"),
    }
}

impl NodeChange {
    /// The verb of reports.
    pub fn verb(self) -> &'static str {
        match self {
            Self::Crashed => "crashes",
            Self::Killed => "is killed",
            Self::Paused => "pauses",
            Self::Restarted => "restarts",
            Self::Resumed => "resumes",
        }
    }
}

impl DropReason {
    /// The words of reports.
    pub fn words(self) -> &'static str {
        match self {
            Self::LossAtSend => "loss when sent",
            Self::LossAtDelivery => "loss on arrival",
            Self::NoReceiver => "nobody listens",
            Self::NoSender => "the sender is down",
            Self::Partition => "partition",
            Self::Rule => "a rule of the scenario",
            Self::Overflow => "the receiver's queue is full",
        }
    }
}

/// `Mutex of src/pool.rs:88`.
struct ObjectShown<'a> {
    tables: &'a Tables,
    object: ObjectId,
}

impl fmt::Display for ObjectShown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.tables.object(self.object) {
            Some(object) => {
                write!(f, "{} of {}", object.kind.word(), self.tables.text(object.site))
            }
            None => f.write_str("?"),
        }
    }
}

/// `{n1 n2}`, or just `n1`.
struct SetShown<'a> {
    tables: &'a Tables,
    nodes: &'a [NodeId],
}

impl fmt::Display for SetShown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [one] = self.nodes {
            return self.tables.node_shown(*one).fmt(f);
        }
        for (index, node) in self.nodes.iter().enumerate() {
            let before = if index == 0 { "{" } else { " " };
            write!(f, "{before}{}", self.tables.node_shown(*node))?;
        }
        f.write_str(if self.nodes.is_empty() { "{}" } else { "}" })
    }
}
