//! Writes the packets of a small recorded run as a pcapng file, to the path that is given or to standard
//! output: `cargo run --example trace_pcap | wireshark -k -i -`.
//!
//! The world: a client that sends a server some bytes over a link that loses one packet, closes its
//! half, reads the answer, and then asks for a port that nobody has, by TCP and by UDP, of IPv4 and IPv6.

use std::future::poll_fn;
use std::io::{self, IoSlice, IoSliceMut, Write};
use std::net::SocketAddr;
use std::time::Duration;

use detsim::trace::{self, Header, Recorded};
use detsim::{Sim, SimConfig, context, sleep_until};
use detsim_executor::OpKind;
use detsim_net::{How, Net, Rule, Socket, Sockets, Verdict};

const SEED: u64 = 7;
const BYTES: usize = 200_000;

fn main() -> io::Result<()> {
    let mut config = SimConfig::default();
    config.record = true;
    let sim = Sim::with_config(SEED, config);
    let [client, server] = ["client", "server"].map(|name| sim.node(name).id());
    let rule = Rule::new(Verdict::Drop).from(client).to(server).skip(3).times(1);
    let _loses = Net::of(&sim).add_rule(rule);
    drop(sim.node("server").spawn("server", async { serve().await.expect("it is served") }));
    let asks = sim.node("client").spawn("client", async { ask().await.expect("it is answered") });
    sim.block_on(async move { asks.await.expect("the client ends") }).expect("nothing here fails");
    let header = Header::new("trace_pcap", SEED, "random");
    let recorded = Recorded { header, trace: sim.trace() };
    let file = trace::pcap(&recorded);
    match std::env::args_os().nth(1) {
        Some(path) => std::fs::write(path, file),
        None => io::stdout().lock().write_all(&file),
    }
}

async fn serve() -> io::Result<()> {
    let listener = sockets().tcp(true);
    listener.bind("[::]:80".parse().expect("an address"))?;
    listener.listen(8)?;
    loop {
        let accepts = poll_fn(|cx| listener.poll_accept(cx, How::poller(OpKind::Accept)));
        let socket = accepts.await?.0;
        while read(&socket).await? > 0 {}
        write(&socket, b"enough").await?;
        socket.shutdown()?;
    }
}

async fn ask() -> io::Result<()> {
    for server in ["10.0.0.2:80", "[fd00::2]:80"] {
        let socket = connect(server).await?;
        write(&socket, &vec![7; BYTES]).await?;
        socket.shutdown()?;
        while read(&socket).await? > 0 {}
    }
    for nobody in ["10.0.0.2:81", "[fd00::2]:81"] {
        let refused = connect(nobody).await.err().and_then(|error| error.raw_os_error());
        assert_eq!(refused, Some(111), "nobody has this port");
        let to: SocketAddr = nobody.parse().expect("an address");
        let socket = sockets().udp(to.is_ipv6());
        socket
            .bind(if to.is_ipv6() { "[::]:0" } else { "0.0.0.0:0" }.parse().expect("an address"))?;
        socket.set_peer(to)?;
        socket.try_send(None, b"anybody?")?;
        sleep_until(context::now() + Duration::from_millis(10)).await;
    }
    Ok(())
}

fn sockets() -> Sockets {
    Sockets::current().expect("a task runs in its simulation")
}

async fn connect(to: &str) -> io::Result<Socket> {
    let to: SocketAddr = to.parse().expect("an address");
    let socket = sockets().tcp(to.is_ipv6());
    socket.connect(to)?;
    poll_fn(|cx| socket.poll_connected(cx, How::poller(OpKind::Connect))).await?;
    Ok(socket)
}

async fn read(socket: &Socket) -> io::Result<usize> {
    let mut buffer = vec![0; 65_536];
    let mut buffers = [IoSliceMut::new(&mut buffer)];
    poll_fn(|cx| socket.poll_read(cx, How::poller(OpKind::Recv), &mut buffers)).await
}

async fn write(socket: &Socket, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let buffers = [IoSlice::new(bytes)];
        let writes = poll_fn(|cx| socket.poll_write(cx, How::poller(OpKind::Send), &buffers));
        bytes = &bytes[writes.await?..];
    }
    Ok(())
}
