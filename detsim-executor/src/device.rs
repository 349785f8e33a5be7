//! Where the network and the disk plug in.
//!
//! Owns: the trait [`Device`], and what a device may ask of the kernel. Does not own: any device.
//! Invariants: the kernel is never borrowed while a method of a device runs, so a device may run
//! handlers that use the simulation; a device draws from the kernel's choices only.

use crate::block::TaskTag;
use crate::event::NodeId;
use crate::kernel::Kernel;
use crate::node::NodeState;
use crate::queue::DeviceId;
use crate::timer::Deadline;
use std::any::Any;
use std::time::Duration;

/// A part of the simulated world with events of its own.
pub trait Device: Any {
    /// When its next event is due. Asked after each [`Device::handle`], unless it [`tells`], and whenever
    /// the device was touched ([`crate::Sim::touch`]), not after every step.
    ///
    /// [`tells`]: Device::tells
    fn next_deadline(&self) -> Option<Deadline>;

    /// Whether it says by itself when its next event is due, with [`Kernel::set_deadline`], in each
    /// [`Device::handle`].
    fn tells(&self) -> bool {
        false
    }

    /// Whether its events keep no run going: they happen while something else is to come, or a run has a
    /// horizon; where nothing but them is left, the run is over, or stuck. Asked once.
    fn is_faint(&self) -> bool {
        false
    }

    /// Lets the earliest event happen. The clock stands at its deadline, or past it. Nobody is the
    /// current node then; whom the device makes that for its handlers, the run loop unmakes.
    fn handle(&self);

    /// `node` lost its power.
    fn on_crash(&self, node: NodeId) {
        let _ = node;
    }

    /// The process of `node` died.
    fn on_kill(&self, node: NodeId) {
        let _ = node;
    }

    /// `node` came up again; called before its init runs.
    fn on_restart(&self, node: NodeId) {
        let _ = node;
    }

    /// `node` goes on after a pause.
    fn on_resume(&self, node: NodeId) {
        let _ = node;
    }

    /// Nothing can run before the clock moves. Called where somebody asked for it with
    /// [`Kernel::watch_rests`]; what is woken or spawned in it runs first.
    fn on_rest(&self) {}

    /// Something can run after such a rest.
    fn on_wake(&self) {}

    /// Whether something outside of the simulation may yet end a wait, of which this device would know.
    fn hopes(&self) -> bool {
        false
    }

    /// Nothing is left to happen in the simulation, and this device hopes: waits in real time, for so
    /// long at most, and wakes whose wait has ended.
    fn wait_outside(&self, limit: Duration) {
        let _ = limit;
    }

    /// What is in it, for the report of a run that failed: lines of at most 100 columns, which depend on
    /// the run alone; nothing where nobody has used it. Looks and changes nothing.
    fn shown(&self) -> String {
        String::new()
    }

    /// The simulation ends: let go of handlers and whatever else of a user may hold the device in
    /// turn. Called once or several times, after the tasks are gone, with the simulation still
    /// alive.
    fn on_end(&self) {}
}

/// For devices.
impl Kernel {
    /// How often nothing could run before the clock moved.
    pub fn rests(&self) -> u64 {
        self.rests
    }

    /// A device wants to hear of that, with [`Device::on_rest`].
    pub fn watch_rests(&mut self) {
        self.watchers += 1;
    }

    /// The next number of the sequence that orders equal instants.
    #[inline]
    pub fn next_seq(&mut self) -> u64 {
        self.queue.next_seq()
    }

    /// The time from now to one of the timers that are armed, whichever `pick` falls on; `None` where
    /// there is none. Whoever injects faults gets near the timeouts of a program by it.
    pub fn timer_ahead(&self, pick: u64) -> Option<Duration> {
        let ahead_ns = self.queue.armed_timer(pick)?.at.as_nanos().saturating_sub(self.now_ns);
        (ahead_ns > 0).then(|| Duration::from_nanos(ahead_ns))
    }

    /// Says when the next event of `device` is due, as [`Device::next_deadline`] would.
    #[inline(always)]
    pub fn set_deadline(&mut self, device: DeviceId, deadline: Option<Deadline>) {
        self.queue.set_deadline(device.0 as usize, deadline);
    }

    /// Whether a node runs; `None` for one that was never made.
    #[inline]
    pub fn node_state(&self, node: NodeId) -> Option<NodeState> {
        self.nodes.state(node)
    }

    /// The name of a node.
    ///
    /// # Panics
    /// Where there is none of this number.
    pub fn node_name(&self, node: NodeId) -> &str {
        self.nodes.name(node)
    }

    /// A task as reports name it: its number, and its name where it has one.
    pub fn task_name(&self, task: TaskTag) -> String {
        match self.names.text(task.name) {
            Some(name) => format!("{} \"{name}\"", task.number),
            None => task.number.to_string(),
        }
    }

    /// From now on what runs is something of `node`; returns what it was something of before.
    #[inline]
    pub fn swap_node(&mut self, node: NodeId) -> NodeId {
        let (slot, word, before) = self.current();
        self.set_current(slot, word, node);
        before
    }

    /// The history of the task that runs: what happened before whatever it does next. `None` where
    /// a callback or a handler runs.
    #[inline]
    pub fn task_history(&mut self) -> Option<&mut u64> {
        self.current_slot().map(|slot| &mut slot.history)
    }

    /// Takes an event into the fingerprint of the run. `event` is its history: a fold of
    /// everything that happened before it, so that runs which differ only in the order of
    /// independent events have the same [`crate::RunHash::shape`].
    #[inline]
    pub fn fold_event(&mut self, event: u64) {
        self.hash.operation(event);
        self.hash.step(event ^ self.now_ns);
    }
}
