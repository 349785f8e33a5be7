//! The disks of all nodes of a simulation.
//!
//! Owns: [`Disks`], which plugs into the simulation: a disk for each node, made when it is first
//! used; what a loss of power and the death of a process do to it; open files by number, as a
//! process knows them; how long calls take. Does not own: what a call does (`volume/`), what goes
//! wrong with it (`disks/disk.rs`), or who calls: tokio's names are the shim's, libc's are the
//! facade's.
//!
//! Invariants: nothing is borrowed while code of a user runs; numbers of open files are never used
//! again, so that one of the past can mean nothing else.

mod blocking;
mod config;
mod disk;
mod drawn;
mod line;
mod locks;
mod walk;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use detsim_executor::event::{DiskEvent, DiskFault, Event};
use detsim_executor::rng::fold;
use detsim_executor::{
    Deadline, Device, Kernel, NodeId, Object, OpKind, ResourceKind, Sim, SimTime, context,
};

use crate::errno::{Errno, Outcome};
use crate::volume::{CrashOutcome, Handle, OpenFlags, SyncPoint, Volume};
pub use config::{DiskConfig, DiskFaults, DiskLatency, PowerLoss};
use disk::{Call, Disk};
pub use line::{Line, Place, wait_in_line};
use locks::FileLock;
use walk::Walk;

/// The first number of an open file. Those below are the system's own.
pub const FD_FIRST: i32 = 1 << 29;

/// The directory of every node whose files are in memory, and gone with the power.
pub const SHARED_MEMORY: &str = "/dev/shm";

/// Does the number of an open file belong to a simulated disk?
pub const fn is_simulated(fd: i32) -> bool {
    fd >= FD_FIRST
}

/// What a call costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    /// As a read.
    Read,
    /// As a write, of a name that others go by: a rename, or a name that is taken away.
    Rename,
    /// As a sync.
    Sync,
    /// As a write.
    Write,
}

/// The disks of a simulation.
///
/// # Determinism
/// Draws come from streams of the disks: `disk/<node>/latency`, `disk/<node>/crash`, and one for
/// each fault.
///
/// # Examples
/// ```
/// use detsim_executor::Sim;
/// use detsim_fs::{Disks, OpenFlags};
/// use std::path::Path;
///
/// let sim = Sim::new(7);
/// let node = sim.node("db");
/// let disks = Disks::of(&sim);
/// let flags = OpenFlags { write: true, create: true, ..OpenFlags::default() };
/// node.enter(|| {
///     let log = disks.open(Path::new("/log"), flags, 0o644)?;
///     disks.write(log, None, b"entry")?;
///     disks.sync(log, false)
/// })?;
/// node.crash();
/// assert_eq!(disks.volume(node.id(), |v| v.metadata(Path::new("/log")).unwrap().size), 5);
/// # Ok::<(), detsim_fs::Errno>(())
/// ```
pub struct Disks {
    sim: Sim,
    state: RefCell<State>,
    /// See [`Disks::at_once`].
    at_once: Cell<bool>,
    walk: Cell<Walk>,
}

struct State {
    disks: BTreeMap<NodeId, Disk>,
    defaults: DiskConfig,
    home: Option<std::path::PathBuf>,
    open: BTreeMap<i32, (NodeId, Handle)>,
    next_fd: i32,
    hurt: (usize, BTreeSet<NodeId>),
    /// What every task's calls are operations on, by node.
    objects: BTreeMap<NodeId, Object>,
    /// The locks of files, by node and number of the file.
    locks: BTreeMap<(NodeId, u64), FileLock>,
}

impl Disks {
    /// The disks of a simulation, plugged in where they are new.
    pub fn of(sim: &Sim) -> Rc<Self> {
        if let Some(disks) = sim.device::<Self>() {
            return disks;
        }
        let state = State {
            disks: BTreeMap::new(),
            defaults: DiskConfig::default(),
            home: None,
            open: BTreeMap::new(),
            next_fd: FD_FIRST,
            hurt: (usize::MAX, BTreeSet::new()),
            objects: BTreeMap::new(),
            locks: BTreeMap::new(),
        };
        let disks = Rc::new(Self {
            sim: sim.clone(),
            state: RefCell::new(state),
            at_once: Cell::new(false),
            walk: Cell::default(),
        });
        sim.add_device(Rc::clone(&disks) as Rc<dyn Device>);
        disks
    }

