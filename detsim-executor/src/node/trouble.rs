//! What befalls nodes by itself.
//!
//! Owns: when a node is stopped, paused or has its clock stepped, which one, and that it comes back, all
//! drawn from the stream `env/nodes`. Does not own: how often ([`NodeFaults`]), or what it does to a node.
//!
//! # Invariants
//! - What is to befall nodes keeps no run going; that they come back does. So a run that is stuck is seen to
//!   be stuck, and a node that was stopped here is up again before a run is over.
//! - Never more than so many nodes are stopped or paused from here at once.
//! - No borrow is held while a node is stopped or begins: that runs code of the program.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use super::{NodeFaults, NodeState, Skew};
use crate::choice::{Anchor, Domain};
use crate::device::Device;
use crate::event::NodeId;
use crate::kernel::Kernel;
use crate::queue::DeviceId;
use crate::rng::{Ratio, fold, hash_bytes};
use crate::sim::{Node, Sim};
use crate::time::SimTime;
use crate::timer::Deadline;

/// How often a fault that could come does.
const COMES: Ratio = Ratio::new(15, 16);

/// See the module's documentation.
pub(crate) struct Trouble {
    sim: Sim,
    id: Cell<Option<DeviceId>>,
    state: RefCell<State>,
}

#[derive(Default)]
struct State {
    faults: NodeFaults,
    kinds: Vec<Schedule>,
    /// Whom it has stopped or paused, and not brought back yet, with the number of the fault.
    struck: Vec<(NodeId, u32)>,
    faults_come: u32,
    /// Whose clock it has set.
    clocks: Vec<NodeId>,
}

/// What comes by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Crash,
    Kill,
    Restart,
    Pause,
    Step,
}

/// When faults of one kind come.
#[derive(Clone, Copy, Debug)]
struct Schedule {
    kind: Kind,
    gap_ns: u64,
    next: Option<Deadline>,
    drawn: u32,
}

impl Kind {
    const ALL: [(Self, &'static str); 5] = [
        (Self::Crash, "crashes"),
        (Self::Kill, "kills"),
        (Self::Restart, "restarts"),
        (Self::Pause, "pauses"),
        (Self::Step, "clock steps"),
    ];

    fn gap(self, faults: &NodeFaults) -> Option<Duration> {
        match self {
            Self::Crash => faults.crash_gap,
            Self::Kill => faults.kill_gap,
            Self::Restart => faults.restart_gap,
            Self::Pause => faults.pause_gap,
            Self::Step => faults.step_gap,
        }
    }

    /// Whether it can strike a node.
    fn strikes(self, kernel: &Kernel, node: NodeId) -> bool {
        let entry = kernel.nodes.entry(node);
        match self {
            Self::Crash | Self::Kill | Self::Restart => {
                entry.state == NodeState::Up && entry.init.is_some()
            }
            Self::Pause => entry.state == NodeState::Up,
            Self::Step => true,
        }
    }
}

impl State {
    /// A fault that lasts: its number.
    fn strikes(&mut self, node: NodeId) -> u32 {
        self.faults_come += 1;
        self.struck.push((node, self.faults_come));
        self.faults_come
    }

    fn ends(&mut self, number: u32) -> Option<NodeId> {
        let at = self.struck.iter().position(|(_, known)| *known == number)?;
        Some(self.struck.remove(at).0)
    }
}

impl Schedule {
    /// When the next one comes, counted from a moment.
    fn after(&mut self, kernel: &mut Kernel, from: SimTime) {
        self.next = (self.gap_ns > 0).then(|| {
            let bound = self.gap_ns.saturating_mul(2);
            let (domain, anchor) = self.place(kernel);
            let wait_ns = kernel.choices().draw(domain, anchor, bound, bound - 1);
            let at = from + Duration::from_nanos(wait_ns) + Duration::from_nanos(1);
            Deadline { at, seq: kernel.next_seq() }
        });
    }

