//! Streams in memory.
//!
//! Mirrors tokio's. Owns: [`DuplexStream`] and [`SimplexStream`]. Does not own: bytes and waits (`pipe`).

mod pipe;

use self::pipe::Pipe;
use crate::sync::until::Until;
use detsim_executor::OpKind;
use std::io::{self, IoSlice};
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf, ReadHalf, WriteHalf, split};

/// One of two ends of a stream in memory: what is written to one can be read from the other. Dropping
/// one ends the reads of the other, once it has read all, and fails its writes.
#[derive(Debug)]
pub struct DuplexStream {
    read: Arc<Pipe>,
    write: Arc<Pipe>,
    reading: Until,
    writing: Until,
}

/// A stream in memory: what is written to it can be read from it.
#[derive(Debug)]
pub struct SimplexStream {
    pipe: Pipe,
    reading: Until,
    writing: Until,
}

/// Two ends of a stream with room for `max_buf_size` bytes in each direction.
///
/// # Panics
/// Where there is room for none.
///
/// # Examples
/// ```
/// use detsim_shim_tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
/// let sim = detsim_executor::Sim::new(7);
/// let read = sim.block_on(async {
///     let (mut here, mut there) = duplex(64);
///     here.write_all(b"hello").await.unwrap();
///     drop(here);
///     let mut text = String::new();
///     there.read_to_string(&mut text).await.unwrap();
///     text
/// });
/// assert_eq!(read.unwrap(), "hello");
/// ```
#[track_caller]
pub fn duplex(max_buf_size: usize) -> (DuplexStream, DuplexStream) {
    let site = Location::caller();
    let (one, two) =
        (Arc::new(Pipe::new(max_buf_size, site)), Arc::new(Pipe::new(max_buf_size, site)));
    let end = |read: &Arc<Pipe>, write: &Arc<Pipe>| DuplexStream {
        read: Arc::clone(read),
        write: Arc::clone(write),
        reading: Until::new(OpKind::Recv, site),
        writing: Until::new(OpKind::Send, site),
    };
    (end(&one, &two), end(&two, &one))
}

/// The ends of a stream with room for `max_buf_size` bytes.
///
/// # Panics
/// Where there is room for none.
#[track_caller]
pub fn simplex(max_buf_size: usize) -> (ReadHalf<SimplexStream>, WriteHalf<SimplexStream>) {
    split(SimplexStream::new_unsplit(max_buf_size))
}

impl SimplexStream {
    /// A stream with room for `max_buf_size` bytes.
    ///
    /// # Panics
    /// Where there is room for none.
    #[track_caller]
    pub fn new_unsplit(max_buf_size: usize) -> Self {
        let site = Location::caller();
        Self {
            pipe: Pipe::new(max_buf_size, site),
            reading: Until::new(OpKind::Recv, site),
            writing: Until::new(OpKind::Send, site),
        }
    }
}

/// Reads and writes of a stream, of which `read` and `write` are fields.
macro_rules! streams {
    ($($stream:ident: $read:ident, $write:ident;)+) => { $(
        impl AsyncRead for $stream {
            fn poll_read(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buf: &mut ReadBuf<'_>,
            ) -> Poll<io::Result<()>> {
                let this = self.get_mut();
                this.$read.poll_read(&mut this.reading, cx, buf)
            }
        }

        impl AsyncWrite for $stream {
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
                let this = self.get_mut();
                this.$write.poll_write(&mut this.writing, cx, bufs)
            }

            fn is_write_vectored(&self) -> bool {
                true
            }

            fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
                Poll::Ready(Ok(()))
            }

            fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
                self.$write.close();
                Poll::Ready(Ok(()))
            }
        }

        impl Drop for $stream {
            fn drop(&mut self) {
                self.$read.leave_reader(&mut self.reading);
                self.$write.leave_writer(&mut self.writing);
            }
        }
    )+ };
}

streams! {
    DuplexStream: read, write;
    SimplexStream: pipe, pipe;
}
