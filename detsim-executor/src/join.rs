//! Spawning, and the handle to what was spawned.
//!
//! Owns: [`JoinHandle`], [`AbortHandle`], [`JoinError`]. Does not own: the task. Invariants: as in
//! tokio, a handle may be moved to any thread, and dropping it detaches the task; a panic reaches
//! the handle, and where there is none it fails the run.

use crate::baton::Aborts;
use crate::block::TaskTag;
use crate::budget::Price;
use crate::context;
use crate::event::{Event, NodeId, TaskNumber};
use crate::failure::Failure;
use crate::group::GroupId;
use crate::kernel::{Kernel, Preempt};
use crate::rng::fold;
use crate::run;
use crate::slot::{self, AbortPtr, BodyPtr, JoinPtr, Lost};
use crate::task::{Begin, Spawn};
use std::any::Any;
use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll};

/// Waits for the end of a task.
#[must_use = "dropping the handle detaches the task; it runs on"]
pub struct JoinHandle<T> {
    /// There until the handle has its result, or is dropped.
    task: Option<JoinPtr<T>>,
    tag: TaskTag,
    site: &'static Location<'static>,
}

/// Aborts a task, without waiting for it.
#[derive(Clone)]
pub struct AbortHandle {
    /// There unless the handle that this came from had its result already.
    task: Option<AbortPtr>,
    tag: TaskTag,
}

/// Why a task gave no result.
pub struct JoinError {
    task: TaskNumber,
    cause: Cause,
}

enum Cause {
    Aborted,
    /// The lock is for `Sync` alone: a payload is only `Send`.
    Panicked {
        message: String,
        payload: Mutex<Box<dyn Any + Send>>,
    },
}

/// Where a task belongs, and what it is called.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Belongs<'a> {
    pub(crate) name: &'a str,
    /// That of whoever runs, where none is given.
    pub(crate) node: Option<NodeId>,
    /// That of whoever runs, where none is given.
    pub(crate) group: Option<GroupId>,
    /// Somebody blocks on it: no task that the program spawned.
    pub(crate) main: bool,
    /// It has a thread of its own, and runs whether or not its group does.
    pub(crate) free: bool,
}

/// Spawns a task. A simulation runs on this thread.
#[inline]
pub(crate) fn spawn<F>(
    future: F,
    belongs: Belongs<'_>,
    site: &'static Location<'static>,
) -> JoinHandle<F::Output>
where
    F: Future + 'static,
{
    let (body, task) = slot::boxed(future, site);
    let type_name = std::any::type_name::<F>();
    let tag = enroll(body, type_name, &belongs, site);
    JoinHandle { task: Some(task), tag, site }
}

/// Compiled once: everything about a spawn that does not depend on the future's type.
#[inline(never)]
fn enroll(
    body: BodyPtr,
    type_name: &'static str,
    belongs: &Belongs<'_>,
    site: &'static Location<'static>,
) -> TaskTag {
    let Belongs { name, node, group, main, free } = *belongs;
    let enroll = |kernel: &mut Kernel| {
        let name = if name.is_empty() { 0 } else { kernel.names.number(name) };
        let node = node.unwrap_or_else(|| kernel.current_node());
        let group = group.unwrap_or_else(|| kernel.spawning_group());
        let tag = kernel.enroll(Spawn { site, type_name, name, node, group, main, free }, body);
        (tag, main || group == GroupId::ROOT || kernel.is_open(group))
    };
    let (tag, lives) = context::with(enroll).unwrap_or_else(|| context::outside());
    if !lives {
        run::drop_task(crate::waker::unpack(tag.word).1);
    }
    tag
}

impl Kernel {
    #[inline(always)]
    fn enroll(&mut self, spawn: Spawn, body: BodyPtr) -> TaskTag {
        if self.tasks.alive() >= self.limits.tasks {
            self.fail(Failure::too_many_tasks(self, spawn.site));
        }
        let sig = self.task_signature(&spawn);
        let history = fold(sig, self.current_history());
        let (group, preemptible) = self.groups.admit(spawn.group, spawn.main || spawn.free);
        let stops = preemptible && self.preempt == Preempt::Ops;
        let (index, tag) = self.tasks.enroll(spawn, group, body, Begin { sig, history, stops });
        self.record_with(|kernel| {
            let name = kernel.names.text(spawn.name).unwrap_or_default();
            kernel.recorder.task(name, spawn.site, spawn.node, sig);
            Event::Spawned { task: TaskNumber(tag.number) }
        });
        self.enqueue(index, spawn.node != NodeId::NONE || group != 0);
        tag
    }

    /// Has the task of this word dropped instead of polled, the next time it is its turn.
    pub(crate) fn abort(&mut self, word: u64) {
        if self.tasks.live(word).is_none() {
            return;
        }
        let (_, index) = crate::waker::unpack(word);
        match &mut self.tasks.cold_mut(index).aborts {
            Aborts::Now => {}
            Aborts::Later { asked } => return *asked = true,
            Aborts::Never => return,
        }
        if let Some(slot) = self.tasks.get_mut(index) {
            slot.marks.abort();
        }
        self.wake_slot(index);
    }
}

