//! From a connect to an accept.
//!
//! Owns: SYN, the answer to it, and the queue of a listener. Does not own: what comes after.
//! Invariants: a connection is complete at the client when the answer is there, at the server when the
//! client's acknowledgement or first segment is; only then it is in the queue; queue and half-open
//! connections together are bounded by the backlog and one; a SYN, or the answer to it, that does
//! not make it is sent again 1, 2, 4, .. seconds after the one before, six times.

use std::net::SocketAddr;
use std::time::Duration;

use detsim_executor::event::PacketKind;
use detsim_executor::rng::fold;
use detsim_executor::{Deadline, Kernel, NodeId};

use super::connection::{Connection, End, Phase, Step};
use super::keepalive::Keepalive;
use super::lane::Lane;
use super::{BACKLOG_MAX, ConnectionKey, Listener, State};
use crate::errno::{Errno, Result};
use crate::host::{Outgoing, Protocol, is_many, with_port};
use crate::link::Partition;
use crate::options::Options;
use crate::sockets::{Packet, SocketKey, SocketKind, What, World, describe};
use crate::waits::Side;

const SYN_RETRIES: u32 = 6;

impl World {
    /// Gives a socket an address.
    pub(crate) fn tcp_bind(
        &mut self,
        kernel: &mut Kernel,
        key: SocketKey,
        address: SocketAddr,
    ) -> Result<()> {
        let node = self.entry(key)?.node;
        let tcp = self.tcp(key)?;
        if tcp.is_v6 != address.is_ipv6() {
            return Err(if tcp.is_v6 { Errno::INVALID } else { Errno::FAMILY });
        }
        if !matches!(tcp.state, State::Closed { local: None }) {
            return Err(Errno::INVALID);
        }
        let options = self.entry(key)?.options.clone();
        let host = self.ways.hosts.of(node);
        let local = host.bind(Protocol::Tcp, address, key, &options, kernel.now())?;
        self.tcp_mut(key)?.state = State::Closed { local: Some(local) };
        Ok(())
    }

    /// Takes connections from now on.
    pub(crate) fn tcp_listen(
        &mut self,
        kernel: &mut Kernel,
        key: SocketKey,
        backlog: u32,
    ) -> Result<()> {
        let node = self.entry(key)?.node;
        let backlog = (backlog as usize).min(BACKLOG_MAX);
        if let State::Listening(listener) = &mut self.tcp_mut(key)?.state {
            listener.backlog = backlog;
            return Ok(());
        }
        let tcp = self.tcp(key)?;
        let State::Closed { local } = tcp.state else { return Err(Errno::INVALID) };
        let local = match local {
            Some(local) => local,
            None => {
                let any = unspecified(tcp.is_v6);
                self.tcp_bind(kernel, key, any)?;
                self.tcp_local(key)?
            }
        };
        self.ways.hosts.of(node).listen(local.port(), key)?;
        let listener = Listener { local, backlog, queue: Default::default(), half_open: 0 };
        self.tcp_mut(key)?.state = State::Listening(listener);
        Ok(())
    }

    /// Begins to connect; the socket is writable when that has ended.
    pub(crate) fn tcp_connect(
        &mut self,
        kernel: &mut Kernel,
        key: SocketKey,
        to: SocketAddr,
    ) -> Result<()> {
        let tcp = self.tcp(key)?;
        let local = match tcp.state {
            State::Closed { local } => local,
            State::Listening(_) => return Err(Errno::IS_CONNECTED),
            State::Connection { .. } => return Err(Errno::ALREADY),
        };
        if tcp.is_v6 != to.is_ipv6() {
            return Err(Errno::FAMILY);
        }
        if is_many(to.ip()) {
            return Err(Errno::NETWORK_UNREACHABLE);
        }
        let entry = self.entry(key)?;
        let (node, shares) = (entry.node, entry.options.reuse_address);
        let chooses = local.is_none();
        let (local, to) = self.addresses_of(kernel, node, key, local, to)?;
        let peer = self.ways.hosts.route(node, to.ip());
        let mut connection = self.connecting(key, node, local, peer, to)?;
        connection.ends[0].chose_port = chooses;
        let outgoing = connection.outgoing(0);
        self.ways.hosts.of(node).connect(local.port(), shares, outgoing);
        let connection = self.connections.insert(connection);
        self.tcp_mut(key)?.state = State::Connection { key: connection, side: 0 };
        if peer.is_none() {
            self.unreachable(kernel, connection);
        } else {
            self.send_syn(kernel, connection);
        }
        Ok(())
    }

