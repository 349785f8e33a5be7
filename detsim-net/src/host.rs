//! Addresses and ports.
//!
//! Owns: which node has which address, and which ports of a node are taken, by the rules of Linux for
//! `SO_REUSEADDR`, `SO_REUSEPORT`, wildcards and `[::]`. Does not own: sockets; the ports of connections
//! (`ends.rs`). Invariants: an address belongs to one node; a port that nothing uses is free at once, or
//! after its TIME_WAIT; who shares a port takes its part by the addresses alone, and nothing is drawn.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use detsim_executor::rng::fold;
use detsim_executor::{NodeId, SimTime};

use crate::errno::{Errno, Result};
use crate::options::Options;
use crate::sockets::SocketKey;

mod ends;

pub(crate) use ends::Outgoing;
use ends::PortEnds;

/// All hosts, by node.
#[derive(Debug, Default)]
pub(crate) struct Hosts {
    list: Vec<Host>,
    owners: BTreeMap<IpAddr, NodeId>,
}

/// What a node is to the network.
#[derive(Debug)]
pub(crate) struct Host {
    addresses: Vec<IpAddr>,
    bindings: BTreeMap<(Protocol, u16), Vec<Binding>>,
    ends: PortEnds,
    next_port: u16,
    /// Everything that happened here, for what no task does.
    pub(crate) history: u64,
}

/// Whose ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Protocol {
    Tcp,
    Udp,
}

/// A socket that has a port.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Binding {
    pub(crate) ip: IpAddr,
    pub(crate) socket: SocketKey,
    pub(crate) listens: bool,
    only_v6: bool,
    reuse_address: bool,
    reuse_port: bool,
}

/// Linux's range of ephemeral ports.
const EPHEMERAL: std::ops::RangeInclusive<u16> = 32_768..=60_999;

impl Hosts {
    /// The host of a node, made where it is new, with the addresses of its number.
    pub(crate) fn of(&mut self, node: NodeId) -> &mut Host {
        while self.list.len() <= usize::from(node.0) {
            self.add(NodeId(self.list.len() as u16));
        }
        &mut self.list[usize::from(node.0)]
    }

    /// The host of a node that has used the network.
    pub(crate) fn get(&self, node: NodeId) -> Option<&Host> {
        self.list.get(usize::from(node.0))
    }

    fn add(&mut self, node: NodeId) {
        let addresses = default_addresses(node).to_vec();
        for ip in &addresses {
            self.owners.entry(*ip).or_insert(node);
        }
        self.list.push(Host::new(addresses));
    }

    /// Gives a node other addresses. Those that another node has stay that node's.
    pub(crate) fn set_addresses(&mut self, node: NodeId, addresses: Vec<IpAddr>) -> Result<()> {
        self.of(node);
        let taken = |ip: &IpAddr| self.owners.get(ip).is_some_and(|owner| *owner != node);
        if addresses.iter().any(taken) {
            return Err(Errno::ADDRESS_IN_USE);
        }
        self.owners.retain(|_, owner| *owner != node);
        self.owners.extend(addresses.iter().map(|ip| (*ip, node)));
        self.of(node).addresses = addresses;
        Ok(())
    }

    /// The addresses of a node.
    pub(crate) fn addresses(&mut self, node: NodeId) -> &[IpAddr] {
        &self.of(node).addresses
    }

    /// The nodes that have a socket with a port.
    pub(crate) fn used(&self) -> Vec<NodeId> {
        let is_used = |host: &Host| !host.bindings.is_empty() || host.ends.is_used();
        let used = (0..).zip(&self.list).filter(|(_, host)| is_used(host));
        used.map(|(number, _)| NodeId(number)).collect()
    }

