//! The handles to a task.
//!
//! Owns: [`JoinHandle`] and [`AbortHandle`]: the kernel's, under tokio's names and with its errors.

use crate::task::coop::exhausted;
use crate::task::{Id, JoinError};
use std::fmt;
use std::future::Future;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// Waits for the end of a task, and gives its result. Dropping it detaches the task.
pub struct JoinHandle<T> {
    inner: detsim_executor::JoinHandle<T>,
}

/// Aborts a task without waiting for it.
#[derive(Clone)]
pub struct AbortHandle {
    inner: detsim_executor::AbortHandle,
}

impl<T> JoinHandle<T> {
    #[inline]
    pub(crate) fn new(inner: detsim_executor::JoinHandle<T>) -> Self {
        Self { inner }
    }

    /// Has the task dropped where it waits; awaiting the handle then gives an error, unless the
    /// task had ended before.
    pub fn abort(&self) {
        self.inner.abort();
    }

    /// Whether the task has ended.
    pub fn is_finished(&self) -> bool {
        self.inner.is_finished()
    }

    /// A handle that can only abort.
    #[must_use = "abort handles do nothing unless `.abort` is called"]
    pub fn abort_handle(&self) -> AbortHandle {
        AbortHandle { inner: self.inner.abort_handle() }
    }

    /// Which task.
    pub fn id(&self) -> Id {
        Id::new(self.inner.number())
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match ready!(self.inner.poll_in_budget(cx)) {
            Some(joined) => Poll::Ready(joined.map_err(JoinError::new)),
            None => exhausted(cx),
        }
    }
}

impl<T> Unpin for JoinHandle<T> {}
impl<T> UnwindSafe for JoinHandle<T> {}
impl<T> RefUnwindSafe for JoinHandle<T> {}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").field("id", &self.id()).finish()
    }
}

impl AbortHandle {
    /// Has the task dropped where it waits.
    pub fn abort(&self) {
        self.inner.abort();
    }

    /// Whether the task has ended. One that was aborted has not, before it is dropped.
    pub fn is_finished(&self) -> bool {
        self.inner.is_finished()
    }

    /// Which task.
    pub fn id(&self) -> Id {
        Id::new(self.inner.number())
    }
}

impl UnwindSafe for AbortHandle {}
impl RefUnwindSafe for AbortHandle {}

impl fmt::Debug for AbortHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AbortHandle").field("id", &self.id()).finish()
    }
}
