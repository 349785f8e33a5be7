//! UDP.
//!
//! Owns: sockets for datagrams, and how a datagram gets from one to another. Does not own: what a link
//! does. Invariants: a datagram arrives whole, or not, or twice, in any order; a queue that is full
//! drops the newest; a socket that is connected takes from its peer only, and hears once, as
//! ECONNREFUSED, that nobody was there.

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use detsim_executor::event::{DropReason, NetEvent, PacketKind};
use detsim_executor::rng::fold;
use detsim_executor::{Deadline, Event, Kernel, NodeId, SimTime};

use crate::errno::{Errno, Result};
use crate::host::{Protocol, is_broadcast};
use crate::link::Partition;
use crate::sockets::{
    Flight, Packet, SocketKey, SocketKind, Unreachable, What, World, describe, dropped,
};
use crate::table::Key;
use crate::tcp::calls::Readiness;
use crate::waits::Side;

/// A socket for datagrams.
#[derive(Debug)]
pub(crate) struct UdpSocket {
    pub(crate) is_v6: bool,
    pub(crate) local: Option<SocketAddr>,
    pub(crate) peer: Option<SocketAddr>,
    queue: VecDeque<Datagram>,
    queued: usize,
    /// Reported once.
    error: Option<Errno>,
    groups: Vec<IpAddr>,
    /// Which directions are closed: [read, write].
    pub(crate) shut: [bool; 2],
}

#[derive(Clone, Debug)]
struct Datagram {
    from: SocketAddr,
    data: Arc<[u8]>,
    history: u64,
}

/// A datagram on its way.
#[derive(Clone, Debug)]
pub(crate) struct Parcel {
    datagram: Datagram,
    sender: SocketKey,
    nodes: (NodeId, NodeId),
    to: SocketAddr,
    packet: Packet,
    /// It waits until its link opens.
    pub(crate) is_held: bool,
}

pub(crate) type ParcelKey = Key<Parcel>;

/// The most that one datagram carries.
const PAYLOAD_MAX: [usize; 2] = [65_507, 65_527];
/// What a queue holds, in bytes, and what a datagram costs beside its own: Linux's defaults.
pub(crate) const QUEUE_BYTES_MAX: usize = 212_992;
const OVERHEAD_BYTES: usize = 768;

impl UdpSocket {
    pub(crate) fn new(is_v6: bool) -> Self {
        Self {
            is_v6,
            local: None,
            peer: None,
            queue: VecDeque::new(),
            queued: 0,
            error: None,
            groups: Vec::new(),
            shut: [false; 2],
        }
    }

    pub(crate) fn readiness(&self) -> Readiness {
        let error = self.error.is_some();
        let [read_closed, write_shut] = self.shut;
        Readiness {
            readable: !self.queue.is_empty() || error || read_closed,
            writable: true,
            read_closed,
            write_closed: read_closed && write_shut,
            error,
            ..Readiness::default()
        }
    }

    /// What waits to be received, with what it costs.
    pub(crate) fn queued_bytes(&self) -> usize {
        self.queued
    }

    pub(crate) fn take_error(&mut self) -> Option<Errno> {
        self.error.take()
    }

    /// Does it take what comes from there?
    fn takes_from(&self, from: SocketAddr) -> bool {
        self.peer.is_none_or(|peer| same(peer, from))
    }

    /// One more datagram; the newest is dropped where there is no room. As on Linux there is always room in an
    /// empty queue.
    fn push(&mut self, datagram: Datagram, capacity: usize) -> bool {
        let bytes = datagram.data.len() + OVERHEAD_BYTES;
        if self.queued > 0 && self.queued + bytes > capacity {
            return false;
        }
        self.queued += bytes;
        self.queue.push_back(datagram);
        true
    }
}

impl World {
    /// Gives a socket an address.
    pub(crate) fn udp_bind(
        &mut self,
        kernel: &Kernel,
        key: SocketKey,
        address: SocketAddr,
    ) -> Result<()> {
        let (node, options) = (self.entry(key)?.node, self.entry(key)?.options.clone());
        if self.udp(key)?.local.is_some() {
            return Err(Errno::INVALID);
        }
        let host = self.ways.hosts.of(node);
        let local = host.bind(Protocol::Udp, address, key, &options, kernel.now())?;
        self.udp_mut(key)?.local = Some(local);
        Ok(())
    }

