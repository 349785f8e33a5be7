//! What a channel does, compiled once for all types of messages.
//!
//! Owns: [`Chan`], the state that both ends share, and what is done at once; `recv` and `send` wait.
//! Does not own: the messages' type ([`super::ends`]) or their bytes ([`super::ring`][crate::sync::ring]).
//!
//! Invariants: a place of a bounded channel is free, promised to a sender (by a permit, or by a grant
//! that the sender has not taken yet), or holds a message; so `free` plus promises plus messages are
//! the capacity. While a sender waits no place is free. A message is never dropped in a section.

mod recv;
mod send;

pub(super) use recv::{Receiving, Wait};
pub(super) use send::{Closing, Sending};

use crate::sync::batch_semaphore::operate;
use crate::sync::last::Last;
use crate::sync::point::{self, HasObject};
use crate::sync::queue::{Queue, Served};
use crate::sync::ring::{Ring, Seen};
use detsim_executor::{
    Block, Bound, In, Kernel, Object, OpKind, Own, ResourceKind, Role, TaskTag, Waiter,
};
use recv::unlisten;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::task::Poll;

/// The capacity of a channel without a bound.
pub(super) const UNBOUNDED: usize = usize::MAX;

/// A channel.
#[derive(Debug)]
pub(super) struct Chan {
    state: Bound<State>,
}

#[derive(Debug)]
pub(super) struct State {
    object: Object,
    ring: Ring,
    capacity: usize,
    /// Places that are neither promised nor in use.
    free: usize,
    senders: usize,
    weak: usize,
    /// The receiver takes no new messages.
    closed: bool,
    /// The receiver is gone.
    deaf: bool,
    /// Senders, each waiting for so many places.
    queue: Queue<usize>,
    /// Senders that wait for the channel to close.
    closing: Queue<()>,
    receiver: Option<Waiter>,
    last_sent: Last,
    last_received: Last,
}

/// Why a message was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    Closed,
    Full,
}

impl HasObject for State {
    fn object(&mut self) -> &mut Object {
        &mut self.object
    }
}

impl State {
    /// Puts a message in, in a place that was promised to it.
    #[inline(always)]
    fn put(
        &mut self,
        kernel: Option<&mut Kernel>,
        slot: Seen<'_>,
        site: &'static Location<'static>,
    ) {
        self.ring.push(slot);
        let task = operate(kernel, &mut self.object, OpKind::Send);
        self.last_sent = Last::new(task, site);
    }

    /// Takes a message out; the place is the caller's to give away.
    fn get(
        &mut self,
        mut kernel: Option<&mut Kernel>,
        slot: Seen<'_>,
        site: &'static Location<'static>,
    ) -> bool {
        if !self.ring.pop(slot) {
            return false;
        }
        operate(kernel.as_deref_mut(), &mut self.object, OpKind::Recv);
        self.received(kernel, site);
        true
    }

    /// Notes who has received, whom the senders wait for from now on.
    #[inline]
    fn received(&mut self, kernel: Option<&mut Kernel>, site: &'static Location<'static>) {
        if !self.last_received.is_by(kernel.as_deref(), site) {
            self.received_by_another(kernel, site);
        }
    }

    #[inline(never)]
    fn received_by_another(
        &mut self,
        kernel: Option<&mut Kernel>,
        site: &'static Location<'static>,
    ) {
        let task = kernel.as_ref().map_or(TaskTag::NOBODY, |kernel| kernel.current_tag());
        self.last_received = Last::new(task, site);
        let receiver = self.last_received.party(Role::LastReceived);
        Block::held_by(kernel, &self.object, receiver.as_slice());
    }

    /// Promises so many places at once.
    #[inline]
    fn promise(&mut self, places: usize) -> Result<(), Refused> {
        if self.closed {
            return Err(Refused::Closed);
        }
        self.free = self.free.checked_sub(places).ok_or(Refused::Full)?;
        Ok(())
    }

    /// No message will come any more.
    #[inline]
    fn is_over(&self) -> bool {
        let promised = self.free < self.capacity;
        self.ring.len() == 0 && (self.senders == 0 || self.closed && !promised)
    }
}

