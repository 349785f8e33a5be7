//! The end that receives.

use super::Shared;
use super::core::{Found, Receiving};
use super::error::{RecvError, TryRecvError};
use crate::blocking::block_on;
use std::fmt;
use std::future::Future;
use std::marker::PhantomPinned;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// Receives all that is sent while it is there, unless it is too far behind.
pub struct Receiver<T> {
    shared: Arc<Shared<T>>,
    /// The position of the message that it receives next.
    next: u64,
}

impl<T> Receiver<T> {
    /// The first one of a channel.
    pub(super) fn first(shared: Arc<Shared<T>>) -> Self {
        Self { shared, next: 0 }
    }

    /// One more, of what is sent from now on.
    pub(super) fn subscribe(shared: Arc<Shared<T>>) -> Self {
        let next = shared.core.add_receiver();
        Self { shared, next }
    }

    /// How many messages were sent that it has not received, lost ones among them.
    pub fn len(&self) -> usize {
        (self.shared.core.looks().next - self.next) as usize
    }

    /// Whether there is nothing to receive.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether both are of one channel.
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// How many senders there are.
    pub fn sender_strong_count(&self) -> usize {
        self.shared.core.looks().senders
    }

    /// How many weak senders there are.
    pub fn sender_weak_count(&self) -> usize {
        self.shared.core.looks().weak
    }

    /// Whether all senders were dropped.
    pub fn is_closed(&self) -> bool {
        self.sender_strong_count() == 0
    }
}

impl<T: Clone> Receiver<T> {
    /// Another receiver of the channel, of what is sent from now on.
    #[track_caller]
    pub fn resubscribe(&self) -> Self {
        Self::subscribe(Arc::clone(&self.shared))
    }

    /// Waits for a message. Cancel safe: no message is lost.
    ///
    /// # Errors
    /// Where some were lost, since this was too far behind; where all senders were dropped.
    #[track_caller]
    pub fn recv(&mut self) -> impl Future<Output = Result<T, RecvError>> {
        let receiving = Receiving::new(&self.shared.core, Location::caller());
        Recv { receiving, shared: &self.shared, next: &mut self.next, pinned: PhantomPinned }
    }

    /// A message, if there is one.
    ///
    /// # Errors
    /// Where there is none yet, or none can come; where some were lost.
    #[track_caller]
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        loop {
            let found = self.shared.core.try_find(self.next, Location::caller());
            let found = found.ok_or(TryRecvError::Empty)?;
            if let Some(taken) = take(&self.shared, &mut self.next, found) {
                return taken;
            }
        }
    }

    /// Blocks the thread until there is a message.
    ///
    /// # Errors
    /// As [`Self::recv`].
    ///
    /// # Panics
    /// In a task.
    #[track_caller]
    pub fn blocking_recv(&mut self) -> Result<T, RecvError> {
        block_on(self.recv())
    }
}

pin_project_lite::pin_project! {
    /// A wait for a message. As in tokio not `Unpin`.
    struct Recv<'a, T> {
        receiving: Receiving<'a>,
        shared: &'a Shared<T>,
        next: &'a mut u64,
        #[pin]
        pinned: PhantomPinned,
    }
}

impl<T: Clone> Future for Recv<'_, T> {
    type Output = Result<T, RecvError>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        loop {
            let found = std::task::ready!(this.receiving.poll(cx, **this.next));
            // There is none where it was overwritten by another thread just now.
            if let Some(taken) = take(this.shared, this.next, found) {
                return Poll::Ready(taken.map_err(|error| match error {
                    TryRecvError::Lagged(lost) => RecvError::Lagged(lost),
                    TryRecvError::Empty | TryRecvError::Closed => RecvError::Closed,
                }));
            }
        }
    }
}

/// Takes what was found; `None` where it is no longer there.
fn take<T: Clone>(
    shared: &Shared<T>,
    next: &mut u64,
    found: Found,
) -> Option<Result<T, TryRecvError>> {
    match found {
        Found::Closed => Some(Err(TryRecvError::Closed)),
        Found::Lagged(lost) => {
            *next += lost;
            Some(Err(TryRecvError::Lagged(lost)))
        }
        Found::Message => {
            let mut place = shared.place(*next);
            if place.position != *next {
                return None;
            }
            *next += 1;
            let leaving = Leaving(&mut place);
            let message = leaving.0.message.clone();
            message.map(Ok)
        }
    }
}

/// A receiver that has had the message of a place, or panicked while it cloned it.
struct Leaving<'a, T>(&'a mut super::Place<T>);

impl<T> Drop for Leaving<'_, T> {
    fn drop(&mut self) {
        drop(self.0.leave());
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let Self { shared, next } = self;
        let looks = shared.core.leave_receiver();
        // Last of all, though a destructor of a message panics.
        let _announced = (looks.receivers == 0).then(|| Announced(shared));
        let kept = looks.next.saturating_sub(shared.places.len() as u64);
        for position in (*next).max(kept)..looks.next {
            let mut place = shared.place(position);
            if place.position == position {
                let unwanted = place.leave();
                drop(place);
                drop(unwanted);
            }
        }
    }
}

/// The last receiver is gone: senders that wait for that are told when this is dropped.
struct Announced<'a, T>(&'a Shared<T>);

impl<T> Drop for Announced<'_, T> {
    fn drop(&mut self) {
        self.0.core.announce_closed();
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("broadcast::Receiver")
    }
}
