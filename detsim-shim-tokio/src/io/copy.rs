//! Copying from a reader to a writer.
//!
//! Owns: that each buffer that is read takes a unit of the task's budget. Does not own: the copying,
//! which is tokio's.

use crate::task::coop::poll_proceed;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncBufRead, AsyncRead, AsyncWrite, ReadBuf};

/// Copies all that can be read to a writer: how many bytes.
///
/// # Errors
/// Those of the reader and the writer.
///
/// # Examples
/// ```
/// use detsim_shim_tokio::io::copy;
/// let sim = detsim_executor::Sim::new(7);
/// let copied = sim.block_on(async {
///     let (mut reader, mut writer) = (&b"hello"[..], Vec::new());
///     copy(&mut reader, &mut writer).await.unwrap();
///     writer
/// });
/// assert_eq!(copied.unwrap(), b"hello");
/// ```
pub async fn copy<'a, R, W>(reader: &'a mut R, writer: &'a mut W) -> io::Result<u64>
where
    R: AsyncRead + Unpin + ?Sized,
    W: AsyncWrite + Unpin + ?Sized,
{
    tokio::io::copy(&mut Cooperative(reader), writer).await
}

/// Copies all that can be read to a writer, without a buffer of its own: how many bytes.
///
/// # Errors
/// Those of the reader and the writer.
pub async fn copy_buf<'a, R, W>(reader: &'a mut R, writer: &'a mut W) -> io::Result<u64>
where
    R: AsyncBufRead + Unpin + ?Sized,
    W: AsyncWrite + Unpin + ?Sized,
{
    tokio::io::copy_buf(&mut Cooperative(reader), writer).await
}

/// A reader of which each read is an operation.
struct Cooperative<'a, R: ?Sized>(&'a mut R);

impl<R: AsyncRead + Unpin + ?Sized> AsyncRead for Cooperative<'_, R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let proceeds = ready!(poll_proceed(cx));
        let read = ready!(Pin::new(&mut *self.0).poll_read(cx, buf));
        proceeds.made_progress();
        Poll::Ready(read)
    }
}

impl<R: AsyncBufRead + Unpin + ?Sized> AsyncBufRead for Cooperative<'_, R> {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        let proceeds = ready!(poll_proceed(cx));
        let filled = ready!(Pin::new(&mut *self.get_mut().0).poll_fill_buf(cx));
        proceeds.made_progress();
        Poll::Ready(filled)
    }

    fn consume(mut self: Pin<&mut Self>, amount: usize) {
        Pin::new(&mut *self.0).consume(amount);
    }
}
