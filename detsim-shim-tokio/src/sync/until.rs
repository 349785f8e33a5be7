//! Waiting until the state of a cell is as somebody wants it.
//!
//! Owns: [`Until`], one such wait. Does not own: the state, or when those who wait are woken: whoever
//! changes the state calls [`wake_all`]. Invariant: a wait looks at the state again whenever it is woken,
//! and waits on, at the end of the queue, where it is not so.

use crate::sync::batch_semaphore::Halt;
use crate::sync::queue::{Queue, Served, Ticket};
use detsim_executor::{Block, Bound, In, Kernel, Object, OpKind, Party, storable};
use std::panic::Location;
use std::task::{Context, Poll, Waker};

/// The waits for one thing, in a state.
pub(crate) struct Waits<'a> {
    pub(crate) object: &'a mut Object,
    pub(crate) queue: &'a mut Queue<()>,
    /// Who may have to do with it.
    pub(crate) party: Option<Party>,
}

/// A wait of one future, or one after the other of an end of a stream. Give it up with [`Until::cancel`] when the future is dropped.
#[derive(Debug)]
pub(crate) struct Until {
    operation: OpKind,
    site: &'static Location<'static>,
    asked: bool,
    ticket: Option<Ticket>,
}

impl Until {
    #[inline]
    pub(crate) fn new(operation: OpKind, site: &'static Location<'static>) -> Self {
        Self { operation, site, asked: false, ticket: None }
    }

    /// The shortest way, where a run's own task is known to see what it wants before it is asked: the
    /// operation takes place. Where this is false nothing has happened.
    #[inline]
    pub(crate) fn ends_at_once(&mut self, kernel: &mut Kernel, waits: Waits<'_>) -> bool {
        let Waits { object, queue, .. } = waits;
        if self.ticket.as_ref().is_some_and(|ticket| !queue.is_granted(ticket))
            || !kernel.completes_at_once(object, self.operation, &mut self.asked)
        {
            return false;
        }
        self.asked = false;
        if let Some(ticket) = self.ticket.take() {
            queue.end_granted(kernel, object, ticket);
        }
        true
    }

    /// Looks at the state, and waits where `look` sees nothing. `look` is told who looks.
    pub(crate) fn poll<S, R>(
        &mut self,
        cell: &Bound<S>,
        cx: &Context<'_>,
        waits: impl Fn(&mut S) -> Waits<'_>,
        mut look: impl FnMut(&mut In<'_, S>) -> Option<R>,
    ) -> Poll<R> {
        // The short way: a run's own task that need not be stopped, nor yield.
        if let Some(mut section) = cell.enter_own()
            && let (state, kernel) = section.both()
            && let object = waits(state).object
            && {
                kernel.know(object);
                kernel.passes(object, &mut self.asked)
            }
        {
            let mut section = section.into_in();
            if let Some(result) = look(&mut section) {
                self.finish(&mut section, &waits);
                return Poll::Ready(result);
            }
            if let Some(waker) = storable(cx, &mut None) {
                let (state, kernel) = section.both();
                let old = self.queue(waits(state), kernel, waker);
                section.dispose(old);
                return Poll::Pending;
            }
        }
        let mut foreign = None;
        loop {
            let mut section = cell.enter();
            if let Some(halt) = self.halts(&mut section, &waits, cx.waker()) {
                drop(section);
                return halt.pending(cx);
            }
            if let Some(result) = look(&mut section) {
                self.finish(&mut section, &waits);
                return Poll::Ready(result);
            }
            if let Some(waker) = storable(cx, &mut foreign) {
                let (state, kernel) = section.both();
                let old = self.queue(waits(state), kernel, waker);
                section.dispose(old);
                return Poll::Pending;
            }
            drop(section);
            foreign = Some(cx.waker().clone());
        }
    }

    fn halts<S>(
        &mut self,
        section: &mut In<'_, S>,
        waits: &impl Fn(&mut S) -> Waits<'_>,
        waker: &Waker,
    ) -> Option<Halt> {
        let (state, kernel) = section.both();
        let object = waits(state).object;
        Halt::before(kernel?, object, self.operation, &mut self.asked, waker)
    }

    /// It is so: the wait is over.
    #[inline]
    fn finish<S>(&mut self, section: &mut In<'_, S>, waits: &impl Fn(&mut S) -> Waits<'_>) {
        self.asked = false;
        let (state, mut kernel) = section.both();
        let Waits { object, queue, .. } = waits(state);
        if let Some(kernel) = kernel.as_deref_mut() {
            kernel.operate(object, self.operation);
            kernel.spend_budget();
        }
        if let Some(ticket) = self.ticket.take() {
            let ended = end(queue, kernel, object, ticket);
            section.dispose(ended);
        }
    }

    /// Waits, or waits on: the waker that is no longer needed.
    #[inline]
    fn queue(
        &mut self,
        waits: Waits<'_>,
        mut kernel: Option<&mut Kernel>,
        waker: Waker,
    ) -> Option<Waker> {
        let Waits { object, queue, party } = waits;
        let mut ended = None;
        match self.ticket.take() {
            Some(ticket) if !queue.is_granted(&ticket) => {
                let old = queue.renew(kernel, &ticket, waker);
                self.ticket = Some(ticket);
                return old;
            }
            Some(ticket) => ended = end(queue, kernel.as_deref_mut(), object, ticket),
            None => {}
        }
        if let Some(kernel) = kernel.as_deref_mut() {
            kernel.operate(object, OpKind::Read);
        }
        let parties = party.as_slice();
        let waiter = Block::wait(kernel, object, self.operation, self.site, parties, waker);
        self.ticket = Some(queue.push(waiter, ()));
        ended
    }

    /// Whether it waits, and is to be given up.
    #[inline]
    pub(crate) fn waits(&self) -> bool {
        self.ticket.is_some()
    }

    /// Gives up the wait.
    pub(crate) fn cancel<S>(&mut self, cell: &Bound<S>, waits: impl Fn(&mut S) -> Waits<'_>) {
        let Some(ticket) = self.ticket.take() else { return };
        let mut section = cell.enter();
        let (state, kernel) = section.both();
        let Waits { object, queue, .. } = waits(state);
        let (waker, ()) = queue.leave(ticket).end(kernel, object);
        section.dispose(Some(waker));
    }
}

/// Ends a wait: its waker, if that has to be disposed of.
#[inline]
fn end(
    queue: &mut Queue<()>,
    kernel: Option<&mut Kernel>,
    object: &mut Object,
    ticket: Ticket,
) -> Option<Waker> {
    match kernel {
        Some(kernel) if queue.is_granted(&ticket) => {
            queue.end_granted(kernel, object, ticket);
            None
        }
        kernel => Some(queue.leave(ticket).end(kernel, object).0),
    }
}

/// Lets all that wait look at the state again, the longest waiting first.
pub(crate) fn wake_all<S>(section: &mut In<'_, S>, waits: impl Fn(&mut S) -> Waits<'_>) {
    loop {
        let (state, kernel) = section.both();
        let queue = waits(state).queue;
        let served = match kernel {
            Some(kernel) => queue.serve_first(kernel, |()| true),
            None => queue.grant_first(None).map_or(Served::Nobody, Served::Foreign),
        };
        match served {
            Served::InFull => {}
            Served::Foreign(waker) => section.wake(waker),
            Served::Nobody | Served::InPart => return,
        }
    }
}
