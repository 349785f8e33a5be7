//! Versions of a value, and who waits for the next one. Compiled once for all values.

use crate::sync::batch_semaphore::operate;
use crate::sync::last::Last;
use crate::sync::point::{self, HasObject};
use crate::sync::queue::Queue;
use crate::sync::until::{Until, Waits, wake_all};
use detsim_executor::{Bound, In, Kernel, Object, OpKind, ResourceKind, Role};
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::task::{Context, Poll, Waker};

/// What a watched value has beside itself.
#[derive(Debug)]
pub(super) struct Core {
    state: Bound<State>,
}

#[derive(Debug)]
struct State {
    object: Object,
    looks: Looks,
    last_sent: Last,
    /// Receivers that wait for another version.
    changing: Queue<()>,
    /// Senders that wait for the last receiver to go.
    closing: Queue<()>,
}

/// What can be seen of a channel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Looks {
    pub(super) version: u64,
    pub(super) senders: usize,
    pub(super) receivers: usize,
}

impl Looks {
    /// What a receiver finds that has seen this version, or none.
    #[inline]
    fn find(self, seen: Option<u64>) -> Option<Seen> {
        match seen {
            Some(seen) if seen == self.version => (self.senders == 0).then_some(Seen::Closed),
            _ => Some(Seen::Version(self.version)),
        }
    }
}

/// What became of a wait for another version.
#[derive(Clone, Copy, Debug)]
pub(super) enum Seen {
    Version(u64),
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

fn changing(state: &mut State) -> Waits<'_> {
    let party = state.last_sent.party(Role::LastSent);
    Waits { object: &mut state.object, queue: &mut state.changing, party }
}

fn closing(state: &mut State) -> Waits<'_> {
    let party = state.last_sent.party(Role::LastSent);
    Waits { object: &mut state.object, queue: &mut state.closing, party }
}

impl Core {
    /// With one end of each kind.
    pub(super) fn new(site: &'static Location<'static>) -> Self {
        let state = State {
            object: Object::new(ResourceKind::Watch, site),
            looks: Looks { version: 0, senders: 1, receivers: 1 },
            last_sent: Last::NOBODY,
            changing: Queue::new(),
            closing: Queue::new(),
        };
        Self { state: Bound::new(state) }
    }

    /// The task may be stopped here, before it locks the value.
    pub(super) fn before(&self, operation: OpKind) {
        point::before(&self.state, operation);
    }

    /// What is seen while the value is locked: nobody is stopped here.
    pub(super) fn version(&self) -> u64 {
        let mut section = self.state.enter();
        let (state, kernel) = section.both();
        operate(kernel, &mut state.object, OpKind::Read);
        state.looks.version
    }

    pub(super) fn looks(&self) -> Looks {
        let mut section = point::enter(&self.state, OpKind::Read);
        let (state, kernel) = section.both();
        operate(kernel, &mut state.object, OpKind::Read);
        state.looks
    }

    /// There is another version. Called while the value is locked.
    pub(super) fn publish(&self, site: &'static Location<'static>) {
        let mut section = self.state.enter();
        let (state, kernel) = section.both();
        let task = operate(kernel, &mut state.object, OpKind::Send);
        state.last_sent = Last::new(task, site);
        state.looks.version = state.looks.version.wrapping_add(1);
    }

    /// Wakes those who wait for another version, from one on that is drawn. Called when the value is
    /// no longer locked.
    pub(super) fn announce(&self) {
        let mut section = self.state.enter();
        if section.changing.is_empty() {
            return;
        }
        wake_from_any(&mut section);
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
            wake_from_any(&mut section);
        }
    }

    /// One more receiver: the version it comes at.
    pub(super) fn add_receiver(&self) -> u64 {
        let mut section = point::enter(&self.state, OpKind::Read);
        section.looks.receivers += 1;
        section.looks.version
    }

    pub(super) fn leave_receiver(&self) {
        let mut section = point::enter_in_drop(&self.state, |_| OpKind::Close);
        section.looks.receivers -= 1;
        if section.looks.receivers == 0 {
            let (state, kernel) = section.both();
            operate(kernel, &mut state.object, OpKind::Close);
            wake_all(&mut section, closing);
        }
    }
}

/// Wakes all receivers that wait. Which is first is a choice, the longest waiting one by default.
fn wake_from_any(section: &mut In<'_, State>) {
    if section.changing.is_single() {
        return wake_all(section, changing);
    }
    let mut wakers = Vec::new();
    while let (state, kernel) = section.both()
        && let Some(waker) = state.changing.grant_first(kernel)
    {
        wakers.push(waker);
    }
    let (_, kernel) = section.both();
    let start = draw(kernel, wakers.len());
    wakers.rotate_left(start);
    wakers.into_iter().for_each(|waker: Waker| section.wake(waker));
}

fn draw(kernel: Option<&mut Kernel>, count: usize) -> usize {
    let Some(kernel) = kernel.filter(|_| count > 1) else { return 0 };
    let (anchor, domain) = (kernel.anchor(), kernel.choices().domain("watch"));
    kernel.choices().draw(domain, anchor, count as u64, 0) as usize
}

/// A wait of a receiver for another version than the one it has seen.
#[derive(Debug)]
pub(super) struct Changing<'a> {
    core: &'a Core,
    until: Until,
}

impl<'a> Changing<'a> {
    pub(super) fn new(core: &'a Core, site: &'static Location<'static>) -> Self {
        Self { core, until: Until::new(OpKind::Recv, site) }
    }

    /// Waits for a version other than `seen`; for any where that is `None`.
    #[inline(never)]
    pub(super) fn poll(&mut self, cx: &Context<'_>, seen: Option<u64>) -> Poll<Seen> {
        if let Some(mut section) = self.core.state.enter_own()
            && let (state, kernel) = section.both()
            && let Some(found) = state.looks.find(seen)
            && self.until.ends_at_once(kernel, changing(state))
        {
            return Poll::Ready(found);
        }
        self.until.poll(&self.core.state, cx, changing, |section| section.looks.find(seen))
    }
}

impl Drop for Changing<'_> {
    fn drop(&mut self) {
        self.until.cancel(&self.core.state, changing);
    }
}

/// A wait of a sender for the last receiver to go.
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
