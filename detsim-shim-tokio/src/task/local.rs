//! Sets of tasks that stay on one thread.
//!
//! Mirrors tokio's. Owns: [`LocalSet`] and [`spawn_local`]. Does not own: the tasks, which are a group of
//! the kernel's: each is seen by the scheduler and by reports as any other task is.
//!
//! Invariants: the group is driven from the first poll of a [`run_until`](LocalSet::run_until), or of the
//! set itself, to its end; its tasks are stopped nowhere but where they wait; they are dropped with it.

use crate::runtime::{Id, Kind, Runtime, scope, world};
use crate::task::JoinHandle;
use detsim_executor::{GroupId, Kernel, Sim, TaskTag, context, group, threads};
use std::cell::{OnceCell, RefCell};
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};

/// tokio's words where there is no set.
const OUTSIDE: &str =
    "`spawn_local` called from outside of a `task::LocalSet` or `runtime::LocalRuntime`";
/// tokio's words on another thread.
const ELSEWHERE: &str = "Local tasks can only be spawned on a LocalRuntime from the thread the runtime \
                         was created on";

thread_local! {
    static ENTERED: RefCell<Vec<Entered>> = const { RefCell::new(Vec::new()) };
}

/// A set that was entered, and by which task.
struct Entered {
    set: Rc<Set>,
    task: TaskTag,
}

/// A set of tasks that stay on this thread. They run while somebody waits in
/// [`run_until`](Self::run_until), or for the set itself.
///
/// # Examples
/// ```
/// use detsim_shim_tokio::{runtime::Runtime, task::LocalSet, task::spawn_local};
/// use std::rc::Rc;
/// let runtime = Runtime::new().unwrap();
/// let shared = Rc::new(7);
/// let seven = LocalSet::new().block_on(&runtime, async move {
///     spawn_local(async move { *shared }).await.unwrap()
/// });
/// assert_eq!(seven, 7);
/// ```
pub struct LocalSet {
    set: Rc<Set>,
    /// The set's own wait for its tasks is under way.
    driven: Option<Driven>,
}

/// Where the tasks are: known once there is one.
#[derive(Default)]
struct Set {
    place: OnceCell<(u64, GroupId)>,
}

/// Beside the group: which set it is.
struct Label(u64);

impl Set {
    fn place(&self) -> (u64, GroupId) {
        *self.place.get_or_init(|| {
            world::here().with(|kernel| {
                let group = kernel.add_group(false);
                let label = Arc::new(Label(group.word()));
                // A group that was just made has no label.
                let _none = kernel.set_label(group, label);
                (kernel.id(), group)
            })
        })
    }

    fn sim(&self) -> Option<Sim> {
        world::of(self.place().0)
    }

    #[track_caller]
    fn spawn<F: Future + 'static>(&self, future: F) -> JoinHandle<F::Output> {
        let sim = self.sim().expect("detsim: a LocalSet was used in another run than its tasks'");
        let group = self.place().1;
        JoinHandle::new(match threads::is_home() {
            true => sim.spawn_in(group, threads::at_home(future)),
            false => sim.spawn_in(group, future),
        })
    }
}

/// While it lives the tasks of a set run.
struct Driven(Rc<Set>);

impl Driven {
    fn begin(set: &Rc<Set>) -> Self {
        let (_, group) = set.place();
        if let Some(sim) = set.sim() {
            sim.with(|kernel| {
                let runtime = kernel.spawning_group();
                kernel.spawns_into(group, runtime);
                kernel.drive_group(group);
            });
        }
        Self(Rc::clone(set))
    }
}

impl Drop for Driven {
    fn drop(&mut self) {
        let (_, group) = self.0.place();
        if let Some(sim) = self.0.sim() {
            sim.with(|kernel| kernel.leave_group(group));
        }
    }
}

/// While it lives [`spawn_local`] spawns on the set. Made by [`LocalSet::enter`].
pub struct LocalEnterGuard {
    depth: usize,
    _this_thread: PhantomData<*const ()>,
}

impl LocalEnterGuard {
    fn new(set: &Rc<Set>) -> Self {
        let task = context::with(|kernel| kernel.current_tag()).unwrap_or(TaskTag::NOBODY);
        // In the destructors of a thread's locals there is nobody left to ask which one was entered.
        let depth = ENTERED.try_with(|entered| {
            let mut entered = entered.borrow_mut();
            entered.push(Entered { set: Rc::clone(set), task });
            entered.len()
        });
        let depth = depth.unwrap_or(0);
        Self { depth, _this_thread: PhantomData }
    }
}

