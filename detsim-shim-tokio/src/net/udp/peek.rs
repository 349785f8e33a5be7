//! Looking at the datagram that is next, without taking it.

use std::io;
use std::net::SocketAddr;
use std::panic::Location;
use std::task::{Context, Poll};

use tokio::io::ReadBuf;

use super::UdpSocket;

impl UdpSocket {
    /// Looks at the next datagram.
    ///
    /// # Errors
    /// As [`Self::recv`].
    #[track_caller]
    pub fn peek<'a>(&'a self, buf: &'a mut [u8]) -> impl Future<Output = io::Result<usize>> + 'a {
        let receiving = self.receiving(buf, true, Location::caller());
        async move { receiving.await.map(|(bytes, _)| bytes) }
    }

    /// Looks at the next datagram, and says who sent it.
    ///
    /// # Errors
    /// As [`Self::recv`].
    #[track_caller]
    pub fn peek_from<'a>(
        &'a self,
        buf: &'a mut [u8],
    ) -> impl Future<Output = io::Result<(usize, SocketAddr)>> + 'a {
        self.receiving(buf, true, Location::caller())
    }

    /// Says who sent the next datagram.
    ///
    /// # Errors
    /// As [`Self::recv`].
    #[track_caller]
    pub fn peek_sender(&self) -> impl Future<Output = io::Result<SocketAddr>> + '_ {
        let site = Location::caller();
        async move { self.receiving(&mut [], true, site).await.map(|(_, from)| from) }
    }

    /// Polls for a look at the next datagram.
    ///
    /// # Errors
    /// As [`Self::recv`].
    pub fn poll_peek(&self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.poll_receiving(cx, buf, true).map_ok(drop)
    }

    /// Polls for a look at the next datagram, and says who sent it.
    ///
    /// # Errors
    /// As [`Self::recv`].
    pub fn poll_peek_from(
        &self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<SocketAddr>> {
        self.poll_receiving(cx, buf, true)
    }

    /// Polls for who sent the next datagram.
    ///
    /// # Errors
    /// As [`Self::recv`].
    pub fn poll_peek_sender(&self, cx: &mut Context<'_>) -> Poll<io::Result<SocketAddr>> {
        self.poll_receiving(cx, &mut ReadBuf::new(&mut []), true)
    }

    /// Looks at the next datagram without waiting.
    ///
    /// # Errors
    /// As [`Self::try_recv`].
    #[track_caller]
    pub fn try_peek(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.try_peek_from(buf).map(|(bytes, _)| bytes)
    }

    /// Looks at the next datagram without waiting, and says who sent it.
    ///
    /// # Errors
    /// As [`Self::try_recv`].
    #[track_caller]
    pub fn try_peek_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.socket.told(detsim_net::Side::Read)?.try_receive(buf, true)
    }

    /// Says who sent the next datagram, without waiting.
    ///
    /// # Errors
    /// As [`Self::try_recv`].
    #[track_caller]
    pub fn try_peek_sender(&self) -> io::Result<SocketAddr> {
        self.try_peek_from(&mut []).map(|(_, from)| from)
    }
}
