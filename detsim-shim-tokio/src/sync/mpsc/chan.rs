//! What a channel does, compiled once for all types of messages.
//!
//! Owns: [`Chan`], the state that both ends share, and every operation on it. Does not own: the
//! messages' type ([`super::ends`]) or their bytes ([`super::ring`][crate::sync::ring]).
//!
//! Invariants: a place of a bounded channel is free, promised to a sender (by a permit, or by a grant
//! that the sender has not taken yet), or holds a message; so `free` plus promises plus messages are
//! the capacity. While a sender waits no place is free. A message is never dropped in a section.

use crate::sync::batch_semaphore::operate;
use crate::sync::queue::{Queue, Ticket};
use crate::sync::ring::{Ring, Seen};
use detsim_executor::{
    Block, Bound, In, Kernel, Object, OpKind, Party, ResourceKind, Role, TaskTag, Waiter, storable,
};
use std::panic::Location;
use std::task::{Context, Poll, Waker};

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

/// Who used a channel last, from where.
#[derive(Clone, Copy, Debug)]
struct Last {
    task: TaskTag,
    /// `None` while nobody did.
    site: Option<&'static Location<'static>>,
}

impl Last {
    const NOBODY: Self = Self { task: TaskTag::NOBODY, site: None };

    fn party(self, role: Role) -> Option<Party> {
        self.site.map(|site| Party { task: self.task, role, site, count: 1 })
    }
}

/// Why a message was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    Closed,
    Full,
}

impl State {
    /// Puts a message in, in a place that was promised to it.
    #[inline(always)]
    fn put(
        &mut self,
        kernel: Option<&mut Kernel>,
        slot: &mut Seen<'_>,
        site: &'static Location<'static>,
    ) {
        self.ring.push(slot);
        let task = operate(kernel, &mut self.object, OpKind::Send);
        self.last_sent = Last { task, site: Some(site) };
    }

    /// Takes a message out; the place is the caller's to give away.
    #[inline(always)]
    fn get(
        &mut self,
        kernel: Option<&mut Kernel>,
        slot: &mut Seen<'_>,
        site: &'static Location<'static>,
    ) -> bool {
        if !self.ring.pop(slot) {
            return false;
        }
        let task = operate(kernel, &mut self.object, OpKind::Recv);
        self.last_received = Last { task, site: Some(site) };
        true
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
    loop {
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
    let (state, kernel) = section.both();
    let receiver = state.last_received.party(Role::LastReceived);
    Block::held_by(kernel, &state.object, receiver.as_slice());
}

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
        slot: &mut Seen<'_>,
        site: &'static Location<'static>,
    ) -> Result<(), Refused> {
        let mut section = self.state.enter();
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
        let mut section = self.state.enter();
        let (state, kernel) = section.both();
        let promised = state.promise(places);
        let operation = if promised.is_ok() { OpKind::Acquire } else { OpKind::Read };
        operate(kernel, &mut state.object, operation);
        promised
    }

    /// Sends in a place that was promised. False: nobody will take the message, and it stays in the
    /// slot; the place is given back.
    pub(super) fn send_promised(
        &self,
        slot: &mut Seen<'_>,
        site: &'static Location<'static>,
    ) -> bool {
        let mut section = self.state.enter();
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
        let mut section = self.state.enter();
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
        slot: &mut Seen<'_>,
        site: &'static Location<'static>,
    ) -> Result<(), Refused> {
        let mut section = self.state.enter();
        let (state, mut kernel) = section.both();
        if state.get(kernel.as_deref_mut(), slot, site) {
            give_back(&mut section, 1);
            return Ok(());
        }
        operate(kernel, &mut state.object, OpKind::Read);
        Err(if state.is_over() { Refused::Closed } else { Refused::Full })
    }

    /// Polls for a message in the slot; false where none will come any more. Where it is pending
    /// the receiver is queued until it is woken or [`Self::unlisten`] is called.
    #[inline]
    pub(super) fn poll_recv(
        &self,
        cx: &Context<'_>,
        slot: &mut Seen<'_>,
        wait: &mut Wait,
    ) -> Poll<bool> {
        let mut section = self.state.enter();
        let (state, kernel) = section.both();
        // The short way: a run's own task, and a message is there.
        if let Some(kernel) = kernel {
            if kernel.stops_before(&mut state.object, OpKind::Recv, &mut wait.asked, cx.waker()) {
                return Poll::Pending;
            }
            if state.get(Some(kernel), slot, wait.site) {
                give_back(&mut section, 1);
                unlisten(&mut section);
                wait.pending = false;
                return Poll::Ready(true);
            }
        }
        drop(section);
        let polled = self.poll_recv_slowly(cx, slot, wait.site);
        wait.pending = polled.is_pending();
        polled
    }

    #[inline(never)]
    fn poll_recv_slowly(
        &self,
        cx: &Context<'_>,
        slot: &mut Seen<'_>,
        site: &'static Location<'static>,
    ) -> Poll<bool> {
        let mut foreign = None;
        loop {
            let mut section = self.state.enter();
            let (state, mut kernel) = section.both();
            if state.get(kernel.as_deref_mut(), slot, site) {
                give_back(&mut section, 1);
                unlisten(&mut section);
                return Poll::Ready(true);
            }
            if state.is_over() {
                operate(kernel, &mut state.object, OpKind::Read);
                unlisten(&mut section);
                return Poll::Ready(false);
            }
            if listen(&mut section, cx, &mut foreign, site) {
                return Poll::Pending;
            }
            drop(section);
            foreign = Some(cx.waker().clone());
        }
    }

