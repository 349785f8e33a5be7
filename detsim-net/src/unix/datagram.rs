//! Local datagrams.
//!
//! Owns: [`Datagrams`]. Invariants: nothing is lost and nothing overtakes; where a queue is full, or too much
//! of a sender's is unread, the sender waits.

use std::collections::{BTreeSet, VecDeque};

use detsim_executor::rng::fold;
use detsim_executor::{Kernel, NodeId};

use super::{Name, Type, Unix, Whom};
use crate::errno::{Errno, Result};
use crate::sockets::{SocketKey, World};
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
    /// What it has sent and nobody has read, as memory is counted.
    unread_bytes: usize,
    error: Option<Errno>,
    /// Who may wait for room in the queue: those that are connected to it, and those that found it full.
    senders: BTreeSet<SocketKey>,
}

#[derive(Debug)]
pub(crate) struct Message {
    sender: SocketKey,
    from: Vec<u8>,
    data: Vec<u8>,
    history: u64,
}

impl Message {
    /// Its bytes.
    pub(crate) fn len(&self) -> usize {
        self.data.len()
    }

    /// How much memory it is counted as: a header, and a block of a power of two that its bytes fit in.
    fn cost(&self) -> usize {
        const HEADER: usize = 256;
        const TAIL: usize = 320;
        HEADER + (self.data.len() + TAIL).next_power_of_two()
    }
}

/// `net.unix.max_dgram_qlen`, the memory that one sender's datagrams may take, and the most that one carries.
const QUEUE_MAX: usize = 10;
const UNREAD_BYTES_MAX: usize = 212_992;
const BYTES_MAX: usize = UNREAD_BYTES_MAX - 32;

impl Datagrams {
    /// Takes the error that is pending.
    pub(crate) fn take_error(&mut self) -> Option<Errno> {
        self.error.take()
    }

    fn may_hear(&self, sender: SocketKey) -> bool {
        self.peer.is_none_or(|peer| peer == sender)
    }

    /// A queue is full for all but those that it is connected to.
    fn is_full_for(&self, sender: SocketKey) -> bool {
        self.queue.len() > QUEUE_MAX && self.peer != Some(sender)
    }
}

impl World {
    fn datagrams(&self, key: SocketKey) -> Result<&Datagrams> {
        match self.unix(key)? {
            Unix::Datagrams(datagrams) => Ok(datagrams),
            _ => Err(Errno::NOT_SUPPORTED),
        }
    }

    fn datagrams_mut(&mut self, key: SocketKey) -> Result<&mut Datagrams> {
        match self.unix_mut(key)? {
            Unix::Datagrams(datagrams) => Ok(datagrams),
            _ => Err(Errno::NOT_SUPPORTED),
        }
    }

    /// Sends a datagram, to the peer where nobody is named.
    ///
    /// # Errors
    /// EAGAIN while the receiver's queue is full.
    pub(crate) fn datagram_send(
        &mut self,
        kernel: &mut Kernel,
        key: SocketKey,
        to: Option<&Whom>,
        data: &[u8],
    ) -> Result<usize> {
        let own = self.datagrams_mut(key)?;
        if to.is_none() && own.peer.is_none() {
            return Err(Errno::NOT_CONNECTED);
        }
        if data.len() > BYTES_MAX {
            return Err(Errno::MESSAGE_SIZE);
        }
        if let Some(error) = own.take_error() {
            return Err(error);
        }
        if own.shut[1] {
            return Err(Errno::BROKEN_PIPE);
        }
        if own.unread_bytes >= UNREAD_BYTES_MAX {
            return Err(Errno::AGAIN);
        }
        let from = own.name.shown.clone();
        let receiver = self.receiver_of(key, to)?;
        let state = self.datagrams(receiver)?;
        if !state.may_hear(key) {
            return Err(Errno::NOT_PERMITTED);
        }
        if state.shut[0] {
            return Err(Errno::BROKEN_PIPE);
        }
        if receiver != key && state.is_full_for(key) {
            self.datagrams_mut(receiver)?.senders.insert(key);
            return Err(Errno::AGAIN);
        }
        let history = kernel.task_history().map_or(0, |history| *history);
        let message = Message { sender: key, from, data: data.to_vec(), history };
        self.datagrams_mut(key)?.unread_bytes += message.cost();
        self.datagrams_mut(receiver)?.queue.push_back(message);
        self.notify(kernel, receiver, Side::Read);
        Ok(data.len())
    }

    /// Who is to hear it; a peer that is gone is told once, and then is no peer any more.
    fn receiver_of(&mut self, key: SocketKey, to: Option<&Whom>) -> Result<SocketKey> {
        if let Some(whom) = to {
            return self.datagram_named(key, whom);
        }
        let peer = self.datagrams(key)?.peer.ok_or(Errno::NOT_CONNECTED)?;
        if self.entry(peer).is_err() {
            self.datagrams_mut(key)?.peer = None;
            return Err(Errno::REFUSED);
        }
        Ok(peer)
    }

    fn datagram_named(&self, key: SocketKey, whom: &Whom) -> Result<SocketKey> {
        let found = self.unix_names.find(self.entry(key)?.node, whom, Type::Datagram)?;
        self.datagrams(found).map_err(|_| Errno::WRONG_TYPE)?;
        Ok(found)
    }

