//! Channels for one value.
//!
//! Mirrors tokio's. Owns: [`Sender`] and [`Receiver`]. Invariants: a value is moved in and out in a
//! section, and dropped outside of it; each end waits in the graph while its future is pending.

use crate::blocking::block_on;
use crate::sync::batch_semaphore::{Halt, operate};
use crate::sync::errors;
use crate::sync::last::Last;
use crate::sync::pair::{Half, pair};
use crate::sync::point::{self, HasObject};
use detsim_executor::{
    Block, Bound, In, Kernel, Object, OpKind, ResourceKind, Role, Waiter, context, storable,
};
use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

pub use tokio::sync::oneshot::error;

use error::{RecvError, TryRecvError};

/// A channel for one value.
///
/// # Examples
/// ```
/// use detsim_shim_tokio::sync::oneshot;
/// let (sender, receiver) = oneshot::channel();
/// sender.send(3).unwrap();
/// let sim = detsim_executor::Sim::new(7);
/// assert_eq!(sim.block_on(receiver).unwrap(), Ok(3));
/// ```
#[track_caller]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let site = Location::caller();
    let last = Last::new(context::with(|kernel| kernel.current_tag()).unwrap_or_default(), site);
    let (one, other) = pair(|| {
        let core = Core {
            object: Object::new(ResourceKind::Oneshot, site),
            sent: false,
            sender_gone: false,
            closed: false,
            receiver: None,
            sender: None,
            seen: [last; 2],
        };
        Chan { state: Bound::new(State { core, value: None }) }
    });
    let sender = Sender { chan: Some(one), asked: false };
    (sender, Receiver { chan: Some(other), asked: false, site })
}

/// Sends the value, once.
pub struct Sender<T> {
    /// `None` once it has sent.
    chan: Option<Half<Chan<T>>>,
    asked: bool,
}

/// Waits for the value: a future of it.
///
/// Its output is [`RecvError`] where the sender was dropped.
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct Receiver<T> {
    /// `None` once it has given its output.
    chan: Option<Half<Chan<T>>>,
    asked: bool,
    site: &'static Location<'static>,
}

struct Chan<T> {
    state: Bound<State<T>>,
}

// No panic leaves the state half changed, and no value is reached through a reference.
impl<T> UnwindSafe for Chan<T> {}
impl<T> RefUnwindSafe for Chan<T> {}

struct State<T> {
    core: Core,
    value: Option<T>,
}

impl<T> HasObject for State<T> {
    fn object(&mut self) -> &mut Object {
        &mut self.core.object
    }
}

/// What does not depend on the value's type.
#[derive(Debug)]
struct Core {
    object: Object,
    sent: bool,
    sender_gone: bool,
    /// The receiver takes no value any more.
    closed: bool,
    receiver: Option<Waiter>,
    sender: Option<Waiter>,
    /// Who had the sender and the receiver when they were last seen.
    seen: [Last; 2],
}

/// Which end waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Sender,
    Receiver,
}

impl Core {
    fn waiter(&mut self, end: End) -> &mut Option<Waiter> {
        match end {
            End::Sender => &mut self.sender,
            End::Receiver => &mut self.receiver,
        }
    }

    /// Whether the receiver is told something.
    #[inline]
    fn is_over(&self) -> bool {
        self.sent || self.sender_gone || self.closed
    }

    /// The short way of a run's own task that receives what [`Self::is_over`] says: it is no end of the channel
    /// any more. False: nothing has happened.
    #[inline(never)]
    fn end_own(&mut self, kernel: &mut Kernel, asked: &mut bool) -> bool {
        let ends = self.sender.is_none()
            && self.receiver.is_none()
            && kernel.completes_at_once(&mut self.object, OpKind::Recv, asked);
        self.closed |= ends;
        ends
    }

    /// The short way of a run's own task that has to wait to receive. False: nothing has happened.
    #[inline(never)]
    fn wait_own(
        &mut self,
        kernel: &mut Kernel,
        cx: &Context<'_>,
        asked: &mut bool,
        site: &'static Location<'static>,
    ) -> bool {
        let object = &mut self.object;
        kernel.know(object);
        let Some(waker) = storable(cx, &mut None) else { return false };
        if self.receiver.is_some() || !kernel.waits_at_once(object, OpKind::Read, asked) {
            return false;
        }
        let [sender, receiver] = &mut self.seen;
        *receiver = Last::new(kernel.current_tag(), site);
        let sender = sender.party(Role::OtherEnd);
        self.receiver = Some(Block::wait_for(kernel, object, (OpKind::Recv, site), sender, waker));
        true
    }

    /// The short way of a run's own task that sends: the value is to be put in. False: nothing has
    /// happened.
    #[inline(never)]
    fn send_own(&mut self, kernel: &mut Kernel) -> bool {
        kernel.know(&mut self.object);
        let sends = !self.closed
            && self.sender.is_none()
            && kernel.does_at_once(&mut self.object, OpKind::Send);
        self.sent |= sends;
        self.sender_gone |= sends;
        sends
    }

