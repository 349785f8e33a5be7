//! A socket that is neither connected nor listening yet.
//!
//! Mirrors tokio's. Owns: [`TcpSocket`], whose options go over to what it becomes.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::panic::Location;
use std::time::Duration;

use detsim_executor::OpKind;
use detsim_net::{Family, Number, Options, Socket};

use crate::context::missing;
use crate::net::descriptor::{Descriptor, check_device, into_fd, no_peer, taken};
use crate::net::ready::point;
use crate::net::tcp::listener::TcpListener;
use crate::net::tcp::stream::TcpStream;
use crate::net::world;
use crate::runtime::scope;

/// A socket that is neither connected nor listening yet.
pub struct TcpSocket {
    kind: Kind,
    descriptor: Descriptor,
}

/// tokio makes one where no runtime is, for its options; so it waits for a simulation.
enum Kind {
    Simulated(Socket),
    Outside {
        is_v6: bool,
        options: Box<std::sync::Mutex<Options>>,
    },
    /// What cannot be simulated says so when it is to be used.
    Refused,
}

impl TcpSocket {
    /// For IPv4.
    ///
    /// # Errors
    /// None in a simulation.
    #[track_caller]
    pub fn new_v4() -> io::Result<Self> {
        Ok(Self::new(false, Descriptor::default()))
    }

    /// For IPv6.
    ///
    /// # Errors
    /// None in a simulation.
    #[track_caller]
    pub fn new_v6() -> io::Result<Self> {
        Ok(Self::new(true, Descriptor::default()))
    }

    #[track_caller]
    fn new(is_v6: bool, descriptor: Descriptor) -> Self {
        // It belongs to a runtime when it connects or listens; where that is gone, it is an error then.
        let simulated = scope::current().and_then(|_| world::tcp(is_v6).ok());
        let outside = || Kind::Outside { is_v6, options: Box::default() };
        let kind = simulated.map_or_else(outside, Kind::Simulated);
        Self { kind, descriptor }
    }

    crate::net::methods::options! {
        /// `SO_KEEPALIVE`.
        keepalive, set_keepalive: bool = keepalive;
        /// `SO_REUSEADDR`.
        reuseaddr, set_reuseaddr: bool = reuse_address;
        /// `SO_REUSEPORT`.
        reuseport, set_reuseport: bool = reuse_port;
        /// `TCP_NODELAY`.
        nodelay, set_nodelay: bool = nodelay;
    }

    crate::net::methods::numbers! {
        /// `IP_TOS`, without the bits that are TCP's own.
        tos_v4, set_tos_v4 = Tos;
        /// `IP_TOS`, under its old name.
        tos, set_tos = Tos;
        /// `IPV6_TCLASS`, without the bits that are TCP's own.
        tclass_v6, set_tclass_v6 = TrafficClass;
    }

    /// `SO_LINGER`: with zero, closing resets the connection.
    ///
    /// # Errors
    /// EBADF where its node has stopped.
    pub fn linger(&self) -> io::Result<Option<Duration>> {
        self.options(Options::linger)
    }

    /// Sets `SO_LINGER`, in whole seconds: with zero, closing resets the connection.
    ///
    /// # Errors
    /// EBADF where its node has stopped.
    #[deprecated = "dropping a socket that lingers blocks the thread; `set_zero_linger` does not"]
    pub fn set_linger(&self, linger: Option<Duration>) -> io::Result<()> {
        self.set_options(|options| options.set_linger(linger))
    }

    /// Closing resets the connection.
    ///
    /// # Errors
    /// EBADF where its node has stopped.
    pub fn set_zero_linger(&self) -> io::Result<()> {
        self.set_options(|options| options.set_linger(Some(Duration::ZERO)))
    }

    /// `SO_SNDBUF`, which is twice what was set, as on Linux.
    ///
    /// # Errors
    /// EBADF where its node has stopped.
    pub fn send_buffer_size(&self) -> io::Result<u32> {
        self.options(Options::send_buffer_size)
    }

    /// Sets `SO_SNDBUF`.
    ///
    /// # Errors
    /// EBADF where its node has stopped.
    pub fn set_send_buffer_size(&self, bytes: u32) -> io::Result<()> {
        self.set_options(|options| options.set_send_buffer_size(bytes))
    }

    /// `SO_RCVBUF`, which is twice what was set, as on Linux.
    ///
    /// # Errors
    /// EBADF where its node has stopped.
    pub fn recv_buffer_size(&self) -> io::Result<u32> {
        self.options(Options::receive_buffer_size)
    }

    /// Sets `SO_RCVBUF`.
    ///
    /// # Errors
    /// EBADF where its node has stopped.
    pub fn set_recv_buffer_size(&self, bytes: u32) -> io::Result<()> {
        self.set_options(|options| options.set_receive_buffer_size(bytes))
    }

    /// `SO_BINDTODEVICE`.
    ///
    /// # Errors
    /// EBADF where its node has stopped.
    pub fn device(&self) -> io::Result<Option<Vec<u8>>> {
        self.options(|options| options.device.clone())
    }

    /// Sets `SO_BINDTODEVICE`: a node has the interfaces `lo` and `eth0`.
    ///
    /// # Errors
    /// ENODEV for any other.
    pub fn bind_device(&self, interface: Option<&[u8]>) -> io::Result<()> {
        check_device(interface)?;
        let device = interface.map(<[u8]>::to_vec);
        self.set_options(|options| options.device = device)
    }