    /// The disks of the simulation that runs on this thread.
    pub fn current() -> Option<Rc<Self>> {
        context::sim().map(|sim| Self::of(&sim))
    }

    // ------------------------------------------------------------ for scenarios

    /// Sets up the disk of a node.
    ///
    /// # Panics
    /// Where a rate is no number in `0.0..=1.0`.
    #[track_caller]
    pub fn set_config(&self, node: NodeId, config: DiskConfig) {
        self.call(node, |call| call.disk.set_config(config));
    }

    /// How disks are set up that are made from now on.
    pub fn defaults(&self) -> DiskConfig {
        self.state.borrow().defaults
    }

    /// Sets up the disks that are made from now on.
    pub fn set_defaults(&self, config: DiskConfig) {
        self.state.borrow_mut().defaults = config;
    }

    /// At most so many disks may be hurt by faults that nothing reports, so that what is stored on
    /// more of them can be repaired: of `n` replicas, less than a quorum.
    ///
    /// # Examples
    /// ```
    /// # use detsim_executor::Sim;
    /// # use detsim_fs::Disks;
    /// let sim = Sim::new(7);
    /// Disks::of(&sim).set_silent_budget(2 - 1); // three replicas: a quorum is two
    /// ```
    pub fn set_silent_budget(&self, disks: usize) {
        self.state.borrow_mut().hurt.0 = disks;
    }

    /// A directory that is there on every disk that is made from now on, and where relative paths
    /// begin.
    pub fn set_home(&self, home: &Path) {
        self.state.borrow_mut().home = Some(home.to_owned());
    }

    /// As [`Self::set_home`], where none was set.
    pub fn set_home_once(&self, home: impl FnOnce() -> std::path::PathBuf) {
        self.state.borrow_mut().home.get_or_insert_with(home);
    }

    /// Gives `f` the file system of a node, past every fault.
    #[track_caller]
    pub fn volume<R>(&self, node: NodeId, f: impl FnOnce(&mut Volume) -> R) -> R {
        self.call(node, |call| f(&mut call.disk.volume))
    }

    /// How often a fault had an effect on a node's disk.
    #[track_caller]
    pub fn count(&self, node: NodeId, fault: DiskFault) -> u64 {
        self.call(node, |call| call.disk.counts.get(&fault).copied().unwrap_or(0))
    }

    // ------------------------------------------------------------ calls of the node that runs

    /// Gives `f` the file system of the node that runs.
    #[track_caller]
    pub fn names<R>(&self, f: impl FnOnce(&mut Volume) -> R) -> R {
        self.volume(self.node(), f)
    }

    /// Opens a file. See [`Volume::open`].
    ///
    /// # Errors
    /// Those of [`Volume::open`].
    pub fn open(&self, path: &Path, flags: OpenFlags, mode: u32) -> Outcome<i32> {
        let node = self.node();
        let handle = self.volume(node, |volume| volume.open(path, flags, mode))?;
        Ok(self.number(node, handle))
    }

    /// Opens a file; a relative path begins in an open directory.
    ///
    /// # Errors
    /// Those of [`Volume::open`] and [`Volume::within`].
    pub fn open_within(&self, dir: i32, path: &Path, flags: OpenFlags, mode: u32) -> Outcome<i32> {
        let (node, _) = self.find(dir)?;
        let handle = self.within(dir, |volume| volume.open(path, flags, mode))?;
        Ok(self.number(node, handle))
    }

    /// Opens a new file without a name. See [`Volume::open_nameless`].
    ///
    /// # Errors
    /// Those of [`Volume::open_nameless`].
    pub fn open_nameless(&self, dir: &Path, flags: OpenFlags, mode: u32) -> Outcome<i32> {
        let node = self.node();
        let handle = self.volume(node, |volume| volume.open_nameless(dir, flags, mode))?;
        Ok(self.number(node, handle))
    }

    /// Gives `f` the file system; relative paths begin in an open directory.
    ///
    /// # Errors
    /// Those of [`Volume::within`], and what `f` gives.
    pub fn within<R>(&self, dir: i32, f: impl FnOnce(&mut Volume) -> Outcome<R>) -> Outcome<R> {
        self.with(dir, |volume, handle| volume.within(handle, f)?)
    }

