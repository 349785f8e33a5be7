//! Nodes: the domains of failure.
//!
//! Owns: names and states of nodes, and the ready tasks of paused ones; their faults (`faults.rs`,
//! `trouble.rs`). Does not own: what a
//! crash does to disks and links (devices hear of it) or the tasks themselves. Invariants: node 0
//! is the simulation itself and never stops; a task of a node that does not run is parked here and
//! in no ready set.

mod calendar;
mod faults;
mod trouble;

pub use self::calendar::Skew;
pub use self::faults::NodeFaults;

pub(crate) use self::calendar::Calendar;
pub(crate) use self::trouble::Trouble;

use crate::event::{Event, NodeChange, NodeId};
use crate::kernel::Kernel;
use crate::time::SimTime;
use std::fmt;
use std::rc::Rc;

/// Whether a node runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NodeState {
    /// It runs.
    #[default]
    Up,
    /// It was crashed or killed, and not restarted yet.
    Down,
    /// Nothing of it runs until it is resumed.
    Paused,
}

/// What a node does when it comes up.
pub(crate) type Init = Rc<dyn Fn()>;

#[derive(Default)]
pub(crate) struct NodeEntry {
    pub(crate) name: String,
    pub(crate) state: NodeState,
    pub(crate) parked: Vec<u32>,
    pub(crate) init: Option<Init>,
    pub(crate) boots: u32,
    /// The clock in its machine: it goes on where the node is down.
    pub(crate) calendar: Calendar,
}

impl fmt::Debug for NodeEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Node({} {:?})", self.name, self.state)
    }
}

/// All nodes of a run.
#[derive(Debug, Default)]
pub(crate) struct Nodes {
    /// Behind those of this run stand some of earlier ones, whose memory is used again.
    entries: Vec<NodeEntry>,
    used: usize,
    /// Nodes that are made get a clock of what is in store: [`Trouble`].
    pub(crate) are_in_trouble: bool,
    /// The clock of one of them has drifted in this run: it shows something else than virtual time.
    drifts: bool,
}

impl Nodes {
    pub(crate) fn reset(&mut self) {
        self.used = 0;
        (self.are_in_trouble, self.drifts) = (false, false);
        self.add("sim");
    }

    fn add(&mut self, name: &str) -> NodeId {
        if self.used == self.entries.len() {
            self.entries.push(NodeEntry::default());
        }
        let entry = &mut self.entries[self.used];
        entry.name.clear();
        entry.name.push_str(name);
        entry.parked.clear();
        debug_assert!(entry.init.is_none(), "a run takes them out when it ends");
        (entry.state, entry.boots) = (NodeState::Up, 0);
        entry.calendar = Calendar::default();
        self.used += 1;
        NodeId(self.used as u16 - 1)
    }

    #[inline]
    fn entries(&self) -> &[NodeEntry] {
        &self.entries[..self.used]
    }

    /// The node of this name, made where it is new.
    ///
    /// # Panics
    /// Where there are 65,535 already.
    #[track_caller]
    pub(crate) fn named(&mut self, name: &str) -> NodeId {
        if let Some(index) = self.entries().iter().position(|entry| entry.name == name) {
            return NodeId(index as u16);
        }
        assert!(self.used < usize::from(u16::MAX), "detsim: more than 65535 nodes");
        self.add(name)
    }

    /// The one that was made last.
    pub(crate) fn last(&self) -> NodeId {
        NodeId(self.used as u16 - 1)
    }

    #[inline]
    pub(crate) fn runs(&self, node: NodeId) -> bool {
        node == NodeId::NONE || self.entry(node).state == NodeState::Up
    }

    #[inline]
    pub(crate) fn state(&self, node: NodeId) -> Option<NodeState> {
        self.entries().get(node.0 as usize).map(|entry| entry.state)
    }

    #[inline]
    pub(crate) fn entry(&self, node: NodeId) -> &NodeEntry {
        &self.entries[node.0 as usize]
    }

