//! The handle of a node.
//!
//! Owns: [`Node`]: what a scenario does to a domain of failure. Does not own: its state
//! ([`crate::node`]). Invariant: devices hear of a stop before the node's tasks are dropped, so that
//! what their destructors would say comes too late.

use super::Sim;
use crate::SimTime;
use crate::context;
use crate::event::{NodeChange, NodeId};
use crate::join::{self, Belongs, JoinHandle};
use crate::node::{Calendar, Init, NodeState, Skew};
use crate::rng::fold;
use crate::run;
use std::future::Future;
use std::panic::Location;
use std::rc::Rc;

/// A node: what fails as one. Made by [`Sim::node`].
#[derive(Clone, Debug)]
pub struct Node {
    pub(crate) sim: Sim,
    pub(crate) id: NodeId,
}

impl Node {
    /// Its number.
    pub fn id(&self) -> NodeId {
        self.id
    }

    /// Its name.
    #[track_caller]
    pub fn name(&self) -> String {
        self.sim.with(|kernel| kernel.nodes.name(self.id).to_owned())
    }

    /// Spawns a task on the node.
    ///
    /// # Panics
    /// Where the node is down.
    #[track_caller]
    pub fn spawn<F>(&self, name: impl AsRef<str>, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
    {
        let site = Location::caller();
        assert!(self.state() != NodeState::Down, "detsim: node {} is down", self.name());
        let belongs = Belongs { name: name.as_ref(), node: Some(self.id), ..Belongs::default() };
        join::spawn(&self.sim, future, belongs, site)
    }

    /// Says what the node does when it comes up: at once, and after each restart.
    #[track_caller]
    pub fn on_start(&self, init: impl Fn() + 'static) {
        let init: Init = Rc::new(init);
        let old = self.sim.with(|kernel| {
            let entry = kernel.nodes.entry_mut(self.id);
            entry.boots += 1;
            entry.init.replace(Rc::clone(&init))
        });
        drop(old);
        self.within(&*init);
    }

    /// Runs `f` as something of the node: tasks that it spawns belong to the node.
    ///
    /// # Examples
    /// ```
    /// use detsim_executor::{Sim, context};
    /// let sim = Sim::new(7);
    /// let node = sim.node("n1");
    /// let task = node.enter(|| context::spawn("worker", std::future::pending::<()>()));
    /// node.crash();
    /// assert!(task.is_finished());
    /// ```
    ///
    /// # Panics
    /// Where the node is down.
    #[track_caller]
    pub fn enter<R>(&self, f: impl FnOnce() -> R) -> R {
        assert!(self.state() != NodeState::Down, "detsim: node {} is down", self.name());
        self.within(f)
    }

    #[track_caller]
    fn within<R>(&self, f: impl FnOnce() -> R) -> R {
        self.sim.inside(|| {
            let _entered = Entered(context::with(|kernel| kernel.swap_node(self.id)));
            f()
        })
    }

    /// Puts a line about the node into the trace, whoever runs; see [`Sim::note`].
    #[track_caller]
    pub fn note(&self, text: impl FnOnce() -> String) {
        self.sim.note_of(Some(self.id), text);
    }

    /// Takes its power: tasks are gone, and whatever was not durable.
    #[track_caller]
    pub fn crash(&self) {
        self.stop(NodeChange::Crashed);
    }

    /// Ends its process: tasks are gone, what the kernel had of the disk stays.
    #[track_caller]
    pub fn kill(&self) {
        self.stop(NodeChange::Killed);
    }

    /// Stops running it; its timers go on, but nothing fires.
    #[track_caller]
    pub fn pause(&self) {
        self.sim.with(|kernel| {
            if kernel.nodes.entry(self.id).state != NodeState::Up {
                return;
            }
            kernel.pause_node(self.id);
            kernel.node_changed(self.id, NodeChange::Paused);
        });
    }

    /// Goes on after a pause.
    #[track_caller]
    pub fn resume(&self) {
        if self.state() != NodeState::Paused {
            return;
        }
        self.sim.with(|kernel| {
            kernel.node_changed(self.id, NodeChange::Resumed);
            kernel.resume_node(self.id);
        });
        self.sim.each_device(|device| device.on_resume(self.id));
    }

    /// Brings it up again, after a crash or a kill, or as a kill and a start in one.
    #[track_caller]
    pub fn restart(&self) {
        if self.state() != NodeState::Down {
            self.stop(NodeChange::Killed);
        }
        let init = self.sim.with(|kernel| {
            kernel.node_changed(self.id, NodeChange::Restarted);
            let entry = kernel.nodes.entry_mut(self.id);
            (entry.state, entry.boots) = (NodeState::Up, entry.boots + 1);
            entry.init.clone()
        });
        self.sim.each_device(|device| device.on_restart(self.id));
        if let Some(init) = init {
            self.within(&*init);
        }
    }

    /// By how much its date is off from now on: what `SystemTime` shows its programs. Timers and `Instant` do
    /// not go by that.
    ///
    /// # Panics
    /// Where the simulation has ended.
    #[track_caller]
    pub fn set_clock_offset(&self, offset: Skew) {
        self.set_clock(|calendar, now| calendar.set_offset(now, offset.as_nanos()));
    }

    /// Its date jumps, as when somebody sets it, or NTP does.
    ///
    /// # Panics
    /// Where the simulation has ended.
    #[track_caller]
    pub fn step_clock(&self, by: Skew) {
        self.set_clock(|calendar, now| {
            let offset_ns = calendar.error_ns(now).saturating_add(by.as_nanos());
            calendar.set_offset(now, offset_ns);
        });
    }

    /// Its clock gains so many microseconds in a second from now on, or loses them, as a machine's does whose
    /// quartz is off: its date, `Instant`, and all that waits for a while, timers and timeouts that are armed
    /// already included. What a timer is set to is met to the nanosecond of its clock, also where the drift
    /// changes meanwhile; a thread that sleeps, or waits with a timeout, goes on at the rate at which it began.
    /// What a clock has gained it keeps: it never goes back. The network's own timers go by the world's.
    ///
    /// # Panics
    /// Where the clock would stand still or go back, and where the simulation has ended.
    #[track_caller]
    pub fn set_clock_drift(&self, drift_ppm: i32) {
        assert!(
            drift_ppm > -1_000_000,
            "detsim: a clock that drifts by {drift_ppm} ppm does not go on; give more than -1000000"
        );
        self.sim.with(|kernel| kernel.set_drift(self.id, drift_ppm));
        self.set_clock(|_, _| ());
        self.note(|| format!("its clock drifts by {drift_ppm} ppm"));
    }

    /// How many microseconds its clock gains in a second; negative where it loses them.
    ///
    /// # Panics
    /// Where the simulation has ended.
    #[track_caller]
    pub fn clock_drift(&self) -> i32 {
        self.sim.with(|kernel| kernel.nodes.entry(self.id).calendar.drift_ppm())
    }

    /// By how much its date is off now.
    ///
    /// # Panics
    /// Where the simulation has ended.
    #[track_caller]
    pub fn clock_offset(&self) -> Skew {
        self.sim.with(|kernel| {
            Skew::from_nanos(kernel.nodes.entry(self.id).calendar.error_ns(kernel.now()))
        })
    }

    #[track_caller]
    fn set_clock(&self, change: impl FnOnce(&mut Calendar, SimTime)) {
        self.sim.with(|kernel| {
            let now = kernel.now();
            let calendar = &mut kernel.nodes.entry_mut(self.id).calendar;
            change(calendar, now);
            let error_ns = calendar.error_ns(now);
            kernel.hash.step(fold(u64::from(self.id.0), error_ns.cast_unsigned()));
        });
        self.note(|| format!("its clock is {}", self.clock_offset()));
    }

    /// Does it run?
    #[track_caller]
    pub fn is_up(&self) -> bool {
        self.state() == NodeState::Up
    }

    /// It is up, or paused.
    #[track_caller]
    pub(crate) fn is_there(&self) -> bool {
        self.state() != NodeState::Down
    }

    #[inline]
    fn state(&self) -> NodeState {
        self.sim.with(|kernel| kernel.nodes.entry(self.id).state)
    }

    /// Devices hear of it first: what a task's destructors would say comes too late.
    #[track_caller]
    fn stop(&self, change: NodeChange) {
        if self.state() == NodeState::Down {
            return;
        }
        self.sim.with(|kernel| {
            kernel.nodes.entry_mut(self.id).state = NodeState::Down;
            kernel.node_changed(self.id, change);
        });
        self.sim.each_device(|device| match change {
            NodeChange::Crashed => device.on_crash(self.id),
            _ => device.on_kill(self.id),
        });
        self.sim.inside(|| run::drop_tasks(|slot| slot.node == self.id));
        drop(self.sim.with(|kernel| kernel.forget_handlers(self.id)));
    }
}

/// Inside of [`Node::enter`]: which node comes back.
struct Entered(Option<NodeId>);

impl Drop for Entered {
    fn drop(&mut self) {
        if let Some(before) = self.0 {
            context::with(|kernel| kernel.swap_node(before));
        }
    }
}
