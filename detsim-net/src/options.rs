//! The options of a socket.
//!
//! Owns: [`Options`], with Linux's defaults. Does not own: which numbers may be set (`options/number.rs`), or
//! what an option does.

mod number;

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

    /// `SO_SNDBUF` as it reads: Linux's default before it is set.
    pub fn send_buffer_size(&self) -> u32 {
        self.send_buffer.unwrap_or(16_384)
    }

    /// `SO_RCVBUF` as it reads: Linux's default before it is set.
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
