//! The handles' pointers to a task.
//!
//! Owns: the shares of the ownership that handles have, and what becomes of a task when one of them is
//! given up. Does not own: the task ([`super`]), or what a handle can do ([`crate::join`]). Invariant: a
//! pointer owns one count; who gives up the last one frees the task.

use super::{Body, Cell, Joinable, free, give_back};
use crate::budget::Price;
use crate::lost::Lost;
use std::future::Future;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::task::{Context, Poll, ready};

/// A join handle's pointer to a task: owns one count.
pub(crate) struct JoinPtr<T>(NonNull<dyn Joinable<T>>);

// SAFETY: what the pointer leads to is reached through the biased cell only (the future is not
// touched by handles), and a result of type T may cross threads.
unsafe impl<T: Send> Send for JoinPtr<T> {}
// SAFETY: as above; every access through a shared handle is a section of the cell.
unsafe impl<T: Send> Sync for JoinPtr<T> {}

impl<T> JoinPtr<T> {
    #[inline]
    pub(super) fn new<F: Future<Output = T> + 'static>(cell: NonNull<Cell<F>>) -> Self {
        Self(cell as NonNull<dyn Joinable<T>>)
    }

    pub(crate) fn get(&self) -> &dyn Joinable<T> {
        // SAFETY: the count that this handle owns keeps the allocation alive.
        unsafe { self.0.as_ref() }
    }

    /// See [`Joinable::join`]. A handle that has its result has no task any more.
    #[inline]
    pub(crate) fn join(
        this: &mut Option<Self>,
        price: Price,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<T, Lost>>> {
        let Some(handle) = this else { joined_twice() };
        let Some((out, last)) = ready!(handle.get().join(price, cx)) else {
            return Poll::Ready(None);
        };
        let gone = this.take().map(ManuallyDrop::new);
        if let (true, Some(gone)) = (last, gone) {
            // SAFETY: the handle's count was given up with the result, as the last one, and the pointer
            // to the task has just been taken out of the handle. A task with a result has no future, and
            // this one has no result any more: nothing is left in it to drop.
            unsafe { give_back(gone.0 as NonNull<dyn Body>) }
        }
        Poll::Ready(Some(out))
    }

    /// Another owner, who does not see the result.
    pub(crate) fn abort(&self) -> AbortPtr {
        self.get().keep();
        AbortPtr(self.0 as NonNull<dyn Body>)
    }

    /// The handle of the task of this number goes: an unread panic comes back.
    #[inline]
    pub(crate) fn leave(self, number: Option<u32>) -> Option<Lost> {
        ManuallyDrop::new(self).give_up(number)
    }

    /// Called once, by `leave` or by `drop`.
    #[inline]
    fn give_up(&mut self, number: Option<u32>) -> Option<Lost> {
        let (lost, last) = self.get().leave(number);
        if last {
            // SAFETY: this handle's count was given up just now; nothing uses the pointer again.
            unsafe { free(self.0 as NonNull<dyn Body>) };
        }
        lost
    }
}

impl<T> Drop for JoinPtr<T> {
    fn drop(&mut self) {
        self.give_up(None);
    }
}

/// An abort handle's pointer to a task: owns one count.
pub(crate) struct AbortPtr(NonNull<dyn Body>);

// SAFETY: the pointer leads to the biased cell only. What a last owner frees holds nothing of the
// task's own: the future is dropped where the task ends, and a result is the join handle's, which takes
// it along when it goes.
unsafe impl Send for AbortPtr {}
// SAFETY: as above; every access is a section of the cell.
unsafe impl Sync for AbortPtr {}

impl AbortPtr {
    /// Whether the task has ended.
    pub(crate) fn is_finished(&self) -> bool {
        self.get().is_finished()
    }

    /// Aborts a task that has not arrived; its word where it has.
    pub(crate) fn abort_early(&self) -> Option<u64> {
        self.get().abort_early()
    }

    fn get(&self) -> &dyn Body {
        // SAFETY: the count that this pointer owns keeps the allocation alive.
        unsafe { self.0.as_ref() }
    }
}

impl Clone for AbortPtr {
    fn clone(&self) -> Self {
        self.get().keep();
        Self(self.0)
    }
}

impl Drop for AbortPtr {
    fn drop(&mut self) {
        if self.get().release() {
            // SAFETY: this pointer's count was given up just now; nothing uses it again.
            unsafe { free(self.0) };
        }
    }
}

#[cold]
#[inline(never)]
fn joined_twice() -> ! {
    panic!("detsim: a JoinHandle was polled after it had given its result")
}
