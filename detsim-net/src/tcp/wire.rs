//! Segments on links.
//!
//! Owns: when a segment leaves, arrives, is lost and is sent again; acknowledgements and RST. Does not
//! own: what a link does ([`crate::link`]) or what an end makes of a segment's kind beyond its bytes.
//! Invariants: only the first segment of a lane has an event; what is lost becomes delay; an
//! acknowledgement takes the least latency of the way back and draws nothing.

use std::time::Duration;

use detsim_executor::event::{NetEvent, PacketKind};
use detsim_executor::rng::fold;
use detsim_executor::{Anchor, Deadline, Event, Kernel, SimTime};

use super::connection::{Phase, Step};
use super::lane::{Fin, Kind, Lane, Segment};
use super::{Connection, ConnectionKey};
use crate::errno::Errno;
use crate::link::Partition;
use crate::sockets::{Flight, Packet, Ways, What, World, describe};
use crate::waits::Side;

/// The first retransmission, in milliseconds, and the longest wait for one.
const RTO_MS: u64 = 200;
const RTO_MS_MAX: u64 = 120_000;
/// Retransmissions before the sender gives up.
const RETRIES: u32 = 15;
/// The most that one segment carries: whole pages, so that what is copied stays aligned. And the least that
/// does not wait for company.
pub(super) const SEGMENT_BYTES_MAX: usize = 32_768;
const SEGMENT_BYTES_FULL: usize = 1_460;

/// The wait before retransmission `attempt`.
fn rto(attempt: u32) -> Duration {
    Duration::from_millis((RTO_MS << attempt.min(10)).min(RTO_MS_MAX))
}

impl Connection {
    /// What end `side` may send now.
    #[inline]
    fn next_segment(&mut self, side: usize, now: SimTime) -> Option<(Kind, usize)> {
        let capacity = self.ends[1 - side].receive_capacity;
        let (end, lane) = (&self.ends[side], &mut self.lanes[side]);
        if end.phase != Phase::Established {
            return None;
        }
        lane.take_acks(now);
        let unsent = lane.unsent();
        if unsent == 0 {
            return (lane.fin == Fin::Queued).then(|| {
                lane.fin = Fin::Sent;
                (Kind::Fin, 0)
            });
        }
        let bytes = unsent.min(lane.window(capacity)).min(SEGMENT_BYTES_MAX);
        let waits = bytes < SEGMENT_BYTES_FULL
            && !end.nodelay
            && lane.is_unacked()
            && lane.fin == Fin::Open;
        (bytes > 0 && !waits).then_some((Kind::Data, bytes))
    }

    /// So many bytes have arrived whose acknowledgement will be back at `at`: does anybody wait for it?
    #[inline(always)]
    fn acknowledge(&mut self, side: usize, at: SimTime, bytes: usize) -> bool {
        let (end, lane) = (&mut self.ends[side], &mut self.lanes[side]);
        lane.acknowledge(at, bytes);
        end.heard = at;
        !lane.is_all_sent() || end.user_timeout.is_some()
    }
}

impl Ways {
    /// Sends what can be sent, where nobody has asked for anything else to happen behind a segment. True
    /// where nothing is left.
    #[inline(never)]
    pub(crate) fn send_all(
        &mut self,
        kernel: &mut Kernel,
        (key, connection): (ConnectionKey, &mut Connection),
        side: usize,
    ) -> bool {
        let now = kernel.now();
        while let Some(segment) = connection.next_segment(side, now) {
            self.send(kernel, (key, connection), side, segment);
            if connection.lanes[side].is_all_sent() {
                return true;
            }
        }
        false
    }

    /// Sends one segment.
    #[inline(always)]
    fn send(
        &mut self,
        kernel: &mut Kernel,
        (key, connection): (ConnectionKey, &mut Connection),
        side: usize,
        (kind, bytes): (Kind, usize),
    ) {
        let (end, other, lane, _) = connection.seen_from(side);
        let nodes = (end.node, other.node);
        let flight = match self.fly_plainly(kernel, &mut end.way, nodes) {
            Some(flight) => flight,
            None => self.fly_long(kernel, end.node, other.node, bytes),
        };
        let addresses = [end.local, other.local];
        describe(kernel, flight.packet, addresses, kind.packet(), (lane.sent, bytes));
        if !lane.is_unacked() {
            lane.waits_since = kernel.now();
        }
        let deadline = schedule(kernel, lane, &flight);
        let Flight { packet, lost, history, .. } = flight;
        if lane.flight.is_empty() {
            self.agenda.push(deadline, What::Connection(key, Step::Lane(side)));
        }
        lane.send(Segment { kind, bytes, deadline, packet, history, lost });
    }
}

