//! The sockets of a simulation.
//!
//! Owns: [`Sockets`], the one network that the sockets of a simulation share; its table of sockets, its
//! queue of events, and how a packet takes a link. Does not own: protocols (`tcp.rs`, `udp.rs`), calls
//! with their waits (`sockets/socket.rs`), nodes. Invariants: no user code runs in here; whoever is
//! woken is woken when the world has been left; the kernel always knows when the next event is due.

mod blocking;
mod devices;
mod dispatch;
mod faults;
mod how;
mod links;
mod local;
mod netstat;
mod options;
mod packet;
mod packets;
mod socket;
mod untold;
mod usual;
mod verbs;

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Waker;

use detsim_executor::{
    Bound, Deadline, DeviceId, In, Kernel, NodeId, Object, Party, Ratio, Sim, SimTime, context,
};

pub use self::blocking::Alias;
use self::devices::{Faint, Plug};
pub use self::faults::{Cut, Net, RuleGuard};
pub use self::how::How;
pub use self::links::NetLink;
pub(crate) use self::packet::{FIRST_MESSAGE, Packet};
pub(crate) use self::packets::{Ways, describe, dropped};
pub use self::socket::Socket;
use self::untold::Untold;
pub use self::verbs::Swizzle;
use crate::agenda::Agenda;
use crate::dns::Names;
use crate::errno::{Errno, Result};
use crate::host::Protocol;
use crate::link::{LinkConfig, Order, Partition};
use crate::options::{Family, Options};
use crate::table::{Key, Table};
use crate::tcp::calls::Shorts;
use crate::tcp::{Connection, ConnectionKey, State, Step, TcpSocket};
use crate::udp::{Parcel, ParcelKey, UdpSocket};
use crate::unix::{Channel, NameTable, Unix};
use crate::waits::{Side, Waits};

/// The network that the sockets of a simulation share.
///
/// There is one for each simulation, made at the first use. Cheap to clone.
#[derive(Clone)]
pub struct Sockets {
    world: Arc<Bound<World>>,
}

/// Everything about sockets.
#[derive(Debug)]
pub(crate) struct World {
    device: Option<DeviceId>,
    pub(crate) ways: Ways,
    pub(crate) sockets: Table<Entry>,
    pub(crate) connections: Table<Connection>,
    /// Local streams and pipes, and who has which name.
    pub(crate) channels: Table<Channel>,
    pub(crate) unix_names: NameTable,
    /// Sockets that were closed where their simulation did not run.
    pub(crate) closed: Vec<SocketKey>,
    /// Datagrams on their way.
    pub(crate) parcels: Table<Parcel>,
    pub(crate) unreachable: Table<Unreachable>,
    /// Events that keep no run going.
    pub(crate) faint: Agenda<What>,
    faint_device: Option<DeviceId>,
    /// What partitions that begin from now on do.
    rule: Partition,
    pub(crate) woken: Vec<Waker>,
    /// Connections that were ever begun.
    pub(crate) connected: u64,
    pub(crate) names: Names,
    /// Host names other than the names of nodes.
    pub(crate) hostnames: BTreeMap<NodeId, String>,
    /// How often sending a segment resets its connection.
    pub(crate) resets: Ratio,
    /// The buffers of connections between hosts, in bytes, where they are other than usual.
    pub(crate) buffers: Option<usize>,
    /// The queues of sockets of UDP for what comes from other hosts, likewise.
    pub(crate) queues: Option<usize>,
    pub(crate) shorts: Shorts,
    /// No call is taken for a usual one (`sockets/usual.rs`), as a check on those.
    unusual: bool,
    /// For whom sockets are opened now.
    opens_for: u64,
}

/// For whom a socket waits: a runtime, where there are several.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Owner {
    number: u64,
    /// What calls that wait give since it has gone.
    pub(crate) gone: Option<Gone>,
}

/// Why nothing waits any more.
pub type Gone = fn() -> io::Error;