    /// Its address.
    ///
    /// # Errors
    /// EBADF where its node has stopped.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        match &self.kind {
            Kind::Outside { is_v6: false, .. } => Ok(([0, 0, 0, 0], 0).into()),
            Kind::Outside { is_v6: true, .. } => Ok(([0; 16], 0).into()),
            _ => self.socket()?.local_addr(),
        }
    }

    /// Takes the error that is pending.
    ///
    /// # Errors
    /// EBADF where its node has stopped.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        match &self.kind {
            Kind::Outside { .. } => Ok(None),
            _ => self.socket()?.take_error(),
        }
    }

    /// Gives it an address; port 0 means a free one.
    ///
    /// # Errors
    /// As Linux has it: EADDRINUSE, EADDRNOTAVAIL, EINVAL.
    #[track_caller]
    pub fn bind(&self, address: SocketAddr) -> io::Result<()> {
        self.socket()?.bind(address)
    }

    /// Connects.
    ///
    /// # Errors
    /// As Linux has it: ECONNREFUSED, ETIMEDOUT, EADDRNOTAVAIL.
    #[track_caller]
    pub fn connect(self, address: SocketAddr) -> impl Future<Output = io::Result<TcpStream>> {
        let site = Location::caller();
        async move {
            let (socket, descriptor) = self.into_socket()?;
            point(&socket, OpKind::Connect, site).await;
            TcpStream::connecting(socket, descriptor, address, site).await
        }
    }

    /// Takes connections from now on, `backlog` of them unaccepted.
    ///
    /// # Errors
    /// EADDRINUSE.
    #[track_caller]
    pub fn listen(self, backlog: u32) -> io::Result<TcpListener> {
        let (socket, descriptor) = self.into_socket()?;
        socket.listen(backlog)?;
        Ok(TcpListener::new(socket, descriptor))
    }

    /// Its descriptor, with the simulated socket behind it where there is one yet.
    pub(in crate::net) fn into_fd(self) -> io::Result<OwnedFd> {
        match self.kind {
            Kind::Simulated(socket) => into_fd(socket, "TcpSocket"),
            Kind::Outside { .. } | Kind::Refused => self.descriptor.fd().try_clone_to_owned(),
        }
    }

    /// A simulated socket in place of one of std that is not connected, bound to the same address where
    /// that has a port. One that is connected says so when it is used.
    #[track_caller]
    pub fn from_std_stream(stream: std::net::TcpStream) -> Self {
        if let Some(socket) = taken(stream.as_raw_fd()) {
            return match socket {
                Ok(socket) => {
                    let descriptor = Descriptor::given_for(stream, &socket);
                    Self { kind: Kind::Simulated(socket), descriptor }
                }
                Err(_) => Self { kind: Kind::Refused, descriptor: Descriptor::given(stream) },
            };
        }
        let connected = stream.peer_addr().is_ok();
        let local = stream.local_addr().ok();
        let is_v6 = local.is_some_and(|local| local.is_ipv6());
        let descriptor = Descriptor::given(stream);
        if connected {
            return Self { kind: Kind::Refused, descriptor };
        }
        let socket = Self::new(is_v6, descriptor);
        let bound = local.filter(|local| local.port() != 0).map(|local| socket.bind(local));
        match bound {
            Some(Err(_)) => Self { kind: Kind::Refused, ..socket },
            _ => socket,
        }
    }

    fn options<R>(&self, look: impl FnOnce(&Options) -> R) -> io::Result<R> {
        match &self.kind {
            Kind::Outside { options, .. } => Ok(look(&options.lock().expect("no panic in it"))),
            _ => self.socket()?.options(look),
        }
    }

    fn set_options(&self, change: impl FnOnce(&mut Options)) -> io::Result<()> {
        match &self.kind {
            Kind::Outside { options, .. } => {
                change(&mut options.lock().expect("no panic in it"));
                Ok(())
            }
            _ => self.socket()?.set_options(change),
        }
    }

    fn number(&self, number: Number) -> io::Result<i32> {
        match &self.kind {
            Kind::Outside { is_v6, options } => {
                let family = Family { is_v6: *is_v6, is_tcp: true };
                options.lock().expect("no panic in it").number(family, number)
            }
            _ => self.socket()?.number(number),
        }
    }

    fn set_number(&self, number: Number, value: i32) -> io::Result<()> {
        match &self.kind {
            Kind::Outside { is_v6, options } => {
                let family = Family { is_v6: *is_v6, is_tcp: true };
                options.lock().expect("no panic in it").set_number(family, number, value)
            }
            _ => self.socket()?.set_number(number, value),
        }
    }

    #[track_caller]
    fn socket(&self) -> io::Result<&Socket> {
        match &self.kind {
            Kind::Simulated(socket) => Ok(socket),
            Kind::Outside { .. } => missing(),
            Kind::Refused => Err(no_peer("TcpStream")),
        }
    }

    #[track_caller]
    fn into_socket(self) -> io::Result<(Socket, Descriptor)> {
        match self.kind {
            Kind::Simulated(socket) => Ok((socket, self.descriptor)),
            Kind::Outside { is_v6, options } => {
                let socket = world::tcp(is_v6)?;
                let options = options.into_inner().expect("no panic in it");
                socket.set_options(|own| *own = options)?;
                Ok((socket, self.descriptor))
            }
            Kind::Refused => Err(no_peer("TcpStream")),
        }
    }
}

crate::net::methods::addressed!(TcpSocket);
impl AsFd for TcpSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.kind {
            Kind::Simulated(socket) => self.descriptor.fd_of(socket),
            _ => self.descriptor.fd(),
        }
    }
}

impl AsRawFd for TcpSocket {
    fn as_raw_fd(&self) -> RawFd {
        self.as_fd().as_raw_fd()
    }
}