impl World {
    /// Sends what can be sent.
    pub(crate) fn transmit(&mut self, kernel: &mut Kernel, key: ConnectionKey, side: usize) {
        let now = kernel.now();
        while let Some(connection) = self.connections.get_mut(key)
            && let Some((kind, bytes)) = connection.next_segment(side, now)
        {
            self.ways.send(kernel, (key, connection), side, (kind, bytes));
            let mut is_all_sent = connection.lanes[side].is_all_sent();
            if connection.ends[side].user_timeout.is_some() || !self.resets.is_never() {
                self.after_sending(kernel, key, side, kind);
                is_all_sent = self.connections.get(key).is_none_or(|c| c.lanes[side].is_all_sent());
            }
            if is_all_sent {
                return;
            }
        }
        self.expect_acks(kernel, key, side);
    }

    /// What there is to do behind a segment where somebody has asked for it.
    #[cold]
    fn after_sending(&mut self, kernel: &mut Kernel, key: ConnectionKey, side: usize, kind: Kind) {
        let Some(connection) = self.connections.get(key) else { return };
        if connection.ends[side].user_timeout.is_some() {
            self.expect_patience(kernel, key, side);
        }
        if kind == Kind::Data && !self.resets.is_never() {
            self.reset_by_chance(kernel, key, side);
        }
    }

    /// A fault resets the connection at one end, or at both.
    #[cold]
    fn reset_by_chance(&mut self, kernel: &mut Kernel, key: ConnectionKey, side: usize) {
        let Some(connection) = self.connections.get_mut(key) else { return };
        let nodes = [connection.ends[side].node, connection.ends[1 - side].node];
        if nodes[0] == nodes[1] {
            return;
        }
        connection.draws = connection.draws.wrapping_add(1);
        let anchor = Anchor { actor: connection.sig, ordinal: connection.draws };
        let choices = kernel.choices();
        let domain = choices.domain("net/reset");
        if !choices.happens(domain, anchor, self.resets) {
            return;
        }
        let ends: &[usize] = match choices.draw(domain, anchor, 3, 0) {
            0 => &[0],
            1 => &[1],
            _ => &[0, 1],
        };
        for end in ends {
            let event = NetEvent::Reset { by: nodes[0], at: nodes[*end] };
            kernel.record_with(|_| Event::Net(event));
            self.fail_end(kernel, key, if *end == 0 { side } else { 1 - side }, Errno::RESET);
        }
    }

    /// Sends a byte beside the stream, behind what of that has left already.
    pub(super) fn send_urgent(
        &mut self,
        kernel: &mut Kernel,
        key: ConnectionKey,
        side: usize,
        byte: u8,
    ) {
        let Some(connection) = self.connections.get_mut(key) else { return };
        self.ways.send(kernel, (key, connection), side, (Kind::Urgent(byte), 0));
    }

    /// Sends one segment that acknowledges what came before.
    pub(crate) fn send_ack(&mut self, kernel: &mut Kernel, key: ConnectionKey, side: usize) {
        let Some(connection) = self.connections.get_mut(key) else { return };
        self.ways.send(kernel, (key, connection), side, (Kind::Ack, 0));
        if connection.ends[side].user_timeout.is_some() {
            self.expect_patience(kernel, key, side);
        }
    }

    /// The first segment of a lane is due.
    pub(crate) fn lane_due(&mut self, kernel: &mut Kernel, key: ConnectionKey, side: usize) {
        let Some(connection) = self.connections.get_mut(key) else { return };
        let Some(segment) = connection.lanes[side].flight.first().copied() else { return };
        if segment.lost {
            return self.retransmit(kernel, key, side);
        }
        let (from, to) = (connection.ends[side].node, connection.ends[1 - side].node);
        if let Some(obstacle) = self.ways.obstacle(kernel, from, to, segment.packet) {
            return self.stop_first(kernel, key, side, obstacle);
        }
        connection.lanes[side].arrive();
        let end = &mut connection.ends[1 - side];
        end.history = fold(end.history, segment.history);
        end.heard = kernel.now();
        kernel.fold_event(end.history);
        self.take(kernel, key, side, segment);
        self.next_due(kernel, key, side);
    }

