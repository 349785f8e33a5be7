//! What a program does with a connection.
//!
//! Owns: reading, writing, closing one direction, readiness and the pending error. Does not own:
//! waiting. Invariants: an operation that cannot go on gives EAGAIN and changes nothing that a program can
//! see; a short read or write is a choice whose default is as much as there is, never made on loopback.

use std::io::{IoSlice, IoSliceMut};

use detsim_executor::event::{NetEvent, Wide};
use detsim_executor::{Anchor, Domain, Event, Families, Kernel, Ratio};

use super::connection::Phase;
use super::lane::Fin;
use super::{Connection, ConnectionKey, State};
use crate::errno::{Errno, Result};
use crate::sockets::{SocketKey, World};

/// What can be done with a socket, as `poll` would say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Readiness {
    /// A read would not wait.
    pub readable: bool,
    /// A write would not wait.
    pub writable: bool,
    /// Nothing more will come.
    pub read_closed: bool,
    /// Nothing more can be written.
    pub write_closed: bool,
    /// There is an urgent byte to take.
    pub urgent: bool,
    /// There is an error to take.
    pub error: bool,
}

impl World {
    /// Has the connect ended, and well?
    pub(crate) fn tcp_connected(&mut self, key: SocketKey) -> Result<()> {
        let (connection, side) = self.end_of(key)?;
        let end = &mut self.connection_mut(connection)?.ends[side];
        match (end.phase, end.error.take()) {
            (_, Some(error)) => Err(error),
            (Phase::SynSent | Phase::SynReceived, None) => Err(Errno::AGAIN),
            _ => Ok(()),
        }
    }