    /// Both addresses of a connection that begins.
    fn addresses_of(
        &mut self,
        kernel: &Kernel,
        node: NodeId,
        key: SocketKey,
        local: Option<SocketAddr>,
        to: SocketAddr,
    ) -> Result<(SocketAddr, SocketAddr)> {
        let source = self.ways.hosts.source(node, to.ip())?;
        let to = match to.ip().is_unspecified() {
            true => SocketAddr::new(source, to.port()),
            false => to,
        };
        let now = kernel.now();
        let host = self.ways.hosts.of(node);
        let local = match local {
            Some(local) if local.ip().is_unspecified() => SocketAddr::new(source, local.port()),
            Some(local) => local,
            None => {
                let free = host.port_for(Outgoing::new(source, to), now);
                let port = free.ok_or(Errno::ADDRESS_NOT_AVAILABLE)?;
                return Ok((SocketAddr::new(source, port), to));
            }
        };
        // From now on the connection has the port.
        host.unbind(Protocol::Tcp, local.port(), key);
        Ok((local, to))
    }

    fn connecting(
        &mut self,
        socket: SocketKey,
        node: NodeId,
        local: SocketAddr,
        peer: Option<NodeId>,
        to: SocketAddr,
    ) -> Result<Connection> {
        let host = peer.unwrap_or(node);
        let mut client = End::new(node, local, host, self.buffers);
        client.phase = Phase::SynSent;
        client.socket = Some(socket);
        let options = &self.entry(socket)?.options;
        client.configure(options);
        client.shares_port = options.reuse_address;
        self.connected += 1;
        Ok(Connection {
            ends: [client, End::new(host, to, node, self.buffers)],
            lanes: [Lane::default(), Lane::default()],
            first_closer: None,
            listener: None,
            is_queued: false,
            is_mirror: false,
            syn_sent: detsim_executor::SimTime::ZERO,
            syn_tries: 0,
            syn_again: detsim_executor::SimTime::ZERO,
            sig: fold(u64::from(node.0), self.connected),
            draws: 0,
        })
    }

    fn send_syn(&mut self, kernel: &mut Kernel, key: ConnectionKey) {
        let Some(connection) = self.connections.get_mut(key) else { return };
        connection.syn_sent = kernel.now();
        let (from, to) = (connection.ends[0].node, connection.ends[1].node);
        let addresses = connection.addresses(0);
        let flight = self.ways.fly(kernel, from, to, 0);
        describe(kernel, flight.packet, addresses, PacketKind::Syn, (0, 0));
        if flight.lost {
            return self.expect_retry(kernel, key);
        }
        let deadline = Deadline { at: flight.at, seq: kernel.next_seq() };
        self.ways.agenda.push(deadline, What::Connection(key, Step::Syn(flight.packet)));
    }

    /// Nobody has the address: nobody will answer.
    fn unreachable(&mut self, kernel: &mut Kernel, key: ConnectionKey) {
        if let Some(connection) = self.connections.get_mut(key) {
            connection.syn_sent = kernel.now();
            self.expect_retry(kernel, key);
        }
    }

