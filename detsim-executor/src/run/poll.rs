//! The poll of a task, and what becomes of one that panics, is dropped or is unwound.
//!
//! Owns: [`take_turn`], the one place where futures of tasks are polled, and how a task is lost. Does not
//! own: whose turn it is (`turn.rs`), or the loop. Invariants: the kernel is not borrowed here; a future
//! whose poll panicked is dropped while the panic unwinds, as on tokio; whoever calls [`take_turn`]
//! catches that panic and asks [`Fallen`] for the task.

use std::any::Any;
use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::task::Context;
use std::thread;

use super::enter;
use crate::baton::{self, Unwound};
use crate::event::Event;
use crate::failure::Failure;
use crate::here;
use crate::kernel::Kernel;
use crate::lost::Lost;
use crate::slot::{BodyPtr, Polled};
use crate::turn::{Done, Turn};
use crate::waker::waker;

/// The task whose poll has panicked.
#[derive(Default)]
pub(super) struct Fallen(Cell<Option<BodyPtr>>);

impl Fallen {
    /// What has just been caught is the panic of that task, which has ended.
    #[cold]
    #[inline(never)]
    pub(super) fn lost_by(&self, payload: Box<dyn Any + Send>) -> BodyPtr {
        let Some(mut body) = self.0.take() else { resume_unwind(payload) };
        panicked(&mut body, payload);
        body
    }
}

/// Has a task take its turn. What that has come to is to be given to [`BodyPtr::end_after`], where the task
/// has ended.
///
/// # Panics
/// With what the poll panics with.
#[inline(always)]
pub(super) fn take_turn(turn: Turn, fallen: &Fallen) -> (BodyPtr, Polled) {
    let Turn { body, word, aborted } = turn;
    if aborted {
        return cancelled(body);
    }
    let waker = ManuallyDrop::new(waker(word));
    let mut cx = Context::from_waker(&waker);
    here::begin_poll(word);
    let mut falls = Falls { body: Some(body), fallen };
    let polled = falls.body.as_mut().map(|body| body.poll(&mut cx));
    let body = falls.body.take().expect("invariant: it is taken once");
    (body, polled.unwrap_or(Polled::Ended))
}

#[cold]
#[inline(never)]
fn cancelled(mut body: BodyPtr) -> (BodyPtr, Polled) {
    cancel(&mut body);
    (body, Polled::Ended)
}

/// The same, where no loop is there to catch a panic.
pub(super) fn take_turn_alone(turn: Turn) -> Done {
    let fallen = Fallen::default();
    match catch_unwind(AssertUnwindSafe(|| take_turn(turn, &fallen))) {
        Ok((body, Polled::Pending)) => Done::Waits(body),
        Ok((body, polled)) => Done::Ended(body.end_after(polled)),
        Err(payload) => Done::Ended(Some(fallen.lost_by(payload))),
    }
}

/// Drops a future whose poll panics while the panic unwinds, as on tokio: its destructors can tell.
struct Falls<'a> {
    body: Option<BodyPtr>,
    fallen: &'a Fallen,
}

impl Drop for Falls<'_> {
    // By value: what has an address is written at every poll.
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(body) = self.body.take() {
            fall(body, self.fallen);
        }
    }
}

#[cold]
#[inline(never)]
fn fall(mut body: BodyPtr, fallen: &Fallen) {
    // In a section that the panic left open nothing can be entered, and a second panic would end the
    // process: the first one is to be told.
    if !here::is_in_section() {
        let dropped = drop_future(&mut body);
        enter().threads.dropped = dropped.err();
    }
    fallen.0.set(Some(body));
}

/// The poll ended with a panic, and its future is gone. Always true, as [`cancel`].
fn panicked(body: &mut BodyPtr, payload: Box<dyn Any + Send>) -> bool {
    let dropped = if here::is_in_section() { None } else { enter().threads.dropped.take() };
    if Unwound::is(&*payload) || baton::is_unwinding() {
        return unwound(body, dropped.map_or(Ok(()), Err));
    }
    lose_by(body, payload)
}

/// Drops the future of the current task. A panic of its destructor comes back.
#[cold]
fn drop_future(body: &mut BodyPtr) -> thread::Result<()> {
    enter().begin_cancel();
    let dropped = catch_unwind(AssertUnwindSafe(|| body.cancel()));
    enter().threads.cancels -= 1;
    dropped
}

/// The poll was unwound because its task is being dropped, by the thread that resumed this one. Always
/// true, as [`cancel`].
#[cold]
fn unwound(body: &mut BodyPtr, dropped: thread::Result<()>) -> bool {
    baton::forget_token();
    let Err(payload) = dropped else {
        body.lose(Lost::Aborted);
        return true;
    };
    let lost = Lost::panicked(enter().current_tag(), payload);
    let panic = lost.panic();
    if let (false, Some((task, message))) = (body.lose(lost), panic) {
        let mut kernel = enter();
        let failure = Failure::panicked(&kernel, task, message);
        kernel.fail(failure);
    }
    true
}

/// Drops the future of the current task, which was aborted, and tells its handle. Always true: the task
/// has ended.
#[cold]
pub(super) fn cancel(body: &mut BodyPtr) -> bool {
    match drop_future(body) {
        Ok(()) => lose(body, Lost::Aborted),
        Err(payload) => lose_by(body, payload),
    }
}

/// See [`lose`].
#[cold]
fn lose_by(body: &BodyPtr, payload: Box<dyn Any + Send>) -> bool {
    let task = enter().current_tag();
    lose(body, Lost::panicked(task, payload))
}

/// Tells the handle of the current task why there is no result; a panic that nobody hears of fails the
/// run. Always true: the task has ended.
#[cold]
fn lose(body: &BodyPtr, lost: Lost) -> bool {
    let panic = lost.panic();
    let heard = body.lose(lost);
    let mut kernel = enter();
    let task = kernel.current_number();
    match panic {
        None => kernel.record_with(|_| Event::Aborted { task }),
        Some((tag, message)) => {
            kernel.record_with(|kernel| Event::Panicked {
                task,
                message: kernel.recorder.text(&message),
            });
            if !heard {
                let failure = Failure::panicked(&kernel, tag, message);
                kernel.fail_unheard(failure);
            }
        }
    }
    true
}

impl Kernel {
    /// The current task is being dropped: it is stopped no more.
    fn begin_cancel(&mut self) {
        self.threads.cancels += 1;
        if let Some(slot) = self.current_slot() {
            slot.stop_at = u32::MAX;
        }
    }
}
