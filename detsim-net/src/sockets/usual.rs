//! What calls that wait do on a connection where nothing is odd.
//!
//! Owns: reading bytes that are there, waiting for some, and writing where there is room, each with one
//! look at the socket and one at the connection. Does not own: anything else that such a call may
//! meet; those calls are `socket.rs` and `tcp/calls.rs`. Invariant: what is done here is to the last
//! bit what those would have done (`tests/it/usual.rs` has runs do without), and where they say `None`
//! nothing has been done.

use std::io::{IoSlice, IoSliceMut};
use std::panic::Location;
use std::task::{Context, Waker};

use detsim_executor::rng::fold;
use detsim_executor::{Kernel, OpKind, storable};

use super::{Entry, How, SocketKey, SocketKind, World};
use crate::errno::Errno;
use crate::table::Table;
use crate::tcp::connection::Phase;
use crate::tcp::lane::Fin;
use crate::tcp::{Connection, ConnectionKey, State, TcpSocket};
use crate::waits::{About, Place, Side};

/// What became of a read.
pub(super) enum Usual {
    Read(usize),
    /// It waits; there may be a waker to dispose of.
    Waits(Option<Waker>),
}

impl World {
    /// Reads bytes that have arrived, or begins to wait for some.
    #[inline]
    pub(super) fn read_usual(
        &mut self,
        kernel: &mut Kernel,
        key: SocketKey,
        cx: &Context<'_>,
        how: &How<'_>,
        buffers: &mut [IoSliceMut<'_>],
    ) -> Option<Usual> {
        let ([buffer], true) = (buffers, how.is_usual() && !self.unusual) else { return None };
        let (entry, connection, _, side) =
            usual_end(&mut self.sockets, &mut self.connections, key)?;
        let lane = &connection.lanes[1 - side];
        if lane.unsent() > 0 || buffer.is_empty() {
            return None;
        }
        if lane.readable() == 0 {
            return self.wait_usual(kernel, key, cx, how);
        }
        if !kernel.passes(&entry.object, &mut entry.asked[0]) {
            return None;
        }
        let wanted = buffer.len().min(lane.readable());
        let bytes = self.shorts.shorten(kernel, connection, side, wanted);
        if let Some(history) = kernel.task_history() {
            *history = fold(*history, connection.ends[side].history);
        }
        let lane = &mut connection.lanes[1 - side];
        lane.take(&mut buffer[..bytes]);
        if bytes < buffer.len() {
            let closed = lane.fin == Fin::Arrived || connection.ends[side].phase == Phase::Gone;
            entry.ready[0] &= closed || lane.readable() > 0;
        }
        entry.done(kernel, OpKind::Recv, how.site);
        Some(Usual::Read(bytes))
    }

    fn wait_usual(
        &mut self,
        kernel: &mut Kernel,
        key: SocketKey,
        cx: &Context<'_>,
        how: &How<'_>,
    ) -> Option<Usual> {
        let (_, connection, _, side) = usual_end(&mut self.sockets, &mut self.connections, key)?;
        let (end, other) = (&connection.ends[side], connection.ends[1 - side].socket);
        let closed = connection.lanes[1 - side].fin == Fin::Arrived || end.phase == Phase::Gone;
        if closed || end.error.is_some() {
            return None;
        }
        let waker = storable(cx, &mut None)?;
        let party = other.and_then(|other| self.sockets.get(other)?.parties[1]);
        let entry = self.sockets.get_mut(key)?;
        if !kernel.passes(&entry.object, &mut entry.asked[0]) {
            return None;
        }
        entry.ready[0] = false;
        kernel.operate(&mut entry.object, OpKind::Read);
        let How { op, site, .. } = *how;
        let about = About { side: Side::Read, op, site, parties: party.as_slice() };
        let Entry { waits, object, .. } = entry;
        Some(Usual::Waits(waits.wait(kernel, object, Place::Poller, about, waker)))
    }

    /// Writes where there is room.
    #[inline]
    pub(super) fn write_usual(
        &mut self,
        kernel: &mut Kernel,
        key: SocketKey,
        how: &How<'_>,
        buffers: &[IoSlice<'_>],
    ) -> Option<usize> {
        let ([buffer], true) = (buffers, how.is_usual() && !self.unusual) else { return None };
        let (entry, connection, place, side) =
            usual_end(&mut self.sockets, &mut self.connections, key)?;
        let end = &connection.ends[side];
        let is_open = end.phase == Phase::Established && connection.lanes[side].fin == Fin::Open;
        let is_watched = end.error.is_some() || end.user_timeout.is_some();
        if !is_open || is_watched || !self.resets.is_never() || buffer.is_empty() {
            return None;
        }
        let (now, capacity) = (kernel.now(), end.send_capacity);
        let lane = &mut connection.lanes[side];
        lane.take_acks(now);
        let room = capacity.saturating_sub(lane.outstanding());
        if room == 0 || !kernel.passes(&entry.object, &mut entry.asked[1]) {
            return None;
        }
        let bytes = self.shorts.shorten(kernel, connection, side, buffer.len().min(room));
        let lane = &mut connection.lanes[side];
        lane.starved = bytes == room;
        lane.write(&buffer[..bytes]);
        if self.ways.send_all(kernel, (place, connection), side) && bytes == buffer.len() {
            entry.done(kernel, OpKind::Send, how.site);
            return Some(bytes);
        }
        self.write_rest(kernel, key, (place, side), bytes == buffer.len());
        self.sockets.get_mut(key)?.done(kernel, OpKind::Send, how.site);
        Some(bytes)
    }

    /// Something of what was written is left to be sent, or to be written.
    fn write_rest(
        &mut self,
        kernel: &mut Kernel,
        key: SocketKey,
        (place, side): (ConnectionKey, usize),
        is_whole: bool,
    ) {
        if self.connections.get(place).is_some_and(|c| !c.lanes[side].is_all_sent()) {
            self.expect_acks(kernel, place, side);
        }
        if !is_whole {
            let known: Result<(), Errno> = self.fell_short(key, Side::Write);
            known.expect("invariant: the socket was there");
        }
    }
}

/// The socket, and the connection of which it is an end.
#[inline(always)]
fn usual_end<'a>(
    sockets: &'a mut Table<Entry>,
    connections: &'a mut Table<Connection>,
    key: SocketKey,
) -> Option<(&'a mut Entry, &'a mut Connection, ConnectionKey, usize)> {
    let entry = sockets.get_mut(key)?;
    let State::Connection { key, side } = (match &entry.kind {
        SocketKind::Tcp(TcpSocket { state, .. }) if entry.owner.gone.is_none() => state,
        _ => return None,
    }) else {
        return None;
    };
    let (key, side) = (*key, *side);
    Some((entry, connections.get_mut(key)?, key, side))
}

impl Entry {
    /// An operation has been done.
    #[inline(always)]
    fn done(&mut self, kernel: &mut Kernel, op: OpKind, site: &'static Location<'static>) {
        self.note_done(kernel, op, if op == OpKind::Send { Side::Write } else { Side::Read }, site);
        kernel.spend_budget();
    }
}
