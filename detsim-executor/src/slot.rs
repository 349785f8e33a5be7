//! Where futures live while they run.
//!
//! Owns: one allocation a task, shared by the run loop and the join handle: the pinned future, and
//! the cell with its result. Does not own: who polls when. Invariants: the future is touched by
//! the baton holder alone, and never moved from the moment it is boxed until it is dropped in
//! place; the count of owners (run loop, handles) sits inside the biased cell, so the last one out
//! frees, on whatever thread; results and wakers leave the cell before they are dropped.
#![expect(unsafe_code, reason = "one allocation for future and result, polled through a pointer")]

mod handle;
mod memory;
mod sent;

pub(crate) use self::handle::{AbortPtr, JoinPtr};
use self::memory::Class;
pub(crate) use self::memory::Memory;
use self::sent::ABORTED;
pub(crate) use self::sent::{Sent, sent};
use crate::block::{Block, Object, OpKind, Party, ResourceKind, Role, TaskTag, Waiter};
use crate::bound::{Bound, In, kernel};
use crate::budget::Price;
use crate::here;
use crate::kernel::Kernel;
use crate::lost::Lost;
use std::alloc::Layout;
use std::cell::UnsafeCell;
use std::fmt;
use std::future::Future;
use std::mem::{self, ManuallyDrop};
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::pin::Pin;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll, Waker};

/// What a poll has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Polled {
    Pending,
    /// The task has ended, and the run loop owns it still.
    Ended,
    /// The task has ended, and the run loop owns it no more: it is its handle's.
    Left,
    /// The task has ended, and so has all that was left of it: its memory is free.
    Last,
}

/// What the run loop sees of a task.
pub(crate) trait Body {
    /// Polls the future once; a result goes to the handle. Panics of the future pass through.
    fn poll(&self, cx: &mut Context<'_>) -> Polled;
    /// Drops the future.
    fn cancel(&self);
    /// Tells the handle that there will be no result. True: somebody will hear of it.
    fn lose(&self, lost: Lost) -> bool;
    /// One owner more.
    fn keep(&self);
    /// One owner less; true for the last one.
    fn release(&self) -> bool;
    /// There is a result, or it is lost.
    fn is_finished(&self) -> bool;
    /// The word of the task; matches nothing once that has ended, nor before it has arrived in its run.
    fn word(&self) -> u64;
    /// The task has arrived in its run, with this word. True: it was aborted before.
    fn arrive(&self, word: u64) -> bool;
    /// Aborts a task that has not arrived; its word where it has.
    fn abort_early(&self) -> Option<u64>;
    /// Which memory the allocation is of.
    fn class(&self) -> &'static Class;
}

/// See [`Joinable::join`].
type Joined<T> = Poll<Option<(Result<T, Lost>, bool)>>;

/// What a join handle sees of a task.
pub(crate) trait Joinable<T>: Body {
    /// Waits for the result; `None` where the current task cannot pay for it. With the result goes the
    /// handle's share of the ownership: true for the last owner.
    fn join(&self, price: Price, cx: &mut Context<'_>) -> Joined<T>;
    /// The handle of the task, of this number, goes, and with it one owner. An unread panic comes back,
    /// for somebody to hear of it; and true for the last owner.
    fn leave(&self, number: Option<u32>) -> (Option<Lost>, bool);
}

/// The run loop's pointer to a task, and its one owner there: who polls or drops the future has
/// taken the pointer out of the table of tasks, so nobody else can. Neither `Send` nor `Sync`: the
/// baton holder's alone.
pub(crate) struct BodyPtr(NonNull<dyn Body>);

impl BodyPtr {
    /// Polls the task's future. Where the task has ended, and this pointer has no share of it any more, it is
    /// to be given to [`Self::end_after`] and to nobody else.
    #[inline]
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Polled {
        // SAFETY: this pointer keeps the allocation alive, and is borrowed mutably.
        unsafe { self.0.as_ref() }.poll(cx)
    }

