//! What can be measured of a runtime.

use super::shared::Shared;
use super::{Handle, Kind};
use detsim_executor::Kernel;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// What one poll takes.
const POLL: Duration = Duration::from_nanos(50);

/// Measures a runtime. Made by [`Handle::metrics`].
///
/// The workers are simulated: they park together, when nothing of the run can go on before its clock
/// moves, and share the polls evenly.
#[derive(Clone, Debug)]
pub struct RuntimeMetrics {
    handle: Handle,
}

/// What is counted of a runtime.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Measured {
    alive: usize,
    queued: usize,
    polls: u64,
    rests: u64,
}

impl Measured {
    pub(super) fn of(shared: &Shared, kernel: &Kernel) -> Self {
        let group = shared.group();
        Self {
            alive: kernel.alive_in(group) as usize,
            queued: kernel.ready_in(group),
            polls: kernel.polls_of(group),
            rests: kernel.rests() - shared.rests_before,
        }
    }
}

impl RuntimeMetrics {
    pub(super) fn new(handle: Handle) -> Self {
        Self { handle }
    }

    fn shared(&self) -> &Shared {
        self.handle.shared()
    }

    fn measured(&self) -> Measured {
        let shared = self.shared();
        let closed = || shared.closed.get().copied().unwrap_or_default();
        if shared.is_shut_down() {
            return Measured { alive: 0, queued: 0, ..closed() };
        }
        shared.try_sim().map_or_else(closed, |sim| sim.with(|kernel| Measured::of(shared, kernel)))
    }

    #[track_caller]
    fn check(&self, worker: usize) {
        let workers = self.num_workers();
        assert!(worker < workers, "index out of bounds: {workers} workers, index {worker}");
    }

    /// The workers that the runtime says it has.
    pub fn num_workers(&self) -> usize {
        self.shared().settings().workers()
    }

    /// The tasks that were spawned and have not ended.
    pub fn num_alive_tasks(&self) -> usize {
        self.measured().alive
    }

    /// The tasks that wait for their turn.
    pub fn global_queue_depth(&self) -> usize {
        self.measured().queued
    }

    /// How long a worker was busy.
    ///
    /// # Panics
    /// Where there is no such worker.
    #[track_caller]
    pub fn worker_total_busy_duration(&self, worker: usize) -> Duration {
        self.check(worker);
        let polls = self.measured().polls.div_ceil(self.num_workers() as u64);
        POLL * u32::try_from(polls).unwrap_or(u32::MAX)
    }

    /// How often a worker has parked.
    ///
    /// # Panics
    /// Where there is no such worker.
    #[track_caller]
    pub fn worker_park_count(&self, worker: usize) -> u64 {
        self.check(worker);
        self.parks()
    }

    /// How often a worker has parked or gone on: odd while it is parked.
    ///
    /// # Panics
    /// Where there is no such worker.
    #[track_caller]
    pub fn worker_park_unpark_count(&self, worker: usize) -> u64 {
        self.check(worker);
        2 * self.parks() - u64::from(self.is_parked())
    }

    /// Workers of a `multi_thread` runtime park when they start and whenever nobody blocks on it.
    fn parks(&self) -> u64 {
        let rests = self.measured().rests;
        match self.shared().settings().kind {
            Kind::MultiThread => rests + 1 + self.shared().sessions.load(Relaxed),
            Kind::CurrentThread | Kind::Local => rests,
        }
    }

    fn is_parked(&self) -> bool {
        self.shared().settings().kind == Kind::MultiThread
            && !self.shared().is_shut_down()
            && !super::scope::is_in_task()
    }
}
