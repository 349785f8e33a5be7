//! Where a synchronous operation may be preempted.
//!
//! Owns: [`enter`], the way into a primitive for an operation that cannot return `Pending`, and
//! [`before`], for one that begins with a lock. Does not own: whether the task is stopped there (the
//! kernel counts and draws). Invariant: the task is stopped before the operation, outside of the section,
//! with nothing of it done.

use detsim_executor::{Bound, Hold, In, Object, OpKind};

/// The state of a primitive.
pub(super) trait HasObject {
    /// Its identity.
    fn object(&mut self) -> &mut Object;
}

/// The section of an operation, or the stop that comes before it.
#[inline]
#[track_caller]
fn ask<S: HasObject>(
    cell: &Bound<S>,
    operation: impl FnOnce(&S) -> OpKind,
) -> Result<In<'_, S>, Hold> {
    let mut section = cell.enter();
    let operation = operation(&section);
    let (state, kernel) = section.both();
    match kernel.and_then(|kernel| kernel.holds_before(state.object(), operation)) {
        None => Ok(section),
        Some(hold) => Err(hold),
    }
}

/// Enters `cell` for an operation. The current task may be stopped before it, in the middle of its poll.
#[inline]
#[track_caller]
pub(super) fn enter<S: HasObject>(cell: &Bound<S>, operation: OpKind) -> In<'_, S> {
    if let Some(mut section) = cell.enter_own() {
        let (state, kernel) = section.both();
        if kernel.goes_on(state.object()) {
            return section.into_in();
        }
    }
    enter_anyway(cell, operation)
}

#[inline(never)]
#[track_caller]
fn enter_anyway<S: HasObject>(cell: &Bound<S>, operation: OpKind) -> In<'_, S> {
    match ask(cell, |_| operation) {
        Ok(section) => section,
        Err(hold) => {
            hold.take();
            cell.enter()
        }
    }
}

/// Enters `cell` for an operation that takes place in any case, and records it.
#[inline]
#[track_caller]
pub(super) fn operate<S: HasObject>(cell: &Bound<S>, operation: OpKind) -> In<'_, S> {
    if let Some(mut section) = cell.enter_own() {
        let (state, kernel) = section.both();
        if kernel.does_at_once(state.object(), operation) {
            return section.into_in();
        }
    }
    operate_anyway(cell, operation)
}

#[inline(never)]
#[track_caller]
fn operate_anyway<S: HasObject>(cell: &Bound<S>, operation: OpKind) -> In<'_, S> {
    let mut section = enter_anyway(cell, operation);
    let (state, kernel) = section.both();
    if let Some(kernel) = kernel {
        kernel.operate(state.object(), operation);
    }
    section
}

/// The current task may be stopped here, before an operation that takes the lock of a value first.
#[inline]
#[track_caller]
pub(super) fn before<S: HasObject>(cell: &Bound<S>, operation: OpKind) {
    if let Some(mut section) = cell.enter_own()
        && let (state, kernel) = section.both()
        && kernel.goes_on(state.object())
    {
        return;
    }
    if let Err(hold) = ask(cell, |_| operation) {
        hold.take();
    }
}

/// As [`enter`], for what a destructor does: it does not panic where the task is dropped meanwhile.
#[inline]
#[track_caller]
pub(super) fn enter_in_drop<S: HasObject>(
    cell: &Bound<S>,
    operation: impl FnOnce(&S) -> OpKind,
) -> In<'_, S> {
    match ask(cell, operation) {
        Ok(section) => section,
        Err(hold) => {
            hold.take_in_drop();
            cell.enter()
        }
    }
}
