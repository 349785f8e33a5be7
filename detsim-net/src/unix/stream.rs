//! Local streams, and those who take them.
//!
//! Owns: [`Stream`], [`Listener`], and how one becomes of the other. Invariant: what waits in the queue of a
//! listener is a socket already, which is closed with the listener.

use std::collections::{BTreeSet, VecDeque};

use detsim_executor::{Kernel, NodeId, Object};

use super::{Channel, ChannelKey, Name, Type, Unix, Whom};
use crate::errno::{Errno, Result};
use crate::options::Options;
use crate::sockets::{SocketKey, SocketKind, World};
use crate::tcp::BACKLOG_MAX;
use crate::waits::Side;

/// One end of a local stream.
#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) read: ChannelKey,
    pub(crate) write: ChannelKey,
    pub(crate) local: Name,
    pub(crate) peer: Name,
}

/// Takes local streams.
#[derive(Debug)]
pub(crate) struct Listener {
    pub(crate) name: Name,
    pub(crate) queue: VecDeque<SocketKey>,
    pub(crate) backlog: usize,
    /// Who found the queue full, and may wait for room.
    pub(crate) waiting: BTreeSet<SocketKey>,
}

/// Linux's room in a local stream and in a pipe, in bytes.
const STREAM_CAPACITY: usize = 212_992;
const PIPE_CAPACITY: usize = 65_536;

impl World {
    /// Two sockets, connected.
    pub(crate) fn unix_pair(&mut self, kernel: &Kernel, objects: [Object; 2]) -> [SocketKey; 2] {
        let keys = objects.map(|object| self.open_unix(kernel, object));
        self.join(keys, [Name::default(), Name::default()]);
        keys
    }

    /// The two ends of a pipe: the writing one first.
    pub(crate) fn pipe(&mut self, kernel: &Kernel, objects: [Object; 2]) -> [SocketKey; 2] {
        let [sender, receiver] = objects.map(|object| self.open_unix(kernel, object));
        let channel = self.channels.insert(Channel::new(receiver, sender, PIPE_CAPACITY));
        for (key, unix) in [(sender, Unix::Sender(channel)), (receiver, Unix::Receiver(channel))] {
            if let Ok(entry) = self.entry_mut(key) {
                entry.kind = SocketKind::Unix(unix);
            }
        }
        [sender, receiver]
    }

    pub(crate) fn open_unix(&mut self, kernel: &Kernel, object: Object) -> SocketKey {
        let kind = SocketKind::Unix(Unix::Closed { name: Name::default() });
        self.open(kernel, kind, object, Options::default())
    }

    /// Makes two sockets the ends of one stream; each name is that of the end of its number.
    fn join(&mut self, [a, b]: [SocketKey; 2], [of_a, of_b]: [Name; 2]) {
        let there = self.channels.insert(Channel::new(b, a, STREAM_CAPACITY));
        let back = self.channels.insert(Channel::new(a, b, STREAM_CAPACITY));
        let first = Stream { read: back, write: there, local: of_a.clone(), peer: of_b.clone() };
        let second = Stream { read: there, write: back, local: of_b, peer: of_a };
        for (key, stream) in [(a, first), (b, second)] {
            if let Ok(entry) = self.entry_mut(key) {
                entry.kind = SocketKind::Unix(Unix::Stream(stream));
            }
        }
    }

    /// Takes streams from now on.
    pub(crate) fn unix_listen(&mut self, key: SocketKey, backlog: u32) -> Result<()> {
        let unix = self.unix_mut(key)?;
        let backlog = (backlog as usize).min(BACKLOG_MAX);
        if let Unix::Listener(listener) = unix {
            listener.backlog = backlog;
            return Ok(());
        }
        let name = match unix {
            Unix::Closed { name } => name,
            Unix::Datagrams(_) => return Err(Errno::NOT_SUPPORTED),
            _ => return Err(Errno::INVALID),
        };
        if name.is_none() {
            return Err(Errno::INVALID);
        }
        let name = std::mem::take(name);
        let (queue, waiting) = (VecDeque::new(), BTreeSet::new());
        *unix = Unix::Listener(Listener { name, queue, backlog, waiting });
        Ok(())
    }

