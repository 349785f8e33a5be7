//! The headers of one packet.
//!
//! Owns: Ethernet, IPv4 and IPv6, TCP, UDP and ICMP as far as a packet of the simulation has them, and
//! their checksums. Does not own: files. Invariant: a checksum over headers and as many zeros as the packet
//! carries bytes is right.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use detsim_executor::event::{NodeId, PacketKind};

/// A packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    /// Of whom, and to whom.
    pub(super) nodes: (NodeId, NodeId),
    pub(super) source: SocketAddr,
    pub(super) target: SocketAddr,
    pub(super) kind: PacketKind,
    pub(super) seq: u32,
    pub(super) ack: Option<u32>,
    /// How many bytes of a program it carries.
    pub(super) bytes: u16,
}

/// The port of messages that have none.
const MESSAGE_PORT: u16 = 60_999;
const ICMP: u8 = 1;
const TCP: u8 = 6;
const UDP: u8 = 17;
const ICMP_V6: u8 = 58;
const HOPS: u8 = 64;

impl Frame {
    /// A message of which nobody knows more than its nodes.
    pub(super) fn of_message(nodes: (NodeId, NodeId)) -> Self {
        let [source, target] =
            [nodes.0, nodes.1].map(|node| SocketAddr::new(address_of(node), MESSAGE_PORT));
        let kind = PacketKind::Datagram;
        Self { nodes, source, target, kind, seq: 0, ack: None, bytes: 0 }
    }

    /// All its headers.
    pub(super) fn headers(&self) -> Vec<u8> {
        let (protocol, transport) = self.transport();
        let mut out = self.ethernet();
        out.extend(self.ip(protocol, transport.len() + usize::from(self.bytes)));
        out.extend(transport);
        out
    }

    fn ethernet(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for node in [self.nodes.1, self.nodes.0] {
            // An address that was given out by hand.
            out.extend([2, 0, 0, 0]);
            out.extend(node.0.to_be_bytes());
        }
        out.extend(if self.is_v4() { [0x08, 0x00] } else { [0x86, 0xdd] });
        out
    }

    fn is_v4(&self) -> bool {
        self.source.is_ipv4()
    }

    fn ip(&self, protocol: u8, length: usize) -> Vec<u8> {
        let mut out = Vec::new();
        if self.is_v4() {
            out.extend([0x45, 0]);
            out.extend(((length + 20) as u16).to_be_bytes());
            // No identification; it must not be cut in parts.
            out.extend([0, 0, 0x40, 0, HOPS, protocol, 0, 0]);
        } else {
            out.extend([0x60, 0, 0, 0]);
            out.extend((length as u16).to_be_bytes());
            out.extend([protocol, HOPS]);
        }
        out.extend(octets(self.source));
        out.extend(octets(self.target));
        if self.is_v4() {
            let sum = checksum(&out);
            out[10..12].copy_from_slice(&sum);
        }
        out
    }

    /// What stands behind IP, with its number there.
    fn transport(&self) -> (u8, Vec<u8>) {
        match self.kind {
            PacketKind::Datagram => (UDP, self.udp()),
            PacketKind::Unreachable if self.is_v4() => (ICMP, self.unreachable([3, 3])),
            PacketKind::Unreachable => (ICMP_V6, self.unreachable([1, 4])),
            _ => (TCP, self.tcp()),
        }
    }

    fn tcp(&self) -> Vec<u8> {
        let flags = match self.kind {
            PacketKind::Syn | PacketKind::SynAck => 0x02,
            PacketKind::Data => 0x08,
            PacketKind::Fin => 0x01,
            PacketKind::Reset => 0x04,
            _ => 0,
        };
        let acks = if self.ack.is_some() { 0x10 } else { 0 };
        let mut out = self.ports();
        out.extend(self.seq.to_be_bytes());
        out.extend(self.ack.unwrap_or(0).to_be_bytes());
        out.extend([0x50, flags | acks, 0xff, 0xff, 0, 0, 0, 0]);
        self.seal(out, TCP, 16)
    }

    fn udp(&self) -> Vec<u8> {
        let mut out = self.ports();
        out.extend((self.bytes + 8).to_be_bytes());
        out.extend([0, 0]);
        let out = self.seal(out, UDP, 6);
        match out[6..8] {
            // No sum at all is what zero would say.
            [0, 0] => [&out[..6], &[0xff; 2]].concat(),
            _ => out,
        }
    }

    /// The news that nobody has a port, with the head of the datagram that it is about.
    fn unreachable(&self, what: [u8; 2]) -> Vec<u8> {
        let (source, target) = (self.target, self.source);
        let about = Self { source, target, kind: PacketKind::Datagram, bytes: 0, ..*self };
        let mut out = vec![what[0], what[1], 0, 0, 0, 0, 0, 0];
        out.extend(about.ip(UDP, 8));
        out.extend(about.udp());
        if self.is_v4() {
            let sum = checksum(&out);
            out[2..4].copy_from_slice(&sum);
            return out;
        }
        self.seal(out, ICMP_V6, 2)
    }

    fn ports(&self) -> Vec<u8> {
        [self.source, self.target].iter().flat_map(|address| address.port().to_be_bytes()).collect()
    }

    /// Fills in a checksum that covers addresses and length as well.
    fn seal(&self, mut out: Vec<u8>, protocol: u8, at: usize) -> Vec<u8> {
        let length = out.len() as u32 + u32::from(self.bytes);
        let mut covered = octets(self.source);
        covered.extend(octets(self.target));
        covered.extend(length.to_be_bytes());
        covered.extend([0, 0, 0, protocol]);
        covered.extend(&out);
        let sum = checksum(&covered);
        out[at..at + 2].copy_from_slice(&sum);
        out
    }
}

fn octets(address: SocketAddr) -> Vec<u8> {
    match address.ip() {
        IpAddr::V4(v4) => v4.octets().to_vec(),
        IpAddr::V6(v6) => v6.octets().to_vec(),
    }
}

/// The address of a node that was given none.
fn address_of(node: NodeId) -> IpAddr {
    let [high, low] = node.0.to_be_bytes();
    match node {
        NodeId::NONE => Ipv4Addr::new(10, 1, 0, 1).into(),
        _ => Ipv4Addr::new(10, 0, high, low).into(),
    }
}

/// The checksum of the internet, of an even number of bytes.
fn checksum(bytes: &[u8]) -> [u8; 2] {
    let words = bytes.chunks_exact(2).map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])));
    let mut sum: u32 = words.sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    (!(sum as u16)).to_be_bytes()
}
