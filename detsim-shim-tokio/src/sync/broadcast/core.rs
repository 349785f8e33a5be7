//! How far a channel has come, and who waits. Compiled once for all messages.

use crate::sync::batch_semaphore::operate;
use crate::sync::last::Last;
use crate::sync::point::{self, HasObject};
use crate::sync::queue::Queue;
use crate::sync::until::{Until, Waits, wake_all};
use detsim_executor::{Bound, In, Object, OpKind, Own, ResourceKind, Role};
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::task::{Context, Poll};

/// What a channel has beside its messages.
#[derive(Debug)]
pub(super) struct Core {
    state: Bound<State>,
}

#[derive(Debug)]
struct State {
    object: Object,
    looks: Looks,
    last_sent: Last,
    last_received: Last,
    /// Receivers that wait for a message.
    receiving: Queue<()>,
    /// Senders that wait for the channel to close.
    closing: Queue<()>,
}

/// What can be seen of a channel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Looks {
    /// The position of the next message.
    pub(super) next: u64,
    pub(super) capacity: u64,
    pub(super) senders: usize,
    pub(super) weak: usize,
    pub(super) receivers: usize,
}

impl Looks {
    /// Nobody is at one of the ends.
    fn is_closed(self) -> bool {
        self.senders == 0 || self.receivers == 0
    }

    /// What a receiver finds that wants the message at `position`.
    #[inline]
    fn find(self, position: u64) -> Option<Found> {
        let behind = self.next - position;
        match behind {
            0 => self.is_closed().then_some(Found::Closed),
            _ if behind > self.capacity => Some(Found::Lagged(behind - self.capacity)),
            _ => Some(Found::Message),
        }
    }
}

/// What a receiver finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    Message,
    /// So many messages are lost to it.
    Lagged(u64),
    Closed,
}

impl HasObject for State {
    fn object(&mut self) -> &mut Object {
        &mut self.object
    }
}

// No panic leaves the state half changed.
impl UnwindSafe for Core {}
impl RefUnwindSafe for Core {}

fn receiving(state: &mut State) -> Waits<'_> {
    let party = state.last_sent.party(Role::LastSent);
    Waits { object: &mut state.object, queue: &mut state.receiving, party }
}

fn closing(state: &mut State) -> Waits<'_> {
    let party = state.last_received.party(Role::LastReceived);
    Waits { object: &mut state.object, queue: &mut state.closing, party }
}

impl Core {
    /// With one sender.
    pub(super) fn new(capacity: u64, receivers: usize, site: &'static Location<'static>) -> Self {
        let state = State {
            object: Object::new(ResourceKind::Broadcast, site),
            looks: Looks { next: 0, capacity, senders: 1, weak: 0, receivers },
            last_sent: Last::NOBODY,
            last_received: Last::NOBODY,
            receiving: Queue::new(),
            closing: Queue::new(),
        };
        Self { state: Bound::new(state) }
    }

    /// The task may be stopped here, before it takes its turn to send.
    pub(super) fn before(&self, operation: OpKind) {
        point::before(&self.state, operation);
    }

    pub(super) fn looks(&self) -> Looks {
        let mut section = point::enter(&self.state, OpKind::Read);
        let (state, kernel) = section.both();
        operate(kernel, &mut state.object, OpKind::Read);
        state.looks
    }

    /// Makes the next position known, with its place locked: to how many receivers, and whether one
    /// waits. `None` where there is none.
    pub(super) fn publish(&self, site: &'static Location<'static>) -> Option<(usize, bool)> {
        let mut section = self.state.enter();
        let (state, kernel) = section.both();
        let receivers = state.looks.receivers;
        let operation = if receivers == 0 { OpKind::Read } else { OpKind::Send };
        let task = operate(kernel, &mut state.object, operation);
        if receivers == 0 {
            return None;
        }
        state.last_sent = Last::new(task, site);
        state.looks.next += 1;
        Some((receivers, !state.receiving.is_empty()))
    }

    /// Wakes the receivers that wait. Called when the place is no longer locked.
    pub(super) fn announce(&self) {
        wake_all(&mut self.state.enter(), receiving);
    }

    /// What a receiver finds at `position`, without waiting; nothing where it is empty.
    pub(super) fn try_find(
        &self,
        position: u64,
        site: &'static Location<'static>,
    ) -> Option<Found> {
        let mut section = point::enter(&self.state, OpKind::Recv);
        let (state, kernel) = section.both();
        let found = state.looks.find(position);
        let operation = if found.is_some() { OpKind::Recv } else { OpKind::Read };
        let task = operate(kernel, &mut state.object, operation);
        if found == Some(Found::Message) {
            state.last_received = Last::new(task, site);
        }
        found
    }

