//! Segments with which nothing is odd.
//!
//! Owns: sending what was just written in one segment, and the arrival of one, each with one look at the
//! connection and one at the link. Does not own: anything else that may become of a segment; that is
//! `wire.rs`. Invariant: what is done here is to the last bit what is done there (`tests/it/usual.rs` has
//! runs do without), and where they say no, nothing has been done. No run that is recorded gets here.

use detsim_executor::rng::fold;
use detsim_executor::{Kernel, Object, OpKind};

use super::connection::Phase;
use super::lane::{Kind, Segment};
use super::wire::{SEGMENT_BYTES_MAX, schedule};
use super::{Connection, ConnectionKey, Step};
use crate::sockets::{FIRST_MESSAGE, Flight, Packet, Ways, What, World};
use crate::waits::Side;

impl Ways {
    /// Sends so many bytes, which are all that a lane has that is not acknowledged: the end of the current
    /// task's operation on the socket.
    #[inline(always)]
    pub(crate) fn send_whole(
        &mut self,
        kernel: &mut Kernel,
        (key, connection): (ConnectionKey, &mut Connection),
        side: usize,
        (object, bytes): (&mut Object, usize),
    ) -> bool {
        let (end, other, lane, _) = connection.seen_from(side);
        if bytes > lane.window(other.receive_capacity).min(SEGMENT_BYTES_MAX) {
            return false;
        }
        let nodes = (end.node, other.node);
        let flight = match self.launch_plainly(kernel, &mut end.way, nodes) {
            Some((ordinal, at, sent)) => {
                let packet = Packet::new(ordinal, FIRST_MESSAGE);
                let history = kernel.sends(object, OpKind::Send, sent).unwrap_or_default();
                Flight { packet, at, lost: false, copy_at: None, history }
            }
            None => {
                let flight = self.fly_long(kernel, end.node, other.node, bytes);
                kernel.operate(object, OpKind::Send);
                kernel.spend_budget();
                flight
            }
        };
        let Flight { packet, lost, history, .. } = flight;
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
        let Self { connections, sockets, ways, woken, .. } = self;
        let Some(&What::Connection(key, Step::Lane(side))) = ways.agenda.peek() else {
            return false;
        };
        let Some(connection) = connections.get_mut(key) else { return false };
        let (end, other, lane, _) = connection.seen_from(side);
        let Some(&segment) = lane.flight.first() else { return false };
        let Segment { kind, bytes, packet, lost, history, .. } = segment;
        if lost || kind != Kind::Data || ways.agenda.is_doubtful() || kernel.is_recorded() {
            return false;
        }
        let Some(socket) = other.socket.filter(|_| other.phase == Phase::Established) else {
            return false;
        };
        let nodes = (end.node, other.node);
        if !ways.is_open_plainly(kernel, &mut end.way, nodes)
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
        let expects = !lane.is_all_sent() || end.user_timeout.is_some();
        if let Some(entry) = sockets.get_mut(socket) {
            entry.happened(Side::Read);
            entry.waits.wake_now(kernel, &mut entry.object, Side::Read, woken);
        }
        if expects {
            self.expect_acks(kernel, key, side);
        }
        if !is_last {
            self.next_due(kernel, key, side);
        }
        true
    }
}
