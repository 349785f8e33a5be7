//! One sentence for each decision that is needed.
//!
//! Owns: the words. A stop of a task and the pick that follows it are one decision to a person, and
//! so one sentence.

use detsim_executor::SimTime;
use detsim_executor::choice::{ChoiceNote, Decided};
use detsim_executor::event::Event;

use crate::recording::Recording;
use crate::trace::columns::clean;

/// The widest line.
const COLUMNS: usize = 100;

/// The sentences, in the order in which things happen.
pub(crate) fn decisions(recording: &Recording) -> Vec<String> {
    let mut told = Vec::new();
    for (index, note) in recording.notes.iter().enumerate() {
        if !is_told_before(&recording.notes, index) {
            told.push(sentence(recording, index, note));
        }
    }
    told
}

/// How the text calls the decision that this choice is part of.
pub(crate) fn place_of(recording: &Recording, choice: usize) -> String {
    let notes = &recording.notes;
    let number = (0..=choice).filter(|index| !is_told_before(notes, *index)).count();
    match decisions(recording).len() {
        0 | 1 => "it".to_owned(),
        _ => format!("decision {number}"),
    }
}

/// Is this the pick right after a stop, which the sentence of the stop tells?
fn is_told_before(notes: &[ChoiceNote], index: usize) -> bool {
    let Some((before, note)) =
        index.checked_sub(1).and_then(|b| notes.get(b)).zip(notes.get(index))
    else {
        return false;
    };
    let is_stop = matches!(before.decided, Decided::Stopped { .. });
    let is_pick = matches!(note.decided, Decided::Ran { .. });
    is_stop && is_pick && note.task == before.task && note.step == before.step
}

fn sentence(recording: &Recording, index: usize, note: &ChoiceNote) -> String {
    let at = Moment(note.at, note.step);
    match &note.decided {
        Decided::Stopped { op, object } => {
            let place = note.stack.first().and_then(|frame| frame.rsplit_once(" at "));
            let place = place.map(|(_, place)| format!("at {place} ")).unwrap_or_default();
            let (task, instead) = (&note.task, who_ran(recording, index));
            format!("{place}{task}, before {op} of {object}, was stopped{instead} ({at})")
        }
        Decided::Ran { task, instead_of } => {
            format!("{task} ran next instead of {instead_of} ({at})")
        }
        Decided::Drawn { value, bound } => drawn(note, *value, *bound, &at),
        Decided::Happened => happened(note, &at),
    }
}

/// Who ran after a stop: the pick after it says so, or the trace.
fn who_ran(recording: &Recording, stop: usize) -> String {
    let notes = &recording.notes;
    if is_told_before(notes, stop + 1)
        && let Decided::Ran { task, .. } = &notes[stop + 1].decided
    {
        return format!(" and {task} ran instead");
    }
    let trace = &recording.trace;
    let rest = trace.moments.iter().skip(notes[stop].events as usize);
    let next = rest.map(|moment| moment.event).find_map(|event| match event {
        Event::Stepped { task } => Some(trace.tables.task_shown(task).to_string()),
        _ => None,
    });
    match next {
        Some(task) if task != notes[stop].task => format!(" and {task} ran instead"),
        _ => String::new(),
    }
}

