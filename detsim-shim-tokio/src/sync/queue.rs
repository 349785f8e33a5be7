//! Who waits, in what order.
//!
//! Owns: [`Queue`], a list of waits in which every operation takes the same short time, wherever in
//! the list it happens; [`Stage`], how far a future has come that may wait there. Does not own: what is waited
//! for. Invariants: a place belongs to the future that holds its [`Ticket`] until that future takes it back; a
//! place is in the list until it is granted, and keeps its record in the wait graph until it is taken back.

use detsim_executor::{Block, Kernel, Object, Waiter};
use std::num::NonZeroU32;
use std::task::Waker;

/// No place.
const NONE: u32 = u32::MAX;

/// Waits in the order they came, each with something of the primitive's own.
#[derive(Debug)]
pub(crate) struct Queue<P> {
    places: Vec<Place<P>>,
    /// The first vacant place; the others follow by `next`.
    vacant: u32,
    first: u32,
    /// Means nothing while there is no first.
    last: u32,
}

#[derive(Debug)]
struct Place<P> {
    /// `None` where the place is vacant.
    taken: Option<(Waiter, P)>,
    granted: bool,
    /// Means nothing for the first in the list.
    previous: u32,
    next: u32,
}

/// Names a place in a queue, and belongs to the future that waits there.
#[derive(Debug)]
pub(crate) struct Ticket(NonZeroU32);

impl Ticket {
    #[inline]
    fn of(index: u32) -> Self {
        Self(NonZeroU32::MIN.saturating_add(index))
    }

    #[inline]
    fn index(&self) -> u32 {
        self.0.get() - 1
    }
}

/// How far a future has come with an operation that may wait.
#[derive(Debug)]
pub(crate) enum Stage {
    /// It was not polled yet.
    Fresh,
    /// The kernel was asked whether the task is stopped before it: that is asked once.
    Asked,
    /// It waits.
    Queued(Ticket),
}

impl Stage {
    /// Whether the kernel was asked.
    #[inline]
    pub(crate) fn is_asked(&self) -> bool {
        !matches!(self, Self::Fresh)
    }

    /// Keeps that the kernel was asked.
    pub(crate) fn ask(&mut self) {
        if !self.is_asked() {
            *self = Self::Asked;
        }
    }

    /// The place of one that waits, which is left.
    #[inline]
    pub(crate) fn leave(&mut self) -> Option<Ticket> {
        match std::mem::replace(self, Self::Asked) {
            Self::Queued(ticket) => Some(ticket),
            Self::Fresh | Self::Asked => None,
        }
    }
}

/// What a future takes back.
#[derive(Debug)]
pub(crate) struct Left<P> {
    /// To be ended by [`Block::wake`] or [`Block::cancel`].
    pub(crate) waiter: Waiter,
    pub(crate) payload: P,
}

/// What became of whoever is first.
#[derive(Debug)]
pub(crate) enum Served {
    Nobody,
    /// It waits for more.
    InPart,
    /// It has what it waits for.
    InFull,
    /// The same; its waker, which is not one of the run's, is to be woken.
    Foreign(Waker),
}

impl<P> Queue<P> {
    pub(crate) const fn new() -> Self {
        Self { places: Vec::new(), vacant: NONE, first: NONE, last: NONE }
    }