/// One socket.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) owner: Owner,
    pub(crate) object: Object,
    pub(crate) waits: Waits,
    /// What tokio would still take it to be ready for: [read, write].
    pub(crate) ready: [bool; 2],
    /// What a program has said that it is not ready for, whatever is so, until something happens to it.
    pub(crate) denied: [bool; 2],
    /// What tokio's driver has not told of yet.
    pub(crate) untold: Untold,
    /// Whether an operation that is under way has asked to be stopped: [read, write].
    pub(crate) asked: [bool; 2],
    pub(crate) node: NodeId,
    /// How often something has happened to it.
    pub(crate) changes: u32,
    /// Who used it last: [read, write].
    pub(crate) parties: [Option<Party>; 2],
    pub(crate) kind: SocketKind,
    pub(crate) options: Options,
}

pub(crate) type SocketKey = Key<Entry>;

/// What a socket is.
#[derive(Debug)]
pub(crate) enum SocketKind {
    Tcp(TcpSocket),
    Udp(UdpSocket),
    Unix(Unix),
}

/// An event of the network.
#[derive(Clone, Copy, Debug)]
pub(crate) enum What {
    Connection(ConnectionKey, Step),
    Parcel(ParcelKey),
    /// A socket learns that at its peer, on this node, nobody has the port.
    Unreachable(Key<Unreachable>),
    /// Links that held for a while hold no more.
    Clearing,
}

/// The news that nobody has a port, on its way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unreachable {
    /// Who sent to it.
    pub(crate) sender: SocketKey,
    pub(crate) peer: SocketAddr,
    pub(crate) packet: Packet,
    /// Where the port would be.
    pub(crate) from: NodeId,
}

/// What becomes of a packet that is sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flight {
    pub(crate) packet: Packet,
    pub(crate) at: SimTime,
    pub(crate) lost: bool,
    /// When a copy of it arrives as well.
    pub(crate) copy_at: Option<SimTime>,
    pub(crate) history: u64,
}

/// From a node to itself: 5 to 25 us, in order, and no faults.
fn loopback() -> LinkConfig {
    let (latency_ns_min, latency_ns_max, order) = (5_000, 25_000, Order::Fifo);
    LinkConfig { latency_ns_min, latency_ns_max, order, ..LinkConfig::default() }
}

impl Sockets {
    /// Those of the simulation that runs on this thread; `None` where none runs.
    pub fn current() -> Option<Self> {
        context::sim().map(|sim| Self::of(&sim))
    }

    /// Those of a simulation.
    pub fn of(sim: &Sim) -> Self {
        if let Some(plug) = sim.device::<Plug>() {
            return plug.0.clone();
        }
        let sockets = Self { world: Arc::new(Bound::new(World::new())) };
        let device = sim.add_device(Rc::new(Plug(sockets.clone())));
        let faint = sim.add_device(Rc::new(Faint(sockets.clone())));
        let mut world = sockets.world.enter();
        (world.device, world.faint_device) = (Some(device), Some(faint));
        drop(world);
        sockets
    }

    /// Those of a simulation that has some.
    pub fn made_of(sim: &Sim) -> Option<Self> {
        sim.device::<Plug>().map(|plug| plug.0.clone())
    }

    /// What `open` opens waits for an owner of this number, which is not 0, as long as it is there.
    pub fn opening_for<R>(&self, owner: u64, open: impl FnOnce(&Self) -> R) -> R {
        let before = std::mem::replace(&mut self.world.enter().opens_for, owner);
        let opened = open(self);
        self.world.enter().opens_for = before;
        opened
    }

    /// The owner of this number has gone: what waits for its sockets, and whoever would, is told so. Calls
    /// that do not wait go on as before.
    pub fn owner_gone(&self, owner: u64, gone: Gone) {
        self.with(|world, kernel| {
            let theirs = world.sockets.iter().filter(|(_, entry)| entry.owner.number == owner);
            let theirs: Vec<SocketKey> = theirs.map(|(key, _)| key).collect();
            for key in theirs {
                if let Some(entry) = world.sockets.get_mut(key) {
                    entry.owner.gone = Some(gone);
                    entry.waits.wake(kernel, &mut entry.object, Side::Either, &mut world.woken);
                }
            }
        });
    }