    /// The ports in TIME_WAIT, and for how long.
    pub(crate) fn waiting(
        &self,
        now: SimTime,
    ) -> impl Iterator<Item = (NodeId, u16, Duration)> + '_ {
        (0..).zip(&self.list).flat_map(move |(number, host)| {
            host.ends.waiting(now).map(move |(port, left)| (NodeId(number), port, left))
        })
    }

    /// Who gets what `node` sends to `ip`; `None` where nobody has it.
    pub(crate) fn route(&mut self, node: NodeId, ip: IpAddr) -> Option<NodeId> {
        let ip = ip.to_canonical();
        if ip.is_loopback() || ip.is_unspecified() || self.addresses(node).contains(&ip) {
            return Some(node);
        }
        if let Some(owner) = self.owners.get(&ip) {
            return Some(*owner);
        }
        // A node that has not used the network yet has its addresses all the same.
        self.of(NodeId(number_of(ip)?));
        self.owners.get(&ip).copied()
    }

    /// The address that `node` sends from to `ip`.
    pub(crate) fn source(&mut self, node: NodeId, ip: IpAddr) -> Result<IpAddr> {
        let ip = ip.to_canonical();
        if ip.is_loopback() || ip.is_unspecified() {
            return Ok(loopback(ip));
        }
        let addresses = self.addresses(node);
        let own = addresses.iter().find(|own| own.is_ipv4() == ip.is_ipv4());
        own.copied().ok_or(Errno::NETWORK_UNREACHABLE)
    }
}

impl Host {
    fn new(addresses: Vec<IpAddr>) -> Self {
        Self {
            addresses,
            bindings: BTreeMap::new(),
            ends: PortEnds::default(),
            next_port: *EPHEMERAL.start(),
            history: 0,
        }
    }

    /// Is it an address of this host, or the one that stands for all of them?
    pub(crate) fn is_own(&self, ip: IpAddr) -> bool {
        ip.is_loopback() || ip.is_unspecified() || self.addresses.contains(&ip.to_canonical())
    }

    /// Gives a socket an address; port 0 means a free one.
    pub(crate) fn bind(
        &mut self,
        protocol: Protocol,
        address: SocketAddr,
        socket: SocketKey,
        options: &Options,
        now: SimTime,
    ) -> Result<SocketAddr> {
        let ip = address.ip();
        if !self.is_own(ip) && !ip.is_multicast() && !is_broadcast(ip) {
            return Err(Errno::ADDRESS_NOT_AVAILABLE);
        }
        let binding = Binding {
            ip,
            socket,
            listens: false,
            only_v6: options.only_v6,
            reuse_address: options.reuse_address,
            reuse_port: options.reuse_port,
        };
        let port = match address.port() {
            0 => self.free_port(protocol, now).ok_or(Errno::ADDRESS_IN_USE)?,
            port if self.conflicts(protocol, port, &binding, now) => {
                return Err(Errno::ADDRESS_IN_USE);
            }
            port => port,
        };
        self.bindings.entry((protocol, port)).or_default().push(binding);
        Ok(with_port(address, port))
    }

    /// Gives a port back.
    pub(crate) fn unbind(&mut self, protocol: Protocol, port: u16, socket: SocketKey) {
        if let Some(bindings) = self.bindings.get_mut(&(protocol, port)) {
            bindings.retain(|binding| binding.socket != socket);
            if bindings.is_empty() {
                self.bindings.remove(&(protocol, port));
            }
        }
    }

    /// A bound socket takes connections from now on.
    pub(crate) fn listen(&mut self, port: u16, socket: SocketKey) -> Result<()> {
        let Some(bindings) = self.bindings.get_mut(&(Protocol::Tcp, port)) else {
            return Err(Errno::INVALID);
        };
        let Some(at) = bindings.iter().position(|binding| binding.socket == socket) else {
            return Err(Errno::INVALID);
        };
        let own = bindings[at];
        let clashes = |other: &Binding| {
            other.socket != socket
                && other.listens
                && other.overlaps(&own)
                && !(other.reuse_port && own.reuse_port)
        };
        if bindings.iter().any(clashes) {
            return Err(Errno::ADDRESS_IN_USE);
        }
        bindings[at].listens = true;
        Ok(())
    }

