//! The packets of a run as a pcapng file, for Wireshark and whatever else reads captures.
//!
//! Owns: which packet stands in the file, when, and what is said of it; the blocks of the format. Does not
//! own: the headers of a packet (`pcap/frame.rs`).
//!
//! # The file
//! - A node is an interface, by its name. A packet stands there once, where it left, at the virtual time
//!   at which it left, in nanoseconds from 1970 on; its comment says what became of it: when it
//!   arrived, that it was lost and why, that a link held it or doubled it.
//! - Ethernet, IP, TCP, UDP and ICMP headers are made up from what the trace has, with right checksums.
//!   The trace keeps no bytes of a program: a packet is cut behind its headers, as with a short snap
//!   length, and its checksum is that of as many zeros.
//! - A lone acknowledgement is no packet of the simulation, so none stands here; each packet of a
//!   connection acknowledges what had arrived when it left.
//! - A message of a [`crate::Network`] has no address: it stands as a datagram of port 60999 between
//!   the addresses that its nodes have by their numbers.

mod frame;

use std::collections::BTreeMap;
use std::net::SocketAddr;

use detsim_executor::SimTime;
use detsim_executor::event::{Event, NetEvent, NodeId, PacketKind};
use detsim_executor::trace::{Tables, Trace};

use self::frame::Frame;
use super::Recorded;

/// The whole file.
///
/// # Examples
/// ```
/// use detsim::trace::{self, Header};
/// use detsim::{Network, Sim, SimConfig};
///
/// let mut config = SimConfig::default();
/// config.record = true;
/// let sim = Sim::with_config(7, config);
/// let (a, b) = (sim.node("a").id(), sim.node("b").id());
/// Network::new(&sim).send(a, b, "hello");
/// sim.run().unwrap();
///
/// let bytes = trace::to_bytes(&sim.trace(), &Header::new("greets", 7, "random"));
/// let file = trace::pcap(&trace::from_bytes(&bytes).unwrap());
/// assert_eq!(file[..4], [0x0a, 0x0d, 0x0d, 0x0a]);
/// ```
pub fn pcap(recorded: &Recorded) -> Vec<u8> {
    let trace = &recorded.trace;
    let packets = Packets::of(trace);
    let mut out = Vec::new();
    section(&mut out, recorded);
    for node in 0..packets.interfaces.max(trace.tables.nodes.len()) {
        interface(&mut out, &trace.tables.node_shown(NodeId(node as u16)).to_string());
    }
    let mut acked = Acked::default();
    for moment in &trace.moments {
        match moment.event {
            Event::Net(NetEvent::Sent { message, from, to, .. }) => {
                let frame = packets.frame(&mut acked, message, (from, to));
                packet(&mut out, from, moment.at, &frame, &packets.comment(message));
            }
            Event::Net(NetEvent::Delivered { message, .. }) => {
                if let Some(known) = packets.known.get(&message) {
                    acked.take(known);
                }
            }
            _ => {}
        }
    }
    out
}

/// What a trace says of its messages, whenever it says it.
#[derive(Debug, Default)]
struct Packets {
    known: BTreeMap<u32, Known>,
    fates: BTreeMap<u32, Vec<String>>,
    /// One for each node that sends.
    interfaces: usize,
}

/// What a message is to the sockets.
#[derive(Clone, Copy, Debug)]
struct Known {
    kind: PacketKind,
    source: SocketAddr,
    target: SocketAddr,
    seq: u32,
    bytes: u16,
}

impl Packets {
    fn of(trace: &Trace) -> Self {
        let mut packets = Self::default();
        for moment in &trace.moments {
            if let Event::Net(event) = &moment.event {
                packets.take(&trace.tables, moment.at, event);
            }
        }
        packets
    }

    fn take(&mut self, tables: &Tables, at: SimTime, event: &NetEvent) {
        let (message, fate) = match *event {
            NetEvent::Packet { message, source, target, seq, bytes, kind } => {
                let [source, target] = [source, target].map(|text| tables.text(text).parse());
                if let (Ok(source), Ok(target)) = (source, target) {
                    self.known.insert(message, Known { kind, source, target, seq, bytes });
                }
                return;
            }
            NetEvent::Sent { from, .. } => {
                self.interfaces = self.interfaces.max(usize::from(from.0) + 1);
                return;
            }
            NetEvent::Delivered { message, .. } => (message, format!("arrives at {at}")),
            NetEvent::Dropped { message, why, .. } => (message, format!("lost: {}", why.words())),
            NetEvent::Duplicated { message, .. } => (message, "comes twice".to_owned()),
            NetEvent::Held { message, .. } => (message, format!("held back at {at}")),
            NetEvent::Lagged { message, .. } => (message, "lags".to_owned()),
            _ => return,
        };
        self.fates.entry(message).or_default().push(fate);
    }

