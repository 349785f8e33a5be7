//! CPU time per operation: the repeats, interleaved between the peers, and their table.
//!
//! Every repeat is a process of its own that warms up first. The peers take turns within a repeat,
//! so that a slow minute of the machine falls on all of them, and ratios hold where times do not.

use std::fmt::Write as _;

use bench_common::catalog::{CEILINGS, RELATIONS, Workload};
use bench_common::{Command, Sample, median};

use crate::options::Options;
use crate::peers::{Built, OURS};
use crate::table::{ABSENT, Table, compared, figure};

/// What one peer did on one workload: at least one sample, or the peer has no such workload.
pub(crate) type Samples = Vec<Sample>;

/// One workload on every peer.
#[derive(Debug)]
struct Row {
    workload: &'static Workload,
    /// In the order of the peers.
    samples: Vec<Samples>,
}

/// Measures everything that is asked for and writes the table; nothing when no workload is.
pub(crate) fn report(peers: &[Built], options: &Options) -> Result<String, String> {
    let measure_row = |workload: &'static Workload| {
        let samples = measure(&peers.iter().collect::<Vec<_>>(), workload, options)?;
        Ok(Row { workload, samples })
    };
    let rows = options.workloads().map(measure_row).collect::<Result<Vec<_>, String>>()?;
    if rows.is_empty() {
        return Ok(String::new());
    }
    let names: Vec<_> = peers.iter().map(|peer| peer.name).collect();
    Ok(render(&names, &rows, options.repeats()))
}

/// The samples of one workload, peer by peer.
pub(crate) fn measure(
    peers: &[&Built],
    workload: &Workload,
    options: &Options,
) -> Result<Vec<Samples>, String> {
    let mut samples = vec![Samples::new(); peers.len()];
    for _ in 0..options.repeats() {
        for (peer, taken) in peers.iter().zip(&mut samples) {
            let operations = options.scaled(workload.operations);
            if let Some(line) = peer.ask(Command::Measure, workload.name, operations)? {
                taken.push(line.parse()?);
            }
        }
    }
    Ok(samples)
}

/// CPU ns of one operation, the median of the repeats.
pub(crate) fn middle(samples: &Samples) -> Option<f64> {
    let times: Vec<_> = samples.iter().map(Sample::ns_per_operation).collect();
    (!times.is_empty()).then(|| median(&times))
}

fn render(names: &[&str], rows: &[Row], repeats: u32) -> String {
    let title = format!(
        "CPU ns per operation, medians of {repeats}; then how many times less {OURS} takes, and its goal"
    );
    let others = || (0..names.len()).filter(|&peer| names[peer] != OURS);
    let mut heads: Vec<_> =
        ["workload", "operation"].iter().chain(names).map(ToString::to_string).collect();
    heads.extend(others().map(|peer| format!("to {}", names[peer])));
    heads.push("spread".to_owned());
    let mut table = Table::new(&title, heads);
    let ours = names.iter().position(|&name| name == OURS);
    for row in rows {
        let middles: Vec<_> = row.samples.iter().map(middle).collect();
        let own = ours.and_then(|ours| middles[ours]);
        let mut cells = vec![row.workload.name.to_owned(), row.workload.operation.to_owned()];
        cells.extend(middles.iter().map(|ns| ns.map_or(ABSENT.to_owned(), figure)));
        cells.extend(others().map(|peer| ratio(own, middles[peer], row.goal(names[peer]))));
        cells.push(row.spread());
        table.push(cells);
    }
    let mut text = table.to_string();
    push_yield_span(&mut text, names, rows);
    push_events(&mut text, names, rows);
    push_relations(&mut text, ours, rows);
    push_ceilings(&mut text, ours, rows);
    text
}

impl Row {
    fn goal(&self, peer: &str) -> Option<f64> {
        self.workload.goals.iter().find(|(name, _)| *name == peer).map(|&(_, goal)| goal)
    }