    /// Connects to whoever listens under a name.
    ///
    /// # Errors
    /// EAGAIN while the listener's queue is full.
    pub(crate) fn unix_connect(
        &mut self,
        kernel: &mut Kernel,
        key: SocketKey,
        whom: &Whom,
        object: impl FnOnce() -> Object,
    ) -> Result<()> {
        let node = self.entry(key)?.node;
        let found = self.unix_names.find(node, whom, Type::Stream)?;
        let name = match self.unix_mut(found)? {
            Unix::Listener(listener) if listener.queue.len() > listener.backlog => {
                listener.waiting.insert(key);
                return Err(Errno::AGAIN);
            }
            Unix::Listener(listener) => listener.name.clone(),
            Unix::Datagrams(_) => return Err(Errno::WRONG_TYPE),
            _ => return Err(Errno::REFUSED),
        };
        let own = match self.unix(key)? {
            Unix::Closed { name } => name.clone(),
            Unix::Stream(_) => return Err(Errno::IS_CONNECTED),
            _ => return Err(Errno::INVALID),
        };
        let server = self.open_unix(kernel, object());
        self.set_node(server, node);
        self.join([key, server], [own, name]);
        if let Unix::Listener(listener) = self.unix_mut(found)? {
            listener.queue.push_back(server);
        }
        self.notify(kernel, found, Side::Read);
        Ok(())
    }

    /// Takes a stream, with the name of its peer.
    pub(crate) fn unix_accept(
        &mut self,
        kernel: &mut Kernel,
        key: SocketKey,
    ) -> Result<(SocketKey, Vec<u8>)> {
        let owner = self.entry(key)?.owner;
        let listener = match self.unix_mut(key)? {
            Unix::Listener(listener) => listener,
            Unix::Datagrams(_) => return Err(Errno::NOT_SUPPORTED),
            _ => return Err(Errno::INVALID),
        };
        let socket = listener.queue.pop_front().ok_or(Errno::AGAIN)?;
        let waiting = std::mem::take(&mut listener.waiting);
        let entry = self.entry_mut(socket)?;
        entry.owner = owner;
        entry.assume([true, true]);
        let peer = self.unix_peer(socket)?;
        self.notify_all(kernel, waiting);
        Ok((socket, peer))
    }

    /// There is room in a queue, or there will never be any: who waits to connect tries again.
    pub(super) fn notify_all(&mut self, kernel: &mut Kernel, waiting: BTreeSet<SocketKey>) {
        waiting.into_iter().for_each(|key| self.notify(kernel, key, Side::Write));
    }

    /// A stream that nobody has taken is closed with its listener: its other end is reset.
    pub(super) fn refuse_stream(&mut self, kernel: &mut Kernel, key: SocketKey) {
        if let Ok(&Unix::Stream(Stream { write, .. })) = self.unix(key)
            && let Some(channel) = self.channels.get_mut(write)
        {
            channel.error = Some(Errno::RESET);
        }
        self.close(kernel, key);
    }

    /// One end of a stream is closed; with bytes unread it resets the other.
    pub(crate) fn close_stream(&mut self, kernel: &mut Kernel, stream: Stream) {
        let unread = self.channels.get(stream.read).is_some_and(|channel| !channel.is_empty());
        if let Some(channel) = self.channels.get_mut(stream.write).filter(|_| unread) {
            channel.error = Some(Errno::RESET);
        }
        self.close_reader(kernel, stream.read);
        self.close_writer(kernel, stream.write);
    }

    fn set_node(&mut self, key: SocketKey, node: NodeId) {
        if let Ok(entry) = self.entry_mut(key) {
            entry.node = node;
        }
    }
}
