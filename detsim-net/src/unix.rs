//! Local sockets and pipes.
//!
//! Owns: what never leaves its node: streams between two sockets, listeners and datagrams by name, pipes.
//! The parts: `unix/name.rs` (names), `unix/channel.rs` (bytes one way), `unix/stream.rs` (two channels, and
//! listeners), `unix/datagram.rs`. Does not own: the file system, where names that are paths stand for files.
//!
//! # The model
//! Nothing takes time: what was written can be read, what was sent has arrived. Who closes with bytes
//! unread resets the stream. A node that stops takes its sockets and names along.

mod channel;
mod datagram;
mod name;
mod stream;

use detsim_executor::{Kernel, NodeId};

pub(crate) use channel::Channel;
pub(crate) use datagram::Datagrams;
pub use name::Whom;
pub(crate) use name::{Name, NameTable, Type};
pub(crate) use stream::{Listener, Stream};

use crate::errno::{Errno, Result};
use crate::sockets::{SocketKey, SocketKind, World};
use crate::table::Key;
use crate::tcp::calls::Readiness;

pub(crate) type ChannelKey = Key<Channel>;

/// A local socket.
#[derive(Debug)]
pub(crate) enum Unix {
    /// One that may become a stream or a listener.
    Closed {
        name: Name,
    },
    Stream(Stream),
    Listener(Listener),
    Datagrams(Datagrams),
    /// The writing end of a pipe.
    Sender(ChannelKey),
    /// The reading end of a pipe.
    Receiver(ChannelKey),
}

impl World {
    /// Gives a local socket a name: the path of a file, or an abstract one; an empty one means any that is free.
    ///
    /// # Errors
    /// EADDRINUSE; EINVAL for one that has a name, but where any would do.
    pub(crate) fn unix_bind(
        &mut self,
        key: SocketKey,
        shown: Vec<u8>,
        file: Option<u64>,
    ) -> Result<()> {
        let node = self.entry(key)?.node;
        let of = match self.unix(key)? {
            Unix::Datagrams(_) => Type::Datagram,
            _ => Type::Stream,
        };
        let name = match (self.unix_name(key)?.is_none(), shown.is_empty()) {
            (true, true) => self.unix_names.free(node, of),
            (true, false) => Name::new(shown, file),
            (false, true) => return Ok(()),
            (false, false) => return Err(Errno::INVALID),
        };
        self.unix_names.bind(node, &name, of, key)?;
        match self.unix_mut(key)? {
            Unix::Closed { name: own } => *own = name,
            Unix::Stream(stream) => stream.local = name,
            Unix::Datagrams(datagrams) => datagrams.name = name,
            _ => return Err(Errno::INVALID),
        }
        Ok(())
    }

    /// The name of a local socket.
    pub(crate) fn unix_local(&self, key: SocketKey) -> Result<Vec<u8>> {
        Ok(self.unix_name(key)?.shown.clone())
    }

    fn unix_name(&self, key: SocketKey) -> Result<&Name> {
        match self.unix(key)? {
            Unix::Closed { name } => Ok(name),
            Unix::Stream(stream) => Ok(&stream.local),
            Unix::Listener(listener) => Ok(&listener.name),
            Unix::Datagrams(datagrams) => Ok(&datagrams.name),
            Unix::Sender(_) | Unix::Receiver(_) => Err(Errno::NOT_A_SOCKET),
        }
    }

    /// The name of its peer.
    pub(crate) fn unix_peer(&self, key: SocketKey) -> Result<Vec<u8>> {
        match self.unix(key)? {
            Unix::Stream(stream) => Ok(stream.peer.shown.clone()),
            Unix::Datagrams(Datagrams { peer: Some(peer), .. }) => {
                self.unix_local(*peer).or(Ok(Vec::new()))
            }
            _ => Err(Errno::NOT_CONNECTED),
        }
    }

    /// What can be done with a local socket.
    pub(crate) fn unix_readiness(&self, key: SocketKey) -> Result<Readiness> {
        let idle = Readiness::default();
        Ok(match self.unix(key)? {
            Unix::Closed { .. } => {
                Readiness { writable: true, read_closed: true, write_closed: true, ..idle }
            }
            Unix::Stream(stream) => {
                let (reads, writes) = (self.reads(stream.read), self.writes(stream.write));
                // As long as it may be read, Linux does not say that it cannot be written.
                let write_closed = reads.read_closed && writes.write_closed;
                Readiness { write_closed, writable: writes.writable, ..reads }
            }
            Unix::Listener(listener) => Readiness { readable: !listener.queue.is_empty(), ..idle },
            Unix::Datagrams(datagrams) => self.datagram_readiness(key, datagrams),
            Unix::Sender(channel) => self.writes(*channel),
            Unix::Receiver(channel) => self.reads(*channel),
        })
    }

    /// Closes directions of a local socket: [read, write]. Of one that is not connected that says nothing.
    pub(crate) fn unix_shutdown(
        &mut self,
        kernel: &mut Kernel,
        key: SocketKey,
        shut: [bool; 2],
    ) -> Result<()> {
        match *self.unix(key)? {
            Unix::Stream(Stream { read, write, .. }) => {
                let ends = [read, write].into_iter().zip(shut).filter(|(_, shuts)| *shuts);
                ends.for_each(|(channel, _)| self.finish_channel(kernel, channel));
                Ok(())
            }
            Unix::Datagrams(_) => self.datagram_shutdown(kernel, key, shut),
            _ => Ok(()),
        }
    }

    /// A local socket is closed.
    pub(crate) fn unix_close(
        &mut self,
        kernel: &mut Kernel,
        key: SocketKey,
        node: NodeId,
        unix: Unix,
    ) {
        match unix {
            Unix::Closed { name } => self.unix_names.unbind(node, &name, Type::Stream, key),
            Unix::Stream(stream) => {
                self.unix_names.unbind(node, &stream.local, Type::Stream, key);
                self.close_stream(kernel, stream);
            }
            Unix::Listener(listener) => {
                self.unix_names.unbind(node, &listener.name, Type::Stream, key);
                self.notify_all(kernel, listener.waiting);
                listener.queue.into_iter().for_each(|socket| self.refuse_stream(kernel, socket));
            }
            Unix::Datagrams(datagrams) => self.close_datagrams(kernel, key, node, &datagrams),
            Unix::Sender(channel) => self.close_writer(kernel, channel),
            Unix::Receiver(channel) => self.close_reader(kernel, channel),
        }
    }

    pub(crate) fn unix(&self, key: SocketKey) -> Result<&Unix> {
        match &self.entry(key)?.kind {
            SocketKind::Unix(unix) => Ok(unix),
            _ => Err(Errno::NOT_SUPPORTED),
        }
    }

    pub(crate) fn unix_mut(&mut self, key: SocketKey) -> Result<&mut Unix> {
        match &mut self.entry_mut(key)?.kind {
            SocketKind::Unix(unix) => Ok(unix),
            _ => Err(Errno::NOT_SUPPORTED),
        }
    }
}
