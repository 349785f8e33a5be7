//! `poll`, `select` and `epoll` of std's sockets: one program on real loopback and in a run, with equal
//! outcomes.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::Duration;

use detsim_executor::{Sim, blocking};
use libc::{EPOLLET, EPOLLIN, EPOLLONESHOT, EPOLLOUT, EPOLLRDHUP, c_int, epoll_event, pollfd};

type Seen = Vec<String>;

/// What the clock of libc shows.
fn now() -> Duration {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the place is valid for the call.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

/// Lets what is on its way arrive.
fn settle() {
    std::thread::sleep(Duration::from_millis(20));
}

fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let a = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let b = listener.accept().unwrap().0;
    settle();
    (a, b)
}

struct Epoll(OwnedFd);

impl Epoll {
    fn new() -> Self {
        // SAFETY: the descriptor is new, and nobody else's.
        Self(unsafe { OwnedFd::from_raw_fd(libc::epoll_create1(libc::EPOLL_CLOEXEC)) })
    }

    fn control(&self, what: c_int, fd: &impl AsRawFd, events: c_int, data: u64) -> String {
        let mut event = epoll_event { events: events as u32, u64: data };
        let (epoll, fd) = (self.0.as_raw_fd(), fd.as_raw_fd());
        // SAFETY: the event is valid for the call.
        match unsafe { libc::epoll_ctl(epoll, what, fd, &raw mut event) } {
            0 => "ok".into(),
            _ => format!("error {:?}", std::io::Error::last_os_error().raw_os_error()),
        }
    }

    fn add(&self, fd: &impl AsRawFd, events: c_int, data: u64) -> String {
        self.control(libc::EPOLL_CTL_ADD, fd, events, data)
    }

    fn wait(&self, limit_ms: c_int) -> String {
        let mut events = [epoll_event { events: 0, u64: 0 }; 8];
        let (epoll, place) = (self.0.as_raw_fd(), events.as_mut_ptr());
        // SAFETY: there is room for so many.
        let count = unsafe { libc::epoll_wait(epoll, place, 8, limit_ms) };
        let told = events[..count as usize].iter().map(|event| (event.u64, event.events));
        let mut told: Vec<(u64, u32)> = told.collect();
        told.sort_unstable();
        format!("{told:x?}")
    }
}

/// A level and its changes, once and again, ends and errors.
fn levels_and_edges() -> Seen {
    let (mut a, mut b) = pair();
    let (level, edge, once) = (Epoll::new(), Epoll::new(), Epoll::new());
    let mut seen = vec![
        level.add(&a, EPOLLIN | EPOLLRDHUP, 1),
        level.add(&a, EPOLLIN, 1),
        edge.add(&a, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, 2),
        once.add(&a, EPOLLOUT | EPOLLONESHOT, 3),
        once.control(libc::EPOLL_CTL_MOD, &b, EPOLLIN, 4),
        once.control(libc::EPOLL_CTL_DEL, &b, 0, 4),
        format!("{} {} {}", level.wait(0), edge.wait(0), edge.wait(0)),
        format!("{} {}", once.wait(0), once.wait(0)),
        once.control(libc::EPOLL_CTL_MOD, &a, EPOLLOUT | EPOLLONESHOT, 5),
        once.wait(0),
    ];
    for _ in 0..2 {
        b.write_all(b"xy").unwrap();
        settle();
        seen.push(format!("{} {} {}", level.wait(-1), edge.wait(-1), edge.wait(0)));
    }
    a.read_exact(&mut [0; 4]).unwrap();
    seen.push(format!("{} {}", level.wait(0), edge.wait(0)));
    b.shutdown(std::net::Shutdown::Write).unwrap();
    settle();
    seen.push(format!("{} {}", level.wait(0), edge.wait(0)));
    drop(b);
    a.write_all(b"z").unwrap();
    settle();
    seen.push(format!("{} {}", level.wait(0), once.wait(0)));
    seen.push(level.control(libc::EPOLL_CTL_DEL, &a, 0, 0));
    drop(a);
    seen.push(format!("{} {}", level.wait(0), edge.wait(0)));
    seen
}