    /// The widest range of one peer's repeats, as a share of its median.
    fn spread(&self) -> String {
        let spread = |samples: &Samples| {
            let times = samples.iter().map(Sample::ns_per_operation);
            let (min, max) = (times.clone().reduce(f64::min)?, times.reduce(f64::max)?);
            Some((max - min) / middle(samples)?)
        };
        let widest = self.samples.iter().filter_map(spread).reduce(f64::max);
        widest.map_or(ABSENT.to_owned(), |share| format!("{:.0} %", share * 100.0))
    }
}

/// How many times less CPU time ours takes, held against the goal where there is one.
fn ratio(ours: Option<f64>, theirs: Option<f64>, goal: Option<f64>) -> String {
    let (Some(ours), Some(theirs)) = (ours, theirs) else { return ABSENT.to_owned() };
    let factor = theirs / ours;
    match goal {
        None => format!("{factor:.1}x"),
        Some(goal) if factor >= goal => format!("{factor:.1}x >= {goal:.1}"),
        Some(goal) => format!("{factor:.1}x  < {goal:.1}"),
    }
}

/// The yields with 10, 100 and 10k tasks are to cost about the same.
fn push_yield_span(text: &mut String, names: &[&str], rows: &[Row]) {
    let yields = ["yield-10", "yield-100", "yield-10k"];
    let rows: Vec<_> = rows.iter().filter(|row| yields.contains(&row.workload.name)).collect();
    if rows.len() < yields.len() {
        return;
    }
    let span = |peer: usize| {
        let middles = rows.iter().map(|row| middle(&row.samples[peer]));
        let middles: Option<Vec<_>> = middles.collect();
        let (min, max) =
            middles?.iter().fold((f64::MAX, 0.0_f64), |(min, max), &ns| (min.min(ns), max.max(ns)));
        Some(max / min)
    };
    let spans = per_peer(names, |peer| span(peer).map(|span| format!("{span:.1}x")));
    push_line(text, &format!("dearest to cheapest of {}", yields.join(", ")), &spans);
}

/// Messages and timers of one Raft run: peers with other nets see other numbers.
fn push_events(text: &mut String, names: &[&str], rows: &[Row]) {
    for row in rows {
        let events = |peer: usize| {
            let work = row.samples[peer].first()?.work;
            let each = work.events as f64 / work.operations as f64;
            (each > 0.0).then(|| figure(each.round()).trim_end_matches(".0").to_owned())
        };
        let events = per_peer(names, events);
        push_line(
            text,
            &format!("{}: events a {}", row.workload.name, row.workload.operation),
            &events,
        );
    }
}

/// What ours takes in the one where it takes more, held against the other.
fn push_relations(text: &mut String, ours: Option<usize>, rows: &[Row]) {
    let own = |name: &str| {
        let row = rows.iter().find(|row| row.workload.name == name)?;
        middle(&row.samples[ours?])
    };
    for (name, base, most) in RELATIONS {
        if let (Some(dear), Some(cheap)) = (own(name), own(base)) {
            let (times, most) = (dear / cheap, *most);
            let value = format!("{OURS} {times:.2}x {} {most:.1}", compared(times, most));
            push_line(text, &format!("{name} to {base}"), &[value]);
        }
    }
}

/// What no peer is asked for is held against a figure of its own.
fn push_ceilings(text: &mut String, ours: Option<usize>, rows: &[Row]) {
    for row in rows {
        let name = row.workload.name;
        let most = CEILINGS.iter().find(|(of, _)| *of == name).map(|(_, most)| *most);
        let own = ours.and_then(|ours| middle(&row.samples[ours]));
        if let (Some(most), Some(own)) = (most, own) {
            let value = format!("{OURS} {} {} {}", figure(own), compared(own, most), figure(most));
            push_line(text, name, &[value]);
        }
    }
}

fn per_peer(names: &[&str], value: impl Fn(usize) -> Option<String>) -> Vec<String> {
    let named = names.iter().enumerate();
    named.filter_map(|(peer, name)| Some(format!("{name} {}", value(peer)?))).collect()
}

fn push_line(text: &mut String, what: &str, values: &[String]) {
    if !values.is_empty() {
        writeln!(text, "{what}: {}", values.join(", ")).expect("a String takes every write");
    }
}

#[cfg(test)]
mod tests;
