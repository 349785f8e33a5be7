//! The rows of the table of sockets.
//!
//! Owns: [`Row`], and what each kind of socket says of itself. Does not own: columns and their widths
//! (`text.rs`).

use std::net::SocketAddr;

use detsim_executor::{Block, Kernel, NodeId, OpKind, TaskTag};

use crate::sockets::{Entry, SocketKey, SocketKind, World};
use crate::tcp::connection::Phase;
use crate::tcp::lane::Fin;
use crate::tcp::{Connection, State};
use crate::unix::{Datagrams, Unix};

/// One line. Rows are ordered by their fields, from the first on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Row {
    pub(super) node: NodeId,
    pub(super) protocol: &'static str,
    pub(super) addresses: [Option<SocketAddr>; 2],
    /// Names of local sockets, in place of addresses.
    pub(super) names: [String; 2],
    pub(super) node_name: String,
    pub(super) state: &'static str,
    /// What is to be read, or accepted; what the peer has not acknowledged, or the backlog.
    pub(super) queues: [Option<usize>; 2],
    /// Who waits, or used it last.
    pub(super) users: String,
    /// Which line made it.
    pub(super) site: String,
}

impl Row {
    fn new(kernel: &Kernel, node: NodeId, protocol: &'static str, state: &'static str) -> Self {
        Self {
            node,
            protocol,
            addresses: [None, None],
            names: [String::new(), String::new()],
            node_name: kernel.node_name(node).to_owned(),
            state,
            queues: [None, None],
            users: String::new(),
            site: String::new(),
        }
    }
}

impl World {
    /// What programs have.
    pub(super) fn socket_rows(&self, kernel: &Kernel) -> Vec<Row> {
        let rows = self.sockets.iter().map(|(key, entry)| {
            let row = match &entry.kind {
                SocketKind::Tcp(tcp) => self.tcp_row(kernel, entry, &tcp.state),
                SocketKind::Udp(udp) => {
                    let state = if udp.peer.is_some() { "ESTABLISHED" } else { "UNCONN" };
                    let row = Row::new(kernel, entry.node, "udp", state);
                    let queues = [Some(udp.queued_bytes()), Some(0)];
                    Row { addresses: [udp.local, udp.peer], queues, ..row }
                }
                SocketKind::Unix(unix) => self.unix_row(kernel, key, entry, unix),
            };
            Row { users: users(kernel, entry), site: entry.object.shown_site(), ..row }
        });
        rows.collect()
    }

    /// What a host still has of connections that no program has: not accepted yet, or closed.
    pub(super) fn orphan_rows(&self, kernel: &Kernel) -> Vec<Row> {
        let ends =
            self.connections.iter().flat_map(|(_, connection)| [(connection, 0), (connection, 1)]);
        let of_nobody = ends.filter(|(connection, side)| {
            let end = &connection.ends[*side];
            let is_image = connection.is_mirror && *side == 1;
            end.socket.is_none() && end.phase != Phase::Gone && !is_image
        });
        let rows = of_nobody.map(|(connection, side)| {
            let is_queued = connection.is_queued && side == 1;
            let users = if is_queued { "not accepted yet" } else { "" };
            Row { users: users.to_owned(), ..connection_row(kernel, connection, side) }
        });
        rows.collect()
    }

    /// Ports that a host keeps for a while, after a connection has ended.
    pub(super) fn waiting_rows(&self, kernel: &Kernel) -> Vec<Row> {
        let ports = self.ways.hosts.waiting(kernel.now());
        ports
            .map(|(node, port, left)| {
                let row = Row::new(kernel, node, "tcp", "TIME_WAIT");
                let local = SocketAddr::from(([0, 0, 0, 0], port));
                let users = format!("free in {} s", left.as_millis().div_ceil(1_000));
                Row { addresses: [Some(local), None], users, ..row }
            })
            .collect()
    }

