//! tokio's own errors, where their fields are private.
//!
//! Owns: how a value of each is come by: from a primitive of tokio's in the state that gives it. So a
//! program that names the type, and a library that was built against tokio, see the same one.

use std::pin::pin;
use std::task::{Context, Poll, Waker};
use tokio::sync::oneshot::error::RecvError;
use tokio::sync::{AcquireError, Mutex, Semaphore, TryLockError, oneshot, watch};

/// The semaphore is closed.
#[cold]
pub(super) fn acquire() -> AcquireError {
    let closed = Semaphore::const_new(0);
    closed.close();
    let Err(error) = at_once(closed.acquire()) else { unreachable!("a closed semaphore") };
    error
}

/// The lock is taken.
#[cold]
pub(super) fn try_lock() -> TryLockError {
    let mutex = Mutex::const_new(());
    let _taken = mutex.try_lock();
    let Err(error) = mutex.try_lock() else { unreachable!("a lock that is taken") };
    error
}

/// The sender is gone.
#[cold]
pub(super) fn oneshot() -> RecvError {
    let (sender, receiver) = oneshot::channel::<()>();
    drop(sender);
    let Err(error) = at_once(receiver) else { unreachable!("a channel without a sender") };
    error
}

/// All senders of a watched value are gone.
#[cold]
pub(super) fn watch() -> watch::error::RecvError {
    let (sender, mut receiver) = watch::channel(());
    drop(sender);
    let Err(error) = at_once(receiver.changed()) else {
        unreachable!("a channel without a sender")
    };
    error
}

/// The output of a future that is ready.
fn at_once<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => unreachable!("a future that is ready"),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_errors_are_tokios() {
        assert_eq!(super::acquire().to_string(), "semaphore closed");
        assert_eq!(super::try_lock().to_string(), "operation would block");
        assert_eq!(super::oneshot().to_string(), "channel closed");
        assert_eq!(super::watch().to_string(), "channel closed");
    }
}
