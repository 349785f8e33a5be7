//! The panic hook of a run: where the last panic happened and what it said.
//!
//! Owns: the hook, and the notes: those of a thread that begins runs are its own, those of the threads
//! that help runs along are kept together. Does not own: what becomes of the panic. Invariants: the
//! note is kept before anything is printed, so that a panic that ends the process leaves it behind;
//! whichever thread a task was on, its panic is found; in a worker's children the text that is printed holds nothing that differs from process
//! to process (std's own names the kernel's thread id).

use std::any::Any;
use std::backtrace::{Backtrace, BacktraceStatus};
use std::cell::{Cell, RefCell};
use std::panic::{self, PanicHookInfo};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, Once, PoisonError};
use std::thread;

use detsim_executor::stack::{Frame, frames_of_poll};
use detsim_executor::{context, threads};

use crate::console;
use crate::signature::short_file;

/// Where a panic happened and what it said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Note {
    /// `file:line`.
    pub(crate) site: String,
    pub(crate) message: String,
}

thread_local! {
    /// The panics of this thread since [`forget`], oldest first.
    static NOTES: RefCell<Vec<Note>> = const { RefCell::new(Vec::new()) };
    /// Does this thread begin runs?
    static BEGINS_RUNS: Cell<bool> = const { Cell::new(false) };
}

/// The panics of threads that a run goes on in while a task is held on its own, oldest first.
static NOTES_OF_HELPERS: Mutex<Vec<Note>> = Mutex::new(Vec::new());

/// Notes are kept up to this many: a run whose tasks panic without end must not grow.
const NOTES_MAX: usize = 64;

/// What std panics with when a panic cannot be passed on. The note of the panic before it says
/// more.
const AFTERMATHS: [&str; 2] =
    ["panic in a destructor during cleanup", "panic in a function that cannot unwind"];

/// Takes the place of the process's hook: keeps notes, hands them to `on_panic`, and prints. For
/// the workers, whose process is detsim's own.
pub(crate) fn replace(on_panic: impl Fn(&Note) + Send + Sync + 'static) {
    panic::set_hook(Box::new(move |info| {
        if threads::is_unwinding() {
            return;
        }
        if let Some(note) = keep(info) {
            on_panic(&note);
        }
        print(info);
    }));
}

/// Whether stacks are printed where `RUST_BACKTRACE` asks for them. Symbols take a tenth of a
/// second to find, which only a run that is looked at is worth.
pub(crate) fn print_stacks(prints: bool) {
    WITH_STACKS.store(prints, Ordering::Relaxed);
}

static WITH_STACKS: AtomicBool = AtomicBool::new(false);

/// Keeps notes in front of the process's hook, once. For runs inside the test process.
pub(crate) fn chain() {
    static CHAINED: Once = Once::new();
    CHAINED.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if threads::is_unwinding() {
                return;
            }
            keep(info);
            before(info);
        }));
    });
}

/// Drops the notes of this thread: a run begins.
pub(crate) fn forget() {
    NOTES.with_borrow_mut(Vec::clear);
    BEGINS_RUNS.set(true);
}

/// The last panic of the run of this thread that said this, if there was one.
pub(crate) fn note_of(message: &str) -> Option<Note> {
    let last = |notes: &Vec<Note>| notes.iter().rev().find(|n| n.message == message).cloned();
    NOTES
        .with_borrow(last)
        .or_else(|| last(&NOTES_OF_HELPERS.lock().unwrap_or_else(PoisonError::into_inner)))
}

/// The text of a panic's payload.
pub(crate) fn message_of(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a panic whose payload is no text").to_owned()
}

fn keep(info: &PanicHookInfo<'_>) -> Option<Note> {
    let message = message_of_info(info);
    if AFTERMATHS.contains(&message.as_str()) {
        return None;
    }
    let site = info.location().map(|at| format!("{}:{}", short_file(at.file()), at.line()));
    let note = Note { site: site.unwrap_or_default(), message };
    // The cell is gone where a thread-local destructor panics.
    let _kept = NOTES.try_with(|notes| push(&mut notes.borrow_mut(), &note));
    if BEGINS_RUNS.try_with(Cell::get) == Ok(false) && context::is_inside() {
        push(&mut NOTES_OF_HELPERS.lock().unwrap_or_else(PoisonError::into_inner), &note);
    }
    Some(note)
}

fn push(notes: &mut Vec<Note>, note: &Note) {
    if notes.len() == NOTES_MAX {
        notes.remove(0);
    }
    notes.push(note.clone());
}

fn message_of_info(info: &PanicHookInfo<'_>) -> String {
    message_of(info.payload())
}

fn print(info: &PanicHookInfo<'_>) {
    let thread = thread::current();
    let name = thread.name().unwrap_or("<unnamed>");
    let site = info.location().map(ToString::to_string).unwrap_or_default();
    console::error(&format!("\nthread '{name}' panicked at {site}:\n{}", message_of_info(info)));
    if WITH_STACKS.load(Ordering::Relaxed) {
        let stack = Backtrace::capture();
        if stack.status() == BacktraceStatus::Captured {
            console::error(&format!("stack backtrace:\n{}", of_program(&stack.to_string())));
        }
    }
}

/// The frames from the panic down to where the simulation polls the task, as std's short form leaves
/// out what is not the program's.
fn of_program(stack: &str) -> String {
    let frames = frames_of_poll(stack);
    let panics = |frame: &Frame<'_>| {
        ["core::panicking::", "rust_begin_unwind"].iter().any(|f| frame.function.contains(f))
    };
    let first = frames.iter().rposition(panics).map_or(0, |last| last + 1);
    frames[first..].iter().map(|frame| format!("{}\n", frame.text)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_says_where_and_what() {
        chain();
        let line = line!() + 1;
        let caught = panic::catch_unwind(|| panic!("boom {}", 7)).unwrap_err();
        assert_eq!(message_of(&*caught), "boom 7");
        let note = note_of("boom 7").unwrap();
        assert!(note.site.ends_with(&format!("src/hook.rs:{line}")), "{}", note.site);
        forget();
        assert_eq!(note_of("boom 7"), None);
    }

    #[test]
    fn a_stack_ends_where_the_simulation_begins() {
        let stack = "   0: detsim::hook::print
             at /w/detsim/src/hook.rs:116:21
   1: std::panicking::panic_with_hook
             at /rustc/1/library/std/src/panicking.rs:833:13
   2: __rustc::rust_begin_unwind
   3: core::panicking::panic
   4: pool::drains
             at ./tests/pool.rs:8:5
   5: <detsim_executor::slot::Cell<F> as detsim_executor::slot::Body>::poll
             at /w/detsim-executor/src/slot.rs:288:75
   6: std::panicking::catch_unwind
";
        // The frame of `catch_unwind` lies below the poll: it is not the panic's.
        assert_eq!(of_program(stack), "   4: pool::drains\n             at ./tests/pool.rs:8:5\n");
        assert_eq!(of_program("   0: a\n"), "   0: a\n");
    }

    #[test]
    fn a_payload_that_is_no_text_is_named() {
        let caught = panic::catch_unwind(|| panic::panic_any(7)).unwrap_err();
        assert_eq!(message_of(&*caught), "a panic whose payload is no text");
    }
}