/// Wakes the receiver, if it waits.
#[inline]
fn wake_receiver(section: &mut In<'_, State>) {
    if section.receiver.is_some() {
        wake_waiting_receiver(section);
    }
}

#[inline(never)]
fn wake_waiting_receiver(section: &mut In<'_, State>) {
    let (state, kernel) = section.both();
    if let Some(waiter) = state.receiver.take() {
        let waker = Block::wake(kernel, &mut state.object, waiter);
        section.wake(waker);
    }
}

/// The end of an operation that sent: the same in a section of the run's own.
#[inline(never)]
fn wake_receiver_own(mut section: Own<'_, State>) -> Poll<bool> {
    let (state, kernel) = section.both();
    if let Some(waiter) = state.receiver.take()
        && let Some(foreign) = Block::wake_own(kernel, &mut state.object, waiter)
    {
        section.into_in().wake(foreign);
    }
    Poll::Ready(true)
}

/// Gives back a place: to the sender that waits longest, else it is free.
#[inline]
fn give_back(section: &mut In<'_, State>, places: usize) {
    section.free += places;
    if !section.queue.is_empty() {
        hand_out(section);
    }
}

/// Promises free places to those who wait, the longest first.
#[inline(never)]
fn hand_out(section: &mut In<'_, State>) {
    while section.free > 0 {
        let (state, kernel) = section.both();
        let Some(missing) = state.queue.first_mut() else { break };
        let given = state.free.min(*missing);
        *missing -= given;
        state.free -= given;
        if *missing > 0 {
            break;
        }
        if let Some(waker) = state.queue.grant_first(kernel) {
            section.wake(waker);
        }
    }
}

/// The end of an operation that received: the place goes to the sender that waits longest, in a section of
/// the run's own. While one waits no place is free, so this is all there is to give.
#[inline(never)]
fn give_place_own(mut section: Own<'_, State>) -> Poll<bool> {
    let (state, kernel) = section.both();
    let served = state.queue.serve_first(kernel, |missing| {
        *missing -= 1;
        *missing == 0
    });
    match served {
        Served::Nobody => state.free += 1,
        Served::InPart | Served::InFull => {}
        Served::Foreign(waker) => section.into_in().wake(waker),
    }
    Poll::Ready(true)
}

// A section ends as it should, or the process does: no panic leaves the state half changed.
impl UnwindSafe for Chan {}
impl RefUnwindSafe for Chan {}

impl Chan {
    #[track_caller]
    pub(super) fn new(ring: Ring, capacity: usize) -> Self {
        let object = Object::new(ResourceKind::Mpsc, Location::caller());
        let state = State {
            object,
            ring,
            capacity,
            free: capacity,
            senders: 1,
            weak: 0,
            closed: false,
            deaf: false,
            queue: Queue::new(),
            closing: Queue::new(),
            receiver: None,
            last_sent: Last::NOBODY,
            last_received: Last::NOBODY,
        };
        Self { state: Bound::new(state) }
    }

    /// Sends at once, if there is a free place.
    #[inline(never)]
    pub(super) fn try_send(
        &self,
        slot: Seen<'_>,
        site: &'static Location<'static>,
    ) -> Result<(), Refused> {
        let Some(mut section) = self.state.enter_own() else {
            return self.try_send_anyway(slot, site);
        };
        let (state, kernel) = section.both();
        let is_free = state.free > 0 && !state.closed;
        if !is_free || !kernel.does_at_once(&mut state.object, OpKind::Send) {
            drop(section);
            return self.try_send_anyway(slot, site);
        }
        state.free -= 1;
        let _sent = send::put_own(section, slot, site);
        Ok(())
    }

    #[inline(never)]
    fn try_send_anyway(
        &self,
        slot: Seen<'_>,
        site: &'static Location<'static>,
    ) -> Result<(), Refused> {
        let mut section = point::enter(&self.state, OpKind::Send);
        let (state, kernel) = section.both();
        if let Err(refused) = state.promise(1) {
            operate(kernel, &mut state.object, OpKind::Read);
            return Err(refused);
        }
        state.put(kernel, slot, site);
        wake_receiver(&mut section);
        Ok(())
    }

