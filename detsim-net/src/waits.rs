//! Who waits for a socket, and for what.
//!
//! Owns: [`Waits`], the list of one socket, and the readiness that tokio remembers of it. Does not own:
//! what makes a socket ready. Invariants: each end has one place for those who poll (the last one
//! that polled waits there) and a place for each future; a wait leaves the list when it is woken,
//! and is not in it twice; where there is one, `first` is; where the first is over, there is no other. Where `is_told`,
//! the first is the only one.

use std::panic::Location;
use std::task::Waker;

use detsim_executor::{Block, Kernel, Object, OpKind, Party, Waiter};

/// Which end of a socket is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Something to read, a connection to accept, the peer's end.
    Read,
    /// Room to write, the end of a connect.
    Write,
    /// One of them, whichever comes first.
    Either,
}

impl Side {
    pub(crate) fn meets(self, other: Self) -> bool {
        self == other || self == Self::Either || other == Self::Either
    }
}

/// Whose wait it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// That of whoever polls this end.
    Poller,
    /// That of one future.
    Future(u32),
}

/// A wait that a future keeps, from the first poll to its end. Made by [`Default`]; give it to every
/// poll of one future, and to [`crate::Socket::forget`] where the future is dropped.
#[derive(Debug, Default)]
pub struct Ticket(pub(crate) Option<u32>);

/// All waits of one socket, the first of which stands in place: most often there is no other.
#[derive(Debug, Default)]
pub(crate) struct Waits {
    first: Option<Wait>,
    /// The first is over, and its place in the wait graph is kept for the next one.
    is_over: bool,
    /// The wait graph knows whom the first waits for, and hears of it where that is another.
    is_told: bool,
    rest: Vec<Wait>,
    tickets: u32,
}

#[derive(Debug)]
struct Wait {
    place: Place,
    side: Side,
    waiter: Waiter,
}

/// What a wait is about, for the wait graph.
#[derive(Clone, Copy, Debug)]
pub(crate) struct About<'a> {
    pub(crate) side: Side,
    pub(crate) op: OpKind,
    pub(crate) site: &'static Location<'static>,
    pub(crate) parties: &'a [Party],
    /// Whether [`Waits::tell`] will say it where they are others.
    pub(crate) is_told: bool,
}

impl Waits {
    /// The place of a future's wait.
    pub(crate) fn place(&mut self, ticket: Option<&mut Ticket>) -> Place {
        let Some(ticket) = ticket else { return Place::Poller };
        let tickets = &mut self.tickets;
        Place::Future(*ticket.0.get_or_insert_with(|| {
            *tickets = tickets.wrapping_add(1);
            *tickets
        }))
    }

    /// Queues a wait, or keeps another waker for it: the old one, for disposal.
    #[inline(always)]
    pub(crate) fn wait(
        &mut self,
        kernel: &mut Kernel,
        object: &mut Object,
        place: Place,
        about: About<'_>,
        waker: Waker,
    ) -> Option<Waker> {
        let Some(first) = self.first.as_mut().filter(|_| self.is_over) else {
            return self.wait_long(kernel, object, place, about, waker);
        };
        let About { side, op, site, parties, is_told } = about;
        (first.place, first.side) = (place, side);
        Block::wait_again(kernel, object, &mut first.waiter, (op, site), Some(parties), waker);
        (self.is_over, self.is_told) = (false, is_told);
        None
    }

    /// Whether [`Self::wait_as_before`] can do it for a wait for this end.
    #[inline(always)]
    pub(crate) fn is_known(&self, side: Side) -> bool {
        let first = self.first.as_ref().filter(|_| self.is_over && self.is_told);
        first.is_some_and(|first| first.side == side)
    }

    /// Waits as the last time, at the place of whoever polls.
    #[inline(always)]
    pub(crate) fn wait_as_before(
        &mut self,
        kernel: &mut Kernel,
        object: &Object,
        how: (OpKind, &'static Location<'static>),
        waker: Waker,
    ) {
        let Some(first) = self.first.as_mut() else { return };
        first.place = Place::Poller;
        Block::wait_again(kernel, object, &mut first.waiter, how, None, waker);
        self.is_over = false;
    }

