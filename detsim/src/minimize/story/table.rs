//! The events that led to a failure, a column for each task or node.
//!
//! Owns: which columns there are, which rows are worth reading, and their words. Invariants: at
//! most 100 columns of text and [`ROWS_MAX`] rows; the newest event comes last; decisions are marked.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use detsim_executor::Trace;
use detsim_executor::event::{Event, Moment, NetEvent, ObjectId};

use super::slice::{Actor, actor, slice};
use crate::parting::clip;

/// The widest line.
const COLUMNS: usize = 100;
/// Columns for tasks and nodes; whoever else there is shares one.
const ACTORS_MAX: usize = 4;
/// Rows; what is between them is counted.
const ROWS_MAX: usize = 40;
/// Rows of the end that are always shown, and of the beginning.
const LAST: usize = 14;
const FIRST: usize = 3;
/// The width of the column of steps.
const STEP_COLUMNS: usize = 8;

/// A line of the table.
struct Row<'a> {
    moment: &'a Moment,
    who: Option<Actor>,
    words: String,
    /// A decision or a fault.
    is_marked: bool,
}

/// The table; empty where nothing was recorded.
pub(crate) fn table(trace: &Trace, blamed: &[u32]) -> String {
    let (moments, failing) = slice(trace, blamed);
    let rows = rows(trace, &moments);
    if rows.is_empty() {
        return String::new();
    }
    let columns = Columns::new(&rows, &failing);
    let mut text = columns.head(trace);
    let mut folded = 0;
    for (index, row) in rows.iter().enumerate() {
        if !is_shown(&rows, index) {
            folded += 1;
            continue;
        }
        if folded > 0 {
            let _infallible = writeln!(text, "{:>STEP_COLUMNS$}  ... {folded} events", "");
            folded = 0;
        }
        columns.write(&mut text, trace, row);
    }
    text
}

