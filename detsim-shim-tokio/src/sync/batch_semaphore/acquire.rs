//! Waiting for permits.
//!
//! Owns: [`Acquire`], one such wait, queued in the semaphore's state until it is granted or given up. Does
//! not own: permits, or to whom they are given ([`super`]).

use super::{Permit, Semaphore, State, Wanted, hand_out, hand_out_own, operate};
use crate::sync::errors;
use crate::sync::holders::Key;
use crate::sync::queue::Ticket;
use crate::task::coop;
use detsim_executor::{
    Block, In, Kernel, OpKind, Own, Party, Role, TaskTag, Waiter, nobody, storable,
};
use std::panic::Location;
use std::task::{Context, Poll, Waker};
use tokio::sync::AcquireError;

/// A wait for permits.
#[derive(Debug)]
pub(crate) struct Acquire<'a> {
    semaphore: &'a Semaphore,
    count: u32,
    role: Role,
    asked: bool,
    ticket: Option<Ticket>,
    site: &'static Location<'static>,
}

impl<'a> Acquire<'a> {
    #[inline]
    pub(super) fn new(
        semaphore: &'a Semaphore,
        count: u32,
        role: Role,
        site: &'static Location<'static>,
    ) -> Self {
        Self { semaphore, count, role, asked: false, ticket: None, site }
    }

    /// Looks whether the wait is over, or waits on.
    fn poll_queued(
        &mut self,
        section: &mut In<'_, State>,
        cx: &Context<'_>,
        foreign: &mut Option<Waker>,
    ) -> Option<Poll<Result<Key, Closed>>> {
        let ticket = self.ticket.take()?;
        let (state, mut kernel) = section.both();
        if !state.queue.is_granted(&ticket) {
            let Some(waker) = storable(cx, foreign) else {
                self.ticket = Some(ticket);
                return None;
            };
            let old = state.queue.renew(kernel, &ticket, waker);
            self.ticket = Some(ticket);
            section.dispose(old);
            return Some(Poll::Pending);
        }
        if state.closed {
            // Dropping this gives back what was granted before the end.
            self.ticket = Some(ticket);
            return Some(Poll::Ready(Err(Closed)));
        }
        let left = state.queue.leave(ticket);
        let (waker, wanted) = left.end(kernel.as_deref_mut(), &mut state.object);
        let (operation, _) = state.operations();
        if let Some(kernel) = kernel {
            kernel.operate(&mut state.object, operation);
            kernel.spend_budget();
        }
        section.dispose(Some(waker));
        Some(Poll::Ready(Ok(wanted.key)))
    }

    /// The task as a holder of all that it asks for.
    #[inline]
    fn party(&self, task: TaskTag) -> Party {
        let Self { count, role, site, .. } = *self;
        Party { task, role, site, count }
    }

    /// What a wait for this operation is called: a lock is waited for to read, or to write.
    fn shown(&self, operation: OpKind) -> OpKind {
        match self.role {
            Role::Reads => OpKind::Read,
            Role::Writes => OpKind::Write,
            _ => operation,
        }
    }

    /// Takes the permits, or begins to wait.
    fn poll_first(
        &mut self,
        section: &mut In<'_, State>,
        cx: &Context<'_>,
        foreign: &mut Option<Waker>,
    ) -> Option<Poll<Result<Key, Closed>>> {
        let (state, mut kernel) = section.both();
        if state.closed {
            operate(kernel, &mut state.object, OpKind::Read);
            return Some(Poll::Ready(Err(Closed)));
        }
        if let Some(key) = state.take(kernel.as_deref_mut(), self.count, self.role, self.site) {
            return Some(Poll::Ready(Ok(key)));
        }
        let waker = storable(cx, foreign)?;
        self.begin_wait(state, kernel, waker);
        Some(Poll::Pending)
    }

    /// Waits behind all others.
    fn begin_wait(&mut self, state: &mut State, mut kernel: Option<&mut Kernel>, waker: Waker) {
        let (operation, _) = state.operations();
        let task = operate(kernel.as_deref_mut(), &mut state.object, operation);
        let parties = state.holders.parties();
        let (object, waits) = (&mut state.object, self.shown(operation));
        let waiter = Block::wait(kernel, object, waits, self.site, parties, waker);
        self.queue(state, task, waiter);
    }

