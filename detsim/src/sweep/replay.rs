//! `DETSIM_REPLAY`: the choices of a record instead of seeds; and minimising, there and after a sweep.
//!
//! Owns: what is said of a replay: whether it is the recorded run, to its hash, and where it parts
//! from it. Does not own: how sets are run or searched ([`crate::minimize`]).

use std::io;
use std::path::{Path, PathBuf};

use super::records::Shelf;
use super::tally::{Result as Run, Tally};
use super::{fail, show_output};
use super::{regressions, summary};
use crate::attempt::{Body, attempt};
use crate::console;
use crate::failures::store::{self, Place};
use crate::failures::tape::Tape;
use crate::hook;
use crate::minimize::engine::{Engine, Here};
use crate::minimize::{Budget, Known, Minimized, minimize, story};
use crate::outcome::{Keeps, RunOptions, Verdict};
use crate::parting::parting;
use crate::recording::Recording;
use crate::spec::Spec;
use crate::trace;

/// Runs the choices of the record at `path`, or minimises them where that is asked for.
pub(super) fn run(shelf: &Shelf<'_>, body: Body<'_>, path: &Path) {
    let (place, file) = Place::named(path);
    let tape = Tape::read(&file).unwrap_or_else(|why| fail(why.to_string()));
    check_test(shelf.spec, &tape).unwrap_or_else(|why| fail(why));
    if shelf.config.minimize {
        fail(minimized(shelf, body, &tape, Some(&place)).unwrap_or_else(|why| why));
    }
    let run = run_once(shelf, body, &tape, Keeps::All).unwrap_or_else(|lost| fail(lost));
    show_output(tape.seed, &run.output);
    let remark = compared(&tape, &run, &trace_of(&file));
    let command = command(shelf, path);
    let fails = run.outcome.verdict != Verdict::Pass;
    let mut tally = Tally::new(tape.seed, 1);
    tally.enter(0, run);
    let mut lines: Vec<String> =
        tally.buckets().iter().map(|bucket| summary::failure(bucket, shelf.spec)).collect();
    lines.push(remark);
    lines.push(command);
    match fails {
        true => fail(lines.join("\n")),
        false => console::print(&format!("{}\n", lines.join("\n"))),
    }
}

/// A record belongs to one test.
pub(super) fn check_test(spec: &Spec, tape: &Tape) -> Result<(), String> {
    if tape.test == spec.path {
        return Ok(());
    }
    Err(format!(
        "detsim: the record that DETSIM_REPLAY names is one of {}, and this is {}; run that test \
         alone",
        tape.test, spec.path
    ))
}

/// Runs the choices of a tape.
pub(super) fn run_once(
    shelf: &Shelf<'_>,
    body: Body<'_>,
    tape: &Tape,
    keeps: Keeps,
) -> Result<Run, String> {
    #[cfg(target_os = "linux")]
    if !shelf.config.in_process {
        return forked(shelf, tape, keeps);
    }
    hook::chain();
    let options = RunOptions {
        keeps,
        replay: Some(tape.choices.clone()),
        strategy: shelf.strategy().map(str::to_owned),
    };
    Ok(Run { outcome: attempt(body, tape.seed, &options), output: Vec::new() })
}

#[cfg(target_os = "linux")]
fn forked(shelf: &Shelf<'_>, tape: &Tape, keeps: Keeps) -> Result<Run, String> {
    use super::pump::{Ask, Runner};
    use super::tokens::Tokens;
    use crate::recording::encode;
    use crate::worker::protocol::{Mode, Outputs};

    let set = encode(&tape.choices);
    let ask = Ask { outputs: Outputs::All, keeps, set: Some(&set) };
    let tokens = Tokens::shared(shelf.config.jobs);
    let mut runner = Runner::new(shelf.spec, Mode::Fork);
    runner.run_one(&tokens.take(), tape.seed, ask).map_err(|lost| lost.to_string())
}

/// Whether the replay is the recorded run, and where it parts from it.
fn compared(tape: &Tape, run: &Run, recorded: &Path) -> String {
    let count = tape.choices.len();
    let Some(recording) = &run.outcome.recording else {
        return format!("replayed {count} choices; the run left no recording to compare");
    };
    if recording.hash == tape.hash {
        return format!("replayed {count} choices: the recorded run, to its hash");
    }
    let unused = match recording.unused {
        0 => String::new(),
        unused => format!("; {unused} of its choices never came up"),
    };
    format!(
        "detsim: replayed {count} choices, and it is another run than the recorded one: hash {} \
         instead of {}{unused}; the program has changed since, or something outside of the \
         simulation reaches it\n{}",
        recording.hash,
        tape.hash,
        parts(recorded, recording)
    )
}