fn drawn(note: &ChoiceNote, value: u64, bound: u64, at: &Moment) -> String {
    let ChoiceNote { domain, task, .. } = note;
    let place = note.stack.first().map(|frame| format!(" in {frame}")).unwrap_or_default();
    match domain.split('/').collect::<Vec<_>>()[..] {
        ["net", from, to] => {
            let late = SimTime::from_nanos(value);
            format!("a message from {from} to {to} took {late} more than the least ({at})")
        }
        ["net", "short"] => {
            let bytes = if value == 1 { "byte" } else { "bytes" };
            format!("a read or write of a socket took {value} {bytes} less than it could ({at})")
        }
        ["env", world, "faults", family] => {
            let world = called(world);
            format!("the seed drew {value} out of 0..{bound} for {family} of the {world} ({at})")
        }
        ["select"] => {
            format!("{task}{place} polled branch {value} of {bound} first in a select ({at})")
        }
        ["watch"] => {
            format!("{task}{place} woke receiver {value} of {bound} of a watch first ({at})")
        }
        ["env", "net", "whom"] => format!(
            "whom it strikes that goes wrong on the network drew {value} out of 0..{bound} ({at})"
        ),
        ["env", "net"] => {
            format!(
                "what goes wrong on the network by itself drew {value} out of 0..{bound} ({at})"
            )
        }
        ["env", "nodes", kind] => {
            let befalls = "what befalls nodes by itself";
            format!("{befalls} ({kind}) drew {value} out of 0..{bound} ({at})")
        }
        ["choose"] => format!("{task}{place} chose {value} out of 0..{bound} ({at})"),
        _ => format!("{domain} drew {value} out of 0..{bound} ({at})"),
    }
}

fn happened(note: &ChoiceNote, at: &Moment) -> String {
    if let Some(what) = note.domain.strip_prefix("fault/") {
        return format!("a fault of the scenario: {what} ({at})");
    }
    match note.domain.split('/').collect::<Vec<_>>()[..] {
        ["net", from, to, "loss"] => {
            format!("a message from {from} to {to} was lost when it was sent ({at})")
        }
        ["net", from, to, "loss-at-delivery"] => {
            format!("a message from {from} to {to} was lost on arrival ({at})")
        }
        ["net", from, to, "duplicate"] => {
            format!("a message from {from} to {to} was delivered twice ({at})")
        }
        ["net", from, to, "tail"] => {
            format!("a message from {from} to {to} took much longer than others ({at})")
        }
        ["env", "net"] => format!("something went wrong on the network by itself ({at})"),
        ["env", "nodes", kind] => format!("something befell the nodes by itself: {kind} ({at})"),
        ["net", "reset"] => format!("a connection was reset ({at})"),
        ["env", world, "faults", family] => {
            format!("the seed had {family} in store for the {} ({at})", called(world))
        }
        ["disk", disk, fault] => format!("{} ({at})", disk_fault(disk, fault)),
        _ => format!("{} happened ({at})", note.domain),
    }
}

/// What a stream's name calls a part of the world.
fn called(world: &str) -> &str {
    if world == "net" { "network" } else { world }
}

/// What went wrong on a disk.
fn disk_fault(disk: &str, fault: &str) -> String {
    match fault {
        "corrupt_byte" => format!("a byte went to the medium of disk {disk} wrong"),
        "reorder" => format!("disk {disk} had written in an order of its own when it crashed"),
        "skip_sync" => format!("a sync of disk {disk} reported success and did nothing"),
        "torn_write" => format!("a write to disk {disk} was torn by the crash"),
        _ => format!("disk {disk} failed: {fault}"),
    }
}

/// `at 1.2ms, step 17`.
struct Moment(SimTime, u64);

impl std::fmt::Display for Moment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, step {}", self.0, self.1)
    }
}

/// A line as it is, or on several where it is too wide, each indented as the first one and a bit more.
pub(crate) fn folded(line: &str) -> String {
    let text = line.trim_start();
    let indent = line.chars().count() - text.chars().count();
    if line.chars().count() <= COLUMNS {
        return format!("{line}\n");
    }
    let start = format!("{:indent$}    ", "");
    let folded = wrapped(&start, text);
    format!("{:indent$}{}", "", &folded[start.len()..])
}

/// A text on lines of at most 100 columns, the first after `start`, the others below its end.
pub(crate) fn wrapped(start: &str, text: &str) -> String {
    let indent = start.chars().count();
    let (mut out, mut column) = (start.to_owned(), indent);
    for word in clean(text.trim_end()).split(' ') {
        let width = word.chars().count();
        if column > indent && column + 1 + width > COLUMNS {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', indent));
            column = indent;
        } else if column > indent {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += width;
    }
    out.push('\n');
    out
}
