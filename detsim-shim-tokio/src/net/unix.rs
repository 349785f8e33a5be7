//! Local sockets and pipes.
//!
//! Mirrors `tokio::net::unix`. Owns: which names are taken where, with whose errors. Does not own: what sockets
//! do, which is `detsim-net`'s, nor the files that names stand for (`detsim`).

mod datagram;
mod fifo;
mod listener;
pub mod pipe;
mod socket;
mod split;
mod split_owned;
mod stream;
mod ucred;

pub use tokio::net::unix::{SocketAddr, gid_t, pid_t, uid_t};

pub use datagram::UnixDatagram;
pub use listener::UnixListener;
pub use socket::UnixSocket;
pub use split::{ReadHalf, WriteHalf};
pub use split_owned::{OwnedReadHalf, OwnedWriteHalf, ReuniteError};
pub use stream::UnixStream;
pub use ucred::UCred;

use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net;
use std::path::Path;

/// A name that tokio takes for a stream: a path, or an abstract one behind a zero byte.
///
/// # Errors
/// std's, for what is too long, and for zero bytes in a path.
pub(crate) fn name_of(path: &Path) -> io::Result<Vec<u8>> {
    match path.as_os_str().as_bytes().strip_prefix(b"\0") {
        Some(name) => net::SocketAddr::from_abstract_name(name).map(|of| name_of_std(&of)),
        None => path_name_of(path),
    }
}

/// A name that tokio takes for datagrams: a path.
///
/// # Errors
/// As [`name_of`].
pub(crate) fn path_name_of(path: &Path) -> io::Result<Vec<u8>> {
    net::SocketAddr::from_pathname(path).map(|of| name_of_std(&of))
}

/// A name that `socket2` takes: any, of which the system reads a path up to its first zero byte.
///
/// # Errors
/// std's, for what is too long.
pub(crate) fn raw_name_of(path: &Path) -> io::Result<Vec<u8>> {
    const BYTES_MAX: usize = 108;
    let name = path.as_os_str().as_bytes();
    let ends = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
    match (ends, name.len()) {
        (0, ..=BYTES_MAX) => Ok(name.to_vec()),
        (_, ..BYTES_MAX) => Ok(name[..ends].to_vec()),
        _ => {
            let text = "path must be shorter than SUN_LEN";
            Err(io::Error::new(io::ErrorKind::InvalidInput, text))
        }
    }
}

fn name_of_std(address: &net::SocketAddr) -> Vec<u8> {
    name_of_address(&address.clone().into())
}

/// An address as a name.
pub(crate) fn name_of_address(address: &SocketAddr) -> Vec<u8> {
    let abstract_name = address.as_abstract_name().map(|name| [b"\0", name].concat());
    let path = || address.as_pathname().map(|path| path.as_os_str().as_bytes().to_vec());
    abstract_name.or_else(path).unwrap_or_default()
}

/// A name as an address.
///
/// # Errors
/// None for a name that was an address before.
pub(crate) fn address_of(name: &[u8]) -> io::Result<SocketAddr> {
    let address = match name.strip_prefix(b"\0") {
        Some(name) => net::SocketAddr::from_abstract_name(name)?,
        None => net::SocketAddr::from_pathname(std::ffi::OsStr::from_bytes(name))?,
    };
    Ok(address.into())
}