    /// Where its choices are made.
    fn place(&self, kernel: &mut Kernel) -> (Domain, Anchor) {
        let (_, name) = Kind::ALL[self.kind as usize];
        let actor = hash_bytes(name.as_bytes());
        kernel.choices().name_actor(actor, name);
        (kernel.choices().domain("env/nodes"), Anchor { actor, ordinal: self.drawn })
    }
}

impl Trouble {
    /// That of a simulation.
    pub(crate) fn of(sim: &Sim) -> Rc<Self> {
        if let Some(known) = sim.device::<Self>() {
            return known;
        }
        let state = RefCell::default();
        let new = Rc::new(Self { sim: sim.clone(), id: Cell::new(None), state });
        new.id.set(Some(sim.add_device(new.clone())));
        sim.with(|kernel| kernel.nodes.are_in_trouble = true);
        new
    }

    pub(super) fn set(&self, faults: &NodeFaults) {
        self.heal();
        self.sim.with(|kernel| {
            let now = kernel.now();
            let state = &mut *self.state.borrow_mut();
            state.faults = faults.clone();
            let drawn = |at: usize| state.kinds.get(at).map_or(0, |known| known.drawn);
            let fresh = Kind::ALL.iter().enumerate().map(|(at, (kind, _))| {
                let gap = kind.gap(faults).map_or(0, |gap| crate::time::nanos(gap).max(1));
                Schedule { kind: *kind, gap_ns: gap, next: None, drawn: drawn(at) }
            });
            state.kinds = fresh.collect();
            state.kinds.iter_mut().for_each(|kind| kind.after(kernel, now));
        });
        self.nodes().into_iter().for_each(|node| self.set_clock(node));
        self.id.get().into_iter().for_each(|id| self.sim.touch(id));
    }

    /// All that it has stopped is up again, and all clocks that it has set are right.
    fn heal(&self) {
        let struck = std::mem::take(&mut self.state.borrow_mut().struck);
        struck.into_iter().for_each(|(node, _)| self.bring_back(node));
        let clocks = std::mem::take(&mut self.state.borrow_mut().clocks);
        for node in clocks.into_iter().map(|node| self.node(node)) {
            if node.clock_drift() != 0 {
                node.set_clock_drift(0);
            }
            node.set_clock_offset(Skew::Ahead(Duration::ZERO));
        }
    }

    /// Draws what the clock of a node is like from the beginning.
    pub(crate) fn set_clock(&self, node: NodeId) {
        let (offset_ns, drift_ppm) = self.sim.with(|kernel| {
            let actor = hash_bytes(kernel.node_name(node).as_bytes());
            let (domain, anchor) =
                (kernel.choices().domain("env/nodes/clocks"), Anchor { actor, ordinal: 0 });
            let faults = &self.state.borrow().faults;
            let mut within = |max: u64| {
                kernel.choices().draw(domain, anchor, 2 * max + 1, max) as i64 - max as i64
            };
            (within(limited(faults.offset_max)), within(u64::from(faults.drift_ppm_max)))
        });
        if offset_ns == 0 && drift_ppm == 0 {
            return;
        }
        self.clock_is_set(node);
        let node = self.node(node);
        if offset_ns != 0 {
            node.set_clock_offset(Skew::from_nanos(offset_ns));
        }
        if drift_ppm != 0 {
            node.set_clock_drift(drift_ppm as i32);
        }
    }

    fn clock_is_set(&self, node: NodeId) {
        let clocks = &mut self.state.borrow_mut().clocks;
        if !clocks.contains(&node) {
            clocks.push(node);
        }
    }

