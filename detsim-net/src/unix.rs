//! Local sockets and pipes.
//!
//! Owns: what never leaves its node: streams between two sockets, listeners and datagrams by name, pipes.
//! The parts: `unix/channel.rs` (bytes one way), `unix/stream.rs` (two channels, and listeners),
//! `unix/datagram.rs`. Does not own: the file system. A name is free again when its socket is closed; no
//! file stands for it.
//!
//! # The model
//! Nothing takes time: what was written can be read, what was sent has arrived. Who closes with bytes
//! unread resets the stream. A node that stops takes its sockets and names along.

mod channel;
mod datagram;
mod stream;

use std::collections::BTreeMap;

use detsim_executor::{Kernel, NodeId};

pub(crate) use channel::Channel;
pub(crate) use datagram::Datagrams;
pub(crate) use stream::{Listener, Stream};

use crate::errno::{Errno, Result};
use crate::sockets::{SocketKey, SocketKind, World};
use crate::table::Key;
use crate::tcp::calls::Readiness;

/// The name of a local socket: a path, or, with a zero byte first, an abstract one; empty for none.
pub(crate) type Name = Vec<u8>;

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

/// Who has which name.
#[derive(Debug, Default)]
pub(crate) struct NameTable {
    bound: BTreeMap<(NodeId, Name), SocketKey>,
    /// Names of sockets that are closed: a file would still be there.
    stale: BTreeMap<NodeId, Vec<Name>>,
}

impl NameTable {
    /// Gives a name.
    pub(crate) fn bind(&mut self, node: NodeId, name: &Name, socket: SocketKey) -> Result<()> {
        let key = (node, name.clone());
        if name.is_empty() {
            return Err(Errno::INVALID);
        }
        if self.bound.contains_key(&key) {
            return Err(Errno::ADDRESS_IN_USE);
        }
        self.bound.insert(key, socket);
        if let Some(stale) = self.stale.get_mut(&node) {
            stale.retain(|old| old != name);
        }
        Ok(())
    }

    /// Takes a name back.
    pub(crate) fn unbind(&mut self, node: NodeId, name: Name) {
        if name.is_empty() || self.bound.remove(&(node, name.clone())).is_none() {
            return;
        }
        if name[0] != 0 {
            self.stale.entry(node).or_default().push(name);
        }
    }

    /// Who has a name.
    ///
    /// # Errors
    /// ENOENT for a path that nobody had, ECONNREFUSED for any other.
    pub(crate) fn find(&self, node: NodeId, name: &Name) -> Result<SocketKey> {
        if let Some(socket) = self.bound.get(&(node, name.clone())) {
            return Ok(*socket);
        }
        let is_abstract = name.first() == Some(&0);
        let stale = self.stale.get(&node).is_some_and(|stale| stale.contains(name));
        Err(if is_abstract || stale { Errno::REFUSED } else { Errno::NO_SUCH_FILE })
    }
}

impl World {
    /// Gives a local socket a name.
    pub(crate) fn unix_bind(&mut self, key: SocketKey, name: Name) -> Result<()> {
        let node = self.entry(key)?.node;
        if !self.unix_local(key)?.is_empty() {
            return Err(Errno::INVALID);
        }
        self.unix_names.bind(node, &name, key)?;
        match self.unix_mut(key)? {
            Unix::Closed { name: own } => *own = name,
            Unix::Datagrams(datagrams) => datagrams.name = name,
            _ => return Err(Errno::INVALID),
        }
        Ok(())
    }

    /// The name of a local socket.
    pub(crate) fn unix_local(&self, key: SocketKey) -> Result<Name> {
        Ok(match self.unix(key)? {
            Unix::Closed { name } => name.clone(),
            Unix::Stream(stream) => stream.local.clone(),
            Unix::Listener(listener) => listener.name.clone(),
            Unix::Datagrams(datagrams) => datagrams.name.clone(),
            Unix::Sender(_) | Unix::Receiver(_) => Name::new(),
        })
    }

    /// The name of its peer.
    pub(crate) fn unix_peer(&self, key: SocketKey) -> Result<Name> {
        match self.unix(key)? {
            Unix::Stream(stream) => Ok(stream.peer.clone()),
            Unix::Datagrams(datagrams) => match datagrams.peer {
                Some(peer) => self.unix_local(peer).or(Ok(Name::new())),
                None => Err(Errno::NOT_CONNECTED),
            },
            _ => Err(Errno::NOT_CONNECTED),
        }
    }

    /// What can be done with a local socket.
    pub(crate) fn unix_readiness(&self, key: SocketKey) -> Result<Readiness> {
        let idle = Readiness::default();
        Ok(match self.unix(key)? {
            Unix::Closed { .. } => Readiness { writable: true, ..idle },
            Unix::Stream(stream) => {
                let (reads, writes) = (self.reads(stream.read), self.writes(stream.write));
                Readiness { write_closed: writes.write_closed, writable: writes.writable, ..reads }
            }
            Unix::Listener(listener) => Readiness { readable: !listener.queue.is_empty(), ..idle },
            Unix::Datagrams(datagrams) => self.datagram_readiness(datagrams),
            Unix::Sender(channel) => self.writes(*channel),
            Unix::Receiver(channel) => self.reads(*channel),
        })
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
            Unix::Closed { name } => self.unix_names.unbind(node, name),
            Unix::Stream(stream) => self.close_stream(kernel, stream),
            Unix::Listener(listener) => {
                self.unix_names.unbind(node, listener.name);
                listener.queue.into_iter().for_each(|socket| self.refuse_stream(kernel, socket));
            }
            Unix::Datagrams(datagrams) => self.close_datagrams(kernel, key, node, datagrams),
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
