//! A task on its way to its run.
//!
//! Owns: [`Sent`], the run loop's pointer to a task that a thread which is not part of the run has spawned
//! there. Does not own: the way (`lane.rs`). Invariants: such a task has no word before it arrives; whoever
//! has the pointer is alone at the future, which is not polled before.
#![expect(unsafe_code, reason = "a task is spawned by one thread and polled by another")]

use super::{Body, BodyPtr, Cell, JoinPtr, Memory};
use crate::block::TaskTag;
use crate::lost::Lost;
use std::future::Future;
use std::panic::Location;
use std::ptr::NonNull;

/// A task that is on its way to its run, from a thread that is not part of it.
#[derive(Debug)]
pub(crate) struct Sent(BodyPtr);

// SAFETY: the future and its output are `Send` (`sent` asks for that), and whoever has this pointer is
// alone at the future. The rest of the cell is reached through its `Bound` and an atomic.
unsafe impl Send for Sent {}

/// Boxes a future for a run that this thread is not part of.
pub(crate) fn sent<F>(
    run: u64,
    future: F,
    site: &'static Location<'static>,
) -> (Sent, JoinPtr<F::Output>)
where
    F: Future + Send + 'static,
    F::Output: Send,
{
    let cell = Memory::fresh(Cell::<F>::CLASS).cast::<Cell<F>>();
    // SAFETY: the block is one of the class of a cell, and is ours.
    unsafe { cell.write(Cell::new(run, TaskTag::NOBODY.word, future, site)) };
    (Sent(BodyPtr(cell as NonNull<dyn Body>)), JoinPtr::new(cell))
}

impl Sent {
    /// It has arrived, as the task of this word. True: it was aborted on its way.
    pub(crate) fn arrive(self, word: u64) -> (BodyPtr, bool) {
        // SAFETY: this pointer keeps the allocation alive.
        let aborted = unsafe { self.0.0.as_ref() }.arrive(word);
        (self.0, aborted)
    }

    /// It will not arrive: its run has ended.
    pub(crate) fn lose(mut self) {
        self.0.cancel();
        self.0.lose(Lost::Aborted);
    }
}

/// The word of a task that was aborted before it arrived.
pub(super) const ABORTED: u64 = u64::MAX;
