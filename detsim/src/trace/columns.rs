//! The columns that every text of a trace shares.
//!
//! Owns: widths, the row of an event, wrapping, colours. Does not own: which rows there are.
//! Invariants: no line is longer than [`WIDTH`]; a text of the program under test prints no control
//! character; without colour the same text stands there, nothing added.

use std::borrow::Cow;
use std::fmt::{Display, Write};

use detsim_executor::event::{Event, Moment, NetEvent, NodeChange, TaskNumber};
use detsim_executor::trace::Tables;

use super::Recorded;

/// Columns of a line.
pub(super) const WIDTH: usize = 100;
const TIME: usize = 12;
const STEP: usize = 8;
const NODE: usize = 8;
const TASK: usize = 17;
/// What stands before the event.
const BEFORE: usize = TIME + 1 + STEP + 2 + NODE + 1 + TASK + 1;
/// A text that is longer is cut.
const TEXT_LINES_MAX: usize = 8;

/// Adds colour, or nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paint(pub(super) bool);

/// The colours there are, as terminals number them.
#[derive(Clone, Copy, Debug)]
pub(super) enum Color {
    Bold = 1,
    Dim = 2,
    Red = 31,
    Green = 32,
    Yellow = 33,
}

impl Paint {
    /// A line, coloured. Its line break stays outside.
    pub(super) fn line(self, out: &mut String, color: Option<Color>, line: &str) {
        match color.filter(|_| self.0) {
            Some(color) => writeln!(out, "\x1b[{}m{line}\x1b[0m", color as u8),
            None => writeln!(out, "{line}"),
        }
        .expect("invariant: a string takes any text");
    }
}

/// Appends a line, cut to the width.
pub(super) fn push_line(out: &mut String, line: impl Display) {
    out.push_str(&cut(&clean(&line.to_string()), WIDTH));
    out.push('\n');
}

/// `pool::drains, seed 847291, random, detsim 0.1.0`.
pub(super) fn title(recorded: &Recorded) -> String {
    let header = &recorded.header;
    let (test, seed) = (&header.test, header.seed);
    format!("{test}, seed {seed}, {}, detsim {}", header.strategy, header.detsim)
}

/// The names of the columns.
pub(super) fn heading() -> String {
    format!("{:>TIME$} {:>STEP$}  {:<NODE$} {:<TASK$} event", "time", "step", "node", "task")
}

/// The lines of an event: where, when, who, what; each at most so long.
pub(super) fn rows(tables: &Tables, moment: &Moment, width: usize) -> Vec<String> {
    let event = &moment.event;
    let time = moment.at.to_string();
    let node = tables.node_at(event).map(|node| tables.node_shown(node).to_string());
    let node = cut(&clean(&node.unwrap_or_default()), NODE).into_owned();
    let task = tables.task_at(event).map_or_else(String::new, |task| task_name(tables, task, TASK));
    let text = clean(&tables.predicate(event).to_string()).into_owned();
    let mut texts = wrapped(&text, width - BEFORE).into_iter();
    let first = texts.next().unwrap_or_default();
    let step = moment.step;
    let first = format!("{time:>TIME$} {step:>STEP$}  {node:<NODE$} {task:<TASK$} {first}");
    // Years of time and billions of steps move the columns.
    let first = cut(&first, width).into_owned();
    std::iter::once(first).chain(texts.map(|text| format!("{:BEFORE$}{text}", ""))).collect()
}

/// The colour of an event.
pub(super) fn color(event: &Event) -> Option<Color> {
    match event {
        Event::Blocked { .. } | Event::Preempted { .. } => Some(Color::Yellow),
        Event::Chose { .. } => Some(Color::Bold),
        Event::Panicked { .. }
        | Event::Net(
            NetEvent::Dropped { .. }
            | NetEvent::LookupFailed { .. }
            | NetEvent::LookupFaulted { .. }
            | NetEvent::Partitioned { .. }
            | NetEvent::Reset { .. }
            | NetEvent::Slowed { .. },
        )
        | Event::Node { change: NodeChange::Crashed | NodeChange::Killed, .. } => Some(Color::Red),
        Event::Stepped { .. } => Some(Color::Dim),
        _ => None,
    }
}

/// Appends the rows of an event.
pub(super) fn push_rows(out: &mut String, paint: Paint, tables: &Tables, moment: &Moment) {
    rows(tables, moment, WIDTH).iter().for_each(|row| paint.line(out, color(&moment.event), row));
}

/// `apply-loop 17`, the name cut where there is no room.
pub(super) fn task_name(tables: &Tables, task: TaskNumber, width: usize) -> String {
    let name = tables.task(task).map_or("", |task| tables.text(task.name));
    match name {
        "" => task.to_string(),
        name => {
            let number = task.0.to_string();
            let name = cut(&clean(name), width - number.len() - 1).into_owned();
            format!("{name} {number}")
        }
    }
}

/// A text that a terminal prints as it is.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    match text.contains(char::is_control) {
        true => text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect(),
        false => Cow::Borrowed(text),
    }
}

/// A text of at most so many characters, the end cut.
pub(super) fn cut(text: &str, width: usize) -> Cow<'_, str> {
    match text.char_indices().nth(width) {
        None => Cow::Borrowed(text),
        Some(_) => text.chars().take(width - 1).chain(['…']).collect(),
    }
}

/// A text of at most so many characters, the start cut: of a path the end says more.
pub(super) fn cut_start(text: &str, width: usize) -> Cow<'_, str> {
    let count = text.chars().count();
    match count > width {
        false => Cow::Borrowed(text),
        true => "…".chars().chain(text.chars().skip(count - width + 1)).collect(),
    }
}

/// Lines of at most so many characters, broken between words, but not between `at` and a place.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut words = text.split_whitespace();
    while let Some(word) = words.next() {
        let word = match (word, words.clone().next()) {
            ("at", Some(place)) => {
                words.next();
                Cow::Owned(format!("at {}", cut_start(place, width - "at ".len())))
            }
            (word, _) => cut_start(word, width),
        };
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word.into_owned()),
        }
        if lines.len() > TEXT_LINES_MAX {
            lines.truncate(TEXT_LINES_MAX);
            lines.push("…".to_owned());
            break;
        }
    }
    lines
}