    /// The task has ended in a poll: this pointer again, where it owns something of the task.
    #[inline]
    pub(crate) fn end_after(self, polled: Polled) -> Option<Self> {
        match polled {
            Polled::Pending | Polled::Ended => return Some(self),
            Polled::Left => mem::forget(self),
            Polled::Last => self.end_last(),
        }
        None
    }

    #[inline(never)]
    fn end_last(self) {
        // SAFETY: the poll gave up the last count, and has left nothing in the task to drop; the pointer
        // ends here.
        unsafe { give_back(ManuallyDrop::new(self).0) }
    }

    /// Drops the task's future in place.
    pub(crate) fn cancel(&mut self) {
        // SAFETY: this pointer keeps the allocation alive, and is borrowed mutably.
        unsafe { self.0.as_ref() }.cancel();
    }

    /// The task has ended, and no section is open: what dropping this looks at first.
    #[inline]
    pub(crate) fn end(self) {
        let this = ManuallyDrop::new(self);
        // SAFETY: as in `drop`, which does not run.
        unsafe {
            if this.0.as_ref().release() {
                free(this.0);
            }
        }
    }

    /// Tells the handle that the result is lost. True: somebody will hear of it.
    pub(crate) fn lose(&self, lost: Lost) -> bool {
        // SAFETY: this pointer keeps the allocation alive.
        unsafe { self.0.as_ref() }.lose(lost)
    }
}

impl Drop for BodyPtr {
    #[inline]
    fn drop(&mut self) {
        // A section was left open, and the panic that says so passes by: the count is out of reach.
        if here::is_in_section() {
            return;
        }
        // SAFETY: the run loop's share of the ownership is given up once; the last owner out frees
        // what `boxed` took.
        unsafe {
            if self.0.as_ref().release() {
                free(self.0);
            }
        }
    }
}

impl fmt::Debug for BodyPtr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BodyPtr")
    }
}

/// What is left of a result that nobody reads, of the task of this number. Its destructor may panic,
/// which is nobody's panic.
fn unread<T>(out: Result<T, Lost>, number: Option<u32>) -> Option<Lost> {
    let out = match out {
        Ok(out) => out,
        Err(lost) => return Some(lost),
    };
    let before = here::set_dropping(number);
    let dropped = catch_unwind(AssertUnwindSafe(|| drop(out)));
    here::set_dropping(before);
    if let Err(payload) = dropped {
        // Its own destructor may panic as well.
        mem::forget(payload);
    }
    None
}

/// Drops a task and frees its memory.
///
/// # Safety
/// The last owner is gone, and the pointer is not used again.
unsafe fn free(task: NonNull<dyn Body>) {
    // SAFETY: nobody else has the task; what is left in it is dropped once.
    unsafe {
        std::ptr::drop_in_place(task.as_ptr());
        give_back(task);
    }
}

/// Frees the memory of a task.
///
/// # Safety
/// As of [`free`], and nothing is left in the task that is to be dropped.
unsafe fn give_back(task: NonNull<dyn Body>) {
    // SAFETY: nobody else has the task; `boxed` took the memory as one of this class.
    unsafe {
        let class = task.as_ref().class();
        let mut kernel = kernel::enter();
        Memory::give(kernel.as_mut().map(|kernel| &mut kernel.memory), task.cast(), class);
    }
}

struct Join<T> {
    out: Option<Result<T, Lost>>,
    /// History of the task when it ended.
    history: u64,
    /// Most tasks are never waited for, or have ended by then.
    waiting: Option<Box<Waiting>>,
    owners: u32,
    /// A handle exists that may still ask for the result.
    wanted: bool,
    done: bool,
}

/// Somebody waits for a task.
struct Waiting {
    object: Object,
    waiter: Waiter,
}

impl<T> Join<T> {
    /// One owner less; true for the last one.
    #[inline]
    fn release(&mut self) -> bool {
        self.owners -= 1;
        self.owners == 0
    }

