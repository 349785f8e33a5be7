//! Everything between the nodes, without what the messages say.
//!
//! Owns: the links, the queue of arrivals, what is held back (partitions: `wire/cuts.rs`), the
//! counts, and the events and hashes of all that. Does not own: payloads and handlers
//! ([`crate::network`] keeps a payload under the slot that it is given here). Not generic, so that
//! it is compiled once, optimised.
//!
//! # Invariants
//! - A slot that is returned as lost or delivered is free again: the caller takes the payload out
//!   before it sends anything else.
//! - What is held is neither in the queue nor lost; it is looked at again when a link opens, a
//!   node resumes, or a node stops.
//! - No user code runs in here.

mod cuts;

use std::cell::RefCell;

use detsim_executor::event::{DropReason, NetEvent, Wide};
use detsim_executor::rng::fold;
use detsim_executor::{
    Deadline, DeviceId, Event, Kernel, NodeId, NodeState, Sim, SimTime, context,
};

use crate::flights::{Flight, Flights};
use crate::link::{Fate, Launch, Load, Partition, Passage};
use crate::links::{Links, Unknown, check, known};
use crate::stats::NetStats;

/// See the module's documentation.
#[derive(Debug)]
pub(crate) struct Wire {
    device: Option<DeviceId>,
    rule: Partition,
    pub(crate) links: Links,
    ports: Vec<Port>,
    flights: Flights,
    held: Vec<u32>,
    stats: NetStats,
}

/// Where a node is plugged in.
#[derive(Clone, Copy, Debug, Default)]
struct Port {
    listens: bool,
    /// Everything that happened on the network before what its handler does next.
    history: u64,
}

/// The slots for the payload of a message that was sent, and for its copy, or [`NO_SLOT`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub(crate) slot: u32,
    pub(crate) copy: u32,
}

impl Sent {
    const NOTHING: Self = Self { slot: NO_SLOT, copy: NO_SLOT };
}

/// What comes of a message that is due.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Due {
    /// It goes to the handler, which runs as its node.
    Delivered { slot: u32, from: NodeId, to: NodeId },
    /// It stays in its slot.
    Held,
    /// It is lost.
    Lost { slot: u32 },
}

/// Why a message that is due does not come.
enum Obstacle {
    Hold,
    Lose(DropReason),
}

pub(crate) const NO_SLOT: u32 = u32::MAX;

/// Gives `f` the wire and the kernel.
#[inline]
#[track_caller]
pub(crate) fn with<R>(
    sim: &Sim,
    wire: &RefCell<Wire>,
    f: impl FnOnce(&mut Wire, &mut Kernel) -> R,
) -> R {
    sim.with(|kernel| f(&mut wire.borrow_mut(), kernel))
}

/// [`Wire::send`], compiled here.
#[track_caller]
pub(crate) fn send(sim: &Sim, wire: &RefCell<Wire>, from: NodeId, to: NodeId) -> Sent {
    known(with(sim, wire, |wire, kernel| wire.send(kernel, from, to)))
}

/// [`Wire::receive`], compiled here; the run loop calls, so the kernel is at hand.
pub(crate) fn receive(wire: &RefCell<Wire>) -> Option<Due> {
    context::with(|kernel| wire.borrow_mut().receive(kernel)).flatten()
}

impl Wire {
    pub(crate) fn new() -> Self {
        Self {
            device: None,
            rule: Partition::Drop,
            links: Links::default(),
            ports: Vec::new(),
            flights: Flights::default(),
            held: Vec::new(),
            stats: NetStats::default(),
        }
    }

    pub(crate) fn plug_in(&mut self, device: DeviceId) {
        self.device = Some(device);
    }

    pub(crate) fn stats(&self) -> NetStats {
        self.stats
    }

    pub(crate) fn next_deadline(&self) -> Option<Deadline> {
        self.flights.first()
    }

    // ------------------------------------------------------------ messages

    /// A message leaves.
    #[inline]
    fn send(&mut self, kernel: &mut Kernel, from: NodeId, to: NodeId) -> Result<Sent, Unknown> {
        let place = self.links.place(kernel, from, to)?;
        let now = kernel.now();
        let link = self.links.at_mut(place);
        let launch = link.launch(now, Load::UNSIZED, kernel.choices());
        let sig = link.sig();
        let message = self.stats.sent;
        self.stats.sent += 1;
        kernel.record_with(|_| {
            let latency_ns = Wide::new((launch.at - now).as_nanos() as u64);
            Event::Net(NetEvent::Sent { message: number(message), from, to, latency_ns })
        });
        if launch.lags {
            let message = number(message);
            kernel.record_with(|_| Event::Net(NetEvent::Lagged { message, from, to }));
        }
        let sent = fold(sig, u64::from(launch.ordinal));
        let history = self.fold_sender(kernel, from, sent);
        let passage = Passage { ordinal: launch.ordinal, is_copy: false };
        let flight = Flight { message, history, link: place, passage, from, to };
        Ok(self.lift(kernel, flight, launch))
    }

    #[inline]
    fn lift(&mut self, kernel: &mut Kernel, flight: Flight, launch: Launch) -> Sent {
        match launch.fate {
            Fate::Carried if may_send(kernel, flight.from) => {
                let slot = self.flights.add(flight);
                self.schedule(kernel, slot, launch.at);
                Sent { slot, copy: NO_SLOT }
            }
            _ => self.lift_faulty(kernel, flight, launch),
        }
    }

