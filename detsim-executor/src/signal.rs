//! Signals: a node is a process, and may be sent one.
//!
//! Owns: who takes which signal of which node. Does not own: what is done with it. Invariants: a signal
//! that nobody ever asked for does what it does to a process, which for nearly all of them is its end;
//! a node that stops forgets who took its signals, as a process does.

use crate::context;
use crate::event::NodeId;
use crate::kernel::Kernel;
use crate::sim::Node;
use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Takes a signal of a node, from now on.
#[derive(Clone)]
pub struct Handler {
    /// What whoever asks for the same signal again is to find.
    pub state: Arc<dyn Any + Send + Sync>,
    /// Called with it when the signal comes, as something of the node.
    pub take: fn(&(dyn Any + Send + Sync)),
}

impl fmt::Debug for Handler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handler").finish_non_exhaustive()
    }
}

/// Who takes which signal.
pub(crate) type Handlers = BTreeMap<(u16, i32), Handler>;

/// The signal of a key that interrupts.
pub const SIGINT: i32 = 2;

/// Signals that end no process where nobody takes them: SIGCHLD, SIGCONT, SIGURG and SIGWINCH, by the
/// numbers of Linux.
const HARMLESS: [i32; 4] = [17, 18, 23, 28];

impl Kernel {
    /// Who takes this signal of the node of whoever runs.
    pub fn handler(&self, signal: i32) -> Option<&Handler> {
        self.handlers.get(&(self.current_node().0, signal))
    }

    /// Has the signal taken from now on. Whatever was there comes back, to be dropped outside.
    #[must_use]
    pub fn set_handler(&mut self, signal: i32, handler: Handler) -> Option<Handler> {
        self.handlers.insert((self.current_node().0, signal), handler)
    }

    /// The node's process is gone, and with it who took its signals.
    pub(crate) fn forget_handlers(&mut self, node: NodeId) -> Handlers {
        let mut of_node = self.handlers.split_off(&(node.0, i32::MIN));
        let mut later = of_node.split_off(&(node.0.saturating_add(1), i32::MIN));
        self.handlers.append(&mut later);
        of_node
    }
}

impl Node {
    /// Sends its process the signal of a key that interrupts, as [`Self::signal`] does.
    ///
    /// # Examples
    /// ```
    /// use detsim_executor::Sim;
    /// let sim = Sim::new(7);
    /// let node = sim.node("n1");
    /// let task = node.spawn("server", std::future::pending::<()>());
    /// node.ctrl_c(); // which nobody asked for
    /// assert!(task.is_finished() && !node.is_up());
    /// ```
    #[track_caller]
    pub fn ctrl_c(&self) {
        self.signal(SIGINT);
    }

    /// Sends its process a signal, by the number that it has on Linux. Where nobody of the node ever
    /// asked for it, it ends the process as [`Self::kill`] does, unless it is one that ends none. A node
    /// that is down takes none; the tasks of a paused one see it when they go on.
    #[track_caller]
    pub fn signal(&self, signal: i32) {
        if !self.is_there() {
            return;
        }
        let handler = self.enter(|| context::with(|kernel| kernel.handler(signal).cloned()));
        match handler.flatten() {
            Some(handler) => self.enter(|| (handler.take)(&*handler.state)),
            None => self.take_unasked(signal),
        }
    }

    /// A signal that nobody of it asked for ends its process, unless it is one that ends none.
    #[track_caller]
    fn take_unasked(&self, signal: i32) {
        if !HARMLESS.contains(&signal) {
            self.kill();
        }
    }
}

/// Whoever runs sends its own process a signal, which comes once it lets others run. False where nobody
/// of it ever asked for this one: then none comes.
pub fn raise(signal: i32) -> bool {
    let of_current =
        |kernel: &mut Kernel| Some((kernel.handler(signal)?.clone(), kernel.current_node()));
    let (Some(sim), Some((handler, id))) = (context::sim(), context::with(of_current).flatten())
    else {
        return false;
    };
    let node = (id != NodeId::NONE).then(|| Node { sim: sim.clone(), id });
    let come = move || match node {
        None => (handler.take)(&*handler.state),
        Some(node) if node.is_there() => node.enter(|| (handler.take)(&*handler.state)),
        Some(_) => {}
    };
    sim.immediately(come);
    true
}

/// What becomes of the process of whoever runs by a signal that nobody of it asked for. False where
/// that is no node's, but the one that the simulation runs in, and nothing has happened.
pub fn raise_unasked(signal: i32) -> bool {
    let node = context::with(|kernel| kernel.current_node());
    let (Some(sim), Some(id)) = (context::sim(), node.filter(|node| *node != NodeId::NONE)) else {
        return false;
    };
    Node { sim, id }.take_unasked(signal);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sim;
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    fn counter() -> (Arc<AtomicU32>, Handler) {
        let count = Arc::new(AtomicU32::new(0));
        let take = |state: &(dyn Any + Send + Sync)| {
            state.downcast_ref::<AtomicU32>().unwrap().fetch_add(1, Relaxed);
        };
        (Arc::clone(&count), Handler { state: count, take })
    }

    #[test]
    fn who_asked_for_a_signal_takes_it_and_the_node_lives() {
        let sim = Sim::new(1);
        let (node, other) = (sim.node("n1"), sim.node("n2"));
        let (count, handler) = counter();
        node.enter(|| context::with(|kernel| drop(kernel.set_handler(SIGINT, handler))));
        node.ctrl_c();
        node.ctrl_c();
        assert_eq!((count.load(Relaxed), node.is_up()), (2, true));
        other.ctrl_c();
        assert_eq!((count.load(Relaxed), other.is_up()), (2, false));
    }

    #[test]
    fn a_new_process_has_asked_for_nothing() {
        let sim = Sim::new(1);
        let node = sim.node("n1");
        let (count, handler) = counter();
        node.enter(|| context::with(|kernel| drop(kernel.set_handler(SIGINT, handler))));
        node.restart();
        assert_eq!(Arc::strong_count(&count), 1);
        node.ctrl_c();
        assert_eq!((count.load(Relaxed), node.is_up()), (0, false));
    }

    #[test]
    fn some_signals_end_no_process() {
        let sim = Sim::new(1);
        let node = sim.node("n1");
        node.signal(17);
        assert!(node.is_up());
    }

    #[test]
    fn a_process_signals_itself() {
        let sim = Sim::new(1);
        let (asks, other) = (sim.node("n1"), sim.node("n2"));
        let (count, handler) = counter();
        asks.enter(|| context::with(|kernel| drop(kernel.set_handler(SIGINT, handler))));
        assert!(asks.enter(|| raise(SIGINT)) && !other.enter(|| raise(SIGINT)));
        assert_eq!(count.load(Relaxed), 0);
        sim.run().unwrap();
        assert!(other.enter(|| raise_unasked(17)) && other.is_up());
        assert!(other.enter(|| raise_unasked(SIGINT)) && !other.is_up());
        assert_eq!((count.load(Relaxed), asks.is_up()), (1, true));
        assert!(!raise(SIGINT) && !raise_unasked(SIGINT));
    }
}
