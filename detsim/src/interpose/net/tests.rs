//! Programs on std's sockets, which know of nobody, in a run.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsRawFd;
use std::time::Duration;

use detsim_executor::{Sim, blocking, context, sleep_until};

const SECOND: Duration = Duration::from_secs(1);

/// Runs a server and a client, each on its node and on a thread of its own.
fn run<T: Send + 'static>(
    seed: u64,
    server: impl FnOnce() + Send + 'static,
    client: impl FnOnce() -> T + Send + 'static,
) -> (T, Sim) {
    super::link_in();
    let sim = Sim::new(seed);
    drop(sim.node("server").spawn("server", blocking(server)));
    let client = sim.node("client").spawn("client", async move {
        sleep_until(context::now() + Duration::from_millis(1)).await;
        blocking(client).await
    });
    let output = sim.block_on(client).unwrap().unwrap();
    (output, sim)
}

fn echo() {
    let listener = TcpListener::bind("0.0.0.0:80").unwrap();
    for stream in listener.incoming() {
        let mut stream = stream.unwrap();
        let mut buffer = [0; 512];
        while let Ok(len @ 1..) = stream.read(&mut buffer) {
            if stream.write_all(&buffer[..len]).is_err() {
                break;
            }
        }
    }
}

#[test]
fn an_echo_of_std_goes_over_the_simulated_network() {
    let exchange = || {
        let mut stream = TcpStream::connect("10.0.0.1:80").unwrap();
        let begun = context::now();
        stream.write_all(&[7; 100_000]).unwrap();
        let mut back = vec![0; 100_000];
        stream.read_exact(&mut back).unwrap();
        assert_eq!(back, [7; 100_000]);
        stream.shutdown(Shutdown::Write).unwrap();
        assert_eq!(stream.read(&mut [0; 1]).unwrap(), 0);
        (stream.local_addr().unwrap(), stream.peer_addr().unwrap(), context::now() - begun)
    };
    for seed in 0..20 {
        let ((local, peer, took), first) = run(seed, echo, exchange);
        assert_eq!(
            (local.to_string(), peer.to_string()),
            ("10.0.0.2:32768".into(), "10.0.0.1:80".into())
        );
        assert!(took > Duration::from_micros(200), "{took:?}");
        let (_, second) = run(seed, echo, exchange);
        assert_eq!(first.hash(), second.hash(), "seed {seed}");
    }
}

#[test]
fn errors_have_the_numbers_of_linux() {
    run(
        1,
        || (),
        || {
            let refused = TcpStream::connect("10.0.0.1:81").unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
            let _bound = TcpListener::bind("10.0.0.2:90").unwrap();
            assert_eq!(TcpListener::bind("10.0.0.2:90").unwrap_err().kind(), ErrorKind::AddrInUse);
            let elsewhere = TcpListener::bind("10.0.0.1:90").unwrap_err();
            assert_eq!(elsewhere.kind(), ErrorKind::AddrNotAvailable);
            let begun = context::now();
            let late = TcpStream::connect_timeout(&"10.9.9.9:80".parse().unwrap(), 2 * SECOND);
            assert_eq!(late.unwrap_err().kind(), ErrorKind::TimedOut);
            assert_eq!((context::now() - begun).as_secs(), 2);
        },
    );
}

#[test]
fn what_never_waits_and_what_waits_only_so_long_says_so() {
    run(1, echo, || {
        let mut stream = TcpStream::connect("10.0.0.1:80").unwrap();
        stream.set_nonblocking(true).unwrap();
        assert_eq!(stream.read(&mut [0; 1]).unwrap_err().kind(), ErrorKind::WouldBlock);
        stream.set_nonblocking(false).unwrap();
        stream.set_read_timeout(Some(SECOND)).unwrap();
        let begun = context::now();
        assert_eq!(stream.read(&mut [0; 1]).unwrap_err().kind(), ErrorKind::WouldBlock);
        assert_eq!((context::now() - begun).as_millis(), 1_000);
        let mut other = stream.try_clone().unwrap();
        drop(stream);
        other.write_all(b"x").unwrap();
        assert_eq!(other.peek(&mut [0; 1]).unwrap(), 1);
        assert_eq!(other.read(&mut [0; 1]).unwrap(), 1);
    });
}

