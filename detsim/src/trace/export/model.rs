//! What spans more than one event: messages, waits, and what was down or cut.
//!
//! Owns: which event ends what another one began. Does not own: how that is drawn. Invariants:
//! places are places of events of the trace, and a start is never after its end.

use std::collections::BTreeMap;

use detsim_executor::Trace;
use detsim_executor::event::{Event, NetEvent, NodeChange, NodeId, SetId, TaskNumber};

/// From the place of one event to that of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span<T> {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) what: T,
}

/// A message that arrived or was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Message {
    pub(super) number: u32,
    pub(super) from: NodeId,
    pub(super) to: NodeId,
    pub(super) arrived: bool,
}

/// A node that is down or paused; links that are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    Node(NodeId, NodeChange),
    Cut(SetId, SetId),
}

/// The spans of a trace, in the order of their ends.
#[derive(Debug, Default)]
pub(super) struct Model {
    pub(super) messages: Vec<Span<Message>>,
    pub(super) waits: Vec<Span<TaskNumber>>,
    pub(super) faults: Vec<Span<Fault>>,
    sent: BTreeMap<(u32, NodeId, NodeId), usize>,
    waiting: BTreeMap<TaskNumber, usize>,
    stopped: BTreeMap<NodeId, (usize, NodeChange)>,
    cut: Vec<(usize, SetId, SetId)>,
}

impl Model {
    pub(super) fn of(trace: &Trace) -> Self {
        let mut model = Self::default();
        for (place, moment) in trace.moments.iter().enumerate() {
            model.event(trace, place, &moment.event);
        }
        let end = trace.moments.len().saturating_sub(1);
        for (task, start) in std::mem::take(&mut model.waiting) {
            model.waits.push(Span { start, end, what: task });
        }
        for (node, (start, change)) in std::mem::take(&mut model.stopped) {
            model.faults.push(Span { start, end, what: Fault::Node(node, change) });
        }
        for (start, from, to) in std::mem::take(&mut model.cut) {
            model.faults.push(Span { start, end, what: Fault::Cut(from, to) });
        }
        model
    }

    fn event(&mut self, trace: &Trace, place: usize, event: &Event) {
        match *event {
            Event::Blocked { task, .. } => {
                self.waiting.entry(task).or_insert(place);
            }
            Event::Stepped { task } | Event::Aborted { task } | Event::Finished { task } => {
                if let Some(start) = self.waiting.remove(&task) {
                    self.waits.push(Span { start, end: place, what: task });
                }
            }
            Event::Net(event) => self.net(trace, place, &event),
            Event::Node { node, change } => self.node(place, node, change),
            _ => {}
        }
    }

    fn net(&mut self, trace: &Trace, place: usize, event: &NetEvent) {
        match *event {
            NetEvent::Sent { message, from, to, .. } => {
                self.sent.insert((message, from, to), place);
            }
            NetEvent::Delivered { message, from, to } => {
                self.arrive(place, Message { number: message, from, to, arrived: true });
            }
            NetEvent::Dropped { message, from, to, .. } => {
                self.arrive(place, Message { number: message, from, to, arrived: false });
            }
            NetEvent::Partitioned { from, to, .. } => self.cut.push((place, from, to)),
            NetEvent::Healed { from, to } => self.heal(trace, place, from, to),
            NetEvent::Duplicated { .. }
            | NetEvent::Held { .. }
            | NetEvent::Lagged { .. }
            | NetEvent::LookupFailed { .. }
            | NetEvent::LookupFaulted { .. }
            | NetEvent::Packet { .. }
            | NetEvent::Reset { .. }
            | NetEvent::Shortened { .. }
            | NetEvent::Slowed { .. } => {}
        }
    }

    /// A message may come twice, so that it stays known.
    fn arrive(&mut self, place: usize, message: Message) {
        let sent = self.sent.get(&(message.number, message.from, message.to));
        if let Some(&start) = sent {
            self.messages.push(Span { start, end: place, what: message });
        }
    }

    /// Ends the cuts whose links are all among those healed.
    fn heal(&mut self, trace: &Trace, place: usize, from: SetId, to: SetId) {
        let set = |id| trace.tables.set(id);
        let within = |part: SetId, whole: SetId| set(part).iter().all(|n| set(whole).contains(n));
        let faults = &mut self.faults;
        self.cut.retain(|&(start, cut_from, cut_to)| {
            let healed = within(cut_from, from) && within(cut_to, to);
            if healed {
                faults.push(Span { start, end: place, what: Fault::Cut(cut_from, cut_to) });
            }
            !healed
        });
    }

    fn node(&mut self, place: usize, node: NodeId, change: NodeChange) {
        if let Some((start, before)) = self.stopped.remove(&node) {
            self.faults.push(Span { start, end: place, what: Fault::Node(node, before) });
        }
        match change {
            NodeChange::Crashed | NodeChange::Killed | NodeChange::Paused => {
                self.stopped.insert(node, (place, change));
            }
            NodeChange::Restarted | NodeChange::Resumed => {}
        }
    }
}
