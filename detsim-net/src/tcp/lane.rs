//! One direction of a connection.
//!
//! Owns: [`Lane`]: the bytes from the write that took them to the read that gives them out, how far
//! they have come, and what has been acknowledged. Does not own: links, time or the ends. Invariants:
//! the bytes in `data` are, from the front, those that arrived, those in `flight`, those unsent; a
//! byte never comes twice, nor out of order, nor is it lost while the connection lives.

use detsim_executor::event::PacketKind;
use detsim_executor::{Deadline, SimTime};

use super::convoy::Convoy;
use super::queue::Queue;
use crate::sockets::Packet;

/// See the module's documentation.
#[derive(Debug, Default)]
pub(crate) struct Lane {
    /// How many bytes of `data` have arrived.
    arrived: usize,
    flight_bytes: usize,
    unacked: usize,
    pub(crate) fin: Fin,
    /// Who writes waits for room.
    pub(crate) starved: bool,
    /// An event will look at the acknowledgements.
    pub(crate) ack_due: bool,
    /// Retransmissions of the first segment.
    pub(crate) attempts: u32,
    pub(crate) last_arrival: SimTime,
    /// Since when the first byte that nobody acknowledged is on its way.
    pub(crate) waits_since: SimTime,
    /// Bytes that were ever sent, for sequence numbers.
    pub(crate) sent: u64,
    data: Queue,
    /// Arrivals whose acknowledgement is on its way back.
    acks: Convoy<Ack>,
    /// Segments on their way, in order.
    pub(crate) flight: Convoy<Segment>,
}

/// What one packet carries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    pub(crate) kind: Kind,
    pub(crate) bytes: usize,
    /// When it arrives, or is sent again.
    pub(crate) deadline: Deadline,
    pub(crate) packet: Packet,
    /// It did not make it: at its deadline it is sent again.
    pub(crate) lost: bool,
    pub(crate) history: u64,
}

/// What a segment says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The handshake is complete.
    Ack,
    Data,
    Fin,
    /// A byte beside the stream.
    Urgent(u8),
}

impl Kind {
    /// What the trace calls it.
    pub(crate) fn packet(self) -> PacketKind {
        match self {
            Self::Ack => PacketKind::Ack,
            Self::Data | Self::Urgent(_) => PacketKind::Data,
            Self::Fin => PacketKind::Fin,
        }
    }
}

/// How far the end of the stream has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Fin {
    #[default]
    Open,
    Queued,
    Sent,
    Arrived,
}

#[derive(Clone, Copy, Debug)]
struct Ack {
    at: SimTime,
    bytes: usize,
}

impl Lane {
    /// Bytes that can be read.
    pub(crate) fn readable(&self) -> usize {
        self.arrived
    }

    /// Bytes that were written and not sent yet.
    pub(crate) fn unsent(&self) -> usize {
        self.data.len() - self.arrived - self.flight_bytes
    }

    /// Has everything left that is to be sent, the end included, and does nobody wait for room?
    #[inline]
    pub(crate) fn is_all_sent(&self) -> bool {
        self.unsent() == 0 && self.fin != Fin::Queued && !self.starved
    }

    /// Bytes that the sender must keep.
    pub(crate) fn outstanding(&self) -> usize {
        self.data.len() - self.arrived + self.unacked
    }

    /// The same at a moment, whether or not anybody has taken in what was acknowledged by then.
    pub(crate) fn outstanding_at(&self, now: SimTime) -> usize {
        let unacked: usize = self.acks.iter().filter(|a| a.at > now).map(|ack| ack.bytes).sum();
        self.data.len() - self.arrived + unacked
    }

    /// Is anything on its way, there or back?
    pub(crate) fn is_unacked(&self) -> bool {
        self.flight_bytes + self.unacked > 0
    }