/// The trace that belongs to a file of choices.
fn trace_of(choices: &Path) -> PathBuf {
    let is_minimized = choices.file_name().is_some_and(|name| name == store::MINIMIZED);
    choices.with_file_name(if is_minimized { store::MINIMIZED_TRACE } else { trace::FILE })
}

/// Where the replay parts from the recorded run.
fn parts(recorded: &Path, recording: &Recording) -> String {
    let recorded = match trace::read(recorded) {
        Ok(recorded) => recorded.trace,
        Err(error) => return format!("where they part cannot be told: {error}"),
    };
    match parting(&recorded, &recording.trace) {
        Some(parting) => parting.told("recorded", "now"),
        None => "their events are the same".to_owned(),
    }
}

/// The command that replays a file of choices.
fn command(shelf: &Shelf<'_>, file: &Path) -> String {
    summary::replay(shelf.spec, &shelf.origin, &shelf.shown(file))
}

/// Minimises a failing run and tells what is left.
///
/// # Errors
/// Where it does not fail in the same way again, or nothing can be run.
pub(super) fn minimized(
    shelf: &Shelf<'_>,
    body: Body<'_>,
    tape: &Tape,
    place: Option<&Place>,
) -> Result<String, String> {
    let file = place.map(|place| place.file(store::MINIMIZED));
    let resumed = file.as_ref().and_then(|file| Tape::read(file).ok());
    let is_same = |known: &Tape| known.test == tape.test && known.signature == tape.signature;
    let others = place.map(Place::others).unwrap_or_default();
    let others = others.iter().filter_map(|file| Tape::read(file).ok()).filter(is_same);
    let known = Known { resumed: resumed.filter(is_same), others: others.collect() };
    let mut save = |tape: &Tape| {
        // Only an interrupted minimisation misses it.
        let _unwritable = file.as_ref().map(|file| tape.write(file));
    };
    let mut hunt = |engine: &mut dyn Engine| {
        let draws = console::draws(shelf.config.is_ci);
        minimize(engine, tape, &known, budget(shelf), &mut save, draws)
    };
    let minimized = with_engine(shelf, body, &mut hunt)?;
    let command = match &file {
        Some(file) => command(shelf, file),
        None => summary::reproduce(shelf.spec, &shelf.origin, tape.seed),
    };
    let mut text = story::told(&minimized, &command);
    if let Some(error) = place.and_then(|place| keep(shelf, place, &minimized, &text).err()) {
        text.insert_str(0, &format!("detsim: the minimised run cannot be kept: {error}\n\n"));
    }
    if shelf.config.save {
        text.insert_str(0, &(regressions::save(shelf.spec, &minimized.tape, &text) + "\n\n"));
    }
    Ok(text.trim_end().to_owned())
}

/// Writes the report and the trace of a minimised run beside its choices.
fn keep(shelf: &Shelf<'_>, place: &Place, minimized: &Minimized, text: &str) -> io::Result<()> {
    let (trace, seed) = (&minimized.recording.trace, minimized.tape.seed);
    shelf.write_trace(trace, seed, &place.file(store::MINIMIZED_TRACE))?;
    place.write(store::STORY, text)
}

fn budget(shelf: &Shelf<'_>) -> Budget {
    let Budget { replays_max, wall } = Budget::DEFAULT;
    Budget {
        replays_max: shelf.config.replays_max.unwrap_or(replays_max),
        wall: shelf.config.budget.unwrap_or(wall),
    }
}

fn with_engine<R>(shelf: &Shelf<'_>, body: Body<'_>, f: &mut dyn FnMut(&mut dyn Engine) -> R) -> R {
    #[cfg(target_os = "linux")]
    if !shelf.config.in_process {
        let tokens = super::tokens::Tokens::shared(shelf.config.jobs);
        return crate::minimize::engine::with_crew(shelf.spec, tokens, f);
    }
    f(&mut Here::new(body, shelf.strategy().map(str::to_owned)))
}