impl Drop for LocalEnterGuard {
    fn drop(&mut self) {
        // What was entered after it goes with it, as in tokio, where a guard puts back what it found.
        let left = ENTERED.try_with(|entered| {
            let mut entered = entered.borrow_mut();
            let from = entered.len().min(self.depth.saturating_sub(1));
            entered.split_off(from)
        });
        drop(left);
    }
}

impl fmt::Debug for LocalEnterGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalEnterGuard").finish()
    }
}

/// The set that was entered last, in this task.
fn entered() -> Option<Rc<Set>> {
    let task = context::with(|kernel| kernel.current_tag()).unwrap_or(TaskTag::NOBODY);
    let last = ENTERED.try_with(|entered| {
        let entered = entered.borrow();
        entered.last().filter(|last| last.task == task).map(|last| Rc::clone(&last.set))
    });
    last.ok().flatten()
}

/// The group of the set that the running task is of.
fn of_task() -> Option<GroupId> {
    let look = |kernel: &mut Kernel| {
        let group = kernel.current_group();
        kernel.label(group).is_some_and(|label| label.is::<Label>()).then_some(group)
    };
    context::with(look).flatten()
}

/// Whether what runs is a task of a set, or what drives one.
pub(super) fn is_in_local_set() -> bool {
    entered().is_some() || of_task().is_some()
}

/// Spawns a task that stays on this thread, on the current [`LocalSet`] or `LocalRuntime`.
///
/// # Panics
/// Outside of both, in tokio's words.
#[track_caller]
pub fn spawn_local<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    if let Some(set) = entered() {
        return set.spawn(future);
    }
    if let Some(group) = of_task() {
        return JoinHandle::new(world::here().spawn_in(group, future));
    }
    let runtime = scope::current().filter(|runtime| runtime.settings().kind == Kind::Local);
    let Some(runtime) = runtime else { panic!("{OUTSIDE}") };
    assert!(runtime.is_here(), "{ELSEWHERE}");
    JoinHandle::new(runtime.sim().spawn_in(runtime.group(), future))
}

impl LocalSet {
    /// A set without tasks.
    pub fn new() -> Self {
        Self { set: Rc::default(), driven: None }
    }

    /// Has [`spawn_local`] spawn on this set, until the guard is dropped.
    pub fn enter(&self) -> LocalEnterGuard {
        LocalEnterGuard::new(&self.set)
    }

    /// Spawns a task on the set. It runs when the set is driven next.
    #[track_caller]
    pub fn spawn_local<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        self.set.spawn(future)
    }

    /// Blocks on `future` on a runtime, and runs the tasks of the set until it has ended.
    ///
    /// # Panics
    /// As [`Runtime::block_on`].
    #[track_caller]
    pub fn block_on<F: Future>(&self, rt: &Runtime, future: F) -> F::Output {
        rt.block_on(self.run_until(future))
    }

    /// Runs the tasks of the set until `future` has ended.
    pub async fn run_until<F: Future>(&self, future: F) -> F::Output {
        RunUntil { set: &self.set, driven: None, future }.await
    }

    /// The name of the set, as of a runtime.
    pub fn id(&self) -> Id {
        Id::new(self.set.place().1.word())
    }
}

pin_project_lite::pin_project! {
    struct RunUntil<'a, F> {
        set: &'a Rc<Set>,
        driven: Option<Driven>,
        #[pin]
        future: F,
    }
}

impl<F: Future> Future for RunUntil<'_, F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        this.driven.get_or_insert_with(|| Driven::begin(this.set));
        let _entered = LocalEnterGuard::new(this.set);
        let polled = this.future.poll(cx);
        if polled.is_ready() {
            *this.driven = None;
        }
        polled
    }
}

/// Ends when all tasks of the set have.
impl Future for LocalSet {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Self { set, driven } = &mut *self;
        driven.get_or_insert_with(|| Driven::begin(set));
        let Some(sim) = set.sim() else { return Poll::Ready(()) };
        let mut waker = Some(cx.waker().clone());
        let empty = sim.with(|kernel| kernel.poll_empty(set.place().1, &mut waker));
        drop(waker);
        if !empty {
            return Poll::Pending;
        }
        *driven = None;
        Poll::Ready(())
    }
}

impl Default for LocalSet {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for LocalSet {
    fn drop(&mut self) {
        self.driven = None;
        let Some((run, group)) = self.set.place.get() else { return };
        if let Some(sim) = world::of(*run) {
            let _entered = LocalEnterGuard::new(&self.set);
            sim.enter(|| group::close(*group));
        }
    }
}

impl fmt::Debug for LocalSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalSet").finish_non_exhaustive()
    }
}

impl fmt::Debug for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LocalSet({})", self.0)
    }
}
