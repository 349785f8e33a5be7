//! The timeline of a run, a page at a time.
//!
//! Owns: filters and pages. Does not own: what a row looks like ([`super::columns`]).

use detsim_executor::SimTime;
use detsim_executor::event::{EventKind, Moment};
use detsim_executor::trace::Tables;

use super::Recorded;
use super::columns::{Paint, clean, cut, heading, push_line, push_rows, title};

/// What of a trace to show. Filters that are set must all hold.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ViewOptions {
    /// Events of this task only: its name, or its number.
    pub task: Option<String>,
    /// Events of this node only: its name.
    pub node: Option<String>,
    /// Events of these kinds only; none stands for all.
    pub kinds: Vec<EventKind>,
    /// Nothing before this moment.
    pub since: SimTime,
    /// Nothing after this moment.
    pub until: SimTime,
    /// Nothing before this step.
    pub from_step: u32,
    /// So many of the events that are left are passed over.
    pub skip: usize,
    /// The length of a page, in events.
    pub first: usize,
    /// Whether to add colour.
    pub color: bool,
}

impl Default for ViewOptions {
    fn default() -> Self {
        Self {
            task: None,
            node: None,
            kinds: Vec::new(),
            since: SimTime::ZERO,
            until: SimTime::MAX,
            from_step: 0,
            skip: 0,
            first: 40,
            color: false,
        }
    }
}

/// The timeline: a row an event, with virtual time, step, node, task, and what happened. The last
/// line says how to go on to the next page, where there is one.
pub fn view(recorded: &Recorded, options: &ViewOptions) -> String {
    let trace = &recorded.trace;
    let filter = Filter::new(&trace.tables, options);
    let mut matching = trace.moments.iter().filter(|moment| filter.passes(moment));
    let page: Vec<&Moment> = matching.by_ref().skip(options.skip).take(options.first).collect();
    let mut out = String::new();
    push_line(&mut out, title(recorded));
    if page.is_empty() {
        push_line(&mut out, format_args!("none of its {} events is shown", trace.moments.len()));
        out.push_str(&hint(&trace.tables, options));
        return out;
    }
    push_line(&mut out, heading());
    for &moment in &page {
        push_rows(&mut out, Paint(options.color), &trace.tables, moment);
    }
    if let Some(next) = matching.next() {
        let left = matching.count() + 1;
        let before = page.iter().rev().take_while(|moment| moment.step == next.step).count();
        // Those of the same step that an earlier page of it has shown count too.
        let earlier =
            if before == page.len() && options.from_step == next.step { options.skip } else { 0 };
        let skip = match before + earlier {
            0 => String::new(),
            skip => format!(" --skip {skip}"),
        };
        push_line(&mut out, format_args!("{left} more; go on with: --from {}{skip}", next.step));
    }
    out
}

/// The filters of one call, with names looked up.
struct Filter<'a> {
    options: &'a ViewOptions,
    tables: &'a Tables,
    /// By the number of a task, whether it passes; empty where all do.
    tasks: Vec<bool>,
    nodes: Vec<bool>,
}

impl<'a> Filter<'a> {
    fn new(tables: &'a Tables, options: &'a ViewOptions) -> Self {
        let tasks = options.task.as_ref().map_or_else(Vec::new, |wanted| {
            let is_it = |(number, name): (usize, &str)| {
                name == wanted || wanted.parse().is_ok_and(|wanted: usize| wanted == number)
            };
            let names = tables.tasks.iter().map(|task| tables.text(task.name));
            // A run without tasks has none to show, not all.
            names.enumerate().map(is_it).chain([false]).collect()
        });
        let nodes = options.node.as_ref().map_or_else(Vec::new, |wanted| {
            let names = tables.nodes.iter().map(|node| tables.text(*node));
            names.map(|name| name == wanted).chain([false]).collect()
        });
        Self { options, tables, tasks, nodes }
    }

    fn passes(&self, moment: &Moment) -> bool {
        let Self { options, tables, tasks, nodes } = self;
        let holds = |list: &[bool], place: Option<usize>| {
            list.is_empty() || place.is_some_and(|place| list.get(place) == Some(&true))
        };
        let event = &moment.event;
        moment.step >= options.from_step
            && (options.since..=options.until).contains(&moment.at)
            && (options.kinds.is_empty() || options.kinds.contains(&event.kind()))
            && (tasks.is_empty() || holds(tasks, tables.task_at(event).map(|t| t.0 as usize)))
            && (nodes.is_empty() || holds(nodes, tables.node_at(event).map(|n| n.0.into())))
    }
}

/// What the filters could have asked for.
fn hint(tables: &Tables, options: &ViewOptions) -> String {
    let mut out = String::new();
    if options.task.is_some() {
        push_names(&mut out, "tasks", tables.tasks.iter().map(|task| tables.text(task.name)));
    }
    if options.node.is_some() {
        push_names(&mut out, "nodes", tables.nodes.iter().map(|node| tables.text(*node)));
    }
    out
}

/// One line: each name once, as many as fit.
fn push_names<'a>(out: &mut String, what: &str, names: impl Iterator<Item = &'a str>) {
    let mut known: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
    known.sort_unstable();
    known.dedup();
    let names: Vec<_> =
        known.iter().take(20).map(|name| cut(&clean(name), 30).into_owned()).collect();
    push_line(out, format_args!("{what} of this trace: {}", names.join(", ")));
}

#[cfg(test)]
mod tests;