    /// Whom those wait for that wait to write, or all others, is somebody else than before.
    pub(crate) fn tell(
        &self,
        kernel: &mut Kernel,
        object: &Object,
        writes: bool,
        parties: &[Party],
    ) {
        let first = self.first.as_ref().filter(|_| self.is_told);
        if first.is_some_and(|first| (first.side == Side::Write) == writes) {
            Block::held_by(Some(kernel), object, parties);
        }
    }

    #[inline(never)]
    fn wait_long(
        &mut self,
        kernel: &mut Kernel,
        object: &mut Object,
        place: Place,
        about: About<'_>,
        waker: Waker,
    ) -> Option<Waker> {
        let About { side, op, site, parties, is_told } = about;
        let mut known = self.first.iter_mut().chain(&mut self.rest);
        if let Some(wait) = known.find(|w| (w.place, w.side) == (place, side)) {
            return Some(Block::renew(Some(kernel), &mut wait.waiter, waker));
        }
        let waiter = Block::wait(Some(kernel), object, op, site, parties, waker);
        let wait = Wait { place, side, waiter };
        self.is_told = is_told && self.first.is_none();
        match self.first {
            None => self.first = Some(wait),
            Some(_) => self.rest.push(wait),
        }
        None
    }

    /// Ends the waits for an end; their wakers go to `woken`.
    #[inline]
    pub(crate) fn wake(
        &mut self,
        kernel: &mut Kernel,
        object: &mut Object,
        side: Side,
        woken: &mut Vec<Waker>,
    ) {
        let Some(first) = self.first.as_mut().filter(|_| !self.is_over) else { return };
        if self.rest.is_empty() {
            if first.side.meets(side) {
                woken.push(Block::rest(kernel, &mut first.waiter));
                self.is_over = true;
            }
            return;
        }
        self.wake_several(kernel, object, side, woken);
    }

    /// As [`Self::wake`] in a section of the run's own, where whoever waits is woken at once, and what is left
    /// for later is a waker of others.
    #[inline(always)]
    pub(crate) fn wake_now(
        &mut self,
        kernel: &mut Kernel,
        object: &mut Object,
        side: Side,
        woken: &mut Vec<Waker>,
    ) {
        if !self.rest.is_empty() {
            return self.wake_several(kernel, object, side, woken);
        }
        let Some(first) = self.first.as_mut().filter(|_| !self.is_over) else { return };
        if first.side.meets(side) {
            self.is_over = true;
            if let Some(foreign) = Block::rest_own(kernel, &mut first.waiter) {
                woken.push(foreign);
            }
        }
    }

    #[cold]
    fn wake_several(
        &mut self,
        kernel: &mut Kernel,
        object: &mut Object,
        side: Side,
        woken: &mut Vec<Waker>,
    ) {
        self.is_told = false;
        let mut all: Vec<Wait> = self.first.take().into_iter().chain(self.rest.drain(..)).collect();
        for wait in all.extract_if(.., |wait| wait.side.meets(side)) {
            woken.push(Block::wake(Some(&mut *kernel), object, wait.waiter));
        }
        let mut left = all.into_iter();
        self.first = left.next();
        self.rest.extend(left);
    }

    /// Nobody will wait any more: all have been woken.
    pub(crate) fn end(&mut self, kernel: &mut Kernel, object: &mut Object) {
        debug_assert!(self.first.is_none() || self.is_over, "invariant: they have been woken");
        self.is_over = false;
        let kept = self.first.take().map(|first| Block::cancel(Some(kernel), object, first.waiter));
        // It is nobody's, and has nothing to drop.
        std::mem::forget(kept);
    }

    /// Takes a future's wait back: its waker, for disposal.
    pub(crate) fn cancel(
        &mut self,
        kernel: Option<&mut Kernel>,
        object: &mut Object,
        ticket: u32,
    ) -> Option<Waker> {
        if self.is_over {
            return None;
        }
        self.is_told = false;
        let is_its = |wait: &Wait| wait.place == Place::Future(ticket);
        let Wait { waiter, .. } = match self.first.as_ref().is_some_and(is_its) {
            false => self.rest.remove(self.rest.iter().position(is_its)?),
            true if self.rest.is_empty() => self.first.take()?,
            true => self.first.replace(self.rest.remove(0))?,
        };
        Some(Block::cancel(kernel, object, waiter))
    }
}
