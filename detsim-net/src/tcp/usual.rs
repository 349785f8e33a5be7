//! Segments with which nothing is odd.
//!
//! Owns: sending what was just written in one segment, and the arrival of one, each with one look at the
//! connection and one at the link. Does not own: anything else that may become of a segment; that is
//! `wire.rs`. Invariant: what is done here is to the last bit what is done there (`tests/it/usual.rs` has
//! runs do without), and where they say no, nothing has been done.

use detsim_executor::Kernel;
use detsim_executor::event::PacketKind;
use detsim_executor::rng::fold;

use super::connection::Phase;
use super::lane::{Kind, Segment};
use super::wire::{SEGMENT_BYTES_MAX, schedule};
use super::{Connection, ConnectionKey, Step};
use crate::sockets::{Flight, Ways, What, World, describe};
use crate::waits::Side;

impl Ways {
    /// Sends so many bytes, which are all that a lane has that is not acknowledged.
    #[inline(never)]
    pub(crate) fn send_whole(
        &mut self,
        kernel: &mut Kernel,
        (key, connection): (ConnectionKey, &mut Connection),
        side: usize,
        bytes: usize,
    ) -> bool {
        let Connection { ends: [first, second], lanes, .. } = connection;
        let (end, other) = if side == 0 { (first, second) } else { (second, first) };
        let lane = &mut lanes[side];
        if bytes > lane.window(other.receive_capacity).min(SEGMENT_BYTES_MAX) {
            return false;
        }
        let nodes = (end.node, other.node);
        let flight = match self.fly_plainly(kernel, &mut end.way, nodes) {
            Some(flight) => flight,
            None => self.fly_long(kernel, end.node, other.node, bytes),
        };
        let Flight { packet, lost, history, .. } = flight;
        if kernel.is_recorded() {
            let addresses = [end.local, other.local];
            describe(kernel, packet, addresses, PacketKind::Data, (lane.sent, bytes));
        }
        lane.waits_since = kernel.now();
        let deadline = schedule(kernel, lane, &flight);
        self.agenda.push(deadline, What::Connection(key, Step::Lane(side)));
        lane.begin(Segment { kind: Kind::Data, bytes, deadline, packet, lost, history });
        true
    }
}

impl World {
    /// Lets the first event happen where it is the arrival of bytes at an end that takes them.
    #[inline]
    pub(crate) fn arrives_usually(&mut self, kernel: &mut Kernel) -> bool {
        let Self { connections, ways, .. } = self;
        let Some(What::Connection(key, Step::Lane(side))) = ways.agenda.peek() else {
            return false;
        };
        let (key, side) = (*key, *side);
        let Some(Connection { ends: [first, second], lanes, .. }) = connections.get_mut(key) else {
            return false;
        };
        let (end, other) = if side == 0 { (first, second) } else { (second, first) };
        let lane = &mut lanes[side];
        let Some(segment) = lane.flight.first() else { return false };
        let &Segment { kind, bytes, packet, lost, history, .. } = segment;
        let Some(socket) = other.socket.filter(|_| other.phase == Phase::Established) else {
            return false;
        };
        if lost || kind != Kind::Data || ways.agenda.is_doubtful() {
            return false;
        }
        let nodes = (end.node, other.node);
        if !ways.arrives_plainly(kernel, &mut end.way, nodes, packet)
            && let Some(obstacle) = ways.obstacle(kernel, nodes.0, nodes.1, packet)
        {
            ways.agenda.drop_first();
            self.stop_first(kernel, key, side, obstacle);
            return true;
        }
        let now = kernel.now();
        let back = now + ways.least(kernel, &mut other.way, (other.node, end.node));
        ways.agenda.drop_first();
        lane.arrive();
        (other.history, other.heard) = (fold(other.history, history), now);
        kernel.fold_event(other.history);
        lane.acknowledge(back, bytes);
        end.heard = back;
        let is_last = lane.flight.is_empty();
        if !lane.is_all_sent() || end.user_timeout.is_some() {
            self.expect_acks(kernel, key, side);
        }
        self.notify(kernel, socket, Side::Read);
        if !is_last {
            self.next_due(kernel, key, side);
        }
        true
    }
}