    #[inline]
    pub(crate) fn entry_mut(&mut self, node: NodeId) -> &mut NodeEntry {
        &mut self.entries[node.0 as usize]
    }

    pub(crate) fn park(&mut self, node: NodeId, slot: u32) {
        self.entry_mut(node).parked.push(slot);
    }

    pub(crate) fn name(&self, node: NodeId) -> &str {
        &self.entry(node).name
    }

    /// All names, by number.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.entries().iter().map(|entry| entry.name.as_str())
    }

    /// What the nodes were to do when they come up.
    pub(crate) fn take_inits(&mut self) -> Vec<Init> {
        self.entries.iter_mut().filter_map(|entry| entry.init.take()).collect()
    }
}

impl Kernel {
    pub(crate) fn node_changed(&mut self, node: NodeId, change: NodeChange) {
        let entry = crate::rng::fold(u64::from(node.0), change as u64);
        self.hash.step(entry);
        self.record_with(|_| Event::Node { node, change });
    }

    /// By how many nanoseconds the date of whoever runs is ahead of what its clock shows; negative where it
    /// is behind.
    pub fn date_error_ns(&self) -> i64 {
        self.nodes.entry(self.current_node()).calendar.offset_ns()
    }

    /// What the clock of whoever runs shows: virtual time, and what it has gained by drifting. A reading
    /// for free.
    #[inline]
    pub fn node_now(&self) -> SimTime {
        if self.nodes.drifts { self.drifted(Calendar::shows) } else { self.now() }
    }

    /// When the clock of whoever runs shows this, if its drift stays as it is.
    #[inline]
    pub fn when(&self, shows: SimTime) -> SimTime {
        if self.nodes.drifts { self.drifted(|calendar, _| calendar.when(shows)) } else { shows }
    }

    #[cold]
    #[inline(never)]
    fn drifted(&self, f: impl FnOnce(&Calendar, SimTime) -> SimTime) -> SimTime {
        f(&self.nodes.entry(self.current_node()).calendar, self.now())
    }

    /// Whether a clock has drifted in this run.
    #[inline]
    pub(crate) fn drifts(&self) -> bool {
        self.nodes.drifts
    }

    /// The clock of a node drifts so much from now on. Whoever waits for a moment that it shows looks again
    /// how long that is.
    pub(crate) fn set_drift(&mut self, node: NodeId, drift_ppm: i32) {
        let now = self.now();
        self.nodes.drifts |= drift_ppm != 0;
        self.nodes.entry_mut(node).calendar.set_drift(now, drift_ppm);
        for word in self.queue.look_again(now) {
            let (_, slot) = crate::waker::unpack(word);
            if self.tasks.get(slot).is_some_and(|task| task.node == node) {
                self.wake(word);
            }
        }
    }

    /// Moves the ready tasks of a node out of the ready set.
    pub(crate) fn pause_node(&mut self, node: NodeId) {
        self.nodes.entry_mut(node).state = NodeState::Paused;
        let of_node = self.tasks.living().filter(|(_, s)| s.node == node && s.queued);
        let ready: Vec<u32> =
            of_node.filter(|(_, s)| self.groups.lets_run(s)).map(|e| e.0).collect();
        for slot in ready {
            self.unready(slot);
            self.nodes.park(node, slot);
        }
    }

    /// Puts them back.
    pub(crate) fn resume_node(&mut self, node: NodeId) {
        let entry = self.nodes.entry_mut(node);
        entry.state = NodeState::Up;
        for slot in std::mem::take(&mut entry.parked) {
            self.unparked(slot);
        }
    }

    /// A task that was ready, and parked, goes where it belongs now.
    pub(crate) fn unparked(&mut self, slot: u32) {
        if let Some(task) = self.tasks.get_mut(slot) {
            task.queued = false;
            self.wake_slot(slot);
        }
    }
}
