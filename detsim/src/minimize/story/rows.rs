//! The rows of the table of what led to a failure: which there are, their words, and which of them
//! are shown where there are too many.
//!
//! Owns: the words of an event in a column, and its weight. Does not own: columns (`table.rs`).
//! Invariants: at most [`ROWS_MAX`] rows are worth showing; decisions come before what the program
//! itself says, and that before all else.

use std::collections::BTreeSet;

use detsim_executor::Trace;
use detsim_executor::event::{DropReason, Event, Moment, NetEvent, ObjectId, SetId};

use super::slice::{Actor, Link};

/// Rows; what is between them is counted.
const ROWS_MAX: usize = 40;
/// Rows of the end that are always shown, and of the beginning.
const LAST: usize = 14;
const FIRST: usize = 3;
/// Rows of the end where the program tells what it does.
const LAST_OF_TOLD: usize = 4;

/// How much a row says of why a run failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Weight {
    /// One of many.
    Plain,
    /// A message that got lost, as a consequence of something else.
    Lost,
    /// A line of the program.
    Told,
    /// A decision or a fault.
    Decided,
}

/// A line of the table.
pub(crate) struct Row<'a> {
    pub(crate) moment: &'a Moment,
    pub(crate) who: Option<Actor>,
    pub(crate) words: String,
    pub(crate) weight: Weight,
}

/// The rows. A choice that a message is about marks the row of the message.
pub(crate) fn rows<'a>(trace: &'a Trace, links: &[Link<'a>]) -> Vec<Row<'a>> {
    let mut rows = Vec::new();
    let mut is_chosen = false;
    for (index, &Link { moment, who }) in links.iter().enumerate() {
        let mut rest = links[index + 1..].iter().map(|link| link.moment.event);
        let next = rest.find(|event| !matches!(event, Event::Chose { .. }));
        let is_choice = matches!(moment.event, Event::Chose { .. });
        let of_next = is_choice && fault(trace, &moment.event).is_none();
        if of_next && matches!(next, Some(Event::Net(_))) {
            is_chosen = true;
            continue;
        }
        if index > 0 && both_ways(trace, &links[index - 1].moment.event, &moment.event).is_some() {
            continue;
        }
        let pair = next.and_then(|next| both_ways(trace, &moment.event, &next));
        let Some(words) = pair.or_else(|| words(trace, moment)) else { continue };
        let star = if is_chosen { "* " } else { "" };
        let weight = if is_chosen { Weight::Decided } else { weight(&moment.event) };
        rows.push(Row { moment, who, words: format!("{star}{words}"), weight });
        is_chosen = false;
    }
    rows
}

/// The rows worth showing, among so many, by their places.
pub(crate) fn shown(rows: &[Row<'_>]) -> BTreeSet<usize> {
    let count = rows.len();
    if count <= ROWS_MAX {
        return (0..count).collect();
    }
    let of = |weight| (0..count).filter(move |index| rows[*index].weight == weight);
    let (decided, told) = (of(Weight::Decided).count(), of(Weight::Told).count());
    // The end tells most where it has decisions, or where there are few of them.
    let (first, last) = if told == 0 { (FIRST, LAST) } else { (0, LAST_OF_TOLD) };
    let last = last.min(ROWS_MAX.saturating_sub(decided + first));
    let mut shown: BTreeSet<usize> = (0..first).chain(count - last..count).collect();
    let mut show = |index| {
        if shown.len() < ROWS_MAX {
            shown.insert(index);
        }
    };
    of(Weight::Decided).for_each(&mut show);
    of(Weight::Told).rev().for_each(&mut show);
    if told == 0 && decided * 3 + last + first <= ROWS_MAX {
        of(Weight::Decided).flat_map(|at| [at.saturating_sub(1), at + 1]).for_each(&mut show);
    }
    shown
}

fn weight(event: &Event) -> Weight {
    match event {
        Event::Chose { .. } | Event::Preempted { .. } | Event::Node { .. } => Weight::Decided,
        Event::Noted { .. } => Weight::Told,
        Event::Net(
            NetEvent::Sent { .. } | NetEvent::Packet { .. } | NetEvent::Delivered { .. },
        ) => Weight::Plain,
        Event::Net(NetEvent::Dropped { .. } | NetEvent::Held { .. }) => Weight::Lost,
        Event::Net(_) => Weight::Decided,
        _ => Weight::Plain,
    }
}

/// What a fault of the scenario is called, where the event is the choice of one.
fn fault<'a>(trace: &'a Trace, event: &Event) -> Option<&'a str> {
    let Event::Chose { choice } = event else { return None };
    trace.tables.text(trace.tables.choice(*choice)?.domain).strip_prefix("fault/")
}

