//! Options that are numbers.
//!
//! Owns: [`Number`], and for each the sockets that have it, the values that Linux takes, and what it keeps
//! of them. Does not own: what an option does. Invariant: this is the one way in for a number, so
//! that options never hold one that Linux would refuse.

use std::io;
use std::time::Duration;

use super::Options;
use crate::errno::{Errno, Result};

/// The two bits of `IP_TOS` and `IPV6_TCLASS` that TCP keeps for itself.
const CONGESTION_BITS: u32 = 0b11;

/// An option that is a number, as `setsockopt` takes it: an `int`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Number {
    /// `IP_TTL`: 1 to 255; -1 stands for 64.
    Ttl,
    /// `IP_TOS`: the low eight bits, of which TCP keeps the upper six.
    Tos,
    /// `IPV6_TCLASS`: 0 to 255, of which TCP keeps the upper six bits; -1 stands for 0.
    TrafficClass,
    /// `IPV6_UNICAST_HOPS`: 0 to 255; -1 stands for 64.
    UnicastHops,
    /// `IP_MULTICAST_TTL`, of datagrams: 0 to 255; -1 stands for 1.
    MulticastTtl,
    /// `IPV6_MULTICAST_HOPS`, of datagrams: 0 to 255; -1 stands for 1.
    MulticastHops,
    /// `IPV6_MULTICAST_LOOP`: 0 or 1.
    MulticastLoopV6,
    /// `TCP_KEEPIDLE`, in seconds: 1 to 32,767.
    KeepIdle,
    /// `TCP_KEEPINTVL`, in seconds: 1 to 32,767.
    KeepInterval,
    /// `TCP_KEEPCNT`: 1 to 127.
    KeepCount,
    /// `TCP_USER_TIMEOUT`, in milliseconds, not negative; 0 where there is none.
    UserTimeout,
}

/// What a socket is to its options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Family {
    /// Of IPv6, which has the options of IPv4 as well.
    pub is_v6: bool,
    /// Of TCP; else of UDP.
    pub is_tcp: bool,
}

impl Number {
    fn is_of_v6(self) -> bool {
        matches!(
            self,
            Self::TrafficClass | Self::UnicastHops | Self::MulticastHops | Self::MulticastLoopV6
        )
    }

    fn is_of_tcp(self) -> bool {
        matches!(self, Self::KeepIdle | Self::KeepInterval | Self::KeepCount | Self::UserTimeout)
    }

    fn is_had_by(self, family: Family) -> bool {
        (family.is_v6 || !self.is_of_v6()) && (family.is_tcp || !self.is_of_tcp())
    }

    /// What Linux makes of a value for a socket that has the option.
    fn checked(self, family: Family, value: i32) -> Result<u32> {
        // TCP has these options, and takes nothing for them.
        match self {
            Self::MulticastTtl if family.is_tcp => return Err(Errno::INVALID),
            Self::MulticastHops if family.is_tcp => return Err(Errno::NO_SUCH_OPTION),
            _ => {}
        }
        let (default, range) = match self {
            Self::Ttl => (Some(64), 1..=255),
            Self::Tos => (None, i32::MIN..=i32::MAX),
            Self::TrafficClass => (Some(0), 0..=255),
            Self::UnicastHops => (Some(64), 0..=255),
            Self::MulticastTtl | Self::MulticastHops => (Some(1), 0..=255),
            Self::MulticastLoopV6 => (None, 0..=1),
            Self::KeepIdle | Self::KeepInterval => (None, 1..=32_767),
            Self::KeepCount => (None, 1..=127),
            Self::UserTimeout => (None, 0..=i32::MAX),
        };
        let value = default.filter(|_| value == -1).unwrap_or(value);
        if !range.contains(&value) {
            return Err(Errno::INVALID);
        }
        let value = value.cast_unsigned();
        Ok(match self {
            Self::Tos | Self::TrafficClass if family.is_tcp => value & 0xff & !CONGESTION_BITS,
            Self::Tos => value & 0xff,
            _ => value,
        })
    }
}

impl Options {
    /// Sets an option that is a number, for a socket of this family.
    ///
    /// # Errors
    /// EINVAL for a value that Linux does not take, ENOPROTOOPT where such a socket has no such option.
    pub fn set_number(&mut self, family: Family, number: Number, value: i32) -> io::Result<()> {
        Ok(self.change_number(family, number, value)?)
    }

    pub(crate) fn change_number(
        &mut self,
        family: Family,
        number: Number,
        value: i32,
    ) -> Result<()> {
        if !number.is_had_by(family) {
            return Err(Errno::NO_SUCH_OPTION);
        }
        let value = number.checked(family, value)?;
        match number {
            Number::Ttl => self.ttl = value,
            Number::Tos => self.tos = value,
            Number::TrafficClass => self.traffic_class = value,
            Number::UnicastHops => self.hops_v6 = value,
            Number::MulticastTtl => self.multicast_ttl_v4 = value,
            Number::MulticastHops => self.multicast_hops_v6 = value,
            Number::MulticastLoopV6 => self.multicast_loop_v6 = value != 0,
            Number::KeepIdle => self.keep_idle = Duration::from_secs(value.into()),
            Number::KeepInterval => self.keep_interval = Duration::from_secs(value.into()),
            Number::KeepCount => self.keep_count = value,
            Number::UserTimeout => {
                let timeout = Duration::from_millis(value.into());
                self.user_timeout = Some(timeout).filter(|timeout| !timeout.is_zero());
            }
        }
        Ok(())
    }