/// A reactor as others write them: a socket that listens, and an `eventfd` by which other threads wake it.
fn reactor() -> Seen {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    // SAFETY: the descriptor is new, and nobody else's.
    let wake = unsafe { OwnedFd::from_raw_fd(libc::eventfd(0, libc::EFD_NONBLOCK)) };
    let mut wake = std::fs::File::from(wake);
    let epoll = Epoll::new();
    let mut seen = vec![epoll.add(&wake, EPOLLIN | EPOLLET, 9), epoll.add(&listener, EPOLLIN, 1)];
    let address = listener.local_addr().unwrap();
    let mut waker = wake.try_clone().unwrap();
    let other = std::thread::spawn(move || {
        settle();
        waker.write_all(&1_u64.to_ne_bytes()).unwrap();
        settle();
        let stream = TcpStream::connect(address).unwrap();
        settle();
        drop(stream);
    });
    seen.push(epoll.wait(-1));
    seen.push(format!("{:?}", wake.read(&mut [0; 8])));
    seen.push(epoll.wait(-1));
    let (stream, _) = listener.accept().unwrap();
    seen.push(epoll.add(&stream, EPOLLIN | EPOLLRDHUP, 2));
    seen.push(epoll.wait(-1));
    other.join().unwrap();
    let begun = now();
    seen.push(format!("{} {}", epoll.control(libc::EPOLL_CTL_DEL, &stream, 0, 0), epoll.wait(40)));
    seen.push(format!("{}", now() - begun >= Duration::from_millis(40)));
    seen
}

fn polls(all: &[(&dyn AsRawFd, i16)], limit_ms: c_int) -> String {
    let ask = |(fd, events): &(&dyn AsRawFd, i16)| pollfd {
        fd: fd.as_raw_fd(),
        events: *events,
        revents: 0,
    };
    let mut all: Vec<pollfd> = all.iter().map(ask).collect();
    // SAFETY: they are valid for the call.
    let count = unsafe { libc::poll(all.as_mut_ptr(), all.len() as _, limit_ms) };
    let told: Vec<i16> = all.iter().map(|one| one.revents).collect();
    format!("{count} {told:x?}")
}

fn selects(reads: &[&dyn AsRawFd], writes: &[&dyn AsRawFd], limit_ms: i64) -> String {
    // SAFETY: zeros are an empty set; descriptors are below the size of one.
    unsafe {
        let set = |fds: &[&dyn AsRawFd]| {
            let mut set: libc::fd_set = std::mem::zeroed();
            fds.iter().for_each(|fd| libc::FD_SET(fd.as_raw_fd(), &raw mut set));
            set
        };
        let (mut r, mut w) = (set(reads), set(writes));
        let mut limit = libc::timeval { tv_sec: 0, tv_usec: limit_ms * 1_000 };
        let nothing = std::ptr::null_mut();
        let count = libc::select(1_024, &raw mut r, &raw mut w, nothing, &raw mut limit);
        let is_set = |fds: &[&dyn AsRawFd], set: &libc::fd_set| {
            fds.iter().map(|fd| libc::FD_ISSET(fd.as_raw_fd(), set)).collect::<Vec<bool>>()
        };
        format!("{count} {:?} {:?}", is_set(reads, &r), is_set(writes, &w))
    }
}

/// Sockets of the simulation beside a pipe of the system.
fn polled_beside_pipes() -> Seen {
    let (a, mut b) = pair();
    let (mut reads, mut writes) = std::io::pipe().unwrap();
    let datagrams = UdpSocket::bind("127.0.0.1:0").unwrap();
    let (i, o) = (libc::POLLIN, libc::POLLOUT);
    let mut seen = vec![
        polls(&[(&a, i), (&reads, i)], 10),
        polls(&[(&a, i | o), (&writes, o), (&datagrams, o)], -1),
        selects(&[&a, &reads, &datagrams], &[], 10),
        selects(&[&a], &[&a, &writes], 10),
    ];
    writes.write_all(b"x").unwrap();
    seen.push(polls(&[(&a, i), (&reads, i)], -1));
    reads.read_exact(&mut [0]).unwrap();
    b.write_all(b"x").unwrap();
    seen.push(polls(&[(&a, i), (&reads, i)], -1));
    seen.push(selects(&[&a, &reads], &[], 1_000));
    let address = datagrams.local_addr().unwrap();
    let other = std::thread::spawn(move || {
        settle();
        writes.write_all(b"y").unwrap();
        settle();
        UdpSocket::bind("127.0.0.1:0").unwrap().send_to(b"z", address).unwrap();
        settle();
        drop((writes, b));
    });
    seen.push(polls(&[(&datagrams, i), (&reads, i)], 5_000));
    reads.read_exact(&mut [0]).unwrap();
    seen.push(polls(&[(&datagrams, i), (&reads, i)], 5_000));
    datagrams.recv(&mut [0]).unwrap();
    seen.push(polls(&[(&datagrams, i), (&reads, i)], 5_000));
    other.join().unwrap();
    seen
}

#[test]
fn polling_sees_in_a_run_what_it_sees_on_real_loopback() {
    super::link_in();
    for program in [levels_and_edges, reactor, polled_beside_pipes] {
        let real = program();
        for seed in 0..10 {
            let sim = Sim::new(seed);
            let inside = sim.block_on(async move { blocking(program).await });
            assert_eq!(inside.unwrap(), real, "seed {seed}");
        }
    }
}
