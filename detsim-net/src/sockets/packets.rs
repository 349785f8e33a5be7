//! How a packet takes a link.
//!
//! Owns: what becomes of a packet when it leaves and when it is due, and its events. Does not own: what it
//! carries, or what a link does (`link.rs`). Invariant: a packet is lost, held or delivered as the link,
//! the rules of the scenario and the weather have it, and each of that is an event.

use std::net::SocketAddr;
use std::time::Duration;

use detsim_executor::event::{DropReason, NetEvent, PacketKind, Wide};
use detsim_executor::rng::fold;
use detsim_executor::{Deadline, Event, Kernel, NodeId, SimTime};

use super::packet::FIRST_MESSAGE;
use super::{Flight, Packet, What, World};
use crate::agenda::Agenda;
use crate::host::Hosts;
use crate::link::{Fate, Launch, Link, LinkConfig, Load, Partition};
use crate::links::{Links, Way};
use crate::rule::{Rules, Verdict};
use crate::weather::{Force, Weather};

/// What a packet has beside what it carries.
const HEADER_BYTES: usize = 40;

/// What is between sockets: hosts and links, with all that happens on their way, and what is due.
#[derive(Debug)]
pub(crate) struct Ways {
    pub(crate) hosts: Hosts,
    pub(crate) links: Links,
    /// What the scenario says of packets.
    pub(crate) rules: Rules,
    /// What goes wrong by itself.
    pub(crate) weather: Weather,
    pub(crate) agenda: Agenda<What>,
    /// Hosts without power.
    pub(crate) dark: Vec<NodeId>,
    /// When links will be looked at that hold for a while.
    clearings: Vec<SimTime>,
    messages: u32,
}

impl Ways {
    pub(super) fn new(loopback: LinkConfig) -> Self {
        Self {
            hosts: Hosts::default(),
            links: Links::with_loopback(loopback),
            rules: Rules::default(),
            weather: Weather::fair(),
            agenda: Agenda::default(),
            dark: Vec::new(),
            clearings: Vec::new(),
            messages: FIRST_MESSAGE,
        }
    }

    /// An event that may not matter any more when it is due.
    pub(crate) fn push_doubtful(&mut self, deadline: Deadline, what: What) {
        self.agenda.push(deadline, what);
        self.agenda.touch();
    }

    /// A packet leaves on a link on which nothing can happen to it. `None`, and nothing has been done, where
    /// something can: then [`Self::fly`] is what it does.
    #[inline(always)]
    pub(crate) fn fly_plainly(
        &mut self,
        kernel: &mut Kernel,
        way: &mut Way,
        (from, to): (NodeId, NodeId),
    ) -> Option<Flight> {
        let now = kernel.now();
        let (ordinal, at, sent) = self.launch_plainly(kernel, way, (from, to))?;
        let (message, history) = (self.next_message(), self.fold_sent(kernel, from, sent));
        kernel.record_with(move |_| sent_event(message, (from, to), at - now));
        let packet = Packet::new(ordinal, message);
        Some(Flight { packet, at, lost: false, copy_at: None, history })
    }

    /// As [`Self::fly_plainly`], where nobody records it, so that the packet needs no number: which of its link it
    /// is, when it arrives, and its hash, which the sender has yet to take into account.
    #[inline(always)]
    pub(crate) fn launch_plainly(
        &mut self,
        kernel: &mut Kernel,
        way: &mut Way,
        ends: (NodeId, NodeId),
    ) -> Option<(u32, SimTime, u64)> {
        let now = kernel.now();
        let link = self.plain_link(kernel, way, ends)?;
        let sig = link.sig();
        let (ordinal, at) = link.launch_plainly(now, kernel.choices());
        Some((ordinal, at, fold(sig, u64::from(ordinal))))
    }

    /// The link from one host to another, where nothing but time comes between what is sent and its arrival:
    /// no rule, no weather, no fault.
    #[inline(always)]
    fn plain_link(
        &mut self,
        kernel: &mut Kernel,
        way: &mut Way,
        ends: (NodeId, NodeId),
    ) -> Option<&mut Link> {
        if ends.0 == ends.1 || !self.rules.is_empty() || !self.weather.is_calm(kernel.now()) {
            return None;
        }
        let place = self.links.place_of(kernel, way, ends);
        Some(self.links.at_mut(place)).filter(|link| link.is_plain())
    }

    /// What happened at the sender until now, with a packet that leaves.
    #[inline(always)]
    fn fold_sent(&mut self, kernel: &mut Kernel, from: NodeId, sent: u64) -> u64 {
        let history = match kernel.task_history() {
            Some(history) => history,
            None => &mut self.hosts.of(from).history,
        };
        *history = fold(*history, sent);
        *history
    }

    /// The number of a packet.
    #[inline(always)]
    fn next_message(&mut self) -> u32 {
        let message = self.messages;
        self.messages = message.wrapping_add(1).max(FIRST_MESSAGE);
        message
    }