    /// The next segment of a lane becomes its first.
    #[inline(always)]
    pub(super) fn next_due(&mut self, kernel: &Kernel, key: ConnectionKey, side: usize) {
        let Some(connection) = self.connections.get_mut(key) else { return };
        let Some(segment) = connection.lanes[side].flight.first_mut() else { return };
        segment.deadline.at = segment.deadline.at.max(kernel.now());
        self.ways.agenda.push(segment.deadline, What::Connection(key, Step::Lane(side)));
    }

    /// Something keeps the first segment from arriving.
    #[cold]
    pub(super) fn stop_first(
        &mut self,
        kernel: &mut Kernel,
        key: ConnectionKey,
        side: usize,
        obstacle: Partition,
    ) {
        match obstacle {
            Partition::Drop => self.lose_first(kernel, key, side),
            Partition::Hold => self.hold_first(key, side),
        }
    }

    /// The first segment did not make it: it is sent again later.
    fn lose_first(&mut self, kernel: &mut Kernel, key: ConnectionKey, side: usize) {
        let Some(connection) = self.connections.get_mut(key) else { return };
        let lane = &mut connection.lanes[side];
        let at = kernel.now() + rto(lane.attempts);
        let Some(segment) = lane.flight.first_mut() else { return };
        segment.lost = true;
        segment.deadline = Deadline { at, seq: kernel.next_seq() };
        self.ways.agenda.push(segment.deadline, What::Connection(key, Step::Lane(side)));
    }

    /// The first segment waits until its link opens.
    fn hold_first(&mut self, key: ConnectionKey, side: usize) {
        let Some(connection) = self.connections.get_mut(key) else { return };
        if let Some(segment) = connection.lanes[side].flight.first_mut() {
            segment.deadline.at = SimTime::MAX;
        }
    }

    /// Links have opened: what was held goes on.
    pub(crate) fn release_lanes(&mut self, kernel: &mut Kernel) {
        let keys: Vec<ConnectionKey> = self.connections.iter().map(|(key, _)| key).collect();
        for (key, side) in keys.into_iter().flat_map(|key| [(key, 0), (key, 1)]) {
            let Some(connection) = self.connections.get_mut(key) else { continue };
            if let Some(segment) = connection.lanes[side].flight.first_mut()
                && segment.deadline.at == SimTime::MAX
            {
                segment.deadline = Deadline { at: kernel.now(), seq: kernel.next_seq() };
                self.ways.agenda.push(segment.deadline, What::Connection(key, Step::Lane(side)));
            }
        }
    }

    fn retransmit(&mut self, kernel: &mut Kernel, key: ConnectionKey, side: usize) {
        let Some(connection) = self.connections.get_mut(key) else { return };
        if connection.ends[side].phase == Phase::Gone {
            // Nobody is left to send it again.
            self.ways.agenda.touch();
            return connection.lanes[side].drop_flight();
        }
        let lane = &mut connection.lanes[side];
        lane.attempts += 1;
        if lane.attempts > RETRIES && connection.ends[side].user_timeout.is_none() {
            return self.fail_end(kernel, key, side, Errno::TIMED_OUT);
        }
        let (from, to) = (connection.ends[side].node, connection.ends[1 - side].node);
        let bytes = connection.lanes[side].flight.first().map_or(0, |segment| segment.bytes);
        let flight = self.ways.fly(kernel, from, to, bytes);
        let Some(connection) = self.connections.get_mut(key) else { return };
        let addresses = connection.addresses(side);
        let lane = &mut connection.lanes[side];
        let kind = lane.flight.first().map_or(Kind::Ack, |segment| segment.kind);
        describe(kernel, flight.packet, addresses, kind.packet(), (lane.first_in_flight(), bytes));
        let deadline = schedule(kernel, lane, &flight);
        let Some(segment) = lane.flight.first_mut() else { return };
        let Flight { packet, lost, history, .. } = flight;
        *segment = Segment { deadline, packet, lost, history, ..*segment };
        self.ways.agenda.push(deadline, What::Connection(key, Step::Lane(side)));
    }