    /// Wakes the receiver in a section of the run's own, where it waits. A waker of any other comes back.
    #[inline]
    fn tell_own(&mut self, kernel: &mut Kernel) -> Option<Waker> {
        let waiter = self.receiver.take()?;
        Block::wake_own(kernel, &mut self.object, waiter)
    }

    /// Ends the wait of an end: its waker.
    fn end(&mut self, kernel: Option<&mut Kernel>, end: End) -> Option<Waker> {
        let waiter = self.waiter(end).take()?;
        Some(Block::wake(kernel, &mut self.object, waiter))
    }

    /// Queues an end, or keeps another waker for it: the old one, for disposal.
    fn wait(
        &mut self,
        mut kernel: Option<&mut Kernel>,
        end: End,
        site: &'static Location<'static>,
        waker: Waker,
    ) -> Option<Waker> {
        if let Some(waiter) = self.waiter(end) {
            return Some(Block::renew(kernel, waiter, waker));
        }
        let task = operate(kernel.as_deref_mut(), &mut self.object, OpKind::Read);
        let (operation, other) = match end {
            End::Sender => (OpKind::Close, End::Receiver),
            End::Receiver => (OpKind::Recv, End::Sender),
        };
        self.seen[end as usize] = Last::new(task, site);
        let other = self.seen[other as usize].party(Role::OtherEnd);
        let (object, parties) = (&mut self.object, other.as_slice());
        let waiter = Block::wait(kernel, object, operation, site, parties, waker);
        *self.waiter(end) = Some(waiter);
        None
    }

    /// Whether the task that runs is halted before it waits.
    fn halts(
        &mut self,
        kernel: Option<&mut Kernel>,
        operation: OpKind,
        asked: &mut bool,
        waker: &Waker,
    ) -> Option<Halt> {
        Halt::before(kernel?, &mut self.object, operation, asked, waker)
    }

    /// An operation for which an end may have waited takes place.
    fn operate(&mut self, kernel: Option<&mut Kernel>, operation: OpKind) {
        if let Some(kernel) = kernel {
            kernel.operate(&mut self.object, operation);
            kernel.spend_budget();
        }
    }
}

impl<T> Chan<T> {
    /// Ends the wait of an end and wakes it.
    fn wake(section: &mut In<'_, State<T>>, end: End) {
        let (state, kernel) = section.both();
        if let Some(waker) = state.core.end(kernel, end) {
            section.wake(waker);
        }
    }

    /// Ends the wait of an end that no longer waits.
    fn unqueue(section: &mut In<'_, State<T>>, end: End) {
        let (state, kernel) = section.both();
        let waker = state.core.end(kernel, end);
        section.dispose(waker);
    }

    /// The receiver takes no value any more.
    fn close(&self) {
        let mut section = point::enter_in_drop(&self.state, |_| OpKind::Close);
        let (state, kernel) = section.both();
        operate(kernel, &mut state.core.object, OpKind::Close);
        state.core.closed = true;
        Self::wake(&mut section, End::Sender);
    }
}

impl<T> Sender<T> {
    fn chan(&self) -> &Chan<T> {
        self.chan.as_ref().expect("invariant: a sender that can be used has not sent")
    }

    /// Sends.
    ///
    /// # Errors
    /// The value again, where the receiver is gone or closed.
    pub fn send(mut self, value: T) -> Result<(), T> {
        let chan = self.chan.take().expect("invariant: a sender that can be used has not sent");
        if let Some(mut section) = chan.state.enter_own()
            && let (state, kernel) = section.both()
            && state.core.send_own(kernel)
        {
            // There was none, so nothing is dropped here.
            state.value = Some(value);
            if let Some(foreign) = state.core.tell_own(kernel) {
                section.into_in().wake(foreign);
            }
            std::mem::forget(self); // it has nothing left to drop
            return Ok(());
        }
        let mut section = point::operate(&chan.state, OpKind::Send);
        let (state, _) = section.both();
        state.core.sender_gone = true;
        if state.core.closed {
            return Err(value);
        }
        state.core.sent = true;
        // There was none, so nothing is dropped here.
        state.value = Some(value);
        Chan::wake(&mut section, End::Receiver);
        Chan::unqueue(&mut section, End::Sender);
        Ok(())
    }

    /// Waits until the receiver is gone or closed.
    #[track_caller]
    pub fn closed(&mut self) -> impl Future<Output = ()> {
        let site = Location::caller();
        async move { poll_fn(|cx| self.poll_closed_at(cx, site)).await }
    }

    /// Whether the receiver is gone or closed.
    pub fn is_closed(&self) -> bool {
        let mut section = self.chan().state.enter();
        let (state, kernel) = section.both();
        operate(kernel, &mut state.core.object, OpKind::Read);
        state.core.closed
    }

    /// Polls for the receiver's being gone or closed.
    #[track_caller]
    pub fn poll_closed(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.poll_closed_at(cx, Location::caller())
    }

