//! Waiting for places to send in, and for the end of the channel.
//!
//! Owns: the senders' waits, queued in the channel's state until they are granted or given up. Does not
//! own: messages and places ([`super`]).

use super::{Chan, State, give_back, wake_receiver, wake_receiver_own};
use crate::sync::batch_semaphore::{Halt, operate};
use crate::sync::queue::{Stage, Ticket};
use crate::sync::ring::Seen;
use detsim_executor::{Block, In, OpKind, Own, Role, storable};
use std::panic::Location;
use std::task::{Context, Poll, Waker};

/// A wait for places to send in.
#[derive(Debug)]
pub(crate) struct Sending<'a> {
    chan: &'a Chan,
    places: usize,
    stage: Stage,
    site: &'static Location<'static>,
}

impl<'a> Sending<'a> {
    #[inline]
    pub(crate) fn new(chan: &'a Chan, places: usize, site: &'static Location<'static>) -> Self {
        Self { chan, places, stage: Stage::Fresh, site }
    }

    /// Waits for a place and sends the message in the slot. False: the channel is closed, and the
    /// message stays in the slot.
    ///
    /// Each way but the shortest is a call at the very end, so that nothing has to be kept meanwhile, and
    /// what this is called with stays where it is.
    #[inline(never)]
    pub(crate) fn poll_send(&mut self, cx: &Context<'_>, slot: Seen<'_>) -> Poll<bool> {
        let Some(mut section) = self.chan.state.enter_own() else {
            return self.poll_send_slowly(cx, slot, None);
        };
        // The short way: a run's own task, and there is a place for the message.
        let (state, kernel) = section.both();
        if self.stage.is_asked() {
            return self.poll_granted(cx, slot, section);
        }
        if state.free == 0 || state.closed {
            return self.poll_full(cx, slot, section);
        }
        if !kernel.completes_at_once(&mut state.object, OpKind::Send, &mut false) {
            return self.poll_send_slowly(cx, slot, Some(section));
        }
        state.free -= 1;
        put_own(section, slot, self.site)
    }

    /// A run's own task that has to wait.
    #[inline(never)]
    fn poll_full(
        &mut self,
        cx: &Context<'_>,
        slot: Seen<'_>,
        mut section: Own<'a, State>,
    ) -> Poll<bool> {
        let (state, kernel) = section.both();
        if !state.closed
            && let Some(waker) = storable(cx, &mut None)
            && kernel.waits_at_once(&mut state.object, OpKind::Read, &mut false)
        {
            // Told to the graph whether or not others wait for the same: to tell that apart takes longer.
            let receiver = state.last_received.party(Role::LastReceived);
            let (object, wait) = (&mut state.object, (OpKind::Send, self.site));
            let waiter = Block::wait_for(kernel, object, wait, receiver, waker);
            self.stage = Stage::Queued(state.queue.push(waiter, self.places));
            return Poll::Pending;
        }
        self.poll_send_slowly(cx, slot, Some(section))
    }

    /// A run's own task that was polled before, and has waited most often.
    #[inline(never)]
    fn poll_granted(
        &mut self,
        cx: &Context<'_>,
        slot: Seen<'_>,
        mut section: Own<'a, State>,
    ) -> Poll<bool> {
        let (state, kernel) = section.both();
        if let Stage::Queued(ticket) = &self.stage
            && state.queue.is_granted(ticket)
            && !state.closed
            && kernel.completes_at_once(&mut state.object, OpKind::Send, &mut true)
            && let Some(ticket) = self.stage.leave()
        {
            state.queue.end_granted(kernel, &mut state.object, ticket);
            return put_own(section, slot, self.site);
        }
        self.poll_send_slowly(cx, slot, Some(section))
    }

    /// All others.
    #[inline(never)]
    fn poll_send_slowly(
        &mut self,
        cx: &Context<'_>,
        slot: Seen<'_>,
        section: Option<Own<'a, State>>,
    ) -> Poll<bool> {
        let section = section.map_or_else(|| self.chan.state.enter(), Own::into_in);
        self.poll_anyway(section, cx, OpKind::Send, Some(slot))
    }

