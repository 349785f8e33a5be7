//! What the handles of a runtime share.
//!
//! Owns: [`Shared`]: which run and which group of it a runtime is, its settings, and what it does:
//! being built, blocking, being shut down. Does not own: the tasks. Invariant: the group is driven while
//! an owner blocks on the runtime, and all the time where it is a `multi_thread` one.

use super::metrics::Measured;
use super::place::{NOT_HERE, Place, Tells as _};
use super::{Id, Kind, Settings, hooks, scope, world};
use crate::__detsim::scoped;
use detsim_executor::threads::Barred;
use detsim_executor::{
    Device, Failure, GroupId, JoinError, Kernel, Sim, SimTime, context, group, sleep_until, threads,
};
use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::{Location, resume_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::Poll;
use std::thread::ThreadId;
use std::time::Duration;

/// tokio's words for blocking in a task.
const NESTED: &str = "Cannot start a runtime from within a runtime. This happens because a function \
                      (like `block_on`) attempted to block the current thread while the thread is being \
                      used to drive asynchronous tasks. If you are in an async function, use \
                      `.await` on the future instead of blocking on it.";
/// tokio's words for a pause where there are several threads.
pub(crate) const NEEDS_CURRENT_THREAD: &str = "`time::pause()` requires the `current_thread` Tokio runtime. This is the default Runtime used by \
     `#[tokio::test].";

/// A runtime.
pub(crate) struct Shared {
    id: Id,
    run: u64,
    group: GroupId,
    settings: Settings,
    thread: ThreadId,
    /// The thread on which an owner blocks on it, as the first of them.
    owner: Mutex<Option<ThreadId>>,
    /// Whether the clock is paused while somebody blocks on it.
    paused: AtomicBool,
    /// When it was made; where its clock is paused, which stands until it runs, when it had its first timer.
    pub(super) first_tick: OnceLock<SimTime>,
    /// How often somebody has blocked on it.
    pub(super) sessions: AtomicU64,
    /// The rests of the run before it was built.
    pub(super) rests_before: u64,
    /// The descriptors of the system that are watched for it and others of its run.
    #[cfg(all(feature = "net", target_os = "linux"))]
    outside: OnceLock<Arc<crate::io::outside::Outside>>,
    /// What was measured when it was shut down.
    pub(super) closed: OnceLock<Measured>,
}

impl Shared {
    /// Builds a runtime in the run of this thread.
    #[track_caller]
    pub(super) fn build(settings: Settings) -> Arc<Self> {
        let multi = settings.kind == Kind::MultiThread;
        assert!(!(multi && settings.start_paused), "{NEEDS_CURRENT_THREAD}");
        let sim = world::here();
        let group = sim.with(|kernel| {
            let group = kernel.add_group(multi);
            if multi {
                kernel.drive_group(group);
            }
            if let Some(closures) = settings.blocking_max {
                kernel.set_blocking_max(closures);
            }
            group
        });
        let shared = Arc::new(Self::new(&sim, group, settings));
        shared.label(&sim);
        if !shared.settings.hooks.are_idle() {
            sim.add_device(Rc::new(Parks(Arc::clone(&shared))));
            sim.with(Kernel::watch_rests);
        }
        let _entered = scope::enter(&shared);
        hooks::call(&shared.settings.hooks.start, shared.threads());
        shared
    }

    /// The run's own runtime, for code that is in no other.
    pub(super) fn root() -> Arc<Self> {
        let settings = Settings { pausable: true, ..Settings::everything(Kind::MultiThread) };
        Self::root_of(&world::here(), settings)
    }

    /// Makes the run's own runtime one of these settings.
    pub(crate) fn root_of(sim: &Sim, settings: Settings) -> Arc<Self> {
        let shared = Arc::new(Self::new(sim, GroupId::ROOT, settings));
        shared.label(sim);
        if shared.settings.start_paused {
            sim.with(Kernel::pause_clock);
        }
        shared
    }

    fn new(sim: &Sim, group: GroupId, settings: Settings) -> Self {
        let (run, rests_before) = sim.with(|kernel| (kernel.id(), kernel.rests()));
        Self {
            id: Id::new(group.word()),
            run,
            group,
            thread: std::thread::current().id(),
            owner: Mutex::new(None),
            paused: AtomicBool::new(settings.start_paused),
            first_tick: if settings.start_paused { OnceLock::new() } else { sim.now().into() },
            sessions: AtomicU64::new(0),
            rests_before,
            #[cfg(all(feature = "net", target_os = "linux"))]
            outside: OnceLock::new(),
            closed: OnceLock::new(),
            settings,
        }
    }

    fn label(self: &Arc<Self>, sim: &Sim) {
        let label = Arc::clone(self);
        drop(sim.with(|kernel| kernel.set_label(self.group, label)));
    }

    pub(super) fn id(&self) -> Id {
        self.id
    }

    pub(super) fn run(&self) -> u64 {
        self.run
    }

    pub(crate) fn group(&self) -> GroupId {
        self.group
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Whether this is the thread on which it was made.
    pub(crate) fn is_here(&self) -> bool {
        self.thread == std::thread::current().id()
    }

    /// The threads whose callbacks are called.
    fn threads(&self) -> usize {
        if self.settings.kind == Kind::MultiThread { self.settings.workers() } else { 0 }
    }

    /// Its run.
    ///
    /// # Panics
    /// Where this thread is not in it, or it has ended.
    #[track_caller]
    pub(crate) fn sim(&self) -> Sim {
        self.try_sim().expect(NOT_HERE)
    }

    pub(crate) fn try_sim(&self) -> Option<Sim> {
        world::of(self.run)
    }

    pub(super) fn worker_index(&self) -> Option<usize> {
        let group = context::with(Kernel::current_group)?;
        let is_task = context::with(Kernel::is_held_by_group)?;
        let task = group::current_task().filter(|_| is_task && group == self.group);
        match self.settings.kind {
            Kind::MultiThread => task.map(|task| task.0 as usize % self.settings.workers()),
            Kind::CurrentThread | Kind::Local => {
                (task.is_some() || self.is_with_owner()).then_some(0)
            }
        }
    }

    /// Whether what runs may block its thread: it is not on the one worker of a runtime.
    pub(crate) fn lets_block(&self) -> bool {
        self.settings.kind == Kind::MultiThread || self.worker_index().is_none()
    }

    /// Whether what runs is what the owner blocks on.
    fn is_with_owner(&self) -> bool {
        let owner = *self.owner.lock().unwrap_or_else(PoisonError::into_inner);
        let is_owner = self.group == GroupId::ROOT || owner == Some(std::thread::current().id());
        is_owner && scope::is_in_task() && !detsim_executor::may_block()
    }

    /// # Errors
    /// tokio's, where the runtime was shut down.
    #[cfg(any(feature = "io-std", feature = "net"))]
    pub(crate) fn check_open(&self) -> std::io::Result<()> {
        if self.is_shut_down() { Err(super::gone()) } else { Ok(()) }
    }

    /// Where to spawn. What is spawned where the runtime was shut down is dropped, also where its run is
    /// gone.
    #[track_caller]
    pub(crate) fn spawns_in(&self) -> Place {
        match self.try_sim() {
            Some(sim) => Place::Here(sim, self.group),
            // In this order: its owner may shut it down meanwhile, and end the run.
            None if threads::lives_elsewhere(self.run) && !self.is_shut_down() => {
                Place::Elsewhere(self.run, self.group)
            }
            None if self.is_shut_down() => Place::Here(world::here(), GroupId::CLOSED),
            None => Place::Here(self.sim(), self.group),
        }
    }

    /// Blocks this thread until `future` has ended: as an owner, who drives the tasks, or not.
    #[track_caller]
    pub(super) fn block_on<F: Future>(self: &Arc<Self>, owner: bool, future: F) -> F::Output {
        let is_nested = scope::is_in_task();
        assert!(!is_nested || detsim_executor::may_block(), "{NESTED}");
        if self.is_elsewhere() {
            return self
                .visit(|| self.block_on(owner, future))
                .unwrap_or_else(|barred| barred.tell());
        }
        let sim = self.sim();
        let _session = Session::begin(self, &sim, owner);
        // A runtime that was shut down has no group whose runtime it could be.
        let future = scope::within(self, is_nested || self.is_shut_down(), future);
        if is_nested {
            return detsim_executor::block_on(future);
        }
        let site = Location::caller();
        let apart = self.settings.kind == Kind::MultiThread && self.group != GroupId::ROOT;
        let (ended, output) = scoped::lend(future, |main| match apart {
            true => sim.block_on_apart(self.group, site, main),
            false => sim.block_on_in(self.group, false, site, main),
        });
        match (ended, output) {
            (Ok(Ok(())), Some(output)) => output,
            (Ok(Err(error)), _) => unwind(error),
            (Err(failure), _) => fail(&failure),
            (Ok(Ok(())), None) => unreachable!("invariant: a task that has ended left its output"),
        }
    }

    /// Descriptors are watched for it from now on.
    #[cfg(all(feature = "net", target_os = "linux"))]
    pub(crate) fn watches(&self, outside: &Arc<crate::io::outside::Outside>) {
        self.outside.get_or_init(|| Arc::clone(outside));
    }

    pub(crate) fn is_shut_down(&self) -> bool {
        self.closed.get().is_some()
    }

    /// Ends what waits for the world outside, from whichever thread.
    fn shut_outside(&self) {
        #[cfg(all(feature = "net", target_os = "linux"))]
        if let Some(outside) = self.outside.get() {
            outside.shut(self.group.word());
        }
    }

    /// Ends what waits for the network. To be called inside of its run.
    fn shut_sockets(&self, sim: &Sim) {
        #[cfg(feature = "net")]
        if let Some(sockets) = detsim_net::Sockets::made_of(sim) {
            sockets.owner_gone(self.group.word(), super::gone);
        }
        #[cfg(not(feature = "net"))]
        let _ = sim;
    }

    /// Whether its run is one that this thread is no part of.
    fn is_elsewhere(&self) -> bool {
        self.try_sim().is_none() && threads::lives_elsewhere(self.run)
    }

    /// Runs `f` as part of the run, where this thread is none.
    fn visit<R>(&self, f: impl FnOnce() -> R) -> Result<R, Barred> {
        threads::visit(self.run, f)
    }

    /// Has its run, which is another thread's, drop its tasks: nobody waits for that.
    fn shut_down_there(self: &Arc<Self>) {
        self.shut_outside();
        let shared = Arc::clone(self);
        let shuts = async move {
            shared.shut_down();
        };
        drop(threads::spawn_from_elsewhere(self.run, GroupId::ROOT, true, shuts));
    }

    /// Drops its tasks, and takes no more, and waits for nothing.
    pub(super) fn shut_down_in_background(self: &Arc<Self>) {
        if self.is_elsewhere() {
            self.shut_down_there();
        } else {
            self.shut_down();
        }
    }

    /// Drops its tasks, and takes no more. False where it was shut down before, or its run has ended.
    pub(crate) fn shut_down(self: &Arc<Self>) -> bool {
        self.shut_outside();
        let Some(sim) = self.try_sim() else { return false };
        let measured = sim.with(|kernel| Measured::of(self, kernel));
        if self.closed.set(measured).is_err() {
            return false;
        }
        let _entered = scope::enter(self);
        sim.enter(|| {
            group::close(self.group);
            self.shut_sockets(&sim);
            if self.settings.kind == Kind::MultiThread && !scope::is_in_task() {
                threads::end_workers();
            }
        });
        hooks::call(&self.settings.hooks.stop, self.threads());
        true
    }

    /// Shuts down, and waits for closures that block, for so long at most.
    ///
    /// # Panics
    /// In a task, in tokio's words; where the run fails.
    #[track_caller]
    pub(super) fn shut_down_for(self: &Arc<Self>, limit: Option<Duration>) {
        if self.is_elsewhere() {
            // A thread that panics could not be unwound where it waits.
            match std::thread::panicking() {
                true => self.shut_down_there(),
                // It goes with its run, where that is over.
                false => drop(self.visit(|| self.shut_down_for(limit))),
            }
            return;
        }
        if !self.shut_down() || limit == Some(Duration::ZERO) || !scope::check_drop() {
            return;
        }
        let Some(sim) = self.try_sim() else { return };
        let group = self.group;
        let is_over = sim.with(|kernel| kernel.poll_unblocked(group, &mut None));
        if is_over || sim.failure().is_some() {
            return;
        }
        let wait = unblocked(group, limit);
        if scope::is_in_task() {
            return detsim_executor::block_on(wait);
        }
        let ended = sim.block_on_in(GroupId::ROOT, false, Location::caller(), wait);
        if let Err(failure) = ended
            && !std::thread::panicking()
        {
            fail(&failure);
        }
    }
}

/// Waits until no closure of a runtime that was shut down blocks a thread, for so long at most.
async fn unblocked(group: GroupId, limit: Option<Duration>) {
    let now = context::now();
    let mut limit = limit.map(|limit| sleep_until(now + limit));
    poll_fn(|cx| {
        let mut waker = Some(cx.waker().clone());
        let over = context::with(|kernel| kernel.poll_unblocked(group, &mut waker));
        let mut is_late =
            || limit.as_mut().is_some_and(|limit| Pin::new(limit).poll(cx).is_ready());
        if over == Some(false) && !is_late() { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
}

#[track_caller]
fn unwind(error: JoinError) -> ! {
    match error.try_into_panic() {
        Ok(payload) => resume_unwind(payload),
        Err(error) => panic!("{error}"),
    }
}

#[track_caller]
fn fail(failure: &Failure) -> ! {
    panic!("{failure}")
}

/// Somebody blocks on the runtime.
struct Session<'a> {
    shared: &'a Shared,
    sim: &'a Sim,
    /// An owner, who drives the tasks, and whose pause of the clock it is.
    owner: Option<Owner>,
}

struct Owner {
    is_first: bool,
    paused_before: bool,
}

impl<'a> Session<'a> {
    fn begin(shared: &'a Shared, sim: &'a Sim, owner: bool) -> Self {
        shared.sessions.fetch_add(1, Relaxed);
        Self { shared, sim, owner: owner.then(|| Owner::begin(shared, sim)) }
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        let Some(owner) = self.owner.take() else { return };
        if owner.is_first {
            self.shared.owner.lock().unwrap_or_else(PoisonError::into_inner).take();
        }
        self.shared.paused.store(swap_paused(self.sim, owner.paused_before), Relaxed);
        self.sim.enter(|| context::with(|kernel| kernel.leave_group(self.shared.group)));
    }
}

impl Owner {
    fn begin(shared: &Shared, sim: &Sim) -> Self {
        let is_first = {
            let mut owner = shared.owner.lock().unwrap_or_else(PoisonError::into_inner);
            let is_first = owner.is_none();
            owner.get_or_insert_with(|| std::thread::current().id());
            is_first
        };
        sim.with(|kernel| kernel.drive_group(shared.group));
        Self { is_first, paused_before: swap_paused(sim, shared.paused.load(Relaxed)) }
    }
}

/// Pauses the clock, or ends its pause; what it was before.
fn swap_paused(sim: &Sim, pause: bool) -> bool {
    sim.with(|kernel| {
        let before = kernel.is_clock_paused();
        if pause {
            kernel.pause_clock()
        } else {
            kernel.resume_clock()
        }
        before
    })
}

/// Calls back when the workers park and go on.
struct Parks(Arc<Shared>);

impl Parks {
    fn call(&self, callback: &Option<hooks::Callback>) {
        let open = context::with(|kernel| kernel.is_driven(self.0.group));
        if open == Some(true) {
            let _entered = scope::enter(&self.0);
            hooks::call(callback, self.0.settings.workers());
        }
    }
}

impl Device for Parks {
    fn next_deadline(&self) -> Option<detsim_executor::Deadline> {
        None
    }

    fn handle(&self) {}

    fn on_rest(&self) {
        self.call(&self.0.settings.hooks.park);
    }

    fn on_wake(&self) {
        self.call(&self.0.settings.hooks.unpark);
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime").field("id", &self.id).finish_non_exhaustive()
    }
}
