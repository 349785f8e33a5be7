//! Whether the peer is still there.
//!
//! Owns: `SO_KEEPALIVE` with its times, and `TCP_USER_TIMEOUT`: when a probe is sent, what its answer or its
//! absence means, when a sender whose bytes nobody acknowledges gives up. Does not own: retransmission
//! (`wire.rs`), or options.
//!
//! # The model
//! - An end that has heard nothing for the idle time, and has nothing under way, asks, and asks again
//!   every interval; after so many questions without an answer its connection has failed with
//!   ETIMEDOUT. A host that knows nothing of the connection answers by RST. With a user timeout that many
//!   milliseconds of silence decide instead of the count.
//! - With a user timeout an end fails with ETIMEDOUT that long after the first retransmission of what
//!   nobody acknowledged, however often it was sent again; a peer that makes no room counts as one that
//!   does not acknowledge.
//! - The timer of a connection whose way is open keeps no run going: it is *faint* ([`Device::is_faint`]).
//!   So a run in which only such timers are left is stuck, and said to be. Where the way is cut, the
//!   peer's host dark or ignorant, or a question open, the timer ends in something that the program sees,
//!   and counts as any other.
//! - Over a way without faults the answer is known beforehand: no packet flies for it.
//!
//! [`Device::is_faint`]: detsim_executor::Device::is_faint

use std::time::Duration;

use detsim_executor::event::PacketKind;
use detsim_executor::{Deadline, Kernel, NodeId};

use super::ConnectionKey;
use super::connection::{Connection, Phase, Step};
use crate::errno::Errno;
use crate::options::Options;
use crate::sockets::{Packet, What, World, describe};

/// What an end does to find out whether its peer is there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keepalive {
    idle: Duration,
    interval: Duration,
    count: u32,
}

/// The first retransmission of Linux.
const FIRST_RTO: Duration = Duration::from_millis(200);

impl Keepalive {
    /// As options have it; `None` where it is off.
    pub(super) fn of(options: &Options) -> Option<Self> {
        let (idle, interval) = (options.keep_idle, options.keep_interval);
        options.keepalive.then_some(Self { idle, interval, count: options.keep_count })
    }
}

impl World {
    /// An end is established, or its options have changed: its timers run from now on.
    pub(crate) fn watch_peer(&mut self, kernel: &mut Kernel, key: ConnectionKey, side: usize) {
        let Some(connection) = self.connections.get_mut(key) else { return };
        let end = &mut connection.ends[side];
        end.keepalive_due = None;
        match end.keepalive {
            Some(Keepalive { idle, interval, .. }) if end.phase == Phase::Established => {
                let wait = if end.probes == 0 { idle } else { interval };
                self.expect_silence(kernel, key, side, wait);
            }
            _ => end.probes = 0,
        }
        self.expect_patience(kernel, key, side);
    }

    /// Looks again so long after the peer was heard, or from now on where that has passed.
    fn expect_silence(
        &mut self,
        kernel: &mut Kernel,
        key: ConnectionKey,
        side: usize,
        wait: Duration,
    ) {
        let Some(connection) = self.connections.get_mut(key) else { return };
        let end = &mut connection.ends[side];
        let from = if end.probes == 0 { end.heard } else { kernel.now() };
        let deadline = Deadline { at: (from + wait).max(kernel.now()), seq: kernel.next_seq() };
        end.keepalive_due = Some(deadline);
        let what = What::Connection(key, Step::Keepalive(side));
        match self.is_doubtful(kernel, key, side) {
            true => self.ways.push_doubtful(deadline, what),
            false => self.faint.push(deadline, what),
        }
    }

