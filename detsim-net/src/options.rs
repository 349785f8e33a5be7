//! The options of a socket.
//!
//! Owns: [`Options`], with Linux's defaults. Does not own: which numbers may be set (`options/number.rs`), or
//! what an option does.
//!
//! # What is kept and does nothing
//! These read as they were set, have Linux's bounds, and nothing else: `IP_TTL`, `IP_TOS` and their like of IPv6
//! (`IPV6_MULTICAST_HOPS` among them), `IP_MULTICAST_IF` (a node has one interface, which every group is on),
//! `TCP_QUICKACK`; and, as descriptors have them: `SO_PRIORITY`, `SO_MARK`, `SO_INCOMING_CPU`, `SO_BUSY_POLL`,
//! `TCP_CORK`, `TCP_MAXSEG`, `TCP_NOTSENT_LOWAT`, `TCP_CONGESTION`, `TCP_FASTOPEN`, and those that ask for more
//! beside a datagram (`IP_RECVTOS`, `IP_PKTINFO`, `IPV6_RECVTCLASS`, `IPV6_RECVHOPLIMIT`, ..), which comes without.
//! `SO_OOBINLINE`, `SO_PASSCRED`, `IP_FREEBIND`, `IP_TRANSPARENT`, `TCP_FASTOPEN_CONNECT`, filters, sources of groups would change what one
//! sees: turning one on is ENOPROTOOPT.

mod number;

use std::net::Ipv4Addr;
use std::time::Duration;

pub use self::number::{Family, Number};

/// The options of a socket, as `setsockopt` knows them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// `TCP_NODELAY`: a small segment does not wait for the acknowledgement of the one before.
    pub nodelay: bool,
    /// `TCP_QUICKACK`. The acknowledgements of the simulation are quick whatever it says.
    pub quickack: bool,
    /// `SO_KEEPALIVE`: a peer that is gone is noticed while nothing is sent.
    pub keepalive: bool,
    /// `TCP_KEEPIDLE`: silence before the first question, in whole seconds.
    pub(crate) keep_idle: Duration,
    /// `TCP_KEEPINTVL`: the time between two questions.
    pub(crate) keep_interval: Duration,
    /// `TCP_KEEPCNT`: questions without an answer before the connection has failed.
    pub(crate) keep_count: u32,
    /// `TCP_USER_TIMEOUT`: how long bytes may stay without acknowledgement; `None` where retransmissions are
    /// counted instead.
    pub(crate) user_timeout: Option<Duration>,
    /// `SO_REUSEADDR`.
    pub reuse_address: bool,
    /// `SO_REUSEPORT`.
    pub reuse_port: bool,
    /// `SO_LINGER`: with zero, closing resets the connection.
    pub(crate) linger: Option<Duration>,
    /// `IP_TTL`.
    pub(crate) ttl: u32,
    /// `IPV6_UNICAST_HOPS`.
    pub(crate) hops_v6: u32,
    /// `IP_TOS`.
    pub(crate) tos: u32,
    /// `IPV6_TCLASS`.
    pub(crate) traffic_class: u32,
    /// `SO_SNDBUF`, in bytes, doubled as Linux does; `None` where it was never set.
    pub send_buffer: Option<u32>,
    /// `SO_RCVBUF`, in bytes, doubled as Linux does; `None` where it was never set.
    pub receive_buffer: Option<u32>,
    /// `SO_BINDTODEVICE`.
    pub device: Option<Vec<u8>>,
    /// `IPV6_V6ONLY`: a wildcard of IPv6 takes no IPv4.
    pub only_v6: bool,
    /// `SO_BROADCAST`.
    pub broadcast: bool,
    /// `IP_RECVERR`: who is not connected hears of unreachable ports too.
    pub receives_errors: bool,
    /// `IP_MULTICAST_LOOP`.
    pub multicast_loop_v4: bool,
    /// `IPV6_MULTICAST_LOOP`.
    pub(crate) multicast_loop_v6: bool,
    /// `IP_MULTICAST_TTL`.
    pub(crate) multicast_ttl_v4: u32,
    /// `IP_MULTICAST_ALL`: groups that others of the host are members of are heard as well. Sockets of IPv6 begin
    /// without.
    pub multicast_all_v4: bool,
    /// `IPV6_MULTICAST_ALL`.
    pub multicast_all_v6: bool,
    /// `IPV6_MULTICAST_HOPS`.
    pub(crate) multicast_hops_v6: u32,
    /// `IP_MULTICAST_IF`, as the address of an interface; a node has one, which every group is on.
    pub(crate) multicast_interface: Ipv4Addr,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            nodelay: false,
            quickack: true,
            keepalive: false,
            keep_idle: Duration::from_secs(7_200),
            keep_interval: Duration::from_secs(75),
            keep_count: 9,
            user_timeout: None,
            reuse_address: false,
            reuse_port: false,
            linger: None,
            ttl: 64,
            hops_v6: 64,
            tos: 0,
            traffic_class: 0,
            send_buffer: None,
            receive_buffer: None,
            device: None,
            only_v6: false,
            broadcast: false,
            receives_errors: false,
            multicast_loop_v4: true,
            multicast_loop_v6: true,
            multicast_ttl_v4: 1,
            multicast_all_v4: true,
            multicast_all_v6: true,
            multicast_hops_v6: 1,
            multicast_interface: Ipv4Addr::UNSPECIFIED,
        }
    }
}

impl Options {
    /// `SO_LINGER`: with zero, closing resets the connection.
    pub fn linger(&self) -> Option<Duration> {
        self.linger
    }

    /// Sets `SO_LINGER`, of which Linux takes the whole seconds, as an `int`.
    pub fn set_linger(&mut self, linger: Option<Duration>) {
        let seconds = |linger: Duration| i64::from(linger.as_secs() as i32).cast_unsigned();
        self.linger = linger.map(seconds).map(Duration::from_secs);
    }

    /// `SO_SNDBUF` of TCP as it reads: Linux's default before it is set.
    pub fn send_buffer_size(&self) -> u32 {
        self.send_buffer.unwrap_or(16_384)
    }

    /// `SO_RCVBUF` of TCP as it reads: Linux's default before it is set.
    pub fn receive_buffer_size(&self) -> u32 {
        self.receive_buffer.unwrap_or(131_072)
    }

    /// Sets `SO_SNDBUF`: Linux keeps the double, and no less than this.
    pub fn set_send_buffer_size(&mut self, bytes: u32) {
        self.send_buffer = Some(bytes.saturating_mul(2).clamp(4_608, 8 << 20));
    }

    /// Sets `SO_RCVBUF`: Linux keeps the double, and no less than this.
    pub fn set_receive_buffer_size(&mut self, bytes: u32) {
        self.receive_buffer = Some(bytes.saturating_mul(2).clamp(2_304, 8 << 20));
    }
}
