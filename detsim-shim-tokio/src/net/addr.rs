//! What can be an address.
//!
//! Mirrors tokio's. Owns: [`ToSocketAddrs`] and its resolution on the simulated network. Invariant: an
//! address that is written out never asks a resolver.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

use detsim_executor::{context, sleep_until};
use detsim_net::LookupError;

use crate::context::missing;
use crate::net::world;

/// What becomes addresses: an address, several, or a name with a port.
pub trait ToSocketAddrs: Resolvable {}

pub(crate) mod sealed {
    use super::{SocketAddr, io};

    /// What is asked for.
    #[derive(Clone, Debug)]
    #[doc(hidden)]
    pub enum Target {
        Known(Vec<SocketAddr>),
        Name(String, u16),
    }

    #[doc(hidden)]
    pub trait Resolvable {
        /// # Errors
        /// Where it is no address, in std's words.
        fn target(&self) -> io::Result<Target>;
    }
}

use sealed::{Resolvable, Target};

/// Asks the resolver where that is needed.
pub(crate) async fn resolve(target: io::Result<Target>) -> io::Result<Vec<SocketAddr>> {
    let (name, port) = match target? {
        Target::Known(addresses) => return Ok(addresses),
        Target::Name(name, port) => (name, port),
    };
    let lookup = world::open(|sockets| sockets.lookup(&name))?;
    let Some(lookup) = lookup else { missing() };
    if !lookup.takes.is_zero() {
        sleep_until(context::now() + lookup.takes).await;
    }
    match lookup.addresses {
        Ok(addresses) => Ok(addresses.into_iter().map(|ip| SocketAddr::new(ip, port)).collect()),
        Err(LookupError::Unknown) => Err(failed("Name or service not known")),
        Err(LookupError::TryAgain) => Err(failed("Temporary failure in name resolution")),
    }
}

fn failed(why: &str) -> io::Error {
    // The kind of what std puts into none, as it does with this; it has no name on stable.
    let uncategorized = io::Error::from_raw_os_error(i32::MAX).kind();
    io::Error::new(uncategorized, format!("failed to lookup address information: {why}"))
}

/// Tries one address after the other, as tokio does.
pub(crate) async fn each<R, F: Future<Output = io::Result<R>>>(
    target: io::Result<Target>,
    mut attempt: impl FnMut(SocketAddr) -> F,
) -> io::Result<R> {
    let mut last = None;
    for address in resolve(target).await? {
        match attempt(address).await {
            Ok(result) => return Ok(result),
            Err(error) => last = Some(error),
        }
    }
    let none = || io::Error::new(io::ErrorKind::InvalidInput, "could not resolve to any address");
    Err(last.unwrap_or_else(none))
}

fn known(address: impl Into<SocketAddr>) -> io::Result<Target> {
    Ok(Target::Known(vec![address.into()]))
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, what)
}

macro_rules! addresses {
    ($($type:ty),+) => { $(
        impl ToSocketAddrs for $type {}
        impl Resolvable for $type {
            fn target(&self) -> io::Result<Target> {
                known(*self)
            }
        }
    )+ };
}

addresses!(SocketAddr, SocketAddrV4, SocketAddrV6, (IpAddr, u16), (Ipv4Addr, u16), (Ipv6Addr, u16));

impl ToSocketAddrs for &[SocketAddr] {}

impl Resolvable for &[SocketAddr] {
    fn target(&self) -> io::Result<Target> {
        Ok(Target::Known(self.to_vec()))
    }
}

impl ToSocketAddrs for str {}

impl Resolvable for str {
    fn target(&self) -> io::Result<Target> {
        if let Ok(address) = self.parse::<SocketAddr>() {
            return known(address);
        }
        let (host, port) =
            self.rsplit_once(':').ok_or_else(|| invalid("invalid socket address"))?;
        let port = port.parse().map_err(|_| invalid("invalid port value"))?;
        (host, port).target()
    }
}

impl ToSocketAddrs for String {}

impl Resolvable for String {
    fn target(&self) -> io::Result<Target> {
        self.as_str().target()
    }
}

impl ToSocketAddrs for (&str, u16) {}

impl Resolvable for (&str, u16) {
    fn target(&self) -> io::Result<Target> {
        match self.0.parse::<IpAddr>() {
            Ok(ip) => known((ip, self.1)),
            Err(_) => Ok(Target::Name(self.0.to_owned(), self.1)),
        }
    }
}

impl ToSocketAddrs for (String, u16) {}

impl Resolvable for (String, u16) {
    fn target(&self) -> io::Result<Target> {
        (self.0.as_str(), self.1).target()
    }
}

impl<T: ToSocketAddrs + ?Sized> ToSocketAddrs for &T {}

impl<T: Resolvable + ?Sized> Resolvable for &T {
    fn target(&self) -> io::Result<Target> {
        (**self).target()
    }
}