    /// Does nobody wait that has not been granted what it waits for?
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.first == NONE
    }

    /// Is there one that waits, and no other?
    #[inline]
    pub(crate) fn is_single(&self) -> bool {
        self.first != NONE && self.first == self.last
    }

    /// Waits behind all others.
    #[inline]
    pub(crate) fn push(&mut self, waiter: Waiter, payload: P) -> Ticket {
        let previous = self.last;
        let index = self.occupy((waiter, payload), false, previous);
        match self.is_empty() {
            true => self.first = index,
            false => self.places[previous as usize].next = index,
        }
        self.last = index;
        Ticket::of(index)
    }

    /// A place for somebody who has what it waits for already.
    pub(crate) fn push_granted(&mut self, waiter: Waiter, payload: P) -> Ticket {
        Ticket::of(self.occupy((waiter, payload), true, NONE))
    }

    #[inline]
    fn occupy(&mut self, taken: (Waiter, P), granted: bool, previous: u32) -> u32 {
        let index = self.vacant;
        let Some(place) = self.places.get_mut(index as usize) else {
            return self.new_place(Place { taken: Some(taken), granted, previous, next: NONE });
        };
        self.vacant = place.next;
        // There was nobody: the compiler cannot see that there is nothing to drop.
        std::mem::forget(place.taken.replace(taken));
        (place.granted, place.previous, place.next) = (granted, previous, NONE);
        index
    }

    #[cold]
    #[inline(never)]
    fn new_place(&mut self, place: Place<P>) -> u32 {
        self.places.push(place);
        self.places.len() as u32 - 1
    }

    /// What the first that waits has brought along.
    #[inline]
    pub(crate) fn first_mut(&mut self) -> Option<&mut P> {
        let place = self.places.get_mut(self.first as usize)?;
        place.taken.as_mut().map(|(_, payload)| payload)
    }

    /// What the last that waits has brought along.
    pub(crate) fn last_mut(&mut self) -> Option<&mut P> {
        if self.is_empty() {
            return None;
        }
        let place = self.places.get_mut(self.last as usize)?;
        place.taken.as_mut().map(|(_, payload)| payload)
    }

    /// Grants the first that waits what it waits for: its waker.
    #[inline]
    pub(crate) fn grant_first(&mut self, kernel: Option<&mut Kernel>) -> Option<Waker> {
        self.grant(self.first, kernel)
    }

    /// Grants the last that waits what it waits for: its waker.
    pub(crate) fn grant_last(&mut self, kernel: Option<&mut Kernel>) -> Option<Waker> {
        let last = if self.is_empty() { NONE } else { self.last };
        self.grant(last, kernel)
    }

    #[inline]
    fn grant(&mut self, index: u32, kernel: Option<&mut Kernel>) -> Option<Waker> {
        self.unlink(index)?;
        let place = &mut self.places[index as usize];
        place.granted = true;
        place.taken.as_mut().map(|(waiter, _)| Block::grant(kernel, waiter))
    }

    /// Serves the first that waits, in a section of the run's own. Where it has all it waits for, which
    /// `serve` says, it is granted that, and its task is woken.
    #[inline]
    pub(crate) fn serve_first(
        &mut self,
        kernel: &mut Kernel,
        serve: impl FnOnce(&mut P) -> bool,
    ) -> Served {
        let Some(place) = self.places.get_mut(self.first as usize) else { return Served::Nobody };
        let Some((waiter, payload)) = &mut place.taken else { return Served::Nobody };
        if !serve(payload) {
            return Served::InPart;
        }
        place.granted = true;
        self.first = place.next;
        match Block::grant_own(kernel, waiter) {
            None => Served::InFull,
            Some(foreign) => Served::Foreign(foreign),
        }
    }

    #[inline]
    fn unlink(&mut self, index: u32) -> Option<()> {
        let Place { previous, next, .. } = *self.places.get(index as usize)?;
        match self.first == index {
            true => self.first = next,
            false => self.places[previous as usize].next = next,
        }
        match next {
            NONE => self.last = previous,
            next => self.places[next as usize].previous = previous,
        }
        Some(())
    }

    /// Whether the holder of the ticket was granted what it waits for.
    #[inline]
    pub(crate) fn is_granted(&self, ticket: &Ticket) -> bool {
        self.places[ticket.index() as usize].granted
    }

    /// The holder of the ticket is polled again: the waker it had, for disposal.
    pub(crate) fn renew(
        &mut self,
        kernel: Option<&mut Kernel>,
        ticket: &Ticket,
        waker: Waker,
    ) -> Option<Waker> {
        let (waiter, _) = self.places[ticket.index() as usize].taken.as_mut()?;
        Some(Block::renew(kernel, waiter, waker))
    }

    /// Takes a place back, whether or not its wait was granted.
    #[inline]
    pub(crate) fn leave(&mut self, ticket: Ticket) -> Left<P> {
        let index = ticket.index();
        let place = &mut self.places[index as usize];
        let granted = place.granted;
        let (waiter, payload) =
            place.taken.take().expect("invariant: a ticket names a taken place");
        if !granted {
            self.unlink(index);
        }
        self.places[index as usize].next = self.vacant;
        self.vacant = index;
        Left { waiter, payload }
    }

    /// Takes back a place whose wait was granted, in a section of the run's own: what was brought along.
    #[inline(always)]
    pub(crate) fn end_granted(
        &mut self,
        kernel: &mut Kernel,
        object: &mut Object,
        ticket: Ticket,
    ) -> P {
        let index = ticket.index();
        let place = &mut self.places[index as usize];
        debug_assert!(place.granted, "a wait that was not granted stands in the list");
        let (waiter, payload) =
            place.taken.take().expect("invariant: a ticket names a taken place");
        place.next = self.vacant;
        self.vacant = index;
        Block::end_granted(kernel, object, waiter);
        payload
    }
}

impl<P> Left<P> {
    /// Ends the wait in the graph: the waker for disposal, and what was brought along.
    pub(crate) fn end(self, kernel: Option<&mut Kernel>, object: &mut Object) -> (Waker, P) {
        (Block::cancel(kernel, object, self.waiter), self.payload)
    }
}

#[cfg(test)]
mod tests;