    /// From now on it talks to one peer.
    pub(crate) fn udp_connect(&mut self, key: SocketKey, to: SocketAddr) -> Result<()> {
        let entry = self.entry(key)?;
        let (node, broadcasts) = (entry.node, entry.options.broadcast);
        let source = self.ways.hosts.source(node, to.ip())?;
        let udp = self.udp_mut(key)?;
        if udp.is_v6 != to.is_ipv6() {
            return Err(Errno::FAMILY);
        }
        if is_broadcast(to.ip()) && !broadcasts {
            return Err(Errno::ACCESS);
        }
        let to = if to.ip().is_unspecified() { SocketAddr::new(source, to.port()) } else { to };
        udp.peer = Some(to);
        if let Some(local) = &mut udp.local
            && local.ip().is_unspecified()
        {
            local.set_ip(source);
        }
        Ok(())
    }

    /// Sends a datagram, to the peer where no other is named.
    pub(crate) fn udp_send(
        &mut self,
        kernel: &mut Kernel,
        key: SocketKey,
        to: Option<SocketAddr>,
        data: &[u8],
    ) -> Result<usize> {
        let node = self.entry(key)?.node;
        let broadcasts = self.entry(key)?.options.broadcast;
        let udp = self.udp_mut(key)?;
        if let Some(error) = udp.error.take() {
            return Err(error);
        }
        // Linux looks at the port of an address that it is given here, and at no other.
        if to.is_some_and(|to| to.port() == 0) {
            return Err(Errno::INVALID);
        }
        let to = to.or(udp.peer).ok_or(Errno::DESTINATION_REQUIRED)?;
        let (is_v6, is_shut) = (udp.is_v6, udp.shut[1]);
        let local = udp.local.ok_or(Errno::INVALID)?;
        if to.is_ipv6() && !is_v6 {
            return Err(Errno::FAMILY);
        }
        if data.len() > PAYLOAD_MAX[usize::from(to.is_ipv6())] {
            return Err(Errno::MESSAGE_SIZE);
        }
        if is_broadcast(to.ip()) && !broadcasts {
            return Err(Errno::ACCESS);
        }
        let source = self.ways.hosts.source(node, to.ip())?;
        if is_shut {
            return Err(Errno::BROKEN_PIPE);
        }
        let ip = if local.ip().is_unspecified() { source } else { local.ip() };
        let to = if to.ip().is_unspecified() { SocketAddr::new(source, to.port()) } else { to };
        let from = SocketAddr::new(ip, local.port());
        let datagram = Datagram { from, data: data.into(), history: 0 };
        for peer in self.targets(kernel, key, node, to) {
            self.post(kernel, key, (node, peer), to, &datagram);
        }
        Ok(data.len())
    }

    /// The nodes that a datagram goes to.
    fn targets(
        &mut self,
        kernel: &Kernel,
        key: SocketKey,
        node: NodeId,
        to: SocketAddr,
    ) -> Vec<NodeId> {
        let ip = to.ip();
        if !ip.is_multicast() && !is_broadcast(ip) {
            return self.ways.hosts.route(node, ip).into_iter().collect();
        }
        let loops = self.entry(key).is_ok_and(|entry| match ip.is_ipv6() {
            true => entry.options.multicast_loop_v6,
            false => entry.options.multicast_loop_v4 || is_broadcast(ip),
        });
        let known = (0..).map(NodeId).take_while(|node| kernel.node_state(*node).is_some());
        known.filter(|other| loops || *other != node).collect()
    }

    /// Sends one datagram to one node, and a copy of it where the link makes one.
    fn post(
        &mut self,
        kernel: &mut Kernel,
        sender: SocketKey,
        nodes: (NodeId, NodeId),
        to: SocketAddr,
        datagram: &Datagram,
    ) {
        let flight = self.ways.fly_datagram(kernel, nodes, datagram.data.len());
        let Flight { packet, at, lost, copy_at, history } = flight;
        let size = (0, datagram.data.len());
        describe(kernel, packet, [datagram.from, to], PacketKind::Datagram, size);
        if lost {
            return;
        }
        let datagram = Datagram { history, ..datagram.clone() };
        let parcel = Parcel { datagram, sender, nodes, to, packet, is_held: false };
        if let Some(copy_at) = copy_at {
            let (copy, message) = (packet.copy(), packet.message());
            let (from, to) = nodes;
            kernel.record_with(|_| Event::Net(NetEvent::Duplicated { message, from, to }));
            self.schedule_parcel(kernel, Parcel { packet: copy, ..parcel.clone() }, copy_at);
        }
        self.schedule_parcel(kernel, parcel, at);
    }

    fn schedule_parcel(&mut self, kernel: &mut Kernel, parcel: Parcel, at: SimTime) {
        let (from, to) = parcel.nodes;
        let key = self.parcels.insert(parcel);
        // As on Linux: when the call returns, a datagram from a host to itself is in the receiver's queue.
        if from == to {
            return self.parcel_due(kernel, key);
        }
        let deadline = Deadline { at, seq: kernel.next_seq() };
        self.ways.agenda.push(deadline, What::Parcel(key));
    }

