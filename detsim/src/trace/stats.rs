//! What a run was made of, in numbers.
//!
//! Owns: the counts and their tables. Does not own: the columns' widths ([`super::columns`]).
//! Invariant: one pass over the events, whatever their number.

use std::collections::BTreeMap;
use std::fmt::Write;

use detsim_executor::SimTime;
use detsim_executor::event::{
    DropReason, Event, NetEvent, NodeChange, NodeId, ObjectId, TaskNumber, TextId,
};
use detsim_executor::{OpKind, Trace};

use super::Recorded;
use super::columns::{WIDTH, clean, cut, cut_start, push_line, task_name, title};

/// What of the counts to show.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StatsOptions {
    /// The longest a table gets; what is cut is counted.
    pub rows: usize,
}

impl Default for StatsOptions {
    fn default() -> Self {
        Self { rows: 20 }
    }
}

/// Picks of each task, reasons of waits, the largest jumps of virtual time, messages and faults of
/// each link.
pub fn stats(recorded: &Recorded, options: &StatsOptions) -> String {
    let trace = &recorded.trace;
    let counts = Counts::of(trace, options.rows.min(JUMPS));
    let mut out = String::new();
    push_line(&mut out, title(recorded));
    push_line(&mut out, counts.overview(trace));
    counts.tasks(trace, options.rows, &mut out);
    counts.waits(trace, options.rows, &mut out);
    counts.jumps(trace, &mut out);
    counts.links(trace, options.rows, &mut out);
    counts.faults(&mut out);
    out
}

/// Jumps of the clock that are shown.
const JUMPS: usize = 5;
/// What polls and readings of the clock cost is no jump.
const JUMP_NS_MIN: u64 = 1_000;