    /// Another number for the same open file. See [`Volume::duplicate`].
    ///
    /// # Errors
    /// Those of [`Volume::duplicate`].
    pub fn duplicate(&self, fd: i32) -> Outcome<i32> {
        let (node, handle) = self.find(fd)?;
        let twin = self.volume(node, |volume| volume.duplicate(handle))?;
        Ok(self.number(node, twin))
    }

    /// Closes a file.
    ///
    /// # Errors
    /// `EBADF`.
    pub fn close(&self, fd: i32) -> Outcome<()> {
        let found = self.state.borrow_mut().open.remove(&fd);
        let (node, handle) = found.ok_or(Errno::EBADF)?;
        let (ino, closed) =
            self.volume(node, |volume| (volume.number(handle), volume.close(handle)));
        ino.into_iter().for_each(|ino| self.settle_lock((node, ino)));
        closed
    }

    /// Gives `f` the file system and the handle behind an open file.
    ///
    /// # Errors
    /// `EBADF`, and what `f` gives.
    pub fn with<R>(
        &self,
        fd: i32,
        f: impl FnOnce(&mut Volume, Handle) -> Outcome<R>,
    ) -> Outcome<R> {
        let (node, handle) = self.find(fd)?;
        self.volume(node, |volume| f(volume, handle))
    }

    /// Reads at `offset`, or at the position, which then moves.
    ///
    /// # Errors
    /// Those of [`Volume::read`], and those of injected faults.
    pub fn read(&self, fd: i32, offset: Option<u64>, buf: &mut [u8]) -> Outcome<usize> {
        let (node, handle) = self.find(fd)?;
        self.call(node, |mut call| call.read(handle, offset, buf))
    }

    /// How many bytes a read of `len` could give at most, as the file is now: those up to its end.
    ///
    /// # Errors
    /// `EBADF`, and `EINVAL` for what lies past the last position.
    pub fn readable(&self, fd: i32, offset: Option<u64>, len: usize) -> Outcome<usize> {
        self.with(fd, |volume, handle| {
            let at = offset.map_or_else(|| volume.position(handle), Ok)?;
            volume.readable(handle, at, len)
        })
    }

    /// Writes at `offset`, or at the position, which then moves.
    ///
    /// # Errors
    /// Those of [`Volume::write`], and those of injected faults.
    pub fn write(&self, fd: i32, offset: Option<u64>, bytes: &[u8]) -> Outcome<usize> {
        let (node, handle) = self.find(fd)?;
        self.call(node, |mut call| call.write(handle, offset, bytes))
    }

    /// What a write to an open file costs: that of a sync where it is durable when it returns.
    pub fn cost_of_write(&self, fd: i32) -> Cost {
        match self.with(fd, |volume, handle| volume.flags(handle)) {
            Ok(flags) if flags.sync || flags.data_sync => Cost::Sync,
            _ => Cost::Write,
        }
    }

    /// Makes a file or the names of a directory durable, at once.
    ///
    /// # Errors
    /// Those of [`Volume::fsync`], and those of injected faults.
    pub fn sync(&self, fd: i32, data_only: bool) -> Outcome<()> {
        let point = self.begin_sync(fd, data_only)?;
        self.finish_sync(fd, point)
    }

    /// Makes everything durable that the disk of the node that runs holds, at once, as `sync(2)`.
    #[track_caller]
    pub fn sync_everything(&self) {
        self.call(self.node(), |mut call| call.sync_all());
    }

    /// Begins a sync that takes time. See [`Volume::begin_sync`].
    ///
    /// # Errors
    /// `EBADF`.
    pub fn begin_sync(&self, fd: i32, data_only: bool) -> Outcome<SyncPoint> {
        self.with(fd, |volume, handle| volume.begin_sync(handle, data_only))
    }

    /// Ends a sync that [`Self::begin_sync`] began.
    ///
    /// # Errors
    /// Those of [`Self::sync`].
    pub fn finish_sync(&self, fd: i32, point: SyncPoint) -> Outcome<()> {
        let (node, _) = self.find(fd)?;
        self.call(node, |mut call| call.finish_sync(point))
    }

