//! Notifications.
//!
//! Mirrors tokio's. Owns: [`Notify`] and its futures. Invariants: at most one notification is kept for
//! later; a notification of one that is given up before it was noticed goes on to the next; a call of
//! [`Notify::notify_waiters`] reaches every future made before it, polled or not.

use crate::sync::batch_semaphore::operate;
use crate::sync::last::Last;
use crate::sync::point::{self, HasObject};
use crate::sync::queue::{Left, Queue, Ticket};
use detsim_executor::{
    Block, Bound, In, Kernel, Object, OpKind, ResourceKind, Role, nobody, storable,
};
use std::future::Future;
use std::marker::PhantomPinned;
use std::ops::Deref;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// Tells a task that something has happened.
///
/// # Examples
/// ```
/// use detsim_shim_tokio::sync::Notify;
/// let sim = detsim_executor::Sim::new(7);
/// sim.block_on(async {
///     let notify = Notify::new();
///     notify.notify_one(); // kept, since nobody waits
///     notify.notified().await;
/// })
/// .unwrap();
/// ```
#[derive(Debug)]
pub struct Notify {
    state: Bound<State>,
}

#[derive(Debug)]
struct State {
    object: Object,
    /// A notification of one is kept for whoever waits next.
    kept: bool,
    /// Calls of `notify_waiters`.
    calls: u64,
    last_notified: Last,
    queue: Queue<Cause>,
}

/// What ended a wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Cause {
    #[default]
    Nothing,
    First,
    Last,
    All,
}

impl State {
    const fn new(site: &'static Location<'static>) -> Self {
        let object = Object::new(ResourceKind::Notify, site);
        Self { object, kept: false, calls: 0, last_notified: Last::NOBODY, queue: Queue::new() }
    }

    /// Notes who notifies, whom the others wait for from now on.
    #[inline]
    fn notified_by(&mut self, kernel: Option<&mut Kernel>, site: &'static Location<'static>) {
        if !self.last_notified.is_by(kernel.as_deref(), site) {
            self.notified_by_another(kernel, site);
        }
    }

    #[inline(never)]
    fn notified_by_another(
        &mut self,
        kernel: Option<&mut Kernel>,
        site: &'static Location<'static>,
    ) {
        self.last_notified.note(kernel.as_deref(), site);
        let last = self.last_notified.party(Role::LastUsed);
        Block::held_by(kernel, &self.object, last.as_slice());
    }
}

impl HasObject for State {
    fn object(&mut self) -> &mut Object {
        &mut self.object
    }
}

impl Notify {
    /// Nobody was notified yet.
    #[track_caller]
    pub fn new() -> Self {
        Self { state: Bound::new(State::new(Location::caller())) }
    }

    /// Nobody was notified yet; for a static.
    #[track_caller]
    pub const fn const_new() -> Self {
        Self { state: Bound::unbound(State::new(Location::caller())) }
    }

    /// Waits for a notification. Calls of [`Self::notify_waiters`] count from here on, those of
    /// [`Self::notify_one`] from the first poll on.
    #[track_caller]
    pub fn notified(&self) -> Notified<'_> {
        let wait = Wait::new(self, Location::caller());
        Notified { notify: self, wait, _pinned: PhantomPinned }
    }

    /// As [`Self::notified`], with a future that keeps the notify alive.
    #[track_caller]
    pub fn notified_owned(self: Arc<Self>) -> OwnedNotified {
        let wait = Wait::new(&self, Location::caller());
        OwnedNotified { notify: self, wait, _pinned: PhantomPinned }
    }

    /// Notifies the one that waits longest; where nobody waits, whoever waits next.
    #[track_caller]
    pub fn notify_one(&self) {
        self.notify(Cause::First, Location::caller());
    }

    /// Notifies the one that began to wait last; where nobody waits, whoever waits next.
    #[track_caller]
    pub fn notify_last(&self) {
        self.notify(Cause::Last, Location::caller());
    }

    #[inline(never)]
    fn notify(&self, cause: Cause, site: &'static Location<'static>) {
        let mut section = point::operate(&self.state, OpKind::Notify);
        let (state, kernel) = section.both();
        state.notified_by(kernel, site);
        pass(&mut section, cause);
    }

    /// Calls of [`Self::notify_waiters`] so far.
    #[inline(never)]
    fn calls(&self) -> u64 {
        point::operate(&self.state, OpKind::Read).calls
    }

    /// Notifies everybody that waits, and keeps nothing for later.
    #[track_caller]
    pub fn notify_waiters(&self) {
        let mut section = point::operate(&self.state, OpKind::Notify);
        let (state, kernel) = section.both();
        state.notified_by(kernel, Location::caller());
        state.calls += 1;
        while let (state, kernel) = section.both()
            && let Some(cause) = state.queue.first_mut()
        {
            *cause = Cause::All;
            if let Some(waker) = state.queue.grant_first(kernel) {
                section.wake(waker);
            }
        }
    }
}