    /// Is nothing of it underway or unsent, and nothing unacknowledged?
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.data.len() == self.arrived && self.unacked == 0 && self.flight.is_empty()
    }

    /// Bytes that the receiver's buffer of `capacity` has room for.
    pub(crate) fn window(&self, capacity: usize) -> usize {
        capacity.saturating_sub(self.arrived + self.flight_bytes)
    }

    /// Takes bytes in.
    #[inline(always)]
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.data.push(bytes);
    }

    /// A segment leaves.
    #[inline(always)]
    pub(crate) fn send(&mut self, segment: Segment) {
        self.flight_bytes += segment.bytes;
        self.sent += segment.bytes as u64;
        self.flight.push(segment);
    }

    /// The only segment leaves.
    #[inline(always)]
    pub(crate) fn begin(&mut self, segment: Segment) {
        self.flight_bytes = segment.bytes;
        self.sent += segment.bytes as u64;
        self.flight.begin(segment);
    }

    /// The first segment arrives.
    #[inline(always)]
    pub(crate) fn arrive(&mut self) {
        if let Some(&Segment { bytes, .. }) = self.flight.first() {
            self.flight.pop();
            self.flight_bytes -= bytes;
            self.arrived += bytes;
            self.attempts = 0;
        }
    }

    /// What has arrived is acknowledged at `at`.
    #[inline(always)]
    pub(crate) fn acknowledge(&mut self, at: SimTime, bytes: usize) {
        if bytes > 0 {
            self.acks.push(Ack { at, bytes });
            self.unacked += bytes;
        }
    }

    /// Takes in the acknowledgements that are here by now.
    #[inline(always)]
    pub(crate) fn take_acks(&mut self, now: SimTime) {
        while let Some(ack) = self.acks.first().filter(|ack| ack.at <= now) {
            self.unacked -= ack.bytes;
            self.waits_since = self.waits_since.max(ack.at);
            self.acks.pop();
        }
    }

    /// When the next acknowledgement is here.
    pub(crate) fn next_ack(&self) -> Option<SimTime> {
        self.acks.first().map(|ack| ack.at)
    }

    /// The acknowledgements have not made it, and are sent again.
    pub(crate) fn delay_acks(&mut self, until: SimTime) {
        for ack in self.acks.iter_mut() {
            ack.at = ack.at.max(until);
        }
    }

    /// Copies what can be read into `buffer`, from `offset` on, without taking it.
    pub(crate) fn peek(&self, offset: usize, buffer: &mut [u8]) -> usize {
        let len = buffer.len().min(self.arrived - offset.min(self.arrived));
        self.data.peek(offset, &mut buffer[..len])
    }

    /// Takes as many bytes as `buffer` has room for, which have arrived.
    #[inline(always)]
    pub(crate) fn take(&mut self, buffer: &mut [u8]) {
        self.data.take(buffer);
        self.arrived -= buffer.len();
    }

    /// Takes bytes out that were peeked.
    pub(crate) fn consume(&mut self, bytes: usize) {
        self.data.consume(bytes);
        self.arrived -= bytes;
    }

    /// How many bytes were sent before those that are in flight.
    pub(crate) fn first_in_flight(&self) -> u64 {
        self.sent - self.flight_bytes as u64
    }

    /// Forgets what has not left yet.
    pub(crate) fn drop_unsent(&mut self) {
        self.data.truncate(self.arrived + self.flight_bytes);
    }

    /// Forgets so many bytes that arrived last, and all behind them: nobody is there to take them.
    pub(crate) fn refuse(&mut self, bytes: usize) {
        self.arrived -= bytes;
        self.data.truncate(self.arrived);
        self.flight.iter_mut().for_each(|segment| segment.bytes = 0);
        self.flight_bytes = 0;
    }

    /// Forgets what has not arrived.
    pub(crate) fn drop_flight(&mut self) {
        self.flight.clear();
        self.flight_bytes = 0;
        self.data.truncate(self.arrived);
        self.acks.clear();
        self.unacked = 0;
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.drop_flight();
        self.data.truncate(0);
        self.arrived = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(bytes: usize) -> Segment {
        let deadline = Deadline { at: SimTime::ZERO, seq: 0 };
        let (kind, packet) = (Kind::Data, Packet::default());
        Segment { kind, bytes, deadline, packet, lost: false, history: 0 }
    }

    #[test]
    fn bytes_come_in_order_and_once() {
        let mut lane = Lane::default();
        lane.write(b"hello world");
        lane.send(segment(5));
        assert_eq!((lane.readable(), lane.unsent(), lane.window(8)), (0, 6, 3));
        lane.arrive();
        let mut buffer = [0; 8];
        assert_eq!((lane.peek(1, &mut buffer), &buffer[..4]), (4, &b"ello"[..]));
        lane.consume(5);
        lane.send(segment(6));
        lane.arrive();
        assert_eq!((lane.peek(0, &mut buffer), &buffer[..6]), (6, &b" world"[..]));
        assert_eq!(lane.outstanding(), 0);
    }

    #[test]
    fn a_byte_is_outstanding_until_its_acknowledgement_is_here() {
        let mut lane = Lane::default();
        lane.write(b"abc");
        lane.send(segment(3));
        lane.arrive();
        lane.acknowledge(SimTime::from_nanos(10), 3);
        lane.take_acks(SimTime::from_nanos(9));
        assert!(lane.is_unacked());
        lane.delay_acks(SimTime::from_nanos(20));
        assert_eq!(lane.next_ack(), Some(SimTime::from_nanos(20)));
        lane.take_acks(SimTime::from_nanos(20));
        assert!(!lane.is_unacked() && lane.outstanding() == 0);
    }

    #[test]
    fn a_reset_keeps_what_arrived() {
        let mut lane = Lane::default();
        lane.write(b"abcdef");
        lane.send(segment(2));
        lane.arrive();
        lane.send(segment(2));
        lane.drop_unsent();
        lane.drop_flight();
        assert_eq!((lane.readable(), lane.unsent()), (2, 0));
        lane.clear();
        assert_eq!(lane.readable(), 0);
    }
}
