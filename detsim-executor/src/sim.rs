//! The handle of a simulation.
//!
//! Owns: [`Sim`]: what a scenario says to the kernel. Does not own: nodes (`sim/node.rs`), the loop
//! ([`crate::run`]). Invariants: the kernel is never borrowed while a callback runs, so a
//! handle may be used anywhere; the handle that made the simulation ends it when it is dropped.

mod block_on;
mod node;

pub use node::Node;

use crate::baton::{self, Drive};
use crate::bound::lease::Lease;
use crate::choice::Anchor;
use crate::context;
use crate::device::Device;
use crate::event::{Event, NodeId};
use crate::failure::Failure;
use crate::join::{self, Belongs, JoinHandle};
use crate::kernel::{Kernel, SimConfig};
use crate::lane::Lane;
use crate::node::Trouble;
use crate::queue::{Callback, DeviceId};
use crate::rng::{Ratio, Stream};
use crate::run;
use crate::scheduler::Scheduler;
use crate::time::SimTime;
use crate::trace::{RunHash, Trace};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::rc::Rc;
use std::time::Duration;

/// What all handles of a simulation share.
pub(crate) struct Shared {
    lease: RefCell<Option<Rc<Lease>>>,
    pub(crate) devices: RefCell<Vec<Rc<dyn Device>>>,
    /// The furthest moment that was ever asked for.
    horizon: Cell<SimTime>,
    running: Cell<bool>,
    /// The devices were told of a rest, and not yet of its end.
    rested: Cell<bool>,
    seed: u64,
}

/// A simulated world: virtual time, tasks, nodes, choices.
///
/// Cheap to clone, and usable from callbacks and tasks of the world itself. The handle that
/// [`Sim::new`] returned ends the world when it is dropped; a clone that outlives it is dead, and
/// says so when it is used.
///
/// # Examples
/// ```
/// use detsim_executor::{Sim, SimTime};
/// use std::time::Duration;
/// let sim = Sim::new(7);
/// let handle = sim.clone();
/// sim.after(Duration::from_secs(3600), move || assert_eq!(handle.now(), SimTime::from_secs(3600)));
/// let report = sim.run().unwrap();
/// assert_eq!(report.steps, 1);
/// ```
pub struct Sim {
    shared: Rc<Shared>,
    owns: bool,
}

/// How a run went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Polls, callbacks and deliveries since the simulation began.
    pub steps: u64,
    /// Tasks that ran to their end.
    pub completed: u64,
    /// Virtual time.
    pub now: SimTime,
    /// The fingerprint of the run so far.
    pub hash: RunHash,
}

impl Sim {
    /// A world of this seed, at time zero, with nothing in it.
    ///
    /// # Panics
    /// Where 4094 simulations are alive.
    #[track_caller]
    pub fn new(seed: u64) -> Self {
        Self::with_config(seed, SimConfig::default())
    }

    /// A world of this seed and set-up.
    ///
    /// # Panics
    /// Where 4094 simulations are alive.
    #[track_caller]
    pub fn with_config(seed: u64, config: SimConfig) -> Self {
        let lease = Rc::new(Lease::new());
        let shared = Rc::new(Shared {
            lease: RefCell::new(Some(Rc::clone(&lease))),
            devices: RefCell::default(),
            horizon: Cell::default(),
            running: Cell::default(),
            rested: Cell::default(),
            seed,
        });
        let id = lease.id();
        let lane = (id >> crate::lane::LANE_SHIFT) as u32;
        lease.drive(|| {
            let weak = Rc::downgrade(&shared);
            context::with(|kernel| {
                kernel.begin(id, lane, seed, &config);
                kernel.set_shared(weak);
            })
        });
        Self { shared, owns: true }
    }

    pub(crate) fn from_shared(shared: Rc<Shared>) -> Self {
        Self { shared, owns: false }
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.shared.seed
    }

    /// Has the simulation not ended yet?
    pub fn is_alive(&self) -> bool {
        self.shared.lease.borrow().is_some()
    }