    /// The task is to have its result from its own poll, and nobody waits for that: a handle wants it, or
    /// there is nothing in it to drop.
    #[inline]
    fn is_plain(&self) -> bool {
        !self.done && self.waiting.is_none() && (self.wanted || !mem::needs_drop::<T>())
    }

    /// Takes in the result, unless there is one, or nobody wants it.
    #[inline]
    fn settle(&mut self, out: &mut Option<Result<T, Lost>>, kernel: Option<&Kernel>) {
        if !self.done {
            self.done = true;
            if self.wanted {
                self.out = out.take();
                self.history = kernel.map_or(0, Kernel::current_history);
            }
        }
    }

    /// Nobody waits for the task any more: the waker of whoever did.
    #[inline]
    fn end_wait(&mut self, kernel: Option<&mut Kernel>) -> Option<Waker> {
        let Waiting { mut object, waiter } = *self.waiting.take()?;
        Some(Block::wake(kernel, &mut object, waiter))
    }
}

/// In this order: a poll looks at the future.
#[repr(C)]
struct Cell<F: Future> {
    future: UnsafeCell<Option<F>>,
    word: AtomicU64,
    join: Bound<Join<F::Output>>,
}

/// Boxes a future as the task of this word: the run loop's pointer and the handle's.
#[inline]
pub(crate) fn boxed<F>(
    kernel: &mut Kernel,
    word: u64,
    future: F,
    site: &'static Location<'static>,
) -> (BodyPtr, JoinPtr<F::Output>)
where
    F: Future + 'static,
{
    let cell = Memory::take(&mut kernel.memory, Cell::<F>::CLASS).cast::<Cell<F>>();
    // SAFETY: the block is one of the class of a cell, and is ours.
    unsafe { cell.write(Cell::new(kernel.id(), word, future, site)) };
    (BodyPtr(cell as NonNull<dyn Body>), JoinPtr::new(cell))
}

impl<F: Future> Cell<F> {
    const CLASS: &'static Class = &Class::of(Layout::new::<Self>());

    #[inline(always)]
    fn new(run: u64, word: u64, future: F, site: &'static Location<'static>) -> Self {
        let join =
            Join { out: None, history: 0, waiting: None, owners: 2, wanted: true, done: false };
        let future = UnsafeCell::new(Some(future));
        Self { future, word: AtomicU64::new(word), join: Bound::of_run(run, join, site) }
    }

    /// The future has its output. Out of line: a poll that is pending, as most are, has nothing to save
    /// for this.
    #[inline(never)]
    fn complete(&self, out: F::Output) -> Polled {
        self.cancel();
        if let Some(mut join) = self.join.enter_own()
            && let (state, kernel) = join.both()
            && state.is_plain()
        {
            // Nothing is left that could panic: the run loop's share goes at once.
            state.done = true;
            if state.wanted {
                state.history = kernel.current_history();
                mem::forget(state.out.replace(Ok(out))); // there was none
            }
            return if state.release() { Polled::Last } else { Polled::Left };
        }
        drop(self.settle(Some(Ok(out))));
        Polled::Ended
    }

    /// Puts the result, or its loss, where the handle finds it. Gives it back if nobody wants it.
    fn settle(&self, out: Option<Result<F::Output, Lost>>) -> Option<Result<F::Output, Lost>> {
        let mut out = out;
        let mut join = self.join.enter();
        let (state, kernel) = join.both();
        state.settle(&mut out, kernel.as_deref());
        if let Some(waker) = state.end_wait(kernel) {
            join.wake(waker);
        }
        out
    }

    /// As [`Joinable::join`], wherever this is, and where the task has no result yet.
    #[inline(never)]
    fn join_slowly(&self, price: Price, cx: &mut Context<'_>) -> Joined<F::Output> {
        let mut foreign: Option<Waker> = None;
        loop {
            let mut join = self.join.enter();
            let (state, kernel) = join.both();
            if kernel.as_ref().is_some_and(|kernel| !kernel.affords(price)) {
                return Poll::Ready(None);
            }
            if let Some(out) = state.out.take() {
                if let Some(kernel) = kernel {
                    kernel.follow(state.history, OpKind::Join);
                    kernel.pay(price);
                }
                return Poll::Ready(Some((out, state.release())));
            }
            let Some(waker) = crate::waker::storable(cx, &mut foreign) else {
                drop(join);
                foreign = Some(cx.waker().clone());
                continue;
            };
            self.wait(&mut join, waker);
            return Poll::Pending;
        }
    }