    // ------------------------------------------------------------ for tasks

    /// When a call of the task that runs, begun now, is to end. [`SimTime::MAX`] where the node loses
    /// its power before the call takes place: whoever makes it waits, and is gone.
    pub fn end_of(&self, cost: Cost) -> SimTime {
        let node = self.node();
        if self.walks_into(node, cost) {
            self.lose_power_now(node);
            return SimTime::MAX;
        }
        let (end, power) = self.call(node, |mut call| {
            let (lasts_ns, power_ns) = draw_course(&mut call, cost);
            let now = call.kernel.now();
            let after = |ns| now + Duration::from_nanos(ns);
            let back_after = call.disk.config.power.back_after;
            (after(lasts_ns), power_ns.map(|ns| (after(ns), ns == 0, back_after)))
        });
        let Some((moment, is_before, back_after)) = power else { return end };
        self.lose_power(node, moment, back_after);
        if is_before { SimTime::MAX } else { end }
    }

    fn lose_power_now(&self, node: NodeId) {
        let back_after = self.call(node, |call| call.disk.config.power.back_after);
        self.lose_power(node, self.sim.now(), back_after);
    }

    /// The power of a node goes at a moment, and comes back.
    fn lose_power(&self, node: NodeId, moment: SimTime, back_after: Duration) {
        let name = self.sim.with(|kernel| kernel.node_name(node).to_owned());
        let (sim, node) = (self.sim.clone(), self.sim.node(name));
        self.sim.at(moment, move || {
            node.crash();
            sim.after(back_after, move || {
                if !node.is_up() {
                    node.restart();
                }
            });
        });
    }

    /// The task that runs is about to call: true where it is to be stopped first. See
    /// [`Kernel::stops_before`].
    pub fn stops_before(&self, kind: OpKind, asked: &mut bool, waker: &std::task::Waker) -> bool {
        self.on_object(|kernel, object| kernel.stops_before(object, kind, asked, waker))
    }

    /// The task that runs has called.
    pub fn operate(&self, kind: OpKind) {
        self.on_object(|kernel, object| kernel.operate(object, kind));
    }

    fn on_object<R>(&self, f: impl FnOnce(&mut Kernel, &mut Object) -> R) -> R {
        let state = &mut *self.state.borrow_mut();
        self.sim.with(|kernel| {
            let site = std::panic::Location::caller();
            let fresh = || Object::new(ResourceKind::Disk, site);
            f(kernel, state.objects.entry(kernel.current_node()).or_insert_with(fresh))
        })
    }

    // ------------------------------------------------------------ inside

    fn node(&self) -> NodeId {
        self.sim.with(|kernel| kernel.current_node())
    }

    fn number(&self, node: NodeId, handle: Handle) -> i32 {
        let state = &mut *self.state.borrow_mut();
        state.next_fd += 1;
        state.open.insert(state.next_fd, (node, handle));
        state.next_fd
    }

    fn find(&self, fd: i32) -> Outcome<(NodeId, Handle)> {
        self.state.borrow().open.get(&fd).copied().ok_or(Errno::EBADF)
    }