    /// A packet of so many bytes leaves, headers not counted.
    pub(crate) fn fly(
        &mut self,
        kernel: &mut Kernel,
        from: NodeId,
        to: NodeId,
        bytes: usize,
    ) -> Flight {
        match self.fly_plainly(kernel, &mut Way::default(), (from, to)) {
            Some(flight) => flight,
            None => self.fly_long(kernel, from, to, bytes),
        }
    }

    /// As [`Self::fly`], for a datagram: one from a host to itself is there at once.
    pub(crate) fn fly_datagram(
        &mut self,
        kernel: &mut Kernel,
        (from, to): (NodeId, NodeId),
        bytes: usize,
    ) -> Flight {
        if from != to {
            return self.fly(kernel, from, to, bytes);
        }
        let (at, place) = (kernel.now(), self.place(kernel, from, to));
        let link = self.links.at_mut(place);
        let (sig, ordinal) = (link.sig(), link.count());
        let history = self.fold_sent(kernel, from, fold(sig, u64::from(ordinal)));
        let message = self.next_message();
        kernel.record_with(|_| sent_event(message, (from, to), Duration::ZERO));
        let packet = Packet::new(ordinal, message);
        Flight { packet, at, lost: false, copy_at: None, history }
    }

    /// As [`Self::fly`], on whatever link.
    #[inline(never)]
    pub(crate) fn fly_long(
        &mut self,
        kernel: &mut Kernel,
        from: NodeId,
        to: NodeId,
        bytes: usize,
    ) -> Flight {
        let now = kernel.now();
        let place = self.place(kernel, from, to);
        let force = self.force(kernel, from, to);
        let link = self.links.at_mut(place);
        let load = Load { bytes: bytes + HEADER_BYTES, slowness: force.slowness };
        let mut launch = link.launch(now, load, kernel.choices());
        if from == to && kernel.is_clock_paused() {
            launch.at = now;
        }
        let sent = fold(link.sig(), u64::from(launch.ordinal));
        let history = self.fold_sent(kernel, from, sent);
        let message = self.next_message();
        let is_usual = launch.fate == Fate::Carried && !launch.lags && force.cut.is_none();
        if !is_usual || !self.rules.is_empty() {
            return self.fly_oddly(kernel, (from, to), (message, history), launch, force.cut);
        }
        kernel.record_with(|_| sent_event(message, (from, to), launch.at - now));
        let packet = Packet::new(launch.ordinal, message);
        Flight { packet, at: launch.at, lost: false, copy_at: None, history }
    }

    /// A packet to which something happens, or may.
    #[inline(never)]
    fn fly_oddly(
        &mut self,
        kernel: &mut Kernel,
        (from, to): (NodeId, NodeId),
        (message, history): (u32, u64),
        launch: Launch,
        cut: Option<Partition>,
    ) -> Flight {
        let now = kernel.now();
        let verdict = if from == to { Verdict::Pass } else { self.rules.judge(from, to) };
        let at = match verdict {
            Verdict::Delay(longer) => launch.at + longer,
            _ => launch.at,
        };
        kernel.record_with(|_| sent_event(message, (from, to), at - now));
        if launch.lags || (at > launch.at && launch.fate != Fate::Lost) {
            kernel.record_with(|_| Event::Net(NetEvent::Lagged { message, from, to }));
        }
        let (lost, copy_at) = match launch.fate {
            _ if verdict == Verdict::Drop => (Some(DropReason::Rule), None),
            _ if cut == Some(Partition::Drop) => (Some(DropReason::Partition), None),
            Fate::Carried if verdict == Verdict::Duplicate => (None, Some(at)),
            Fate::Carried => (None, None),
            Fate::Doubled(at) => (None, Some(at)),
            Fate::Cut => (Some(DropReason::Partition), None),
            Fate::Lost => (Some(DropReason::LossAtSend), None),
        };
        if let Some(why) = lost {
            dropped(kernel, message, (from, to), why);
        }
        let packet = Packet::new(launch.ordinal, message);
        Flight { packet, at, lost: lost.is_some(), copy_at, history }
    }

    /// Whether a packet that is due on a link arrives because nothing can happen to it there; else
    /// [`Self::obstacle`] says what does. For a run that is not recorded.
    #[inline(always)]
    pub(crate) fn is_open_plainly(
        &mut self,
        kernel: &mut Kernel,
        way: &mut Way,
        ends: (NodeId, NodeId),
    ) -> bool {
        self.dark.is_empty() && self.plain_link(kernel, way, ends).is_some()
    }

    /// As [`Self::latency_min`], asked for again and again.
    #[inline(always)]
    pub(crate) fn least(
        &mut self,
        kernel: &mut Kernel,
        way: &mut Way,
        (from, to): (NodeId, NodeId),
    ) -> Duration {
        let place = self.links.place_of(kernel, way, (from, to));
        let paused = from == to && kernel.is_clock_paused();
        let ns = if paused { 0 } else { self.links.at(place).config().latency_ns_min };
        Duration::from_nanos(ns)
    }

