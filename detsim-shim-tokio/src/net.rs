//! Sockets on the simulated network.
//!
//! Mirrors `tokio::net`. Owns: tokio's names and signatures. Does not own: what a socket does, which is
//! `detsim-net`'s. Every call is an operation before which a task may be stopped, and every wait
//! stands in the wait graph.
//!
//! A socket belongs to the node of the task that opens it, and speaks with that node's addresses. The
//! file descriptor behind `AsFd` is a real socket that is connected to nothing: it is there for code
//! that sets options on it.

mod addr;
pub(crate) mod descriptor;
mod halves;
mod lookup_host;
mod methods;
mod raw;
pub(crate) mod ready;
pub mod tcp;
mod udp;
pub mod unix;
mod world;

pub use addr::ToSocketAddrs;
pub use lookup_host::lookup_host;
pub use tcp::{TcpListener, TcpSocket, TcpStream};
pub use udp::UdpSocket;
pub use unix::{UnixDatagram, UnixListener, UnixSocket, UnixStream};