    /// Takes a datagram, or looks at it: how long it is, whatever there is room for, and who sent it.
    pub(crate) fn datagram_receive(
        &mut self,
        kernel: &mut Kernel,
        key: SocketKey,
        buffer: &mut [u8],
        peeks: bool,
    ) -> Result<(usize, Vec<u8>)> {
        let own = self.datagrams_mut(key)?;
        if let Some(error) = own.take_error() {
            return Err(error);
        }
        let message = own.queue.front().ok_or(Errno::AGAIN)?;
        let fits = message.len().min(buffer.len());
        buffer[..fits].copy_from_slice(&message.data[..fits]);
        if let Some(history) = kernel.task_history() {
            *history = fold(*history, message.history);
        }
        let received = (message.len(), message.from.clone());
        if !peeks {
            self.take_datagram(kernel, key);
        }
        Ok(received)
    }

    fn take_datagram(&mut self, kernel: &mut Kernel, key: SocketKey) {
        let Ok(own) = self.datagrams_mut(key) else { return };
        let was_full = own.queue.len() > QUEUE_MAX;
        let Some(message) = own.queue.pop_front() else { return };
        self.give_back(kernel, &message);
        if was_full {
            self.notify_senders(kernel, key);
        }
    }

    /// What a datagram took of its sender's memory is free again.
    fn give_back(&mut self, kernel: &mut Kernel, message: &Message) {
        if let Ok(sender) = self.datagrams_mut(message.sender) {
            sender.unread_bytes -= message.cost();
            self.notify(kernel, message.sender, Side::Write);
        }
    }

    /// From now on it talks to whoever is named, or to nobody.
    pub(crate) fn datagram_connect(
        &mut self,
        kernel: &mut Kernel,
        key: SocketKey,
        whom: Option<&Whom>,
    ) -> Result<()> {
        let peer = match whom {
            None => None,
            Some(whom) => {
                let peer = self.datagram_named(key, whom)?;
                if !self.datagrams(peer)?.may_hear(key) {
                    return Err(Errno::NOT_PERMITTED);
                }
                Some(peer)
            }
        };
        let old = std::mem::replace(&mut self.datagrams_mut(key)?.peer, peer);
        self.leave_senders(old, key);
        if let Some(peer) = peer {
            self.datagrams_mut(peer)?.senders.insert(key);
        }
        if let Some(old) = old.filter(|old| Some(*old) != peer) {
            self.part_from(kernel, key, old);
        }
        Ok(())
    }

    /// What the old peer has said is not heard any more, and it is told.
    fn part_from(&mut self, kernel: &mut Kernel, key: SocketKey, old: SocketKey) {
        let Ok(own) = self.datagrams_mut(key) else { return };
        let unheard = std::mem::take(&mut own.queue);
        for message in &unheard {
            self.give_back(kernel, message);
        }
        if unheard.is_empty() {
            return;
        }
        self.notify_senders(kernel, key);
        if let Ok(old_state) = self.datagrams_mut(old)
            && old_state.peer == Some(key)
        {
            old_state.error = Some(Errno::RESET);
            self.notify(kernel, old, Side::Either);
        }
    }

    pub(crate) fn set_datagram_peer(&mut self, key: SocketKey, peer: SocketKey) {
        if let Ok(own) = self.datagrams_mut(key) {
            own.peer = Some(peer);
        }
        if let Ok(peer) = self.datagrams_mut(peer) {
            peer.senders.insert(key);
        }
    }

    /// One of those that were connected to a socket is so no more.
    fn leave_senders(&mut self, of: Option<SocketKey>, key: SocketKey) {
        if let Some(Ok(of)) = of.map(|of| self.datagrams_mut(of)) {
            of.senders.remove(&key);
        }
    }

    /// Closes directions: [read, write].
    pub(crate) fn datagram_shutdown(
        &mut self,
        kernel: &mut Kernel,
        key: SocketKey,
        shut: [bool; 2],
    ) -> Result<()> {
        let own = self.datagrams_mut(key)?;
        own.shut[0] |= shut[0];
        own.shut[1] |= shut[1];
        self.notify(kernel, key, Side::Either);
        Ok(())
    }

    pub(crate) fn datagram_readiness(&self, key: SocketKey, own: &Datagrams) -> Readiness {
        let peer = own.peer.and_then(|peer| self.datagrams(peer).ok());
        let room = peer.is_none_or(|peer| !peer.is_full_for(key));
        Readiness {
            readable: !own.queue.is_empty() || own.shut[0],
            writable: room && own.unread_bytes < UNREAD_BYTES_MAX,
            read_closed: own.shut[0],
            write_closed: own.shut == [true; 2],
            error: own.error.is_some(),
            ..Readiness::default()
        }
    }

    pub(crate) fn close_datagrams(
        &mut self,
        kernel: &mut Kernel,
        key: SocketKey,
        node: NodeId,
        own: &Datagrams,
    ) {
        self.unix_names.unbind(node, &own.name, Type::Datagram, key);
        for message in &own.queue {
            self.give_back(kernel, message);
        }
        self.leave_senders(own.peer, key);
        for sender in &own.senders {
            self.notify(kernel, *sender, Side::Write);
        }
    }

    /// There may be room again: who waits to send tries, and says so again where there is none.
    fn notify_senders(&mut self, kernel: &mut Kernel, key: SocketKey) {
        let Ok(own) = self.datagrams_mut(key) else { return };
        let senders = std::mem::take(&mut own.senders);
        let connected = |sender: &SocketKey| {
            self.datagrams(*sender).is_ok_and(|sender| sender.peer == Some(key))
        };
        let kept = senders.iter().copied().filter(connected).collect();
        if let Ok(own) = self.datagrams_mut(key) {
            own.senders = kept;
        }
        for sender in senders {
            self.notify(kernel, sender, Side::Write);
        }
    }
}