#[test]
fn datagrams_and_options() {
    let server = || {
        let socket = UdpSocket::bind("0.0.0.0:53").unwrap();
        let mut buffer = [0; 64];
        while let Ok((len, from)) = socket.recv_from(&mut buffer) {
            socket.send_to(&buffer[..len], from).unwrap();
        }
    };
    run(1, server, || {
        let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
        socket.connect("10.0.0.1:53").unwrap();
        assert_eq!(socket.send(b"anybody?").unwrap(), 8);
        assert_eq!(socket.recv(&mut [0; 4]).unwrap(), 4, "the rest of a datagram is lost");
        assert_eq!((socket.ttl().unwrap(), socket.broadcast().unwrap()), (64, false));
        socket.set_ttl(7).unwrap();
        socket.set_broadcast(true).unwrap();
        assert_eq!((socket.ttl().unwrap(), socket.broadcast().unwrap()), (7, true));
        assert!(socket.take_error().unwrap().is_none());
    });
}

#[test]
fn a_wait_that_nobody_ends_is_a_deadlock_that_names_the_socket() {
    super::link_in();
    let sim = Sim::new(1);
    drop(sim.node("server").spawn(
        "server",
        blocking(|| {
            let listener = TcpListener::bind("0.0.0.0:80").unwrap();
            drop(listener.accept());
        }),
    ));
    let failure = sim.run().unwrap_err();
    assert_eq!(failure.verdict(), "deadlock", "{failure}");
    let text = failure.to_string();
    assert!(text.contains("waits: accept") && text.contains("LISTEN"), "{text}");
}

#[test]
fn outside_of_a_run_the_systems_sockets_talk() -> io::Result<()> {
    super::link_in();
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let mut client = TcpStream::connect(listener.local_addr()?)?;
    let (mut server, _) = listener.accept()?;
    client.write_all(b"really")?;
    let mut buffer = [0; 6];
    server.read_exact(&mut buffer)?;
    assert_eq!(&buffer, b"really");
    client.set_nodelay(true)?;
    assert!(client.nodelay()?);
    Ok(())
}

/// Sets an option that std has no function for.
#[expect(unsafe_code, reason = "std has no function for these options")]
fn set(stream: &TcpStream, (level, name): (i32, i32), value: i32) {
    // SAFETY: the value is valid for its length.
    let set = unsafe {
        let from = (&raw const value).cast();
        libc::setsockopt(stream.as_raw_fd(), level, name, from, size_of::<i32>() as u32)
    };
    assert_eq!(set, 0, "{}", io::Error::last_os_error());
    let (mut known, mut len) = (0_i32, size_of::<i32>() as u32);
    // SAFETY: the place is valid for its length.
    let read = unsafe {
        let to = (&raw mut known).cast();
        libc::getsockopt(stream.as_raw_fd(), level, name, to, &raw mut len)
    };
    assert_eq!((read, known), (0, value), "{}", io::Error::last_os_error());
}

#[test]
fn options_that_are_set_by_their_numbers_have_their_effect() {
    super::link_in();
    let sim = Sim::new(1);
    drop(sim.node("server").spawn("server", blocking(echo)));
    let client = sim.node("client").spawn("client", async {
        sleep_until(context::now() + Duration::from_millis(1)).await;
        blocking(|| {
            let mut stream = TcpStream::connect("10.0.0.1:80").unwrap();
            set(&stream, (libc::SOL_SOCKET, libc::SO_KEEPALIVE), 1);
            set(&stream, (libc::IPPROTO_TCP, libc::TCP_KEEPIDLE), 10);
            set(&stream, (libc::IPPROTO_TCP, libc::TCP_KEEPINTVL), 3);
            set(&stream, (libc::IPPROTO_TCP, libc::TCP_KEEPCNT), 4);
            let begun = context::now();
            let error = stream.read(&mut [0; 1]).unwrap_err();
            (error.raw_os_error(), (context::now() - begun).as_secs())
        })
        .await
    });
    let server = sim.node("server");
    sim.after(SECOND, move || server.crash());
    assert_eq!(sim.block_on(client).unwrap().unwrap(), (Some(libc::ETIMEDOUT), 22));
}

#[test]
fn what_would_change_what_a_program_sees_is_refused() {
    let refused = [
        (libc::SOL_SOCKET, libc::SO_OOBINLINE),
        (libc::IPPROTO_IP, libc::IP_FREEBIND),
        (libc::IPPROTO_IP, libc::IP_TRANSPARENT),
        (libc::IPPROTO_TCP, libc::TCP_FASTOPEN_CONNECT),
    ];
    run(
        1,
        || (),
        move || {
            let socket = TcpListener::bind("10.0.0.2:90").unwrap();
            let set = |(level, name), to: libc::c_int| {
                let (from, len) = ((&raw const to).cast(), size_of::<libc::c_int>() as u32);
                // SAFETY: the place is valid for reads of as many bytes.
                let done = unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, from, len) };
                (done < 0).then(|| io::Error::last_os_error().raw_os_error().unwrap())
            };
            for option in refused {
                assert_eq!((set(option, 1), set(option, 0)), (Some(libc::ENOPROTOOPT), None));
            }
        },
    );
}
