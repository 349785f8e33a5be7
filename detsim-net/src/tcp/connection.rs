//! Both ends of a connection, and how they come to an end.
//!
//! Owns: [`Connection`] with its two [`End`]s; closing, resetting and timing out. Does not own: the
//! way of segments (`wire.rs`). Invariants: end `i` writes into lane `i`; an end that is [`Phase::Gone`] is
//! unknown to its host, whose answer to any segment is RST; a connection is freed when both ends
//! are gone and neither a socket nor a place in a queue is left.

use std::net::SocketAddr;
use std::time::Duration;

use detsim_executor::{Deadline, Kernel, NodeId, SimTime};

use super::ConnectionKey;
use super::keepalive::Keepalive;
use super::lane::{Fin, Lane};
use crate::errno::Errno;
use crate::host::Outgoing;
use crate::links::Way;
use crate::sockets::{Packet, SocketKey, What, World};
use crate::waits::Side;

/// A connection.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) ends: [End; 2],
    pub(crate) lanes: [Lane; 2],
    /// Who sent FIN first, and keeps the port for a while.
    pub(crate) first_closer: Option<usize>,
    /// Who is to accept it, or did.
    pub(crate) listener: Option<SocketKey>,
    /// It waits to be accepted.
    pub(crate) is_queued: bool,
    /// The socket is connected to itself (`mirror.rs`).
    pub(crate) is_mirror: bool,
    pub(crate) syn_sent: SimTime,
    pub(crate) syn_tries: u32,
    /// When it was sent again for the first time.
    pub(crate) syn_again: SimTime,
    /// Draws and their anchors.
    pub(crate) sig: u64,
    pub(crate) draws: u32,
}

/// One end of a connection.
#[derive(Debug)]
pub(crate) struct End {
    pub(crate) node: NodeId,
    pub(crate) phase: Phase,
    pub(crate) nodelay: bool,
    /// The link to the other end.
    pub(crate) way: Way,
    /// `None` before it is accepted and after it is closed.
    pub(crate) socket: Option<SocketKey>,
    /// A byte beside the stream that has arrived; the last one, where several have.
    pub(crate) urgent: Option<u8>,
    /// Reported once.
    pub(crate) error: Option<Errno>,
    pub(crate) history: u64,
    /// When something of the peer was here last.
    pub(super) heard: SimTime,
    pub(crate) user_timeout: Option<Duration>,
    pub(crate) send_capacity: usize,
    pub(crate) receive_capacity: usize,
    pub(crate) local: SocketAddr,
    /// `SO_REUSEADDR`, as it was when the connection began.
    pub(crate) shares_port: bool,
    /// The connect chose the port: nobody had bound the socket.
    pub(crate) chose_port: bool,
    pub(super) keepalive: Option<Keepalive>,
    /// How many questions to the peer are open.
    pub(super) probes: u32,
    /// When the timer of that is due; an event of another moment is of the past.
    pub(super) keepalive_due: Option<Deadline>,
    /// An event will look at the user timeout.
    pub(super) patience_due: bool,
}

/// Where an end stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    SynSent,
    SynReceived,
    Established,
    /// Its host does not know it: not yet, or no more.
    Gone,
}

/// What happens to a connection later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The first segment of a lane arrives, or is sent again.
    Lane(usize),
    /// Acknowledgements of a lane are back at its sender.
    Acks(usize),
    Syn(Packet),
    SynAck(Packet),
    SynRetry,
    /// An RST arrives at this end.
    Reset(usize, Packet),
    /// This end has heard nothing for a while.
    Keepalive(usize),
    /// A question of this end is at its peer, or the answer is back.
    Probe(usize, Packet),
    ProbeAnswer(usize, Packet),
    /// This end has waited long for an acknowledgement.
    Patience(usize),
}

/// Send and receive buffers in bytes: within a host together what Linux takes for a peer that does not read;
/// between hosts, where it begins with less and adds to it while the reader keeps up, what is soon reached.
const CAPACITIES_WITHIN: [usize; 2] = [2_626_560, 1_310_720];
const CAPACITIES_BETWEEN: [usize; 2] = [262_144, 262_144];