    /// Links were cut, or a host fell silent: timers that seemed to lead nowhere now may.
    pub(crate) fn doubt_peers(&mut self, kernel: &mut Kernel) {
        let watched = |connection: &Connection, side: usize| {
            connection.ends[side].keepalive_due.filter(|_| connection.ends[side].probes == 0)
        };
        let ends = self.connections.iter().flat_map(|(key, connection)| {
            [0, 1].map(|side| Some((key, side, watched(connection, side)?)))
        });
        let ends: Vec<_> = ends.flatten().collect();
        for (key, side, deadline) in ends {
            if self.is_doubtful(kernel, key, side) {
                self.ways.push_doubtful(deadline, What::Connection(key, Step::Keepalive(side)));
            }
        }
    }

    /// Might the peer of an end not answer?
    fn is_doubtful(&mut self, kernel: &mut Kernel, key: ConnectionKey, side: usize) -> bool {
        let Some(connection) = self.connections.get(key) else { return false };
        let (own, peer) = (&connection.ends[side], &connection.ends[1 - side]);
        let (from, to) = (own.node, peer.node);
        own.probes > 0
            || peer.phase == Phase::Gone
            || self.ways.is_cut_by_scenario(kernel, from, to)
            || self.ways.is_cut_by_scenario(kernel, to, from)
    }

    /// Whether this is still when the timer of an end is due.
    pub(crate) fn is_keepalive_due(
        &self,
        key: ConnectionKey,
        side: usize,
        deadline: Deadline,
    ) -> bool {
        let end = self.connections.get(key).map(|connection| &connection.ends[side]);
        end.is_some_and(|end| end.keepalive_due == Some(deadline))
    }

    /// An end has heard nothing for a while.
    pub(crate) fn keepalive_due(&mut self, kernel: &mut Kernel, key: ConnectionKey, side: usize) {
        let now = kernel.now();
        let Some(connection) = self.connections.get_mut(key) else { return };
        let is_busy = connection.lanes[side].outstanding_at(now) > 0;
        let end = &mut connection.ends[side];
        end.keepalive_due = None;
        let Some(keepalive) = end.keepalive.filter(|_| end.phase == Phase::Established) else {
            return;
        };
        let silence = now - end.heard.min(now);
        if is_busy || silence < keepalive.idle {
            end.probes = 0;
            end.heard = if is_busy { now } else { end.heard };
            return self.expect_silence(kernel, key, side, keepalive.idle);
        }
        let is_over = match end.user_timeout {
            Some(timeout) => end.probes > 0 && silence >= timeout,
            None => end.probes >= keepalive.count,
        };
        if is_over {
            self.post_reset(kernel, key, 1 - side);
            return self.fail_end(kernel, key, side, Errno::TIMED_OUT);
        }
        self.ask_peer(kernel, key, side, keepalive);
    }

    fn ask_peer(&mut self, kernel: &mut Kernel, key: ConnectionKey, side: usize, times: Keepalive) {
        let Some(connection) = self.connections.get_mut(key) else { return };
        let (from, to) = (connection.ends[side].node, connection.ends[1 - side].node);
        let is_there = connection.ends[1 - side].phase == Phase::Established;
        if is_there
            && self.ways.is_faultless(kernel, from, to)
            && self.ways.is_faultless(kernel, to, from)
        {
            return self.peer_answers(kernel, key, side);
        }
        if let Some(connection) = self.connections.get_mut(key) {
            connection.ends[side].probes += 1;
        }
        self.fly_probe(kernel, key, side, Step::Probe);
        self.expect_silence(kernel, key, side, times.interval);
    }

    /// A question of end `side` leaves, or the answer of its peer.
    fn fly_probe(
        &mut self,
        kernel: &mut Kernel,
        key: ConnectionKey,
        side: usize,
        step: fn(usize, Packet) -> Step,
    ) {
        let Some(connection) = self.connections.get(key) else { return };
        let by =
            if matches!(step(side, Packet::default()), Step::Probe(..)) { side } else { 1 - side };
        let (from, to) = (connection.ends[by].node, connection.ends[1 - by].node);
        let (addresses, sent) = (connection.addresses(by), connection.lanes[by].sent);
        let flight = self.ways.fly(kernel, from, to, 0);
        describe(kernel, flight.packet, addresses, PacketKind::Ack, (sent, 0));
        if !flight.lost {
            let deadline = Deadline { at: flight.at, seq: kernel.next_seq() };
            self.ways.agenda.push(deadline, What::Connection(key, step(side, flight.packet)));
        }
    }

