//! Spawning, and the handle to what was spawned.
//!
//! Owns: [`JoinHandle`], [`AbortHandle`]. Does not own: the task, or why it gave no result ([`crate::lost`]). Invariants: as in
//! tokio, a handle may be moved to any thread, and dropping it detaches the task; a panic reaches
//! the handle, and where there is none it fails the run.

use crate::baton::Aborts;
use crate::block::TaskTag;
use crate::bound::kernel;
use crate::budget::Price;
use crate::context;
use crate::event::{Event, NodeId, TaskNumber};
use crate::failure::Failure;
use crate::group::GroupId;
use crate::kernel::{Kernel, Preempt};
use crate::lane::Lane;
use crate::lost::JoinError;
use crate::rng::fold;
use crate::run;
use crate::sim::Sim;
use crate::slot::{self, AbortPtr, JoinPtr};
use crate::task::{Begin, Spawn};
use std::any::type_name;
use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Waits for the end of a task.
#[must_use = "dropping the handle detaches the task; it runs on"]
pub struct JoinHandle<T> {
    /// There until the handle has its result, or is dropped.
    task: Option<JoinPtr<T>>,
    number: u32,
}

/// Aborts a task, without waiting for it.
#[derive(Clone)]
pub struct AbortHandle {
    /// There unless the handle that this came from had its result already.
    task: Option<AbortPtr>,
    number: u32,
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

/// Spawns a task, on the node and into the group of whoever runs.
///
/// # Panics
/// Where no simulation runs on this thread.
#[inline]
#[track_caller]
pub(crate) fn spawn_here<F>(future: F, site: &'static Location<'static>) -> JoinHandle<F::Output>
where
    F: Future + 'static,
{
    let Some(mut kernel) = kernel::enter() else { context::outside() };
    let slot = kernel.enroll_here(type_name::<F>(), site);
    place(&mut kernel, slot, future, site)
}

/// Spawns a task where it belongs; where that is closed it is dropped at once.
#[inline]
#[track_caller]
pub(crate) fn spawn<F>(
    sim: &Sim,
    future: F,
    belongs: Belongs<'_>,
    site: &'static Location<'static>,
) -> JoinHandle<F::Output>
where
    F: Future + 'static,
{
    let (handle, slot, lives) = sim.with(|kernel| {
        let (slot, lives) = kernel.enroll(type_name::<F>(), &belongs, site);
        (place(kernel, slot, future, site), slot, lives)
    });
    if !lives {
        sim.inside(|| run::drop_task(slot));
    }
    handle
}

/// Puts the future of a task that was enrolled into its slot.
#[inline(always)]
fn place<F>(
    kernel: &mut Kernel,
    slot: u32,
    future: F,
    site: &'static Location<'static>,
) -> JoinHandle<F::Output>
where
    F: Future + 'static,
{
    let word = kernel.tasks.word(slot);
    let (body, task) = slot::boxed(kernel, word, future, site);
    JoinHandle { task: Some(task), number: kernel.tasks.embody(slot, body) }
}

impl Kernel {
    /// Enrolls a task on the node and in the group of whoever runs. Its future is yet to come.
    #[inline(never)]
    fn enroll_here(&mut self, type_name: &'static str, site: &'static Location<'static>) -> u32 {
        let (node, group) = (self.current_node(), self.spawning_group());
        self.admit(Spawn { site, type_name, name: 0, node, group, main: false, free: false })
    }

    /// Enrolls a task. Its future is yet to come; false where that is to be dropped at once.
    #[inline(never)]
    pub(crate) fn enroll(
        &mut self,
        type_name: &'static str,
        belongs: &Belongs<'_>,
        site: &'static Location<'static>,
    ) -> (u32, bool) {
        let Belongs { name, node, group, main, free } = *belongs;
        let name = if name.is_empty() { 0 } else { self.names.number(name) };
        let node = node.unwrap_or_else(|| self.current_node());
        let group = group.unwrap_or_else(|| self.spawning_group());
        let slot = self.admit(Spawn { site, type_name, name, node, group, main, free });
        (slot, main || group == GroupId::ROOT || self.is_open(group))
    }

    #[inline(always)]
    fn admit(&mut self, spawn: Spawn) -> u32 {
        if self.tasks.alive() >= self.limits.tasks {
            self.fail(Failure::too_many_tasks(self, spawn.site));
        }
        let sig = self.task_signature(&spawn);
        let history = fold(sig, self.current_history());
        let (group, preemptible) = self.groups.admit(spawn.group, spawn.main || spawn.free);
        let stops = preemptible && self.preempt == Preempt::Ops;
        let slot = self.tasks.enroll(&spawn, group, Begin { sig, history, stops });
        self.record_with(|kernel| {
            let name = kernel.names.text(spawn.name).unwrap_or_default();
            kernel.recorder.task(name, spawn.site, spawn.node, sig);
            Event::Spawned { task: TaskNumber(kernel.tasks.tag(slot).number) }
        });
        self.enqueue(slot, spawn.node != NodeId::NONE || group != 0);
        slot
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
        if let Some(word) = self.task.as_ref().and_then(|task| task.get().abort_early()) {
            Lane::abort(word);
        }
    }

    /// The handle of a task that is on its way to its run.
    pub(crate) fn of(task: JoinPtr<T>, number: u32) -> Self {
        Self { task: Some(task), number }
    }

    /// A handle that can only abort.
    pub fn abort_handle(&self) -> AbortHandle {
        AbortHandle { task: self.task.as_ref().map(JoinPtr::abort), number: self.number }
    }

    /// The word of the task, or nobody's.
    pub(crate) fn word(&self) -> u64 {
        self.task.as_ref().map_or(TaskTag::NOBODY.word, |task| task.get().word())
    }

    /// Whether the task has ended.
    pub fn is_finished(&self) -> bool {
        self.task.as_ref().is_none_or(|task| task.get().is_finished())
    }

    /// The number of the task.
    pub fn number(&self) -> TaskNumber {
        TaskNumber(self.number)
    }
}

impl AbortHandle {
    /// Aborts the task.
    pub fn abort(&self) {
        if let Some(word) = self.task.as_ref().and_then(AbortPtr::abort_early) {
            Lane::abort(word);
        }
    }

    /// Whether the task has ended.
    pub fn is_finished(&self) -> bool {
        self.task.as_ref().is_none_or(AbortPtr::is_finished)
    }

    /// The number of the task.
    pub fn number(&self) -> TaskNumber {
        TaskNumber(self.number)
    }
}

impl fmt::Debug for AbortHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AbortHandle").field("id", &self.number).finish_non_exhaustive()
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
        let task = TaskNumber(self.number);
        let joined = JoinPtr::join(&mut self.task, price, cx);
        joined.map(|out| Some(out?.map_err(|lost| JoinError::new(task, lost))))
    }

    /// The handle goes before it has its result.
    fn detach(task: JoinPtr<T>, number: u32) {
        let lost = task.leave(Some(number));
        if let Some((task, message)) = lost.and_then(|lost| lost.panic()) {
            context::with(|kernel| kernel.fail_unheard(Failure::panicked(kernel, task, message)));
        }
    }
}

impl<T> Drop for JoinHandle<T> {
    #[inline]
    fn drop(&mut self) {
        if let Some(task) = self.task.take() {
            Self::detach(task, self.number);
        }
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").field("id", &self.number).finish_non_exhaustive()
    }
}