/// The rows. A choice that a message is about marks the row of the message.
fn rows<'a>(trace: &'a Trace, moments: &[&'a Moment]) -> Vec<Row<'a>> {
    let mut rows = Vec::new();
    let mut is_chosen = false;
    for (index, moment) in moments.iter().enumerate() {
        let is_next_net = moments[index + 1..]
            .iter()
            .map(|next| &next.event)
            .find(|event| !matches!(event, Event::Chose { .. }));
        let is_choice = matches!(moment.event, Event::Chose { .. });
        if is_choice && matches!(is_next_net, Some(Event::Net(_))) {
            is_chosen = true;
            continue;
        }
        let Some(words) = words(trace, moment) else { continue };
        let star = if is_chosen { "* " } else { "" };
        let is_marked = is_chosen || is_marked(&moment.event);
        let who = actor(&trace.tables, &moment.event);
        rows.push(Row { moment, who, words: format!("{star}{words}"), is_marked });
        is_chosen = false;
    }
    rows
}

/// Is this row worth reading, among so many?
fn is_shown(rows: &[Row<'_>], index: usize) -> bool {
    let count = rows.len();
    let marked = rows.iter().filter(|row| row.is_marked).count();
    // The end tells most where it has decisions, or where there are few of them.
    let last = LAST.min(ROWS_MAX.saturating_sub(marked + FIRST));
    if count <= ROWS_MAX || index < FIRST || index + last >= count {
        return true;
    }
    let around = &rows[index.saturating_sub(1)..(index + 2).min(count)];
    match marked * 3 + last + FIRST <= ROWS_MAX {
        true => around.iter().any(|row| row.is_marked),
        false => {
            let before = rows[..index].iter().filter(|row| row.is_marked).count();
            rows[index].is_marked && before + last + FIRST < ROWS_MAX
        }
    }
}

/// A decision or a fault.
fn is_marked(event: &Event) -> bool {
    match event {
        Event::Chose { .. } | Event::Preempted { .. } | Event::Node { .. } => true,
        Event::Net(event) => !matches!(
            event,
            NetEvent::Sent { .. } | NetEvent::Packet { .. } | NetEvent::Delivered { .. }
        ),
        _ => false,
    }
}

/// Who has a column.
struct Columns {
    actors: Vec<Actor>,
    /// Whether there are others, who share the last column.
    has_others: bool,
}

impl Columns {
    /// Those who failed come first, then those to whom most happened.
    fn new(rows: &[Row<'_>], failing: &BTreeSet<Actor>) -> Self {
        let mut counts: BTreeMap<Actor, usize> = BTreeMap::new();
        for row in rows {
            if let Some(actor) = row.who {
                *counts.entry(actor).or_default() += if row.is_marked { 100 } else { 1 };
            }
        }
        let mut actors: Vec<Actor> = counts.keys().copied().collect();
        let rank = |actor: &Actor| (!failing.contains(actor), usize::MAX - counts[actor], *actor);
        actors.sort_by_key(rank);
        let has_others = actors.len() > ACTORS_MAX;
        actors.truncate(ACTORS_MAX - usize::from(has_others));
        actors.sort_unstable();
        Self { actors, has_others }
    }

    fn count(&self) -> usize {
        self.actors.len() + usize::from(self.has_others)
    }

    fn width(&self) -> usize {
        (COLUMNS - STEP_COLUMNS) / self.count().max(1) - 2
    }

    fn head(&self, trace: &Trace) -> String {
        let mut text = format!("{:>STEP_COLUMNS$}", "step");
        let names = self.actors.iter().map(|actor| shown(trace, *actor));
        for name in names.chain(self.has_others.then(|| "others".to_owned())) {
            let width = self.width();
            let _infallible = write!(text, "  {:<width$}", clip(&name, width));
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
        text
    }

    fn write(&self, text: &mut String, trace: &Trace, row: &Row<'_>) {
        let Row { moment, who, words, .. } = row;
        let who = *who;
        let place = who.and_then(|who| self.actors.iter().position(|actor| *actor == who));
        let words = match (place, who) {
            (None, Some(who)) if self.has_others => format!("{}: {words}", shown(trace, who)),
            _ => words.clone(),
        };
        let place = place.unwrap_or(if who.is_none() { 0 } else { self.count() - 1 });
        // What happens to nobody has the whole line.
        let width = self.width();
        let room = if who.is_none() { COLUMNS - STEP_COLUMNS - 2 } else { width };
        let _infallible = writeln!(
            text,
            "{:>STEP_COLUMNS$}{:indent$}  {}",
            moment.step,
            "",
            fitted(&words, room),
            indent = place * (width + 2)
        );
    }
}

/// The words, cut where they are too long: before the number of a line that they end with, because
/// that is what tells two places apart.
fn fitted(words: &str, columns: usize) -> String {
    let (start, line) = words.rsplit_once(':').unwrap_or((words, ""));
    let is_line = !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit());
    match words.chars().count() <= columns || !is_line {
        true => clip(words, columns),
        false => format!("{}:{line}", clip(start, columns.saturating_sub(line.len() + 1))),
    }
}

fn shown(trace: &Trace, actor: Actor) -> String {
    match actor {
        Actor::Task(task) => trace.tables.task_shown(task).to_string(),
        Actor::Node(node) => trace.tables.node_shown(node).to_string(),
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
            _ => format!("* {}", tables.predicate(&moment.event)),
        },
        Event::Blocked { op, object, .. } => {
            format!("waits: {} {}", op.word(), thing(trace, object))
        }
        Event::Operated { op, object, .. } => format!("{} {}", op.word(), thing(trace, object)),
        Event::Preempted { op, object, .. } => {
            format!("* stopped before {} {}", op.word(), thing(trace, object))
        }
        Event::Panicked { message, .. } => format!("PANICS: {}", tables.text(message)),
        Event::Net(NetEvent::Delivered { message, from, .. }) => {
            format!("gets #{message} of {}", node(from))
        }
        Event::Net(NetEvent::Sent { message, to, .. }) => {
            format!("sends #{message} to {}", node(to))
        }
        Event::Net(NetEvent::Dropped { message, to, why, .. }) => {
            format!("#{message} to {} is lost: {}", node(to), why.words())
        }
        event => tables.predicate(&event).to_string(),
    })
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
