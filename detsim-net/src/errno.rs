//! What Linux would say.
//!
//! Owns: [`Errno`], the numbers that sockets give. Does not own: when. Invariant: an error that
//! leaves this crate has the number of Linux, so that kind and text are std's own.

use std::io;

/// A number of `errno`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Errno(pub(crate) i32);

/// What an operation inside the network gives.
pub(crate) type Result<T> = std::result::Result<T, Errno>;

impl Errno {
    pub(crate) const NOT_PERMITTED: Self = Self(1);
    pub(crate) const BAD_FILE: Self = Self(9);
    /// Not ready: the operation would block.
    pub(crate) const AGAIN: Self = Self(11);
    pub(crate) const ACCESS: Self = Self(13);
    pub(crate) const INVALID: Self = Self(22);
    pub(crate) const BROKEN_PIPE: Self = Self(32);
    pub(crate) const PROTOCOL: Self = Self(71);
    pub(crate) const NOT_A_SOCKET: Self = Self(88);
    pub(crate) const DESTINATION_REQUIRED: Self = Self(89);
    pub(crate) const MESSAGE_SIZE: Self = Self(90);
    pub(crate) const WRONG_TYPE: Self = Self(91);
    pub(crate) const NO_SUCH_OPTION: Self = Self(92);
    pub(crate) const NOT_SUPPORTED: Self = Self(95);
    pub(crate) const FAMILY: Self = Self(97);
    pub(crate) const ADDRESS_IN_USE: Self = Self(98);
    pub(crate) const ADDRESS_NOT_AVAILABLE: Self = Self(99);
    pub(crate) const NETWORK_UNREACHABLE: Self = Self(101);
    pub(crate) const RESET: Self = Self(104);
    pub(crate) const IS_CONNECTED: Self = Self(106);
    pub(crate) const NOT_CONNECTED: Self = Self(107);
    pub(crate) const TIMED_OUT: Self = Self(110);
    pub(crate) const REFUSED: Self = Self(111);
    pub(crate) const ALREADY: Self = Self(114);
}

impl From<Errno> for io::Error {
    fn from(errno: Errno) -> Self {
        Self::from_raw_os_error(errno.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::ErrorKind;

    #[test]
    fn std_knows_the_numbers() {
        let kind = |errno: Errno| io::Error::from(errno).kind();
        assert_eq!(kind(Errno::AGAIN), ErrorKind::WouldBlock);
        assert_eq!(kind(Errno::BROKEN_PIPE), ErrorKind::BrokenPipe);
        assert_eq!(kind(Errno::ADDRESS_IN_USE), ErrorKind::AddrInUse);
        assert_eq!(kind(Errno::ADDRESS_NOT_AVAILABLE), ErrorKind::AddrNotAvailable);
        assert_eq!(kind(Errno::RESET), ErrorKind::ConnectionReset);
        assert_eq!(kind(Errno::NOT_CONNECTED), ErrorKind::NotConnected);
        assert_eq!(kind(Errno::TIMED_OUT), ErrorKind::TimedOut);
        assert_eq!(kind(Errno::REFUSED), ErrorKind::ConnectionRefused);
        assert_eq!(kind(Errno::INVALID), ErrorKind::InvalidInput);
    }
}