    fn comment(&self, message: u32) -> String {
        let fates = self.fates.get(&message).map_or(&[][..], |fates| fates);
        let fates =
            if fates.is_empty() { "on its way at the end".to_owned() } else { fates.join(", ") };
        format!("message {message}: {fates}")
    }

    /// A packet that leaves.
    fn frame(&self, acked: &mut Acked, message: u32, nodes: (NodeId, NodeId)) -> Frame {
        let Some(known) = self.known.get(&message).copied() else {
            return Frame::of_message(nodes);
        };
        let Known { kind, source, target, seq, bytes } = known;
        let ack = acked.by(&known);
        Frame { nodes, source, target, kind, seq, ack, bytes }
    }
}

/// Up to which byte the bytes of each direction have arrived.
#[derive(Debug, Default)]
struct Acked {
    next: BTreeMap<(SocketAddr, SocketAddr), u32>,
}

impl Acked {
    /// A packet has arrived.
    fn take(&mut self, packet: &Known) {
        let Known { kind, source, target, seq, bytes } = *packet;
        let counts = matches!(kind, PacketKind::Syn | PacketKind::SynAck | PacketKind::Fin);
        let next = seq.wrapping_add(u32::from(bytes)).wrapping_add(u32::from(counts));
        let known = self.next.entry((source, target)).or_insert(next);
        let is_ahead = next.wrapping_sub(*known) < 1 << 31;
        // A new connection may have the addresses of one before.
        if is_ahead || kind == PacketKind::Syn {
            *known = next;
        }
    }

    /// What a packet that leaves acknowledges.
    fn by(&mut self, packet: &Known) -> Option<u32> {
        if packet.kind == PacketKind::Syn {
            self.next.remove(&(packet.target, packet.source));
        }
        self.next.get(&(packet.target, packet.source)).copied()
    }
}

// ------------------------------------------------------------ blocks

/// The bytes of a packet that are kept: its headers, of the longest kind.
const SNAP_BYTES: u32 = 128;

fn section(out: &mut Vec<u8>, recorded: &Recorded) {
    let header = &recorded.header;
    let comment = format!("{}, seed {}, strategy {}", header.test, header.seed, header.strategy);
    let by = format!("detsim {}", header.detsim);
    block(out, 0x0a0d_0d0a, |out| {
        put(out, &0x1a2b_3c4d_u32.to_le_bytes());
        put(out, &[1, 0, 0, 0]);
        put(out, &(-1_i64).to_le_bytes());
        option(out, 1, comment.as_bytes());
        option(out, 4, by.as_bytes());
        option(out, 0, &[]);
    });
}

fn interface(out: &mut Vec<u8>, name: &str) {
    block(out, 1, |out| {
        // Ethernet.
        put(out, &[1, 0, 0, 0]);
        put(out, &SNAP_BYTES.to_le_bytes());
        option(out, 2, name.as_bytes());
        // Times are in nanoseconds.
        option(out, 9, &[9]);
        option(out, 0, &[]);
    });
}

fn packet(out: &mut Vec<u8>, node: NodeId, at: SimTime, frame: &Frame, comment: &str) {
    let headers = frame.headers();
    let ns = at.as_nanos();
    block(out, 6, |out| {
        put(out, &u32::from(node.0).to_le_bytes());
        put(out, &((ns >> 32) as u32).to_le_bytes());
        put(out, &(ns as u32).to_le_bytes());
        put(out, &(headers.len() as u32).to_le_bytes());
        put(out, &(headers.len() as u32 + u32::from(frame.bytes)).to_le_bytes());
        put(out, &headers);
        option(out, 1, comment.as_bytes());
        option(out, 0, &[]);
    });
}

/// A block, with its length before and behind.
fn block(out: &mut Vec<u8>, kind: u32, body: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    put(out, &kind.to_le_bytes());
    put(out, &[0; 4]);
    body(out);
    let length = ((out.len() - start + 4) as u32).to_le_bytes();
    out[start + 4..start + 8].copy_from_slice(&length);
    put(out, &length);
}

fn option(out: &mut Vec<u8>, code: u16, value: &[u8]) {
    let value = &value[..value.len().min(usize::from(u16::MAX))];
    out.extend_from_slice(&code.to_le_bytes());
    out.extend_from_slice(&(value.len() as u16).to_le_bytes());
    put(out, value);
}

/// Bytes, filled up to words of four.
fn put(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(bytes);
    out.resize(out.len() + bytes.len().wrapping_neg() % 4, 0);
}

#[cfg(test)]
mod tests;