    /// The SYN or its answer did not make it.
    pub(super) fn expect_retry(&mut self, kernel: &mut Kernel, key: ConnectionKey) {
        let Some(connection) = self.connections.get(key) else { return };
        let wait = Duration::from_secs(1 << connection.syn_tries);
        let mut at = connection.syn_sent + wait;
        if let (1.., Some(timeout)) = (connection.syn_tries, connection.ends[0].user_timeout) {
            at = at.min(connection.syn_again + timeout);
        }
        let at = at.max(kernel.now());
        let deadline = Deadline { at, seq: kernel.next_seq() };
        self.ways.agenda.push(deadline, What::Connection(key, Step::SynRetry));
    }

    /// A step of the handshake did not make it: it comes when the link opens, where that is known.
    fn stopped(
        &mut self,
        kernel: &mut Kernel,
        key: ConnectionKey,
        (from, to): (NodeId, NodeId),
        rule: Partition,
        step: Step,
    ) {
        match self.ways.force(kernel, from, to).held_until.filter(|_| rule == Partition::Hold) {
            Some(at) => {
                let deadline = Deadline { at, seq: kernel.next_seq() };
                self.ways.agenda.push(deadline, What::Connection(key, step));
            }
            None => self.expect_retry(kernel, key),
        }
    }

    /// A SYN is sent again, or there were enough of them.
    pub(crate) fn retry_syn(&mut self, kernel: &mut Kernel, key: ConnectionKey) {
        let Some(connection) = self.connections.get_mut(key) else { return };
        if connection.ends[0].phase != Phase::SynSent {
            return;
        }
        connection.syn_tries += 1;
        if connection.syn_tries == 1 {
            connection.syn_again = kernel.now();
        }
        let timeout = connection.ends[0].user_timeout.filter(|_| connection.syn_tries > 1);
        let is_late = timeout.is_some_and(|t| kernel.now() >= connection.syn_again + t);
        if is_late || connection.syn_tries > SYN_RETRIES {
            return self.fail_end(kernel, key, 0, Errno::TIMED_OUT);
        }
        let (node, to) = (connection.ends[0].node, connection.ends[1].local.ip());
        match self.ways.hosts.route(node, to) {
            Some(peer) => {
                if let Some(connection) = self.connections.get_mut(key) {
                    connection.ends[1].node = peer;
                }
                self.send_syn(kernel, key);
            }
            None => self.unreachable(kernel, key),
        }
    }

    /// A SYN is due.
    pub(crate) fn syn_due(&mut self, kernel: &mut Kernel, key: ConnectionKey, packet: Packet) {
        let Some(connection) = self.connections.get(key) else { return };
        let (from, to) = (connection.ends[0].node, connection.ends[1].node);
        if let Some(rule) = self.ways.obstacle(kernel, from, to, packet) {
            return self.stopped(kernel, key, (from, to), rule, Step::Syn(packet));
        }
        let Some(connection) = self.connections.get(key) else { return };
        if connection.ends[1].phase != Phase::Gone {
            return self.answer_syn(kernel, key);
        }
        let address = connection.ends[1].local;
        let client = connection.ends[0].local;
        let Some(listener) = self.listener_at(to, [client, address]) else {
            if self.leads_back(key) {
                self.open_mirror(key);
                return self.answer_syn(kernel, key);
            }
            return match self.crossing(key) {
                Some(other) => self.cross(kernel, key, other),
                None => self.post_reset(kernel, key, 0),
            };
        };
        match self.listener_mut(listener) {
            Some(l) if l.queue.len() + l.half_open <= l.backlog => l.half_open += 1,
            _ => return self.expect_retry(kernel, key),
        }
        self.receive_syn(key, listener);
        self.answer_syn(kernel, key);
    }

    /// The connection that the peer of this one has begun to it, from the same port to the same port.
    fn crossing(&self, key: ConnectionKey) -> Option<ConnectionKey> {
        let [own, peer] = &self.connections.get(key)?.ends;
        let crosses = |other: &Connection| {
            let [begins, ends] = &other.ends;
            let at_peer = (begins.node, begins.local) == (peer.node, peer.local);
            begins.phase == Phase::SynSent && at_peer && ends.local == own.local
        };
        let mut others = self.connections.iter().filter(|(other, _)| *other != key);
        others.find(|(_, other)| crosses(other)).map(|(other, _)| other)
    }

