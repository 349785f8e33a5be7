//! Datagrams.
//!
//! Mirrors tokio's. Owns: [`UdpSocket`]. Does not own: the protocol, which is `detsim-net`'s, nor
//! options, multicast and looking at what waits (`udp/options.rs`, `udp/peek.rs`).

mod options;
mod peek;

use std::io;
use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use std::panic::Location;
use std::task::{Context, Poll, ready};

use detsim_executor::OpKind;
use detsim_net::{How, Side, Socket};
use tokio::io::ReadBuf;

use crate::net::addr::{ToSocketAddrs, each, resolve};
use crate::net::descriptor::{Descriptor, into_fd, taken};
#[cfg(feature = "io-util")]
use crate::net::ready;
use crate::net::ready::{Site, point, wait};
use crate::net::world;

/// A socket for datagrams.
pub struct UdpSocket {
    socket: Socket,
    descriptor: Descriptor,
    site: Site,
}

impl UdpSocket {
    /// A socket with an address; port 0 means a free one.
    ///
    /// # Errors
    /// As Linux has it: EADDRINUSE, EADDRNOTAVAIL; or a name that cannot be resolved.
    #[track_caller]
    pub fn bind<A: ToSocketAddrs>(address: A) -> impl Future<Output = io::Result<Self>> + use<A> {
        let (site, target) = (Location::caller(), address.target());
        async move { each(target, |address| Self::bind_at(address, site)).await }
    }

    async fn bind_at(address: SocketAddr, site: Site) -> io::Result<Self> {
        let socket = Self::open(address, site, Descriptor::default())?;
        point(&socket.socket, OpKind::Start, site).await;
        socket.socket.bind(address)?;
        socket.socket.register([false, false]);
        Ok(socket)
    }

    #[track_caller]
    fn open(address: SocketAddr, site: Site, descriptor: Descriptor) -> io::Result<Self> {
        let socket = world::open(|sockets| sockets.udp(address.is_ipv6()))?;
        Ok(Self { socket, descriptor, site })
    }

    /// A socket of std that was made in this run, taken over with what it has; or, in place of one of the
    /// system's, a simulated socket with the same address of the node that runs, and the same peer where
    /// the given one has one. The given one is kept for its descriptor.
    ///
    /// # Errors
    /// As [`Self::bind`].
    ///
    /// # Panics
    /// Outside of a simulation, in tokio's words.
    #[track_caller]
    pub fn from_std(socket: std::net::UdpSocket) -> io::Result<Self> {
        if let Some(own) = taken(socket.as_raw_fd()) {
            let (own, site) = (own?, Location::caller());
            let descriptor = Descriptor::given_for(socket, &own);
            return Ok(Self { socket: own, descriptor, site });
        }
        let (address, peer) = (socket.local_addr()?, socket.peer_addr().ok());
        let udp = Self::open(address, Location::caller(), Descriptor::given(socket))?;
        udp.socket.bind(address)?;
        udp.socket.register([false, false]);
        if let Some(peer) = peer {
            udp.socket.set_peer(peer)?;
        }
        Ok(udp)
    }

    /// The socket as one of std's, whose calls do not wait unless it is told to.
    ///
    /// # Errors
    /// Where the process has no descriptors left; always, where std's sockets are the system's own.
    pub fn into_std(self) -> io::Result<std::net::UdpSocket> {
        into_fd(self.socket, "UdpSocket").map(std::net::UdpSocket::from)
    }