    #[cold]
    fn lift_faulty(&mut self, kernel: &mut Kernel, flight: Flight, launch: Launch) -> Sent {
        let lost = match launch.fate {
            _ if !may_send(kernel, flight.from) => Some(DropReason::NoSender),
            Fate::Carried | Fate::Doubled(_) => None,
            Fate::Cut => Some(DropReason::Partition),
            Fate::Lost => Some(DropReason::LossAtSend),
        };
        if let Some(why) = lost {
            self.lose(kernel, flight, why);
            return Sent::NOTHING;
        }
        let slot = self.fly(kernel, flight, launch.at);
        let Fate::Doubled(at) = launch.fate else { return Sent { slot, copy: NO_SLOT } };
        let Flight { message, from, to, .. } = flight;
        self.stats.duplicated += 1;
        kernel.record_with(|_| {
            Event::Net(NetEvent::Duplicated { message: number(message), from, to })
        });
        let passage = Passage { is_copy: true, ..flight.passage };
        Sent { slot, copy: self.fly(kernel, Flight { passage, ..flight }, at) }
    }

    fn fly(&mut self, kernel: &mut Kernel, flight: Flight, at: SimTime) -> u32 {
        let slot = self.flights.add(flight);
        self.schedule(kernel, slot, at);
        slot
    }

    #[inline]
    fn schedule(&mut self, kernel: &mut Kernel, slot: u32, at: SimTime) {
        let deadline = Deadline { at, seq: kernel.next_seq() };
        if self.flights.schedule(slot, deadline) {
            self.tell(kernel, Some(deadline));
        }
    }

    /// Says when the next message is due.
    #[inline]
    fn tell(&self, kernel: &mut Kernel, deadline: Option<Deadline>) {
        if let Some(device) = self.device {
            kernel.set_deadline(device, deadline);
        }
    }

    /// The next message is due.
    fn receive(&mut self, kernel: &mut Kernel) -> Option<Due> {
        let slot = self.flights.arrive()?;
        self.tell(kernel, self.flights.first());
        let flight = self.flights.flight(slot);
        let Flight { message, from, to, history, .. } = flight;
        if let Some(obstacle) = self.obstacle(kernel, flight) {
            return Some(self.stop(kernel, slot, obstacle));
        }
        self.flights.free(slot);
        self.stats.delivered += 1;
        let port = self.port(to);
        port.history = fold(port.history, history);
        kernel.fold_event(port.history);
        kernel.record_with(|_| {
            Event::Net(NetEvent::Delivered { message: number(message), from, to })
        });
        kernel.swap_node(to);
        Some(Due::Delivered { slot, from, to })
    }

    #[cold]
    fn stop(&mut self, kernel: &mut Kernel, slot: u32, obstacle: Obstacle) -> Due {
        let flight = self.flights.flight(slot);
        let Flight { message, from, to, .. } = flight;
        match obstacle {
            Obstacle::Hold => {
                self.held.push(slot);
                self.stats.held += 1;
                kernel.record_with(|_| {
                    Event::Net(NetEvent::Held { message: number(message), from, to })
                });
                Due::Held
            }
            Obstacle::Lose(why) => {
                self.flights.free(slot);
                self.lose(kernel, flight, why);
                Due::Lost { slot }
            }
        }
    }

    #[inline]
    fn obstacle(&self, kernel: &mut Kernel, flight: Flight) -> Option<Obstacle> {
        let link = self.links.at(flight.link);
        let state = kernel.node_state(flight.to);
        let listens = self.ports.get(usize::from(flight.to.0)).is_some_and(|port| port.listens);
        if link.is_plain() && listens && state == Some(NodeState::Up) {
            return None;
        }
        match (link.cut(), state) {
            (Some(Partition::Drop), _) => return Some(Obstacle::Lose(DropReason::Partition)),
            (Some(Partition::Hold), _) => return Some(Obstacle::Hold),
            (None, Some(NodeState::Paused)) => return Some(Obstacle::Hold),
            (None, _) => {}
        }
        if link.loses(flight.passage, kernel.choices()) {
            return Some(Obstacle::Lose(DropReason::LossAtDelivery));
        }
        (!listens || state != Some(NodeState::Up)).then_some(Obstacle::Lose(DropReason::NoReceiver))
    }

    #[cold]
    fn lose(&mut self, kernel: &mut Kernel, flight: Flight, why: DropReason) {
        let Flight { message, from, to, history, .. } = flight;
        self.stats.count_drop(why);
        kernel.fold_event(fold(history, why as u64));
        kernel.record_with(|_| {
            Event::Net(NetEvent::Dropped { message: number(message), from, to, why })
        });
    }

    /// What the sender did so far, with this message; a task has a history of its own.
    #[inline]
    fn fold_sender(&mut self, kernel: &mut Kernel, from: NodeId, sent: u64) -> u64 {
        let history = match kernel.task_history() {
            Some(history) => history,
            None => &mut self.port(from).history,
        };
        *history = fold(*history, sent);
        *history
    }

    // ------------------------------------------------------------ nodes and links

    /// A node has a handler from now on.
    pub(crate) fn listen(&mut self, kernel: &Kernel, node: NodeId) -> Result<(), Unknown> {
        check(kernel, node)?;
        self.port(node).listens = true;
        Ok(())
    }

    #[inline]
    fn port(&mut self, node: NodeId) -> &mut Port {
        let at = usize::from(node.0);
        if at >= self.ports.len() {
            self.add_ports(at + 1);
        }
        &mut self.ports[at]
    }

    #[cold]
    fn add_ports(&mut self, n: usize) {
        self.ports.resize(n, Port::default());
    }
}

/// The number of a message in an event: a recorded run ends before it has sent 2^32.
fn number(message: u64) -> u32 {
    message as u32
}

/// A node that is down sends nothing, whatever the destructors of its tasks say.
#[inline]
fn may_send(kernel: &Kernel, node: NodeId) -> bool {
    kernel.node_state(node) != Some(NodeState::Down)
}
