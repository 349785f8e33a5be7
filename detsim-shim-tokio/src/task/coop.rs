//! Budgets: a task that always finds something to do lets the others run now and then.
//!
//! Mirrors `tokio::task::coop`. Owns: the ways to ask for the budget of a poll, to spend it and to do
//! without. Does not own: the budget, which is the kernel's and begins anew with every poll.
//!
//! A primitive asks before it does anything: [`Kernel::has_budget`] in its section, or
//! [`poll_proceed`] outside of one. Where nothing is left it leaves the section and returns
//! `exhausted`. Where it completes an operation it calls [`Kernel::spend_budget`].

use detsim_executor::{Kernel, context, yield_with};
use std::cell::Cell;
use std::fmt;
use std::future::{Future, poll_fn};
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// A budget that never runs out.
const UNLIMITED: u32 = u32::MAX;

/// Whether the current task may complete another operation before it has to let others run. Outside
/// of a task it always may.
///
/// # Examples
/// ```
/// use detsim_shim_tokio::task::coop::{consume_budget, has_budget_remaining};
/// let sim = detsim_executor::Sim::new(7);
/// let consumed = sim.block_on(async {
///     let mut consumed = 0;
///     while has_budget_remaining() {
///         consume_budget().await;
///         consumed += 1;
///     }
///     consumed
/// });
/// assert_eq!(consumed, Ok(128));
/// ```
pub fn has_budget_remaining() -> bool {
    context::with(|kernel| kernel.has_budget()).unwrap_or(true)
}

/// Takes a unit of the budget, and first lets others run where nothing is left of it.
pub async fn consume_budget() {
    poll_fn(|cx| {
        ready!(poll_proceed(cx)).made_progress();
        Poll::Ready(())
    })
    .await;
}

/// Takes a unit of the budget; `Pending` where nothing is left, and then the task is woken again.
///
/// The unit comes back when what this returns is dropped without
/// [`made_progress`](RestoreOnPending::made_progress): an operation that has to wait is free.
pub fn poll_proceed(cx: &mut Context<'_>) -> Poll<RestoreOnPending> {
    let take = |kernel: &mut Kernel| {
        let before = kernel.has_budget().then(|| kernel.budget());
        kernel.spend_budget();
        before
    };
    match context::with(take) {
        None => Poll::Ready(RestoreOnPending(Cell::new(None), PhantomData)),
        Some(Some(before)) => Poll::Ready(RestoreOnPending(Cell::new(Some(before)), PhantomData)),
        Some(None) => exhausted(cx),
    }
}

/// There is no budget left: the task is woken again, after the others have run. Not in a section.
#[cold]
pub(crate) fn exhausted<T>(cx: &Context<'_>) -> Poll<T> {
    yield_with(cx.waker());
    Poll::Pending
}

/// A unit of the budget that comes back, unless the operation made progress.
#[derive(Debug)]
#[must_use]
pub struct RestoreOnPending(Cell<Option<u32>>, PhantomData<*mut ()>);

impl RestoreOnPending {
    /// The operation has completed: the unit is spent.
    pub fn made_progress(&self) {
        self.0.set(None);
    }
}

impl Drop for RestoreOnPending {
    fn drop(&mut self) {
        if let Some(before) = self.0.take() {
            context::with(|kernel| kernel.replace_budget(before));
        }
    }
}

pin_project_lite::pin_project! {
    /// Takes a unit of the budget whenever the future inside completes. Made by [`cooperative`].
    #[must_use = "futures do nothing unless polled"]
    pub struct Coop<F: Future> {
        #[pin]
        fut: F,
    }
}

/// Makes a future part of the budget: it is not polled where nothing is left.
pub fn cooperative<F: Future>(fut: F) -> Coop<F> {
    Coop { fut }
}

impl<F: Future> Future for Coop<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let proceeds = ready!(poll_proceed(cx));
        let output = ready!(self.project().fut.poll(cx));
        proceeds.made_progress();
        Poll::Ready(output)
    }
}

impl<F: Future + fmt::Debug> fmt::Debug for Coop<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Coop").field("fut", &self.fut).finish()
    }
}

pin_project_lite::pin_project! {
    /// A future without a budget. Made by [`unconstrained`].
    #[must_use = "Unconstrained does nothing unless polled"]
    pub struct Unconstrained<F> {
        #[pin]
        inner: F,
    }
}

/// Lets a future do as much in one poll as it can.
pub fn unconstrained<F>(inner: F) -> Unconstrained<F> {
    Unconstrained { inner }
}

impl<F: Future> Future for Unconstrained<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let _unlimited = Unlimited::begin();
        self.project().inner.poll(cx)
    }
}

impl<F> fmt::Debug for Unconstrained<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unconstrained").finish_non_exhaustive()
    }
}

/// While it lives the budget does not run out; then it is as it was.
pub(crate) struct Unlimited(Option<u32>);

impl Unlimited {
    pub(crate) fn begin() -> Self {
        Self(context::with(|kernel| kernel.replace_budget(UNLIMITED)))
    }
}

impl Drop for Unlimited {
    fn drop(&mut self) {
        if let Some(before) = self.0 {
            context::with(|kernel| kernel.replace_budget(before));
        }
    }
}
