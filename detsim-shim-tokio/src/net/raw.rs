//! Sockets from and to bare descriptors.
//!
//! Owns: the traits of std that tokio has for sockets which are nothing in particular yet. Does not own: the
//! way between a socket and its descriptor (`descriptor.rs`).
#![expect(unsafe_code, reason = "a trait of std demands it")]

use std::net::TcpStream as StdStream;
use std::os::fd::{FromRawFd, IntoRawFd, OwnedFd, RawFd};

use super::{TcpSocket, UnixSocket};

impl FromRawFd for TcpSocket {
    /// As [`TcpSocket::from_std_stream`].
    unsafe fn from_raw_fd(fd: RawFd) -> Self {
        // SAFETY: the caller vouches for the descriptor as std demands it.
        Self::from_std_stream(unsafe { StdStream::from_raw_fd(fd) })
    }
}

impl IntoRawFd for TcpSocket {
    /// On Linux the simulated socket is behind the descriptor from now on.
    ///
    /// # Panics
    /// Where the process has no descriptors left, and elsewhere.
    fn into_raw_fd(self) -> RawFd {
        self.into_fd().unwrap_or_else(|error| panic!("{error}")).into_raw_fd()
    }
}

impl FromRawFd for UnixSocket {
    /// # Panics
    /// Where what is behind the descriptor is no simulated socket, but one of the operating system.
    unsafe fn from_raw_fd(fd: RawFd) -> Self {
        // SAFETY: the caller vouches for the descriptor, which is its owner's to close.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        Self::from_fd(fd).unwrap_or_else(|error| panic!("{error}"))
    }
}

impl IntoRawFd for UnixSocket {
    /// On Linux the simulated socket is behind the descriptor from now on.
    ///
    /// # Panics
    /// Where the process has no descriptors left, and elsewhere.
    fn into_raw_fd(self) -> RawFd {
        self.into_fd().unwrap_or_else(|error| panic!("{error}")).into_raw_fd()
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::io::{AsyncReadExt, AsyncWriteExt};
    use crate::net::TcpStream;
    use detsim_executor::Sim;

    /// Out of a socket and into another.
    fn over(socket: TcpSocket) -> TcpSocket {
        // SAFETY: nobody else has the descriptor.
        unsafe { TcpSocket::from_raw_fd(socket.into_raw_fd()) }
    }

    #[test]
    fn a_socket_goes_through_its_descriptor() {
        let seen = Sim::new(1).block_on(async {
            let socket = TcpSocket::new_v4().unwrap();
            socket.set_reuseaddr(true).unwrap();
            socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
            let bound = socket.local_addr().unwrap();
            let socket = over(socket);
            assert_eq!(socket.local_addr().unwrap(), bound);
            let listener = socket.listen(1).unwrap();
            let mut client: TcpStream =
                over(TcpSocket::new_v4().unwrap()).connect(bound).await.unwrap();
            let (mut server, _) = listener.accept().await.unwrap();
            server.write_all(b"seven").await.unwrap();
            drop(server);
            let mut seen = String::new();
            client.read_to_string(&mut seen).await.unwrap();
            seen
        });
        assert_eq!(seen.unwrap(), "seven");
    }

    #[test]
    fn a_local_socket_does_so_too() {
        let seen = Sim::new(1).block_on(async {
            let socket = UnixSocket::new_datagram().unwrap();
            socket.bind("/tmp/s").unwrap();
            // SAFETY: nobody else has the descriptor.
            let socket = unsafe { UnixSocket::from_raw_fd(socket.into_raw_fd()) };
            let datagram = socket.datagram().unwrap();
            datagram.local_addr().unwrap().as_pathname().map(std::path::Path::to_owned)
        });
        assert_eq!(seen.unwrap().as_deref(), Some(std::path::Path::new("/tmp/s")));
    }

    #[test]
    fn a_socket_of_the_system_is_no_local_one_of_a_run() {
        let of_system = std::os::unix::net::UnixDatagram::unbound().unwrap();
        let failure = Sim::new(1).block_on(async move {
            // SAFETY: nobody else has the descriptor.
            drop(unsafe { UnixSocket::from_raw_fd(of_system.into_raw_fd()) });
        });
        assert!(failure.unwrap_err().to_string().contains("make it in the run"));
    }
}
