//! One descriptor that a run watches.
//!
//! Owns: [`Registration`]: what tokio would still take the descriptor to be ready for, and who waits for
//! more. Does not own: the descriptor, or when the system is asked. Invariants: what was seen ready is,
//! until somebody who saw it says otherwise, and nothing newer has been seen meanwhile; each direction has
//! one place for whoever polls it, the last one that did, and a place for each future.
//!
//! A descriptor that has a simulated socket behind it is asked of the simulation, and who waits for it stands
//! among those who wait for the socket too: on virtual time, with no word of the system.

use std::io;
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll, Waker};

use detsim_executor::{
    Block, Bound, In, Object, OpKind, ResourceKind, Waiter, context, storable, yield_with,
};
use tokio::io::{Interest, Ready};

use super::{Outside, ready};
use crate::net::descriptor::Watched;
use crate::net::ready::union;
use crate::runtime::gone;

/// What is known of a descriptor.
#[derive(Debug)]
pub(crate) struct Registration {
    outside: Arc<Outside>,
    state: Bound<State>,
    /// `None` where the descriptor is the system's.
    simulated: Option<Simulated>,
    /// In which step of the run it was made.
    born: Option<u64>,
}

/// A descriptor that has a simulated socket behind it.
#[derive(Debug)]
struct Simulated {
    socket: Watched,
    /// With how many changes it was looked at last; `u64::MAX` where it never was.
    seen: AtomicU64,
}

#[derive(Debug)]
struct State {
    object: Object,
    ready: Ready,
    /// How often the system has told of it.
    told: u32,
    /// Its runtime is gone.
    is_shut: bool,
    /// Whether an operation that is under way has asked to be stopped.
    asked: bool,
    waits: Vec<Wait>,
    tickets: u32,
}

#[derive(Debug)]
struct Wait {
    place: Place,
    mask: Ready,
    waiter: Waiter,
    /// Its place among those who wait for the simulated socket.
    listed: detsim_net::Ticket,
    /// A future that was woken has waited long enough, whatever others do before it is polled.
    is_over: bool,
}

/// Whose wait it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Reader,
    Writer,
    Future(u32),
}

/// A wait that a future keeps, from the first poll to its end.
#[derive(Debug, Default)]
pub(crate) struct Ticket(Option<u32>);

/// What is waited for, and by whom.
#[derive(Debug)]
pub(crate) enum Want<'a> {
    /// By whoever polls for reading.
    Reader,
    /// By whoever polls for writing.
    Writer,
    /// By one future of several.
    Future(Interest, &'a mut Ticket),
}

/// What was seen of a descriptor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    pub(crate) ready: Ready,
    told: u32,
}

impl Event {
    /// The part of it that is about this.
    pub(crate) fn only(self, ready: Ready) -> Self {
        Self { ready: self.ready & ready, ..self }
    }
}

/// What may be seen for an interest.
fn mask_of(interest: Interest) -> Ready {
    union(&[
        (interest.is_readable(), Ready::READABLE | Ready::READ_CLOSED),
        (interest.is_writable(), Ready::WRITABLE | Ready::WRITE_CLOSED),
        (interest.is_priority(), Ready::PRIORITY | Ready::READ_CLOSED),
        (interest.is_error(), Ready::ERROR),
    ])
}

impl Registration {
    pub(crate) fn new(
        outside: Arc<Outside>,
        simulated: Option<Watched>,
        site: &'static Location<'static>,
    ) -> Self {
        let state = State {
            object: Object::new(ResourceKind::Descriptor, site),
            ready: Ready::EMPTY,
            told: 0,
            is_shut: false,
            asked: false,
            waits: Vec::new(),
            tickets: 0,
        };
        let simulated =
            simulated.map(|socket| Simulated { socket, seen: AtomicU64::new(u64::MAX) });
        Self { outside, state: Bound::new(state), simulated, born: context::steps() }
    }

    /// Is it a simulated socket, of which the system knows nothing?
    pub(super) fn is_simulated(&self) -> bool {
        self.simulated.is_some()
    }

