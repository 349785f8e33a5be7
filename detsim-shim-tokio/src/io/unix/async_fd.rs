//! A descriptor of the program's own that tasks wait for.
//!
//! Mirrors tokio's. Owns: [`AsyncFd`], and why one could not be made. Does not own: readiness
//! (`io/outside.rs`), guards.
#![expect(unsafe_code, reason = "tokio's signatures, and a borrow of a descriptor by its number")]

use std::error::Error;
use std::fmt;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::panic::Location;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::Interest;

use super::{AsyncFdReadyGuard, AsyncFdReadyMutGuard};
use crate::io::outside::{Event, Outside, Registration, Ticket, Want, wanted};
use crate::net::descriptor::watch;
use crate::net::ready::must_wait;
use crate::runtime::scope;

/// A descriptor of the operating system that tasks wait for.
///
/// The descriptor is a real one, in a simulation too, and a run repeats itself as long as what happens at the
/// other end is the run's own doing; that of a simulated socket is the simulation's.
///
/// # Examples
/// ```
/// use detsim_shim_tokio::io::unix::AsyncFd;
/// use std::io::{Read, Write};
/// use std::os::unix::net::UnixStream;
///
/// let sim = detsim_executor::Sim::new(7);
/// let told = sim.block_on(async {
///     let (a, mut b) = UnixStream::pair().unwrap();
///     a.set_nonblocking(true).unwrap();
///     // SAFETY: the stream keeps its descriptor open as long as it lives.
///     let a = unsafe { AsyncFd::register(a) }.unwrap();
///     b.write_all(b"hello").unwrap();
///     let mut told = [0; 5];
///     let mut guard = a.readable().await.unwrap();
///     guard.try_io(|a| a.get_ref().read_exact(&mut told)).unwrap().unwrap();
///     told
/// });
/// assert_eq!(told.unwrap(), *b"hello");
/// ```
pub struct AsyncFd<T: AsRawFd> {
    /// There until it is taken out.
    inner: Option<T>,
    registration: Arc<Registration>,
    token: u64,
}

/// Why no [`AsyncFd`] was made, with what it was to be made of.
pub struct AsyncFdRegisterError<T> {
    inner: T,
    cause: io::Error,
}

/// A wait of one future.
struct Waiting<'a> {
    registration: &'a Registration,
    ticket: Ticket,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.registration.forget(&self.ticket);
    }
}

impl<T: AsRawFd> AsyncFd<T> {
    /// Waits for a descriptor to be readable or writable.
    ///
    /// # Safety
    /// `inner` gives the same descriptor as long as it lives, and keeps it open.
    ///
    /// # Errors
    /// EBADF, EPERM for a file, EEXIST for one that is registered; tokio's where the runtime is gone.
    ///
    /// # Panics
    /// Where there is no runtime, or one without io, in tokio's words.
    #[track_caller]
    pub unsafe fn register(inner: T) -> Result<Self, AsyncFdRegisterError<T>> {
        Self::make(inner, Interest::READABLE | Interest::WRITABLE)
    }

    /// Waits for a descriptor to be ready for what is of interest.
    ///
    /// # Safety
    /// As of [`Self::register`].
    ///
    /// # Errors
    /// As [`Self::register`].
    ///
    /// # Panics
    /// As [`Self::register`].
    #[track_caller]
    pub unsafe fn register_with_interest(
        inner: T,
        interest: Interest,
    ) -> Result<Self, AsyncFdRegisterError<T>> {
        Self::make(inner, interest)
    }

