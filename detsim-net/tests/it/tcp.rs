//! TCP under faults: what a program sees is what Linux would show it.

use std::future::poll_fn;
use std::io::{self, IoSlice, IoSliceMut};
use std::net::SocketAddr;
use std::time::Duration;

use detsim_executor::{NodeId, OpKind, Sim, SimConfig, context, sleep_until};
use detsim_net::{How, Net, Partition, Socket, Sockets};

const SECOND: Duration = Duration::from_secs(1);

/// Two nodes that are about to talk.
pub(crate) struct Pair {
    pub(crate) sim: Sim,
    pub(crate) net: Net,
    pub(crate) client: NodeId,
    pub(crate) server: NodeId,
}

impl Pair {
    pub(crate) fn new(seed: u64) -> Self {
        Self::recorded(seed, true)
    }

    /// Of a run that is recorded, or is not.
    pub(crate) fn recorded(seed: u64, record: bool) -> Self {
        let mut config = SimConfig::default();
        config.record = record;
        let sim = Sim::with_config(seed, config);
        let (client, server) = (sim.node("client").id(), sim.node("server").id());
        Self { net: Net::of(&sim), sim, client, server }
    }

    /// Runs the server and then the client, and returns what the client returns.
    pub(crate) fn run<T: 'static>(
        &self,
        server: impl Future<Output = ()> + 'static,
        client: impl Future<Output = T> + 'static,
    ) -> T {
        drop(self.sim.node("server").spawn("server", server));
        let client = self.sim.node("client").spawn("client", client);
        self.sim.block_on(async move { client.await.unwrap() }).unwrap()
    }
}

fn address() -> SocketAddr {
    "10.0.0.2:80".parse().unwrap()
}

pub(crate) fn listen() -> Socket {
    let listener = Sockets::current().unwrap().tcp(false);
    listener.set_options(|options| options.reuse_address = true).unwrap();
    listener.bind("0.0.0.0:80".parse().unwrap()).unwrap();
    listener.listen(1024).unwrap();
    listener
}

pub(crate) async fn connect() -> io::Result<Socket> {
    let socket = Sockets::current().unwrap().tcp(false);
    socket.connect(address())?;
    poll_fn(|cx| socket.poll_connected(cx, How::poller(OpKind::Connect))).await?;
    Ok(socket)
}

pub(crate) async fn accept(listener: &Socket) -> Socket {
    poll_fn(|cx| listener.poll_accept(cx, How::poller(OpKind::Accept))).await.unwrap().0
}

pub(crate) async fn read(socket: &Socket, buffer: &mut [u8]) -> io::Result<usize> {
    let mut buffers = [IoSliceMut::new(buffer)];
    poll_fn(|cx| socket.poll_read(cx, How::poller(OpKind::Recv), &mut buffers)).await
}

pub(crate) async fn read_to_end(socket: &Socket) -> io::Result<Vec<u8>> {
    let (mut all, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        match read(socket, &mut buffer).await? {
            0 => return Ok(all),
            n => all.extend_from_slice(&buffer[..n]),
        }
    }
}

pub(crate) async fn write(socket: &Socket, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let buffers = [IoSlice::new(bytes)];
        let written =
            poll_fn(|cx| socket.poll_write(cx, How::poller(OpKind::Send), &buffers)).await?;
        bytes = &bytes[written..];
    }
    Ok(())
}

pub(crate) async fn sleep(duration: Duration) {
    sleep_until(context::now() + duration).await;
}

/// Echoes everything, until the peer ends.
pub(crate) async fn echo() {
    let listener = listen();
    loop {
        let socket = accept(&listener).await;
        drop(context::spawn("echo", async move {
            let mut buffer = [0; 512];
            while let Ok(n @ 1..) = read(&socket, &mut buffer).await {
                if write(&socket, &buffer[..n]).await.is_err() {
                    return;
                }
            }
            // A client that is gone does not care.
            drop(socket.shutdown());
        }));
    }
}

pub(crate) fn text(len: usize) -> Vec<u8> {
    (0..len).map(|n| (n % 251) as u8).collect()
}

#[test]
fn loss_is_delay_and_no_byte_is_lost() {
    for seed in 0..50 {
        let pair = Pair::new(seed);
        pair.net.set_drop_rate(0.1);
        let sent = text(20_000);
        let expected = sent.clone();
        let got = pair.run(echo(), async move {
            let socket = connect().await.unwrap();
            for part in sent.chunks(1_000) {
                write(&socket, part).await.unwrap();
            }
            socket.shutdown().unwrap();
            read_to_end(&socket).await.unwrap()
        });
        assert!(got == expected, "seed {seed}");
        assert!(pair.sim.now().as_millis() > 200, "seed {seed}: nothing was lost");
    }
}

