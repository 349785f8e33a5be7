//! Local datagrams.
//!
//! Mirrors tokio's. Owns: [`UnixDatagram`].

use std::io;
use std::net::Shutdown;
use std::os::fd::AsRawFd;
use std::os::unix::net;
use std::panic::Location;
use std::path::Path;
use std::task::{Context, Poll, ready};

use detsim::__private::local;
use detsim_executor::OpKind;
use detsim_net::{How, Side, Socket, Sockets};
use tokio::io::ReadBuf;
use tokio::net::unix::SocketAddr;

use crate::net::descriptor::{Descriptor, into_fd, no_peer, taken};
#[cfg(feature = "io-util")]
use crate::net::ready;
use crate::net::ready::{Site, wait};
use crate::net::unix::{address_of, name_of_address, path_name_of};
use crate::net::world;

/// A local socket for datagrams.
pub struct UnixDatagram {
    socket: Socket,
    descriptor: Descriptor,
    site: Site,
}

impl UnixDatagram {
    #[track_caller]
    pub(super) fn new(socket: Socket, descriptor: Descriptor) -> Self {
        socket.register([false, false]);
        Self { socket, descriptor, site: Location::caller() }
    }

    /// A socket under a path, where it makes a file.
    ///
    /// # Errors
    /// EADDRINUSE where there is a file; those of walking a path.
    ///
    /// # Panics
    /// Outside of a simulation, in tokio's words.
    #[track_caller]
    pub fn bind<P: AsRef<Path>>(path: P) -> io::Result<Self> {
        let (datagram, name) = (Self::unbound()?, path_name_of(path.as_ref())?);
        world::inside(|| local::bind(&datagram.socket, name))?;
        Ok(datagram)
    }

    /// A socket without a name.
    ///
    /// # Errors
    /// None in a simulation.
    ///
    /// # Panics
    /// Outside of a simulation, in tokio's words.
    #[track_caller]
    pub fn unbound() -> io::Result<Self> {
        Ok(Self::new(world::open(Sockets::unix_datagram)?, Descriptor::default()))
    }

    /// Two sockets, connected.
    ///
    /// # Errors
    /// None in a simulation.
    ///
    /// # Panics
    /// Outside of a simulation, in tokio's words.
    #[track_caller]
    pub fn pair() -> io::Result<(Self, Self)> {
        let both = world::open(Sockets::unix_datagram_pair)?;
        let [a, b] = both.map(|socket| Self::new(socket, Descriptor::default()));
        [&a, &b].into_iter().for_each(|end| end.socket.register([false, true]));
        Ok((a, b))
    }

    /// A socket of std that was made in this run, taken over with what it has; or, in place of one of the
    /// system's, a simulated socket with the same name. The given one is kept for its descriptor.
    ///
    /// # Errors
    /// As [`Self::bind`]; where one of the system's has a peer.
    ///
    /// # Panics
    /// Outside of a simulation, in tokio's words.
    #[track_caller]
    pub fn from_std(datagram: net::UnixDatagram) -> io::Result<Self> {
        if let Some(socket) = taken(datagram.as_raw_fd()) {
            let socket = socket?;
            let descriptor = Descriptor::given_for(datagram, &socket);
            return Ok(Self::new(socket, descriptor));
        }
        let socket = world::open(Sockets::unix_datagram)?;
        if datagram.peer_addr().is_ok() {
            return Err(no_peer("UnixDatagram"));
        }
        let name = name_of_address(&datagram.local_addr()?.into());
        if !name.is_empty() {
            world::inside(|| local::bind_in_place(&socket, name))?;
        }
        Ok(Self::new(socket, Descriptor::given(datagram)))
    }

    /// The socket as one of std's, whose calls do not wait unless it is told to.
    ///
    /// # Errors
    /// Where the process has no descriptors left; always, where std's sockets are the system's own.
    pub fn into_std(self) -> io::Result<net::UnixDatagram> {
        into_fd(self.socket, "UnixDatagram").map(net::UnixDatagram::from)
    }

    /// From now on it talks to whoever has this name.
    ///
    /// # Errors
    /// ENOENT, ECONNREFUSED, EPROTOTYPE.
    pub fn connect<P: AsRef<Path>>(&self, path: P) -> io::Result<()> {
        let name = path_name_of(path.as_ref())?;
        self.socket.set_peer_name(Some(&world::inside(|| local::find(&name))))
    }

