//! The file descriptor of a simulated socket.
//!
//! Owns: [`Descriptor`], a real socket that is connected to nothing and is made when somebody asks for it. Does
//! not own: options: what is set through the descriptor reaches the real socket only.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::OnceLock;

/// See the module's documentation.
#[derive(Debug, Default)]
pub(crate) struct Descriptor(OnceLock<Real>);

#[derive(Debug)]
enum Real {
    Fresh(tokio::net::TcpSocket),
    /// What a program made itself and handed over.
    Given(OwnedFd),
}

impl Descriptor {
    /// That of a socket of std which a simulated one takes the place of.
    pub(crate) fn given(fd: impl Into<OwnedFd>) -> Self {
        Self(OnceLock::from(Real::Given(fd.into())))
    }

    /// # Panics
    /// Where the process has no descriptors left.
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        let fresh = || tokio::net::TcpSocket::new_v4().map(Real::Fresh);
        let real = self.0.get_or_init(|| fresh().expect("a descriptor for a simulated socket"));
        match real {
            Real::Fresh(socket) => socket.as_fd(),
            Real::Given(fd) => fd.as_fd(),
        }
    }

    pub(crate) fn raw_fd(&self) -> RawFd {
        self.fd().as_raw_fd()
    }
}

/// A simulated socket cannot become one of the operating system's.
pub(crate) fn no_std(what: &str) -> io::Error {
    let text = format!(
        "detsim: a simulated {what} is no socket of the operating system; it cannot be taken out of \
         the simulation; use it as it is"
    );
    io::Error::new(io::ErrorKind::Unsupported, text)
}

/// A connected socket of the operating system leads out of the simulation.
pub(crate) fn no_peer(what: &str) -> io::Error {
    let text = format!(
        "detsim: a connected std {what} leads out of the simulation; its peer is not simulated; \
         connect with tokio's own types instead"
    );
    io::Error::new(io::ErrorKind::Unsupported, text)
}

/// A node has the interfaces `lo` and `eth0`.
///
/// # Errors
/// ENODEV for any other.
pub(crate) fn check_device(interface: Option<&[u8]>) -> io::Result<()> {
    const NO_DEVICE: i32 = 19;
    match interface {
        None | Some(b"lo" | b"eth0") => Ok(()),
        Some(_) => Err(io::Error::from_raw_os_error(NO_DEVICE)),
    }
}
