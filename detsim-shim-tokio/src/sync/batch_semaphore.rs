//! Permits: what locks and semaphores are made of.
//!
//! Mirrors tokio's module of that name. Owns: [`Semaphore`], [`Acquire`] and [`Permit`], none of them
//! generic, so that they are compiled once. Does not own: values ([`super::value`]).
//!
//! Invariants: first come, first served: permits go to the one that waits longest until it has all it
//! asked for, so while somebody waits none is free; a wait that is given up passes on what it was
//! given; who holds permits is known exactly, from the moment they are granted.

use crate::sync::errors;
use crate::sync::holders::{Holders, Key};
use crate::sync::point::{self, HasObject};
use crate::sync::queue::{Queue, Ticket};
use crate::task::coop;
use detsim_executor::{
    Block, Bound, In, Kernel, Object, OpKind, Own, Party, ResourceKind, Role, TaskTag, nobody,
    storable,
};
use std::mem::ManuallyDrop;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::task::{Context, Poll, Waker};
use tokio::sync::{AcquireError, TryAcquireError};

/// The most permits there can be.
pub(crate) const PERMITS_MAX: usize = tokio::sync::Semaphore::MAX_PERMITS;

/// Permits, and who waits for them.
#[derive(Debug)]
pub(crate) struct Semaphore {
    state: Bound<State>,
}

// No panic leaves the state half changed.
impl UnwindSafe for Semaphore {}
impl RefUnwindSafe for Semaphore {}

#[derive(Debug)]
struct State {
    object: Object,
    free: usize,
    closed: bool,
    queue: Queue<Wanted>,
    holders: Holders,
}

/// What somebody waits for.
#[derive(Debug)]
struct Wanted {
    task: TaskTag,
    site: &'static Location<'static>,
    role: Role,
    count: u32,
    missing: u32,
    /// Set when nothing is missing any more.
    key: Key,
}

impl State {
    const fn new(kind: ResourceKind, free: usize, site: &'static Location<'static>) -> Self {
        let object = Object::new(kind, site);
        Self { object, free, closed: false, queue: Queue::new(), holders: Holders::new(site) }
    }

    /// The operations by which permits are taken and given back.
    #[inline]
    fn operations(&self) -> (OpKind, OpKind) {
        match self.object.kind() {
            ResourceKind::Semaphore => (OpKind::Acquire, OpKind::Release),
            _ => (OpKind::Lock, OpKind::Unlock),
        }
    }

    /// Takes free permits for the task that runs; `None` where there are not enough.
    #[inline(always)]
    fn take(
        &mut self,
        kernel: Option<&mut Kernel>,
        count: u32,
        role: Role,
        site: &'static Location<'static>,
    ) -> Option<Key> {
        self.free = self.free.checked_sub(count as usize)?;
        let (operation, _) = self.operations();
        let task = operate(kernel, &mut self.object, operation);
        Some(self.holders.add(Party { task, role, site, count }))
    }
}

/// Why a poll ends before its operation begins.
#[derive(Clone, Copy, Debug)]
pub(super) enum Halt {
    /// The task is stopped.
    Stopped,
    /// The task has no budget left.
    Exhausted,
}

impl Halt {
    /// Whether the current task is to be halted before an operation on `object`, asked for by a
    /// future that waits with `waker`. As [`Kernel::stops_before`].
    #[inline]
    pub(super) fn before(
        kernel: &mut Kernel,
        object: &mut Object,
        operation: OpKind,
        asked: &mut bool,
        waker: &Waker,
    ) -> Option<Self> {
        if kernel.stops_before(object, operation, asked, waker) {
            return Some(Self::Stopped);
        }
        (!kernel.has_budget()).then_some(Self::Exhausted)
    }

    /// What the poll gives. Not in a section.
    #[cold]
    pub(super) fn pending<T>(self, cx: &Context<'_>) -> Poll<T> {
        match self {
            Self::Stopped => Poll::Pending,
            Self::Exhausted => coop::exhausted(cx),
        }
    }
}

impl HasObject for State {
    fn object(&mut self) -> &mut Object {
        &mut self.object
    }
}

/// Records an operation of the task that runs, and names the task. Where there surely is a run,
/// [`Kernel::used`] does it without a call.
pub(crate) fn operate(
    kernel: Option<&mut Kernel>,
    object: &mut Object,
    operation: OpKind,
) -> TaskTag {
    kernel.map_or(TaskTag::NOBODY, |kernel| kernel.used(object, operation))
}

