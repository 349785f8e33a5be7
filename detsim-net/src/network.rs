//! Messages between nodes.
//!
//! Owns: [`Network`], the payloads on their way and the handlers. Does not own: when a message
//! arrives or whether (`wire.rs`). Invariants: nothing is borrowed while code of a user runs, be it a
//! handler, a `Clone` or a `Drop`; payloads and handlers are gone when the simulation ends, even
//! where they hold the network.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;

use detsim_executor::{Deadline, Device, Kernel, NodeId, Sim};

use crate::link::Partition;
use crate::links::known;
use crate::node_set::NodeSet;
use crate::stats::NetStats;
use crate::wire::{self, Due, NO_SLOT, Wire};

/// What a node does with a message: it is told who sent it.
type Handler<M> = Box<dyn FnMut(NodeId, M)>;
type CopyOf<M> = fn(&M) -> M;

/// A network that carries messages of type `M` between the nodes of a simulation.
///
/// Cheap to clone, and usable from handlers, callbacks and tasks. A new network delays each
/// message by 0.1 to 1 ms, loses none and duplicates none; messages may overtake each other.
///
/// # Nodes
/// A handler runs as its node: tasks that it spawns are the node's. It stays registered when the
/// node is crashed and restarted; where it holds what a crash must take, register a new one in
/// [`Node::on_start`](detsim_executor::Node::on_start). Messages that are due while a node is
/// down are lost; while it is paused, they wait until it resumes. What a node sent before it
/// stopped still arrives.
///
/// # Determinism
/// All draws come from streams of the links, see the crate's documentation. Deliveries and losses
/// are part of the run's hash, with what happened before them.
///
/// # Panics
/// Methods that are given a node panic where it was never made; all but `clone` and `stats` where
/// the simulation has ended.
pub struct Network<M> {
    pub(crate) shared: Rc<Shared<M>>,
}

pub(crate) struct Shared<M> {
    pub(crate) sim: Sim,
    pub(crate) wire: RefCell<Wire>,
    store: RefCell<Store<M>>,
    /// How to copy a message; there before any link may duplicate.
    pub(crate) copy: Cell<Option<CopyOf<M>>>,
}

/// What a user gave into the network.
struct Store<M> {
    /// By slot of the wire.
    payloads: Vec<Option<M>>,
    /// By node; taken out while it runs.
    handlers: Vec<Option<Handler<M>>>,
}

impl<M: 'static> Network<M> {
    /// A network over `sim`, without messages or partitions.
    #[track_caller]
    pub fn new(sim: &Sim) -> Self {
        let shared = Rc::new(Shared {
            sim: sim.clone(),
            wire: RefCell::new(Wire::new()),
            store: RefCell::default(),
            copy: Cell::new(None),
        });
        let device = sim.add_device(Rc::clone(&shared) as Rc<dyn Device>);
        shared.wire.borrow_mut().plug_in(device);
        Self { shared }
    }
}

impl<M> Network<M> {
    /// Says what `node` does with a message, in place of what it did before.
    #[track_caller]
    pub fn register(&self, node: NodeId, handler: impl FnMut(NodeId, M) + 'static) {
        known(self.with(|wire, kernel| wire.listen(kernel, node)));
        let mut store = self.shared.store.borrow_mut();
        let at = usize::from(node.0);
        if at >= store.handlers.len() {
            store.handlers.resize_with(at + 1, || None);
        }
        let old = store.handlers[at].replace(Box::new(handler));
        drop(store);
        drop(old);
    }

    /// Sends a message. It is lost if the link drops at this moment or when it is due, or if
    /// nobody listens when it is due. A node may send to itself; no partition is in between.
    #[inline]
    #[track_caller]
    pub fn send(&self, from: NodeId, to: NodeId, message: M) {
        let sent = wire::send(&self.shared.sim, &self.shared.wire, from, to);
        if sent.copy != NO_SLOT {
            self.shared.put_copy(sent.copy, &message);
        }
        if sent.slot != NO_SLOT {
            self.shared.put(sent.slot, message);
        }
    }

    /// Cuts every link between the nodes of `a` and those of `b`, both ways, as the partition rule
    /// has it; a link that is cut already takes the rule of now.
    ///
    /// # Examples
    /// ```
    /// use detsim_executor::Sim;
    /// use detsim_net::Network;
    /// let sim = Sim::new(7);
    /// let [a, b, c] = ["a", "b", "c"].map(|name| sim.node(name).id());
    /// let network = Network::<()>::new(&sim);
    /// network.register(c, |_, ()| unreachable!("it is cut off"));
    /// network.partition([a, b], c);
    /// network.send(a, c, ());
    /// sim.run().unwrap();
    /// assert_eq!(network.stats().dropped_by_partition, 1);
    /// ```
    #[track_caller]
    pub fn partition(&self, a: impl NodeSet, b: impl NodeSet) {
        self.cut(a.ids(), b.ids());
        self.cut(b.ids(), a.ids());
    }

