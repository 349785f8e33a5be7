//! The events that led to a failure, a column for each task or node.
//!
//! Owns: which columns there are, and how a row is laid out in them. Does not own: which rows are
//! worth reading, and their words (`rows.rs`). Invariants: at most 100 columns of text; the newest
//! event comes last; decisions are marked; what the program itself says is never cut.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use detsim_executor::Trace;

use super::rows::{Row, Weight, rows, shown};
use super::sentence;
use super::slice::{Actor, slice};
use crate::parting::clip;

/// The widest line.
const COLUMNS: usize = 100;
/// Columns for tasks and nodes; whoever else there is shares one.
const ACTORS_MAX: usize = 4;
/// The width of the column of steps.
const STEP_COLUMNS: usize = 8;

/// The table; empty where nothing was recorded.
pub(crate) fn table(trace: &Trace, blamed: &[u32]) -> String {
    let (links, failing) = slice(trace, blamed);
    let rows = rows(trace, &links);
    if rows.is_empty() {
        return String::new();
    }
    let columns = Columns::new(&rows, &failing);
    let mut text = columns.head(trace);
    let shown = shown(&rows);
    let mut next = 0;
    for index in shown.into_iter().chain([rows.len()]) {
        match &rows[next..index] {
            [] => {}
            // A line that says that there is a line would be no shorter.
            [one] => columns.write(&mut text, trace, one),
            folded => write_folded(&mut text, folded),
        }
        if let Some(row) = rows.get(index) {
            columns.write(&mut text, trace, row);
        }
        next = index + 1;
    }
    text
}

/// How many rows are not shown, and what is to be known of them.
fn write_folded(text: &mut String, rows: &[Row<'_>]) {
    let lost = rows.iter().filter(|row| row.weight == Weight::Lost).count();
    let lost = match lost {
        0 => String::new(),
        1 => ", a message is lost".to_owned(),
        lost => format!(", {lost} messages are lost"),
    };
    let _infallible = writeln!(text, "{:>STEP_COLUMNS$}  ... {} events{lost}", "", rows.len());
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
                *counts.entry(actor).or_default() += match row.weight {
                    Weight::Decided => 100,
                    Weight::Told => 20,
                    Weight::Lost | Weight::Plain => 1,
                };
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
        let names = self.actors.iter().map(|actor| shown_name(trace, *actor));
        for name in names.chain(self.has_others.then(|| "others".to_owned())) {
            let width = self.width();
            let _infallible = write!(text, "  {:<width$}", clip(&name, width));
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
        text
    }

    fn write(&self, text: &mut String, trace: &Trace, row: &Row<'_>) {
        let Row { moment, who, words, weight } = row;
        let who = *who;
        let place = who.and_then(|who| self.actors.iter().position(|actor| *actor == who));
        let words = match (place, who) {
            (None, Some(who)) if self.has_others => format!("{}: {words}", shown_name(trace, who)),
            _ => words.clone(),
        };
        let place = place.unwrap_or(if who.is_none() { 0 } else { self.count() - 1 });
        let indent = place * (self.width() + 2);
        let start = format!("{:>STEP_COLUMNS$}{:indent$}  ", moment.step, "");
        // What happens to nobody has the whole line, and what the program says all that it needs.
        match who {
            Some(_) if *weight != Weight::Told => {
                let _infallible = writeln!(text, "{start}{}", fitted(&words, self.width()));
            }
            _ => text.push_str(&sentence::wrapped(&start, &words)),
        }
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

fn shown_name(trace: &Trace, actor: Actor) -> String {
    match actor {
        Actor::Task(task) => trace.tables.task_shown(task).to_string(),
        Actor::Node(node) => trace.tables.node_shown(node).to_string(),
    }
}