impl Semaphore {
    #[track_caller]
    pub(crate) fn new(kind: ResourceKind, permits: usize) -> Self {
        check(permits);
        Self { state: Bound::new(State::new(kind, permits, Location::caller())) }
    }

    #[track_caller]
    pub(crate) const fn const_new(kind: ResourceKind, permits: usize) -> Self {
        assert!(permits <= PERMITS_MAX, "a semaphore may not have more than MAX_PERMITS permits");
        Self { state: Bound::unbound(State::new(kind, permits, Location::caller())) }
    }

    /// One that was closed before anybody came.
    #[track_caller]
    pub(crate) fn closed(kind: ResourceKind) -> Self {
        let mut semaphore = Self::new(kind, 0);
        semaphore.state.get_mut().closed = true;
        semaphore
    }

    /// As [`Self::closed`], for a static.
    #[track_caller]
    pub(crate) const fn const_closed(kind: ResourceKind) -> Self {
        let mut state = State::new(kind, 0, Location::caller());
        state.closed = true;
        Self { state: Bound::unbound(state) }
    }

    /// Waits for `count` permits.
    #[inline]
    pub(crate) fn acquire(
        &self,
        count: u32,
        role: Role,
        site: &'static Location<'static>,
    ) -> Acquire<'_> {
        Acquire { semaphore: self, count, role, asked: false, ticket: None, site }
    }

    /// Takes `count` permits, if that many are free.
    pub(crate) fn try_acquire(
        &self,
        count: u32,
        role: Role,
        site: &'static Location<'static>,
    ) -> Result<Permit<'_>, TryAcquireError> {
        let mut section = point::enter(&self.state, OpKind::Acquire);
        let (state, mut kernel) = section.both();
        if state.closed {
            return Err(TryAcquireError::Closed);
        }
        match state.take(kernel.as_deref_mut(), count, role, site) {
            Some(key) => Ok(Permit { semaphore: self, key, count }),
            None => {
                operate(kernel, &mut state.object, OpKind::Read);
                Err(TryAcquireError::NoPermits)
            }
        }
    }

    pub(crate) fn available(&self) -> usize {
        let mut section = point::enter(&self.state, OpKind::Read);
        let (state, kernel) = section.both();
        operate(kernel, &mut state.object, OpKind::Read);
        state.free
    }

    /// Adds permits that nobody held.
    #[track_caller]
    pub(crate) fn add(&self, count: usize) {
        let mut section = point::enter(&self.state, OpKind::Release);
        let free = section.free;
        if free.checked_add(count).is_none_or(|sum| sum > PERMITS_MAX) {
            drop(section);
            panic!("number of added permits ({count}) would overflow MAX_PERMITS ({PERMITS_MAX})");
        }
        let (state, kernel) = section.both();
        let (_, operation) = state.operations();
        operate(kernel, &mut state.object, operation);
        hand_out(section, count);
    }

    /// Takes away free permits, as many as there are, at most `count`.
    pub(crate) fn forget(&self, count: usize) -> usize {
        let mut section = point::enter(&self.state, OpKind::Acquire);
        let (state, kernel) = section.both();
        let (operation, _) = state.operations();
        operate(kernel, &mut state.object, operation);
        let forgotten = state.free.min(count);
        state.free -= forgotten;
        forgotten
    }

    /// From now on nobody gets permits; whoever waits is told.
    pub(crate) fn close(&self) {
        let mut section = point::enter(&self.state, OpKind::Close);
        let (state, kernel) = section.both();
        operate(kernel, &mut state.object, OpKind::Close);
        state.closed = true;
        loop {
            let (state, kernel) = section.both();
            let Some(waker) = state.queue.grant_first(kernel) else { break };
            section.wake(waker);
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        let mut section = point::enter(&self.state, OpKind::Read);
        let (state, kernel) = section.both();
        operate(kernel, &mut state.object, OpKind::Read);
        state.closed
    }

    /// Gives permits back.
    #[inline(never)]
    pub(super) fn release(&self, key: Key, count: usize) {
        let Some(mut section) = self.state.enter_own() else {
            return self.release_anyway(key, count);
        };
        let (state, kernel) = section.both();
        let (_, operation) = state.operations();
        if !kernel.does_at_once(&mut state.object, operation) {
            drop(section);
            return self.release_anyway(key, count);
        }
        state.holders.remove(key);
        if state.queue.is_empty() {
            state.free += count;
        } else {
            hand_out_own(section, count);
        }
    }

    #[cold]
    #[inline(never)]
    fn release_anyway(&self, key: Key, count: usize) {
        let mut section = point::enter_in_drop(&self.state, |state| state.operations().1);
        let (state, kernel) = section.both();
        let (_, operation) = state.operations();
        operate(kernel, &mut state.object, operation);
        state.holders.remove(key);
        if state.queue.is_empty() {
            state.free += count;
            return;
        }
        hand_out(section, count);
    }

    /// A holder gives back `count` of its permits, and reads from now on what it wrote before.
    pub(super) fn downgrade(&self, key: &Key, count: u32) {
        let mut section = point::enter(&self.state, OpKind::Release);
        let (state, kernel) = section.both();
        let (_, operation) = state.operations();
        operate(kernel, &mut state.object, operation);
        if let Some(party) = state.holders.party_mut(key) {
            (party.role, party.count) = (Role::Reads, party.count - count);
        }
        hand_out(section, count as usize);
    }

    /// The permits of this holder are gone for good.
    pub(super) fn abandon(&self, key: Key) {
        let mut section = self.state.enter();
        section.holders.remove(key);
        let (state, kernel) = section.both();
        Block::held_by(kernel, &state.object, state.holders.parties());
    }

    /// Permits move from one holder, which is left with `left`, to another, which has `there` then: a
    /// new one where `to` is nobody.
    pub(super) fn shift(&self, from: &mut Key, left: usize, to: &mut Key, there: usize) {
        let mut section = self.state.enter();
        let holders = &mut section.holders;
        let Some(party) = holders.party_mut(from) else { return };
        party.count = shown(left);
        let moved = Party { count: shown(there), ..*party };
        match holders.party_mut(to) {
            Some(party) => party.count = moved.count,
            None => *to = holders.add(moved),
        }
        if left == 0 {
            holders.remove(std::mem::replace(from, Key::NOBODY));
        }
    }
}