    /// A datagram is due.
    pub(crate) fn parcel_due(&mut self, kernel: &mut Kernel, key: ParcelKey) {
        let Some(parcel) = self.parcels.get(key) else { return };
        let ((from, to), packet) = (parcel.nodes, parcel.packet);
        match self.ways.obstacle(kernel, from, to, packet) {
            Some(Partition::Hold) => {
                if let Some(parcel) = self.parcels.get_mut(key) {
                    parcel.is_held = true;
                }
                return;
            }
            Some(Partition::Drop) => return drop(self.parcels.remove(key)),
            None => {}
        }
        let Some(parcel) = self.parcels.remove(key) else { return };
        let history = &mut self.ways.hosts.of(to).history;
        *history = fold(*history, parcel.datagram.history);
        kernel.fold_event(*history);
        self.deliver(kernel, &parcel);
    }

    fn deliver(&mut self, kernel: &mut Kernel, parcel: &Parcel) {
        let Parcel { datagram, to, .. } = parcel;
        let to_all = to.ip().is_multicast() || is_broadcast(to.ip());
        let receivers = self.udp_receivers(parcel, to_all);
        if receivers.is_empty() && !to_all {
            return self.tell_unreachable(kernel, parcel);
        }
        let (from, node) = parcel.nodes;
        let drawn = self.queues.filter(|_| from != node).unwrap_or(QUEUE_BYTES_MAX);
        for receiver in receivers {
            let Ok(entry) = self.entry_mut(receiver) else { continue };
            let capacity = entry.options.receive_buffer.map_or(drawn, |b| b as usize);
            if let SocketKind::Udp(udp) = &mut entry.kind
                && udp.push(datagram.clone(), capacity)
            {
                self.notify(kernel, receiver, Side::Read);
            } else {
                self.lose_newest(kernel, parcel);
            }
        }
    }

    /// Who takes a datagram: all, or the one whose peer sends it, or else one that has none.
    fn udp_receivers(&self, parcel: &Parcel, to_all: bool) -> Vec<SocketKey> {
        let Parcel { datagram, to, nodes, .. } = parcel;
        let Some(host) = self.ways.hosts.get(nodes.1) else { return Vec::new() };
        if to_all {
            let bound = host.at_port(Protocol::Udp, to.port());
            return bound.filter(|key| self.hears(*key, datagram.from, to.ip())).collect();
        }
        let way = [datagram.from, *to];
        let one = |is_connected: bool| {
            host.receiver(Protocol::Udp, way, |binding| {
                self.udp(binding.socket).is_ok_and(|udp| {
                    udp.peer.is_some() == is_connected && udp.takes_from(datagram.from)
                })
            })
        };
        one(true).or_else(|| one(false)).into_iter().collect()
    }

    /// Does a socket hear what is sent to all, or to a group? As on Linux one of a single address does not,
    /// and one that is no member does as long as another of its host is one, and it has not said otherwise.
    fn hears(&self, key: SocketKey, from: SocketAddr, to: IpAddr) -> bool {
        let (Ok(entry), Ok(udp)) = (self.entry(key), self.udp(key)) else { return false };
        let local = udp.local.map(|local| local.ip());
        if !udp.takes_from(from) || !local.is_some_and(|ip| ip.is_unspecified() || ip == to) {
            return false;
        }
        if !to.is_multicast() || udp.groups.contains(&to) {
            return true;
        }
        let options = &entry.options;
        let hears_all =
            if to.is_ipv6() { options.multicast_all_v6 } else { options.multicast_all_v4 };
        hears_all && self.has_member(entry.node, to)
    }

    fn has_member(&self, node: NodeId, group: IpAddr) -> bool {
        self.sockets.iter().any(|(_, entry)| match &entry.kind {
            SocketKind::Udp(udp) => entry.node == node && udp.groups.contains(&group),
            _ => false,
        })
    }

    /// Nobody has the port: a sender that is connected hears of it.
    fn tell_unreachable(&mut self, kernel: &mut Kernel, parcel: &Parcel) {
        let Parcel { nodes: (from, to), sender, .. } = *parcel;
        let flight = self.ways.fly_datagram(kernel, (to, from), 0);
        let addresses = [parcel.to, parcel.datagram.from];
        describe(kernel, flight.packet, addresses, PacketKind::Unreachable, (0, 0));
        if !flight.lost {
            let news = Unreachable { sender, peer: parcel.to, packet: flight.packet, from: to };
            let key = self.unreachable.insert(news);
            if from == to {
                return self.unreachable_due(kernel, key);
            }
            let deadline = Deadline { at: flight.at, seq: kernel.next_seq() };
            self.ways.agenda.push(deadline, What::Unreachable(key));
        }
    }

