//! Where the services run: nodes of a simulation under `--cfg detsim`, tasks on the loopback of the machine
//! without it.

#[cfg(not(detsim))]
pub(crate) use real::{begin, calm, join_on, listen, udp};
#[cfg(detsim)]
pub(crate) use simulated::{begin, calm, join_on, listen, udp};

/// What goes wrong while a scenario runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weather {
    /// Nothing at all: no call is short either.
    #[cfg_attr(not(detsim), expect(dead_code, reason = "no seed, no bug that waits for one"))]
    Fair,
    /// Whatever the seed has in store, where there is one.
    Rough,
}

#[cfg(detsim)]
mod simulated {
    use std::net::SocketAddr;
    use std::sync::Arc;

    use detsim::{Environment, Net, NetFaults, Sim, context};
    use tokio::net::{TcpListener, UdpSocket};

    use super::Weather;

    fn sim() -> Sim {
        context::sim().expect("a scenario runs in a simulation")
    }

    /// Runs a client on a node of this name, to its end.
    pub(crate) async fn join_on<T: 'static>(
        node: &str,
        future: impl Future<Output = T> + 'static,
    ) -> T {
        sim().node(node).spawn(node, future).await.expect("no task of a scenario panics")
    }

    fn address(node: &str) -> SocketAddr {
        let sim = sim();
        SocketAddr::new(Net::of(&sim).addresses(sim.node(node).id())[0], 7_000)
    }

    /// What the node does when it begins: now, and whenever it begins again.
    fn starts<F: Future<Output = ()> + Send + 'static>(
        node: &str,
        server: impl Fn() -> F + 'static,
    ) {
        sim().node(node).on_start(move || drop(context::spawn("server", server())));
    }

    /// Runs a server on a node, and again whenever that begins again: where it is to be reached.
    pub(crate) async fn listen<F: Future<Output = std::io::Result<()>> + Send + 'static>(
        node: &str,
        server: impl Fn(TcpListener) -> F + Send + Sync + 'static,
    ) -> SocketAddr {
        let (address, server) = (address(node), Arc::new(server));
        starts(node, move || {
            let server = Arc::clone(&server);
            async move {
                let listener = TcpListener::bind(address).await.unwrap();
                server(listener).await.unwrap();
            }
        });
        address
    }

    /// As [`listen`], for nodes with a socket for datagrams each, which know all addresses.
    pub(crate) async fn udp<F: Future<Output = std::io::Result<()>> + Send + 'static>(
        nodes: &[&str],
        peer: impl Fn(usize, UdpSocket, Vec<SocketAddr>) -> F + Send + Sync + 'static,
    ) {
        let addresses: Vec<SocketAddr> = nodes.iter().map(|node| address(node)).collect();
        let peer = Arc::new(peer);
        for (number, node) in nodes.iter().enumerate() {
            let (addresses, peer) = (addresses.clone(), Arc::clone(&peer));
            starts(node, move || {
                let (addresses, peer) = (addresses.clone(), Arc::clone(&peer));
                async move {
                    let socket = UdpSocket::bind(addresses[number]).await.unwrap();
                    peer(number, socket, addresses).await.unwrap();
                }
            });
        }
    }

    /// From now on this goes wrong.
    pub(crate) fn begin(weather: Weather) -> Option<Environment> {
        if weather == Weather::Rough {
            return Some(Environment::draw(&sim()));
        }
        let faults = NetFaults { short_rate: Some(0.0), ..NetFaults::default() };
        Net::of(&sim()).set_faults(&faults);
        None
    }

    /// From now on nothing goes wrong.
    pub(crate) fn calm(environment: Option<Environment>) {
        environment.into_iter().for_each(Environment::heal);
    }
}

#[cfg(not(detsim))]
mod real {
    use std::net::SocketAddr;

    use tokio::net::{TcpListener, UdpSocket};

    use super::Weather;

    pub(crate) async fn join_on<T: Send + 'static>(
        _node: &str,
        future: impl Future<Output = T> + 'static,
    ) -> T {
        future.await
    }

    pub(crate) async fn listen<F: Future<Output = std::io::Result<()>> + Send + 'static>(
        _node: &str,
        server: impl Fn(TcpListener) -> F + Send + Sync + 'static,
    ) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        drop(tokio::spawn(server(listener)));
        address
    }

    pub(crate) async fn udp<F: Future<Output = std::io::Result<()>> + Send + 'static>(
        nodes: &[&str],
        peer: impl Fn(usize, UdpSocket, Vec<SocketAddr>) -> F + Send + Sync + 'static,
    ) {
        let mut sockets = Vec::new();
        for _ in nodes {
            sockets.push(UdpSocket::bind("127.0.0.1:0").await.unwrap());
        }
        let addresses: Vec<SocketAddr> = sockets.iter().map(|s| s.local_addr().unwrap()).collect();
        for (number, socket) in sockets.into_iter().enumerate() {
            drop(tokio::spawn(peer(number, socket, addresses.clone())));
        }
    }

    /// Loopback has no weather.
    pub(crate) fn begin(weather: Weather) -> Weather {
        weather
    }

    pub(crate) fn calm(_weather: Weather) {}
}