    /// One more receiver: the position that it begins at.
    pub(super) fn add_receiver(&self) -> u64 {
        let mut section = point::enter(&self.state, OpKind::Read);
        section.looks.receivers += 1;
        section.looks.next
    }

    /// One receiver less: what is seen of the channel then.
    pub(super) fn leave_receiver(&self) -> Looks {
        let mut section = point::enter_in_drop(&self.state, |_| OpKind::Close);
        let (state, kernel) = section.both();
        state.looks.receivers -= 1;
        if state.looks.receivers == 0 {
            operate(kernel, &mut state.object, OpKind::Close);
        }
        state.looks
    }

    /// Wakes the senders that wait for the last receiver to go.
    pub(super) fn announce_closed(&self) {
        wake_all(&mut self.state.enter(), closing);
    }

    pub(super) fn add_sender(&self) {
        self.state.enter().looks.senders += 1;
    }

    pub(super) fn leave_sender(&self) {
        let mut section = point::enter_in_drop(&self.state, |_| OpKind::Close);
        section.looks.senders -= 1;
        if section.looks.senders == 0 {
            let (state, kernel) = section.both();
            operate(kernel, &mut state.object, OpKind::Close);
            wake_all(&mut section, receiving);
        }
    }

    pub(super) fn add_weak(&self) {
        self.state.enter().looks.weak += 1;
    }

    pub(super) fn leave_weak(&self) {
        self.state.enter().looks.weak -= 1;
    }

    /// One more sender, unless there is none left.
    pub(super) fn upgrade(&self) -> bool {
        let mut section = point::enter(&self.state, OpKind::Read);
        let alive = section.looks.senders > 0;
        section.looks.senders += usize::from(alive);
        alive
    }
}

/// A wait of a receiver for a message.
#[derive(Debug)]
pub(super) struct Receiving<'a> {
    core: &'a Core,
    until: Until,
    site: &'static Location<'static>,
}

impl<'a> Receiving<'a> {
    #[inline]
    pub(super) fn new(core: &'a Core, site: &'static Location<'static>) -> Self {
        Self { core, until: Until::new(OpKind::Recv, site), site }
    }

    #[inline(never)]
    pub(super) fn poll(&mut self, cx: &Context<'_>, position: u64) -> Poll<Found> {
        if let Some(mut section) = self.core.state.enter_own()
            && let (state, kernel) = section.both()
            && let Some(found) = state.looks.find(position)
            && self.until.ends_at_once(kernel, receiving(state))
        {
            if found == Found::Message && !state.last_received.is_by(Some(kernel), self.site) {
                return received_by_another(section, self.site, found);
            }
            return Poll::Ready(found);
        }
        self.poll_anyway(cx, position)
    }

    #[inline(never)]
    fn poll_anyway(&mut self, cx: &Context<'_>, position: u64) -> Poll<Found> {
        let site = self.site;
        self.until.poll(&self.core.state, cx, receiving, |section: &mut In<'_, State>| {
            let (state, kernel) = section.both();
            let found = state.looks.find(position)?;
            if found == Found::Message {
                state.last_received.note(kernel.as_deref(), site);
            }
            Some(found)
        })
    }
}

/// Notes who has received. Called at the very end of a poll, which keeps nothing meanwhile.
#[inline(never)]
fn received_by_another(
    mut section: Own<'_, State>,
    site: &'static Location<'static>,
    found: Found,
) -> Poll<Found> {
    let (state, kernel) = section.both();
    state.last_received.note(Some(kernel), site);
    Poll::Ready(found)
}

impl Receiving<'_> {
    #[cold]
    fn give_up(&mut self) {
        self.until.cancel(&self.core.state, receiving);
    }
}

impl Drop for Receiving<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.until.waits() {
            self.give_up();
        }
    }
}

/// A wait of a sender for the channel to close.
#[derive(Debug)]
pub(super) struct Closing<'a> {
    core: &'a Core,
    until: Until,
}

impl<'a> Closing<'a> {
    pub(super) fn new(core: &'a Core, site: &'static Location<'static>) -> Self {
        Self { core, until: Until::new(OpKind::Close, site) }
    }

    pub(super) fn poll(&mut self, cx: &Context<'_>) -> Poll<()> {
        let is_over = |section: &mut In<'_, State>| (section.looks.receivers == 0).then_some(());
        self.until.poll(&self.core.state, cx, closing, is_over)
    }
}

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.until.cancel(&self.core.state, closing);
    }
}
