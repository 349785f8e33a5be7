//! Local sockets and pipes.
//!
//! Mirrors `tokio::net::unix`. Does not own: what they do, which is `detsim-net`'s, nor the file system:
//! a name is free again when its socket is closed, and no file stands for it.

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

/// The longest path that Linux takes.
const PATH_BYTES_MAX: usize = 107;

/// A path as a name.
///
/// # Errors
/// EINVAL where it is too long, or has a zero byte behind the first.
pub(crate) fn name_of(path: &Path) -> io::Result<Vec<u8>> {
    let name = path.as_os_str().as_bytes();
    let plain = name.strip_prefix(b"\0").unwrap_or(name);
    if name.len() > PATH_BYTES_MAX || (name.len() == plain.len() && plain.contains(&0)) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "path must be shorter than SUN_LEN",
        ));
    }
    Ok(name.to_vec())
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
