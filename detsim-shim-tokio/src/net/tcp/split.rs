//! The two directions of a connection, borrowed.
//!
//! Mirrors tokio's. Owns: [`ReadHalf`] and [`WriteHalf`].

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf, Ready};

use crate::net::tcp::stream::TcpStream;

crate::net::halves::borrowed!(TcpStream, SocketAddr);

impl ReadHalf<'_> {
    /// Reads without taking.
    ///
    /// # Errors
    /// ECONNRESET, ETIMEDOUT.
    #[track_caller]
    pub fn peek<'a>(
        &'a mut self,
        buf: &'a mut [u8],
    ) -> impl Future<Output = io::Result<usize>> + 'a {
        self.0.peek(buf)
    }

    /// Polls for something to read, without taking it.
    ///
    /// # Errors
    /// As [`Self::peek`].
    pub fn poll_peek(
        &mut self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<usize>> {
        self.0.poll_peek(cx, buf)
    }
}