    /// Its own address.
    ///
    /// # Errors
    /// EBADF where its node has stopped.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        address_of(&self.socket.local_name()?)
    }

    /// The address of its peer.
    ///
    /// # Errors
    /// ENOTCONN where it has none.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        address_of(&self.socket.peer_name()?)
    }

    /// Takes the error that is pending: there is never one.
    ///
    /// # Errors
    /// EBADF where its node has stopped.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        self.socket.take_error()
    }

    /// Closes one direction, or both. An async receive of what is shut for reading never ends once the queue is
    /// empty: tokio turns in a circle there, and here it is reported as a wait. [`Self::try_recv`] gives
    /// `WouldBlock`.
    ///
    /// # Errors
    /// EBADF where its node has stopped.
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        let shut = match how {
            Shutdown::Read => [true, false],
            Shutdown::Write => [false, true],
            Shutdown::Both => [true, true],
        };
        self.socket.shutdown_ways(shut)
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
    /// ENOTCONN where it has none; ECONNREFUSED where it is gone; EMSGSIZE.
    #[track_caller]
    pub fn send<'a>(&'a self, buf: &'a [u8]) -> impl Future<Output = io::Result<usize>> + 'a {
        let site = Location::caller();
        async move {
            let socket = &self.socket;
            wait(socket, OpKind::Send, site, |cx, how| socket.poll_send_name(cx, how, None, buf))
                .await
        }
    }

    /// Sends to whoever has a name.
    ///
    /// # Errors
    /// ENOENT, ECONNREFUSED, EMSGSIZE.
    #[track_caller]
    pub fn send_to<'a, P: AsRef<Path>>(
        &'a self,
        buf: &'a [u8],
        target: P,
    ) -> impl Future<Output = io::Result<usize>> + use<'a, P> {
        let (site, name) = (Location::caller(), path_name_of(target.as_ref()));
        async move {
            let (socket, to) = (&self.socket, name?);
            let sent = wait(socket, OpKind::Send, site, |cx, how| {
                socket.poll_send_name(cx, how, Some(&local::find(&to)), buf)
            });
            sent.await
        }
    }

    /// Polls for sending to the peer.
    ///
    /// # Errors
    /// As [`Self::send`].
    pub fn poll_send(&self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.socket.poll_send_name(cx, How::poller_at(OpKind::Send, self.site), None, buf)
    }

    /// Polls for sending to whoever has a name.
    ///
    /// # Errors
    /// As [`Self::send_to`].
    pub fn poll_send_to<P: AsRef<Path>>(
        &self,
        cx: &mut Context<'_>,
        buf: &[u8],
        target: P,
    ) -> Poll<io::Result<usize>> {
        let (name, how) = (path_name_of(target.as_ref())?, How::poller_at(OpKind::Send, self.site));
        self.socket.poll_send_name(cx, how, Some(&local::find(&name)), buf)
    }

    /// Sends to the peer without waiting.
    ///
    /// # Errors
    /// `WouldBlock` while the peer's queue is full; as [`Self::send`].
    #[track_caller]
    pub fn try_send(&self, buf: &[u8]) -> io::Result<usize> {
        self.socket.told(Side::Write)?.try_send_name(None, buf)
    }

    /// Sends to whoever has a name, without waiting.
    ///
    /// # Errors
    /// `WouldBlock` while the queue is full; as [`Self::send_to`].
    #[track_caller]
    pub fn try_send_to<P: AsRef<Path>>(&self, buf: &[u8], target: P) -> io::Result<usize> {
        let name = path_name_of(target.as_ref())?;
        self.socket
            .told(Side::Write)?
            .try_send_name(Some(&world::inside(|| local::find(&name))), buf)
    }

    // ------------------------------------------------------------ receiving

    /// Takes a datagram: as many of its bytes as there is room for.
    ///
    /// # Errors
    /// EBADF where its node has stopped.
    #[track_caller]
    pub fn recv<'a>(&'a self, buf: &'a mut [u8]) -> impl Future<Output = io::Result<usize>> + 'a {
        let receiving = self.receiving(buf, Location::caller());
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
        self.receiving(buf, Location::caller())
    }

    async fn receiving(&self, buf: &mut [u8], site: Site) -> io::Result<(usize, SocketAddr)> {
        let socket = &self.socket;
        let (bytes, from) =
            wait(socket, OpKind::Recv, site, |cx, how| socket.poll_receive_name(cx, how, buf))
                .await?;
        Ok((bytes.min(buf.len()), address_of(&from)?))
    }

    /// Polls for a datagram.
    ///
    /// # Errors
    /// As [`Self::recv`].
    pub fn poll_recv(&self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.poll_recv_from(cx, buf).map_ok(drop)
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
        let how = How::poller_at(OpKind::Recv, self.site);
        let room = buf.initialize_unfilled();
        let (bytes, from) = ready!(self.socket.poll_receive_name(cx, how, room))?;
        let bytes = bytes.min(room.len());
        buf.advance(bytes);
        Poll::Ready(address_of(&from))
    }

    /// Takes a datagram without waiting.
    ///
    /// # Errors
    /// `WouldBlock` where there is none.
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
        let (bytes, from) = self.socket.told(Side::Read)?.try_receive_name(buf, false)?;
        Ok((bytes.min(buf.len()), address_of(&from)?))
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
            let (bytes, from) = self.receiving(&mut room, site).await?;
            buf.put_slice(&room[..bytes]);
            Ok((bytes, from))
        }
    }
}

crate::net::methods::try_from_std!(net::UnixDatagram, UnixDatagram);
crate::net::methods::addressed!(UnixDatagram);
crate::net::methods::lent!(UnixDatagram);
