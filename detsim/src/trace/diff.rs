//! Two runs side by side: which decisions they share, and where they part.
//!
//! Owns: the comparison. Does not own: rows ([`super::columns`]). Invariants: two traces are the
//! same event by event where their texts are, whatever numbers their tables gave to things; a mark
//! stands in words before it stands in colour.

use std::collections::BTreeMap;

use detsim_executor::event::{Event, Moment};
use detsim_executor::trace::Chosen;
use detsim_executor::{Anchor, Trace};

use super::Recorded;
use super::columns::{Color, Paint, WIDTH, cut, heading, push_line, rows, title};

/// How to compare.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DiffOptions {
    /// How many events to show before and after the runs part.
    pub window: usize,
    /// How many decisions of one kind to show in a row before the rest is folded.
    pub decisions: usize,
    /// Whether to add colour.
    pub color: bool,
}

impl Default for DiffOptions {
    fn default() -> Self {
        Self { window: 5, decisions: 3, color: false }
    }
}

/// The decisions of `a` and which of them `b` keeps, then the first event in which the two differ,
/// with windows of both sides. Of a failure and its minimised form, `a` is the original.
pub fn diff(a: &Recorded, b: &Recorded, options: &DiffOptions) -> String {
    let mut out = String::new();
    push_line(&mut out, format_args!("a: {}", title(a)));
    push_line(&mut out, format_args!("b: {}", title(b)));
    decisions(&a.trace, &b.trace, options, &mut out);
    events(&a.trace, &b.trace, options, &mut out);
    out
}

// ---------------------------------------------------------------- decisions

/// Where a choice is made, whatever was picked.
type Key = (u64, Anchor, u32);

fn key(chosen: &Chosen) -> Key {
    let choice = chosen.choice;
    (choice.domain, choice.anchor, choice.occurrence)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Kept,
    Changed,
    Dropped,
    Added,
}

impl Mark {
    fn word(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Changed => "changed",
            Self::Dropped => "dropped",
            Self::Added => "added",
        }
    }

    fn color(self) -> Color {
        match self {
            Self::Kept => Color::Green,
            Self::Changed => Color::Yellow,
            Self::Dropped => Color::Dim,
            Self::Added => Color::Bold,
        }
    }
}

fn decisions(a: &Trace, b: &Trace, options: &DiffOptions, out: &mut String) {
    let picked = |trace: &Trace| -> BTreeMap<Key, u64> {
        trace.tables.choices.iter().map(|chosen| (key(chosen), chosen.choice.picked)).collect()
    };
    let (of_a, of_b) = (picked(a), picked(b));
    let marked_a = chosen(a).map(|(moment, chosen)| {
        let mark = match of_b.get(&key(chosen)) {
            Some(picked) if *picked == chosen.choice.picked => Mark::Kept,
            Some(_) => Mark::Changed,
            None => Mark::Dropped,
        };
        (mark, a, moment)
    });
    let added = chosen(b).filter(|(_, chosen)| !of_a.contains_key(&key(chosen)));
    let marked: Vec<_> =
        marked_a.chain(added.map(|(moment, _)| (Mark::Added, b, moment))).collect();
    let count = |mark| marked.iter().filter(|entry| entry.0 == mark).count();
    let (kept, changed) = (count(Mark::Kept), count(Mark::Changed));
    let (dropped, added) = (count(Mark::Dropped), count(Mark::Added));
    out.push('\n');
    push_line(
        out,
        format_args!(
            "decisions from a to b: {kept} kept, {changed} changed, {dropped} dropped, {added} added"
        ),
    );
    for run in marked.chunk_by(|one, next| one.0 == next.0) {
        push_decisions(run, options, out);
    }
}

/// The choices of a trace with their moments.
fn chosen(trace: &Trace) -> impl Iterator<Item = (&Moment, &Chosen)> {
    trace.moments.iter().filter_map(|moment| match moment.event {
        Event::Chose { choice } => Some((moment, trace.tables.choice(choice)?)),
        _ => None,
    })
}