/// Links that are cut or healed one way and then the other: one thing to a person.
fn both_ways(trace: &Trace, event: &Event, next: &Event) -> Option<String> {
    let set = |set: SetId| trace.tables.set(set);
    let shown = |id: SetId| {
        let names = set(id).iter().map(|node| trace.tables.node_shown(*node).to_string());
        names.collect::<Vec<_>>().join(", ")
    };
    match (*event, *next) {
        (
            Event::Net(NetEvent::Partitioned { from, to, holds }),
            Event::Net(NetEvent::Partitioned { from: back, to: forth, holds: also }),
        ) if (set(from), set(to), holds) == (set(forth), set(back), also) => {
            let what = if holds { "held" } else { "lost" };
            let (a, b) = (shown(from), shown(to));
            Some(format!("* {a} | {b}: cut off from each other, messages are {what}"))
        }
        (
            Event::Net(NetEvent::Healed { from, to }),
            Event::Net(NetEvent::Healed { from: back, to: forth }),
        ) if (set(from), set(to)) == (set(forth), set(back)) => {
            Some(format!("* {} | {}: connected again", shown(from), shown(to)))
        }
        _ => None,
    }
}

/// The words of an event in its column; `None` where it is not worth a row.
fn words(trace: &Trace, moment: &Moment) -> Option<String> {
    let tables = &trace.tables;
    let node = |node| tables.node_shown(node).to_string();
    Some(match moment.event {
        Event::Stepped { .. } | Event::Called { .. } | Event::Spawned { .. } => return None,
        Event::Chose { choice } => match tables.choice(choice)?.choice.domain {
            // The stop itself is the next event.
            detsim_executor::choice::STOPS => return None,
            detsim_executor::choice::SCHED => "* is picked".to_owned(),
            _ => match fault(trace, &moment.event) {
                Some(what) => format!("* {what}"),
                None => format!("* {}", tables.predicate(&moment.event)),
            },
        },
        Event::Blocked { op, object, .. } => {
            format!("waits: {} {}", op.word(), thing(trace, object))
        }
        Event::Operated { op, object, .. } => format!("{} {}", op.word(), thing(trace, object)),
        Event::Preempted { op, object, .. } => {
            format!("* stopped before {} {}", op.word(), thing(trace, object))
        }
        Event::Noted { text, .. } => tables.text(text).to_owned(),
        Event::Panicked { message, .. } => format!("PANICS: {}", tables.text(message)),
        Event::Net(NetEvent::Delivered { message, from, .. }) => {
            format!("gets #{message} of {}", node(from))
        }
        Event::Net(NetEvent::Sent { message, to, .. }) => {
            format!("sends #{message} to {}", node(to))
        }
        Event::Net(NetEvent::Dropped { message, to, why, .. }) => {
            format!("#{message} to {} is lost: {}", node(to), lost(why))
        }
        event => tables.predicate(&event).to_string(),
    })
}

/// Why a message was lost, in a word or two that fit a column.
fn lost(why: DropReason) -> &'static str {
    match why {
        DropReason::Partition => "cut",
        DropReason::NoReceiver | DropReason::NoSender => "down",
        DropReason::Overflow => "queue full",
        DropReason::LossAtSend | DropReason::LossAtDelivery | DropReason::Rule => why.words(),
    }
}

/// `Mutex pool.rs:12`; `Mutex 2 pool.rs:12` for the second one that was made there.
fn thing(trace: &Trace, id: ObjectId) -> String {
    let Some(object) = trace.tables.object(id) else { return "?".to_owned() };
    let site = trace.tables.text(object.site);
    let file = site.rsplit_once('/').map_or(site, |(_, file)| file);
    let before = (0..id.0).filter_map(|id| trace.tables.object(ObjectId(id)));
    let same = before.filter(|other| (other.kind, other.site) == (object.kind, object.site));
    match same.count() {
        0 => format!("{} {file}", object.kind.word()),
        others => format!("{} {} {file}", object.kind.word(), others + 1),
    }
}