    /// A question of end `side` is at its peer.
    pub(crate) fn probe_due(
        &mut self,
        kernel: &mut Kernel,
        key: ConnectionKey,
        side: usize,
        packet: Packet,
    ) {
        let Some(nodes) = self.nodes_of(key, side) else { return };
        if self.ways.obstacle(kernel, nodes.0, nodes.1, packet).is_some() {
            return;
        }
        match self.connections.get(key).map(|connection| connection.ends[1 - side].phase) {
            Some(Phase::Gone) => return self.post_reset(kernel, key, side),
            // It is the acknowledgement for which the handshake waits.
            Some(Phase::SynReceived) => self.establish(kernel, key),
            _ => {}
        }
        self.fly_probe(kernel, key, side, Step::ProbeAnswer);
    }

    /// The answer to a question of end `side` is there.
    pub(crate) fn probe_answer_due(
        &mut self,
        kernel: &mut Kernel,
        key: ConnectionKey,
        side: usize,
        packet: Packet,
    ) {
        let Some(nodes) = self.nodes_of(key, side) else { return };
        if self.ways.obstacle(kernel, nodes.1, nodes.0, packet).is_none() {
            self.peer_answers(kernel, key, side);
        }
    }

    fn peer_answers(&mut self, kernel: &mut Kernel, key: ConnectionKey, side: usize) {
        if let Some(connection) = self.connections.get_mut(key) {
            let end = &mut connection.ends[side];
            (end.heard, end.probes) = (kernel.now(), 0);
            self.watch_peer(kernel, key, side);
        }
    }

    /// The node of an end, and that of its peer.
    fn nodes_of(&self, key: ConnectionKey, side: usize) -> Option<(NodeId, NodeId)> {
        let connection = self.connections.get(key)?;
        Some((connection.ends[side].node, connection.ends[1 - side].node))
    }

    // ------------------------------------------------------------ the user timeout

    /// An end with a user timeout that waits for an acknowledgement will look whether it has waited too
    /// long.
    pub(crate) fn expect_patience(&mut self, kernel: &mut Kernel, key: ConnectionKey, side: usize) {
        let now = kernel.now();
        let Some(connection) = self.connections.get_mut(key) else { return };
        let (end, lane) = (&mut connection.ends[side], &connection.lanes[side]);
        let Some(timeout) = end.user_timeout else { return };
        if end.phase != Phase::Established || end.patience_due || lane.outstanding_at(now) == 0 {
            return;
        }
        end.patience_due = true;
        let at = (lane.waits_since + FIRST_RTO + timeout).max(now);
        let deadline = Deadline { at, seq: kernel.next_seq() };
        self.ways.agenda.push(deadline, What::Connection(key, Step::Patience(side)));
    }

    /// Has an end waited too long?
    pub(crate) fn patience_due(&mut self, kernel: &mut Kernel, key: ConnectionKey, side: usize) {
        let now = kernel.now();
        let Some(connection) = self.connections.get_mut(key) else { return };
        connection.lanes[side].take_acks(now);
        let (end, lane) = (&mut connection.ends[side], &connection.lanes[side]);
        end.patience_due = false;
        let Some(timeout) = end.user_timeout else { return };
        let is_over = lane.outstanding() > 0 && now >= lane.waits_since + FIRST_RTO + timeout;
        match is_over {
            true => self.fail_end(kernel, key, side, Errno::TIMED_OUT),
            false => self.expect_patience(kernel, key, side),
        }
    }
}
