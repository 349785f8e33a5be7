//! Yielding.

use std::future::Future;
use std::marker::PhantomPinned;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Lets the other tasks that can run go first, if the scheduler picks them.
///
/// # Examples
/// ```
/// use detsim_shim_tokio::task::yield_now;
/// let sim = detsim_executor::Sim::new(7);
/// sim.block_on(async { yield_now().await }).unwrap();
/// assert_eq!(sim.run().unwrap().steps, 2);
/// ```
pub fn yield_now() -> impl Future<Output = ()> + Send + Sync {
    YieldNow { inner: detsim_executor::yield_now(), _pinned: PhantomPinned }
}

pin_project_lite::pin_project! {
    /// The kernel's, and as in tokio not `Unpin`.
    struct YieldNow {
        inner: detsim_executor::YieldNow,
        #[pin]
        _pinned: PhantomPinned,
    }
}

impl Future for YieldNow {
    type Output = ();

    // Compiled here, optimised, for whoever awaits it in a crate that is not.
    #[inline(never)]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        Pin::new(self.project().inner).poll(cx)
    }
}