    /// Who gets what comes to `address`, the most exact first.
    pub(crate) fn receivers(
        &self,
        protocol: Protocol,
        address: SocketAddr,
    ) -> impl Iterator<Item = &Binding> {
        let ip = address.ip().to_canonical();
        let bindings = self.bindings.get(&(protocol, address.port())).map_or(&[][..], |b| b);
        let exact = move |binding: &&Binding| binding.ip.to_canonical() == ip;
        let wild = move |binding: &&Binding| binding.ip.is_unspecified() && binding.takes(ip);
        bindings.iter().filter(exact).chain(bindings.iter().filter(wild))
    }

    /// Who of those who take what comes to `to` gets what `from` sends there: the most exact one, and of
    /// several who share its address (`SO_REUSEPORT`) the one whose part it is.
    pub(crate) fn receiver(
        &self,
        protocol: Protocol,
        [from, to]: [SocketAddr; 2],
        takes: impl Fn(&Binding) -> bool,
    ) -> Option<SocketKey> {
        let mut receivers = self.receivers(protocol, to).filter(|binding| takes(binding));
        let first = receivers.next()?;
        let shares = |other: &&Binding| first.reuse_port && other.shares_with(first);
        let others: Vec<SocketKey> = receivers.filter(shares).map(|other| other.socket).collect();
        if others.is_empty() {
            return Some(first.socket);
        }
        let part = part_of([from, to], others.len() + 1);
        Some(part.checked_sub(1).map_or(first.socket, |at| others[at]))
    }

    /// Everybody who has this port, whatever the address.
    pub(crate) fn at_port(
        &self,
        protocol: Protocol,
        port: u16,
    ) -> impl Iterator<Item = SocketKey> + '_ {
        let bindings = self.bindings.get(&(protocol, port)).map_or(&[][..], |b| b);
        bindings.iter().map(|binding| binding.socket)
    }

    /// A free port for port 0: one that nobody has at all.
    fn free_port(&mut self, protocol: Protocol, now: SimTime) -> Option<u16> {
        self.next_port_where(|host, port| {
            let connected = protocol == Protocol::Tcp && !host.ends.is_free(port, now);
            !connected && !host.bindings.contains_key(&(protocol, port))
        })
    }

    /// A port for a connection that chooses it: no socket is bound to it, and no such connection has it.
    pub(crate) fn port_for(&mut self, outgoing: Outgoing, now: SimTime) -> Option<u16> {
        self.next_port_where(|host, port| {
            let bound = host.bindings.contains_key(&(Protocol::Tcp, port));
            !bound && host.ends.admits(port, outgoing, now)
        })
    }

    /// The next ephemeral port that will do.
    fn next_port_where(&mut self, will_do: impl Fn(&Self, u16) -> bool) -> Option<u16> {
        for _ in EPHEMERAL {
            let port = self.next_port;
            self.next_port = if port == *EPHEMERAL.end() { *EPHEMERAL.start() } else { port + 1 };
            if will_do(self, port) {
                return Some(port);
            }
        }
        None
    }

    /// One more end of a connection has this port, which it chose or not, and shares it or not.
    pub(crate) fn connect(&mut self, port: u16, shares: bool, outgoing: Option<Outgoing>) {
        self.ends.add(port, shares, outgoing);
    }

    /// One less; it keeps the port for a while where it closed first.
    pub(crate) fn disconnect(
        &mut self,
        port: u16,
        shares: bool,
        outgoing: Option<Outgoing>,
        waits: bool,
        now: SimTime,
    ) {
        self.ends.remove(port, shares, outgoing);
        if waits {
            self.ends.keep(port, shares, outgoing, now);
        }
    }

    /// Power is lost: nothing of it is left.
    pub(crate) fn forget(&mut self) {
        self.bindings.clear();
        self.ends = PortEnds::default();
    }

    fn conflicts(&self, protocol: Protocol, port: u16, own: &Binding, now: SimTime) -> bool {
        let bindings = self.bindings.get(&(protocol, port)).map_or(&[][..], |b| b);
        let shares = |other: &Binding| {
            let listens = protocol == Protocol::Tcp && other.listens;
            (other.reuse_port && own.reuse_port)
                || (other.reuse_address && own.reuse_address && !listens)
        };
        if bindings.iter().any(|other| other.overlaps(own) && !shares(other)) {
            return true;
        }
        // A port is shared where both sides do.
        protocol == Protocol::Tcp
            && bindings.is_empty()
            && self.ends.clashes(port, own.reuse_address, now)
    }
}