    /// The current task waits for this one.
    fn wait(&self, join: &mut In<'_, Join<F::Output>>, waker: Waker) {
        let (state, kernel) = join.both();
        let site = self.join.site();
        let old = match &mut state.waiting {
            Some(waiting) => Some(Block::renew(kernel, &mut waiting.waiter, waker)),
            None => {
                let task = kernel
                    .as_ref()
                    .map_or(TaskTag::NOBODY, |kernel| kernel.tag_of_word(self.word()));
                let party = Party { task, role: Role::Runs, site, count: 1 };
                let mut object = Object::new(ResourceKind::Task, site);
                let waiter = Block::wait(kernel, &mut object, OpKind::Join, site, &[party], waker);
                state.waiting = Some(Box::new(Waiting { object, waiter }));
                None
            }
        };
        join.dispose(old);
    }
}

impl<F: Future> Body for Cell<F> {
    fn poll(&self, cx: &mut Context<'_>) -> Polled {
        // SAFETY: only a BodyPtr gets here, borrowed mutably: one poll or cancel at a time. The
        // future never moves: it is polled and dropped where it was boxed.
        let future = unsafe { &mut *self.future.get() };
        let Some(future) = future else { return Polled::Ended };
        // SAFETY: as above, the future stays in place until it is dropped there.
        match unsafe { Pin::new_unchecked(future) }.poll(cx) {
            Poll::Pending => Polled::Pending,
            Poll::Ready(out) => self.complete(out),
        }
    }

    fn cancel(&self) {
        // SAFETY: as in `poll`. The assignment drops the future in place.
        unsafe { *self.future.get() = None };
    }

    fn lose(&self, lost: Lost) -> bool {
        self.settle(Some(Err(lost))).is_none()
    }

    fn keep(&self) {
        self.join.enter().owners += 1;
    }

    fn release(&self) -> bool {
        match self.join.enter_own() {
            Some(mut join) => join.both().0.release(),
            None => self.join.enter().release(),
        }
    }

    fn is_finished(&self) -> bool {
        self.join.enter().done
    }

    fn word(&self) -> u64 {
        self.word.load(Relaxed)
    }

    fn arrive(&self, word: u64) -> bool {
        self.word.swap(word, Relaxed) == ABORTED
    }

    fn abort_early(&self) -> Option<u64> {
        let nobody = TaskTag::NOBODY.word;
        self.word.compare_exchange(nobody, ABORTED, Relaxed, Relaxed).err()
    }

    fn class(&self) -> &'static Class {
        Self::CLASS
    }
}

impl<F: Future> Joinable<F::Output> for Cell<F> {
    fn join(&self, price: Price, cx: &mut Context<'_>) -> Joined<F::Output> {
        if let Some(mut join) = self.join.enter_own()
            && let (state, kernel) = join.both()
            && state.out.is_some()
            && kernel.affords(price)
            && let Some(out) = state.out.take()
        {
            kernel.follow(state.history, OpKind::Join);
            kernel.pay(price);
            return Poll::Ready(Some((out, state.release())));
        }
        self.join_slowly(price, cx)
    }

    fn leave(&self, number: Option<u32>) -> (Option<Lost>, bool) {
        let mut join = self.join.enter();
        join.wanted = false;
        let last = join.release();
        let out = join.out.take();
        let (state, kernel) = join.both();
        let waker = state.end_wait(kernel);
        join.dispose(waker);
        drop(join); // the result dies outside of the section
        (out.and_then(|out| unread(out, number)), last)
    }
}
