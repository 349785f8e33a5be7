//! Timeouts.
//!
//! Owns: [`Timeout`]. Invariant: a future that is stopped before an operation is not timed out in
//! the same poll, so that a stop cannot be told from any other moment at which others ran.

use crate::macros::support::is_stopped;
use crate::task::coop::{Unlimited, has_budget_remaining};
use crate::time::error::Elapsed;
use crate::time::{Duration, Instant, Sleep, sleep, sleep_until};
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::task::{Context, Poll};

/// Waits for `future`, for `duration` at most. The future is polled first, so that one which is
/// ready is never too late.
///
/// # Errors
/// Awaiting it gives [`Elapsed`] where the time is over.
///
/// # Panics
/// Outside of a simulation, in tokio's words.
///
/// # Examples
/// ```
/// use detsim_shim_tokio::time::{Duration, timeout};
/// let sim = detsim_executor::Sim::new(7);
/// let out = sim.block_on(async {
///     timeout(Duration::from_secs(1), std::future::pending::<()>()).await
/// });
/// assert_eq!(out.unwrap().unwrap_err().to_string(), "deadline has elapsed");
/// ```
#[track_caller]
pub fn timeout<F>(duration: Duration, future: F) -> Timeout<F::IntoFuture>
where
    F: IntoFuture,
{
    Timeout { value: future.into_future(), delay: sleep(duration) }
}

/// Waits for `future`, until `deadline` at most.
///
/// # Errors
/// Awaiting it gives [`Elapsed`] where the time is over.
///
/// # Panics
/// Outside of a simulation, in tokio's words.
#[track_caller]
pub fn timeout_at<F>(deadline: Instant, future: F) -> Timeout<F::IntoFuture>
where
    F: IntoFuture,
{
    Timeout { value: future.into_future(), delay: sleep_until(deadline) }
}

pin_project_lite::pin_project! {
    /// A future with a deadline. Made by [`timeout`] and [`timeout_at`].
    #[must_use = "futures do nothing unless you `.await` or poll them"]
    #[derive(Debug)]
    pub struct Timeout<T> {
        #[pin]
        value: T,
        #[pin]
        delay: Sleep,
    }
}

impl<T> Timeout<T> {
    /// The future.
    pub fn get_ref(&self) -> &T {
        &self.value
    }

    /// The future.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.value
    }

    /// The future, without its deadline.
    pub fn into_inner(self) -> T {
        self.value
    }
}

impl<T: Future> Future for Timeout<T> {
    type Output = Result<T::Output, Elapsed>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let had_budget = has_budget_remaining();
        if let Poll::Ready(value) = this.value.poll(cx) {
            return Poll::Ready(Ok(value));
        }
        if is_stopped() {
            return Poll::Pending;
        }
        // A future that uses up the budget must not keep the deadline from being seen.
        let used_up = had_budget && !has_budget_remaining();
        let _unlimited = used_up.then(Unlimited::begin);
        this.delay.poll(cx).map(|()| Err(Elapsed::new()))
    }
}