    /// Reads into buffers, one after the other.
    pub(crate) fn tcp_read(
        &mut self,
        kernel: &mut Kernel,
        key: SocketKey,
        buffers: &mut [IoSliceMut<'_>],
        peeks: bool,
    ) -> Result<usize> {
        let (key, side) = self.end_of(key)?;
        let connection = self.connections.get_mut(key).ok_or(Errno::BAD_FILE)?;
        let readable = connection.lanes[1 - side].readable();
        // Linux lets even a read of no bytes wait for some.
        if readable == 0 {
            return connection.read_nothing(side);
        }
        let wanted: usize = buffers.iter().map(|buffer| buffer.len()).sum();
        let bytes = self.shorts.shorten(kernel, connection, side, wanted.min(readable));
        if let Some(history) = kernel.task_history() {
            *history = detsim_executor::rng::fold(*history, connection.ends[side].history);
        }
        let lane = &mut connection.lanes[1 - side];
        match (buffers, peeks) {
            ([buffer], false) => lane.take(&mut buffer[..bytes]),
            (buffers, _) => {
                let mut done = 0;
                for buffer in buffers {
                    let len = buffer.len().min(bytes - done);
                    done += lane.peek(done, &mut buffer[..len]);
                }
                if peeks {
                    return Ok(bytes);
                }
                lane.consume(bytes);
            }
        }
        if lane.unsent() > 0 {
            self.update_window(kernel, key, 1 - side);
        }
        Ok(bytes)
    }

    /// Writes from buffers, one after the other.
    pub(crate) fn tcp_write(
        &mut self,
        kernel: &mut Kernel,
        key: SocketKey,
        buffers: &[IoSlice<'_>],
    ) -> Result<usize> {
        let offered: usize = buffers.iter().map(|buffer| buffer.len()).sum();
        let (key, side) = self.end_of(key)?;
        let connection = self.connections.get_mut(key).ok_or(Errno::BAD_FILE)?;
        let room = connection.room(kernel, side)?;
        if room == 0 && offered > 0 {
            connection.lanes[side].starved = true;
            self.expect_acks(kernel, key, side);
            return Err(Errno::AGAIN);
        }
        let bytes = self.shorts.shorten(kernel, connection, side, offered.min(room));
        let lane = &mut connection.lanes[side];
        lane.starved = bytes == room;
        let mut left = bytes;
        for buffer in buffers {
            let len = buffer.len().min(left);
            lane.write(&buffer[..len]);
            left -= len;
        }
        self.transmit(kernel, key, side);
        Ok(bytes)
    }

    /// Says that nothing more will be written.
    pub(crate) fn tcp_shutdown(&mut self, kernel: &mut Kernel, key: SocketKey) -> Result<()> {
        let (key, side) = self.end_of(key)?;
        match self.connection(key)?.ends[side].phase {
            Phase::Established => self.finish(kernel, key, side),
            Phase::SynSent | Phase::SynReceived => return Err(Errno::NOT_CONNECTED),
            // tokio passes over what Linux says of a connection that is no more.
            Phase::Gone => {}
        }
        Ok(())
    }

    /// The error that is pending, taken.
    pub(crate) fn tcp_error(&mut self, key: SocketKey) -> Result<Option<Errno>> {
        match self.end_of(key) {
            Ok((connection, side)) => Ok(self.connection_mut(connection)?.ends[side].error.take()),
            Err(Errno::NOT_CONNECTED) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// What can be done with a socket of TCP.
    pub(crate) fn tcp_readiness(&self, key: SocketKey) -> Result<Readiness> {
        match &self.tcp(key)?.state {
            State::Closed { .. } => Ok(Readiness { writable: true, ..Readiness::default() }),
            State::Listening(listener) => {
                Ok(Readiness { readable: !listener.queue.is_empty(), ..Readiness::default() })
            }
            State::Connection { key, side } => Ok(self.connection(*key)?.readiness(*side)),
        }
    }

    /// Sends what waited for company.
    pub(crate) fn tcp_options_changed(&mut self, kernel: &mut Kernel, key: SocketKey) {
        let Ok((connection, side)) = self.end_of(key) else { return };
        let Ok(options) = self.entry(key).map(|entry| entry.options.clone()) else { return };
        if let Ok(connection) = self.connection_mut(connection) {
            connection.ends[side].configure(&options);
        }
        self.watch_peer(kernel, connection, side);
        self.transmit(kernel, connection, side);
    }

    /// The end of a connection that a socket is.
    pub(crate) fn end_of(&self, key: SocketKey) -> Result<(ConnectionKey, usize)> {
        match self.tcp(key)?.state {
            State::Connection { key, side } => Ok((key, side)),
            _ => Err(Errno::NOT_CONNECTED),
        }
    }

    pub(crate) fn connection(&self, key: ConnectionKey) -> Result<&Connection> {
        self.connections.get(key).ok_or(Errno::BAD_FILE)
    }

    pub(crate) fn connection_mut(&mut self, key: ConnectionKey) -> Result<&mut Connection> {
        self.connections.get_mut(key).ok_or(Errno::BAD_FILE)
    }
}

/// Reads and writes that are short by choice.
///
/// # Invariants
/// Where `is_drawn` is false, `rate` is not 0.
#[derive(Debug)]
pub(crate) struct Shorts {
    domain: Option<Domain>,
    /// How often a read or a write is.
    rate: Ratio,
    /// Nobody has said how often, and the seed has not been asked.
    is_drawn: bool,
}

/// How often they are where nobody says how often, as the seed has it.
const SEEDED: [Ratio; 4] =
    [Ratio::new(1, 256), Ratio::new(1, 64), Ratio::new(1, 16), Ratio::new(1, 4)];

impl Default for Shorts {
    fn default() -> Self {
        Self { domain: None, rate: SEEDED[0], is_drawn: false }
    }
}

impl Shorts {
    /// From now on they are so often, or as often as the seed has it.
    pub(crate) fn set(&mut self, rate: Option<Ratio>) {
        *self = Self { rate: rate.unwrap_or(SEEDED[0]), is_drawn: rate.is_some(), ..*self };
    }

    /// Asks the seed how often, where nobody has said so. The same again, however often it is asked.
    #[cold]
    fn begin(&mut self, kernel: &mut Kernel) -> Domain {
        if !self.is_drawn {
            let mut family = Families::of(kernel.choices(), "env/net/short-calls");
            self.rate = SEEDED[family.below("rate", SEEDED.len() as u64) as usize];
            self.is_drawn = true;
        }
        *self.domain.get_or_insert_with(|| kernel.choices().domain("net/short"))
    }

    /// How many of `bytes` are read or written at once.
    #[inline(always)]
    pub(crate) fn shorten(
        &mut self,
        kernel: &mut Kernel,
        connection: &mut Connection,
        side: usize,
        bytes: usize,
    ) -> usize {
        match bytes < 2 || self.rate.is_never() {
            true => bytes,
            false => self.draw(kernel, connection, side, bytes),
        }
    }

    #[inline(never)]
    fn draw(
        &mut self,
        kernel: &mut Kernel,
        connection: &mut Connection,
        side: usize,
        bytes: usize,
    ) -> usize {
        if connection.ends[0].node == connection.ends[1].node {
            return bytes;
        }
        let domain = match self.domain {
            Some(domain) if self.is_drawn => domain,
            _ => self.begin(kernel),
        };
        connection.draws = connection.draws.wrapping_add(1);
        let anchor = Anchor { actor: connection.sig, ordinal: connection.draws };
        let less = kernel.choices().draw_rarely(domain, anchor, self.rate, bytes as u64) as usize;
        if less > 0 {
            let (node, bytes) = (connection.ends[side].node, Wide::new((bytes - less) as u64));
            kernel.record_with(|_| Event::Net(NetEvent::Shortened { node, bytes }));
        }
        bytes - less
    }
}

impl Connection {
    /// There are no bytes: is there an end, or an error?
    fn read_nothing(&mut self, side: usize) -> Result<usize> {
        let end = &mut self.ends[side];
        if self.lanes[1 - side].fin == Fin::Arrived {
            return Ok(0);
        }
        match (end.phase, end.error.take()) {
            (_, Some(error)) => Err(error),
            (Phase::Gone, None) => Ok(0),
            _ => Err(Errno::AGAIN),
        }
    }

    /// How many bytes end `side` may write.
    pub(super) fn room(&mut self, kernel: &Kernel, side: usize) -> Result<usize> {
        let (end, lane) = (&mut self.ends[side], &mut self.lanes[side]);
        match (end.phase, end.error.take()) {
            (_, Some(error)) => return Err(error),
            (Phase::SynSent | Phase::SynReceived, None) => return Err(Errno::AGAIN),
            (Phase::Gone, None) => return Err(Errno::BROKEN_PIPE),
            (Phase::Established, None) if lane.fin != Fin::Open => {
                return Err(Errno::BROKEN_PIPE);
            }
            (Phase::Established, None) => {}
        }
        lane.take_acks(kernel.now());
        Ok(end.send_capacity.saturating_sub(lane.outstanding()))
    }

    fn readiness(&self, side: usize) -> Readiness {
        let (end, lane) = (&self.ends[side], &self.lanes[side]);
        let incoming = &self.lanes[1 - side];
        let gone = end.phase == Phase::Gone;
        let read_closed = incoming.fin == Fin::Arrived || gone;
        let room = lane.outstanding() < end.send_capacity && !lane.starved;
        Readiness {
            readable: incoming.readable() > 0 || read_closed,
            writable: gone || (end.phase == Phase::Established && room) || lane.fin != Fin::Open,
            read_closed,
            write_closed: gone || (read_closed && lane.fin != Fin::Open),
            urgent: end.urgent.is_some(),
            error: end.error.is_some(),
        }
    }
}