    /// Two that connect to each other at once have one connection.
    fn cross(&mut self, kernel: &mut Kernel, key: ConnectionKey, other: ConnectionKey) {
        let Some(Connection { ends: [end, _], .. }) = self.connections.remove(other) else {
            return;
        };
        self.ways.agenda.touch();
        if let Some(Ok(tcp)) = end.socket.map(|socket| self.tcp_mut(socket)) {
            tcp.state = State::Connection { key, side: 1 };
        }
        if let Some(connection) = self.connections.get_mut(key) {
            connection.ends[1] = End { phase: Phase::SynReceived, ..end };
        }
        self.answer_syn(kernel, key);
    }

    fn listener_at(&mut self, node: NodeId, addresses: [SocketAddr; 2]) -> Option<SocketKey> {
        self.ways.hosts.of(node).receiver(Protocol::Tcp, addresses, |binding| binding.listens)
    }

    fn receive_syn(&mut self, key: ConnectionKey, listener: SocketKey) {
        let options = self.entry(listener).map(|entry| entry.options.clone()).unwrap_or_default();
        let Some(connection) = self.connections.get_mut(key) else { return };
        connection.listener = Some(listener);
        let server = &mut connection.ends[1];
        server.phase = Phase::SynReceived;
        server.configure(&options);
        server.shares_port = options.reuse_address;
        let (node, port) = (server.node, server.local.port());
        self.ways.hosts.of(node).connect(port, options.reuse_address, None);
    }

    fn answer_syn(&mut self, kernel: &mut Kernel, key: ConnectionKey) {
        let Some(connection) = self.connections.get(key) else { return };
        let (from, to) = (connection.ends[1].node, connection.ends[0].node);
        let addresses = connection.addresses(1);
        let flight = self.ways.fly(kernel, from, to, 0);
        describe(kernel, flight.packet, addresses, PacketKind::SynAck, (0, 0));
        if flight.lost {
            return self.expect_retry(kernel, key);
        }
        let deadline = Deadline { at: flight.at, seq: kernel.next_seq() };
        self.ways.agenda.push(deadline, What::Connection(key, Step::SynAck(flight.packet)));
    }

    /// The answer to a SYN is due: the connect is complete.
    pub(crate) fn syn_ack_due(&mut self, kernel: &mut Kernel, key: ConnectionKey, packet: Packet) {
        let Some(connection) = self.connections.get(key) else { return };
        let (from, to) = (connection.ends[1].node, connection.ends[0].node);
        if let Some(rule) = self.ways.obstacle(kernel, from, to, packet) {
            return self.stopped(kernel, key, (from, to), rule, Step::SynAck(packet));
        }
        let Some(connection) = self.connections.get_mut(key) else { return };
        match connection.ends[0].phase {
            Phase::SynSent => {
                let client = &mut connection.ends[0];
                (client.phase, client.heard) = (Phase::Established, kernel.now());
                self.watch_peer(kernel, key, 0);
                // A kernel that talks to itself has done both halves before a connect returns.
                if from == to && self.is_half_open(key) {
                    self.establish(kernel, key);
                }
                self.send_ack(kernel, key, 0);
                self.notify_end(kernel, key, 0, Side::Write);
            }
            Phase::Gone => self.post_reset(kernel, key, 1),
            // The answer to a SYN that was sent twice.
            Phase::SynReceived | Phase::Established => {}
        }
    }

    fn is_half_open(&self, key: ConnectionKey) -> bool {
        self.connections.get(key).is_some_and(|c| c.ends[1].phase == Phase::SynReceived)
    }