    /// As [`Self::begin_wait`], after [`Kernel::waits_at_once`].
    #[inline]
    fn begin_wait_own(
        &mut self,
        state: &mut State,
        kernel: &mut Kernel,
        operation: OpKind,
        waker: Waker,
    ) {
        // Whoever waits behind others waits for the same holders, and was told whenever they changed.
        let parties = state.queue.is_empty().then(|| state.holders.parties());
        let (object, waits) = (&mut state.object, self.shown(operation));
        let waiter = Block::wait_own(kernel, object, (waits, self.site), parties, waker);
        self.queue(state, kernel.current_tag(), waiter);
    }

    #[inline(always)]
    fn queue(&mut self, state: &mut State, task: TaskTag, waiter: Waiter) {
        // What is free is not enough: it is the beginning of what this one waits for.
        let missing = self.count - std::mem::take(&mut state.free) as u32;
        let wanted = Wanted { party: self.party(task), missing, key: Key::NOBODY };
        self.ticket = Some(state.queue.push(waiter, wanted));
    }

    /// Polls for the permits.
    #[inline]
    pub(crate) fn poll(&mut self, cx: &Context<'_>) -> Poll<Result<Permit<'a>, Closed>> {
        match self.poll_key(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Err(closed)) => Poll::Ready(Err(closed)),
            Poll::Ready(Ok(key)) => {
                Poll::Ready(Ok(Permit { semaphore: self.semaphore, key, count: self.count }))
            }
        }
    }

    /// Each way but the shortest is a call at the very end, so that nothing has to be kept meanwhile.
    #[inline(never)]
    fn poll_key(&mut self, cx: &Context<'_>) -> Poll<Result<Key, Closed>> {
        let Some(mut section) = self.semaphore.state.enter_own() else {
            return self.poll_key_anyway(cx, None);
        };
        let (state, kernel) = section.both();
        if self.ticket.is_some() {
            return self.poll_granted(cx, section);
        }
        if state.free < self.count as usize || state.closed {
            return self.poll_short(cx, section);
        }
        // The short way: a run's own task, which need not be stopped, nor yield.
        let (operation, _) = state.operations();
        if !kernel.completes_at_once(&mut state.object, operation, &mut self.asked) {
            return self.poll_key_anyway(cx, Some(section));
        }
        state.free -= self.count as usize;
        Poll::Ready(Ok(state.holders.add(self.party(kernel.current_tag()))))
    }

    /// A run's own task that has to wait.
    #[inline(never)]
    fn poll_short(
        &mut self,
        cx: &Context<'_>,
        mut section: Own<'a, State>,
    ) -> Poll<Result<Key, Closed>> {
        let (state, kernel) = section.both();
        let (operation, _) = state.operations();
        if state.closed && kernel.waits_at_once(&mut state.object, OpKind::Read, &mut self.asked) {
            return Poll::Ready(Err(Closed));
        }
        if !state.closed
            && let Some(waker) = storable(cx, &mut None)
            && kernel.waits_at_once(&mut state.object, operation, &mut self.asked)
        {
            self.begin_wait_own(state, kernel, operation, waker);
            return Poll::Pending;
        }
        self.poll_key_anyway(cx, Some(section))
    }

    /// A run's own task that has waited.
    #[inline(never)]
    fn poll_granted(
        &mut self,
        cx: &Context<'_>,
        mut section: Own<'a, State>,
    ) -> Poll<Result<Key, Closed>> {
        let (state, kernel) = section.both();
        let (operation, _) = state.operations();
        let granted = self.ticket.as_ref().is_some_and(|ticket| state.queue.is_granted(ticket));
        if granted && state.closed && kernel.has_budget() {
            // Dropping this gives back what was granted before the end.
            return Poll::Ready(Err(Closed));
        }
        if granted
            && !state.closed
            && kernel.completes_at_once(&mut state.object, operation, &mut self.asked)
            && let Some(ticket) = self.ticket.take()
        {
            let wanted = state.queue.end_granted(kernel, &mut state.object, ticket);
            return Poll::Ready(Ok(wanted.key));
        }
        self.poll_key_anyway(cx, Some(section))
    }