    /// Cuts every link from the nodes of `from` to those of `to`; the other way stays as it is.
    #[track_caller]
    pub fn partition_one_way(&self, from: impl NodeSet, to: impl NodeSet) {
        self.cut(from.ids(), to.ids());
    }

    /// Opens every link between the nodes of `a` and those of `b`, both ways.
    #[track_caller]
    pub fn heal(&self, a: impl NodeSet, b: impl NodeSet) {
        self.heal_one_way(&a, &b);
        self.heal_one_way(&b, &a);
    }

    /// Opens every link from the nodes of `from` to those of `to`.
    #[track_caller]
    pub fn heal_one_way(&self, from: impl NodeSet, to: impl NodeSet) {
        known(self.with(|wire, kernel| wire.open(kernel, from.ids(), to.ids())));
    }

    /// Opens every link.
    #[track_caller]
    pub fn heal_all(&self) {
        self.with(Wire::open_all);
    }

    /// What the partitions that begin from now on do with messages; at first they drop them.
    #[track_caller]
    pub fn set_partition_rule(&self, rule: Partition) {
        self.with(|wire, _| wire.set_rule(rule));
    }

    /// What went over the network so far.
    pub fn stats(&self) -> NetStats {
        self.shared.wire.borrow().stats()
    }

    #[track_caller]
    fn cut(&self, from: &[NodeId], to: &[NodeId]) {
        let lost = known(self.with(|wire, kernel| wire.cut(kernel, from, to)));
        self.shared.discard(&lost);
    }

    #[track_caller]
    pub(crate) fn with<R>(&self, f: impl FnOnce(&mut Wire, &mut Kernel) -> R) -> R {
        wire::with(&self.shared.sim, &self.shared.wire, f)
    }
}

impl<M> Shared<M> {
    fn put(&self, slot: u32, message: M) {
        let payloads = &mut self.store.borrow_mut().payloads;
        match payloads.get_mut(slot as usize) {
            Some(payload) => *payload = Some(message),
            // The wire numbers its slots without a gap; one is left out where a copy is made,
            // because that has the higher number and comes first.
            None => {
                payloads.resize_with(slot as usize, || None);
                payloads.push(Some(message));
            }
        }
    }

    #[cold]
    fn put_copy(&self, slot: u32, message: &M) {
        let copy = self.copy.get().expect("invariant: a link that duplicates was told how to");
        self.put(slot, copy(message));
    }

    /// Takes payloads out, and drops them with nothing borrowed. A slot is empty where a copy was
    /// to be made and the message's `Clone` panicked.
    fn discard(&self, slots: &[u32]) {
        for slot in slots {
            let payload =
                self.store.borrow_mut().payloads.get_mut(*slot as usize).map(Option::take);
            drop(payload);
        }
    }

    fn deliver(&self, slot: u32, from: NodeId, to: NodeId) {
        let at = usize::from(to.0);
        let mut store = self.store.borrow_mut();
        let Store { payloads, handlers } = &mut *store;
        let message = payloads.get_mut(slot as usize).and_then(Option::take);
        let handler = handlers.get_mut(at).and_then(Option::take);
        drop(store);
        let (Some(message), Some(mut handler)) = (message, handler) else { return };
        handler(from, message);
        let mut store = self.store.borrow_mut();
        // It may have registered another in its place.
        if store.handlers[at].is_none() {
            store.handlers[at] = Some(handler);
        }
    }

    fn stop(&self, node: NodeId) {
        let lost = wire::with(&self.sim, &self.wire, |wire, kernel| wire.forget(kernel, node));
        self.discard(&lost);
    }
}

impl<M: 'static> Device for Shared<M> {
    fn next_deadline(&self) -> Option<Deadline> {
        self.wire.borrow().next_deadline()
    }

    fn tells(&self) -> bool {
        true
    }

    fn handle(&self) {
        match wire::receive(&self.wire) {
            Some(Due::Delivered { slot, from, to }) => self.deliver(slot, from, to),
            Some(Due::Lost { slot }) => self.discard(&[slot]),
            Some(Due::Held) | None => {}
        }
    }

    fn on_crash(&self, node: NodeId) {
        self.stop(node);
    }

    fn on_kill(&self, node: NodeId) {
        self.stop(node);
    }

    fn on_resume(&self, _node: NodeId) {
        wire::with(&self.sim, &self.wire, Wire::release);
    }

    fn on_end(&self) {
        let store = self.store.take();
        drop(store);
    }
}

impl<M> Default for Store<M> {
    fn default() -> Self {
        Self { payloads: Vec::new(), handlers: Vec::new() }
    }
}

impl<M> Clone for Network<M> {
    fn clone(&self) -> Self {
        Self { shared: Rc::clone(&self.shared) }
    }
}

impl<M> fmt::Debug for Network<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Network").field("stats", &self.stats()).finish_non_exhaustive()
    }
}