    /// A segment is at the other end.
    #[inline(always)]
    fn take(&mut self, kernel: &mut Kernel, key: ConnectionKey, side: usize, segment: Segment) {
        let Some(connection) = self.connections.get_mut(key) else { return };
        let other = 1 - side;
        match connection.ends[other].phase {
            Phase::Gone => return self.refuse(kernel, key, side, segment.bytes),
            Phase::SynReceived => self.establish(kernel, key),
            Phase::SynSent | Phase::Established => {}
        }
        let Some(connection) = self.connections.get_mut(key) else { return };
        match segment.kind {
            Kind::Ack => {}
            Kind::Data | Kind::Urgent(_) if is_orphan(connection, other) => {
                self.abort(kernel, key, other);
            }
            Kind::Data => {
                let (from, to) = (connection.ends[side].node, connection.ends[other].node);
                let at = kernel.now() + self.ways.latency_min(kernel, to, from);
                let socket = connection.ends[other].socket;
                if connection.acknowledge(side, at, segment.bytes) {
                    self.expect_acks(kernel, key, side);
                }
                match socket {
                    Some(socket) => self.notify(kernel, socket, Side::Read),
                    None => self.reflect(kernel, key),
                }
            }
            Kind::Urgent(byte) => {
                connection.ends[other].urgent = Some(byte);
                self.notify_end(kernel, key, other, Side::Read);
            }
            Kind::Fin => {
                connection.lanes[side].fin = Fin::Arrived;
                self.notify_end(kernel, key, other, Side::Read);
                self.settle(kernel, key);
            }
        }
    }

    /// A host that knows nothing of the connection answers. Its program, which may still read what came
    /// before, gets nothing of it.
    fn refuse(&mut self, kernel: &mut Kernel, key: ConnectionKey, to: usize, bytes: usize) {
        if let Some(connection) = self.connections.get_mut(key) {
            connection.lanes[to].refuse(bytes);
        }
        self.post_reset(kernel, key, to);
    }

    /// When an answer of now is back at the sender.
    fn ack_at(&mut self, kernel: &mut Kernel, key: ConnectionKey, side: usize) -> SimTime {
        let Some(connection) = self.connections.get(key) else { return kernel.now() };
        let (from, to) = (connection.ends[1 - side].node, connection.ends[side].node);
        kernel.now() + self.ways.latency_min(kernel, from, to)
    }

    /// Arms an event for the next acknowledgement, where the sender waits for one.
    pub(crate) fn expect_acks(&mut self, kernel: &mut Kernel, key: ConnectionKey, side: usize) {
        let Some(connection) = self.connections.get_mut(key) else { return };
        let (end, lane) = (&connection.ends[side], &mut connection.lanes[side]);
        let wanted = lane.starved || lane.unsent() > 0 || end.user_timeout.is_some();
        if let (true, false, Some(at)) = (wanted, lane.ack_due, lane.next_ack()) {
            lane.ack_due = true;
            let deadline = Deadline { at: at.max(kernel.now()), seq: kernel.next_seq() };
            self.ways.agenda.push(deadline, What::Connection(key, Step::Acks(side)));
        }
    }

    /// The reader of a lane has made room: who waits for that hears of it.
    pub(crate) fn update_window(&mut self, kernel: &mut Kernel, key: ConnectionKey, side: usize) {
        let Some(connection) = self.connections.get(key) else { return };
        if connection.lanes[side].unsent() == 0 || connection.lanes[side].ack_due {
            return;
        }
        let at = self.ack_at(kernel, key, side);
        let Some(connection) = self.connections.get_mut(key) else { return };
        connection.lanes[side].ack_due = true;
        let deadline = Deadline { at, seq: kernel.next_seq() };
        self.ways.agenda.push(deadline, What::Connection(key, Step::Acks(side)));
    }