impl Binding {
    fn overlaps(&self, other: &Self) -> bool {
        self.takes(other.ip) || other.takes(self.ip)
    }

    /// Is one address both's, who share it?
    fn shares_with(&self, other: &Self) -> bool {
        self.reuse_port && other.reuse_port && self.ip.to_canonical() == other.ip.to_canonical()
    }

    /// Does what is sent to `ip` come here?
    fn takes(&self, ip: IpAddr) -> bool {
        match (self.ip, ip) {
            (own, ip) if own == ip => true,
            (IpAddr::V6(own), IpAddr::V4(_)) => own.is_unspecified() && !self.only_v6,
            (own, ip) => own.is_unspecified() && own.is_ipv4() == ip.is_ipv4(),
        }
    }
}

/// The addresses of a node that was given none: by its number, 10.0.x.y and fd00::n.
fn default_addresses(node: NodeId) -> [IpAddr; 2] {
    let [high, low] = node.0.to_be_bytes();
    match node {
        NodeId::NONE => [Ipv4Addr::new(10, 1, 0, 1).into(), SIM_V6.into()],
        _ => {
            let v6 = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, node.0);
            [Ipv4Addr::new(10, 0, high, low).into(), v6.into()]
        }
    }
}

/// The address of what runs on no node.
const SIM_V6: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 1, 0);

/// The number of the node that has this address by default.
fn number_of(ip: IpAddr) -> Option<u16> {
    match ip {
        IpAddr::V4(v4) => match v4.octets() {
            [10, 0, high, low] => Some(u16::from_be_bytes([high, low])),
            _ => None,
        },
        IpAddr::V6(v6) => match v6.segments() {
            [0xfd00, 0, 0, 0, 0, 0, 0, number] => Some(number),
            _ => None,
        },
    }
}

fn loopback(ip: IpAddr) -> IpAddr {
    match ip {
        IpAddr::V4(v4) if v4.is_loopback() => ip,
        IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
    }
}

/// Whose part of `parts` it is what one address sends to another: always the same one's.
fn part_of(addresses: [SocketAddr; 2], parts: usize) -> usize {
    let mut hash = 0;
    for address in addresses {
        let ip = address.ip().to_canonical();
        let bits = match ip {
            IpAddr::V4(v4) => u128::from(v4.to_bits()),
            IpAddr::V6(v6) => v6.to_bits(),
        };
        for word in [u64::from(address.port()), (bits >> 64) as u64, bits as u64] {
            hash = fold(hash, word);
        }
    }
    (hash % parts as u64) as usize
}

/// Is it many at once?
pub(crate) fn is_many(ip: IpAddr) -> bool {
    let ip = ip.to_canonical();
    ip.is_multicast() || is_broadcast(ip)
}

/// Is it 255.255.255.255?
pub(crate) fn is_broadcast(ip: IpAddr) -> bool {
    matches!(ip, IpAddr::V4(v4) if v4.is_broadcast())
}

/// The same address with another port.
pub(crate) fn with_port(mut address: SocketAddr, port: u16) -> SocketAddr {
    address.set_port(port);
    address
}