    /// Waits for the places, and has them promised. False: the channel is closed.
    pub(crate) fn poll_reserve(&mut self, cx: &Context<'_>) -> Poll<bool> {
        self.poll_anyway(self.chan.state.enter(), cx, OpKind::Acquire, None)
    }

    /// Whoever polls, from wherever.
    #[inline(never)]
    fn poll_anyway(
        &mut self,
        mut section: In<'a, State>,
        cx: &Context<'_>,
        operation: OpKind,
        slot: Option<Seen<'_>>,
    ) -> Poll<bool> {
        let (state, kernel) = section.both();
        if let Some(kernel) = kernel {
            let (object, mut asked) = (&mut state.object, self.stage.is_asked());
            let halt = Halt::before(kernel, object, operation, &mut asked, cx.waker());
            self.stage.ask();
            if let Some(halt) = halt {
                drop(section);
                return halt.pending(cx);
            }
        }
        self.poll_slowly(section, cx, operation, slot)
    }

    #[inline(never)]
    fn poll_slowly(
        &mut self,
        mut section: In<'a, State>,
        cx: &Context<'_>,
        operation: OpKind,
        mut slot: Option<Seen<'_>>,
    ) -> Poll<bool> {
        let mut foreign = None;
        loop {
            let (state, kernel) = section.both();
            if state.closed || state.capacity < self.places {
                operate(kernel, &mut state.object, OpKind::Read);
                return Poll::Ready(false);
            }
            if self.has_places(&mut section) {
                self.finish(&mut section, slot.as_mut().map(Seen::again));
                return Poll::Ready(true);
            }
            if self.queue(&mut section, cx, operation, &mut foreign) {
                return Poll::Pending;
            }
            drop(section);
            foreign = Some(cx.waker().clone());
            section = self.chan.state.enter();
        }
    }

    /// Whether the places are this one's now.
    #[inline]
    fn has_places(&mut self, section: &mut In<'_, State>) -> bool {
        if matches!(self.stage, Stage::Queued(_)) {
            return self.take_granted(section);
        }
        let left = section.free.checked_sub(self.places);
        if let Some(left) = left {
            section.free = left;
        }
        left.is_some()
    }

    #[inline(never)]
    fn take_granted(&mut self, section: &mut In<'_, State>) -> bool {
        let Stage::Queued(ticket) = &self.stage else { return false };
        if !section.queue.is_granted(ticket) {
            return false;
        }
        let Some(ticket) = self.stage.leave() else { return false };
        let (state, kernel) = section.both();
        let (waker, _) = state.queue.leave(ticket).end(kernel, &mut state.object);
        section.dispose(Some(waker));
        true
    }

    #[inline]
    fn finish(&self, section: &mut In<'_, State>, slot: Option<Seen<'_>>) {
        let (state, mut kernel) = section.both();
        kernel.iter_mut().for_each(|kernel| kernel.spend_budget());
        match slot {
            Some(slot) => state.put(kernel, slot, self.site),
            None => {
                operate(kernel, &mut state.object, OpKind::Acquire);
                return;
            }
        }
        wake_receiver(section);
    }

    /// Queues the sender. False: a foreign waker is to be cloned first.
    #[inline(never)]
    fn queue(
        &mut self,
        section: &mut In<'_, State>,
        cx: &Context<'_>,
        operation: OpKind,
        foreign: &mut Option<Waker>,
    ) -> bool {
        let Some(waker) = storable(cx, foreign) else { return false };
        let (state, mut kernel) = section.both();
        if let Stage::Queued(ticket) = &self.stage {
            let old = state.queue.renew(kernel, ticket, waker);
            section.dispose(old);
            return true;
        }
        operate(kernel.as_deref_mut(), &mut state.object, OpKind::Read);
        let receiver = state.last_received.party(Role::LastReceived);
        let (object, parties) = (&mut state.object, receiver.as_slice());
        let waiter = Block::wait(kernel, object, operation, self.site, parties, waker);
        // What is free is not enough: it is the beginning of what this one waits for.
        let missing = self.places - std::mem::take(&mut state.free);
        self.stage = Stage::Queued(state.queue.push(waiter, missing));
        true
    }