    /// The news that nobody has the port is due.
    pub(crate) fn unreachable_due(&mut self, kernel: &mut Kernel, key: Key<Unreachable>) {
        let Some(news) = self.unreachable.remove(key) else { return };
        let Unreachable { sender, peer, packet, from } = news;
        let Ok(entry) = self.entry(sender) else { return };
        let (node, hears_all) = (entry.node, entry.options.receives_errors);
        if self.ways.obstacle(kernel, from, node, packet).is_some() {
            return;
        }
        let Ok(udp) = self.udp_mut(sender) else { return };
        if hears_all || udp.peer.is_some_and(|own| same(own, peer)) {
            udp.error = Some(Errno::REFUSED);
            self.notify(kernel, sender, Side::Either);
        }
    }

    /// Takes a datagram, or looks at it; how long it is, and who sent it.
    pub(crate) fn udp_receive(
        &mut self,
        kernel: &mut Kernel,
        key: SocketKey,
        buffer: &mut [u8],
        peeks: bool,
    ) -> Result<(usize, SocketAddr)> {
        let udp = self.udp_mut(key)?;
        if let Some(error) = udp.error.take() {
            return Err(error);
        }
        let datagram = udp.queue.front().ok_or(Errno::AGAIN)?;
        let len = datagram.data.len().min(buffer.len());
        buffer[..len].copy_from_slice(&datagram.data[..len]);
        let (from, history) = (datagram.from, datagram.history);
        if let Some(own) = kernel.task_history() {
            *own = fold(*own, history);
        }
        if !peeks {
            udp.queued -= datagram.data.len() + OVERHEAD_BYTES;
            udp.queue.pop_front();
        }
        Ok((len, from))
    }

    /// Closes directions: [read, write]. They are closed even where there is no peer, which is an error all the
    /// same.
    pub(crate) fn udp_shutdown(
        &mut self,
        kernel: &mut Kernel,
        key: SocketKey,
        shut: [bool; 2],
    ) -> Result<()> {
        let udp = self.udp_mut(key)?;
        udp.shut[0] |= shut[0];
        udp.shut[1] |= shut[1];
        let is_connected = udp.peer.is_some();
        self.notify(kernel, key, Side::Either);
        if is_connected { Ok(()) } else { Err(Errno::NOT_CONNECTED) }
    }

    /// Joins or leaves a group.
    pub(crate) fn udp_group(&mut self, key: SocketKey, group: IpAddr, joins: bool) -> Result<()> {
        let family = self.entry(key)?.family()?;
        if group.is_ipv6() && !family.is_v6 {
            return Err(Errno::NO_SUCH_OPTION);
        }
        if family.is_tcp {
            return Err(Errno::PROTOCOL);
        }
        let groups = &mut self.udp_mut(key)?.groups;
        match (groups.iter().position(|own| *own == group), joins) {
            _ if !group.is_multicast() => return Err(Errno::INVALID),
            (Some(_), true) => return Err(Errno::ADDRESS_IN_USE),
            (None, false) => return Err(Errno::ADDRESS_NOT_AVAILABLE),
            (None, true) => groups.push(group),
            (Some(at), false) => drop(groups.remove(at)),
        }
        Ok(())
    }

    /// Links have opened: what was held goes on.
    pub(crate) fn release_parcels(&mut self, kernel: &mut Kernel) {
        let held = self.parcels.iter().filter(|(_, parcel)| parcel.is_held);
        let held: Vec<ParcelKey> = held.map(|(key, _)| key).collect();
        for key in held {
            if let Some(parcel) = self.parcels.get_mut(key) {
                parcel.is_held = false;
                let deadline = Deadline { at: kernel.now(), seq: kernel.next_seq() };
                self.ways.agenda.push(deadline, What::Parcel(key));
            }
        }
    }

    fn lose_newest(&mut self, kernel: &mut Kernel, parcel: &Parcel) {
        dropped(kernel, parcel.packet.message(), parcel.nodes, DropReason::Overflow);
    }

    pub(crate) fn udp(&self, key: SocketKey) -> Result<&UdpSocket> {
        match &self.entry(key)?.kind {
            SocketKind::Udp(udp) => Ok(udp),
            _ => Err(Errno::NOT_SUPPORTED),
        }
    }

    pub(crate) fn udp_mut(&mut self, key: SocketKey) -> Result<&mut UdpSocket> {
        match &mut self.entry_mut(key)?.kind {
            SocketKind::Udp(udp) => Ok(udp),
            _ => Err(Errno::NOT_SUPPORTED),
        }
    }
}

/// The same address, whichever way its IP is written.
fn same(a: SocketAddr, b: SocketAddr) -> bool {
    (a.ip().to_canonical(), a.port()) == (b.ip().to_canonical(), b.port())
}
