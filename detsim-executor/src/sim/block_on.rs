//! Groups of tasks as the handle of a simulation sees them.
//!
//! Owns: [`Sim::spawn_in`], [`Sim::spawn_blocking_in`] and [`Sim::block_on_in`]. Does not own: groups ([`crate::group`]), or the run
//! loop. Invariant: a group is driven while somebody blocks on a future of it and drives it, and not
//! after that, unless its owner drives it too.

use super::Sim;
use crate::baton::{self, Drive, at_home, blocking};
use crate::context;
use crate::device::Device;
use crate::failure::Failure;
use crate::group::GroupId;
use crate::join::{self, Belongs, JoinHandle};
use crate::kernel::Kernel;
use crate::lane::Lane;
use crate::lost::JoinError;
use crate::run;
use crate::time::SimTime;
use std::future::Future;
use std::panic::Location;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// How long a run that has nothing to do waits for what its devices hope for: so long, so often.
const HOPE: Duration = Duration::from_millis(10);
const HOPES: u32 = 1_000;

impl Sim {
    /// Spawns a task of a group. Into a group that was closed it is dropped at once.
    #[track_caller]
    pub fn spawn_in<F>(&self, group: GroupId, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
    {
        let site = Location::caller();
        let belongs = Belongs { group: Some(group), ..Belongs::default() };
        join::spawn(self, future, belongs, site)
    }

    /// Runs a closure on a thread of its own, as a task of a group that need not be driven for it, and goes
    /// on where the group is closed. Into a group that was closed it is dropped at once.
    #[track_caller]
    pub fn spawn_blocking_in<F, R>(&self, group: GroupId, f: F) -> JoinHandle<R>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        let site = Location::caller();
        let belongs = Belongs { group: Some(group), free: true, ..Belongs::default() };
        join::spawn(self, blocking(f), belongs, site)
    }

    /// Runs until `main`, which belongs to a group but is no task of its own, has ended; drives the
    /// group until then, if asked to. `site` is where somebody blocks.
    ///
    /// # Errors
    /// The failure of the run, outside; inside, the panic of `main`, or that it was dropped.
    #[track_caller]
    pub fn block_on_in<F>(
        &self,
        group: GroupId,
        drives: bool,
        site: &'static Location<'static>,
        main: F,
    ) -> Result<Result<F::Output, JoinError>, Failure>
    where
        F: Future + 'static,
    {
        let _driven = drives.then(|| Driven::new(self, group));
        self.block_on_as(group, false, site, main)
    }

    /// The same, where this thread is for `main` and what else is [`at_home`] alone: all others run on
    /// another.
    ///
    /// # Errors
    /// As [`Self::block_on_in`].
    #[track_caller]
    pub fn block_on_apart<F>(
        &self,
        group: GroupId,
        site: &'static Location<'static>,
        main: F,
    ) -> Result<Result<F::Output, JoinError>, Failure>
    where
        F: Future + 'static,
    {
        self.block_on_as(group, true, site, at_home(main))
    }

    #[track_caller]
    fn block_on_as<F>(
        &self,
        group: GroupId,
        apart: bool,
        site: &'static Location<'static>,
        main: F,
    ) -> Result<Result<F::Output, JoinError>, Failure>
    where
        F: Future + 'static,
    {
        let belongs =
            Belongs { name: "main", group: Some(group), main: true, ..Belongs::default() };
        let main = join::spawn(self, main, belongs, site);
        self.with(|kernel| kernel.put_first(main.word()));
        let main_task = Some(main.number());
        let drive = Drive { until: SimTime::MAX, main: main_task, apart, for_visitors: false };
        let driven = self.drive_as(drive);
        if driven.is_err() {
            // It may borrow from whoever blocks on it.
            self.inside(|| run::drop_task_of(main.number()));
        }
        driven.map(|_| self.inside(|| joined(main)))
    }
}

impl super::Shared {
    /// Tells the devices that nothing can run before the clock moves. True: now something can.
    #[cold]
    pub(crate) fn rests(&self) -> bool {
        let devices = self.devices.borrow().clone();
        devices.iter().for_each(|device| run::guarded(|| device.on_rest()));
        self.rested.set(true);
        let ready = context::with(|kernel| !kernel.policy.is_empty() || kernel.failure.is_some());
        let ready = ready.unwrap_or(false);
        if ready {
            self.wakes();
        }
        ready
    }

    /// Nothing is left to happen here: a device may know of something outside that ends a wait. False
    /// where none does, or nothing came in time.
    pub(crate) fn hopes(&self, lane: &Lane) -> bool {
        let devices = self.devices.borrow().clone();
        let hoping = devices.iter().filter(|device| device.hopes()).collect::<Vec<_>>();
        let is_ready = || {
            let ready = |kernel: &mut Kernel| !kernel.policy.is_empty() || kernel.failure.is_some();
            let woken = lane.is_injected() || baton::address::wake_late(lane.index());
            woken || context::with(ready).unwrap_or(false)
        };
        if hoping.is_empty() {
            return false;
        }
        (0..HOPES).any(|_| {
            let wait = |device: &Rc<dyn Device>| device.wait_outside(HOPE);
            hoping.iter().for_each(|device| run::guarded(|| wait(device)));
            is_ready()
        })
    }

    /// What is in the devices.
    #[cold]
    pub(crate) fn devices_shown(&self) -> String {
        // A panic may have left a device half way.
        if crate::here::is_in_section() {
            return String::new();
        }
        let devices = self.devices.borrow().clone();
        devices.iter().map(|device| device.shown()).collect()
    }

    /// The failure of the run, with what is in the devices.
    #[cold]
    pub(crate) fn failed(&self) -> Failure {
        let shown = self.devices_shown();
        let keep = |kernel: &mut Kernel| {
            let failure = kernel.failure.as_mut()?;
            let known = failure.devices_mut();
            if known.is_empty() {
                *known = shown;
            }
            Some(failure.clone())
        };
        let failure = context::with(keep).flatten();
        failure.expect("invariant: who asks has seen that the run failed")
    }

    /// Tells them that something can, where they were told that nothing could.
    pub(crate) fn wakes(&self) {
        if self.rested.replace(false) {
            let devices = self.devices.borrow().clone();
            devices.iter().for_each(|device| run::guarded(|| device.on_wake()));
        }
    }
}

fn joined<T>(main: JoinHandle<T>) -> Result<T, JoinError> {
    match pin!(main).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(joined) => joined,
        Poll::Pending => unreachable!("invariant: the run went on until the task had ended"),
    }
}

/// While it lives the group is driven.
struct Driven<'a>(&'a Sim, GroupId);

impl<'a> Driven<'a> {
    fn new(sim: &'a Sim, group: GroupId) -> Self {
        sim.with(|kernel| kernel.drive_group(group));
        Self(sim, group)
    }
}

impl Drop for Driven<'_> {
    fn drop(&mut self) {
        let leave = |kernel: &mut Kernel| kernel.leave_group(self.1);
        self.0.inside(|| context::with(leave));
    }
}