    /// Gives up a wait: what was promised goes on to the next.
    #[cold]
    fn cancel(&mut self) {
        let Some(ticket) = self.stage.leave() else { return };
        let mut section = self.chan.state.enter();
        let (state, kernel) = section.both();
        let (waker, missing) = state.queue.leave(ticket).end(kernel, &mut state.object);
        section.dispose(Some(waker));
        give_back(&mut section, self.places - missing);
        if section.is_over() {
            wake_receiver(&mut section);
        }
    }
}

impl Drop for Sending<'_> {
    #[inline]
    fn drop(&mut self) {
        if matches!(self.stage, Stage::Queued(_)) {
            self.cancel();
        }
    }
}

/// The end of an operation that sends, in a section of the run's own: the message is put in, and the
/// receiver is woken if it waits.
#[inline(always)]
pub(super) fn put_own(
    mut section: Own<'_, State>,
    mut slot: Seen<'_>,
    site: &'static Location<'static>,
) -> Poll<bool> {
    let (state, kernel) = section.both();
    state.last_sent.note(Some(kernel), site);
    if !state.ring.push_quickly(slot.again()) {
        return put_anyway(section, slot);
    }
    if state.receiver.is_some() {
        return wake_receiver_own(section);
    }
    Poll::Ready(true)
}

#[inline(never)]
fn put_anyway(mut section: Own<'_, State>, slot: Seen<'_>) -> Poll<bool> {
    let (state, _) = section.both();
    state.ring.push(slot);
    wake_receiver_own(section)
}

/// A wait for the channel to close.
#[derive(Debug)]
pub(crate) struct Closing<'a> {
    chan: &'a Chan,
    asked: bool,
    ticket: Option<Ticket>,
    site: &'static Location<'static>,
}

impl<'a> Closing<'a> {
    pub(crate) fn new(chan: &'a Chan, site: &'static Location<'static>) -> Self {
        Self { chan, asked: false, ticket: None, site }
    }

    pub(crate) fn poll(&mut self, cx: &Context<'_>) -> Poll<()> {
        let mut foreign = None;
        loop {
            let mut section = self.chan.state.enter();
            let (state, mut kernel) = section.both();
            if let Some(kernel) = kernel.as_deref_mut()
                && kernel.stops_before(&mut state.object, OpKind::Read, &mut self.asked, cx.waker())
            {
                return Poll::Pending;
            }
            if state.closed {
                operate(kernel, &mut state.object, OpKind::Read);
                return Poll::Ready(());
            }
            let Some(waker) = storable(cx, &mut foreign) else {
                drop(section);
                foreign = Some(cx.waker().clone());
                continue;
            };
            let old = match &self.ticket {
                Some(ticket) => state.closing.renew(kernel, ticket, waker),
                None => {
                    let receiver = state.last_received.party(Role::LastReceived);
                    let (object, parties) = (&mut state.object, receiver.as_slice());
                    let (kind, site) = (OpKind::Close, self.site);
                    let waiter = Block::wait(kernel, object, kind, site, parties, waker);
                    self.ticket = Some(state.closing.push(waiter, ()));
                    None
                }
            };
            section.dispose(old);
            return Poll::Pending;
        }
    }
}

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        let Some(ticket) = self.ticket.take() else { return };
        let mut section = self.chan.state.enter();
        let (state, kernel) = section.both();
        let (waker, ()) = state.closing.leave(ticket).end(kernel, &mut state.object);
        section.dispose(Some(waker));
    }
}