#[test]
fn a_partition_stalls_a_connection_and_healing_lets_it_go_on() {
    for rule in [Partition::Drop, Partition::Hold] {
        let pair = Pair::new(3);
        pair.net.set_partition_rule(rule);
        let (net, client, server) = (pair.net.clone(), pair.client, pair.server);
        let slow = pair.run(echo(), async move {
            let socket = connect().await.unwrap();
            net.partition(client, server);
            write(&socket, b"abc").await.unwrap();
            sleep(SECOND).await;
            let healed = context::now();
            net.heal_all();
            socket.shutdown().unwrap();
            assert_eq!(read_to_end(&socket).await.unwrap(), b"abc");
            context::now() - healed
        });
        let most = if rule == Partition::Hold { 10 } else { 1_000 };
        assert!(slow.as_millis() < most, "{rule:?}: {slow:?}");
    }
}

#[test]
fn who_is_cut_off_for_a_quarter_of_an_hour_is_told() {
    let pair = Pair::new(3);
    let (net, client, server) = (pair.net.clone(), pair.client, pair.server);
    let error = pair.run(echo(), async move {
        let socket = connect().await.unwrap();
        net.partition(client, server);
        write(&socket, b"abc").await.unwrap();
        let error = read(&socket, &mut [0; 8]).await.unwrap_err();
        assert_eq!(read(&socket, &mut [0; 8]).await.unwrap(), 0);
        assert_eq!(write(&socket, b"x").await.unwrap_err().raw_os_error(), Some(32));
        error
    });
    assert_eq!(error.raw_os_error(), Some(110));
    let seconds = pair.sim.now().as_millis() / 1000;
    assert!((800..1000).contains(&seconds), "{seconds} s");
}

#[test]
fn a_connect_is_refused_by_a_living_host_only() {
    let connects = |cut: bool| {
        let pair = Pair::new(3);
        if cut {
            pair.net.partition_one_way(pair.server, pair.client);
        }
        let error = pair.run(async {}, async { connect().await.unwrap_err() });
        (error.raw_os_error().unwrap(), pair.sim.now().as_millis() / 1000)
    };
    assert_eq!(connects(false), (111, 0));
    assert_eq!(connects(true), (110, 127));
}

#[test]
fn a_full_backlog_lets_the_next_one_wait() {
    let pair = Pair::new(3);
    let waited = pair.run(
        async {
            let listener = Sockets::current().unwrap().tcp(false);
            listener.bind("0.0.0.0:80".parse().unwrap()).unwrap();
            listener.listen(1).unwrap();
            sleep(5 * SECOND).await;
            accept(&listener).await;
            std::future::pending::<()>().await;
        },
        async {
            let _first = connect().await.unwrap();
            let _second = connect().await.unwrap();
            assert!(context::now().as_millis() < 10);
            let _third = connect().await.unwrap();
            context::now().as_millis()
        },
    );
    // SYNs at 0, 1, 3 and 7 s.
    assert!((7_000..7_010).contains(&waited), "{waited} ms");
}

/// What a client reads, then reads again, when the server's node is stopped after 1 s.
fn stopped(how: impl Fn(&Sim) + 'static) -> (Vec<Result<usize, i32>>, u64) {
    let pair = Pair::new(3);
    let sim = pair.sim.clone();
    pair.sim.after(SECOND, move || how(&sim));
    let server = async {
        let listener = listen();
        let socket = accept(&listener).await;
        write(&socket, b"hello").await.unwrap();
        std::future::pending::<()>().await;
        drop((socket, listener));
    };
    let seen = pair.run(server, async {
        let (socket, mut seen) = (connect().await.unwrap(), Vec::new());
        let mut buffer = [0; 5];
        let mut got = 0;
        while got < 5 {
            got += read(&socket, &mut buffer[got..]).await.unwrap();
        }
        sleep(2 * SECOND).await;
        let codes =
            |result: io::Result<()>| result.map(|()| 0).map_err(|e| e.raw_os_error().unwrap());
        seen.push(codes(write(&socket, b"x").await));
        sleep(SECOND).await;
        for _ in 0..2 {
            let read = read(&socket, &mut buffer).await;
            seen.push(read.map_err(|error| error.raw_os_error().unwrap()));
        }
        seen.push(codes(write(&socket, b"x").await));
        seen
    });
    (seen, pair.sim.now().as_millis() / 1000)
}

#[test]
fn a_process_that_dies_says_so() {
    let (seen, seconds) = stopped(|sim| sim.node("server").kill());
    // FIN came first: the write is answered by RST, which the reader need not hear of.
    assert_eq!(seen, [Ok(0), Ok(0), Ok(0), Err(32)]);
    assert_eq!(seconds, 3);
}

#[test]
fn a_host_without_power_says_nothing() {
    let (seen, seconds) = stopped(|sim| sim.node("server").crash());
    assert_eq!(seen, [Ok(0), Err(110), Ok(0), Err(32)]);
    assert!(seconds > 800, "{seconds} s");
}

