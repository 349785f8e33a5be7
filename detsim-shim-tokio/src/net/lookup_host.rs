//! Asking for the addresses of a name.
//!
//! Mirrors tokio's. Does not own: names, which are `detsim-net`'s.

use std::io;
use std::net::SocketAddr;

use crate::net::addr::{ToSocketAddrs, resolve};

/// The addresses of `host`, as the simulated resolver knows them: names of nodes and host names, names
/// that the scenario gave, and `localhost`.
///
/// # Errors
/// Where there is no such name, or the resolver fails.
pub async fn lookup_host<T: ToSocketAddrs>(
    host: T,
) -> io::Result<impl Iterator<Item = SocketAddr>> {
    Ok(resolve(host.target()).await?.into_iter())
}