    /// Its own address.
    ///
    /// # Errors
    /// EBADF where its node has stopped.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// The address of its peer.
    ///
    /// # Errors
    /// ENOTCONN where it has none.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.socket.peer_addr()
    }

    /// From now on it talks to one peer.
    ///
    /// # Errors
    /// Where the address is of the other family or cannot be resolved.
    #[track_caller]
    pub fn connect<A: ToSocketAddrs>(
        &self,
        address: A,
    ) -> impl Future<Output = io::Result<()>> + use<'_, A> {
        let (site, target) = (Location::caller(), address.target());
        async move {
            point(&self.socket, OpKind::Connect, site).await;
            each(target, |address| async move { self.socket.set_peer(address) }).await
        }
    }

    // ------------------------------------------------------------ readiness

    crate::net::methods::ready!();
    crate::net::methods::readable!(poll_recv_ready);
    crate::net::methods::writable!(poll_send_ready);
    crate::net::methods::operations!();

    // ------------------------------------------------------------ sending

    /// Sends to the peer.
    ///
    /// # Errors
    /// EDESTADDRREQ where it has none; EMSGSIZE; ECONNREFUSED for one that went before.
    #[track_caller]
    pub fn send<'a>(&'a self, buf: &'a [u8]) -> impl Future<Output = io::Result<usize>> + 'a {
        self.sending(None, buf, Location::caller())
    }

    async fn sending(&self, to: Option<SocketAddr>, buf: &[u8], site: Site) -> io::Result<usize> {
        let socket = &self.socket;
        wait(socket, OpKind::Send, site, |cx, how| socket.poll_send(cx, how, to, buf)).await
    }

    /// Sends to an address.
    ///
    /// # Errors
    /// EMSGSIZE, EACCES, EINVAL; or a name that cannot be resolved.
    #[track_caller]
    pub fn send_to<'a, A: ToSocketAddrs>(
        &'a self,
        buf: &'a [u8],
        target: A,
    ) -> impl Future<Output = io::Result<usize>> + use<'a, A> {
        let (site, target) = (Location::caller(), target.target());
        async move {
            let none =
                || io::Error::new(io::ErrorKind::InvalidInput, "no addresses to send data to");
            let to = resolve(target).await?.into_iter().next().ok_or_else(none)?;
            self.sending(Some(to), buf, site).await
        }
    }

    /// Polls for sending to the peer.
    ///
    /// # Errors
    /// As [`Self::send`].
    pub fn poll_send(&self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.socket.poll_send(cx, How::poller_at(OpKind::Send, self.site), None, buf)
    }

    /// Polls for sending to an address.
    ///
    /// # Errors
    /// As [`Self::send_to`].
    pub fn poll_send_to(
        &self,
        cx: &mut Context<'_>,
        buf: &[u8],
        target: SocketAddr,
    ) -> Poll<io::Result<usize>> {
        self.socket.poll_send(cx, How::poller_at(OpKind::Send, self.site), Some(target), buf)
    }

    /// Sends to the peer without waiting.
    ///
    /// # Errors
    /// As [`Self::send`].
    #[track_caller]
    pub fn try_send(&self, buf: &[u8]) -> io::Result<usize> {
        self.socket.told(Side::Write)?.try_send(None, buf)
    }

    /// Sends to an address without waiting.
    ///
    /// # Errors
    /// As [`Self::send_to`].
    #[track_caller]
    pub fn try_send_to(&self, buf: &[u8], target: SocketAddr) -> io::Result<usize> {
        self.socket.told(Side::Write)?.try_send(Some(target), buf)
    }

    // ------------------------------------------------------------ receiving

    /// Takes a datagram: as many of its bytes as there is room for.
    ///
    /// # Errors
    /// ECONNREFUSED where nobody took one that was sent.
    #[track_caller]
    pub fn recv<'a>(&'a self, buf: &'a mut [u8]) -> impl Future<Output = io::Result<usize>> + 'a {
        let receiving = self.receiving(buf, false, Location::caller());
        async move { receiving.await.map(|(bytes, _)| bytes) }
    }

    /// Takes a datagram, and says who sent it.
    ///
    /// # Errors
    /// As [`Self::recv`].
    #[track_caller]
    pub fn recv_from<'a>(
        &'a self,
        buf: &'a mut [u8],
    ) -> impl Future<Output = io::Result<(usize, SocketAddr)>> + 'a {
        self.receiving(buf, false, Location::caller())
    }

    async fn receiving(
        &self,
        buf: &mut [u8],
        peeks: bool,
        site: Site,
    ) -> io::Result<(usize, SocketAddr)> {
        let socket = &self.socket;
        wait(socket, OpKind::Recv, site, |cx, how| socket.poll_receive(cx, how, buf, peeks)).await
    }

    /// Polls for a datagram.
    ///
    /// # Errors
    /// As [`Self::recv`].
    pub fn poll_recv(&self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.poll_receiving(cx, buf, false).map_ok(drop)
    }

    /// Polls for a datagram, and says who sent it.
    ///
    /// # Errors
    /// As [`Self::recv`].
    pub fn poll_recv_from(
        &self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<SocketAddr>> {
        self.poll_receiving(cx, buf, false)
    }

    fn poll_receiving(
        &self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
        peeks: bool,
    ) -> Poll<io::Result<SocketAddr>> {
        let how = How::poller_at(OpKind::Recv, self.site);
        let room = buf.initialize_unfilled();
        let (bytes, from) = ready!(self.socket.poll_receive(cx, how, room, peeks))?;
        buf.advance(bytes);
        Poll::Ready(Ok(from))
    }

    /// Takes a datagram without waiting.
    ///
    /// # Errors
    /// `WouldBlock` where there is none; as [`Self::recv`].
    #[track_caller]
    pub fn try_recv(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.try_recv_from(buf).map(|(bytes, _)| bytes)
    }

    /// Takes a datagram without waiting, and says who sent it.
    ///
    /// # Errors
    /// As [`Self::try_recv`].
    #[track_caller]
    pub fn try_recv_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.socket.told(Side::Read)?.try_receive(buf, false)
    }

    /// Takes a datagram behind what the buffer holds, without waiting.
    ///
    /// # Errors
    /// As [`Self::try_recv`].
    #[cfg(feature = "io-util")]
    #[track_caller]
    pub fn try_recv_buf<B: bytes::BufMut>(&self, buf: &mut B) -> io::Result<usize> {
        ready::read_buf(buf, |room| self.try_recv(room))
    }

    /// Takes a datagram behind what the buffer holds, without waiting, and says who sent it.
    ///
    /// # Errors
    /// As [`Self::try_recv`].
    #[cfg(feature = "io-util")]
    #[track_caller]
    pub fn try_recv_buf_from<B: bytes::BufMut>(
        &self,
        buf: &mut B,
    ) -> io::Result<(usize, SocketAddr)> {
        ready::read_buf(buf, |room| self.try_recv_from(room))
    }

    /// Takes a datagram behind what the buffer holds.
    ///
    /// # Errors
    /// As [`Self::recv`].
    #[cfg(feature = "io-util")]
    #[track_caller]
    pub fn recv_buf<'a, B: bytes::BufMut>(
        &'a self,
        buf: &'a mut B,
    ) -> impl Future<Output = io::Result<usize>> + 'a {
        let receiving = self.recv_buf_from(buf);
        async move { receiving.await.map(|(bytes, _)| bytes) }
    }

    /// Takes a datagram behind what the buffer holds, and says who sent it.
    ///
    /// # Errors
    /// As [`Self::recv`].
    #[cfg(feature = "io-util")]
    #[track_caller]
    pub fn recv_buf_from<'a, B: bytes::BufMut>(
        &'a self,
        buf: &'a mut B,
    ) -> impl Future<Output = io::Result<(usize, SocketAddr)>> + 'a {
        let site = Location::caller();
        async move {
            let mut room = vec![0; buf.chunk_mut().len().min(ready::ROOM_BYTES_MAX)];
            let (bytes, from) = self.receiving(&mut room, false, site).await?;
            buf.put_slice(&room[..bytes]);
            Ok((bytes, from))
        }
    }
}

crate::net::methods::try_from_std!(std::net::UdpSocket, UdpSocket);
crate::net::methods::addressed!(UdpSocket);
crate::net::methods::lent!(UdpSocket);