    /// Gives `f` a disk, with the clock of now.
    #[track_caller]
    fn call<R>(&self, node: NodeId, f: impl FnOnce(Call<'_>) -> R) -> R {
        let state = &mut *self.state.borrow_mut();
        let (defaults, home) = (state.defaults, &state.home);
        self.sim.with(|kernel| {
            let fresh = || furnished(node, kernel.node_name(node), defaults, home.as_deref());
            let disk = state.disks.entry(node).or_insert_with(fresh);
            disk.volume.set_now(kernel.now());
            f(Call { disk, kernel, hurt: &mut state.hurt })
        })
    }

    /// The files of a node's process are closed.
    fn forget(&self, node: NodeId) {
        self.state.borrow_mut().open.retain(|_, (owner, _)| *owner != node);
    }

    fn is_used(&self, node: NodeId) -> bool {
        self.state.borrow().disks.contains_key(&node)
    }
}

/// The power goes; `walked` says which set of survivors a walk has come to.
fn lose(call: Call<'_>, walked: Option<u64>) -> CrashOutcome {
    let Call { disk, kernel, .. } = call;
    let (domain, anchor) = (disk.domain(kernel, "crash"), kernel.anchor());
    let mut drawn = fold(u64::from(disk.node.0), walked.unwrap_or(u64::MAX));
    let mut pick = |bound| {
        let picked = kernel.choices().draw(domain, anchor, bound, 0);
        drawn = fold(drawn, picked);
        picked
    };
    let lists = disk.config.exhaustive || walked.is_some();
    let outcome = match lists.then(|| disk.volume.survivor_sets()).flatten() {
        // The last set is the one in which everything survives: the default.
        Some(sets) => {
            let last = sets.len() - 1;
            let lost = walked.unwrap_or_else(|| pick(sets.len() as u64)) as usize;
            disk.volume.crash_into(&sets[last - lost.min(last)])
        }
        None => disk.volume.crash(&mut pick),
    };
    kernel.fold_event(drawn);
    outcome
}

/// How long a call lasts, and how long after its beginning the power goes, where it does.
fn draw_course(call: &mut Call<'_>, cost: Cost) -> (u64, Option<u64>) {
    let lasts_ns = lasts_ns(call, cost);
    let power_ns = call.power_goes(cost, lasts_ns);
    (lasts_ns, power_ns)
}

/// How long a call lasts.
fn lasts_ns(call: &mut Call<'_>, cost: Cost) -> u64 {
    let latency = call.disk.config.latency;
    let least = match cost {
        Cost::Read => latency.read,
        Cost::Rename | Cost::Write => latency.write,
        Cost::Sync => latency.sync,
    };
    let least_ns = u64::try_from(least.as_nanos()).unwrap_or(u64::MAX / 4);
    let more_ns = call.disk.draw(call.kernel, "latency", least_ns + 1);
    if !call.fires(DiskFault::Stall) {
        return least_ns + more_ns;
    }
    call.note(DiskFault::Stall);
    let stall_ns = call.disk.config.faults.stall.as_nanos();
    least_ns + more_ns + u64::try_from(stall_ns).unwrap_or(u64::MAX / 4)
}

/// A fresh disk with the directories that every disk has.
fn furnished(node: NodeId, name: &str, config: DiskConfig, home: Option<&Path>) -> Disk {
    let mut disk = Disk::new(node, name, config);
    let made = disk.volume.create_dir(Path::new("/dev"), 0o755);
    debug_assert_eq!(made, Ok(()), "a fresh disk");
    disk.volume.sync_all();
    let mounted = disk.volume.mount_memory(Path::new(SHARED_MEMORY));
    debug_assert_eq!(mounted, Ok(()), "a fresh disk");
    let Some(home) = home else { return disk };
    let mut above: Vec<&Path> = home.ancestors().collect();
    above.reverse();
    for dir in above {
        // What is there already is there.
        let _known = disk.volume.create_dir(dir, 0o755);
    }
    disk.volume.sync_all();
    let _entered = disk.volume.set_current_dir(home);
    disk
}

impl Device for Disks {
    fn next_deadline(&self) -> Option<Deadline> {
        None
    }

    fn handle(&self) {}

    fn on_crash(&self, node: NodeId) {
        if !self.is_used(node) {
            return;
        }
        self.forget(node);
        self.forget_locks(node);
        let walked = self.walked();
        let outcome = self.call(node, |call| lose(call, walked));
        let [survived, lost, torn] =
            [outcome.survived, outcome.lost, outcome.torn].map(|count| count as u32);
        let crashed = DiskEvent::Crashed { node, survived, lost, torn };
        self.sim.with(|kernel| kernel.record_with(|_| Event::Disk(crashed)));
        self.go_home(node);
    }

    fn on_kill(&self, node: NodeId) {
        if self.is_used(node) {
            self.forget(node);
            self.forget_locks(node);
            self.volume(node, Volume::kill);
            self.go_home(node);
        }
    }
}

impl Disks {
    /// The next process begins where the first one did.
    fn go_home(&self, node: NodeId) {
        let home = self.state.borrow().home.clone();
        if let Some(home) = home {
            let _entered = self.volume(node, |volume| volume.set_current_dir(&home));
        }
    }
}

impl fmt::Debug for Disks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Disks").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
