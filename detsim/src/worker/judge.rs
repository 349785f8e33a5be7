//! From what a child left behind to a verdict.
//!
//! Owns: the rule that a run which left no record has failed whatever its exit status, and the
//! names of the ways in which a process ends. Pure functions.

#[cfg(test)]
mod tests;

use crate::hook::Note;
use crate::outcome::{Kind, RunOutcome, Verdict};
use crate::recording::Recording;
use crate::signature::without_numbers;
use crate::worker::protocol::{Ran, Record, Stuck};
use crate::worker::sys::OUTPUT_BYTES_MAX;

/// The verdict on one seed.
pub(crate) fn judge(ran: &Ran) -> RunOutcome {
    let record = (!ran.record.is_empty()).then(|| Record::decode(&ran.record));
    match (record, End::of(ran.head.status)) {
        (Some(Err(malformed)), _) => {
            harness(&format!("the run's record is broken: {}", malformed.0))
        }
        (Some(Ok(Record::Stuck(stuck))), _) => stopped(&stuck),
        (Some(Ok(Record::Ended(outcome))), End::Code(0)) => with_recording(outcome, ran),
        // A run that failed and then did not even end in order is told by its own failure.
        (Some(Ok(Record::Ended(outcome))), _) if outcome.verdict != Verdict::Pass => {
            with_recording(outcome, ran)
        }
        (_, end) => crashed(end, ran),
    }
}

fn with_recording(outcome: RunOutcome, ran: &Ran) -> RunOutcome {
    RunOutcome { recording: Recording::decode(&ran.recording), ..outcome }
}

/// A seed that detsim could not run.
pub(crate) fn harness(fact: &str) -> RunOutcome {
    let kind = Kind::Harness;
    RunOutcome::failed(kind, format!("{kind}: {fact}"), format!("detsim could not run it: {fact}"))
}

fn stopped(stuck: &Stuck) -> RunOutcome {
    let Stuck { steps, busy_permille, wall_ms, task } = stuck;
    // What waits burns nothing; what computes gets its share, however crowded the machine is.
    let what = if *busy_permille >= 50 { "spins" } else { "hangs" };
    let who = if task.is_empty() { "the test" } else { task.as_str() };
    let kind = Kind::Limit;
    let report = format!(
        "{who} {what}: no step for {} s of wall time after step {steps}, with the processor {}% \
         busy; it computes without end or waits for the real world inside one poll; let it await, \
         or raise the limit on one poll",
        Seconds(*wall_ms),
        (busy_permille / 10).min(100),
    );
    RunOutcome::failed(kind, without_numbers(&format!("{kind}: {who} {what}")), report)
}

/// Milliseconds, told in seconds.
struct Seconds(u64);

impl std::fmt::Display for Seconds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.0 / 1000, self.0 % 1000) {
            (s, 0) => write!(f, "{s}"),
            (s, ms) => write!(f, "{s}.{ms:03}"),
        }
    }
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Code(i32),
    Signal(i32),
}

impl End {
    /// From a wait status.
    pub(crate) fn of(status: i32) -> Self {
        if libc::WIFSIGNALED(status) {
            Self::Signal(libc::WTERMSIG(status))
        } else {
            Self::Code(libc::WEXITSTATUS(status))
        }
    }
}

fn crashed(end: End, ran: &Ran) -> RunOutcome {
    let output = String::from_utf8_lossy(&ran.output);
    let what = match (end, hint(&output, ran.output.len())) {
        (End::Signal(_), Some(cause)) => format!("{cause}; the process ended with {}", Name(end)),
        (End::Signal(_), None) => format!("the process ended with {}", Name(end)),
        (End::Code(_), _) => format!("the process ended with {} inside the test", Name(end)),
    };
    let kind = Kind::Crash;
    match Note::decode(&ran.note) {
        Ok(Note { site, message }) => RunOutcome::failed(
            kind,
            format!("{kind}: {what} after a panic at {site}"),
            format!("{what}, after a panic at {site}:\n{message}"),
        ),
        Err(_) => RunOutcome::failed(kind, format!("{kind}: {what}"), what),
    }
}

/// What the last words of a dying process say of the cause.
fn hint(output: &str, output_bytes: usize) -> Option<&'static str> {
    if output.contains("has overflowed its stack") {
        Some("stack overflow")
    } else if output.contains("memory allocation of") {
        Some("out of memory")
    } else if output_bytes as u64 >= OUTPUT_BYTES_MAX {
        Some("too much output")
    } else {
        None
    }
}

/// An end in words.
pub(crate) struct Name(pub(crate) End);

impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            End::Code(code) => write!(f, "exit code {code}"),
            End::Signal(signal) => match signal_name(signal) {
                Some(name) => write!(f, "signal {signal} ({name})"),
                None => write!(f, "signal {signal}"),
            },
        }
    }
}

fn signal_name(signal: i32) -> Option<&'static str> {
    Some(match signal {
        libc::SIGABRT => "SIGABRT: abort",
        libc::SIGALRM => "SIGALRM: alarm",
        libc::SIGBUS => "SIGBUS: bad memory access",
        libc::SIGFPE => "SIGFPE: arithmetic",
        libc::SIGILL => "SIGILL: illegal instruction",
        libc::SIGINT => "SIGINT: interrupt",
        libc::SIGKILL => "SIGKILL: killed, as an out-of-memory killer does",
        libc::SIGPIPE => "SIGPIPE: broken pipe",
        libc::SIGSEGV => "SIGSEGV: bad memory access",
        libc::SIGTERM => "SIGTERM: terminated",
        libc::SIGTRAP => "SIGTRAP: trap",
        _ => return None,
    })
}
