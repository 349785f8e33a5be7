//! Waiting for a message.
//!
//! Owns: the receiver's wait, queued in the channel's state until somebody sends or it is given up.
//! Does not own: messages and places ([`super`]).

use super::{Chan, State, give_back, hand_out_own};
use crate::sync::batch_semaphore::{Halt, operate};
use crate::sync::ring::Seen;
use detsim_executor::{Block, In, OpKind, Own, Role, storable};
use std::panic::Location;
use std::task::{Context, Poll, Waker};

/// What a wait of the receiver remembers.
#[derive(Debug)]
pub(crate) struct Wait {
    site: &'static Location<'static>,
    asked: bool,
    /// It was pending when it was polled last, and may be queued.
    pending: bool,
}

impl Wait {
    #[inline]
    pub(crate) fn new(site: &'static Location<'static>) -> Self {
        Self { site, asked: false, pending: false }
    }
}

/// A wait for a message, given up when it is dropped.
#[derive(Debug)]
pub(crate) struct Receiving<'a> {
    chan: &'a Chan,
    wait: Wait,
}

impl<'a> Receiving<'a> {
    #[inline]
    pub(crate) fn new(chan: &'a Chan, site: &'static Location<'static>) -> Self {
        Self { chan, wait: Wait::new(site) }
    }

    /// As [`Chan::poll_recv`].
    #[inline(never)]
    pub(crate) fn poll(&mut self, cx: &Context<'_>, slot: Seen<'_>) -> Poll<bool> {
        self.chan.poll_recv(cx, slot, &mut self.wait)
    }
}

impl Drop for Receiving<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.wait.pending {
            self.chan.unlisten();
        }
    }
}

impl Chan {
    /// Polls for a message in the slot; false where none will come any more. Where it is pending
    /// the receiver is queued until it is woken or [`Self::unlisten`] is called.
    ///
    /// Each way but the shortest is a call at the very end, so that nothing has to be kept meanwhile.
    #[inline]
    pub(crate) fn poll_recv(
        &self,
        cx: &Context<'_>,
        mut slot: Seen<'_>,
        wait: &mut Wait,
    ) -> Poll<bool> {
        let Some(mut section) = self.state.enter_own() else {
            return self.poll_recv_anyway(cx, slot, wait);
        };
        // The short way: a run's own task, which is not queued, and a message is there.
        let (state, kernel) = section.both();
        let is_there = state.ring.len() > 0 && state.receiver.is_none();
        if !is_there || !kernel.completes_at_once(&mut state.object, OpKind::Recv, &mut wait.asked)
        {
            drop(section);
            return self.poll_recv_anyway(cx, slot, wait);
        }
        wait.pending = false;
        state.free += 1;
        if !state.last_received.is_by(Some(kernel), wait.site)
            || !state.ring.pop_quickly(slot.again())
            || !state.queue.is_empty()
        {
            return get_and_tell(section, slot, wait.site);
        }
        Poll::Ready(true)
    }

    /// Whoever polls, from wherever.
    #[inline(never)]
    fn poll_recv_anyway(&self, cx: &Context<'_>, slot: Seen<'_>, wait: &mut Wait) -> Poll<bool> {
        let mut section = self.state.enter();
        let (state, kernel) = section.both();
        let (object, asked) = (&mut state.object, &mut wait.asked);
        if let Some(kernel) = kernel
            && let Some(halt) = Halt::before(kernel, object, OpKind::Recv, asked, cx.waker())
        {
            drop(section);
            return halt.pending(cx);
        }
        self.poll_recv_slowly(section, cx, slot, wait)
    }

    #[inline(never)]
    fn poll_recv_slowly<'a>(
        &'a self,
        mut section: In<'a, State>,
        cx: &Context<'_>,
        mut slot: Seen<'_>,
        wait: &mut Wait,
    ) -> Poll<bool> {
        let mut foreign = None;
        // Where it is pending it is queued.
        wait.pending = false;
        loop {
            let (state, mut kernel) = section.both();
            if state.get(kernel.as_deref_mut(), slot.again(), wait.site) {
                kernel.into_iter().for_each(|kernel| kernel.spend_budget());
                give_back(&mut section, 1);
                unlisten(&mut section);
                return Poll::Ready(true);
            }
            if state.is_over() {
                operate(kernel.as_deref_mut(), &mut state.object, OpKind::Read);
                kernel.into_iter().for_each(|kernel| kernel.spend_budget());
                unlisten(&mut section);
                return Poll::Ready(false);
            }
            if listen(&mut section, cx, &mut foreign, wait.site) {
                wait.pending = true;
                return Poll::Pending;
            }
            drop(section);
            foreign = Some(cx.waker().clone());
            section = self.state.enter();
        }
    }

    /// The receiver waits no more.
    fn unlisten(&self) {
        unlisten(&mut self.state.enter());
    }
}

/// The end of an operation that receives: the message is taken out, unless that is done already, and its
/// place is given to the sender that waits longest.
#[inline(never)]
fn get_and_tell(
    mut section: Own<'_, State>,
    slot: Seen<'_>,
    site: &'static Location<'static>,
) -> Poll<bool> {
    let (state, kernel) = section.both();
    let is_there = state.ring.pop_rest(slot);
    state.received(Some(kernel), site);
    hand_out_own(section);
    Poll::Ready(is_there)
}

/// Queues the receiver. False: a foreign waker is to be cloned first.
#[inline(never)]
fn listen(
    section: &mut In<'_, State>,
    cx: &Context<'_>,
    foreign: &mut Option<Waker>,
    site: &'static Location<'static>,
) -> bool {
    let Some(waker) = storable(cx, foreign) else { return false };
    let (state, mut kernel) = section.both();
    let old = match &mut state.receiver {
        Some(waiter) => Some(Block::renew(kernel, waiter, waker)),
        None => {
            operate(kernel.as_deref_mut(), &mut state.object, OpKind::Read);
            let sender = state.last_sent.party(Role::LastSent);
            let (object, parties) = (&mut state.object, sender.as_slice());
            let waiter = Block::wait(kernel, object, OpKind::Recv, site, parties, waker);
            (state.receiver, state.listened) = (Some(waiter), true);
            None
        }
    };
    section.dispose(old);
    true
}

/// The receiver waits no more.
#[inline]
pub(super) fn unlisten(section: &mut In<'_, State>) {
    if section.receiver.is_some() {
        unlisten_waiting(section);
    }
}

#[cold]
fn unlisten_waiting(section: &mut In<'_, State>) {
    let (state, kernel) = section.both();
    if let Some(waiter) = state.receiver.take() {
        let waker = Block::cancel(kernel, &mut state.object, waiter);
        section.dispose(Some(waker));
    }
}
