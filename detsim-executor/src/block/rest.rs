//! Places in the wait graph that are kept from one wait to the next.
//!
//! Owns: [`Block::rest`] and [`Block::wait_again`], for objects that somebody waits for millions of times.
//! Does not own: the graph. Invariants: a place that is kept is one of its object's, which therefore
//! stays in the graph; nothing is said of a wait that is over.

use std::panic::Location;
use std::task::Waker;

use super::{Block, Object, OpKind, Party, Stage, TaskTag, Waiter};
use crate::kernel::Kernel;
use crate::lane::LANE_SHIFT;
use crate::stack::Stack;
use crate::waker;

impl Block {
    /// As [`Self::wake`], where others will wait for the same object: the waiter keeps its place for
    /// [`Self::wait_again`], and is given to [`Self::cancel`] in the end.
    #[inline]
    #[must_use]
    pub fn rest(kernel: &mut Kernel, waiter: &mut Waiter) -> Waker {
        if let Some(wait) = kernel.wait_mut(waiter.record) {
            wait.stage = Stage::Rests;
        }
        std::mem::replace(&mut waiter.waker, waker::waker(TaskTag::NOBODY.word))
    }

    /// As [`Self::rest`], in a section of the run's own, and the task is woken. The waker of any other
    /// comes back.
    #[inline(always)]
    #[must_use]
    pub fn rest_own(kernel: &mut Kernel, waiter: &mut Waiter) -> Option<Waker> {
        match waker::ours(&waiter.waker) {
            Some(word) if word >> LANE_SHIFT == kernel.tasks.lane() => {
                if let Some(wait) = kernel.wait_mut(waiter.record) {
                    wait.stage = Stage::Rests;
                }
                // What it keeps is a word, and has nothing to drop.
                kernel.wake(word);
                None
            }
            _ => {
                let waker = Self::rest(kernel, waiter);
                kernel.wake_by(waker)
            }
        }
    }

    /// As [`Self::wait`], in the place of a waiter that [`Self::rest`] was given. Without `parties` the object
    /// has those that it had.
    #[inline(always)]
    pub fn wait_again(
        kernel: &mut Kernel,
        object: &Object,
        waiter: &mut Waiter,
        (op, site): (OpKind, &'static Location<'static>),
        parties: Option<&[Party]>,
        waker: Waker,
    ) {
        // What it had is nobody's or this run's, and has nothing to drop.
        std::mem::forget(std::mem::replace(&mut waiter.waker, waker));
        let (since, word) = (kernel.steps(), kernel.word());
        if let Some(wait) = kernel.wait_mut(waiter.record) {
            (wait.stage, wait.suspect) = (Stage::Waits, false);
            (wait.task, wait.op, wait.site, wait.since) = (word, op, site, since);
        }
        if let Some(parties) = parties {
            Self::held_by(Some(kernel), object, parties);
        }
        if kernel.captures_stacks() {
            record(kernel, object, waiter.record, (op, site));
        }
    }
}

/// What is kept of a wait in a run that is recorded.
#[cold]
#[inline(never)]
fn record(
    kernel: &mut Kernel,
    object: &Object,
    record: u32,
    (op, site): (OpKind, &'static Location<'static>),
) {
    if let Some(wait) = kernel.wait_mut(record) {
        wait.stack = Some(Stack::capture());
    }
    kernel.record_blocked(object, op, site);
}