/// The most kept decisions in a row that are shown: more are no minimised run.
const KEPT_MAX: usize = 40;

/// Decisions of one mark in a row; what is kept is shown in full, if a person would read it.
fn push_decisions(run: &[(Mark, &Trace, &Moment)], options: &DiffOptions, out: &mut String) {
    let paint = Paint(options.color);
    let Some(&(mark, ..)) = run.first() else { return };
    let shown = match mark {
        Mark::Dropped | Mark::Added => options.decisions,
        Mark::Kept | Mark::Changed => KEPT_MAX.max(options.decisions),
    };
    for (_, trace, moment) in run.iter().take(shown) {
        let (time, step) = (moment.at.to_string(), moment.step);
        let what = trace.line(moment).to_string();
        let what = what.split_whitespace().skip(2).collect::<Vec<_>>().join(" ");
        let line = format!("  {:<8} {time:>12} {step:>8}  {what}", mark.word());
        paint.line(out, Some(mark.color()), &cut(&line, WIDTH));
    }
    if run.len() > shown {
        let line = format!("  {:<8} and {} more", mark.word(), run.len() - shown);
        paint.line(out, Some(mark.color()), &line);
    }
}

// ------------------------------------------------------------------- events

fn events(a: &Trace, b: &Trace, options: &DiffOptions, out: &mut String) {
    out.push('\n');
    let Some(place) = first_difference(a, b) else {
        return push_line(out, format_args!("the same {} events in both", a.moments.len()));
    };
    let step = [a, b].iter().find_map(|trace| trace.moments.get(place)).map_or(0, |m| m.step);
    push_line(out, format_args!("they part at event {place}, in step {step}"));
    push_line(out, format_args!("  {}", heading()));
    let start = place.saturating_sub(options.window);
    let paint = Paint(options.color);
    push_side(out, paint, None, " ", a, start, place);
    push_side(out, paint, Some(Color::Dim), "a", a, place, place + options.window);
    push_side(out, paint, Some(Color::Green), "b", b, place, place + options.window);
}

/// The rows of some events of one side, each after its mark.
fn push_side(
    out: &mut String,
    paint: Paint,
    color: Option<Color>,
    mark: &str,
    trace: &Trace,
    start: usize,
    end: usize,
) {
    for moment in trace.moments.iter().take(end).skip(start) {
        for row in rows(&trace.tables, moment, WIDTH - 2) {
            paint.line(out, color, &format!("{mark} {row}"));
        }
    }
    if end > trace.moments.len() {
        paint.line(out, color, &format!("{mark} ends after {} events", trace.moments.len()));
    }
}

/// The place of the first event that is not the same in both.
pub(super) fn first_difference(a: &Trace, b: &Trace) -> Option<usize> {
    let same_tables = is_prefix(a, b);
    let differs = |(one, other): (&Moment, &Moment)| {
        // Equal numbers mean equal things only where the tables agree.
        let same = one == other && same_tables;
        !same && a.line(one).to_string() != b.line(other).to_string()
    };
    let pairs = a.moments.iter().zip(&b.moments);
    pairs.map(differs).position(|differs| differs).or_else(|| {
        let (a, b) = (a.moments.len(), b.moments.len());
        (a != b).then(|| a.min(b))
    })
}

/// Whether every number that both tables have means the same in both.
fn is_prefix(a: &Trace, b: &Trace) -> bool {
    fn agree<T: PartialEq>(a: &[T], b: &[T]) -> bool {
        a.iter().zip(b).all(|(a, b)| a == b)
    }
    let (a, b) = (&a.tables, &b.tables);
    agree(&a.texts, &b.texts)
        && agree(&a.tasks, &b.tasks)
        && agree(&a.nodes, &b.nodes)
        && agree(&a.objects, &b.objects)
        && agree(&a.sets, &b.sets)
        && agree(&a.choices, &b.choices)
}

#[cfg(test)]
mod tests;