    /// As [`Self::register`], for tokio before 1.54.
    ///
    /// # Errors
    /// As [`Self::register`].
    #[deprecated(
        note = "unsound due to lack of I/O safety; use `AsyncFd::register` instead (see https://github.com/tokio-rs/tokio/pull/8587)"
    )]
    #[track_caller]
    pub fn new(inner: T) -> io::Result<Self> {
        Ok(Self::make(inner, Interest::READABLE | Interest::WRITABLE)?)
    }

    /// As [`Self::register_with_interest`], for tokio before 1.54.
    ///
    /// # Errors
    /// As [`Self::register`].
    #[deprecated(
        note = "unsound due to lack of I/O safety; use `AsyncFd::register_with_interest` instead (see https://github.com/tokio-rs/tokio/pull/8587)"
    )]
    #[track_caller]
    pub fn with_interest(inner: T, interest: Interest) -> io::Result<Self> {
        Ok(Self::make(inner, interest)?)
    }

    /// As [`Self::register`], for tokio before 1.54.
    ///
    /// # Errors
    /// As [`Self::register`].
    #[deprecated(
        note = "unsound due to lack of I/O safety; use `AsyncFd::register` instead (see https://github.com/tokio-rs/tokio/pull/8587)"
    )]
    #[track_caller]
    pub fn try_new(inner: T) -> Result<Self, AsyncFdRegisterError<T>> {
        Self::make(inner, Interest::READABLE | Interest::WRITABLE)
    }

    /// As [`Self::register_with_interest`], for tokio before 1.54.
    ///
    /// # Errors
    /// As [`Self::register`].
    #[deprecated(
        note = "unsound due to lack of I/O safety; use `AsyncFd::register_with_interest` instead (see https://github.com/tokio-rs/tokio/pull/8587)"
    )]
    #[track_caller]
    pub fn try_with_interest(
        inner: T,
        interest: Interest,
    ) -> Result<Self, AsyncFdRegisterError<T>> {
        Self::make(inner, interest)
    }

    /// The one way in. A number that is no descriptor, or another one's, is a mistake that the system
    /// answers; it endangers nothing here.
    #[track_caller]
    pub(crate) fn make(inner: T, interest: Interest) -> Result<Self, AsyncFdRegisterError<T>> {
        let (fd, site) = (inner.as_raw_fd(), Location::caller());
        let registered = scope::with_io(|sim, runtime| {
            let outside = Outside::of(sim)?;
            runtime.watches(&outside);
            let simulated = watch(fd, wanted(interest)).transpose()?;
            let registration = Arc::new(Registration::new(outside, simulated, site));
            let owner = runtime.group().word();
            let token = registration.outside().add(fd, interest, owner, &registration)?;
            Ok((registration, token))
        });
        match registered {
            Ok((registration, token)) => Ok(Self { inner: Some(inner), registration, token }),
            Err(cause) => Err(AsyncFdRegisterError { inner, cause }),
        }
    }

    /// What it was made of.
    pub fn get_ref(&self) -> &T {
        self.inner.as_ref().expect("invariant: it is there until it is taken out")
    }

    /// What it was made of.
    pub fn get_mut(&mut self) -> &mut T {
        self.inner.as_mut().expect("invariant: it is there until it is taken out")
    }

    /// What it was made of, which is no longer waited for.
    pub fn into_inner(mut self) -> T {
        self.take().expect("invariant: it is there until it is taken out")
    }

    fn take(&mut self) -> Option<T> {
        let inner = self.inner.take()?;
        self.registration.outside().remove(inner.as_raw_fd(), self.token);
        self.registration.dropped();
        Some(inner)
    }

    /// Polls for being readable. The last one that polled is woken.
    ///
    /// # Errors
    /// tokio's where the runtime is gone.
    #[track_caller]
    pub fn poll_read_ready<'a>(
        &'a self,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<AsyncFdReadyGuard<'a, T>>> {
        let seen = self.registration.poll(cx, Want::Reader, Location::caller());
        seen.map_ok(|event| AsyncFdReadyGuard::new(self, event))
    }

    /// As [`Self::poll_read_ready`].
    ///
    /// # Errors
    /// As [`Self::poll_read_ready`].
    #[track_caller]
    pub fn poll_read_ready_mut<'a>(
        &'a mut self,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<AsyncFdReadyMutGuard<'a, T>>> {
        let seen = self.registration.poll(cx, Want::Reader, Location::caller());
        seen.map_ok(|event| AsyncFdReadyMutGuard::new(self, event))
    }

    /// Polls for being writable. The last one that polled is woken.
    ///
    /// # Errors
    /// As [`Self::poll_read_ready`].
    #[track_caller]
    pub fn poll_write_ready<'a>(
        &'a self,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<AsyncFdReadyGuard<'a, T>>> {
        let seen = self.registration.poll(cx, Want::Writer, Location::caller());
        seen.map_ok(|event| AsyncFdReadyGuard::new(self, event))
    }

    /// As [`Self::poll_write_ready`].
    ///
    /// # Errors
    /// As [`Self::poll_read_ready`].
    #[track_caller]
    pub fn poll_write_ready_mut<'a>(
        &'a mut self,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<AsyncFdReadyMutGuard<'a, T>>> {
        let seen = self.registration.poll(cx, Want::Writer, Location::caller());
        seen.map_ok(|event| AsyncFdReadyMutGuard::new(self, event))
    }

    /// Waits until it is ready for something of interest.
    ///
    /// # Errors
    /// As [`Self::poll_read_ready`].
    #[track_caller]
    pub fn ready(
        &self,
        interest: Interest,
    ) -> impl Future<Output = io::Result<AsyncFdReadyGuard<'_, T>>> + use<'_, T> {
        let event = wait(&self.registration, interest, Location::caller());
        async move { event.await.map(|event| AsyncFdReadyGuard::new(self, event)) }
    }

    /// As [`Self::ready`].
    ///
    /// # Errors
    /// As [`Self::poll_read_ready`].
    pub async fn ready_mut(
        &mut self,
        interest: Interest,
    ) -> io::Result<AsyncFdReadyMutGuard<'_, T>> {
        let event = wait(&self.registration, interest, Location::caller()).await?;
        Ok(AsyncFdReadyMutGuard::new(self, event))
    }

    /// Waits until it can be read.
    ///
    /// # Errors
    /// As [`Self::poll_read_ready`].
    #[track_caller]
    pub fn readable(
        &self,
    ) -> impl Future<Output = io::Result<AsyncFdReadyGuard<'_, T>>> + use<'_, T> {
        self.ready(Interest::READABLE)
    }

    /// Waits until it can be read.
    ///
    /// # Errors
    /// As [`Self::poll_read_ready`].
    pub async fn readable_mut(&mut self) -> io::Result<AsyncFdReadyMutGuard<'_, T>> {
        self.ready_mut(Interest::READABLE).await
    }

    /// Waits until it can be written.
    ///
    /// # Errors
    /// As [`Self::poll_read_ready`].
    #[track_caller]
    pub fn writable(
        &self,
    ) -> impl Future<Output = io::Result<AsyncFdReadyGuard<'_, T>>> + use<'_, T> {
        self.ready(Interest::WRITABLE)
    }

    /// Waits until it can be written.
    ///
    /// # Errors
    /// As [`Self::poll_read_ready`].
    pub async fn writable_mut(&mut self) -> io::Result<AsyncFdReadyMutGuard<'_, T>> {
        self.ready_mut(Interest::WRITABLE).await
    }

    /// An operation, again and again until it does not have to wait.
    ///
    /// # Errors
    /// Those of `f`; as [`Self::poll_read_ready`].
    pub async fn async_io<R>(
        &self,
        interest: Interest,
        mut f: impl FnMut(&T) -> io::Result<R>,
    ) -> io::Result<R> {
        loop {
            let event = wait(&self.registration, interest, Location::caller()).await?;
            let result = f(self.get_ref());
            let result = self.judged(event, result);
            if !must_wait(&result) {
                return result;
            }
        }
    }

    /// As [`Self::async_io`].
    ///
    /// # Errors
    /// As [`Self::async_io`].
    pub async fn async_io_mut<R>(
        &mut self,
        interest: Interest,
        mut f: impl FnMut(&mut T) -> io::Result<R>,
    ) -> io::Result<R> {
        loop {
            let event = wait(&self.registration, interest, Location::caller()).await?;
            let result = f(self.get_mut());
            let result = self.judged(event, result);
            if !must_wait(&result) {
                return result;
            }
        }
    }

    /// An operation, where the descriptor is ready for it.
    ///
    /// # Errors
    /// Those of `f`; `WouldBlock` where the descriptor is not ready.
    pub fn try_io<R>(
        &self,
        interest: Interest,
        f: impl FnOnce(&T) -> io::Result<R>,
    ) -> io::Result<R> {
        let event = self.attempt(interest)?;
        self.judged(event, f(self.get_ref()))
    }

    /// As [`Self::try_io`].
    ///
    /// # Errors
    /// As [`Self::try_io`].
    pub fn try_io_mut<R>(
        &mut self,
        interest: Interest,
        f: impl FnOnce(&mut T) -> io::Result<R>,
    ) -> io::Result<R> {
        let event = self.attempt(interest)?;
        let result = f(self.get_mut());
        self.judged(event, result)
    }

    fn attempt(&self, interest: Interest) -> io::Result<Event> {
        let event = self.registration.readiness(interest);
        if event.ready.is_empty() { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(event) }
    }

    /// What an operation found is remembered.
    fn judged<R>(&self, event: Event, result: io::Result<R>) -> io::Result<R> {
        if must_wait(&result) {
            self.registration.clear(event);
        }
        result
    }

    /// Somebody who saw it ready says that it is not.
    pub(super) fn clear(&self, event: Event) {
        self.registration.clear(event);
    }
}

