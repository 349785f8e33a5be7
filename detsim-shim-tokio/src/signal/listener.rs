//! Who listens for a signal of a node.
//!
//! Owns: [`Listener`], and what all listeners of one signal of one node share. Invariants: a signal
//! reaches every listener that was made before it; several that come before one looks are one to it.

use super::outside;
use crate::context;
use crate::runtime::scope;
use crate::sync::{Notify, futures::OwnedNotified};
use detsim_executor::{Bound, Handler, Kernel, Sim, context as kernel};
use std::any::Any;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// What the listeners of one signal of one node share.
pub(super) struct Signalled {
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
        let Some(runtime) = scope::current() else { context::missing() };
        let sim = runtime.sim();
        let signalled = sim.enter(|| Signalled::of(&sim, signal));
        let seen = *signalled.times.enter();
        Self { signalled, seen, waits: None }
    }

    /// Waits for the signal.
    pub(super) async fn recv(&mut self) {
        poll_fn(|cx| self.poll_recv(cx)).await;
    }

    pub(super) fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            // Before the look: what comes between the two ends the wait.
            let notify = &self.signalled.notify;
            let waits =
                self.waits.get_or_insert_with(|| Box::pin(Arc::clone(notify).notified_owned()));
            let times = *self.signalled.times.enter();
            if times != self.seen {
                (self.seen, self.waits) = (times, None);
                return Poll::Ready(());
            }
            ready!(waits.as_mut().poll(cx));
            self.waits = None;
        }
    }
}

impl Signalled {
    #[track_caller]
    fn of(sim: &Sim, signal: i32) -> Arc<Self> {
        let known = kernel::with(|kernel| kernel.handler(signal).map(|known| known.state.clone()));
        let known = known.flatten().and_then(|state| state.downcast::<Self>().ok());
        known.unwrap_or_else(|| Self::listen(sim, signal))
    }

    #[track_caller]
    fn listen(sim: &Sim, signal: i32) -> Arc<Self> {
        let notify = Arc::new(Notify::new());
        let signalled = Arc::new(Self { times: Bound::new(0), notify });
        let handler = Handler { state: signalled.clone(), take };
        let set = |kernel: &mut Kernel| kernel.set_handler(signal, handler);
        drop(kernel::with(set));
        outside::listen(sim, signal, &signalled);
        signalled
    }

    /// The signal has come.
    pub(super) fn come(&self) {
        *self.times.enter() += 1;
        self.notify.notify_waiters();
    }

    /// Whether anybody listens.
    pub(super) fn is_heard(self: &Arc<Self>) -> bool {
        // The handler has one, and whoever asks another.
        Arc::strong_count(self) > 2
    }
}

/// The signal has come.
fn take(state: &(dyn Any + Send + Sync)) {
    if let Some(signalled) = state.downcast_ref::<Signalled>() {
        signalled.come();
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listener").finish_non_exhaustive()
    }
}
