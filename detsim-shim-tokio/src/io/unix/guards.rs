//! What is handed out while a descriptor is ready.
//!
//! Mirrors tokio's guards. Owns: how a program says that a descriptor is not ready any more. Does not own:
//! readiness.

use std::fmt;
use std::io;
use std::os::fd::AsRawFd;

use tokio::io::Ready;

use super::AsyncFd;
use crate::io::outside::Event;
use crate::net::ready::must_wait;

/// An operation had to wait after all; its descriptor is taken for not ready now.
#[derive(Debug)]
pub struct TryIoError(());

/// A descriptor that is ready, through a shared reference.
#[must_use = "You must explicitly choose whether to clear the readiness state by calling a method on ReadyGuard"]
pub struct AsyncFdReadyGuard<'a, T: AsRawFd> {
    async_fd: &'a AsyncFd<T>,
    event: Option<Event>,
}

/// A descriptor that is ready, through a mutable reference.
#[must_use = "You must explicitly choose whether to clear the readiness state by calling a method on ReadyGuard"]
pub struct AsyncFdReadyMutGuard<'a, T: AsRawFd> {
    async_fd: &'a mut AsyncFd<T>,
    event: Option<Event>,
}

/// What both guards do, with the references that each gives.
macro_rules! guard {
    ($Guard:ident, $name:literal, [$($reference:tt)*]) => {
        impl<'a, T: AsRawFd> $Guard<'a, T> {
            pub(super) fn new(async_fd: $($reference)* AsyncFd<T>, event: Event) -> Self {
                Self { async_fd, event: Some(event) }
            }

            /// Says that it is not ready any more. Nothing happens where it has become ready anew since.
            pub fn clear_ready(&mut self) {
                if let Some(event) = self.event.take() {
                    self.async_fd.clear(event);
                }
            }

            /// Says of a part of what was seen that it is over.
            pub fn clear_ready_matching(&mut self, ready: Ready) {
                let Some(event) = self.event.take() else { return };
                self.async_fd.clear(event.only(ready));
                let rest = event.only(event.ready - ready);
                self.event = (!rest.ready.is_empty()).then_some(rest);
            }

            /// Says that it is ready still, which is what is assumed.
            pub fn retain_ready(&mut self) {}

            /// Where an operation would have had to wait, the descriptor is taken for not ready.
            fn judged<R>(&mut self, result: io::Result<R>) -> Result<io::Result<R>, TryIoError> {
                if must_wait(&result) {
                    self.clear_ready();
                    return Err(TryIoError(()));
                }
                Ok(result)
            }

            /// What was seen, without what was cleared through this guard.
            pub fn ready(&self) -> Ready {
                self.event.map_or(Ready::EMPTY, |event| event.ready)
            }
        }

        impl<T: AsRawFd + fmt::Debug> fmt::Debug for $Guard<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct($name).field("async_fd", &self.async_fd).finish()
            }
        }
    };
}

guard!(AsyncFdReadyGuard, "ReadyGuard", [&'a]);
guard!(AsyncFdReadyMutGuard, "MutReadyGuard", [&'a mut]);

impl<'a, T: AsRawFd> AsyncFdReadyGuard<'a, T> {
    /// An operation. Where it would have to wait, the descriptor is taken for not ready.
    ///
    /// # Errors
    /// Where it would have to wait. Other errors are its result.
    pub fn try_io<R>(
        &mut self,
        f: impl FnOnce(&'a AsyncFd<T>) -> io::Result<R>,
    ) -> Result<io::Result<R>, TryIoError> {
        let result = f(self.async_fd);
        self.judged(result)
    }

    /// The descriptor.
    pub fn get_ref(&self) -> &'a AsyncFd<T> {
        self.async_fd
    }

    /// What it was made of.
    pub fn get_inner(&self) -> &'a T {
        self.async_fd.get_ref()
    }
}

impl<T: AsRawFd> AsyncFdReadyMutGuard<'_, T> {
    /// As [`AsyncFdReadyGuard::try_io`].
    ///
    /// # Errors
    /// As [`AsyncFdReadyGuard::try_io`].
    pub fn try_io<R>(
        &mut self,
        f: impl FnOnce(&mut AsyncFd<T>) -> io::Result<R>,
    ) -> Result<io::Result<R>, TryIoError> {
        let result = f(self.async_fd);
        self.judged(result)
    }

    /// The descriptor.
    pub fn get_ref(&self) -> &AsyncFd<T> {
        self.async_fd
    }

    /// The descriptor.
    pub fn get_mut(&mut self) -> &mut AsyncFd<T> {
        self.async_fd
    }

    /// What it was made of.
    pub fn get_inner(&self) -> &T {
        self.async_fd.get_ref()
    }

    /// What it was made of.
    pub fn get_inner_mut(&mut self) -> &mut T {
        self.async_fd.get_mut()
    }
}
