//! The part of a run that led to its failure.
//!
//! Owns: who is an actor, and the walk back from the failure along what happened before: the same
//! task, the same object, a message and its sender. A note is of the task that was running, else of
//! its node. Invariant: a pure function of the trace; what is left out cannot have influenced the
//! failure, but for picks of the scheduler.

use std::collections::BTreeSet;

use detsim_executor::event::{Event, Moment, NetEvent};
use detsim_executor::trace::Tables;
use detsim_executor::{NodeId, TaskNumber, Trace};

/// Whom a column is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Actor {
    Task(TaskNumber),
    Node(NodeId),
}

/// To whom an event happened, where the event itself says so.
fn actor(tables: &Tables, event: &Event) -> Option<Actor> {
    match tables.task_at(event) {
        Some(task) => Some(Actor::Task(task)),
        None => tables.node_at(event).map(Actor::Node),
    }
}

/// An event that led to the failure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link<'a> {
    pub(crate) moment: &'a Moment,
    pub(crate) who: Option<Actor>,
}

/// The events that led to the end of the run, in their order, and those who failed: the `blamed`
/// tasks, where there are any.
pub(crate) fn slice<'a>(trace: &'a Trace, blamed: &[u32]) -> (Vec<Link<'a>>, BTreeSet<Actor>) {
    let failing = match blamed {
        [] => failing(trace),
        _ => blamed.iter().map(|number| Actor::Task(TaskNumber(*number))).collect(),
    };
    let mut past = Past { actors: failing.clone(), ..Past::default() };
    let links = links(trace);
    let mut kept: Vec<Link<'a>> = links.into_iter().rev().filter(|link| past.takes(link)).collect();
    kept.reverse();
    (kept, failing)
}

/// All events, each with whom it happened to.
fn links(trace: &Trace) -> Vec<Link<'_>> {
    let mut running = None;
    let mut who = |&Moment { step, event, .. }: &Moment| {
        if let Event::Stepped { task } = event {
            running = Some((step, task));
        }
        match (event, running) {
            (Event::Noted { .. }, Some((since, task))) if since == step => Some(Actor::Task(task)),
            _ => actor(&trace.tables, &event),
        }
    };
    trace.moments.iter().map(|moment| Link { moment, who: who(moment) }).collect()
}

/// Those who panicked; else those who wait at the end; else the nodes of a network; else those to
/// whom something happened last.
fn failing(trace: &Trace) -> BTreeSet<Actor> {
    let panicked = trace.moments.iter().filter_map(|moment| match moment.event {
        Event::Panicked { task, .. } => Some(Actor::Task(task)),
        _ => None,
    });
    let panicked: BTreeSet<Actor> = panicked.collect();
    if !panicked.is_empty() {
        return panicked;
    }
    let mut waiting = BTreeSet::new();
    for moment in &trace.moments {
        match moment.event {
            Event::Blocked { task, .. } => drop(waiting.insert(Actor::Task(task))),
            Event::Stepped { task } => drop(waiting.remove(&Actor::Task(task))),
            _ => {}
        }
    }
    if !waiting.is_empty() {
        return waiting;
    }
    let nodes = trace.moments.iter().filter_map(|moment| match moment.event {
        Event::Net(event) => event.node().map(Actor::Node),
        _ => None,
    });
    let nodes: BTreeSet<Actor> = nodes.collect();
    if !nodes.is_empty() {
        return nodes;
    }
    const LAST: usize = 8;
    let last = trace.moments.iter().rev().take(LAST);
    last.filter_map(|moment| actor(&trace.tables, &moment.event)).collect()
}

/// What the failure depends on, while walking back.
#[derive(Default)]
struct Past {
    actors: BTreeSet<Actor>,
    objects: BTreeSet<u32>,
    messages: BTreeSet<u32>,
}

impl Past {
    /// Is this event part of it?
    fn takes(&mut self, link: &Link<'_>) -> bool {
        let is_known = link.who.is_some_and(|who| self.actors.contains(&who));
        match link.moment.event {
            Event::Stepped { .. } | Event::Called { .. } => false,
            Event::Chose { .. } | Event::Node { .. } => true,
            Event::Noted { .. } => is_known || !matches!(link.who, Some(Actor::Task(_))),
            Event::Aborted { .. } => {
                self.actors.extend(link.who);
                true
            }
            Event::Operated { object, .. } => {
                let takes = is_known || self.objects.contains(&object.0);
                if takes {
                    self.objects.insert(object.0);
                    self.actors.extend(link.who);
                }
                takes
            }
            Event::Net(event) => self.takes_net(&event, is_known),
            _ => is_known,
        }
    }

    fn takes_net(&mut self, event: &NetEvent, is_known: bool) -> bool {
        match *event {
            NetEvent::Delivered { message, .. } => {
                if is_known {
                    self.messages.insert(message);
                }
                is_known
            }
            NetEvent::Sent { message, from, .. } => {
                let takes = self.messages.contains(&message);
                if takes {
                    self.actors.insert(Actor::Node(from));
                }
                takes
            }
            NetEvent::Packet { .. } => false,
            NetEvent::Dropped { from, to, .. } => {
                self.actors.contains(&Actor::Node(from)) || self.actors.contains(&Actor::Node(to))
            }
            _ => true,
        }
    }
}