    /// The receiver waits no more.
    fn unlisten(&self) {
        unlisten(&mut self.state.enter());
    }

    /// No new messages are taken; whoever waits to send is told.
    pub(super) fn close(&self) {
        let mut section = self.state.enter();
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
    pub(super) fn drain(&self, slot: &mut Seen<'_>) -> bool {
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
fn unlisten(section: &mut In<'_, State>) {
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

/// What a wait of the receiver remembers.
#[derive(Debug)]
pub(super) struct Wait {
    site: &'static Location<'static>,
    asked: bool,
    /// It was pending when it was polled last, and may be queued.
    pending: bool,
}

impl Wait {
    #[inline]
    pub(super) fn new(site: &'static Location<'static>) -> Self {
        Self { site, asked: false, pending: false }
    }
}

/// A wait for a message, given up when it is dropped.
#[derive(Debug)]
pub(super) struct Receiving<'a> {
    chan: &'a Chan,
    wait: Wait,
}

impl<'a> Receiving<'a> {
    #[inline]
    pub(super) fn new(chan: &'a Chan, site: &'static Location<'static>) -> Self {
        Self { chan, wait: Wait::new(site) }
    }

    /// As [`Chan::poll_recv`].
    #[inline(never)]
    pub(super) fn poll(&mut self, cx: &Context<'_>, slot: &mut Seen<'_>) -> Poll<bool> {
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

/// A wait for places to send in.
#[derive(Debug)]
pub(super) struct Sending<'a> {
    chan: &'a Chan,
    places: usize,
    asked: bool,
    ticket: Option<Ticket>,
    site: &'static Location<'static>,
}

impl<'a> Sending<'a> {
    #[inline]
    pub(super) fn new(chan: &'a Chan, places: usize, site: &'static Location<'static>) -> Self {
        Self { chan, places, asked: false, ticket: None, site }
    }

    /// Waits for a place and sends the message in the slot. False: the channel is closed, and the
    /// message stays in the slot.
    #[inline(never)]
    pub(super) fn poll_send(&mut self, cx: &Context<'_>, slot: &mut Seen<'_>) -> Poll<bool> {
        let mut section = self.chan.state.enter();
        let (state, kernel) = section.both();
        // The short way: a run's own task, and a place is free.
        if let Some(kernel) = kernel {
            if kernel.stops_before(&mut state.object, OpKind::Send, &mut self.asked, cx.waker()) {
                return Poll::Pending;
            }
            if state.free > 0 && !state.closed && self.ticket.is_none() {
                state.free -= 1;
                state.put(Some(kernel), slot, self.site);
                wake_receiver(&mut section);
                return Poll::Ready(true);
            }
        }
        drop(section);
        self.poll_slowly(cx, OpKind::Send, Some(slot))
    }

    /// Waits for the places, and has them promised. False: the channel is closed.
    pub(super) fn poll_reserve(&mut self, cx: &Context<'_>) -> Poll<bool> {
        let mut section = self.chan.state.enter();
        let (state, kernel) = section.both();
        if kernel.is_some_and(|kernel| {
            kernel.stops_before(&mut state.object, OpKind::Acquire, &mut self.asked, cx.waker())
        }) {
            return Poll::Pending;
        }
        drop(section);
        self.poll_slowly(cx, OpKind::Acquire, None)
    }

    #[inline(never)]
    fn poll_slowly(
        &mut self,
        cx: &Context<'_>,
        operation: OpKind,
        mut slot: Option<&mut Seen<'_>>,
    ) -> Poll<bool> {
        let mut foreign = None;
        loop {
            let mut section = self.chan.state.enter();
            let (state, kernel) = section.both();
            if state.closed || state.capacity < self.places {
                operate(kernel, &mut state.object, OpKind::Read);
                return Poll::Ready(false);
            }
            if self.has_places(&mut section) {
                self.finish(&mut section, slot.as_deref_mut());
                return Poll::Ready(true);
            }
            if self.queue(&mut section, cx, operation, &mut foreign) {
                return Poll::Pending;
            }
            drop(section);
            foreign = Some(cx.waker().clone());
        }
    }

    /// Whether the places are this one's now.
    #[inline]
    fn has_places(&mut self, section: &mut In<'_, State>) -> bool {
        if self.ticket.is_some() {
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
        let granted = self.ticket.take_if(|ticket| section.queue.is_granted(ticket));
        let Some(ticket) = granted else { return false };
        let (state, kernel) = section.both();
        let (waker, _) = state.queue.leave(ticket).end(kernel, &mut state.object);
        section.dispose(Some(waker));
        true
    }

    #[inline]
    fn finish(&self, section: &mut In<'_, State>, slot: Option<&mut Seen<'_>>) {
        let (state, kernel) = section.both();
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
        if let Some(ticket) = &self.ticket {
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
        self.ticket = Some(state.queue.push(waiter, missing));
        true
    }

    /// Gives up a wait: what was promised goes on to the next.
    #[cold]
    fn cancel(&mut self, ticket: Ticket) {
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
        if let Some(ticket) = self.ticket.take() {
            self.cancel(ticket);
        }
    }
}

/// A wait for the channel to close.
#[derive(Debug)]
pub(super) struct Closing<'a> {
    chan: &'a Chan,
    asked: bool,
    ticket: Option<Ticket>,
    site: &'static Location<'static>,
}

impl<'a> Closing<'a> {
    pub(super) fn new(chan: &'a Chan, site: &'static Location<'static>) -> Self {
        Self { chan, asked: false, ticket: None, site }
    }

    pub(super) fn poll(&mut self, cx: &Context<'_>) -> Poll<()> {
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