#[derive(Debug, Default)]
struct Counts {
    tasks: BTreeMap<TaskNumber, OfTask>,
    waits: BTreeMap<(OpKind, ObjectId, TextId), u64>,
    /// The largest: nanoseconds, and the place of the event that they end with.
    jumps: Vec<(u64, usize)>,
    links: BTreeMap<(NodeId, NodeId), OfLink>,
    crashes: u64,
    kills: u64,
    pauses: u64,
    partitions: u64,
    picks: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct OfTask {
    picks: u64,
    stops: u64,
    waits: u64,
    operations: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct OfLink {
    sent: u64,
    arrived: u64,
    lost: u64,
    twice: u64,
    held: u64,
    cut: u64,
    latency_ns: u128,
    latency_ns_max: u64,
}

impl Counts {
    fn of(trace: &Trace, jumps: usize) -> Self {
        let mut counts = Self::default();
        let mut before = SimTime::ZERO;
        for (place, moment) in trace.moments.iter().enumerate() {
            counts.event(&moment.event);
            let passed_ns = moment.at.as_nanos().saturating_sub(before.as_nanos());
            before = moment.at;
            let smallest = counts.jumps.last().map_or(0, |jump| jump.0);
            if passed_ns >= JUMP_NS_MIN && (passed_ns > smallest || counts.jumps.len() < jumps) {
                let at = counts.jumps.partition_point(|jump| jump.0 >= passed_ns);
                counts.jumps.insert(at, (passed_ns, place));
                counts.jumps.truncate(jumps);
            }
        }
        counts
    }

    fn event(&mut self, event: &Event) {
        match *event {
            Event::Stepped { task } => {
                self.picks += 1;
                self.task(task).picks += 1;
            }
            Event::Preempted { task, .. } => self.task(task).stops += 1,
            Event::Operated { task, .. } => self.task(task).operations += 1,
            Event::Blocked { task, op, object, site } => {
                self.task(task).waits += 1;
                *self.waits.entry((op, object, site)).or_default() += 1;
            }
            Event::Net(event) => self.net(&event),
            Event::Node { change: NodeChange::Crashed, .. } => self.crashes += 1,
            Event::Node { change: NodeChange::Killed, .. } => self.kills += 1,
            Event::Node { change: NodeChange::Paused, .. } => self.pauses += 1,
            Event::Aborted { .. }
            | Event::Called { .. }
            | Event::Chose { .. }
            | Event::Disk(_)
            | Event::Finished { .. }
            | Event::Node { .. }
            | Event::Noted { .. }
            | Event::Panicked { .. }
            | Event::Spawned { .. } => {}
        }
    }

    fn task(&mut self, task: TaskNumber) -> &mut OfTask {
        self.tasks.entry(task).or_default()
    }

    fn net(&mut self, event: &NetEvent) {
        let Some(ends) = event.link() else {
            self.partitions += u64::from(matches!(event, NetEvent::Partitioned { .. }));
            return;
        };
        let link = self.links.entry(ends).or_default();
        match event {
            NetEvent::Sent { latency_ns, .. } => {
                link.sent += 1;
                link.latency_ns += u128::from(latency_ns.get());
                link.latency_ns_max = link.latency_ns_max.max(latency_ns.get());
            }
            NetEvent::Delivered { .. } => link.arrived += 1,
            NetEvent::Dropped { why: DropReason::Partition, .. } => link.cut += 1,
            NetEvent::Dropped { .. } => link.lost += 1,
            NetEvent::Duplicated { .. } => link.twice += 1,
            NetEvent::Held { .. } => link.held += 1,
            NetEvent::Healed { .. }
            | NetEvent::Lagged { .. }
            | NetEvent::LookupFailed { .. }
            | NetEvent::LookupFaulted { .. }
            | NetEvent::Packet { .. }
            | NetEvent::Partitioned { .. }
            | NetEvent::Reset { .. }
            | NetEvent::Shortened { .. }
            | NetEvent::Slowed { .. } => {}
        }
    }

    fn overview(&self, trace: &Trace) -> String {
        let last = trace.moments.last();
        let (steps, time) = last.map_or((0, SimTime::ZERO), |moment| (moment.step, moment.at));
        format!(
            "{} events, {steps} steps, {time} of virtual time, {} tasks, {} nodes, {} choices",
            trace.moments.len(),
            trace.tables.tasks.len(),
            trace.tables.nodes.len().saturating_sub(1),
            trace.tables.choices.len()
        )
    }

    fn tasks(&self, trace: &Trace, most: usize, out: &mut String) {
        let mut tasks: Vec<(TaskNumber, OfTask)> =
            self.tasks.iter().map(|(t, c)| (*t, *c)).collect();
        tasks.sort_by_key(|(task, counts)| (std::cmp::Reverse(counts.picks), *task));
        section(out, "picks by task");
        if tasks.is_empty() {
            return push_line(out, "  none");
        }
        push_line(
            out,
            format_args!(
                "  {:<32} {:<10} {:>10} {:>7} {:>8} {:>8} {:>10}",
                "task", "node", "picks", "share", "stops", "waits", "operations"
            ),
        );
        for (task, counts) in tasks.iter().take(most) {
            let node =
                trace.tables.task(*task).map(|t| trace.tables.node_shown(t.node).to_string());
            let node = node.unwrap_or_default();
            let OfTask { picks, stops, waits, operations } = counts;
            let share = percent(*picks, self.picks);
            let (name, node) = (task_name(&trace.tables, *task, 32), cut(&node, 10));
            let line = format!("  {name:<32} {node:<10} {picks:>10} {share:>7} {stops:>8}");
            push_line(out, format_args!("{line} {waits:>8} {operations:>10}"));
        }
        more(out, tasks.len(), most, "tasks");
    }

    fn waits(&self, trace: &Trace, most: usize, out: &mut String) {
        let mut waits: Vec<_> = self.waits.iter().collect();
        waits.sort_by_key(|(reason, count)| (std::cmp::Reverse(**count), **reason));
        section(out, "waits by reason");
        if waits.is_empty() {
            return push_line(out, "  none");
        }
        let longest = waits.first().map_or(1, |(_, count)| **count);
        for (&(op, object, site), &count) in waits.iter().copied().take(most) {
            let event = Event::Blocked { task: TaskNumber(0), op, object, site };
            let reason = trace.tables.predicate(&event).to_string();
            let reason = clean(reason.trim_start_matches("waits: ")).into_owned();
            let bar = "#".repeat((count * BAR / longest).max(1) as usize);
            let reason = cut_start(&reason, WIDTH - 12 - BAR as usize);
            push_line(
                out,
                format_args!("{count:>10} {bar:<width$} {reason}", width = BAR as usize),
            );
        }
        more(out, waits.len(), most, "reasons");
    }

    fn jumps(&self, trace: &Trace, out: &mut String) {
        section(out, "largest jumps of virtual time, and what they end with");
        if self.jumps.is_empty() {
            return push_line(out, "  none");
        }
        for (passed_ns, place) in &self.jumps {
            let passed = SimTime::from_nanos(*passed_ns).to_string();
            let what = trace.line(&trace.moments[*place]).to_string();
            push_line(out, format_args!("{:>13} {what}", format!("+{passed}")));
        }
    }

    fn links(&self, trace: &Trace, most: usize, out: &mut String) {
        section(out, "messages by link");
        if self.links.is_empty() {
            return push_line(out, "  none");
        }
        push_line(
            out,
            format_args!(
                "  {:<25} {:>8} {:>8} {:>7} {:>7} {:>7} {:>7} {:>10} {:>9}",
                "link", "sent", "arrived", "lost", "cut", "twice", "held", "mean", "longest"
            ),
        );
        for (&(from, to), link) in self.links.iter().take(most) {
            let (from, to) = (trace.tables.node_shown(from), trace.tables.node_shown(to));
            let name = format!("{from} -> {to}");
            let name = cut(&clean(&name), 25).into_owned();
            let mean = link.latency_ns.checked_div(link.sent.into()).unwrap_or(0) as u64;
            let OfLink { sent, arrived, lost, cut, twice, held, latency_ns_max, .. } = link;
            let mut line = format!("  {name:<25} {sent:>8} {arrived:>8} {lost:>7} {cut:>7}");
            let (mean, longest) = (ms(mean), ms(*latency_ns_max));
            write!(line, " {twice:>7} {held:>7} {mean:>10} {longest:>9}")
                .expect("invariant: a string takes any text");
            push_line(out, line);
        }
        more(out, self.links.len(), most, "links");
    }

    fn faults(&self, out: &mut String) {
        section(out, "faults of nodes and links");
        let Self { crashes, kills, pauses, partitions, .. } = self;
        push_line(
            out,
            format_args!(
                "  {crashes} crashes, {kills} kills, {pauses} pauses, {partitions} partitions"
            ),
        );
    }
}

/// The length of the longest bar.
const BAR: u64 = 20;

fn section(out: &mut String, name: &str) {
    out.push('\n');
    push_line(out, name);
}

fn more(out: &mut String, count: usize, most: usize, what: &str) {
    if count > most {
        push_line(out, format_args!("  and {} more {what}", count - most));
    }
}

/// `41.2%`, in whole numbers.
fn percent(part: u64, whole: u64) -> String {
    let permille = (u128::from(part) * 1_000).checked_div(whole.into()).unwrap_or(0);
    format!("{}.{}%", permille / 10, permille % 10)
}

/// `1.234ms`.
fn ms(ns: u64) -> String {
    format!("{}.{:03}ms", ns / 1_000_000, ns / 1_000 % 1_000)
}

#[cfg(test)]
mod tests;