    fn poll_closed_at(&mut self, cx: &Context<'_>, site: &'static Location<'static>) -> Poll<()> {
        let mut foreign = None;
        let mut asked = self.asked;
        let polled = loop {
            let mut section = self.chan().state.enter();
            let (state, mut kernel) = section.both();
            let core = &mut state.core;
            let halt = core.halts(kernel.as_deref_mut(), OpKind::Read, &mut asked, cx.waker());
            if let Some(halt) = halt {
                drop(section);
                break halt.pending(cx);
            }
            if core.closed {
                core.operate(kernel, OpKind::Read);
                asked = false;
                break Poll::Ready(());
            }
            if let Some(waker) = storable(cx, &mut foreign) {
                let old = core.wait(kernel, End::Sender, site, waker);
                section.dispose(old);
                break Poll::Pending;
            }
            drop(section);
            foreign = Some(cx.waker().clone());
        };
        self.asked = asked;
        polled
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        let Some(chan) = self.chan.take() else { return };
        let mut section = chan.state.enter();
        let (state, kernel) = section.both();
        operate(kernel, &mut state.core.object, OpKind::Close);
        state.core.sender_gone = true;
        Chan::wake(&mut section, End::Receiver);
        Chan::unqueue(&mut section, End::Sender);
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

impl<T> Receiver<T> {
    /// Takes no value from now on; one that was sent before can still be received.
    pub fn close(&mut self) {
        if let Some(chan) = &self.chan {
            chan.close();
        }
    }

    /// Whether it has given its output.
    pub fn is_terminated(&self) -> bool {
        self.chan.is_none()
    }

    /// Whether no value is there.
    pub fn is_empty(&self) -> bool {
        let Some(chan) = &self.chan else { return true };
        let mut section = chan.state.enter();
        let (state, kernel) = section.both();
        operate(kernel, &mut state.core.object, OpKind::Read);
        state.value.is_none()
    }

    /// The value, if it is there.
    ///
    /// # Errors
    /// Where it was not sent yet, or will not be.
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        let chan = self.chan.as_ref().ok_or(TryRecvError::Closed)?;
        let mut section = point::enter(&chan.state, OpKind::Recv);
        let (state, kernel) = section.both();
        operate(kernel, &mut state.core.object, OpKind::Recv);
        let over = state.core.sender_gone || state.core.closed;
        let value = state.value.take();
        if value.is_none() && !over {
            return Err(TryRecvError::Empty);
        }
        drop(section);
        self.finish();
        value.ok_or(TryRecvError::Closed)
    }

    /// Blocks the thread until the value is there.
    ///
    /// # Errors
    /// Where the sender was dropped.
    ///
    /// # Panics
    /// In a task.
    #[track_caller]
    pub fn blocking_recv(self) -> Result<T, RecvError> {
        block_on(self)
    }

    /// It has given its output: it is no end of the channel any more.
    fn finish(&mut self) {
        let Some(chan) = self.chan.take() else { return };
        let mut section = chan.state.enter();
        section.core.closed = true;
        Chan::wake(&mut section, End::Sender);
        Chan::unqueue(&mut section, End::Receiver);
    }

    /// The short ways of a run's own task; `None` where there is none.
    #[inline]
    fn poll_own(&mut self, cx: &Context<'_>) -> Option<Poll<Option<T>>> {
        let Self { chan, asked, site } = self;
        let mut section = chan.as_ref()?.state.enter_own()?;
        let (State { core, value }, kernel) = section.both();
        if core.is_over() {
            core.end_own(kernel, asked).then(|| Poll::Ready(value.take()))
        } else {
            core.wait_own(kernel, cx, asked, site).then_some(Poll::Pending)
        }
    }

    #[inline(never)]
    fn poll_value(&mut self, cx: &Context<'_>) -> Poll<Option<T>> {
        let chan = self.chan.as_ref().expect("called after complete");
        let mut foreign = None;
        loop {
            let mut section = chan.state.enter();
            let (state, mut kernel) = section.both();
            let core = &mut state.core;
            let asked = &mut self.asked;
            let halt = core.halts(kernel.as_deref_mut(), OpKind::Recv, asked, cx.waker());
            if let Some(halt) = halt {
                drop(section);
                return halt.pending(cx);
            }
            if core.sent || core.sender_gone || core.closed {
                core.operate(kernel, OpKind::Recv);
                return Poll::Ready(state.value.take());
            }
            if let Some(waker) = storable(cx, &mut foreign) {
                let old = core.wait(kernel, End::Receiver, self.site, waker);
                section.dispose(old);
                return Poll::Pending;
            }
            drop(section);
            foreign = Some(cx.waker().clone());
        }
    }
}

impl<T> Future for Receiver<T> {
    type Output = Result<T, RecvError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if let Some(polled) = self.poll_own(cx) {
            let value = std::task::ready!(polled);
            self.chan = None;
            return Poll::Ready(value.ok_or_else(errors::oneshot));
        }
        let value = std::task::ready!(self.poll_value(cx));
        self.finish();
        Poll::Ready(value.ok_or_else(errors::oneshot))
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let Some(chan) = self.chan.take() else { return };
        chan.close();
        let mut section = chan.state.enter();
        let value = section.value.take();
        Chan::unqueue(&mut section, End::Receiver);
        drop(section);
        drop(value);
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}
