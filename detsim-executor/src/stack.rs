//! Await stacks: where, in the chain of awaits, a task waits.
//!
//! Owns: an unresolved backtrace taken at a wait, and the text of it: the frames of the program
//! under test, outermost last; and the reading of printed ones. Does not own: when one is taken. Invariant: names and lines are
//! looked up only when a report is printed, since that costs a hundred milliseconds.

use crate::site;
use std::backtrace::Backtrace;
use std::cell::RefCell;
use std::sync::Arc;

/// The stack at one wait.
#[derive(Clone, Debug)]
pub(crate) struct Stack(Arc<Backtrace>);

thread_local! {
    /// What [`note`] kept last: read by the diagnosing poll right after it.
    static NOTED: RefCell<Option<Stack>> = const { RefCell::new(None) };
}

/// Keeps the stack of a clone of a probing waker.
pub(crate) fn note() {
    NOTED.set(Some(Stack::capture()));
}

/// Keeps the stack of a thread that was resumed to say where it stands.
pub(crate) fn put(stack: Stack) {
    NOTED.set(Some(stack));
}

/// The stack that was noted since the last call.
pub(crate) fn take_noted() -> Option<Stack> {
    NOTED.take()
}

impl Stack {
    #[cold]
    pub(crate) fn capture() -> Self {
        let _ours = crate::here::outside();
        Self(Arc::new(Backtrace::force_capture()))
    }

    /// The program's own frames, `function at file:line`, innermost first.
    pub(crate) fn frames(&self) -> Vec<String> {
        let _ours = crate::here::outside();
        frames_of(&self.0.to_string())
    }
}

/// A frame of a printed backtrace.
#[derive(Clone, Debug)]
pub struct Frame<'a> {
    /// Its lines, as they were printed.
    pub text: String,
    /// What it is a call of.
    pub function: &'a str,
    /// File, line and column, where they are known.
    pub place: Option<&'a str>,
}

/// The frames of a printed backtrace down to where the simulation polls the task: below there is only
/// the run loop.
pub fn frames_of_poll(text: &str) -> Vec<Frame<'_>> {
    let mut frames: Vec<Frame<'_>> = Vec::new();
    for line in text.lines() {
        if let Some(place) = line.trim_start().strip_prefix("at ") {
            if let Some(frame) = frames.last_mut() {
                frame.text.push('\n');
                frame.text.push_str(line);
                frame.place = Some(place);
            }
        } else if let Some((_, function)) = line.split_once(": ") {
            frames.push(Frame { text: line.to_owned(), function, place: None });
        }
    }
    let end = frames.iter().position(is_poll).unwrap_or(frames.len());
    frames.truncate(end);
    frames
}

/// The frame of the poll; where the debug information has lines only, it is told by its file.
fn is_poll(frame: &Frame<'_>) -> bool {
    let is_in_slot = |place: &str| place.contains("/slot.rs:") && is_of(place, "detsim-executor");
    frame.function.contains("detsim_executor::slot::Body>::poll")
        || frame.function.contains("detsim_executor::baton::home::poll_at_home")
        || frame.function == "poll" && frame.place.is_some_and(is_in_slot)
}

/// Picks the program's frames out of a printed backtrace.
fn frames_of(text: &str) -> Vec<String> {
    let frames = frames_of_poll(text).into_iter();
    let known = frames.filter_map(|frame| Some((frame.function, frame.place?)));
    let users = known.filter(|(function, place)| is_users(function, place));
    let mut frames: Vec<String> = users
        .map(|(function, place)| format!("{} at {}", short(function), shown_place(place)))
        .collect();
    frames.dedup();
    frames
}