#[test]
fn a_host_that_is_up_again_knows_nothing() {
    let (seen, seconds) = stopped(|sim| {
        sim.node("server").crash();
        sim.node("server").restart();
    });
    assert_eq!(seen, [Ok(0), Err(104), Ok(0), Err(32)]);
    assert_eq!(seconds, 3);
}

#[test]
fn a_node_can_bind_again_after_it_was_killed() {
    let pair = Pair::new(3);
    let node = pair.sim.node("server");
    node.on_start(|| drop(context::spawn("server", echo())));
    let restarts = node.clone();
    let got = pair.run(std::future::pending(), async move {
        let first = connect().await.unwrap();
        restarts.restart();
        assert!(matches!(read(&first, &mut [0; 8]).await, Ok(0) | Err(_)));
        let second = connect().await.unwrap();
        write(&second, b"again").await.unwrap();
        second.shutdown().unwrap();
        read_to_end(&second).await.unwrap()
    });
    assert_eq!(got, b"again");
}

#[test]
fn a_writer_waits_for_a_reader_and_a_reader_for_a_writer() {
    let pair = Pair::new(3);
    let server = async {
        let listener = listen();
        let socket = accept(&listener).await;
        sleep(10 * SECOND).await;
        assert_eq!(read_to_end(&socket).await.unwrap().len(), 16 << 20);
    };
    let (short, at) = pair.run(server, async {
        let socket = connect().await.unwrap();
        let all = vec![7; 16 << 20];
        let mut short = 0;
        while let Ok(n) = socket.try_write(&[IoSlice::new(&all[short..])]) {
            short += n;
        }
        write(&socket, &all[short..]).await.unwrap();
        (short, context::now())
    });
    assert_eq!(short, 262_144, "bytes that were taken at once");
    assert!(at.as_millis() > 10_000, "{at}");
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let run = |seed| {
        let pair = Pair::new(seed);
        pair.net.set_drop_rate(0.1);
        pair.run(echo(), async {
            let socket = connect().await.unwrap();
            for part in text(9_000).chunks(700) {
                write(&socket, part).await.unwrap();
            }
            socket.shutdown().unwrap();
            read_to_end(&socket).await.unwrap()
        });
        (pair.sim.hash(), pair.sim.trace(), pair.sim.now())
    };
    assert!(run(1) == run(1));
    assert!(run(1) != run(2));
}

#[test]
fn two_that_connect_to_each_other_at_once_have_one_connection() {
    /// Connects from a port of its own, says something, and hears what the other says.
    async fn meet(own: &str, peer: &str, text: &'static [u8]) -> Vec<u8> {
        let socket = Sockets::current().unwrap().tcp(false);
        socket.bind(own.parse().unwrap()).unwrap();
        socket.connect(peer.parse().unwrap()).unwrap();
        poll_fn(|cx| socket.poll_connected(cx, How::poller(OpKind::Connect))).await.unwrap();
        assert_eq!(socket.peer_addr().unwrap(), peer.parse().unwrap());
        write(&socket, text).await.unwrap();
        socket.shutdown().unwrap();
        read_to_end(&socket).await.unwrap()
    }
    for seed in 0..50 {
        let pair = Pair::new(seed);
        if seed % 2 == 1 {
            pair.net.set_drop_rate(0.2);
        }
        let [client, server] = ["10.0.0.1:700", "10.0.0.2:900"];
        let other = pair.sim.node("server").spawn("server", meet(server, client, b"from b"));
        let one = pair.sim.node("client").spawn("client", meet(client, server, b"from a"));
        let heard = pair.sim.block_on(async move { (one.await.unwrap(), other.await.unwrap()) });
        assert_eq!(heard.unwrap(), (b"from b".to_vec(), b"from a".to_vec()), "seed {seed}");
        assert_eq!(pair.net.netstat().lines().filter(|line| line.contains("ESTAB")).count(), 0);
    }
}

#[test]
fn an_urgent_byte_gets_there_beside_the_stream() {
    for seed in 0..50 {
        let pair = Pair::new(seed);
        pair.net.set_drop_rate(0.1);
        let server = async {
            let socket = accept(&listen()).await;
            write(&socket, b"part").await.unwrap();
            socket.try_send_urgent(b'!').unwrap();
            write(&socket, b"rest").await.unwrap();
            socket.shutdown().unwrap();
            sleep(600 * SECOND).await;
        };
        let (told, stream) = pair.run(server, async {
            let socket = connect().await.unwrap();
            while !socket.is_ready_for().unwrap().urgent {
                sleep(SECOND).await;
            }
            assert_eq!(socket.try_receive_urgent(true).unwrap(), b'!');
            let told = socket.try_receive_urgent(false).unwrap();
            assert_eq!(socket.try_receive_urgent(false).unwrap_err().raw_os_error(), Some(22));
            (told, read_to_end(&socket).await.unwrap())
        });
        assert_eq!((told, &stream[..]), (b'!', &b"partrest"[..]), "seed {seed}");
    }
}
