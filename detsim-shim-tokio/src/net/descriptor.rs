//! The file descriptor of a simulated socket.
//!
//! Owns: [`Descriptor`], a real socket that is connected to nothing and is made when somebody asks for it; and
//! the way between std's sockets of a run and ours. On Linux what a program does with the descriptor of
//! a socket (`socket2`, libc) it does with the simulated one; elsewhere it reaches the real one only.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::OnceLock;

use detsim_net::Socket;

use crate::net::world;

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

    /// That of a simulated socket: what is done with it is done with the socket.
    ///
    /// # Panics
    /// Where the process has no descriptors left.
    pub(crate) fn fd_of(&self, socket: &Socket) -> BorrowedFd<'_> {
        let is_new = self.0.get().is_none();
        let fd = self.made_by(|| fresh(socket));
        if is_new {
            lend(fd.as_raw_fd(), socket);
        }
        fd
    }

    /// One that has nothing behind it.
    ///
    /// # Panics
    /// Where the process has no descriptors left.
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.made_by(fresh_tcp)
    }

    fn made_by(&self, make: impl FnOnce() -> io::Result<Real>) -> BorrowedFd<'_> {
        let _ours = detsim_executor::threads::outside();
        match self.0.get_or_init(|| make().expect("a descriptor for a simulated socket")) {
            Real::Fresh(socket) => socket.as_fd(),
            Real::Given(fd) => fd.as_fd(),
        }
    }

    /// That of a socket of std which a simulated one takes the place of, and is reached by.
    pub(crate) fn given_for(fd: impl Into<OwnedFd>, socket: &Socket) -> Self {
        let fd = fd.into();
        lend(fd.as_raw_fd(), socket);
        Self::given(fd)
    }
}

/// A real socket of the same kind, that leads nowhere.
#[cfg(target_os = "linux")]
fn fresh(socket: &Socket) -> io::Result<Real> {
    detsim::__private::descriptors::real_like(socket).map(Real::Given)
}

/// A real socket that leads nowhere.
#[cfg(not(target_os = "linux"))]
fn fresh(socket: &Socket) -> io::Result<Real> {
    use std::os::unix::net;
    if !socket.is_local().unwrap_or(false) {
        return fresh_tcp();
    }
    let fd = match socket.is_local_datagram()? {
        true => net::UnixDatagram::unbound()?.into(),
        // Nobody makes one end alone.
        false => net::UnixStream::pair()?.0.into(),
    };
    Ok(Real::Given(fd))
}

fn fresh_tcp() -> io::Result<Real> {
    tokio::net::TcpSocket::new_v4().map(Real::Fresh)
}

/// The simulated socket behind a socket of std that was made in this run; `None` where it is a real one. It
/// waits for the runtime of this thread from now on.
///
/// # Errors
/// Where the socket has other descriptors, or tokio's where the runtime has been shut down.
#[track_caller]
pub(crate) fn taken(fd: RawFd) -> Option<io::Result<Socket>> {
    #[cfg(target_os = "linux")]
    return detsim::__private::descriptors::take(fd).map(|taken| {
        let socket = taken?;
        world::open(|sockets| sockets.adopt(&socket))?;
        socket.register([false, false]);
        Ok(socket)
    });
    #[cfg(not(target_os = "linux"))]
    return {
        let _ = fd;
        None
    };
}

/// A socket of std in place of a simulated one, which is behind it from now on.
///
/// # Errors
/// Where the process has no descriptors left, and where std's sockets are the system's own.
pub(crate) fn into_fd(socket: Socket, what: &str) -> io::Result<OwnedFd> {
    #[cfg(target_os = "linux")]
    return {
        let _ = what;
        detsim::__private::descriptors::give(socket)
    };
    #[cfg(not(target_os = "linux"))]
    return {
        drop(socket);
        Err(no_std(what))
    };
}

#[cfg(target_os = "linux")]
pub(crate) use detsim::__private::descriptors::{Watched, watch};

#[cfg(not(target_os = "linux"))]
pub(crate) use self::elsewhere::{Watched, watch};

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    //! Descriptors are the system's own here.

    use std::os::fd::RawFd;
    use std::task::Waker;

    use detsim::__private::{Happened, Wanted};
    use detsim_net::Ticket;

    /// There is none.
    #[derive(Debug)]
    pub(crate) enum Watched {}

    pub(crate) fn watch(_: RawFd, _: Wanted) -> Option<std::io::Result<Watched>> {
        None
    }

    impl Watched {
        pub(crate) fn look(&self) -> Option<(u32, Happened)> {
            match *self {}
        }

        pub(crate) fn enlist(&self, _: &mut Ticket, _: Waker) {
            match *self {}
        }

        pub(crate) fn forget(&self, _: &Ticket) {
            match *self {}
        }
    }
}

fn lend(fd: RawFd, socket: &Socket) {
    #[cfg(target_os = "linux")]
    detsim::__private::descriptors::lend(fd, socket);
    #[cfg(not(target_os = "linux"))]
    let _ = (fd, socket);
}

/// A simulated socket cannot become one of the operating system's.
#[cfg(not(target_os = "linux"))]
fn no_std(what: &str) -> io::Error {
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
