//! The workloads on sockets: one text for every peer that has a network, included by path into each.
//!
//! The crate that includes this supplies `crate::cluster`:
//!
//! | name | what it is |
//! | --- | --- |
//! | `TcpListener`, `TcpStream`, `UdpSocket`, `sleep` | tokio's shapes |
//! | `send(socket, to, bytes)` | sends a datagram |
//! | `Program` | what a node runs: a boxed function that returns a boxed future |
//! | `run(seed, servers, clients)` | a fresh simulation with a node for each, until all clients have ended |
//! | `address(node)`, `own(node)` | where a node is to others and to itself, servers counted first, from 0 |
//!
//! Every peer delays each packet by 1 to 10 ms, or the nearest that it can.

use std::net::SocketAddr;
use std::time::Duration;

use bench_common::Work;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::cluster::{Program, TcpListener, TcpStream, UdpSocket, address, own, run, send, sleep};

const SEED: u64 = 1;
const CLIENTS: u64 = 10;
/// One echo.
const ECHO_BYTES: usize = 64;
/// One write of the bulk transfer.
const CHUNK_BYTES: usize = 65_536;
/// How long a gossip goes on, and how long nodes idle.
const GOSSIP_TIME: Duration = Duration::from_secs(60);
const IDLE_TIME: Duration = Duration::from_secs(3_600);

/// Does so many operations of a workload; `None` where it is none of these.
pub(crate) fn network(name: &str, operations: u64) -> Option<Work> {
    match name {
        "echo" => echo(SEED, operations),
        "bulk" => bulk(SEED, operations),
        "gossip-10" => gossip(10, operations),
        "gossip-200" => gossip(200, operations),
        "idle-500" => (0..operations).for_each(|_| idle(500)),
        _ => return None,
    }
    Some(Work::of(operations))
}

/// Ten clients, each on a node of its own, send 64 bytes to one server and wait for their echo.
pub(crate) fn echo(seed: u64, trips: u64) {
    let clients = (0..CLIENTS).map(|client| {
        let trips = trips / CLIENTS + u64::from(client < trips % CLIENTS);
        program(move || echo_client(trips))
    });
    run(seed, vec![program(echo_server)], clients.collect());
}

async fn echo_server() {
    let listener = TcpListener::bind(own(0)).await.expect("the port is free");
    loop {
        let (mut stream, _) = listener.accept().await.expect("it listens");
        drop(tokio::spawn(async move {
            let mut buffer = [0; ECHO_BYTES];
            while stream.read_exact(&mut buffer).await.is_ok() {
                stream.write_all(&buffer).await.expect("the client waits");
                stream.flush().await.expect("the client waits");
            }
        }));
    }
}

async fn echo_client(trips: u64) {
    let mut stream = connect().await;
    let mut buffer = [7; ECHO_BYTES];
    for _ in 0..trips {
        stream.write_all(&buffer).await.expect("the server reads");
        stream.flush().await.expect("the server reads");
        stream.read_exact(&mut buffer).await.expect("the server answers");
    }
}

/// Connects when the server is there, and again where no packet gets through.
async fn connect() -> TcpStream {
    loop {
        sleep(Duration::from_millis(20)).await;
        if let Ok(stream) = TcpStream::connect(address(0)).await {
            return stream;
        }
    }
}

/// One client sends so many KiB to one server, which reads them all.
pub(crate) fn bulk(seed: u64, kib: u64) {
    let bytes = kib * 1_024;
    let server = program(move || async move {
        let listener = TcpListener::bind(own(0)).await.expect("the port is free");
        let (mut stream, _) = listener.accept().await.expect("it listens");
        let (mut buffer, mut got) = (vec![0; CHUNK_BYTES], 0);
        while got < bytes {
            got += stream.read(&mut buffer).await.expect("the client writes") as u64;
        }
        stream.write_all(&[1]).await.expect("the client waits");
        stream.flush().await.expect("the client waits");
        // The client closes first.
        let _ = stream.read(&mut buffer).await;
    });
    let client = program(move || async move {
        let mut stream = connect().await;
        let chunk = vec![7; CHUNK_BYTES];
        let mut left = bytes;
        while left > 0 {
            let part = &chunk[..left.min(CHUNK_BYTES as u64) as usize];
            stream.write_all(part).await.expect("the server reads");
            stream.flush().await.expect("the server reads");
            left -= part.len() as u64;
        }
        stream.read_exact(&mut [0]).await.expect("the server confirms");
    });
    run(seed, vec![server], vec![client]);
}

/// Nodes in a full mesh tell each other something, in turn, for a minute of simulated time.
fn gossip(nodes: u64, messages: u64) {
    let rounds = messages / nodes;
    let node = |number: u64| program(move || gossiper(number, nodes, rounds));
    run(SEED, Vec::new(), (0..nodes).map(node).collect());
}

async fn gossiper(number: u64, nodes: u64, rounds: u64) {
    let socket = UdpSocket::bind(own(number as usize)).await.expect("the port is free");
    let others: Vec<SocketAddr> =
        (1..nodes).map(|n| address(((number + n) % nodes) as usize)).collect();
    let pause = GOSSIP_TIME / rounds as u32;
    let mut buffer = [0; ECHO_BYTES];
    let receive = async {
        loop {
            socket.recv_from(&mut buffer).await.expect("it is bound");
        }
    };
    let tell = async {
        // Not all at the same moment.
        sleep(pause * number as u32 / nodes as u32).await;
        for other in others.iter().cycle().take(rounds as usize) {
            send(&socket, *other, &[7; ECHO_BYTES]).await;
            sleep(pause).await;
        }
    };
    tokio::select! {
        () = receive => {}
        () = tell => {}
    }
}

/// Nodes that wait for a datagram for an hour in which none comes.
fn idle(nodes: usize) {
    let idler = |number: usize| {
        program(move || async move {
            let socket = UdpSocket::bind(own(number)).await.expect("the port is free");
            drop(socket.recv_from(&mut [0; 1]).await);
        })
    };
    let waiter = program(|| async { sleep(IDLE_TIME).await });
    run(SEED, (0..nodes).map(idler).collect(), vec![waiter]);
}

fn program<F: Future<Output = ()> + Send + 'static>(
    main: impl Fn() -> F + Send + Sync + 'static,
) -> Program {
    Box::new(move || Box::pin(main()))
}
