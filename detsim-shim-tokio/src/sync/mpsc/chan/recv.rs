//! Waiting for a message.
//!
//! Owns: the receiver's wait, queued in the channel's state until somebody sends or it is given up.
//! Does not own: messages and places ([`super`]).

use super::{Chan, State, give_back, give_place_own};
use crate::sync::batch_semaphore::{Halt, operate};
use crate::sync::ring::Seen;
use detsim_executor::{Block, In, OpKind, Own, Role, storable};
use std::panic::Location;
use std::task::{Context, Poll, Waker};

/// A wait for a message. Where it is pending the receiver is queued until it is woken or
/// [`Chan::unlisten`] is called.
#[derive(Debug)]
pub(crate) struct Wait<'a> {
    chan: &'a Chan,
    site: &'static Location<'static>,
    stage: Stage,
}

/// How far a wait of the receiver has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// It was not polled yet.
    Fresh,
    /// The kernel was asked whether the task is stopped before it.
    Asked,
    /// It was pending when it was polled last, and may be queued.
    Pending,
}

/// The same, given up when it is dropped.
#[derive(Debug)]
pub(crate) struct Receiving<'a> {
    wait: Wait<'a>,
}

impl<'a> Receiving<'a> {
    #[inline]
    pub(crate) fn new(chan: &'a Chan, site: &'static Location<'static>) -> Self {
        Self { wait: Wait::new(chan, site) }
    }

    /// As [`Wait::poll`].
    #[inline]
    pub(crate) fn poll(&mut self, cx: &Context<'_>, slot: Seen<'_>) -> Poll<bool> {
        self.wait.poll(cx, slot)
    }
}

impl Drop for Receiving<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.wait.stage == Stage::Pending {
            self.wait.chan.unlisten();
        }
    }
}

impl Chan {
    /// The receiver waits no more.
    fn unlisten(&self) {
        unlisten(&mut self.state.enter());
    }
}

impl<'a> Wait<'a> {
    #[inline]
    pub(crate) fn new(chan: &'a Chan, site: &'static Location<'static>) -> Self {
        Self { chan, site, stage: Stage::Fresh }
    }

    /// Polls for a message in the slot; false where none will come any more.
    ///
    /// Each way but the shortest is a call at the very end, so that nothing has to be kept meanwhile, and
    /// what this is called with stays where it is.
    #[inline(never)]
    pub(crate) fn poll(&mut self, cx: &Context<'_>, slot: Seen<'_>) -> Poll<bool> {
        let Some(mut section) = self.chan.state.enter_own() else {
            return self.poll_anyway(cx, slot, None);
        };
        // The short way: a run's own task, which has not waited, and a message is there.
        let (state, kernel) = section.both();
        if self.stage != Stage::Fresh || state.ring.len() == 0 || state.receiver.is_some() {
            return self.poll_own(cx, slot, section);
        }
        if !kernel.completes_at_once(&mut state.object, OpKind::Recv, &mut false) {
            return self.poll_anyway(cx, slot, Some(section));
        }
        get_own(section, slot, self.site)
    }

    /// A run's own task that has waited, or has to.
    #[inline(never)]
    fn poll_own(
        &mut self,
        cx: &Context<'_>,
        slot: Seen<'_>,
        mut section: Own<'a, State>,
    ) -> Poll<bool> {
        let (state, kernel) = section.both();
        let (object, mut asked) = (&mut state.object, self.stage != Stage::Fresh);
        if state.receiver.is_some() {
            // It was queued by another future, or is polled without having been woken.
        } else if state.ring.len() > 0 {
            if kernel.completes_at_once(object, OpKind::Recv, &mut asked) {
                self.stage = Stage::Asked;
                return get_own(section, slot, self.site);
            }
        } else if !state.is_over()
            && let Some(waker) = storable(cx, &mut None)
            && kernel.waits_at_once(&mut state.object, OpKind::Read, &mut asked)
        {
            let (sender, object) = (state.last_sent.party(Role::LastSent), &mut state.object);
            let wait = (OpKind::Recv, self.site);
            state.receiver = Some(Block::wait_for(kernel, object, wait, sender, waker));
            self.stage = Stage::Pending;
            return Poll::Pending;
        }
        self.poll_anyway(cx, slot, Some(section))
    }

    /// Whoever polls, from wherever.
    #[inline(never)]
    fn poll_anyway(
        &mut self,
        cx: &Context<'_>,
        slot: Seen<'_>,
        section: Option<Own<'a, State>>,
    ) -> Poll<bool> {
        let mut section = section.map_or_else(|| self.chan.state.enter(), Own::into_in);
        let (state, kernel) = section.both();
        if let Some(kernel) = kernel {
            let (object, mut asked) = (&mut state.object, self.stage != Stage::Fresh);
            let halt = Halt::before(kernel, object, OpKind::Recv, &mut asked, cx.waker());
            if self.stage == Stage::Fresh {
                self.stage = Stage::Asked;
            }
            if let Some(halt) = halt {
                drop(section);
                return halt.pending(cx);
            }
        }
        self.poll_slowly(section, cx, slot)
    }

    #[inline(never)]
    fn poll_slowly(
        &mut self,
        mut section: In<'a, State>,
        cx: &Context<'_>,
        mut slot: Seen<'_>,
    ) -> Poll<bool> {
        let mut foreign = None;
        // Where it is pending it is queued.
        self.stage = Stage::Asked;
        loop {
            let (state, mut kernel) = section.both();
            if state.get(kernel.as_deref_mut(), slot.again(), self.site) {
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
            if listen(&mut section, cx, &mut foreign, self.site) {
                self.stage = Stage::Pending;
                return Poll::Pending;
            }
            drop(section);
            foreign = Some(cx.waker().clone());
            section = self.chan.state.enter();
        }
    }
}

/// The end of an operation that receives, in a section of the run's own: the message, which is there, is
/// taken out, and its place is given to the sender that waits longest.
#[inline(always)]
fn get_own(
    mut section: Own<'_, State>,
    mut slot: Seen<'_>,
    site: &'static Location<'static>,
) -> Poll<bool> {
    let (state, kernel) = section.both();
    if !state.last_received.is_by(Some(kernel), site) || !state.ring.pop_quickly(slot.again()) {
        return get_anyway(section, slot, site);
    }
    if !state.queue.is_empty() {
        return give_place_own(section);
    }
    state.free += 1;
    Poll::Ready(true)
}

#[inline(never)]
fn get_anyway(
    mut section: Own<'_, State>,
    slot: Seen<'_>,
    site: &'static Location<'static>,
) -> Poll<bool> {
    let (state, kernel) = section.both();
    state.ring.pop(slot);
    state.received(Some(kernel), site);
    give_place_own(section)
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
            state.receiver = Some(waiter);
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