    /// Whoever polls, from wherever.
    #[inline(never)]
    fn poll_key_anyway(
        &mut self,
        cx: &Context<'_>,
        section: Option<Own<'a, State>>,
    ) -> Poll<Result<Key, Closed>> {
        let mut section = section.map_or_else(|| self.semaphore.state.enter(), Own::into_in);
        let (state, kernel) = section.both();
        if let (Some(kernel), None) = (kernel, &self.ticket) {
            let (operation, _) = state.operations();
            if kernel.stops_before(&mut state.object, operation, &mut self.asked, cx.waker()) {
                return Poll::Pending;
            }
            if !state.closed
                && let Some(key) = state.take(Some(&mut *kernel), self.count, self.role, self.site)
            {
                if kernel.has_budget() {
                    kernel.spend_budget();
                    return Poll::Ready(Ok(key));
                }
                self.keep(section, key);
                return coop::exhausted(cx);
            }
        }
        self.poll_key_slowly(section, cx)
    }

    /// Keeps permits that the task has no budget left to go on with. As in tokio it has its turn all
    /// the same, and holds up those who come after it.
    #[cold]
    fn keep(&mut self, mut section: In<'a, State>, key: Key) {
        let (state, kernel) = section.both();
        let (operation, _) = state.operations();
        let task = kernel.as_ref().map_or(TaskTag::NOBODY, |kernel| kernel.current_tag());
        let (object, waits) = (&mut state.object, self.shown(operation));
        let waiter = Block::wait(kernel, object, waits, self.site, &[], nobody());
        let wanted = Wanted { party: self.party(task), missing: 0, key };
        self.ticket = Some(state.queue.push_granted(waiter, wanted));
    }

    #[inline(never)]
    fn poll_key_slowly(
        &mut self,
        mut section: In<'a, State>,
        cx: &Context<'_>,
    ) -> Poll<Result<Key, Closed>> {
        let mut foreign = None;
        if self.is_out_of_budget(&mut section) {
            drop(section);
            return coop::exhausted(cx);
        }
        loop {
            let polled = match self.ticket {
                None => self.poll_first(&mut section, cx, &mut foreign),
                Some(_) => self.poll_queued(&mut section, cx, &mut foreign),
            };
            match polled {
                Some(polled) => return polled,
                None => drop(section),
            }
            foreign = Some(cx.waker().clone());
            section = self.semaphore.state.enter();
        }
    }

    /// Whether its permits are there, but the task has no budget left to take them.
    fn is_out_of_budget(&self, section: &mut In<'_, State>) -> bool {
        let (state, kernel) = section.both();
        let granted = self.ticket.as_ref().is_some_and(|ticket| state.queue.is_granted(ticket));
        granted && kernel.is_some_and(|kernel| !kernel.has_budget())
    }

    /// Gives up a wait: what was given already goes on to the next.
    #[cold]
    fn cancel(&mut self, ticket: Ticket) {
        let mut section = self.semaphore.state.enter();
        let (state, mut kernel) = section.both();
        let (_, operation) = state.operations();
        operate(kernel.as_deref_mut(), &mut state.object, operation);
        let left = state.queue.leave(ticket);
        let (waker, wanted) = left.end(kernel, &mut state.object);
        state.holders.remove(wanted.key);
        section.dispose(Some(waker));
        hand_out(section, (wanted.party.count - wanted.missing) as usize);
    }

    /// As [`Self::cancel`], of a run's own task that was granted what it waited for, or told that it
    /// waits in vain. The ticket comes back where this is no such wait.
    #[inline(never)]
    fn cancel_granted(&mut self, ticket: Ticket) -> Option<Ticket> {
        let Some(mut section) = self.semaphore.state.enter_own() else { return Some(ticket) };
        let (state, kernel) = section.both();
        if !state.queue.is_granted(&ticket) {
            return Some(ticket);
        }
        let (_, operation) = state.operations();
        kernel.operate(&mut state.object, operation);
        let wanted = state.queue.end_granted(kernel, &mut state.object, ticket);
        state.holders.remove(wanted.key);
        hand_out_own(section, (wanted.party.count - wanted.missing) as usize);
        None
    }
}

/// The semaphore was closed.
#[derive(Debug)]
pub(crate) struct Closed;

impl From<Closed> for AcquireError {
    fn from(_: Closed) -> Self {
        errors::acquire()
    }
}

impl Drop for Acquire<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket.take()
            && let Some(ticket) = self.cancel_granted(ticket)
        {
            self.cancel(ticket);
        }
    }
}
