//! Who waits for whom at a FIFO.
//!
//! Owns: the descriptors of FIFOs that a run has opened, and the threads that wait at them, for a partner, for
//! bytes or for room. Does not own: the pipes, which are the system's.
//!
//! Invariants: the system itself never waits for such a descriptor, or the run would with it; whatever is done
//! at a FIFO wakes all who wait at it, and they look again.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::panic::Location;
use std::task::Waker;

use detsim_executor::{Block, NodeId, Object, OpKind, ResourceKind, Sim, Waiter};
use detsim_fs::{Outcome, wait_while};
use libc::c_int;

/// A FIFO: of which node, and its number there.
pub(super) type Key = (NodeId, u64);

/// An open descriptor.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    pub(super) key: Key,
    /// Calls on it are to wait, as far as the program knows.
    pub(super) waits: bool,
}

/// All of a run.
#[derive(Default)]
pub(super) struct Turns(RefCell<State>);

#[derive(Default)]
struct State {
    ends: BTreeMap<c_int, End>,
    queues: BTreeMap<Key, Queue>,
    next_wait: u64,
}

struct Queue {
    object: Object,
    waiters: Vec<(u64, Waiter)>,
}

impl Turns {
    /// What is known of a descriptor.
    pub(super) fn end(&self, fd: c_int) -> Option<End> {
        self.0.borrow().ends.get(&fd).copied()
    }

    /// A descriptor is one of a FIFO from now on; `None` for one that is closed.
    pub(super) fn set(&self, fd: c_int, end: Option<End>) {
        let ends = &mut self.0.borrow_mut().ends;
        match end {
            Some(end) => drop(ends.insert(fd, end)),
            None => drop(ends.remove(&fd)),
        }
    }

    /// Something was done at a FIFO.
    pub(super) fn wake(&self, sim: &Sim, key: Key) {
        let state = &mut *self.0.borrow_mut();
        let Some(Queue { mut object, waiters }) = state.queues.remove(&key) else { return };
        let woken: Vec<Waker> = sim.with(|kernel| {
            let waiters = waiters.into_iter();
            waiters.map(|(_, waiter)| Block::wake(Some(kernel), &mut object, waiter)).collect()
        });
        woken.into_iter().for_each(Waker::wake);
    }

    /// Waits until something was done at a FIFO.
    #[track_caller]
    pub(super) fn wait(&self, sim: &Sim, key: Key, to: OpKind) -> Outcome<()> {
        let standing = Standing { turns: self, sim, key, id: self.queue(sim, key, to) };
        wait_while(|| standing.stands())
    }

    #[track_caller]
    fn queue(&self, sim: &Sim, key: Key, to: OpKind) -> u64 {
        let site = Location::caller();
        let state = &mut *self.0.borrow_mut();
        state.next_wait += 1;
        let fresh = || Queue { object: Object::new(ResourceKind::Pipe, site), waiters: Vec::new() };
        let queue = state.queues.entry(key).or_insert_with(fresh);
        let waiter = sim.with(|kernel| {
            let waker = kernel.own_waker();
            Block::wait(Some(kernel), &mut queue.object, to, site, &[], waker)
        });
        queue.waiters.push((state.next_wait, waiter));
        state.next_wait
    }
}

/// A wait that is queued; dropping it ends it.
struct Standing<'a> {
    turns: &'a Turns,
    sim: &'a Sim,
    key: Key,
    id: u64,
}

impl Standing<'_> {
    fn stands(&self) -> bool {
        let state = self.turns.0.borrow();
        let queue = state.queues.get(&self.key);
        queue.is_some_and(|queue| queue.waiters.iter().any(|(id, _)| *id == self.id))
    }
}

impl Drop for Standing<'_> {
    fn drop(&mut self) {
        let state = &mut *self.turns.0.borrow_mut();
        let Some(queue) = state.queues.get_mut(&self.key) else { return };
        let Some(at) = queue.waiters.iter().position(|(id, _)| *id == self.id) else { return };
        let (_, waiter) = queue.waiters.remove(at);
        let object = &mut queue.object;
        drop(self.sim.with(|kernel| Block::cancel(Some(kernel), object, waiter)));
    }
}
