//! What calls that wait do on a connection where nothing is odd.
//!
//! Owns: reading bytes that are there, waiting for some, and writing where there is room, each with one
//! look at the socket and one at the connection. Does not own: anything else that such a call may
//! meet; those calls are `socket.rs` and `tcp/calls.rs`. Invariant: what is done here is to the last
//! bit what those would have done (`tests/it/usual.rs` has runs do without), and where they say `None`
//! nothing has been done.

use std::io::{self, IoSlice, IoSliceMut};
use std::panic::Location;
use std::task::{Context, Poll};

use detsim_executor::{Kernel, OpKind, storable};

use super::{Entry, How, Socket, SocketKey, SocketKind, World};
use crate::table::Table;
use crate::tcp::connection::Phase;
use crate::tcp::lane::Fin;
use crate::tcp::{Connection, ConnectionKey, State, TcpSocket};
use crate::waits::Side;

type Site = &'static Location<'static>;

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
        match buffers {
            [buffer] if how.is_usual() => self.poll_read_one(cx, how.site, buffer),
            _ => self.poll_read_long(cx, how, buffers),
        }
    }

    /// As [`Self::poll_read`], as whoever polls at this line, into one buffer.
    ///
    /// # Errors
    /// As [`Self::poll_read`].
    pub fn poll_read_one(
        &self,
        cx: &mut Context<'_>,
        site: Site,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        match self.read_at_once(cx, site, buffer) {
            Some(read) => read.map(Ok),
            None => {
                let how = How::poller_at(OpKind::Recv, site);
                self.poll_read_long(cx, how, &mut [IoSliceMut::new(buffer)])
            }
        }
    }

    /// As [`Self::poll_read_one`] where nothing is odd; `None`, and nothing has been done, where something is.
    #[inline(never)]
    pub fn read_at_once(
        &self,
        cx: &Context<'_>,
        site: Site,
        buffer: &mut [u8],
    ) -> Option<Poll<usize>> {
        let mut section = self.sockets.world.enter_own()?;
        let (world, kernel) = section.both();
        world.read_usual(kernel, self.key, cx, site, buffer)
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
        match buffers {
            [buffer] if how.is_usual() => self.poll_write_one(cx, how.site, buffer),
            _ => self.poll_write_long(cx, how, buffers),
        }
    }

    /// As [`Self::poll_write`], as whoever polls at this line, from one buffer.
    ///
    /// # Errors
    /// As [`Self::poll_write`].
    pub fn poll_write_one(
        &self,
        cx: &mut Context<'_>,
        site: Site,
        buffer: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.write_at_once(site, buffer) {
            Some(written) => Poll::Ready(Ok(written)),
            None => {
                let how = How::poller_at(OpKind::Send, site);
                self.poll_write_long(cx, how, &[IoSlice::new(buffer)])
            }
        }
    }

    /// As [`Self::poll_write_one`] where nothing is odd; `None`, and nothing has been done, where something is.
    #[inline(never)]
    pub fn write_at_once(&self, site: Site, buffer: &[u8]) -> Option<usize> {
        let mut section = self.sockets.world.enter_own()?;
        let (world, kernel) = section.both();
        let written = world.write_usual(kernel, self.key, site, buffer)?;
        world.arm(kernel);
        Some(written)
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

impl World {
    /// Reads bytes that have arrived, or begins to wait for some.
    #[inline]
    fn read_usual(
        &mut self,
        kernel: &mut Kernel,
        key: SocketKey,
        cx: &Context<'_>,
        site: Site,
        buffer: &mut [u8],
    ) -> Option<Poll<usize>> {
        let Self { sockets, connections, shorts, .. } = self;
        let (entry, connection, _, side) = usual_end(sockets, connections, key)?;
        let (end, _, _, lane) = connection.seen_from(side);
        if self.unusual || buffer.is_empty() {
            return None;
        }
        let closed = lane.fin == Fin::Arrived || end.phase == Phase::Gone;
        let (readable, history) = (lane.readable(), end.history);
        if readable == 0 {
            let waits = !closed && end.error.is_none() && entry.waits_usually(kernel, cx, site);
            return waits.then_some(Poll::Pending);
        }
        if !kernel.receives_at_once(&mut entry.object, OpKind::Recv, &mut entry.asked[0], history) {
            return None;
        }
        let bytes = shorts.shorten(kernel, connection, side, buffer.len().min(readable));
        let (_, _, _, lane) = connection.seen_from(side);
        lane.take(&mut buffer[..bytes]);
        if bytes < buffer.len() {
            entry.ready[0] &= closed || bytes < readable;
        }
        let waits = lane.unsent() > 0;
        if entry.note_use(kernel, Side::Read, site) {
            self.tell_peer(kernel, key, Side::Read);
        }
        if waits {
            self.made_room(kernel, key);
        }
        Some(Poll::Ready(bytes))
    }

    /// Somebody waits for the room that a read has made.
    #[inline(never)]
    fn made_room(&mut self, kernel: &mut Kernel, key: SocketKey) {
        if let Ok((connection, side)) = self.end_of(key) {
            self.update_window(kernel, connection, 1 - side);
            self.arm(kernel);
        }
    }

    /// Writes where there is room.
    #[inline]
    fn write_usual(
        &mut self,
        kernel: &mut Kernel,
        key: SocketKey,
        site: Site,
        buffer: &[u8],
    ) -> Option<usize> {
        let Self { sockets, connections, shorts, ways, .. } = self;
        let (entry, connection, place, side) = usual_end(sockets, connections, key)?;
        let (end, _, lane, _) = connection.seen_from(side);
        let is_open = end.phase == Phase::Established && lane.fin == Fin::Open;
        let is_watched = end.error.is_some() || end.user_timeout.is_some() || kernel.is_recorded();
        let is_odd = self.unusual || !self.resets.is_never() || buffer.is_empty();
        if !is_open || is_watched || is_odd {
            return None;
        }
        lane.take_acks(kernel.now());
        let room = end.send_capacity.saturating_sub(lane.outstanding());
        if room == 0 || !kernel.passes(&entry.object, &mut entry.asked[1]) {
            return None;
        }
        let is_idle = lane.is_idle();
        let bytes = shorts.shorten(kernel, connection, side, buffer.len().min(room));
        let (_, _, lane, _) = connection.seen_from(side);
        lane.starved = bytes == room;
        lane.write(&buffer[..bytes]);
        let object = &mut entry.object;
        let is_sent = is_idle
            && bytes < room
            && ways.send_whole(kernel, (place, &mut *connection), side, (object, bytes));
        let is_new = entry.note_use(kernel, Side::Write, site);
        if !is_sent {
            self.write_odd(kernel, key, (place, side));
        }
        if bytes < buffer.len() {
            self.fell_short(key, Side::Write).ok()?;
        }
        if is_new {
            self.tell_peer(kernel, key, Side::Write);
        }
        Some(bytes)
    }

    /// Sends what was written where that is not one segment, all of what there is.
    #[inline(never)]
    fn write_odd(
        &mut self,
        kernel: &mut Kernel,
        key: SocketKey,
        (place, side): (ConnectionKey, usize),
    ) {
        if let Some(connection) = self.connections.get_mut(place)
            && !self.ways.send_all(kernel, (place, connection), side)
        {
            self.expect_acks(kernel, place, side);
        }
        if let Some(entry) = self.sockets.get_mut(key) {
            kernel.operate(&mut entry.object, OpKind::Send);
            kernel.spend_budget();
        }
    }
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
        SocketKind::Tcp(TcpSocket { state, .. }) if entry.is_usual() => state,
        _ => return None,
    }) else {
        return None;
    };
    let (key, side) = (*key, *side);
    Some((entry, connections.get_mut(key)?, key, side))
}

impl Entry {
    /// Is there somebody to wait for it, and nothing that is yet to be told?
    #[inline(always)]
    fn is_usual(&self) -> bool {
        self.owner.gone.is_none() && !self.untold.is_any()
    }

    /// Begins to wait for bytes as the last time. False, and nothing has been done, where that is not how.
    #[inline(always)]
    fn waits_usually(&mut self, kernel: &mut Kernel, cx: &Context<'_>, site: Site) -> bool {
        let Self { waits, object, asked, ready, .. } = self;
        if !waits.is_known(Side::Read) {
            return false;
        }
        let Some(waker) = storable(cx, &mut None) else { return false };
        if !kernel.waits_at_once(object, OpKind::Read, &mut asked[0]) {
            return false;
        }
        ready[0] = false;
        waits.wait_as_before(kernel, object, (OpKind::Recv, site), waker);
        true
    }
}
