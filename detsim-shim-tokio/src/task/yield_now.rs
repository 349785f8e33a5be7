//! Yielding.

use std::future::Future;
use std::marker::PhantomPinned;
use std::mem;
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
    YieldNow { yielded: false, _pinned: PhantomPinned }
}

pin_project_lite::pin_project! {
    /// As the kernel's, but as in tokio not `Unpin`.
    struct YieldNow {
        yielded: bool,
        #[pin]
        _pinned: PhantomPinned,
    }
}

impl Future for YieldNow {
    type Output = ();

    // Compiled here, optimised, for whoever awaits it in a crate that is not.
    #[inline(never)]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if mem::replace(self.project().yielded, true) {
            return Poll::Ready(());
        }
        detsim_executor::yield_with(cx.waker());
        Poll::Pending
    }
}