impl End {
    /// With buffers of so many bytes between hosts, where that is said.
    pub(crate) fn new(
        node: NodeId,
        local: SocketAddr,
        peer: NodeId,
        buffers: Option<usize>,
    ) -> Self {
        let between = buffers.map_or(CAPACITIES_BETWEEN, |bytes| [bytes; 2]);
        let [send_capacity, receive_capacity] =
            if peer == node { CAPACITIES_WITHIN } else { between };
        Self {
            node,
            way: Way::default(),
            local,
            shares_port: false,
            chose_port: false,
            phase: Phase::Gone,
            socket: None,
            urgent: None,
            error: None,
            nodelay: false,
            send_capacity,
            receive_capacity,
            history: 0,
            keepalive: None,
            user_timeout: None,
            heard: SimTime::ZERO,
            probes: 0,
            keepalive_due: None,
            patience_due: false,
        }
    }
}

impl Connection {
    /// As one end sees it: itself and the other, what it sends and what it is sent.
    #[inline(always)]
    pub(crate) fn seen_from(&mut self, side: usize) -> (&mut End, &mut End, &mut Lane, &mut Lane) {
        let Self { ends: [one, two], lanes: [out, back], .. } = self;
        if side == 0 { (one, two, out, back) } else { (two, one, back, out) }
    }

    /// Are both directions closed, and has either end heard of it?
    pub(crate) fn is_over(&self) -> bool {
        self.lanes.iter().all(|lane| lane.fin == Fin::Arrived)
    }

    /// From which address end `side` sends, and to which.
    pub(crate) fn addresses(&self, side: usize) -> [SocketAddr; 2] {
        [self.ends[side].local, self.ends[1 - side].local]
    }

    /// What an end has its port for, where its connect chose it.
    pub(crate) fn outgoing(&self, side: usize) -> Option<Outgoing> {
        let [own, peer] = self.addresses(side);
        self.ends[side].chose_port.then(|| Outgoing::new(own.ip(), peer))
    }

    /// Nobody needs it any more.
    pub(crate) fn is_unused(&self) -> bool {
        let unused = |end: &End| end.phase == Phase::Gone && end.socket.is_none();
        self.ends.iter().all(unused) && !self.is_queued
    }
}

impl World {
    /// A program closes its socket of this end.
    pub(crate) fn close_end(
        &mut self,
        kernel: &mut Kernel,
        key: ConnectionKey,
        side: usize,
        resets: bool,
    ) {
        let Some(connection) = self.connections.get_mut(key) else { return };
        connection.ends[side].socket = None;
        let unread = connection.lanes[1 - side].readable() > 0;
        match connection.ends[side].phase {
            Phase::Gone => {}
            Phase::SynSent => self.forget_end(kernel, key, side),
            _ if resets || unread => self.abort(kernel, key, side),
            _ => {
                self.finish(kernel, key, side);
                self.settle(kernel, key);
            }
        }
        self.free(key);
    }

    /// Says, behind everything that was written, that nothing more will come.
    pub(crate) fn finish(&mut self, kernel: &mut Kernel, key: ConnectionKey, side: usize) {
        let Some(connection) = self.connections.get_mut(key) else { return };
        if connection.lanes[side].fin == Fin::Open {
            connection.lanes[side].fin = Fin::Queued;
            connection.first_closer.get_or_insert(side);
            self.transmit(kernel, key, side);
        }
    }

    /// This end resets the connection: what it has not sent is lost, what is on its way is not.
    pub(crate) fn abort(&mut self, kernel: &mut Kernel, key: ConnectionKey, side: usize) {
        let Some(connection) = self.connections.get_mut(key) else { return };
        connection.lanes[side].drop_unsent();
        connection.lanes[1 - side].clear();
        self.ways.agenda.touch();
        self.post_reset(kernel, key, 1 - side);
        self.forget_end(kernel, key, side);
    }

