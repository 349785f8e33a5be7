//! Pipes.
//!
//! Mirrors tokio's. Owns: [`pipe`], [`Sender`], [`Receiver`]. Does not own: what an end is made of
//! (`pipe/end.rs`), and which files and descriptors become one (`fifo.rs`).

mod end;

use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::OwnedFd;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use detsim_executor::Bound;
use detsim_net::Sockets;
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf, Ready};

pub use super::fifo::OpenOptions;

pub(super) use self::end::nonblocking;
use self::end::{End, Link};
use crate::net::world;

/// The writing end of a pipe.
#[derive(Debug)]
pub struct Sender {
    end: End,
}

/// The reading end of a pipe.
#[derive(Debug)]
pub struct Receiver {
    end: End,
}

impl UnwindSafe for Sender {}
impl RefUnwindSafe for Sender {}
impl UnwindSafe for Receiver {}
impl RefUnwindSafe for Receiver {}

/// A pipe between the tasks of a program.
///
/// It is simulated, until one of its ends is taken out as a descriptor: from then on it is one of the
/// operating system.
///
/// # Errors
/// tokio's where the runtime has been shut down.
///
/// # Panics
/// Outside of a simulation, in tokio's words.
#[track_caller]
pub fn pipe() -> io::Result<(Sender, Receiver)> {
    let (site, link) = (Location::caller(), Link::new(Bound::new(None)));
    let [sender, receiver] = world::open(Sockets::pipe)?;
    [&sender, &receiver].into_iter().for_each(|end| end.register([false, false]));
    let receiver = Receiver { end: End::simulated(receiver, link.clone(), site) };
    Ok((Sender { end: End::simulated(sender, link, site) }, receiver))
}

impl Sender {
    /// From an end of the operating system's, which does not block.
    #[track_caller]
    pub(super) fn of(fd: OwnedFd) -> io::Result<Self> {
        Ok(Self { end: End::outside(fd, Interest::WRITABLE, Location::caller())? })
    }

    /// Waits until it is ready for something of interest.
    ///
    /// # Errors
    /// EBADF where its node has stopped.
    #[track_caller]
    pub fn ready(&self, interest: Interest) -> impl Future<Output = io::Result<Ready>> + '_ {
        self.end.ready(interest, Location::caller())
    }

    /// Waits until it may be written.
    ///
    /// # Errors
    /// As [`Self::ready`].
    #[track_caller]
    pub fn writable(&self) -> impl Future<Output = io::Result<()>> + '_ {
        let ready = self.ready(Interest::WRITABLE);
        async move { ready.await.map(drop) }
    }

    /// Polls for being writable.
    ///
    /// # Errors
    /// As [`Self::ready`].
    pub fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.end.poll_write_ready(cx)
    }

    /// Writes without waiting.
    ///
    /// # Errors
    /// `WouldBlock` where there is no room; EPIPE.
    #[track_caller]
    pub fn try_write(&self, buf: &[u8]) -> io::Result<usize> {
        self.end.try_write(&[IoSlice::new(buf)])
    }

    /// Writes from several buffers without waiting.
    ///
    /// # Errors
    /// As [`Self::try_write`].
    #[track_caller]
    pub fn try_write_vectored(&self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
        self.end.try_write(bufs)
    }

    /// An operation of the program's own on the descriptor, where the pipe is ready for it.
    ///
    /// # Errors
    /// Those of `f`; `WouldBlock` where the pipe is not ready.
    pub fn try_io<R>(&self, f: impl FnOnce() -> io::Result<R>) -> io::Result<R> {
        self.end.try_io(Interest::WRITABLE, f)
    }

    /// Its descriptor, on which a write waits for room.
    ///
    /// # Errors
    /// Where the process has no descriptors left.
    pub fn into_blocking_fd(self) -> io::Result<OwnedFd> {
        end::blocking(self.into_nonblocking_fd()?)
    }

    /// Its descriptor.
    ///
    /// # Errors
    /// As [`Self::into_blocking_fd`].
    pub fn into_nonblocking_fd(self) -> io::Result<OwnedFd> {
        self.end.into_sender()
    }
}

impl Receiver {
    /// From an end of the operating system's, which does not block.
    #[track_caller]
    pub(super) fn of(fd: OwnedFd) -> io::Result<Self> {
        Ok(Self { end: End::outside(fd, Interest::READABLE, Location::caller())? })
    }

    /// Waits until it is ready for something of interest.
    ///
    /// # Errors
    /// EBADF where its node has stopped.
    #[track_caller]
    pub fn ready(&self, interest: Interest) -> impl Future<Output = io::Result<Ready>> + '_ {
        self.end.ready(interest, Location::caller())
    }

    /// Waits until it may be read.
    ///
    /// # Errors
    /// As [`Self::ready`].
    #[track_caller]
    pub fn readable(&self) -> impl Future<Output = io::Result<()>> + '_ {
        let ready = self.ready(Interest::READABLE);
        async move { ready.await.map(drop) }
    }

    /// Polls for being readable.
    ///
    /// # Errors
    /// As [`Self::ready`].
    pub fn poll_read_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.end.poll_read_ready(cx)
    }

    /// Reads without waiting.
    ///
    /// # Errors
    /// `WouldBlock` where there is nothing to read.
    #[track_caller]
    pub fn try_read(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.end.try_read(&mut [IoSliceMut::new(buf)])
    }

    /// Reads into several buffers without waiting.
    ///
    /// # Errors
    /// As [`Self::try_read`].
    #[track_caller]
    pub fn try_read_vectored(&self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        self.end.try_read(bufs)
    }

    /// Reads behind what the buffer holds, without waiting.
    ///
    /// # Errors
    /// As [`Self::try_read`].
    #[cfg(feature = "io-util")]
    #[track_caller]
    pub fn try_read_buf<B: bytes::BufMut>(&self, buf: &mut B) -> io::Result<usize> {
        crate::net::ready::read_buf(buf, |room| self.try_read(room))
    }

    /// An operation of the program's own on the descriptor, where the pipe is ready for it.
    ///
    /// # Errors
    /// Those of `f`; `WouldBlock` where the pipe is not ready.
    pub fn try_io<R>(&self, f: impl FnOnce() -> io::Result<R>) -> io::Result<R> {
        self.end.try_io(Interest::READABLE, f)
    }

    /// Its descriptor, on which a read waits for something to read.
    ///
    /// # Errors
    /// Where the process has no descriptors left.
    pub fn into_blocking_fd(self) -> io::Result<OwnedFd> {
        end::blocking(self.into_nonblocking_fd()?)
    }

    /// Its descriptor.
    ///
    /// # Errors
    /// As [`Self::into_blocking_fd`].
    pub fn into_nonblocking_fd(self) -> io::Result<OwnedFd> {
        self.end.into_receiver()
    }
}

impl AsyncWrite for Sender {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(buf)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.end.poll_write(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        // As in tokio: the end comes when the sender is dropped.
        Poll::Ready(Ok(()))
    }
}

impl AsyncRead for Receiver {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = ready!(self.end.poll_read(cx, buf.initialize_unfilled()))?;
        buf.advance(read);
        Poll::Ready(Ok(()))
    }
}

/// The descriptor of an end.
macro_rules! descriptor {
    ($End:ident) => {
        impl std::os::fd::AsFd for $End {
            fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
                self.end.fd()
            }
        }

        impl std::os::fd::AsRawFd for $End {
            fn as_raw_fd(&self) -> std::os::fd::RawFd {
                std::os::fd::AsRawFd::as_raw_fd(&self.end.fd())
            }
        }
    };
}

descriptor!(Sender);
descriptor!(Receiver);
