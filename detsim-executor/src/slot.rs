//! Where futures live while they run.
//!
//! Owns: one allocation a task, shared by the run loop and the join handle: the pinned future, and
//! the cell with its result. Does not own: who polls when. Invariants: the future is touched by
//! the baton holder alone, and never moved from the moment it is boxed until it is dropped in
//! place; the count of owners (run loop, handles) sits inside the biased cell, so the last one out
//! frees, on whatever thread; results and wakers leave the cell before they are dropped.
#![expect(unsafe_code, reason = "one allocation for future and result, polled through a pointer")]

mod memory;

pub(crate) use self::memory::Memory;
use crate::block::{Block, Object, OpKind, Party, ResourceKind, Role, TaskTag, Waiter};
use crate::bound::{Bound, In};
use crate::budget::Price;
use crate::context;
use crate::here;
use crate::kernel::Kernel;
use std::alloc::Layout;
use std::any::Any;
use std::cell::UnsafeCell;
use std::fmt;
use std::future::Future;
use std::mem::{self, ManuallyDrop};
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll, Waker, ready};

/// Why a task has no result.
#[derive(Debug)]
pub(crate) enum Lost {
    Aborted,
    Panicked(Box<dyn Any + Send>),
}

/// What a poll has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Polled {
    Pending,
    /// The task has ended, and the run loop owns it still.
    Ended,
    /// The task has ended, and the run loop owns it no more: it is its handle's.
    Left,
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
    /// What the allocation was asked for.
    fn layout(&self) -> Layout;
}

/// What a join handle sees of a task.
pub(crate) trait Joinable<T>: Body {
    /// Waits for the result; `None` where the current task cannot pay for it. With the result goes the
    /// handle's share of the ownership: true for the last owner.
    fn join(
        &self,
        price: Price,
        cx: &mut Context<'_>,
        site: &'static Location<'static>,
        task: TaskTag,
    ) -> Poll<Option<(Result<T, Lost>, bool)>>;
    /// The handle of the task, of this number, goes, and with it one owner. An unread panic comes back,
    /// for somebody to hear of it; and true for the last owner.
    fn leave(&self, number: Option<u32>) -> (Option<Lost>, bool);
}

/// The run loop's pointer to a task, and its one owner there: who polls or drops the future has
/// taken the pointer out of the table of tasks, so nobody else can. Neither `Send` nor `Sync`: the
/// baton holder's alone.
pub(crate) struct BodyPtr(NonNull<dyn Body>);

impl BodyPtr {
    /// Polls the task's future. Where the task has ended this is to be given to [`Self::end_after`], and to
    /// nobody else where it is [`Polled::Left`].
    #[inline]
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Polled {
        // SAFETY: this pointer keeps the allocation alive, and is borrowed mutably.
        unsafe { self.0.as_ref() }.poll(cx)
    }

    /// The task has ended in a poll.
    #[inline]
    pub(crate) fn end_after(self, polled: Polled) {
        match polled {
            Polled::Pending | Polled::Ended => drop(self),
            Polled::Left => mem::forget(self),
        }
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

/// A join handle's pointer to a task: owns one count.
pub(crate) struct JoinPtr<T>(NonNull<dyn Joinable<T>>);

// SAFETY: what the pointer leads to is reached through the biased cell only (the future is not
// touched by handles), and a result of type T may cross threads.
unsafe impl<T: Send> Send for JoinPtr<T> {}
// SAFETY: as above; every access through a shared handle is a section of the cell.
unsafe impl<T: Send> Sync for JoinPtr<T> {}

impl<T> JoinPtr<T> {
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
        site: &'static Location<'static>,
        task: TaskTag,
    ) -> Poll<Option<Result<T, Lost>>> {
        let Some(handle) = this else {
            panic!("detsim: a JoinHandle was polled after it had given its result")
        };
        let Some((out, last)) = ready!(handle.get().join(price, cx, site, task)) else {
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
}

impl<T> JoinPtr<T> {
    /// Another owner, who does not see the result.
    pub(crate) fn abort(&self) -> AbortPtr {
        self.get().keep();
        AbortPtr(self.0 as NonNull<dyn Body>)
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

impl<T> JoinPtr<T> {
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
    // SAFETY: nobody else has the task; `boxed` took the memory with this layout.
    unsafe {
        let layout = task.as_ref().layout();
        let block = task.cast::<u8>();
        if context::with(|kernel| Memory::give(Some(&mut kernel.memory), block, layout)).is_none() {
            Memory::give(None, block, layout);
        }
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
    join: Bound<Join<F::Output>>,
}

/// Boxes a future as a task: the run loop's pointer and the handle's.
pub(crate) fn boxed<F>(future: F, site: &'static Location<'static>) -> (BodyPtr, JoinPtr<F::Output>)
where
    F: Future + 'static,
{
    let join = Join { out: None, history: 0, waiting: None, owners: 2, wanted: true, done: false };
    let future = UnsafeCell::new(Some(future));
    let layout = Layout::new::<Cell<F>>();
    let block = context::with(|kernel| Memory::take(Some(&mut kernel.memory), layout));
    let block = block.unwrap_or_else(|| Memory::take(None, layout));
    let cell = block.cast::<Cell<F>>();
    // SAFETY: the block has the layout of a cell, and is ours.
    unsafe { cell.write(Cell { future, join: Bound::new_at(join, site) }) };
    (BodyPtr(cell as NonNull<dyn Body>), JoinPtr(cell as NonNull<dyn Joinable<F::Output>>))
}

impl<F: Future> Cell<F> {
    /// The future has its output. Out of line: a poll that is pending, as most are, has nothing to save
    /// for this.
    #[inline(never)]
    fn complete(&self, out: F::Output) -> Polled {
        self.cancel();
        let mut out = Some(Ok(out));
        if let Some(mut join) = self.join.enter_own()
            && let (state, kernel) = join.both()
            && !state.done
            && state.wanted
            && state.waiting.is_none()
        {
            // Nothing is left that could panic: the run loop's share goes at once, the handle's stays.
            state.settle(&mut out, Some(kernel));
            state.owners -= 1;
            return Polled::Left;
        }
        drop(self.settle(out));
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

    /// The current task waits, at `site`, for this one, whose tag is `task`.
    #[inline]
    fn wait(
        &self,
        join: &mut In<'_, Join<F::Output>>,
        site: &'static Location<'static>,
        task: TaskTag,
        waker: Waker,
    ) {
        let (state, kernel) = join.both();
        let old = match &mut state.waiting {
            Some(waiting) => Some(Block::renew(kernel, &mut waiting.waiter, waker)),
            None => {
                let party = Party { task, role: Role::Runs, site, count: 1 };
                let mut object = Object::new(ResourceKind::Task, self.join.site());
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

    fn layout(&self) -> Layout {
        Layout::new::<Self>()
    }
}

impl<F: Future> Joinable<F::Output> for Cell<F> {
    fn join(
        &self,
        price: Price,
        cx: &mut Context<'_>,
        site: &'static Location<'static>,
        task: TaskTag,
    ) -> Poll<Option<(Result<F::Output, Lost>, bool)>> {
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
            self.wait(&mut join, site, task, waker);
            return Poll::Pending;
        }
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