    fn tcp_row(&self, kernel: &Kernel, entry: &Entry, state: &State) -> Row {
        match state {
            State::Closed { local } => {
                let row = Row::new(kernel, entry.node, "tcp", "CLOSE");
                Row { addresses: [*local, None], ..row }
            }
            State::Listening(listener) => {
                let row = Row::new(kernel, entry.node, "tcp", "LISTEN");
                let queues = [Some(listener.queue.len()), Some(listener.backlog)];
                Row { addresses: [Some(listener.local), None], queues, ..row }
            }
            State::Connection { key, side } => match self.connections.get(*key) {
                Some(connection) => connection_row(kernel, connection, *side),
                None => Row::new(kernel, entry.node, "tcp", "CLOSE"),
            },
        }
    }

    fn unix_row(&self, kernel: &Kernel, key: SocketKey, entry: &Entry, unix: &Unix) -> Row {
        let bytes = |channel| self.channels.get(channel).map(|channel| channel.len());
        let shown = |name: Vec<u8>| String::from_utf8_lossy(&name).replace('\0', "@");
        let names = [self.unix_local(key), self.unix_peer(key)]
            .map(|name| name.map(shown).unwrap_or_default());
        let (protocol, state, queues) = match unix {
            Unix::Closed { .. } => ("unix", "CLOSE", [None, None]),
            Unix::Stream(stream) => {
                ("unix", "ESTABLISHED", [bytes(stream.read), bytes(stream.write)])
            }
            Unix::Listener(listener) => {
                let queues = [Some(listener.queue.len()), Some(listener.backlog)];
                ("unix", "LISTEN", queues)
            }
            Unix::Datagrams(Datagrams { queue, peer, .. }) => {
                let state = if peer.is_some() { "ESTABLISHED" } else { "UNCONN" };
                let unread = queue.iter().map(|datagram| datagram.len()).sum();
                ("unixd", state, [Some(unread), Some(0)])
            }
            Unix::Sender(channel) => ("pipe", "WRITES", [None, bytes(*channel)]),
            Unix::Receiver(channel) => ("pipe", "READS", [bytes(*channel), None]),
        };
        Row { names, queues, ..Row::new(kernel, entry.node, protocol, state) }
    }
}

fn connection_row(kernel: &Kernel, connection: &Connection, side: usize) -> Row {
    let [own, other] = [side, 1 - side].map(|side| &connection.ends[side]);
    let unread = connection.lanes[1 - side].readable();
    let unsent = connection.lanes[side].outstanding_at(kernel.now());
    Row {
        addresses: [Some(own.local), Some(other.local)],
        queues: [Some(unread), Some(unsent)],
        ..Row::new(kernel, own.node, "tcp", connection.state(side))
    }
}

/// Who waits for a socket, and to do what; where nobody does, who used it last.
fn users(kernel: &Kernel, entry: &Entry) -> String {
    let waits = Block::waiting(kernel, &entry.object);
    let shown =
        |(task, op): &(TaskTag, OpKind)| format!("{}: {}", op.word(), kernel.task_name(*task));
    let waits = waits.iter().map(shown).collect::<Vec<_>>().join(", ");
    if !waits.is_empty() {
        return waits;
    }
    let mut last: Vec<String> = Vec::new();
    for party in entry.parties.iter().flatten() {
        let name = kernel.task_name(party.task);
        if !last.contains(&name) {
            last.push(name);
        }
    }
    last.join(", ")
}

impl Connection {
    /// The state of an end, by Linux's name.
    fn state(&self, side: usize) -> &'static str {
        let peer_closed = self.lanes[1 - side].fin == Fin::Arrived;
        let is_first = self.first_closer == Some(side);
        match (self.ends[side].phase, self.lanes[side].fin, peer_closed) {
            (Phase::SynSent, ..) => "SYN_SENT",
            (Phase::SynReceived, ..) => "SYN_RECV",
            (Phase::Gone, ..) => "CLOSE",
            (_, Fin::Open, false) => "ESTABLISHED",
            (_, Fin::Open, true) => "CLOSE_WAIT",
            (_, Fin::Queued | Fin::Sent, false) => "FIN_WAIT1",
            (_, Fin::Queued | Fin::Sent, true) if is_first => "CLOSING",
            (_, Fin::Queued | Fin::Sent, true) => "LAST_ACK",
            (_, Fin::Arrived, false) => "FIN_WAIT2",
            (_, Fin::Arrived, true) if is_first => "TIME_WAIT",
            (_, Fin::Arrived, true) => "CLOSE",
        }
    }
}