    /// No call is taken for a usual one from now on: everything takes the long way, to the same end.
    #[doc(hidden)]
    pub fn set_unusual(&self) {
        self.world.enter().unusual = true;
    }

    /// Gives `f` the world and the kernel; `None` where the simulation has ended or is another
    /// thread's.
    #[inline]
    pub(crate) fn with<R>(&self, f: impl FnOnce(&mut World, &mut Kernel) -> R) -> Option<R> {
        let mut section = self.world.enter();
        let (world, kernel) = section.both();
        let kernel = kernel?;
        world.close_left(kernel);
        let result = f(world, kernel);
        leave(&mut section);
        Some(result)
    }
}

/// Says when the next event is due, and wakes who is to be woken.
#[inline]
fn leave(section: &mut In<'_, World>) {
    let (world, kernel) = section.both();
    if let Some(kernel) = kernel {
        world.arm(kernel);
    }
    if !world.woken.is_empty() {
        wake_all(section);
    }
}

#[inline]
fn wake_all(section: &mut In<'_, World>) {
    while let Some(waker) = section.woken.pop() {
        section.wake(waker);
    }
}

impl World {
    fn new() -> Self {
        Self {
            device: None,
            ways: Ways::new(loopback()),
            sockets: Table::default(),
            connections: Table::default(),
            channels: Table::default(),
            unix_names: NameTable::default(),
            closed: Vec::new(),
            parcels: Table::default(),
            unreachable: Table::default(),
            faint: Agenda::default(),
            faint_device: None,
            rule: Partition::Drop,
            woken: Vec::new(),
            connected: 0,
            names: Names::default(),
            hostnames: BTreeMap::new(),
            resets: Ratio::NEVER,
            buffers: None,
            queues: None,
            shorts: Shorts::default(),
            unusual: false,
            opens_for: 0,
        }
    }

    /// May what is usual be done the short way?
    #[inline]
    fn is_usual(&self) -> bool {
        !self.unusual && self.closed.is_empty()
    }

    // ------------------------------------------------------------ events

    /// Tells the kernel when the next events are due, where they may be others than it knows.
    #[inline]
    fn arm(&mut self, kernel: &mut Kernel) {
        if self.ways.agenda.is_changed() || self.faint.is_changed() {
            self.arm_anew(kernel);
        }
    }

    #[inline(never)]
    fn arm_anew(&mut self, kernel: &mut Kernel) {
        self.arm_first(kernel);
        if let (true, Some(device)) = (self.faint.is_changed(), self.faint_device) {
            let first = self.faint_due();
            kernel.set_deadline(device, first);
        }
    }

    #[inline(always)]
    fn arm_first(&mut self, kernel: &mut Kernel) {
        if let (true, Some(device)) = (self.ways.agenda.is_changed(), self.device) {
            let first = self.first_due();
            kernel.set_deadline(device, first);
        }
    }

    /// When the first event is due that keeps no run going.
    fn faint_due(&mut self) -> Option<Deadline> {
        while let Some((deadline, what)) = self.faint.first()
            && self.is_stale(deadline, what)
        {
            self.faint.pop();
        }
        self.faint.take_changed();
        self.faint.first_deadline()
    }

    /// When the first event that matters is due; the agenda counts as unchanged from now on.
    #[inline(always)]
    fn first_due(&mut self) -> Option<Deadline> {
        if self.ways.agenda.is_doubtful() {
            self.prune();
        }
        self.ways.agenda.take_changed();
        self.ways.agenda.first_deadline()
    }

    /// Drops events of the past: nothing that does not matter may move the clock.
    #[inline(never)]
    fn prune(&mut self) {
        while let Some((deadline, what)) = self.ways.agenda.first()
            && self.is_stale(deadline, what)
        {
            self.ways.agenda.pop();
        }
    }

