//! Local datagrams.
//!
//! Owns: [`Datagrams`]. Invariants: nothing is lost and nothing overtakes; a queue that is full lets the
//! sender wait.

use std::collections::VecDeque;

use detsim_executor::rng::fold;
use detsim_executor::{Kernel, NodeId};

use super::{Name, Unix};
use crate::errno::{Errno, Result};
use crate::sockets::{SocketKey, SocketKind, World};
use crate::tcp::calls::Readiness;
use crate::waits::Side;

/// A local socket for datagrams.
#[derive(Debug, Default)]
pub(crate) struct Datagrams {
    pub(crate) name: Name,
    pub(crate) peer: Option<SocketKey>,
    pub(crate) queue: VecDeque<Message>,
    /// Which directions are closed: [read, write].
    pub(crate) shut: [bool; 2],
}

#[derive(Debug)]
pub(crate) struct Message {
    from: Name,
    data: Vec<u8>,
    history: u64,
}

impl Message {
    /// Its bytes.
    pub(crate) fn len(&self) -> usize {
        self.data.len()
    }
}

/// `net.unix.max_dgram_qlen`, and the most that one datagram carries.
const QUEUE_MAX: usize = 10;
const BYTES_MAX: usize = 212_960;

impl World {
    /// Sends a datagram, to the peer where no name is given.
    ///
    /// # Errors
    /// EAGAIN while the receiver's queue is full.
    pub(crate) fn datagram_send(
        &mut self,
        kernel: &mut Kernel,
        key: SocketKey,
        to: Option<&Name>,
        data: &[u8],
    ) -> Result<usize> {
        let node = self.entry(key)?.node;
        let Unix::Datagrams(own) = self.unix(key)? else { return Err(Errno::NOT_SUPPORTED) };
        if own.shut[1] {
            return Err(Errno::BROKEN_PIPE);
        }
        if data.len() > BYTES_MAX {
            return Err(Errno::MESSAGE_SIZE);
        }
        let from = own.name.clone();
        let receiver = match to {
            Some(name) => self.unix_names.find(node, name)?,
            None => own.peer.ok_or(Errno::NOT_CONNECTED)?,
        };
        let history = kernel.task_history().map_or(0, |history| *history);
        let Ok(Unix::Datagrams(receiver_state)) = self.unix_mut(receiver) else {
            return Err(if to.is_some() { Errno::WRONG_TYPE } else { Errno::REFUSED });
        };
        if receiver_state.shut[0] {
            return Err(Errno::BROKEN_PIPE);
        }
        if receiver_state.queue.len() > QUEUE_MAX {
            return Err(Errno::AGAIN);
        }
        receiver_state.queue.push_back(Message { from, data: data.to_vec(), history });
        self.notify(kernel, receiver, Side::Read);
        Ok(data.len())
    }

    /// Takes a datagram: how long it is, and who sent it.
    pub(crate) fn datagram_receive(
        &mut self,
        kernel: &mut Kernel,
        key: SocketKey,
        buffer: &mut [u8],
    ) -> Result<(usize, Name)> {
        let Unix::Datagrams(own) = self.unix_mut(key)? else { return Err(Errno::NOT_SUPPORTED) };
        let Some(message) = own.queue.pop_front() else {
            return if own.shut[0] { Ok((0, Name::new())) } else { Err(Errno::AGAIN) };
        };
        let len = message.data.len().min(buffer.len());
        buffer[..len].copy_from_slice(&message.data[..len]);
        if let Some(history) = kernel.task_history() {
            *history = fold(*history, message.history);
        }
        self.notify_datagrams(kernel);
        Ok((len, message.from))
    }

    /// From now on it talks to whoever has a name.
    pub(crate) fn datagram_connect(&mut self, key: SocketKey, name: &Name) -> Result<()> {
        let node = self.entry(key)?.node;
        let peer = self.unix_names.find(node, name)?;
        if !matches!(self.unix(peer)?, Unix::Datagrams(_)) {
            return Err(Errno::WRONG_TYPE);
        }
        self.set_datagram_peer(key, peer);
        Ok(())
    }

    pub(crate) fn set_datagram_peer(&mut self, key: SocketKey, peer: SocketKey) {
        if let Ok(Unix::Datagrams(own)) = self.unix_mut(key) {
            own.peer = Some(peer);
        }
    }

    /// Closes directions: [read, write].
    pub(crate) fn datagram_shutdown(
        &mut self,
        kernel: &mut Kernel,
        key: SocketKey,
        shut: [bool; 2],
    ) -> Result<()> {
        let Unix::Datagrams(own) = self.unix_mut(key)? else { return Err(Errno::NOT_SUPPORTED) };
        own.shut[0] |= shut[0];
        own.shut[1] |= shut[1];
        self.notify(kernel, key, Side::Either);
        Ok(())
    }

    pub(crate) fn datagram_readiness(&self, own: &Datagrams) -> Readiness {
        let room = own.peer.and_then(|peer| match self.unix(peer) {
            Ok(Unix::Datagrams(peer)) => Some(peer.queue.len() <= QUEUE_MAX),
            _ => None,
        });
        Readiness {
            readable: !own.queue.is_empty() || own.shut[0],
            writable: room.unwrap_or(true),
            read_closed: own.shut[0],
            write_closed: own.shut[1],
            ..Readiness::default()
        }
    }

    pub(crate) fn close_datagrams(
        &mut self,
        kernel: &mut Kernel,
        _key: SocketKey,
        node: NodeId,
        own: Datagrams,
    ) {
        self.unix_names.unbind(node, own.name);
        self.notify_datagrams(kernel);
    }

    /// There may be room again: who waits to send tries.
    fn notify_datagrams(&mut self, kernel: &mut Kernel) {
        let sends = |kind: &SocketKind| matches!(kind, SocketKind::Unix(Unix::Datagrams(_)));
        let senders = self.sockets.iter().filter(|(_, entry)| sends(&entry.kind));
        let senders: Vec<SocketKey> = senders.map(|(key, _)| key).collect();
        senders.into_iter().for_each(|key| self.notify(kernel, key, Side::Write));
    }
}
