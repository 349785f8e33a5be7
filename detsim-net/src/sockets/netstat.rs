//! The sockets of a simulation as a table.
//!
//! Owns: the rows and their text. Pure: looks and changes nothing. Rows come by node, protocol and place,
//! which is the order in which sockets were made where none was closed.

use std::fmt::Write;
use std::net::SocketAddr;

use detsim_executor::Kernel;

use super::{Entry, SocketKey, SocketKind, World};
use crate::tcp::connection::Phase;
use crate::tcp::{ConnectionKey, State};
use crate::unix::Unix;

impl World {
    /// The table, a line a socket; empty where there is none.
    pub(crate) fn netstat(&self, kernel: &Kernel) -> String {
        let mut rows: Vec<_> = self.sockets.iter().collect();
        rows.sort_by_key(|(_, entry)| entry.node);
        let mut text = String::new();
        for (key, entry) in rows {
            let [protocol, local, peer, state, receives, sends] = self.row(key, entry);
            let node = kernel.node_name(entry.node);
            let line = writeln!(
                text,
                "{node:<12} {protocol:<5} {local:<21} {peer:<21} {state:<12} {receives:>8} {sends:>8}"
            );
            line.expect("invariant: text takes text");
        }
        match text.is_empty() {
            true => text,
            false => format!(
                "{:<12} {:<5} {:<21} {:<21} {:<12} {:>8} {:>8}\n{text}",
                "node", "proto", "local", "peer", "state", "unread", "unsent"
            ),
        }
    }

    fn row(&self, key: SocketKey, entry: &Entry) -> [String; 6] {
        let none = || "*".to_owned();
        match &entry.kind {
            SocketKind::Tcp(tcp) => match &tcp.state {
                State::Closed { local } => {
                    ["tcp".into(), shown(*local), none(), "closed".into(), none(), none()]
                }
                State::Listening(listener) => {
                    let waiting = listener.queue.len().to_string();
                    let local = listener.local.to_string();
                    ["tcp".into(), local, none(), "listening".into(), waiting, none()]
                }
                State::Connection { key, side } => self.connection_row(*key, *side),
            },
            SocketKind::Udp(udp) => {
                let (local, peer) = (shown(udp.local), shown(udp.peer));
                ["udp".into(), local, peer, none(), udp.queued_bytes().to_string(), none()]
            }
            SocketKind::Unix(unix) => {
                let name = self.unix_local(key).unwrap_or_default();
                let name = String::from_utf8_lossy(&name).replace('\0', "@");
                let state = match unix {
                    Unix::Closed { .. } => "closed",
                    Unix::Stream(_) => "connected",
                    Unix::Listener(_) => "listening",
                    Unix::Datagrams(_) => "datagrams",
                    Unix::Sender(_) => "pipe, writes",
                    Unix::Receiver(_) => "pipe, reads",
                };
                ["unix".into(), name, none(), state.into(), none(), none()]
            }
        }
    }

    fn connection_row(&self, key: ConnectionKey, side: usize) -> [String; 6] {
        let Some(connection) = self.connections.get(key) else { return Default::default() };
        let [own, other] = [side, 1 - side].map(|side| &connection.ends[side]);
        let state = match own.phase {
            Phase::SynSent => "connecting",
            Phase::SynReceived => "handshake",
            Phase::Established => "established",
            Phase::Gone => "over",
        };
        let unread = connection.lanes[1 - side].readable();
        let unsent = connection.lanes[side].unsent();
        let (local, peer) = (own.local.to_string(), other.local.to_string());
        ["tcp".into(), local, peer, state.into(), unread.to_string(), unsent.to_string()]
    }
}

fn shown(address: Option<SocketAddr>) -> String {
    address.map_or_else(|| "*".to_owned(), |address| address.to_string())
}