    fn is_stale(&self, deadline: Deadline, what: What) -> bool {
        let What::Connection(key, step) = what else { return false };
        let Some(connection) = self.connections.get(key) else { return true };
        match step {
            Step::Lane(side) => {
                let first = connection.lanes[side].flight.first();
                first.is_none_or(|segment| segment.deadline != deadline)
            }
            Step::Keepalive(side) => !self.is_keepalive_due(key, side, deadline),
            _ => false,
        }
    }

    fn happen(&mut self, kernel: &mut Kernel) {
        if self.ways.agenda.is_doubtful() {
            self.prune();
        }
        if let Some(what) = self.ways.agenda.pop() {
            self.happens(kernel, what);
        }
    }

    fn happens(&mut self, kernel: &mut Kernel, what: What) {
        match what {
            What::Connection(key, step) => self.step(kernel, key, step),
            What::Parcel(key) => self.parcel_due(kernel, key),
            What::Unreachable(key) => self.unreachable_due(kernel, key),
            What::Clearing => self.clear_up(kernel),
        }
    }

    fn step(&mut self, kernel: &mut Kernel, key: ConnectionKey, step: Step) {
        match step {
            Step::Lane(side) => self.lane_due(kernel, key, side),
            Step::Acks(side) => self.acks_due(kernel, key, side),
            Step::Syn(packet) => self.syn_due(kernel, key, packet),
            Step::SynAck(packet) => self.syn_ack_due(kernel, key, packet),
            Step::SynRetry => self.retry_syn(kernel, key),
            Step::Reset(side, packet) => self.reset_due(kernel, key, side, packet),
            Step::Keepalive(side) => self.keepalive_due(kernel, key, side),
            Step::Probe(side, packet) => self.probe_due(kernel, key, side, packet),
            Step::ProbeAnswer(side, packet) => self.probe_answer_due(kernel, key, side, packet),
            Step::Patience(side) => self.patience_due(kernel, key, side),
        }
    }

    // ------------------------------------------------------------ sockets

    /// A new socket of whoever runs.
    pub(crate) fn open(
        &mut self,
        kernel: &Kernel,
        kind: SocketKind,
        object: Object,
        options: Options,
    ) -> SocketKey {
        let node = kernel.current_node();
        self.ways.hosts.of(node);
        self.sockets.insert(Entry {
            node,
            owner: Owner { number: self.opens_for, gone: None },
            object,
            waits: Waits::default(),
            ready: [false, false],
            denied: [false, false],
            untold: Untold::default(),
            asked: [false, false],
            parties: [None, None],
            changes: 0,
            options,
            kind,
        })
    }

    pub(crate) fn entry(&self, key: SocketKey) -> Result<&Entry> {
        self.sockets.get(key).ok_or(Errno::BAD_FILE)
    }

    pub(crate) fn entry_mut(&mut self, key: SocketKey) -> Result<&mut Entry> {
        self.sockets.get_mut(key).ok_or(Errno::BAD_FILE)
    }

    pub(crate) fn tcp(&self, key: SocketKey) -> Result<&TcpSocket> {
        match &self.entry(key)?.kind {
            SocketKind::Tcp(tcp) => Ok(tcp),
            _ => Err(Errno::NOT_SUPPORTED),
        }
    }

    pub(crate) fn tcp_mut(&mut self, key: SocketKey) -> Result<&mut TcpSocket> {
        match &mut self.entry_mut(key)?.kind {
            SocketKind::Tcp(tcp) => Ok(tcp),
            _ => Err(Errno::NOT_SUPPORTED),
        }
    }

    /// Something happened to a socket: who waits for it is woken.
    #[inline]
    pub(crate) fn notify(&mut self, kernel: &mut Kernel, key: SocketKey, side: Side) {
        let Self { sockets, woken, .. } = self;
        let Some(entry) = sockets.get_mut(key) else { return };
        let (ready, woken_before) = (entry.ready, woken.len());
        entry.happened(side);
        entry.waits.wake(kernel, &mut entry.object, side, woken);
        if ready != entry.ready {
            entry.became_ready(kernel, ready, woken.len() > woken_before);
        }
    }