/// How many permits a report says that somebody holds.
fn shown(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[track_caller]
fn check(permits: usize) {
    assert!(
        permits <= PERMITS_MAX,
        "a semaphore may not have more than MAX_PERMITS permits ({PERMITS_MAX})"
    );
}

impl State {
    /// Gives permits to the one that waits longest, and takes them from `left`. Who has all it asked for
    /// is to be woken.
    #[inline]
    fn hand_to_first(&mut self, kernel: Option<&mut Kernel>, left: &mut usize) -> Option<Waker> {
        let wanted = self.queue.first_mut()?;
        let given = u32::try_from(*left).unwrap_or(u32::MAX).min(wanted.missing);
        wanted.missing -= given;
        *left -= given as usize;
        if wanted.missing > 0 {
            return None;
        }
        let Wanted { task, site, role, count, .. } = *wanted;
        wanted.key = self.holders.add(Party { task, role, site, count });
        self.queue.grant_first(kernel)
    }

    /// What is left is free; who still waits, waits for those who hold permits now.
    #[inline]
    fn handed_out(&mut self, kernel: Option<&mut Kernel>, left: usize) {
        self.free += left;
        if !self.queue.is_empty() {
            Block::held_by(kernel, &self.object, self.holders.parties());
        }
    }
}

/// Gives permits to those that wait, the longest first; what is left is free.
fn hand_out(mut section: In<'_, State>, count: usize) {
    let mut left = count;
    while left > 0
        && let (state, kernel) = section.both()
        && let Some(waker) = state.hand_to_first(kernel, &mut left)
    {
        section.wake(waker);
    }
    let (state, kernel) = section.both();
    state.handed_out(kernel, left);
}

/// The same in a section of the run's own.
#[inline(never)]
fn hand_out_own(mut section: Own<'_, State>, count: usize) {
    let mut left = count;
    while left > 0
        && let (state, kernel) = section.both()
        && let Some(waker) = state.hand_to_first(Some(kernel), &mut left)
    {
        if let Some(foreign) = section.wake(waker) {
            let mut section = section.into_in();
            section.wake(foreign);
            return hand_out(section, left);
        }
    }
    let (state, kernel) = section.both();
    state.handed_out(Some(kernel), left);
}

/// Permits that go back when this is dropped.
#[derive(Debug)]
pub(crate) struct Permit<'a> {
    semaphore: &'a Semaphore,
    key: Key,
    count: u32,
}