/// Gives one notification to somebody who waits, or keeps it.
fn pass(section: &mut In<'_, State>, cause: Cause) {
    let (state, kernel) = section.both();
    let chosen = match cause {
        Cause::Last => state.queue.last_mut(),
        _ => state.queue.first_mut(),
    };
    let Some(noted) = chosen else {
        state.kept = true;
        return;
    };
    *noted = cause;
    let waker = match cause {
        Cause::Last => state.queue.grant_last(kernel),
        _ => state.queue.grant_first(kernel),
    };
    if let Some(waker) = waker {
        section.wake(waker);
    }
}

impl Default for Notify {
    #[track_caller]
    fn default() -> Self {
        Self::new()
    }
}

impl UnwindSafe for Notify {}
impl RefUnwindSafe for Notify {}

/// Where a wait stands. Compiled once for both kinds of future.
#[derive(Debug)]
struct Wait {
    /// The calls of `notify_waiters` before the wait.
    calls: u64,
    progress: Progress,
    asked: bool,
    site: &'static Location<'static>,
}

#[derive(Debug)]
enum Progress {
    /// Not polled yet.
    Fresh,
    Queued(Ticket),
    Done,
}

impl Wait {
    fn new(notify: &Notify, site: &'static Location<'static>) -> Self {
        let calls = notify.calls();
        Self { calls, progress: Progress::Fresh, asked: false, site }
    }

    #[inline(never)]
    fn poll(&mut self, notify: &Notify, cx: &Context<'_>) -> Poll<()> {
        if let Some(mut section) = notify.state.enter_own()
            && let (state, kernel) = section.both()
            && let Some(polled) = self.poll_at_once(state, kernel, cx)
        {
            return polled;
        }
        let mut foreign = None;
        loop {
            let mut section = notify.state.enter();
            let (state, kernel) = section.both();
            if let (Progress::Fresh, Some(kernel)) = (&self.progress, kernel)
                && kernel.stops_before(&mut state.object, OpKind::Wait, &mut self.asked, cx.waker())
            {
                return Poll::Pending;
            }
            if self.is_over(&mut section) {
                return Poll::Ready(());
            }
            if let Some(waker) = storable(cx, &mut foreign) {
                self.queue(&mut section, waker);
                return Poll::Pending;
            }
            drop(section);
            foreign = Some(cx.waker().clone());
        }
    }

    /// The short ways: a run's own task that begins to wait, or was notified while it waited.
    #[inline]
    fn poll_at_once(
        &mut self,
        state: &mut State,
        kernel: &mut Kernel,
        cx: &Context<'_>,
    ) -> Option<Poll<()>> {
        match &self.progress {
            Progress::Fresh if self.calls == state.calls && !state.kept => {
                let waker = storable(cx, &mut None)?;
                if !kernel.passes(&state.object, &mut self.asked) {
                    return None;
                }
                self.begin(state, Some(kernel), waker);
                Some(Poll::Pending)
            }
            Progress::Queued(ticket) if state.queue.is_granted(ticket) => {
                self.end_granted(state, kernel);
                Some(Poll::Ready(()))
            }
            _ => None,
        }
    }

    /// Takes back the place in the queue, after the grant.
    #[inline]
    fn end_granted(&mut self, state: &mut State, kernel: &mut Kernel) {
        kernel.operate(&mut state.object, OpKind::Wait);
        if let Progress::Queued(ticket) = std::mem::replace(&mut self.progress, Progress::Done) {
            state.queue.end_granted(kernel, &mut state.object, ticket);
        }
    }