impl<T> JoinHandle<T> {
    /// Aborts the task: its future is dropped where it waits. A task that has ended stays ended.
    pub fn abort(&self) {
        crate::lane::Lane::abort(self.tag.word);
    }

    /// A handle that can only abort.
    pub fn abort_handle(&self) -> AbortHandle {
        AbortHandle { task: self.task.as_ref().map(JoinPtr::abort), tag: self.tag }
    }

    pub(crate) fn tag(&self) -> TaskTag {
        self.tag
    }

    /// Whether the task has ended.
    pub fn is_finished(&self) -> bool {
        self.task.as_ref().is_none_or(|task| task.get().is_finished())
    }

    /// The number of the task.
    pub fn number(&self) -> TaskNumber {
        TaskNumber(self.tag.number)
    }
}

impl AbortHandle {
    /// Aborts the task.
    pub fn abort(&self) {
        crate::lane::Lane::abort(self.tag.word);
    }

    /// Whether the task has ended.
    pub fn is_finished(&self) -> bool {
        self.task.as_ref().is_none_or(AbortPtr::is_finished)
    }

    /// The number of the task.
    pub fn number(&self) -> TaskNumber {
        TaskNumber(self.tag.number)
    }
}

impl fmt::Debug for AbortHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AbortHandle").field("id", &self.tag.number).finish_non_exhaustive()
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let joined = self.join(Price::Nothing, cx);
        joined.map(|out| out.expect("invariant: what costs nothing is affordable"))
    }
}

impl<T> JoinHandle<T> {
    /// Polls as an operation that is part of the budget of the current task: ready with `None` where
    /// nothing is left of it.
    pub fn poll_in_budget(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<T, JoinError>>> {
        self.join(Price::One, cx)
    }

    #[inline]
    fn join(&mut self, price: Price, cx: &mut Context<'_>) -> Poll<Option<Result<T, JoinError>>> {
        let joined = JoinPtr::join(&mut self.task, price, cx, self.site, self.tag);
        let task = TaskNumber(self.tag.number);
        joined.map(|out| Some(out?.map_err(|lost| JoinError::new(task, lost))))
    }
}

impl<T> Drop for JoinHandle<T> {
    fn drop(&mut self) {
        let number = Some(self.tag.number);
        let lost = self.task.take().and_then(|task| task.leave(number));
        if let Some(Lost::Panicked(payload)) = lost {
            let message = message_of(&*payload);
            let tag = self.tag;
            context::with(|kernel| kernel.fail_unheard(Failure::panicked(kernel, tag, message)));
        }
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").field("id", &self.tag.number).finish_non_exhaustive()
    }
}

impl JoinError {
    fn new(task: TaskNumber, lost: Lost) -> Self {
        let cause = match lost {
            Lost::Aborted => Cause::Aborted,
            Lost::Panicked(payload) => {
                Cause::Panicked { message: message_of(&*payload), payload: Mutex::new(payload) }
            }
        };
        Self { task, cause }
    }

    /// The task was aborted, or its node went down.
    pub fn is_cancelled(&self) -> bool {
        matches!(self.cause, Cause::Aborted)
    }

    /// The task panicked.
    pub fn is_panic(&self) -> bool {
        matches!(self.cause, Cause::Panicked { .. })
    }

    /// What the task panicked with.
    ///
    /// # Panics
    /// Where it did not panic.
    #[track_caller]
    pub fn into_panic(self) -> Box<dyn Any + Send> {
        self.try_into_panic().expect("`JoinError` reason is not a panic.")
    }

    /// What the task panicked with, or this error back.
    ///
    /// # Errors
    /// Where it did not panic.
    pub fn try_into_panic(self) -> Result<Box<dyn Any + Send>, Self> {
        match self.cause {
            Cause::Panicked { payload, .. } => {
                Ok(payload.into_inner().unwrap_or_else(PoisonError::into_inner))
            }
            Cause::Aborted => Err(self),
        }
    }

    /// The number of the task.
    pub fn number(&self) -> TaskNumber {
        self.task
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.cause {
            Cause::Aborted => write!(f, "task {} was cancelled", self.task.0),
            Cause::Panicked { message, .. } => {
                write!(f, "task {} panicked with message {message:?}", self.task.0)
            }
        }
    }
}

impl fmt::Debug for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = self.task.0;
        match &self.cause {
            Cause::Aborted => write!(f, "JoinError::Cancelled(Id({id}))"),
            Cause::Panicked { message, .. } => {
                write!(f, "JoinError::Panic(Id({id}), {message:?}, ...)")
            }
        }
    }
}

impl std::error::Error for JoinError {}

/// The text of a panic.
pub fn message_of(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "a panic without a text".to_owned())
}
