//! Options of a socket for datagrams, and its groups.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};

use detsim_net::{Number, Options};

use super::UdpSocket;

impl UdpSocket {
    fn options<R>(&self, look: impl FnOnce(&Options) -> R) -> io::Result<R> {
        self.socket.options(look)
    }

    fn set_options(&self, change: impl FnOnce(&mut Options)) -> io::Result<()> {
        self.socket.set_options(change)
    }

    fn number(&self, number: Number) -> io::Result<i32> {
        self.socket.number(number)
    }

    fn set_number(&self, number: Number, value: i32) -> io::Result<()> {
        self.socket.set_number(number, value)
    }

    crate::net::methods::options! {
        /// `SO_BROADCAST`.
        broadcast, set_broadcast: bool = broadcast;
        /// `IP_MULTICAST_LOOP`.
        multicast_loop_v4, set_multicast_loop_v4: bool = multicast_loop_v4;
    }

    crate::net::methods::numbers! {
        /// `IP_MULTICAST_TTL`.
        multicast_ttl_v4, set_multicast_ttl_v4 = MulticastTtl;
        /// `IPV6_TCLASS`.
        tclass_v6, set_tclass_v6 = TrafficClass;
        /// `IP_TTL`.
        ttl, set_ttl = Ttl;
        /// `IP_TOS`.
        tos_v4, set_tos_v4 = Tos;
        /// `IP_TOS`, under its old name.
        tos, set_tos = Tos;
    }

    /// `IPV6_MULTICAST_LOOP`.
    ///
    /// # Errors
    /// EBADF where its node has stopped; EOPNOTSUPP on a socket of IPv4.
    pub fn multicast_loop_v6(&self) -> io::Result<bool> {
        self.number(Number::MulticastLoopV6).map(|number| number != 0)
    }

    /// Sets `IPV6_MULTICAST_LOOP`.
    ///
    /// # Errors
    /// EBADF where its node has stopped; ENOPROTOOPT on a socket of IPv4.
    pub fn set_multicast_loop_v6(&self, on: bool) -> io::Result<()> {
        self.set_number(Number::MulticastLoopV6, on.into())
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
        crate::net::descriptor::check_device(interface)?;
        let device = interface.map(<[u8]>::to_vec);
        self.set_options(|options| options.device = device)
    }

    /// Joins a group. A node has one interface to the others, whichever is named.
    ///
    /// # Errors
    /// EINVAL for what is no group, EADDRINUSE for one joined before.
    pub fn join_multicast_v4(&self, group: Ipv4Addr, _interface: Ipv4Addr) -> io::Result<()> {
        self.socket.set_member(group.into(), true)
    }

    /// Joins a group. A node has one interface to the others, whichever is named.
    ///
    /// # Errors
    /// As [`Self::join_multicast_v4`].
    pub fn join_multicast_v6(&self, group: &Ipv6Addr, _interface: u32) -> io::Result<()> {
        self.socket.set_member((*group).into(), true)
    }

    /// Leaves a group.
    ///
    /// # Errors
    /// EADDRNOTAVAIL for one that was not joined.
    pub fn leave_multicast_v4(&self, group: Ipv4Addr, _interface: Ipv4Addr) -> io::Result<()> {
        self.socket.set_member(group.into(), false)
    }

    /// Leaves a group.
    ///
    /// # Errors
    /// As [`Self::leave_multicast_v4`].
    pub fn leave_multicast_v6(&self, group: &Ipv6Addr, _interface: u32) -> io::Result<()> {
        self.socket.set_member((*group).into(), false)
    }

    /// Takes the error that is pending.
    ///
    /// # Errors
    /// EBADF where its node has stopped.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        self.socket.take_error()
    }
}