    /// The client has answered: the connection can be accepted.
    pub(crate) fn establish(&mut self, kernel: &mut Kernel, key: ConnectionKey) {
        let Some(connection) = self.connections.get_mut(key) else { return };
        let server = &mut connection.ends[1];
        (server.phase, server.heard) = (Phase::Established, kernel.now());
        let Some(socket) = connection.listener else {
            self.watch_peer(kernel, key, 1);
            return self.notify_end(kernel, key, 1, Side::Write);
        };
        connection.is_queued = true;
        self.watch_peer(kernel, key, 1);
        match self.listener_mut(socket) {
            Some(listener) => {
                listener.half_open -= 1;
                listener.queue.push_back(key);
                self.notify(kernel, socket, Side::Read);
            }
            None => {
                self.unqueue(key);
                self.abort(kernel, key, 1);
            }
        }
    }

    /// Takes a connection.
    pub(crate) fn tcp_accept(&mut self, key: SocketKey) -> Result<(ConnectionKey, SocketAddr)> {
        let listener = self.listener_mut(key).ok_or(Errno::INVALID)?;
        let connection = listener.queue.pop_front().ok_or(Errno::AGAIN)?;
        self.unqueue(connection);
        let accepted = self.connections.get(connection).ok_or(Errno::AGAIN)?;
        Ok((connection, accepted.ends[0].local))
    }

    /// Gives an accepted connection its socket.
    pub(crate) fn tcp_adopt(&mut self, connection: ConnectionKey, socket: SocketKey) {
        if let Some(accepted) = self.connections.get_mut(connection) {
            accepted.ends[1].socket = Some(socket);
        }
    }

    fn unqueue(&mut self, key: ConnectionKey) {
        if let Some(connection) = self.connections.get_mut(key) {
            connection.is_queued = false;
        }
    }

    /// A listener is closed: what nobody accepted is reset.
    pub(crate) fn close_listener(&mut self, kernel: &mut Kernel, listener: &Listener) {
        for key in &listener.queue {
            self.unqueue(*key);
            self.abort(kernel, *key, 1);
            self.free(*key);
        }
    }

    pub(crate) fn listener_mut(&mut self, key: SocketKey) -> Option<&mut Listener> {
        match &mut self.sockets.get_mut(key)?.kind {
            SocketKind::Tcp(tcp) => match &mut tcp.state {
                State::Listening(listener) => Some(listener),
                _ => None,
            },
            _ => None,
        }
    }

    /// The address of a socket of TCP.
    pub(crate) fn tcp_local(&self, key: SocketKey) -> Result<SocketAddr> {
        let tcp = self.tcp(key)?;
        Ok(match &tcp.state {
            State::Closed { local } => local.unwrap_or(unspecified(tcp.is_v6)),
            State::Listening(listener) => listener.local,
            State::Connection { key, side } => self.connection(*key)?.ends[*side].local,
        })
    }

    /// The address of its peer.
    pub(crate) fn tcp_peer(&self, key: SocketKey) -> Result<SocketAddr> {
        let State::Connection { key, side } = self.tcp(key)?.state else {
            return Err(Errno::NOT_CONNECTED);
        };
        let connection = self.connection(key)?;
        match connection.ends[side].phase {
            Phase::Established => Ok(connection.ends[1 - side].local),
            _ => Err(Errno::NOT_CONNECTED),
        }
    }
}

impl End {
    /// Takes the options of a socket that an end obeys.
    pub(crate) fn configure(&mut self, options: &Options) {
        self.nodelay = options.nodelay;
        self.keepalive = Keepalive::of(options);
        self.user_timeout = options.user_timeout;
        if let Some(bytes) = options.send_buffer {
            self.send_capacity = bytes as usize;
        }
        if let Some(bytes) = options.receive_buffer {
            self.receive_capacity = bytes as usize;
        }
    }
}

pub(crate) fn unspecified(is_v6: bool) -> SocketAddr {
    let v4 = SocketAddr::from(([0, 0, 0, 0], 0));
    if is_v6 { with_port(SocketAddr::from(([0; 16], 0)), 0) } else { v4 }
}