    /// Asks what has happened to the descriptor.
    fn ask(&self) {
        let Some(Simulated { socket, seen }) = &self.simulated else {
            // As in tokio, which asks the system only when others have run.
            if self.born.is_none() || self.born != context::steps() {
                self.outside.ask();
            }
            return;
        };
        let Some((changes, happened)) = socket.look() else { return };
        let is_new = seen.swap(changes.into(), Relaxed) != u64::from(changes);
        if is_new && !happened.is_nothing() {
            self.happened(ready(happened));
        }
    }

    /// Somebody waits for it from now on, or waits no more.
    fn waits(&self, begins: bool) {
        if self.simulated.is_none() {
            self.outside.waits(begins);
        }
    }

    /// A wait is over: nothing that happens to the simulated socket is to wake anybody for it.
    fn unlist(&self, listed: &detsim_net::Ticket) {
        if let Some(Simulated { socket, .. }) = &self.simulated {
            socket.forget(listed);
        }
    }

    /// The descriptors of its run.
    pub(crate) fn outside(&self) -> &Outside {
        &self.outside
    }

    /// The system has told of it.
    pub(super) fn happened(&self, ready: Ready) {
        let mut section = self.state.enter();
        section.told = section.told.wrapping_add(1);
        section.ready |= ready;
        self.wake(section, |mask| !(mask & ready).is_empty());
    }

    /// Its runtime is gone.
    pub(super) fn shut(&self) {
        let mut section = self.state.enter();
        section.is_shut = true;
        self.wake(section, |_| true);
    }

    fn wake(&self, mut section: In<'_, State>, ends: impl Fn(Ready) -> bool) {
        let mut at = 0;
        while let Some(wait) = section.waits.get(at) {
            if wait.is_over || !ends(wait.mask) {
                at += 1;
                continue;
            }
            self.waits(false);
            let (state, kernel) = section.both();
            let waker = match state.waits[at].place {
                Place::Future(_) => {
                    state.waits[at].is_over = true;
                    at += 1;
                    Block::grant(kernel, &mut state.waits[at - 1].waiter)
                }
                _ => Block::wake(kernel, &mut state.object, state.waits.remove(at).waiter),
            };
            section.wake(waker);
        }
    }

    /// Waits until something is ready of what is wanted.
    pub(crate) fn poll(
        &self,
        cx: &mut Context<'_>,
        want: Want<'_>,
        site: &'static Location<'static>,
    ) -> Poll<io::Result<Event>> {
        self.ask();
        // As in tokio: who only waits, as a future, may do so as often as it likes.
        let costs = !matches!(want, Want::Future(..));
        let (place, mask) = self.place(want);
        let mut foreign = None;
        loop {
            let mut section = self.state.enter();
            let (state, kernel) = section.both();
            if let Some(kernel) = kernel {
                let State { object, asked, .. } = state;
                if kernel.stops_before(object, OpKind::Read, asked, cx.waker()) {
                    return Poll::Pending;
                }
                if costs && !kernel.has_budget() {
                    drop(section);
                    yield_with(cx.waker());
                    return Poll::Pending;
                }
            }
            if let Some(seen) = self.seen(&mut section, place, mask) {
                if let (true, Some(kernel)) = (costs, section.both().1) {
                    kernel.spend_budget();
                }
                self.leave(section, place);
                return Poll::Ready(seen);
            }
            if let Some(waker) = storable(cx, &mut foreign) {
                self.queue(section, Wanting { place, mask, site }, waker);
                return Poll::Pending;
            }
            drop(section);
            foreign = Some(cx.waker().clone());
        }
    }

    fn place(&self, want: Want<'_>) -> (Place, Ready) {
        match want {
            Want::Reader => (Place::Reader, mask_of(Interest::READABLE)),
            Want::Writer => (Place::Writer, mask_of(Interest::WRITABLE)),
            Want::Future(interest, ticket) => {
                let number = *ticket.0.get_or_insert_with(|| {
                    let mut section = self.state.enter();
                    section.tickets = section.tickets.wrapping_add(1);
                    section.tickets
                });
                (Place::Future(number), mask_of(interest))
            }
        }
    }