    /// Has so many places promised at once, if they are free.
    pub(super) fn try_reserve(&self, places: usize) -> Result<(), Refused> {
        let mut section = point::enter(&self.state, OpKind::Acquire);
        let (state, kernel) = section.both();
        let promised = state.promise(places);
        let operation = if promised.is_ok() { OpKind::Acquire } else { OpKind::Read };
        operate(kernel, &mut state.object, operation);
        promised
    }

    /// Sends in a place that was promised. False: nobody will take the message, and it stays in the
    /// slot; the place is given back.
    pub(super) fn send_promised(&self, slot: Seen<'_>, site: &'static Location<'static>) -> bool {
        let mut section = point::enter(&self.state, OpKind::Send);
        if section.deaf {
            give_back(&mut section, 1);
            return false;
        }
        let (state, kernel) = section.both();
        state.put(kernel, slot, site);
        wake_receiver(&mut section);
        true
    }

    /// Gives promised places back without having sent.
    pub(super) fn unreserve(&self, places: usize) {
        let mut section = point::enter_in_drop(&self.state, |_| OpKind::Release);
        let (state, kernel) = section.both();
        operate(kernel, &mut state.object, OpKind::Release);
        give_back(&mut section, places);
        if section.is_over() {
            wake_receiver(&mut section);
        }
    }

    /// Takes a message, if there is one.
    #[inline(never)]
    pub(super) fn try_recv(
        &self,
        slot: Seen<'_>,
        site: &'static Location<'static>,
    ) -> Result<(), Refused> {
        let mut section = point::enter(&self.state, OpKind::Recv);
        let (state, mut kernel) = section.both();
        if state.get(kernel.as_deref_mut(), slot, site) {
            give_back(&mut section, 1);
            return Ok(());
        }
        operate(kernel, &mut state.object, OpKind::Read);
        Err(if state.is_over() { Refused::Closed } else { Refused::Full })
    }

    /// No new messages are taken; whoever waits to send is told.
    pub(super) fn close(&self) {
        let mut section = point::enter_in_drop(&self.state, |_| OpKind::Close);
        let (state, kernel) = section.both();
        operate(kernel, &mut state.object, OpKind::Close);
        state.closed = true;
        while let (state, kernel) = section.both()
            && let Some(waker) = state.queue.grant_first(kernel)
        {
            section.wake(waker);
        }
        while let (state, kernel) = section.both()
            && let Some(waker) = state.closing.grant_first(kernel)
        {
            section.wake(waker);
        }
    }

    /// The receiver goes. What it has not taken is the caller's to take out.
    pub(super) fn leave_receiver(&self) {
        self.close();
        let mut section = self.state.enter();
        section.deaf = true;
        unlisten(&mut section);
    }

    /// Takes a message that nobody received; false where there is none.
    pub(super) fn drain(&self, slot: Seen<'_>) -> bool {
        let mut section = self.state.enter();
        let taken = section.ring.pop(slot);
        section.free += usize::from(taken);
        taken
    }

    pub(super) fn add_sender(&self) {
        self.state.enter().senders += 1;
    }

    pub(super) fn leave_sender(&self) {
        let mut section = self.state.enter();
        section.senders -= 1;
        if section.senders == 0 {
            let (state, kernel) = section.both();
            operate(kernel, &mut state.object, OpKind::Close);
            wake_receiver(&mut section);
        }
    }

    pub(super) fn add_weak(&self) {
        self.state.enter().weak += 1;
    }

    pub(super) fn leave_weak(&self) {
        self.state.enter().weak -= 1;
    }

    /// One more sender, unless there is none left.
    pub(super) fn upgrade(&self) -> bool {
        let mut section = self.state.enter();
        let alive = section.senders > 0;
        section.senders += usize::from(alive);
        alive
    }

    /// Looks at the channel.
    pub(super) fn looks(&self) -> Looks {
        let mut section = self.state.enter();
        let (state, kernel) = section.both();
        operate(kernel, &mut state.object, OpKind::Read);
        Looks {
            messages: state.ring.len(),
            free: state.free,
            places: state.capacity,
            closed: state.closed,
            senders: state.senders,
            weak: state.weak,
        }
    }
}

/// What can be seen of a channel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Looks {
    pub(super) messages: usize,
    pub(super) free: usize,
    pub(super) places: usize,
    pub(super) closed: bool,
    pub(super) senders: usize,
    pub(super) weak: usize,
}
