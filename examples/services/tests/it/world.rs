//! Where the services run: nodes of a simulation under `--cfg detsim`, tasks on the loopback of the machine
//! without it.

#[cfg(not(detsim))]
pub(crate) use real::{calm, listen, rough, spawn_on, udp};
#[cfg(detsim)]
pub(crate) use simulated::{calm, listen, rough, spawn_on, udp};

#[cfg(detsim)]
mod simulated {
    use std::net::SocketAddr;

    use detsim::{Net, context};
    use tokio::net::{TcpListener, UdpSocket};

    /// Runs something on a node of this name.
    pub(crate) async fn spawn_on<T: 'static>(
        node: &str,
        future: impl Future<Output = T> + 'static,
    ) -> T {
        let sim = context::sim().expect("a scenario runs in a simulation");
        sim.node(node).spawn(node, future).await.expect("no task of a scenario panics")
    }

    fn address(node: &str) -> SocketAddr {
        let sim = context::sim().expect("a scenario runs in a simulation");
        SocketAddr::new(Net::of(&sim).addresses(sim.node(node).id())[0], 7_000)
    }

    /// A listener of a node, and where it is to be reached.
    pub(crate) async fn listen(node: &str) -> (TcpListener, SocketAddr) {
        let address = address(node);
        let listener = spawn_on(node, TcpListener::bind(address)).await.unwrap();
        (listener, address)
    }

    /// A socket for datagrams of a node, and where it is to be reached.
    pub(crate) async fn udp(node: &str) -> (UdpSocket, SocketAddr) {
        let address = address(node);
        let socket = spawn_on(node, UdpSocket::bind(address)).await.unwrap();
        (socket, address)
    }

    /// From now on everything goes wrong that the seed has in store.
    pub(crate) fn rough() {
        Net::current().expect("a scenario runs in a simulation").draw_faults();
    }

    /// From now on nothing goes wrong.
    pub(crate) fn calm() {
        let net = Net::current().expect("a scenario runs in a simulation");
        net.set_faults(&detsim::NetFaults::default());
    }
}

#[cfg(not(detsim))]
mod real {
    use std::net::SocketAddr;

    use tokio::net::{TcpListener, UdpSocket};

    pub(crate) async fn spawn_on<T: Send + 'static>(
        _node: &str,
        future: impl Future<Output = T> + 'static,
    ) -> T {
        future.await
    }

    pub(crate) async fn listen(_node: &str) -> (TcpListener, SocketAddr) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        (listener, address)
    }

    pub(crate) async fn udp(_node: &str) -> (UdpSocket, SocketAddr) {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let address = socket.local_addr().unwrap();
        (socket, address)
    }

    pub(crate) fn rough() {}

    pub(crate) fn calm() {}
}