    /// This end has failed: its program hears of it once.
    pub(crate) fn fail_end(
        &mut self,
        kernel: &mut Kernel,
        key: ConnectionKey,
        side: usize,
        error: Errno,
    ) {
        let Some(connection) = self.connections.get_mut(key) else { return };
        if connection.ends[side].phase == Phase::Gone {
            return;
        }
        connection.ends[side].error = Some(error);
        connection.lanes.iter_mut().for_each(Lane::drop_flight);
        self.ways.agenda.touch();
        self.forget_end(kernel, key, side);
        self.notify_end(kernel, key, side, Side::Either);
        self.free(key);
    }

    /// An RST has come.
    pub(crate) fn reset_end(&mut self, kernel: &mut Kernel, key: ConnectionKey, side: usize) {
        let Some(connection) = self.connections.get(key) else { return };
        let closed = connection.lanes[1 - side].fin == Fin::Arrived;
        let error = match connection.ends[side].phase {
            Phase::SynSent => Errno::REFUSED,
            _ if closed => Errno::BROKEN_PIPE,
            _ => Errno::RESET,
        };
        self.fail_end(kernel, key, side, error);
    }

    /// The host of this end knows nothing of it any more.
    pub(crate) fn forget_end(&mut self, kernel: &mut Kernel, key: ConnectionKey, side: usize) {
        let Some(connection) = self.connections.get_mut(key) else { return };
        let over = connection.is_over();
        let waits = over && connection.first_closer == Some(side);
        let listener = connection.listener.filter(|_| side == 1);
        let outgoing = connection.outgoing(side);
        let end = &mut connection.ends[side];
        let phase = std::mem::replace(&mut end.phase, Phase::Gone);
        if phase == Phase::Gone {
            return;
        }
        let (node, port, shares) = (end.node, end.local.port(), end.shares_port);
        end.keepalive_due = None;
        if let Some(deadline) = connection.ends[1 - side].keepalive_due {
            // Its next question has another answer than before.
            self.ways.push_doubtful(deadline, What::Connection(key, Step::Keepalive(1 - side)));
        }
        self.ways.hosts.of(node).disconnect(port, shares, outgoing, waits, kernel.now());
        if phase == Phase::SynReceived
            && let Some(listener) = listener.and_then(|listener| self.listener_mut(listener))
        {
            listener.half_open -= 1;
        }
    }

    /// Both directions are closed: an end whose program has closed it as well is gone.
    pub(crate) fn settle(&mut self, kernel: &mut Kernel, key: ConnectionKey) {
        for side in 0..2 {
            let Some(connection) = self.connections.get(key) else { return };
            if connection.is_over() && connection.ends[side].socket.is_none() {
                self.forget_end(kernel, key, side);
            }
        }
        self.free(key);
    }

    /// Frees a connection that nobody needs.
    pub(crate) fn free(&mut self, key: ConnectionKey) {
        if self.connections.get(key).is_some_and(Connection::is_unused) {
            self.connections.remove(key);
            self.ways.agenda.touch();
        }
    }

    /// Something happened to an end: who waits for it is woken.
    pub(crate) fn notify_end(
        &mut self,
        kernel: &mut Kernel,
        key: ConnectionKey,
        side: usize,
        what: Side,
    ) {
        let socket = self.connections.get(key).and_then(|connection| connection.ends[side].socket);
        match socket {
            Some(socket) => self.notify(kernel, socket, what),
            None => self.reflect(kernel, key),
        }
    }

    /// The host of these ends has lost its power.
    pub(crate) fn cut_power(&mut self, kernel: &mut Kernel, node: NodeId) {
        let keys: Vec<ConnectionKey> = self.connections.iter().map(|(key, _)| key).collect();
        for key in keys {
            for side in 0..2 {
                let Some(connection) = self.connections.get_mut(key) else { continue };
                if connection.ends[side].node == node {
                    connection.ends[side].socket = None;
                    connection.lanes[side].drop_unsent();
                    self.forget_end(kernel, key, side);
                }
            }
            self.free(key);
        }
    }
}
