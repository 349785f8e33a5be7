//! Descriptors of the operating system.
//!
//! Mirrors `tokio::io::unix`.

mod async_fd;
mod guards;

pub use async_fd::{AsyncFd, AsyncFdRegisterError};
pub use guards::{AsyncFdReadyGuard, AsyncFdReadyMutGuard, TryIoError};

/// What [`AsyncFdRegisterError`] was called before.
#[doc(hidden)]
#[deprecated(note = "use `AsyncFdRegisterError` instead")]
pub type AsyncFdTryNewError<T> = AsyncFdRegisterError<T>;