    /// What there is to see; `None` where there is nothing yet.
    fn seen(
        &self,
        section: &mut In<'_, State>,
        place: Place,
        mask: Ready,
    ) -> Option<io::Result<Event>> {
        let (state, kernel) = section.both();
        let event = Event { ready: state.ready & mask, told: state.told };
        let was_woken = state.waits.iter().any(|wait| wait.place == place && wait.is_over);
        let is_over = state.is_shut || was_woken || !event.ready.is_empty();
        if let Some(kernel) = kernel {
            kernel.operate(&mut state.object, OpKind::Read);
        }
        state.asked &= !is_over;
        is_over.then(|| if state.is_shut { Err(gone()) } else { Ok(event) })
    }

    /// Whoever waited has what it waited for, or gives up.
    fn leave(&self, mut section: In<'_, State>, place: Place) {
        let (state, kernel) = section.both();
        let Some(at) = state.waits.iter().position(|wait| wait.place == place) else { return };
        let Wait { waiter, is_over, listed, .. } = state.waits.remove(at);
        if !is_over {
            self.waits(false);
        }
        let waker = Block::cancel(kernel, &mut state.object, waiter);
        section.dispose(Some(waker));
        drop(section);
        self.unlist(&listed);
    }

    /// Queues a wait, or keeps another waker for it.
    fn queue(&self, mut section: In<'_, State>, wanting: Wanting, waker: Waker) {
        let Wanting { place, mask, site } = wanting;
        let listed = self.simulated.is_some().then(|| waker.clone());
        let (state, kernel) = section.both();
        if let Some(wait) = state.waits.iter_mut().find(|wait| wait.place == place) {
            let old = Block::renew(kernel, &mut wait.waiter, waker);
            section.dispose(Some(old));
            drop(section);
            return self.list(place, listed);
        }
        let waiter = Block::wait(kernel, &mut state.object, OpKind::Read, site, &[], waker);
        let ticket = detsim_net::Ticket::default();
        state.waits.push(Wait { place, mask, waiter, listed: ticket, is_over: false });
        drop(section);
        self.waits(true);
        self.list(place, listed);
    }

    /// What happens next to the simulated socket is to wake whoever waits in this place.
    fn list(&self, place: Place, waker: Option<Waker>) {
        let (Some(Simulated { socket, .. }), Some(waker)) = (&self.simulated, waker) else {
            return;
        };
        let of = |state: &mut State| {
            let wait = state.waits.iter_mut().find(|wait| wait.place == place)?;
            Some(std::mem::take(&mut wait.listed))
        };
        let Some(mut ticket) = of(&mut self.state.enter()) else { return };
        socket.enlist(&mut ticket, waker);
        let mut section = self.state.enter();
        if let Some(wait) = section.waits.iter_mut().find(|wait| wait.place == place) {
            wait.listed = ticket;
        }
    }

    /// What tokio would take it to be ready for now.
    pub(crate) fn readiness(&self, interest: Interest) -> Event {
        self.ask();
        let section = self.state.enter();
        Event { ready: section.ready & mask_of(interest), told: section.told }
    }

    /// What was seen is over, unless something newer was seen meanwhile. The end of a peer never is.
    pub(crate) fn clear(&self, event: Event) {
        let mut section = self.state.enter();
        if section.told == event.told {
            let ready = section.ready;
            section.ready = ready - (event.ready - Ready::READ_CLOSED - Ready::WRITE_CLOSED);
        }
    }

    /// Takes the wait of a future back that is given up.
    pub(crate) fn forget(&self, ticket: &Ticket) {
        if let Some(number) = ticket.0 {
            self.leave(self.state.enter(), Place::Future(number));
        }
    }

    /// Wakes whoever waits, since nothing will be told any more.
    pub(crate) fn dropped(&self) {
        self.wake(self.state.enter(), |_| true);
    }
}

/// A wait to be.
struct Wanting {
    place: Place,
    mask: Ready,
    site: &'static Location<'static>,
}