/// Part of the program under test, neither ours nor the standard library's?
fn is_users(function: &str, place: &str) -> bool {
    let ours =
        ["detsim_executor::", "detsim_shim_tokio::", "detsim::", "core::", "std::", "tokio::"];
    let function = function.trim_start_matches('<');
    !ours.iter().any(|name| function.starts_with(name))
        && !place.starts_with("/rustc/")
        && !place.contains("/rustlib/src/")
        && !PACKAGES.iter().any(|package| is_of(place, package))
}

/// Packages whose frames are not the program's.
const PACKAGES: [&str; 6] =
    ["detsim", "detsim-executor", "detsim-fs", "detsim-net", "detsim-shim-tokio", "tokio"];

/// Is this a source file of the package: `../<package>/src/..`, or of a version of it?
fn is_of(place: &str, package: &str) -> bool {
    let Some((dir, _)) = place.rsplit_once("/src/") else { return false };
    let name = dir.rsplit('/').next().unwrap_or(dir);
    let rest = name.strip_prefix(package);
    rest.is_some_and(|rest| match rest.strip_prefix('-') {
        Some(version) => version.starts_with(|first: char| first.is_ascii_digit()),
        None => rest.is_empty(),
    })
}

/// `pool::drain` of `pool::drain::{{closure}}` (an async fn is a closure) and of
/// `pool::drain::{closure#0}::{async_block#1}`.
fn short(function: &str) -> String {
    let mut name = function;
    while let Some(at) = name.rfind("::{") {
        name = &name[..at];
    }
    name.trim_end_matches("::").to_owned()
}

/// `file:line` of `/path/file:line:column`.
fn shown_place(place: &str) -> String {
    let relative = site::relative(place);
    match relative.rsplit_once(':') {
        Some((line, column)) if column.parse::<u32>().is_ok() => shorten(line).to_owned(),
        _ => shorten(relative).to_owned(),
    }
}

/// A path of backtraces is absolute where rustc's `file!()` is relative: cut it at the package.
fn shorten(place: &str) -> &str {
    let place = place.strip_prefix("./").unwrap_or(place);
    if !place.starts_with('/') {
        return place;
    }
    let cut = ["/src/", "/tests/", "/examples/", "/benches/"];
    let at = cut.iter().filter_map(|dir| place.rfind(dir)).max();
    at.map_or(place, |at| &place[at + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn only_the_programs_frames_stay() {
        let text = "   0: detsim_executor::stack::Stack::capture
             at /w/detsim/detsim-executor/src/stack.rs:40:9
   1: <detsim_shim_tokio::sync::mutex::Lock as core::future::future::Future>::poll
             at /w/detsim/detsim-shim-tokio/src/sync/mutex.rs:140:9
   2: pool::worker::{{closure}}
             at /home/u/app/src/pool.rs:88:21
   3: app::main::{closure#0}::{async_block#1}
             at ./src/main.rs:5:3
   4: <detsim_executor::slot::Cell<F> as detsim_executor::slot::Body>::poll
             at /w/detsim/detsim-executor/src/slot.rs:100:9
   5: app::main
             at ./src/main.rs:9:1
";
        let frames = frames_of(text).join("\n");
        expect![[r#"
            pool::worker at src/pool.rs:88
            app::main at src/main.rs:5"#]]
        .assert_eq(&frames);
    }

    #[test]
    fn debug_information_of_lines_only_tells_frames_by_their_files() {
        let text = "   0: capture
             at /r/detsim-executor-0.1.0/src/stack.rs:40:9
   1: poll<()>
             at /r/detsim-shim-tokio/src/sync/mutex.rs:140:9
   2: {closure#0}
             at /home/u/detsim-app/src/pool.rs:88:21
   3: poll
             at /r/detsim-executor-0.1.0/src/slot.rs:100:9
   4: main
             at ./src/main.rs:9:1
";
        assert_eq!(frames_of(text), ["{closure#0} at src/pool.rs:88"]);
    }

    #[test]
    fn a_note_is_taken_once() {
        note();
        assert!(take_noted().is_some());
        assert!(take_noted().is_none());
    }
}
