//! What calls that wait do on a connection where nothing is odd.
//!
//! Owns: reading bytes that are there, waiting for some, and writing where there is room, each with one
//! look at the socket and one at the connection. Does not own: anything else that such a call may
//! meet; those calls are `socket.rs` and `tcp/calls.rs`. Invariant: what is done here is to the last
//! bit what those would have done (`tests/it/usual.rs` has runs do without), and where they say `None`
//! nothing has been done.

use std::io::{self, IoSlice, IoSliceMut};
use std::panic::Location;
use std::task::{Context, Poll, Waker};

use detsim_executor::rng::fold;
use detsim_executor::{Kernel, OpKind, storable};

use super::{Entry, How, Socket, SocketKey, SocketKind, World};
use crate::errno::Errno;
use crate::table::Table;
use crate::tcp::connection::Phase;
use crate::tcp::lane::Fin;
use crate::tcp::{Connection, ConnectionKey, State, TcpSocket};
use crate::waits::{About, Place, Side};

impl Socket {
    /// Reads, waiting for something to read.
    ///
    /// # Errors
    /// ECONNRESET, ETIMEDOUT.
    pub fn poll_read(
        &self,
        cx: &mut Context<'_>,
        how: How<'_>,
        buffers: &mut [IoSliceMut<'_>],
    ) -> Poll<io::Result<usize>> {
        if let Some(mut section) = self.sockets.world.enter_own() {
            let (world, kernel) = section.both();
            match world.read_usual(kernel, self.key, cx, &how, buffers) {
                Some(Usual::Read(bytes)) => return Poll::Ready(Ok(bytes)),
                Some(Usual::Waits(None)) => return Poll::Pending,
                Some(Usual::Waits(old)) => {
                    section.into_in().dispose(old);
                    return Poll::Pending;
                }
                None => {}
            }
        }
        self.poll_read_long(cx, how, buffers)
    }

    #[inline(never)]
    fn poll_read_long(
        &self,
        cx: &mut Context<'_>,
        how: How<'_>,
        buffers: &mut [IoSliceMut<'_>],
    ) -> Poll<io::Result<usize>> {
        self.poll(cx, how, |world, kernel, key| {
            let read = world.read(kernel, key, buffers, false)?;
            if read > 0 && read < buffers.iter().map(|buffer| buffer.len()).sum() {
                world.fell_short(key, Side::Read)?;
            }
            Ok(read)
        })
    }

    /// Writes, waiting for room.
    ///
    /// # Errors
    /// EPIPE, ECONNRESET, ETIMEDOUT.
    pub fn poll_write(
        &self,
        cx: &mut Context<'_>,
        how: How<'_>,
        buffers: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if let Some(mut section) = self.sockets.world.enter_own() {
            let (world, kernel) = section.both();
            if let Some(written) = world.write_usual(kernel, self.key, &how, buffers) {
                world.arm(kernel);
                return Poll::Ready(Ok(written));
            }
        }
        self.poll_write_long(cx, how, buffers)
    }

    #[inline(never)]
    fn poll_write_long(
        &self,
        cx: &mut Context<'_>,
        how: How<'_>,
        buffers: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.poll(cx, how, |world, kernel, key| {
            let written = world.write(kernel, key, buffers)?;
            if written < buffers.iter().map(|buffer| buffer.len()).sum() {
                world.fell_short(key, Side::Write)?;
            }
            Ok(written)
        })
    }
}

/// What became of a read.
enum Usual {
    Read(usize),
    /// It waits; there may be a waker to dispose of.
    Waits(Option<Waker>),
}

impl World {
    /// Reads bytes that have arrived, or begins to wait for some.
    #[inline]
    fn read_usual(
        &mut self,
        kernel: &mut Kernel,
        key: SocketKey,
        cx: &Context<'_>,
        how: &How<'_>,
        buffers: &mut [IoSliceMut<'_>],
    ) -> Option<Usual> {
        let ([buffer], true) = (buffers, how.is_usual() && !self.unusual) else { return None };
        let Self { sockets, connections, shorts, .. } = self;
        let (entry, connection, _, side) = usual_end(sockets, connections, key)?;
        let lane = &connection.lanes[1 - side];
        if lane.unsent() > 0 || buffer.is_empty() {
            return None;
        }
        if lane.readable() == 0 {
            return wait_usual(sockets, (connection, side), kernel, key, cx, how);
        }
        if !kernel.passes(&entry.object, &mut entry.asked[0]) {
            return None;
        }
        let wanted = buffer.len().min(lane.readable());
        let bytes = shorts.shorten(kernel, connection, side, wanted);
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

    /// Writes where there is room.
    #[inline]
    fn write_usual(
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
        let (room, is_idle) = (capacity.saturating_sub(lane.outstanding()), lane.is_idle());
        if room == 0 || !kernel.passes(&entry.object, &mut entry.asked[1]) {
            return None;
        }
        let bytes = self.shorts.shorten(kernel, connection, side, buffer.len().min(room));
        let lane = &mut connection.lanes[side];
        lane.starved = bytes == room;
        lane.write(&buffer[..bytes]);
        let all_sent = is_idle
            && bytes < room
            && self.ways.send_whole(kernel, (place, &mut *connection), side, bytes);
        let all_sent = all_sent || self.ways.send_all(kernel, (place, connection), side);
        if all_sent && bytes == buffer.len() {
            entry.done(kernel, OpKind::Send, how.site);
            return Some(bytes);
        }
        self.write_rest(kernel, key, (place, side), bytes == buffer.len());
        self.sockets.get_mut(key)?.done(kernel, OpKind::Send, how.site);
        Some(bytes)
    }

    /// Something of what was written is left to be sent, or to be written.
    #[cold]
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

/// Begins to wait for bytes at an end of a connection.
#[inline(always)]
fn wait_usual(
    sockets: &mut Table<Entry>,
    (connection, side): (&Connection, usize),
    kernel: &mut Kernel,
    key: SocketKey,
    cx: &Context<'_>,
    how: &How<'_>,
) -> Option<Usual> {
    let (end, other) = (&connection.ends[side], connection.ends[1 - side].socket);
    let closed = connection.lanes[1 - side].fin == Fin::Arrived || end.phase == Phase::Gone;
    if closed || end.error.is_some() {
        return None;
    }
    let waker = storable(cx, &mut None)?;
    let party = other.and_then(|other| sockets.get(other)?.parties[1]);
    let Entry { waits, object, asked, ready, .. } = sockets.get_mut(key)?;
    if !kernel.passes(object, &mut asked[0]) {
        return None;
    }
    ready[0] = false;
    kernel.operate(object, OpKind::Read);
    let How { op, site, .. } = *how;
    let about = About { side: Side::Read, op, site, parties: party.as_slice() };
    Some(Usual::Waits(waits.wait(kernel, object, Place::Poller, about, waker)))
}

/// The socket, and the connection of which it is an end.
#[inline(always)]
fn usual_end<'s, 'c>(
    sockets: &'s mut Table<Entry>,
    connections: &'c mut Table<Connection>,
    key: SocketKey,
) -> Option<(&'s mut Entry, &'c mut Connection, ConnectionKey, usize)> {
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