    /// Acknowledgements are back, unless the way back is cut.
    pub(crate) fn acks_due(&mut self, kernel: &mut Kernel, key: ConnectionKey, side: usize) {
        let Some(connection) = self.connections.get(key) else { return };
        let (from, to) = (connection.ends[1 - side].node, connection.ends[side].node);
        let cut = self.ways.is_cut(kernel, from, to);
        let Some(connection) = self.connections.get_mut(key) else { return };
        let (end, lane) = (&connection.ends[side], &mut connection.lanes[side]);
        if end.phase == Phase::Gone {
            return;
        }
        lane.ack_due = false;
        if cut {
            return self.delay_acks(kernel, key, side);
        }
        lane.attempts = 0;
        lane.take_acks(kernel.now());
        // As Linux has it: who waits for room hears of a third of the buffer, not of every byte.
        let room = 3 * lane.outstanding() <= 2 * end.send_capacity;
        if room && std::mem::take(&mut lane.starved) {
            self.notify_end(kernel, key, side, Side::Write);
        }
        self.transmit(kernel, key, side);
    }

    /// The way back is cut: the sender sends again, and asks again.
    fn delay_acks(&mut self, kernel: &mut Kernel, key: ConnectionKey, side: usize) {
        let Some(connection) = self.connections.get_mut(key) else { return };
        let lane = &mut connection.lanes[side];
        lane.attempts += 1;
        if lane.attempts > RETRIES && connection.ends[side].user_timeout.is_none() {
            return self.fail_end(kernel, key, side, Errno::TIMED_OUT);
        }
        let at = kernel.now() + rto(lane.attempts - 1);
        lane.delay_acks(at);
        lane.ack_due = true;
        let deadline = Deadline { at, seq: kernel.next_seq() };
        self.ways.agenda.push(deadline, What::Connection(key, Step::Acks(side)));
    }

    /// Sends an RST to an end, behind what is on its way to it. One that is lost is not sent again:
    /// the next segment brings about another.
    pub(crate) fn post_reset(&mut self, kernel: &mut Kernel, key: ConnectionKey, to: usize) {
        let Some(connection) = self.connections.get(key) else { return };
        let (from, node) = (connection.ends[1 - to].node, connection.ends[to].node);
        let (after, sent) = (connection.lanes[1 - to].last_arrival, connection.lanes[1 - to].sent);
        let addresses = connection.addresses(1 - to);
        let flight = self.ways.fly(kernel, from, node, 0);
        describe(kernel, flight.packet, addresses, PacketKind::Reset, (sent, 0));
        if flight.lost {
            return self.reset_lost(kernel, key, to);
        }
        let deadline = Deadline { at: flight.at.max(after), seq: kernel.next_seq() };
        self.ways.agenda.push(deadline, What::Connection(key, Step::Reset(to, flight.packet)));
    }

    /// An RST is due at an end.
    pub(crate) fn reset_due(
        &mut self,
        kernel: &mut Kernel,
        key: ConnectionKey,
        side: usize,
        packet: Packet,
    ) {
        let Some(connection) = self.connections.get(key) else { return };
        let (from, to) = (connection.ends[1 - side].node, connection.ends[side].node);
        match self.ways.obstacle(kernel, from, to, packet) {
            None => self.reset_end(kernel, key, side),
            Some(_) => self.reset_lost(kernel, key, side),
        }
    }

    /// Who sent a SYN sends it again.
    fn reset_lost(&mut self, kernel: &mut Kernel, key: ConnectionKey, to: usize) {
        let Some(connection) = self.connections.get(key) else { return };
        if connection.ends[to].phase == Phase::SynSent {
            self.expect_retry(kernel, key);
        }
    }
}

/// When a segment arrives behind those before it, or is sent again.
#[inline(always)]
pub(super) fn schedule(kernel: &mut Kernel, lane: &mut Lane, flight: &Flight) -> Deadline {
    let at = match flight.lost {
        true => kernel.now() + rto(lane.attempts),
        false => {
            lane.last_arrival = lane.last_arrival.max(flight.at);
            lane.last_arrival
        }
    };
    Deadline { at, seq: kernel.next_seq() }
}

/// Has the program of this end closed it?
fn is_orphan(connection: &Connection, side: usize) -> bool {
    let end = &connection.ends[side];
    end.socket.is_none() && connection.lanes[side].fin != Fin::Open
}