    /// Virtual time.
    ///
    /// # Panics
    /// As every method but `seed`: where the simulation has ended.
    #[track_caller]
    pub fn now(&self) -> SimTime {
        self.with(|kernel| kernel.now())
    }

    /// Runs `f` at a moment; a moment of the past means now. Callbacks of one moment run in the
    /// order they were given.
    #[track_caller]
    pub fn at(&self, at: impl Into<SimTime>, f: impl FnOnce() + 'static) {
        let (at, site) = (at.into(), Location::caller());
        let callback = Callback { run: Box::new(f), site };
        self.with(|kernel| kernel.queue.call_at(at.max(kernel.now()), callback));
    }

    /// Runs `f` after a while.
    #[track_caller]
    pub fn after(&self, delay: Duration, f: impl FnOnce() + 'static) {
        self.at(self.now() + delay, f);
    }

    /// Runs `f` at this moment, after what is already to happen at it.
    #[track_caller]
    pub fn immediately(&self, f: impl FnOnce() + 'static) {
        self.at(SimTime::ZERO, f);
    }

    /// Spawns a task. It is the parent's child where a task spawns it, and belongs to the same
    /// node; from outside it belongs to no node.
    #[track_caller]
    pub fn spawn<F>(&self, name: impl AsRef<str>, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
    {
        let site = Location::caller();
        let belongs = Belongs { name: name.as_ref(), ..Belongs::default() };
        join::spawn(self, future, belongs, site)
    }

    /// Runs until nothing is left to happen.
    ///
    /// # Errors
    /// A panic nobody took, a deadlock, a livelock, a limit. A failed run is over: running it
    /// again gives the same failure.
    #[track_caller]
    pub fn run(&self) -> Result<Report, Failure> {
        self.drive(SimTime::MAX, None)
    }

    /// Runs everything up to a moment, that moment included, and leaves the clock there. Tasks
    /// that still wait are no deadlock: the scenario may yet give them what they wait for.
    ///
    /// # Errors
    /// As [`Self::run`], without the deadlock.
    #[track_caller]
    pub fn run_until(&self, until: impl Into<SimTime>) -> Result<Report, Failure> {
        let until = until.into();
        self.shared.horizon.set(self.shared.horizon.get().max(until));
        self.drive(until, None)
    }

    /// Runs for a while, counted from the furthest moment that was ever asked for; so a loop of
    /// short ones adds up, whatever happens in between.
    ///
    /// # Errors
    /// As [`Self::run_until`].
    #[track_caller]
    pub fn run_for(&self, duration: Duration) -> Result<Report, Failure> {
        let from = self.shared.horizon.get().max(self.now());
        self.run_until(from + duration)
    }

    /// Runs until `main` has ended, and gives its result. Other tasks may still be alive then.
    ///
    /// # Errors
    /// As [`Self::run`]. A panic of `main` is one nobody took.
    #[track_caller]
    pub fn block_on<F>(&self, main: F) -> Result<F::Output, Failure>
    where
        F: Future + 'static,
    {
        self.block_on_for(Location::caller(), main)
    }

    /// As [`Self::block_on`], for whoever stands at `site`: reports say that `main` was spawned
    /// there.
    ///
    /// # Errors
    /// As [`Self::run`]. A panic of `main` is one nobody took.
    #[track_caller]
    pub fn block_on_for<F>(
        &self,
        site: &'static Location<'static>,
        main: F,
    ) -> Result<F::Output, Failure>
    where
        F: Future + 'static,
    {
        let out = Rc::new(Cell::new(None));
        let slot = Rc::clone(&out);
        let main = async move { slot.set(Some(main.await)) };
        let belongs = Belongs { name: "main", main: true, ..Belongs::default() };
        let main = join::spawn(self, main, belongs, site);
        let number = main.number();
        drop(main);
        self.drive(SimTime::MAX, Some(number))?;
        Ok(out.take().expect("invariant: a run ends without a failure after its main task"))
    }

    /// Ends the world now: its tasks are dropped, each in turn. A panic nobody took comes out.
    ///
    /// # Errors
    /// The failure of the run, where it had none before and a drop brought one about.
    pub fn finish(self) -> Result<(), Failure> {
        let before = self.failure();
        run::tear_down(&self);
        match (before, self.failure()) {
            (None, Some(failure)) => Err(failure),
            _ => Ok(()),
        }
    }

    /// The failure of the run, where it has one.
    #[track_caller]
    pub fn failure(&self) -> Option<Failure> {
        self.with(|kernel| kernel.failure.clone())
    }

    #[track_caller]
    fn drive(
        &self,
        until: SimTime,
        main: Option<crate::event::TaskNumber>,
    ) -> Result<Report, Failure> {
        self.drive_as(Drive { until, main, apart: false, for_visitors: false })
    }

    #[track_caller]
    pub(crate) fn drive_as(&self, drive: Drive) -> Result<Report, Failure> {
        assert!(!self.shared.running.replace(true), "{RUNNING}");
        let _running = Running(&self.shared.running);
        self.inside(|| run::drive(&self.shared, drive).inspect_err(|_| baton::bar_visitors()))
    }

    /// The bound on steps; reaching it ends the run as a limit, or as a livelock where nothing
    /// else was on its way.
    #[track_caller]
    pub fn set_max_steps(&self, steps: u64) {
        self.with(|kernel| {
            kernel.limits.steps = steps;
            kernel.steps.set_max(steps);
        });
    }

    /// Lets a scheduler of one's own decide who runs next, from now on. In a replay it is not
    /// asked: the given choices decide.
    ///
    /// # Panics
    /// Where a task is ready already: it would be forgotten.
    #[track_caller]
    pub fn set_scheduler(&self, scheduler: Box<dyn Scheduler>) {
        let fresh = self.with(|kernel| kernel.tasks.alive() == 0);
        assert!(fresh, "detsim: a scheduler is set before the first task is spawned");
        self.with(|kernel| {
            if !kernel.choices.is_replay() {
                kernel.policy.set_other(scheduler);
                kernel.settle();
            }
        });
    }

    /// A random word of the program's own stream, which no scheduling shifts. Not a choice: it is
    /// the same in every replay.
    #[track_caller]
    pub fn random_u64(&self) -> u64 {
        self.with(|kernel| kernel.user_stream().word())
    }

    /// A random number in `0..bound`; 0 where `bound` is 0.
    #[track_caller]
    pub fn random_below(&self, bound: u64) -> u64 {
        self.with(|kernel| kernel.user_stream().below(bound))
    }

    /// A random number in `min..=max`.
    ///
    /// # Panics
    /// Where `min > max`.
    #[track_caller]
    pub fn random_range(&self, min: u64, max: u64) -> u64 {
        assert!(min <= max, "detsim: empty range {min}..={max}");
        self.with(|kernel| kernel.user_stream().range(min, max))
    }

    /// True with probability `rate`.
    ///
    /// # Panics
    /// Where `rate` is no number in `0.0..=1.0`.
    #[track_caller]
    pub fn chance(&self, rate: f64) -> bool {
        let ratio = Ratio::from_rate("rate", rate);
        self.with(|kernel| kernel.user_stream().chance(ratio))
    }

    /// Does a fault that the scenario has in store happen? With probability `rate`, and 1 is as
    /// good as any: it is a choice whose default is *no*, so that minimising leaves out the faults
    /// that a failure does not need. `what` names the fault in reports: `n3 crashes`; it is asked
    /// once for each time that it may happen.
    ///
    /// # Panics
    /// Where `rate` is no number in `0.0..=1.0`.
    ///
    /// # Examples
    /// ```
    /// use detsim_executor::{Sim, SimTime};
    /// let sim = Sim::new(7);
    /// let node = sim.node("n3");
    /// if sim.fault("n3 crashes after a second", 0.5) {
    ///     sim.at(SimTime::from_secs(1), move || node.crash());
    /// }
    /// sim.run().unwrap();
    /// ```
    #[track_caller]
    pub fn fault(&self, what: &str, rate: f64) -> bool {
        let ratio = Ratio::from_rate("rate", rate);
        self.with(|kernel| {
            kernel.place_choices();
            let domain = kernel.choices.domain(&format!("fault/{what}"));
            kernel.choices.happens(domain, Anchor::default(), ratio)
        })
    }

    /// A stream of one's own, split from the seed by `name`.
    #[track_caller]
    pub fn stream(&self, name: &str) -> Stream {
        self.with(|kernel| kernel.choices.stream(name))
    }

    /// The node of this name, made where it is new.
    #[track_caller]
    pub fn node(&self, name: impl AsRef<str>) -> Node {
        let (id, is_new_in_trouble) = self.with(|kernel| {
            let last = kernel.nodes.last();
            let id = kernel.nodes.named(name.as_ref());
            (id, id > last && kernel.nodes.are_in_trouble)
        });
        if is_new_in_trouble {
            Trouble::of(self).set_clock(id);
        }
        Node { sim: Self::from_shared(Rc::clone(&self.shared)), id }
    }

    /// The tasks that have not ended, by number, and what each waits for.
    #[track_caller]
    pub fn living(&self) -> Vec<crate::BlockedTask> {
        self.with(|kernel| kernel.deadlock().tasks)
    }

    /// The fingerprint of the run so far.
    #[track_caller]
    pub fn hash(&self) -> RunHash {
        self.with(|kernel| kernel.hash)
    }

    /// What happened so far, where the run is recorded.
    #[track_caller]
    pub fn trace(&self) -> Trace {
        self.with(Kernel::trace)
    }

    /// The choices that were not defaults so far, where the run is recorded; in a replay, those of
    /// the given ones that took effect.
    #[track_caller]
    pub fn recorded_choices(&self) -> Vec<crate::choice::Choice> {
        self.with(|kernel| kernel.choices.recorded().to_vec())
    }

    /// What each of [`Self::recorded_choices`] was about, where the run is recorded in full. Looks
    /// up the places of stacks, which takes milliseconds for each stop of a task.
    #[track_caller]
    pub fn recorded_notes(&self) -> Vec<crate::choice::ChoiceNote> {
        self.with(|kernel| kernel.choices.notes())
    }

    /// In a replay, how many of the given choices have not come up.
    #[track_caller]
    pub fn unused_choices(&self) -> usize {
        self.with(|kernel| kernel.choices.unused())
    }

    /// Puts a line of the program's own into the trace, as something of whoever runs: `votes for n2
    /// in term 1`. Reports of minimised failures tell such lines before all else that happened. The
    /// text is asked for where the run is recorded, and only there.
    ///
    /// # Examples
    /// ```
    /// use detsim_executor::{Sim, SimConfig};
    /// let mut config = SimConfig::default();
    /// config.record = true;
    /// let sim = Sim::with_config(7, config);
    /// sim.node("n1").note(|| "leads term 1".to_owned());
    /// assert!(sim.trace().to_string().contains("n1 notes: leads term 1"));
    /// ```
    #[track_caller]
    pub fn note(&self, text: impl FnOnce() -> String) {
        self.note_of(None, text);
    }

    /// A line about this node, or about that of whoever runs.
    #[track_caller]
    pub(crate) fn note_of(&self, node: Option<NodeId>, text: impl FnOnce() -> String) {
        if self.with(|kernel| kernel.recorder.is_on()) {
            let text = text();
            self.with(|kernel| {
                kernel.record_with(|k| Event::Noted {
                    node: node.unwrap_or_else(|| k.current_node()),
                    text: k.recorder.text(&text),
                });
            });
        }
    }

    /// The uses of this simulation's objects by threads that are not part of it, since the last
    /// call: each is a thing that the seed does not determine.
    #[track_caller]
    pub fn take_escapes(&self) -> Vec<String> {
        let escapes = self.inside(|| crate::here::place().lane.map(Lane::take_escapes));
        escapes.unwrap_or_default().iter().map(ToString::to_string).collect()
    }

    // ------------------------------------------------------------ for devices

    /// What is in the devices, for the report of a test that fails while its run goes well.
    ///
    /// # Panics
    /// Where the simulation has ended.
    #[track_caller]
    pub fn devices_shown(&self) -> String {
        self.inside(|| self.shared.devices_shown())
    }

    /// Plugs a device in.
    #[track_caller]
    pub fn add_device(&self, device: Rc<dyn Device>) -> DeviceId {
        let is_faint = device.is_faint();
        self.shared.devices.borrow_mut().push(device);
        self.with(|kernel| kernel.queue.add_device(is_faint))
    }

    /// The device of this type, where one is plugged in.
    pub fn device<T: Device>(&self) -> Option<Rc<T>> {
        let devices = self.shared.devices.borrow();
        devices.iter().find_map(|device| {
            let device: Rc<dyn Any> = Rc::clone(device) as _;
            device.downcast().ok()
        })
    }

    /// The deadline of `device` may have changed.
    #[inline]
    #[track_caller]
    pub fn touch(&self, device: DeviceId) {
        self.with(|kernel| kernel.queue.touch(device));
    }

    /// The next number of the sequence that orders equal instants.
    #[inline]
    #[track_caller]
    pub fn next_seq(&self) -> u64 {
        self.with(|kernel| kernel.queue.next_seq())
    }

    /// Gives `f` the kernel: for devices, which run no user code in it.
    ///
    /// # Panics
    /// Where the simulation has ended.
    #[inline]
    #[track_caller]
    pub fn with<R>(&self, f: impl FnOnce(&mut Kernel) -> R) -> R {
        let lease = self.shared.lease.borrow();
        let Some(lease) = lease.as_ref() else { ended() };
        f(&mut lease.kernel())
    }

    /// Runs `f` as something of the world, outside of any task: what it spawns and makes is the world's.
    ///
    /// # Panics
    /// Where the simulation has ended.
    #[track_caller]
    pub fn enter<R>(&self, f: impl FnOnce() -> R) -> R {
        self.inside(f)
    }

    /// Whether somebody is inside the kernel, on this thread, which does not drive the simulation.
    pub(crate) fn is_looked_into(&self) -> bool {
        let lease = self.shared.lease.try_borrow();
        lease.is_ok_and(|lease| lease.as_ref().is_some_and(|lease| lease.is_busy()))
    }

    /// Runs `f` with this simulation as the one of this thread.
    #[inline]
    #[track_caller]
    pub(crate) fn inside<R>(&self, f: impl FnOnce() -> R) -> R {
        let lease = self.shared.lease.borrow();
        let Some(lease) = lease.as_ref() else { ended() };
        if crate::here::place().sim == lease.id() {
            return f();
        }
        let lease = Rc::clone(lease);
        lease.drive(f)
    }
}

#[track_caller]
#[cold]
fn ended() -> ! {
    panic!("detsim: this simulation has ended; the handle that `Sim::new` returned was dropped")
}

const RUNNING: &str = "detsim: the simulation is running already; a callback or a task of it asked \
                       for another run; let it return instead";

struct Running<'a>(&'a Cell<bool>);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.set(false);
    }
}

impl Clone for Sim {
    fn clone(&self) -> Self {
        Self::from_shared(Rc::clone(&self.shared))
    }
}

impl Drop for Sim {
    fn drop(&mut self) {
        if !self.owns {
            return;
        }
        run::tear_down(self);
        let lease = self.shared.lease.borrow_mut().take();
        let devices = self.shared.devices.take();
        drop(devices);
        drop(lease);
    }
}

impl fmt::Debug for Sim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sim").field("seed", &self.seed()).finish_non_exhaustive()
    }
}

impl Sim {
    pub(crate) fn each_device(&self, f: impl Fn(&dyn Device)) {
        let devices = self.shared.devices.borrow().clone();
        self.inside(|| devices.iter().for_each(|device| f(&**device)));
    }
}
