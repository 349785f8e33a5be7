//! What a minimised failure says to a person.
//!
//! Owns: the order of its parts: what fails, the decisions that matter (`sentence.rs`), the events
//! that led to it side by side (`table.rs`), the neighbour that passes, and the command to type.
//! Invariants: a pure function of the runs; at most 100 columns; no absolute path and no wall time
//! but in what the user named; the last line is a command.

mod rows;
mod sentence;
mod slice;
mod table;

use crate::minimize::{Confirmed, Minimized, Neighbour};
use crate::outcome::Verdict;
use crate::parting::{Parting, parting};

/// The whole report; `command` is what to type next.
pub(crate) fn told(minimized: &Minimized, command: &str) -> String {
    let decisions = sentence::decisions(&minimized.recording);
    let mut text = headline(minimized);
    text.push('\n');
    for line in minimized.failed.report.trim_end().lines() {
        text.push_str(&sentence::folded(line));
    }
    if !decisions.is_empty() {
        text.push_str("\nit takes:\n");
        for (index, decision) in decisions.iter().enumerate() {
            let number = format!("{:>3}. ", index + 1);
            text.push_str(&sentence::wrapped(&number, decision));
        }
    }
    let table = table::table(&minimized.recording.trace, &minimized.recording.blamed);
    if !table.is_empty() {
        text.push_str("\nwhat led to it:\n");
        text.push_str(&table);
    }
    if let Some(neighbour) = &minimized.neighbour {
        text.push('\n');
        text.push_str(&without_one(minimized, neighbour));
    }
    text.push('\n');
    text.push_str(command);
    text.push('\n');
    text
}

fn headline(minimized: &Minimized) -> String {
    let Minimized { tape, from, replays, cut_short, failed, .. } = minimized;
    let (name, seed) = (test_name(&tape.test), tape.seed);
    let how = match tape.choices.len() {
        0 => "it fails without any: neither an order of tasks nor a fault is needed".to_owned(),
        1 => "one is needed".to_owned(),
        count => format!("{count} are needed"),
    };
    let repeats = match minimized.confirmed {
        Confirmed { runs: 0, .. } => String::new(),
        Confirmed { runs, same } => format!("; {same} of {runs} repeats fail the same way"),
    };
    let unsure = if *cut_short { "; the search ended early, so fewer may do" } else { "" };
    let text = format!(
        "{} in {name}, seed {seed}: of {from} decisions that are not the default, {how} ({replays} \
         runs{unsure}{repeats})",
        failed.kind
    );
    sentence::wrapped("detsim: ", &text)
}

/// The name of a test without its crate.
fn test_name(path: &str) -> &str {
    path.split_once("::").map_or(path, |(_, name)| name)
}

fn without_one(minimized: &Minimized, neighbour: &Neighbour) -> String {
    let place = sentence::place_of(&minimized.recording, neighbour.without);
    let how = match &neighbour.verdict {
        Verdict::Pass => "the test passes".to_owned(),
        Verdict::Fail(failed) => format!("the test fails otherwise ({})", failed.signature),
    };
    let part = parting(&minimized.recording.trace, &neighbour.recording.trace);
    let parts = part.as_ref().map(|part: &Parting| part.told("fails", "passes"));
    let part = if parts.is_some() { "; the two runs part here:" } else { "" };
    let text = format!("without {place} {how}{part}");
    sentence::wrapped("", &text) + &parts.unwrap_or_default()
}

#[cfg(test)]
mod tests;