    /// What keeps a packet that is due from arriving: lost, or held until the link opens.
    pub(crate) fn obstacle(
        &mut self,
        kernel: &mut Kernel,
        from: NodeId,
        to: NodeId,
        packet: Packet,
    ) -> Option<Partition> {
        let place = self.place(kernel, from, to);
        let force = self.force(kernel, from, to);
        let link = self.links.at(place);
        let message = packet.message();
        let why = match link.cut().or(force.cut) {
            Some(Partition::Hold) => {
                if let (None, Some(at)) = (link.cut(), force.held_until) {
                    self.expect_clearing(kernel, at);
                }
                kernel.record_with(|_| Event::Net(NetEvent::Held { message, from, to }));
                return Some(Partition::Hold);
            }
            Some(Partition::Drop) => DropReason::Partition,
            None if self.dark.contains(&to) => DropReason::NoReceiver,
            None if link.loses(packet.passage(), kernel.choices()) => DropReason::LossAtDelivery,
            None => {
                kernel.record_with(|_| Event::Net(NetEvent::Delivered { message, from, to }));
                return None;
            }
        };
        dropped(kernel, message, (from, to), why);
        Some(Partition::Drop)
    }

    /// Is the way from one host to another closed?
    pub(crate) fn is_cut(&mut self, kernel: &mut Kernel, from: NodeId, to: NodeId) -> bool {
        let place = self.place(kernel, from, to);
        let force = self.force(kernel, from, to);
        let cut = self.links.at(place).cut().or(force.cut);
        cut.is_some() || self.dark.contains(&from) || self.dark.contains(&to)
    }

    /// As [`Self::is_cut`], but for what comes by itself, of which nobody has asked.
    pub(crate) fn is_cut_by_scenario(
        &mut self,
        kernel: &mut Kernel,
        from: NodeId,
        to: NodeId,
    ) -> bool {
        let place = self.place(kernel, from, to);
        let is_cut = self.links.at(place).cut().is_some();
        is_cut || self.dark.contains(&from) || self.dark.contains(&to)
    }

    /// Can nothing happen to a packet from one host to another?
    pub(crate) fn is_faultless(&mut self, kernel: &mut Kernel, from: NodeId, to: NodeId) -> bool {
        let calm = self.force(kernel, from, to) == Force::NONE && self.rules.is_empty();
        let place = self.place(kernel, from, to);
        let loses = !self.links.at(place).config().loss.is_never();
        from == to || (calm && !loses && !self.is_cut_by_scenario(kernel, from, to))
    }

    /// A link that holds by itself holds no more at this moment.
    fn expect_clearing(&mut self, kernel: &mut Kernel, at: SimTime) {
        if !self.clearings.contains(&at) {
            self.clearings.push(at);
            self.agenda.push(Deadline { at, seq: kernel.next_seq() }, What::Clearing);
        }
    }

    /// What comes by itself on a link.
    #[inline]
    pub(crate) fn force(&mut self, kernel: &mut Kernel, from: NodeId, to: NodeId) -> Force {
        let Self { weather, hosts, .. } = self;
        weather.force(kernel, (from, to), || hosts.used())
    }

    /// The least time from one host to another.
    #[inline(always)]
    pub(crate) fn latency_min(
        &mut self,
        kernel: &mut Kernel,
        from: NodeId,
        to: NodeId,
    ) -> Duration {
        self.least(kernel, &mut Way::default(), (from, to))
    }

    #[inline(always)]
    pub(crate) fn place(&mut self, kernel: &mut Kernel, from: NodeId, to: NodeId) -> u32 {
        let place = self.links.place(kernel, from, to);
        place.expect("invariant: a host is a node of this simulation")
    }
}

impl World {
    /// Links that held by themselves hold no more.
    pub(super) fn clear_up(&mut self, kernel: &mut Kernel) {
        let now = kernel.now();
        self.ways.clearings.retain(|at| *at > now);
        self.release(kernel);
    }
}

/// Says in the trace what a packet is that was just sent: its addresses, where it stands among the bytes
/// of a connection, and how many it carries.
#[inline]
pub(crate) fn describe(
    kernel: &mut Kernel,
    packet: Packet,
    [source, target]: [SocketAddr; 2],
    kind: PacketKind,
    (before, bytes): (u64, usize),
) {
    kernel.record_with(|kernel| {
        let [source, target] = [source, target].map(|address| {
            let address = SocketAddr::new(address.ip().to_canonical(), address.port());
            kernel.trace_text(&address.to_string())
        });
        let seq = match kind {
            PacketKind::Syn | PacketKind::SynAck | PacketKind::Datagram => 0,
            _ => (before as u32).wrapping_add(1),
        };
        let (message, bytes) = (packet.message(), bytes.min(usize::from(u16::MAX)) as u16);
        Event::Net(NetEvent::Packet { message, source, target, seq, bytes, kind })
    });
}

fn sent_event(message: u32, (from, to): (NodeId, NodeId), latency: Duration) -> Event {
    let latency_ns = Wide::new(latency.as_nanos() as u64);
    Event::Net(NetEvent::Sent { message, from, to, latency_ns })
}

/// A packet is lost.
pub(crate) fn dropped(
    kernel: &mut Kernel,
    message: u32,
    (from, to): (NodeId, NodeId),
    why: DropReason,
) {
    kernel.record_with(|_| Event::Net(NetEvent::Dropped { message, from, to, why }));
}
