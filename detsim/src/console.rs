//! What detsim prints.
//!
//! Owns: the two ways to print, and the lines that are said once. [`error`] and `print` go the
//! way of `eprintln!` and `print!`, so the test harness captures them with the test's own output;
//! [`announce`] goes to the terminal past any capture.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "the one place that prints")]

use std::collections::BTreeSet;
use std::io::{IsTerminal, Write};
use std::sync::{Mutex, PoisonError};

/// A line on standard error, captured with the test's output.
pub(crate) fn error(line: &str) {
    eprintln!("{line}");
}

/// Text on standard output, captured with the test's output.
pub(crate) fn print(text: &str) {
    print!("{text}");
}

/// A line on standard error past any capture, once in a process.
pub(crate) fn announce(line: &'static str) {
    static SAID: Mutex<BTreeSet<&str>> = Mutex::new(BTreeSet::new());
    if SAID.lock().unwrap_or_else(PoisonError::into_inner).insert(line) {
        draw(&format!("{line}\n"));
    }
}

/// Whether progress is drawn: on a terminal of a person.
pub(crate) fn draws(is_ci: bool) -> bool {
    !is_ci && std::io::stderr().is_terminal()
}

/// Bare text on standard error past any capture. A terminal that is gone is no reason to fail.
pub(crate) fn draw(text: &str) {
    let _gone = std::io::stderr().write_all(text.as_bytes());
}