/// Waits until there is something to see. It borrows nothing of the program's, which need not be `Sync`.
async fn wait(
    registration: &Registration,
    interest: Interest,
    site: &'static Location<'static>,
) -> io::Result<Event> {
    let mut wait = Waiting { registration, ticket: Ticket::default() };
    let poll = |cx: &mut Context<'_>| {
        let want = Want::Future(interest, &mut wait.ticket);
        registration.poll(cx, want, site)
    };
    std::future::poll_fn(poll).await
}

impl<T: AsRawFd> Drop for AsyncFd<T> {
    fn drop(&mut self) {
        drop(self.take());
    }
}

impl<T: AsRawFd> AsRawFd for AsyncFd<T> {
    fn as_raw_fd(&self) -> RawFd {
        self.get_ref().as_raw_fd()
    }
}

impl<T: AsRawFd> AsFd for AsyncFd<T> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: whoever registered it vouched for `inner` keeping its descriptor open.
        unsafe { BorrowedFd::borrow_raw(self.as_raw_fd()) }
    }
}

impl<T: AsRawFd + fmt::Debug> fmt::Debug for AsyncFd<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncFd").field("inner", &self.inner).finish()
    }
}

impl<T> AsyncFdRegisterError<T> {
    /// What was to be registered, and why it was not.
    pub fn into_parts(self) -> (T, io::Error) {
        (self.inner, self.cause)
    }
}

impl<T> From<AsyncFdRegisterError<T>> for io::Error {
    fn from(error: AsyncFdRegisterError<T>) -> Self {
        error.cause
    }
}

impl<T> fmt::Display for AsyncFdRegisterError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.cause, f)
    }
}

impl<T> fmt::Debug for AsyncFdRegisterError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.cause, f)
    }
}

impl<T> Error for AsyncFdRegisterError<T> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.cause)
    }
}
