//! Who listens for a signal of a node.
//!
//! Owns: [`Listener`], and what all listeners of one signal of one node share. Invariants: a signal
//! reaches every listener that was made before it; several that come before one looks are one to it.

use crate::context;
use crate::runtime::scope;
use crate::sync::{Notify, futures::OwnedNotified};
use detsim_executor::{Bound, Handler, Kernel, context as kernel};
use std::any::Any;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// What the listeners of one signal of one node share.
struct Signalled {
    times: Bound<u64>,
    notify: Arc<Notify>,
}

/// Hears of a signal.
pub(super) struct Listener {
    signalled: Arc<Signalled>,
    seen: u64,
    waits: Option<Pin<Box<OwnedNotified>>>,
}

impl Listener {
    /// Listens from now on, as something of the current node.
    #[track_caller]
    pub(super) fn of(signal: i32) -> Self {
        if scope::current().is_none() {
            context::missing();
        }
        let known = kernel::with(|kernel| kernel.handler(signal).map(|known| known.state.clone()));
        let known = known.flatten().and_then(|state| state.downcast::<Signalled>().ok());
        let signalled = known.unwrap_or_else(|| Signalled::listen(signal));
        let seen = *signalled.times.enter();
        Self { signalled, seen, waits: None }
    }

    /// Waits for the signal.
    pub(super) async fn recv(&mut self) {
        poll_fn(|cx| self.poll_recv(cx)).await;
    }

    pub(super) fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            let times = *self.signalled.times.enter();
            if times != self.seen {
                (self.seen, self.waits) = (times, None);
                return Poll::Ready(());
            }
            let notify = &self.signalled.notify;
            let waits =
                self.waits.get_or_insert_with(|| Box::pin(Arc::clone(notify).notified_owned()));
            ready!(waits.as_mut().poll(cx));
            self.waits = None;
        }
    }
}

impl Signalled {
    #[track_caller]
    fn listen(signal: i32) -> Arc<Self> {
        let notify = Arc::new(Notify::new());
        let signalled = Arc::new(Self { times: Bound::new(0), notify });
        let handler = Handler { state: signalled.clone(), take };
        let set = |kernel: &mut Kernel| kernel.set_handler(signal, handler);
        drop(kernel::with(set));
        signalled
    }
}

/// The signal has come.
fn take(state: &(dyn Any + Send + Sync)) {
    if let Some(signalled) = state.downcast_ref::<Signalled>() {
        *signalled.times.enter() += 1;
        signalled.notify.notify_waiters();
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listener").finish_non_exhaustive()
    }
}