    /// Queues the wait.
    #[inline]
    fn begin(&mut self, state: &mut State, mut kernel: Option<&mut Kernel>, waker: Waker) {
        if let Some(kernel) = kernel.as_deref_mut() {
            kernel.operate(&mut state.object, OpKind::Wait);
        }
        let (object, site) = (&mut state.object, self.site);
        let last = state.last_notified.party(Role::LastUsed);
        let waiter = Block::wait(kernel, object, OpKind::Wait, site, last.as_slice(), waker);
        self.progress = Progress::Queued(state.queue.push(waiter, Cause::Nothing));
    }

    /// Takes its place in the queue without waiting.
    fn enable(&mut self, notify: &Notify) -> bool {
        let mut section = notify.state.enter();
        let over = self.is_over(&mut section);
        if !over && matches!(self.progress, Progress::Fresh) {
            self.queue(&mut section, nobody());
        }
        over
    }

    /// Whether it was notified; takes note of that.
    fn is_over(&mut self, section: &mut In<'_, State>) -> bool {
        let (state, kernel) = section.both();
        match std::mem::replace(&mut self.progress, Progress::Done) {
            Progress::Done => true,
            Progress::Fresh => {
                let over = self.calls != state.calls || std::mem::take(&mut state.kept);
                if over {
                    operate(kernel, &mut state.object, OpKind::Wait);
                } else {
                    self.progress = Progress::Fresh;
                }
                over
            }
            Progress::Queued(ticket) if state.queue.is_granted(&ticket) => {
                self.leave(section, ticket);
                true
            }
            Progress::Queued(ticket) => {
                self.progress = Progress::Queued(ticket);
                false
            }
        }
    }

    /// Queues the wait, or keeps another waker for it.
    fn queue(&mut self, section: &mut In<'_, State>, waker: Waker) {
        let (state, kernel) = section.both();
        let old = match &self.progress {
            Progress::Queued(ticket) => state.queue.renew(kernel, ticket, waker),
            _ => {
                self.begin(state, kernel, waker);
                None
            }
        };
        section.dispose(old);
    }

    /// Takes the place back: what ended the wait.
    fn leave(&self, section: &mut In<'_, State>, ticket: Ticket) -> Cause {
        let (state, mut kernel) = section.both();
        operate(kernel.as_deref_mut(), &mut state.object, OpKind::Wait);
        let left: Left<Cause> = state.queue.leave(ticket);
        let (waker, cause) = left.end(kernel, &mut state.object);
        section.dispose(Some(waker));
        cause
    }

    /// The future is dropped: a notification of one that it did not notice goes on.
    fn cancel(&mut self, notify: &Notify) {
        let progress = std::mem::replace(&mut self.progress, Progress::Done);
        let Progress::Queued(ticket) = progress else { return };
        let mut section = notify.state.enter();
        let cause = self.leave(&mut section, ticket);
        if matches!(cause, Cause::First | Cause::Last) {
            pass(&mut section, cause);
        }
    }
}

/// What both kinds of future do.
macro_rules! notified {
    ($( $(#[$doc:meta])* $name:ident, [$($generics:tt)*], $notify:ty; )+) => { $(
        pin_project_lite::pin_project! {
            $(#[$doc])*
            #[derive(Debug)]
            #[must_use = "futures do nothing unless you `.await` or poll them"]
            pub struct $name $($generics)* {
                notify: $notify,
                wait: Wait,
                // As in tokio, where the future is part of a list.
                #[pin]
                _pinned: PhantomPinned,
            }

            impl $($generics)* PinnedDrop for $name $($generics)* {
                fn drop(this: Pin<&mut Self>) {
                    let this = this.project();
                    this.wait.cancel(this.notify.deref());
                }
            }
        }

        impl $($generics)* $name $($generics)* {
            /// Begins to wait without being polled: from here on calls of [`Notify::notify_one`]
            /// count. True where it was notified already.
            pub fn enable(self: Pin<&mut Self>) -> bool {
                let this = self.project();
                this.wait.enable(this.notify.deref())
            }
        }

        impl $($generics)* Future for $name $($generics)* {
            type Output = ();

            fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
                let this = self.project();
                this.wait.poll(this.notify.deref(), cx)
            }
        }
    )+ };
}

notified! {
    /// Waits for a notification. Made by [`Notify::notified`].
    Notified, [<'a>], &'a Notify;
    /// Waits for a notification, and keeps its [`Notify`] alive. Made by [`Notify::notified_owned`].
    OwnedNotified, [], Arc<Notify>;
}
