//! Which runtime is the current one.
//!
//! Owns: the runtimes that this thread has entered. Does not own: the runtime of a task, which the
//! kernel keeps beside the task's group.
//!
//! Invariants: what was entered counts where it was entered, in the same task or outside of any, and
//! nowhere else that this thread comes along; what was entered last is left first.

use super::place::Place;
use super::shared::Shared;
use super::world;
use crate::context;
use detsim_executor::{
    GroupId, Kernel, Sim, SimTime, TaskTag, context as kernel, may_block, threads,
};
use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
#[cfg(feature = "net")]
use std::io;
use std::pin::pin;
use std::sync::Arc;

thread_local! {
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    static ENTERED: RefCell<Vec<Entered>> = const { RefCell::new(Vec::new()) };
}

struct Entered {
    shared: Arc<Shared>,
    task: TaskTag,
}

/// Leaves what was entered.
#[derive(Debug)]
pub(crate) struct Leaves {
    depth: usize,
}

const OUT_OF_ORDER: &str = "`EnterGuard` values dropped out of order. Guards returned by \
                            `tokio::runtime::Handle::enter()` must be dropped in the reverse order \
                            as they were acquired.";

impl Drop for Leaves {
    fn drop(&mut self) {
        let popped = ENTERED.try_with(|entered| {
            let mut entered = entered.borrow_mut();
            let is_last = entered.len() == self.depth;
            (is_last, is_last.then(|| entered.pop()))
        });
        let Ok((is_last, popped)) = popped else { return };
        if is_last {
            DEPTH.set(self.depth - 1);
        }
        drop(popped);
        assert!(is_last || std::thread::panicking(), "{OUT_OF_ORDER}");
    }
}

/// A future with this runtime as the current one, where it `enters` it.
pub(super) async fn within<F: Future>(shared: &Arc<Shared>, enters: bool, future: F) -> F::Output {
    let mut future = pin!(future);
    poll_fn(|cx| {
        let _entered = enters.then(|| enter(shared));
        future.as_mut().poll(cx)
    })
    .await
}

fn running() -> TaskTag {
    kernel::with(|kernel| kernel.current_tag()).unwrap_or(TaskTag::NOBODY)
}

/// Makes it the current one here.
pub(crate) fn enter(shared: &Arc<Shared>) -> Leaves {
    let entered = Entered { shared: Arc::clone(shared), task: running() };
    // In the destructors of a thread's locals there is nobody left to ask which one was entered.
    let depth = ENTERED.try_with(|all| {
        let mut all = all.borrow_mut();
        all.push(entered);
        all.len()
    });
    let depth = depth.unwrap_or(0);
    DEPTH.set(depth);
    Leaves { depth }
}

/// What was entered last here.
fn entered() -> Option<Arc<Shared>> {
    if DEPTH.try_with(Cell::get).ok()? == 0 {
        return None;
    }
    let task = running();
    let last = ENTERED.try_with(|entered| {
        let entered = entered.borrow();
        entered.last().filter(|last| last.task == task).map(|last| Arc::clone(&last.shared))
    });
    last.ok().flatten()
}

/// The current runtime: what was entered here, else that of the task that runs.
pub(crate) fn current() -> Option<Arc<Shared>> {
    entered().or_else(of_task)
}

/// The runtime of whatever runs in the simulation of this thread; a thread that the program starts has
/// none.
fn of_task() -> Option<Arc<Shared>> {
    if threads::is_started() {
        return None;
    }
    let look = |kernel: &mut Kernel| {
        let group = kernel.spawning_group();
        (group, kernel.label(group).cloned())
    };
    let (group, label) = kernel::with(look)?;
    match label {
        Some(label) => label.downcast().ok(),
        None => (group == GroupId::ROOT).then(Shared::root),
    }
}

/// Whether this is code of a run, and nothing was entered here: then the kernel knows the runtime.
#[inline]
pub(crate) fn is_plain() -> bool {
    DEPTH.try_with(Cell::get) == Ok(0) && kernel::is_inside() && !threads::is_started()
}

/// Where to spawn; `None` for where the kernel puts it.
#[cold]
#[track_caller]
pub(crate) fn spawns_in() -> Option<Place> {
    match entered() {
        Some(shared) => Some(shared.spawns_in()),
        None if kernel::is_inside() && !threads::is_started() => None,
        None => context::missing(),
    }
}

/// Virtual time where the run's own runtime is the current one, which has timers.
#[inline]
pub(crate) fn root_time() -> Option<SimTime> {
    if DEPTH.get() != 0 || threads::is_started() {
        return None;
    }
    kernel::with(|kernel| kernel.root_time()).flatten()
}

/// The group of the runtime with timers in which this thread is.
///
/// # Panics
/// Where there is none, in tokio's words.
#[track_caller]
pub(crate) fn require_time() -> GroupId {
    if root_time().is_some() {
        return GroupId::ROOT;
    }
    let Some(shared) = current() else { context::missing() };
    assert!(shared.settings().time, "{NO_TIME}");
    shared.group()
}

const NO_TIME: &str = "A Tokio 1.x context was found, but timers are disabled. Call `enable_time` on \
                       the runtime builder to enable timers.";

/// From when on the timers of a runtime count their ticks; the beginning where it is gone.
pub(crate) fn first_tick(group: GroupId) -> SimTime {
    let look = |kernel: &mut Kernel| {
        let shared = kernel.label(group)?.downcast_ref::<Shared>()?;
        Some(*shared.first_tick.get_or_init(|| kernel.now()))
    };
    clock().and_then(|sim| sim.with(look)).unwrap_or(SimTime::ZERO)
}

/// Goes into the run of the runtime in which this thread is, which has io.
///
/// # Errors
/// Those of `f`; tokio's where the runtime has been shut down.
///
/// # Panics
/// Where there is no runtime, or one without io, in tokio's words.
#[cfg(feature = "net")]
#[track_caller]
pub(crate) fn with_io<R>(f: impl FnOnce(&Sim, &Shared) -> io::Result<R>) -> io::Result<R> {
    let Some(shared) = current() else { context::missing() };
    assert!(shared.settings().io, "{NO_IO}");
    shared.check_open()?;
    let sim = shared.sim();
    sim.enter(|| f(&sim, &shared))
}

#[cfg(feature = "net")]
const NO_IO: &str = "A Tokio 1.x context was found, but IO is disabled. Call `enable_io` on the runtime \
                     builder to enable IO.";

/// Is this code part of a task, or of what somebody blocks on?
pub(crate) fn is_in_task() -> bool {
    kernel::with(|kernel| !kernel.current_tag().is_nobody()).unwrap_or(false)
}

/// A runtime was dropped, which waits for its blocking work. True: it may wait.
///
/// # Panics
/// In a task that does not block, in tokio's words.
#[track_caller]
pub(super) fn check_drop() -> bool {
    let waits = !is_in_task() || may_block();
    if !waits && !std::thread::panicking() {
        panic!(
            "Cannot drop a runtime in a context where blocking is not allowed. This happens when a \
             runtime is dropped from within an asynchronous context."
        );
    }
    waits
}

/// The run whose clock is read here: the one that runs, that of the runtime which was entered, or the
/// one that nobody opened.
pub(crate) fn clock() -> Option<Sim> {
    match entered() {
        Some(shared) => world::of(shared.run()),
        None => world::opened(),
    }
}
