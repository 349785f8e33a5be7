//! Readers and writers that are always ready.
//!
//! Invariant: each operation takes a unit of the task's budget, so that a task which does nothing else
//! lets others run now and then, as on tokio.

use crate::task::coop::poll_proceed;
use std::fmt;
use std::io::{self, IoSlice, SeekFrom};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncBufRead, AsyncRead, AsyncSeek, AsyncWrite, ReadBuf};

/// Takes a unit of the budget for an operation that is done.
fn proceed(cx: &mut Context<'_>) -> Poll<()> {
    ready!(poll_proceed(cx)).made_progress();
    Poll::Ready(())
}

/// Reads as at its end, and takes whatever is written.
pub struct Empty {
    _private: (),
}

/// A reader that is at its end, and a writer that takes everything.
///
/// # Examples
/// ```
/// use detsim_shim_tokio::io::{AsyncReadExt, empty};
/// let sim = detsim_executor::Sim::new(7);
/// let read = sim.block_on(async { empty().read(&mut [0; 3]).await.unwrap() });
/// assert_eq!(read.unwrap(), 0);
/// ```
pub fn empty() -> Empty {
    Empty { _private: () }
}

/// Reads as one byte again and again.
#[derive(Debug)]
pub struct Repeat {
    byte: u8,
}

/// A reader of one byte again and again.
///
/// # Examples
/// ```
/// use detsim_shim_tokio::io::{AsyncReadExt, repeat};
/// let sim = detsim_executor::Sim::new(7);
/// let bytes = sim.block_on(async {
///     let mut bytes = [0; 2];
///     repeat(7).read_exact(&mut bytes).await.unwrap();
///     bytes
/// });
/// assert_eq!(bytes.unwrap(), [7, 7]);
/// ```
pub fn repeat(byte: u8) -> Repeat {
    Repeat { byte }
}

/// Takes whatever is written.
pub struct Sink {
    _private: (),
}

/// A writer that takes everything.
///
/// # Examples
/// ```
/// use detsim_shim_tokio::io::{AsyncWriteExt, sink};
/// let sim = detsim_executor::Sim::new(7);
/// let written = sim.block_on(async { sink().write(b"gone").await.unwrap() });
/// assert_eq!(written.unwrap(), 4);
/// ```
pub fn sink() -> Sink {
    Sink { _private: () }
}

impl AsyncRead for Empty {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        _: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        proceed(cx).map(Ok)
    }
}

impl AsyncBufRead for Empty {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        proceed(cx).map(|()| Ok(&[][..]))
    }

    fn consume(self: Pin<&mut Self>, _: usize) {}
}

impl AsyncSeek for Empty {
    fn start_seek(self: Pin<&mut Self>, _: SeekFrom) -> io::Result<()> {
        Ok(())
    }

    fn poll_complete(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        proceed(cx).map(|()| Ok(0))
    }
}

impl AsyncRead for Repeat {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        ready!(proceed(cx));
        buf.initialize_unfilled().fill(self.byte);
        buf.advance(buf.remaining());
        Poll::Ready(Ok(()))
    }
}

/// What both writers do.
macro_rules! takes_everything {
    ($($writer:ident)+) => { $(
        impl AsyncWrite for $writer {
            fn poll_write(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buf: &[u8],
            ) -> Poll<io::Result<usize>> {
                proceed(cx).map(|()| Ok(buf.len()))
            }

            fn poll_write_vectored(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                bufs: &[IoSlice<'_>],
            ) -> Poll<io::Result<usize>> {
                proceed(cx).map(|()| Ok(bufs.iter().map(|buf| buf.len()).sum()))
            }

            fn is_write_vectored(&self) -> bool {
                true
            }

            fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                proceed(cx).map(Ok)
            }

            fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                proceed(cx).map(Ok)
            }
        }

        impl fmt::Debug for $writer {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(concat!(stringify!($writer), " { .. }"))
            }
        }
    )+ };
}

takes_everything!(Empty Sink);