impl Permit<'_> {
    /// Gives all permits back but one, which is for reading.
    pub(crate) fn downgrade(&mut self) {
        let given = std::mem::replace(&mut self.count, 1) - 1;
        self.semaphore.downgrade(&self.key, given);
    }

    /// The permits without the way back.
    #[inline]
    pub(crate) fn into_key(self) -> Key {
        let mut this = ManuallyDrop::new(self);
        std::mem::replace(&mut this.key, Key::NOBODY)
    }
}

impl Drop for Permit<'_> {
    #[inline]
    fn drop(&mut self) {
        let key = std::mem::replace(&mut self.key, Key::NOBODY);
        self.semaphore.release(key, self.count as usize);
    }
}

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
    #[inline]
    fn begin_wait(&mut self, state: &mut State, mut kernel: Option<&mut Kernel>, waker: Waker) {
        let (operation, _) = state.operations();
        let task = match kernel.as_deref_mut() {
            Some(kernel) => kernel.used(&mut state.object, operation),
            None => TaskTag::NOBODY,
        };
        let site = self.site;
        let parties = state.holders.parties();
        let (object, waits) = (&mut state.object, self.shown(operation));
        let waiter = Block::wait(kernel, object, waits, site, parties, waker);
        // What is free is not enough: it is the beginning of what this one waits for.
        let missing = self.count - std::mem::take(&mut state.free) as u32;
        let Self { count, role, .. } = *self;
        let wanted = Wanted { task, site, role, count, missing, key: Key::NOBODY };
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

    #[inline(never)]
    fn poll_key(&mut self, cx: &Context<'_>) -> Poll<Result<Key, Closed>> {
        let Some(mut section) = self.semaphore.state.enter_own() else {
            return self.poll_key_anyway(self.semaphore.state.enter(), cx);
        };
        // The short ways: a run's own task, which need not be stopped, nor yield.
        let (state, kernel) = section.both();
        let (operation, _) = state.operations();
        match &self.ticket {
            _ if state.closed => {}
            None if state.free >= self.count as usize => {
                let Self { count, role, site, .. } = *self;
                if kernel.completes_at_once(&mut state.object, operation, &mut self.asked) {
                    state.free -= count as usize;
                    let party = Party { task: kernel.tag(), role, site, count };
                    return Poll::Ready(Ok(state.holders.add(party)));
                }
            }
            None if kernel.passes(&state.object, &mut self.asked) => {
                if let Some(waker) = storable(cx, &mut None) {
                    self.begin_wait(state, Some(kernel), waker);
                    return Poll::Pending;
                }
            }
            Some(ticket)
                if state.queue.is_granted(ticket)
                    && kernel.completes_at_once(&mut state.object, operation, &mut self.asked) =>
            {
                return Poll::Ready(Ok(self.end_granted(state, kernel)));
            }
            _ => {}
        }
        self.poll_key_anyway(section.into_in(), cx)
    }

    /// Takes what was granted: its key.
    #[inline]
    fn end_granted(&mut self, state: &mut State, kernel: &mut Kernel) -> Key {
        let ticket = self.ticket.take().expect("invariant: what is granted has a place");
        let left = state.queue.leave(ticket);
        // Once it is granted, what is left of the waker is nobody's.
        let (_nobody, wanted) = left.end(Some(kernel), &mut state.object);
        wanted.key
    }

    /// Whoever polls, from wherever.
    #[inline(never)]
    fn poll_key_anyway(
        &mut self,
        mut section: In<'a, State>,
        cx: &Context<'_>,
    ) -> Poll<Result<Key, Closed>> {
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
        let Self { count, role, site, .. } = *self;
        let (object, waits) = (&mut state.object, self.shown(operation));
        let waiter = Block::wait(kernel, object, waits, site, &[], nobody());
        let wanted = Wanted { task, site, role, count, missing: 0, key };
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
        hand_out(section, (wanted.count - wanted.missing) as usize);
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
        if let Some(ticket) = self.ticket.take() {
            self.cancel(ticket);
        }
    }
}
