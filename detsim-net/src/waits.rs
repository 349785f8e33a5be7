//! Who waits for a socket, and for what.
//!
//! Owns: [`Waits`], the list of one socket, and the readiness that tokio remembers of it. Does not own:
//! what makes a socket ready. Invariants: each end has one place for those who poll (the last one
//! that polled waits there) and a place for each future; a wait leaves the list when it is woken,
//! and is not in it twice.

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

/// All waits of one socket.
#[derive(Debug, Default)]
pub(crate) struct Waits {
    list: Vec<Wait>,
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
    pub(crate) fn wait(
        &mut self,
        kernel: &mut Kernel,
        object: &mut Object,
        place: Place,
        about: About<'_>,
        waker: Waker,
    ) -> Option<Waker> {
        let About { side, op, site, parties } = about;
        if let Some(wait) = self.list.iter_mut().find(|w| (w.place, w.side) == (place, side)) {
            return Some(Block::renew(Some(kernel), &mut wait.waiter, waker));
        }
        let waiter = Block::wait(Some(kernel), object, op, site, parties, waker);
        self.list.push(Wait { place, side, waiter });
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
        let mut at = 0;
        while let Some(wait) = self.list.get(at) {
            if wait.side.meets(side) {
                let Wait { waiter, .. } = self.list.remove(at);
                woken.push(Block::wake(Some(&mut *kernel), object, waiter));
            } else {
                at += 1;
            }
        }
    }

    /// Takes a future's wait back: its waker, for disposal.
    pub(crate) fn cancel(
        &mut self,
        kernel: Option<&mut Kernel>,
        object: &mut Object,
        ticket: u32,
    ) -> Option<Waker> {
        let at = self.list.iter().position(|wait| wait.place == Place::Future(ticket))?;
        Some(Block::cancel(kernel, object, self.list.remove(at).waiter))
    }
}