    /// Closes what was closed where its simulation did not run.
    #[inline]
    pub(crate) fn close_left(&mut self, kernel: &mut Kernel) {
        while let Some(key) = self.closed.pop() {
            self.close(kernel, key);
        }
    }

    /// A socket is no more; who waited for it has been woken.
    fn take_out(&mut self, kernel: &mut Kernel, key: SocketKey) -> Option<Entry> {
        let mut entry = self.sockets.remove(key)?;
        entry.waits.end(kernel, &mut entry.object);
        Some(entry)
    }

    /// A program closes a socket, or dies with it.
    pub(crate) fn close(&mut self, kernel: &mut Kernel, key: SocketKey) {
        self.notify(kernel, key, Side::Either);
        let Some(entry) = self.take_out(kernel, key) else { return };
        let resets = entry.options.linger.is_some_and(|linger| linger.is_zero());
        let host = self.ways.hosts.of(entry.node);
        match entry.kind {
            SocketKind::Unix(unix) => self.unix_close(kernel, key, entry.node, unix),
            SocketKind::Udp(UdpSocket { local, .. }) => {
                let port = local.map_or(0, |local| local.port());
                host.unbind(Protocol::Udp, port, key);
            }
            SocketKind::Tcp(TcpSocket { state: State::Closed { local }, .. }) => {
                let port = local.map_or(0, |local| local.port());
                host.unbind(Protocol::Tcp, port, key);
            }
            SocketKind::Tcp(TcpSocket { state: State::Listening(listener), .. }) => {
                host.unbind(Protocol::Tcp, listener.local.port(), key);
                self.close_listener(kernel, &listener);
            }
            SocketKind::Tcp(TcpSocket { state: State::Connection { key, side }, .. }) => {
                self.close_end(kernel, key, side, resets);
            }
        }
    }

    // ------------------------------------------------------------ nodes

    /// The process of a node died: its kernel closes what it had.
    fn kill(&mut self, kernel: &mut Kernel, node: NodeId) {
        self.sockets_of(node).into_iter().for_each(|key| self.close(kernel, key));
    }

    /// A node lost its power: nobody says anything.
    fn crash(&mut self, kernel: &mut Kernel, node: NodeId) {
        self.ways.dark.push(node);
        for key in self.sockets_of(node) {
            self.notify(kernel, key, Side::Either);
            // A local socket has no peer elsewhere: closing it tells nobody.
            match self.entry(key).map(|entry| &entry.kind) {
                Ok(SocketKind::Unix(_)) => self.close(kernel, key),
                _ => drop(self.take_out(kernel, key)),
            }
        }
        self.cut_power(kernel, node);
        self.doubt_peers(kernel);
        self.ways.hosts.of(node).forget();
    }

    fn sockets_of(&self, node: NodeId) -> Vec<SocketKey> {
        let of_node = self.sockets.iter().filter(|(_, entry)| entry.node == node);
        of_node.map(|(key, _)| key).collect()
    }
}

impl Entry {
    /// An end of the socket may be what it was not.
    #[inline(always)]
    pub(crate) fn happened(&mut self, side: Side) {
        self.changes = self.changes.wrapping_add(1);
        for (at, is_met) in [side != Side::Write, side != Side::Read].into_iter().enumerate() {
            self.ready[at] |= is_met;
            self.denied[at] &= !is_met;
        }
    }

    /// Which options that are numbers it has.
    pub(crate) fn family(&self) -> Result<Family> {
        match self.kind {
            SocketKind::Tcp(TcpSocket { is_v6, .. }) => Ok(Family { is_v6, is_tcp: true }),
            SocketKind::Udp(UdpSocket { is_v6, .. }) => Ok(Family { is_v6, is_tcp: false }),
            SocketKind::Unix(_) => Err(Errno::NOT_SUPPORTED),
        }
    }
}

impl fmt::Debug for Sockets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sockets").finish_non_exhaustive()
    }
}