    /// One fault of a kind: whom it strikes, where it strikes at all, and for how long.
    fn draw(&self, kernel: &mut Kernel, at: usize) -> Option<(Kind, NodeId, Duration, i64)> {
        let state = &mut *self.state.borrow_mut();
        let schedule = &mut state.kinds[at];
        let (kind, (domain, anchor)) = (schedule.kind, schedule.place(kernel));
        schedule.drawn = schedule.drawn.wrapping_add(1);
        let comes = kernel.choices().happens(domain, anchor, COMES);
        let pick = kernel.choices().draw(domain, anchor, 1 << 16, 0);
        let lasts = kernel.fault_duration(domain, anchor);
        let max_ns = limited(state.faults.step_max);
        let by_ns = kernel.choices().draw(domain, anchor, 2 * max_ns + 1, max_ns);
        let lasts = if kind == Kind::Restart { Duration::ZERO } else { lasts };
        let ends = if comes { kernel.now() + lasts } else { kernel.now() };
        schedule.after(kernel, ends);

        let nodes = (1..=kernel.nodes.last().0).map(NodeId);
        let could: Vec<NodeId> = nodes.filter(|node| kind.strikes(kernel, *node)).collect();
        let has_room = kind == Kind::Step || state.struck.len() < down_max(kernel, &state.faults);
        let node = *could.get((pick as usize).checked_rem(could.len())?)?;
        (comes && has_room).then_some((kind, node, lasts, by_ns as i64 - max_ns as i64))
    }

    fn strike(&self, kind: Kind, node: NodeId, lasts: Duration, by_ns: i64) {
        let handle = self.node(node);
        if matches!(kind, Kind::Restart | Kind::Step) {
            match kind {
                Kind::Restart => handle.restart(),
                _ => {
                    self.clock_is_set(node);
                    handle.step_clock(Skew::from_nanos(by_ns));
                }
            }
            return;
        }
        let number = self.state.borrow_mut().strikes(node);
        match kind {
            Kind::Crash => handle.crash(),
            Kind::Kill => handle.kill(),
            _ => handle.pause(),
        }
        let sim = self.sim.clone();
        self.sim.after(lasts, move || Self::of(&sim).ends(number));
    }

    /// A fault is over, unless it was ended before.
    fn ends(&self, number: u32) {
        let ended = self.state.borrow_mut().ends(number);
        ended.into_iter().for_each(|node| self.bring_back(node));
    }

    fn bring_back(&self, node: NodeId) {
        let (state, node) = (self.sim.with(|k| k.node_state(node)), self.node(node));
        match state {
            Some(NodeState::Down) => node.restart(),
            Some(NodeState::Paused) => node.resume(),
            _ => {}
        }
    }

    fn node(&self, id: NodeId) -> Node {
        Node { sim: self.sim.clone(), id }
    }

    fn nodes(&self) -> Vec<NodeId> {
        (1..=self.sim.with(|kernel| kernel.nodes.last().0)).map(NodeId).collect()
    }
}

/// In nanoseconds, of 146 years at most.
fn limited(time: Duration) -> u64 {
    crate::time::nanos(time).min(1 << 62)
}

/// How many nodes may be down at once.
fn down_max(kernel: &Kernel, faults: &NodeFaults) -> usize {
    let begin = (1..=kernel.nodes.last().0).map(|node| kernel.nodes.entry(NodeId(node)));
    let count = begin.filter(|entry| entry.init.is_some()).count();
    faults.down_max.unwrap_or_else(|| (count.saturating_sub(1) / 2).max(1))
}

impl Device for Trouble {
    fn next_deadline(&self) -> Option<Deadline> {
        self.state.borrow().kinds.iter().filter_map(|kind| kind.next).min()
    }

    fn is_faint(&self) -> bool {
        true
    }

    fn handle(&self) {
        let next = self.next_deadline();
        let drawn = self.sim.with(|kernel| {
            let is_next = |kind: &Schedule| kind.next.is_some() && kind.next == next;
            let at = self.state.borrow().kinds.iter().position(is_next)?;
            let drawn = self.draw(kernel, at);
            let (_, node, ..) = drawn?;
            kernel.fold_event(fold(u64::from(node.0), at as u64));
            drawn
        });
        if let Some((kind, node, lasts, by_ns)) = drawn {
            self.strike(kind, node, lasts, by_ns);
        }
    }

    fn on_end(&self) {
        self.state.borrow_mut().kinds.clear();
    }
}

#[cfg(test)]
mod tests;
