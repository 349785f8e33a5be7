//! Permits: what locks and semaphores are made of.
//!
//! Mirrors tokio's module of that name. Owns: [`Semaphore`] and [`Permit`], which are not generic, so
//! that they are compiled once. Does not own: how permits are waited for ([`Acquire`]), or values ([`super::value`]).
//!
//! Invariants: first come, first served: permits go to the one that waits longest until it has all it
//! asked for, so while somebody waits none is free; a wait that is given up passes on what it was
//! given; who holds permits is known exactly, from the moment they are granted.

mod acquire;

pub(crate) use acquire::{Acquire, Closed};

use crate::sync::holders::{Holders, Key};
use crate::sync::point::{self, HasObject};
use crate::sync::queue::{Queue, Served};
use crate::task::coop;
use detsim_executor::{
    Block, Bound, In, Kernel, Object, OpKind, Own, Party, ResourceKind, Role, TaskTag,
};
use std::mem::ManuallyDrop;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::task::{Context, Poll, Waker};
use tokio::sync::TryAcquireError;

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
    /// As a holder of all of it.
    party: Party,
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

/// Records an operation of the task that runs, and names the task.
#[inline]
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
        Acquire::new(self, count, role, site)
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
            let served = match kernel {
                Some(kernel) => state.queue.serve_first(kernel, |_| true),
                None => state.queue.grant_first(None).map_or(Served::Nobody, Served::Foreign),
            };
            match served {
                Served::InFull => {}
                Served::Foreign(waker) => section.wake(waker),
                Served::Nobody | Served::InPart => break,
            }
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
        let (state, kernel) = section.both();
        Block::held_by(kernel, &state.object, state.holders.parties());
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
    /// What is left is free; who still waits, waits for those who hold permits now.
    #[inline]
    fn handed_out(&mut self, kernel: Option<&mut Kernel>, left: usize) {
        self.free += left;
        if !self.queue.is_empty() {
            Block::held_by(kernel, &self.object, self.holders.parties());
        }
    }
}

impl Wanted {
    /// Takes permits from `left`. True: it has all that it asked for, and is a holder now.
    #[inline]
    fn take(&mut self, left: &mut usize, holders: &mut Holders) -> bool {
        let given = (*left).min(self.missing as usize);
        self.missing -= given as u32;
        *left -= given;
        if self.missing > 0 {
            return false;
        }
        self.key = holders.add(self.party);
        true
    }
}

/// Gives permits to those that wait, the longest first; what is left is free.
fn hand_out(mut section: In<'_, State>, count: usize) {
    let mut left = count;
    while left > 0
        && let (State { queue, holders, .. }, kernel) = section.both()
        && let Some(wanted) = queue.first_mut()
        && wanted.take(&mut left, holders)
    {
        if let Some(waker) = queue.grant_first(kernel) {
            section.wake(waker);
        }
    }
    let (state, kernel) = section.both();
    state.handed_out(kernel, left);
}

/// The same in a section of the run's own.
#[inline(never)]
fn hand_out_own(mut section: Own<'_, State>, count: usize) {
    let mut left = count;
    while left > 0 {
        let (State { queue, holders, .. }, kernel) = section.both();
        match queue.serve_first(kernel, |wanted| wanted.take(&mut left, holders)) {
            Served::InFull => {}
            Served::Nobody | Served::InPart => break,
            Served::Foreign(waker) => {
                let mut section = section.into_in();
                section.wake(waker);
                return hand_out(section, left);
            }
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
