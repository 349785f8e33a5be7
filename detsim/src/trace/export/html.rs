//! One page for a browser: a space-time diagram with a column for each node.
//!
//! Owns: the data of the page, as lists of numbers that `page.js` draws. Does not own: drawing.
//! Invariants: the page needs nothing beside itself; rows are places in its own list of events; no
//! text of a program ends the script or starts a tag.

use std::collections::BTreeSet;
use std::fmt::{Display, Write};

use detsim_executor::Trace;
use detsim_executor::event::{Event, EventKind, Moment, NodeId};
use detsim_executor::{Anchor, Choice};

use super::json::{Object, push_list, push_text};
use super::model::{Fault, Model};
use super::{ExportOptions, Recorded};
use crate::trace::columns::title;

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

pub(super) fn export(recorded: &Recorded, options: &ExportOptions) -> String {
    let page = PAGE.replace("/* style */", STYLE.trim_end());
    let page = page.replace("/* script */", SCRIPT.trim_end());
    // Last, so that no text of the program is taken for a place of the page.
    page.replacen("/* data */", &data(recorded, options), 1)
}

/// Where a choice is made.
type Key = (u64, Anchor, u32);

fn key(choice: &Choice) -> Key {
    (choice.domain, choice.anchor, choice.occurrence)
}

fn data(recorded: &Recorded, options: &ExportOptions) -> String {
    let trace = &recorded.trace;
    let first = trace.moments.len().saturating_sub(options.page_events);
    let kept: Option<BTreeSet<Key>> = options.minimized.as_ref().map(|minimized| {
        minimized.trace.tables.choices.iter().map(|chosen| key(&chosen.choice)).collect()
    });
    let rows = Rows { trace, first, kept };
    let mut out = String::new();
    let mut page = Object::begin(&mut out);
    page.text("title", title(recorded));
    page.number("total", trace.moments.len() as u64);
    page.number("first", first as u64);
    let tables = &trace.tables;
    let nodes = (0..tables.nodes.len()).map(|number| NodeId(number as u16));
    push_list(page.field("nodes"), nodes, |out, node| {
        push_text(out, &tables.node_shown(node).to_string());
    });
    push_list(page.field("tasks"), &tables.tasks, |out, task| {
        push_text(out, tables.text(task.name));
    });
    push_list(page.field("kinds"), EventKind::ALL, |out, kind| push_text(out, kind.word()));
    push_list(page.field("events"), &trace.moments[first..], |out, moment| rows.event(out, moment));
    rows.spans(&mut page);
    page.end();
    out
}

struct Rows<'a> {
    trace: &'a Trace,
    /// The place of the first event that the page has.
    first: usize,
    kept: Option<BTreeSet<Key>>,
}

impl Rows<'_> {
    /// `[at_ns, step, node, task, kind, mark, text]`; -1 for none. The mark of a decision is 1,
    /// and 2 where the minimised run keeps it.
    fn event(&self, out: &mut String, moment: &Moment) {
        let tables = &self.trace.tables;
        let event = &moment.event;
        let node = tables.node_at(event).map_or(-1, |node| i64::from(node.0));
        let task = tables.task_at(event).map_or(-1, |task| i64::from(task.0));
        let (at, kind) = (moment.at.as_nanos(), event.kind() as u8);
        push_tuple(out, [&at, &moment.step, &node, &task, &kind, &self.mark(event)]);
        push_last(out, &tables.predicate(event).to_string());
    }

    fn mark(&self, event: &Event) -> u8 {
        let Event::Chose { choice } = event else { return 0 };
        let chosen = self.trace.tables.choice(*choice);
        let is_kept = |kept: &BTreeSet<Key>| chosen.is_some_and(|c| kept.contains(&key(&c.choice)));
        if self.kept.as_ref().is_some_and(is_kept) { 2 } else { 1 }
    }

    /// The row of an event; what began before the page begins with it.
    fn row(&self, place: usize) -> usize {
        place.saturating_sub(self.first)
    }

    /// Messages `[row, row, from, to, arrived, number]`, waits `[row, row, node, task, text]`, faults
    /// `[row, row, node, text]`.
    fn spans(&self, page: &mut Object<'_>) {
        let model = Model::of(self.trace);
        let tables = &self.trace.tables;
        let text = |place: usize| tables.predicate(&self.trace.moments[place].event).to_string();
        let messages = model.messages.iter().filter(|span| span.end >= self.first);
        push_list(page.field("messages"), messages, |out, span| {
            let (start, end, message) = (self.row(span.start), self.row(span.end), span.what);
            let arrived = u8::from(message.arrived);
            push_tuple(out, [&start, &end, &message.from.0, &message.to.0, &arrived]);
            write!(out, ",{}]", message.number).expect("invariant: a string takes any text");
        });
        let waits = model.waits.iter().filter(|span| span.end >= self.first);
        push_list(page.field("waits"), waits, |out, span| {
            let node = tables.task(span.what).map_or(0, |task| task.node.0);
            let (start, end) = (self.row(span.start), self.row(span.end));
            push_tuple(out, [&start, &end, &node, &span.what.0]);
            push_last(out, &text(span.start));
        });
        let faults = model.faults.iter().filter(|span| span.end >= self.first);
        let bars = faults.flat_map(|span| {
            let nodes = match span.what {
                Fault::Node(node, _) => vec![node],
                Fault::Cut(from, to) => [tables.set(from), tables.set(to)].concat(),
            };
            nodes.into_iter().map(move |node| (span, node))
        });
        push_list(page.field("faults"), bars, |out, (span, node)| {
            push_tuple(out, [&self.row(span.start), &self.row(span.end), &node.0]);
            push_last(out, &text(span.start));
        });
    }
}

/// Appends the beginning of a list of numbers.
fn push_tuple<const N: usize>(out: &mut String, numbers: [&dyn Display; N]) {
    for (index, number) in numbers.iter().enumerate() {
        let before = if index == 0 { '[' } else { ',' };
        write!(out, "{before}{number}").expect("invariant: a string takes any text");
    }
}

/// Appends a text, and ends the list.
fn push_last(out: &mut String, text: &str) {
    out.push(',');
    push_text(out, text);
    out.push(']');
}