    /// An option that is a number, of a socket of this family.
    ///
    /// # Errors
    /// EOPNOTSUPP or ENOPROTOOPT, as Linux has it, where such a socket has no such option.
    pub fn number(&self, family: Family, number: Number) -> io::Result<i32> {
        Ok(self.read_number(family, number)?)
    }

    pub(crate) fn read_number(&self, family: Family, number: Number) -> Result<i32> {
        if !number.is_had_by(family) {
            let of_v6 = family.is_v6;
            return Err(if of_v6 { Errno::NO_SUCH_OPTION } else { Errno::NOT_SUPPORTED });
        }
        // Whatever was set fitted.
        Ok(match number {
            Number::Ttl => self.ttl.cast_signed(),
            Number::Tos => self.tos.cast_signed(),
            Number::TrafficClass => self.traffic_class.cast_signed(),
            Number::UnicastHops => self.hops_v6.cast_signed(),
            Number::MulticastTtl => self.multicast_ttl_v4.cast_signed(),
            Number::MulticastHops => self.multicast_hops_v6.cast_signed(),
            Number::MulticastLoopV6 => self.multicast_loop_v6.into(),
            Number::KeepIdle => self.keep_idle.as_secs() as i32,
            Number::KeepInterval => self.keep_interval.as_secs() as i32,
            Number::KeepCount => self.keep_count.cast_signed(),
            Number::UserTimeout => {
                self.user_timeout.map_or(0, |timeout| timeout.as_millis() as i32)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TCP: [Family; 2] =
        [Family { is_v6: false, is_tcp: true }, Family { is_v6: true, is_tcp: true }];
    const UDP: [Family; 2] =
        [Family { is_v6: false, is_tcp: false }, Family { is_v6: true, is_tcp: false }];

    /// What a new option reads as after it was set, or the errno.
    fn set(family: Family, number: Number, value: i32) -> std::result::Result<i32, i32> {
        let mut options = Options::default();
        options.change_number(family, number, value).map_err(|errno| errno.0)?;
        options.read_number(family, number).map_err(|errno| errno.0)
    }

    #[test]
    fn keepalive_is_of_tcp_and_has_bounds() {
        for number in [Number::KeepIdle, Number::KeepInterval] {
            let values = [0, 1, 32_767, 32_768, -1].map(|value| set(TCP[0], number, value));
            assert_eq!(values, [Err(22), Ok(1), Ok(32_767), Err(22), Err(22)]);
        }
        let counts = [0, 1, 127, 128].map(|value| set(TCP[1], Number::KeepCount, value));
        assert_eq!(counts, [Err(22), Ok(1), Ok(127), Err(22)]);
        let times = [-1, 0, 1, i32::MAX].map(|value| set(TCP[1], Number::UserTimeout, value));
        assert_eq!(times, [Err(22), Ok(0), Ok(1), Ok(i32::MAX)]);
        assert_eq!(UDP.map(|family| set(family, Number::KeepIdle, 1)), [Err(92); 2]);
        let read = |family| Options::default().read_number(family, Number::KeepIdle);
        assert_eq!(UDP.map(read), [Err(Errno(95)), Err(Errno(92))]);
    }

    #[test]
    fn a_stream_takes_no_ttl_of_groups() {
        let on = |families: [Family; 2]| families.map(|of| set(of, Number::MulticastTtl, 1));
        assert_eq!((on(TCP), on(UDP)), ([Err(22); 2], [Ok(1); 2]));
        assert_eq!(Options::default().read_number(TCP[0], Number::MulticastTtl), Ok(1));
    }

    #[test]
    fn hops_are_of_v6_and_no_ttl() {
        for [v4, v6] in [TCP, UDP] {
            let values = [-2, -1, 0, 1, 255, 256].map(|value| set(v6, Number::UnicastHops, value));
            assert_eq!(values, [Err(22), Ok(64), Ok(0), Ok(1), Ok(255), Err(22)]);
            assert_eq!(set(v4, Number::UnicastHops, 1), Err(92));
            let mut options = Options::default();
            options.change_number(v6, Number::UnicastHops, 7).unwrap();
            assert_eq!(options.read_number(v6, Number::Ttl), Ok(64));
        }
    }

    #[test]
    fn lingering_is_whole_seconds() {
        let mut options = Options::default();
        options.set_linger(Some(Duration::from_millis(1_999)));
        assert_eq!(options.linger(), Some(Duration::from_secs(1)));
        options.set_linger(Some(Duration::from_secs(1 << 32)));
        assert_eq!(options.linger(), Some(Duration::ZERO));
    }
}
