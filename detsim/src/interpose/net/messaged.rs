//! Messages of parts, many at once, and to groups: one program on real loopback and in a run, with equal
//! outcomes.

use std::io::{IoSlice, IoSliceMut, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsRawFd;
use std::ptr;
use std::time::Duration;

use detsim_executor::{Sim, blocking};
use libc::{c_int, cmsghdr, iovec, mmsghdr, msghdr};

type Seen = Vec<String>;

fn given(name: &str, gave: isize) -> String {
    match gave {
        -1 => format!("{name}: error {:?}", std::io::Error::last_os_error().raw_os_error()),
        gave => format!("{name}: {gave}"),
    }
}

/// A message of these parts, to nobody, without control messages.
fn message(parts: &mut [iovec]) -> msghdr {
    // SAFETY: zeros are a message of nothing.
    let mut message: msghdr = unsafe { std::mem::zeroed() };
    (message.msg_iov, message.msg_iovlen) = (parts.as_mut_ptr(), parts.len() as _);
    message
}

fn part(bytes: &mut [u8]) -> iovec {
    iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() }
}

/// Room for one control message.
#[repr(C, align(8))]
struct Control([u8; 24]);

impl Control {
    fn new(level: c_int, kind: c_int, data: u16) -> Self {
        let mut room = Self([0; 24]);
        // SAFETY: the room is aligned and longer than the header with its data.
        unsafe {
            let header = room.0.as_mut_ptr().cast::<cmsghdr>();
            (*header).cmsg_len = libc::CMSG_LEN(2) as _;
            ((*header).cmsg_level, (*header).cmsg_type) = (level, kind);
            libc::CMSG_DATA(header).cast::<u16>().write_unaligned(data);
        }
        room
    }
}

fn datagrams() -> (UdpSocket, UdpSocket) {
    let [a, b] = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").unwrap());
    a.connect(b.local_addr().unwrap()).unwrap();
    b.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    (a, b)
}

fn parts_and_cuts() -> Seen {
    let (a, b) = datagrams();
    let (mut one, mut two, mut none) = (*b"abc", *b"defgh", []);
    let mut parts = [part(&mut one), part(&mut none), part(&mut two)];
    let sent = message(&mut parts);
    let mut seen = Seen::new();
    for room in [2, 9] {
        // SAFETY: the message is valid for the call.
        seen.push(given("sent", unsafe { libc::sendmsg(a.as_raw_fd(), &raw const sent, 0) }));
        let (mut first, mut second) = ([b'-'; 3], vec![b'-'; room]);
        let mut parts = [part(&mut first), part(&mut second)];
        let mut received = message(&mut parts);
        // SAFETY: zeros are an address of nobody.
        let mut from: libc::sockaddr_in = unsafe { std::mem::zeroed() };
        received.msg_name = (&raw mut from).cast();
        received.msg_namelen = size_of::<libc::sockaddr_in>() as _;
        // SAFETY: as above.
        let got = unsafe { libc::recvmsg(b.as_raw_fd(), &raw mut received, 0) };
        seen.push(given("received", got));
        let is_from = u16::from_be(from.sin_port) == a.local_addr().unwrap().port();
        let is_cut = received.msg_flags & libc::MSG_TRUNC != 0;
        let text = [&first[..], &second].map(String::from_utf8_lossy).concat();
        seen.push(format!("{text} {is_from} {is_cut} {}", received.msg_controllen));
    }
    a.send(b"long enough").unwrap();
    let mut brief = [0; 4];
    let (place, flags) = (brief.as_mut_ptr().cast(), libc::MSG_TRUNC | libc::MSG_PEEK);
    // SAFETY: there is room for so many bytes.
    seen.push(given("length", unsafe { libc::recv(b.as_raw_fd(), place, 4, flags) }));
    seen.push(given("cut", b.recv(&mut brief).unwrap() as isize));
    let mut received = message(&mut []);
    // SAFETY: as above.
    let got = unsafe { libc::recvmsg(b.as_raw_fd(), &raw mut received, libc::MSG_DONTWAIT) };
    seen.push(given("no more", got));
    seen
}

fn many_at_once() -> Seen {
    let (a, b) = datagrams();
    let mut texts = [*b"one", *b"two", *b"six"];
    let mut parts = texts.each_mut().map(|text| [part(text)]);
    let mut sent = parts.each_mut().map(|parts| mmsghdr { msg_hdr: message(parts), msg_len: 0 });
    let mut rooms = [[0_u8; 8]; 5];
    let mut parts = rooms.each_mut().map(|room| [part(room)]);
    let mut received =
        parts.each_mut().map(|parts| mmsghdr { msg_hdr: message(parts), msg_len: 0 });
    let mut seen = Seen::new();
    let (from, to, once) = (a.as_raw_fd(), b.as_raw_fd(), libc::MSG_WAITFORONE);
    // SAFETY: the messages are valid for the calls.
    unsafe {
        seen.push(given("sent", libc::sendmmsg(from, sent.as_mut_ptr(), 3, 0) as isize));
        std::thread::sleep(Duration::from_millis(20));
        let place = received.as_mut_ptr();
        seen.push(given("received", libc::recvmmsg(to, place, 5, once, ptr::null_mut()) as isize));
        seen.push(given("no more", libc::recvmmsg(to, place, 5, once, ptr::null_mut()) as isize));
    }
    let lens: Vec<u32> = sent.iter().chain(&received).map(|message| message.msg_len).collect();
    seen.push(format!(
        "{lens:?} {:?}",
        rooms.map(|room| String::from_utf8_lossy(&room).into_owned())
    ));
    seen
}

fn control_messages() -> Seen {
    let (a, b) = datagrams();
    let mut seen = Seen::new();
    let asked = [
        (libc::SOL_UDP, libc::UDP_SEGMENT, 3),
        (libc::SOL_SOCKET, libc::SCM_RIGHTS, 0),
        (libc::IPPROTO_IP, 77, 0),
    ];
    for (level, kind, data) in asked {
        let (mut text, mut control) = (*b"abcdefgh", Control::new(level, kind, data));
        let mut parts = [part(&mut text)];
        let mut sent = message(&mut parts);
        sent.msg_control = (&raw mut control).cast();
        // SAFETY: the call computes a number.
        sent.msg_controllen = unsafe { libc::CMSG_SPACE(2) } as _;
        // SAFETY: the message is valid for the call.
        seen.push(given("sent", unsafe { libc::sendmsg(a.as_raw_fd(), &raw const sent, 0) }));
        std::thread::sleep(Duration::from_millis(20));
        b.set_nonblocking(true).unwrap();
        let mut room = [0; 16];
        while let Ok(len) = b.recv(&mut room) {
            seen.push(String::from_utf8_lossy(&room[..len]).into_owned());
        }
    }
    seen
}

fn streams_of_parts() -> Seen {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut a = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let mut b = listener.accept().unwrap().0;
    let (mut one, mut two) = (*b"abc", *b"defgh");
    let mut parts = [part(&mut one), part(&mut two)];
    let sent = message(&mut parts);
    let mut seen = Seen::new();
    // SAFETY: the message is valid for the call.
    seen.push(given("sent", unsafe { libc::sendmsg(a.as_raw_fd(), &raw const sent, 0) }));
    std::thread::sleep(Duration::from_millis(20));
    let (mut first, mut second) = ([b'-'; 2], [b'-'; 9]);
    let mut parts = [part(&mut first), part(&mut second)];
    let mut received = message(&mut parts);
    // SAFETY: as above.
    seen.push(given("got", unsafe { libc::recvmsg(b.as_raw_fd(), &raw mut received, 0) }));
    seen.push([&first[..], &second].map(String::from_utf8_lossy).concat());
    // More parts than a call takes, and none.
    let many = vec![IoSlice::new(b"x"); 2_000];
    seen.push(format!("{:?}", b.write_vectored(&many).unwrap()));
    seen.push(format!("{:?} {:?}", b.write_vectored(&[]), b.write(b"")));
    let mut all = vec![0; 1_024];
    a.read_exact(&mut all).unwrap();
    b.write_all(b"yz").unwrap();
    let mut rooms = vec![[0_u8; 1]; 2_000];
    let mut rooms: Vec<IoSliceMut<'_>> = rooms.iter_mut().map(|r| IoSliceMut::new(r)).collect();
    seen.push(format!("{:?}", a.read_vectored(&mut rooms).unwrap()));
    seen
}

fn groups() -> Seen {
    let group = Ipv4Addr::new(239, 1, 2, 3);
    let a = UdpSocket::bind("0.0.0.0:0").unwrap();
    let b = UdpSocket::bind("127.0.0.1:0").unwrap();
    a.set_read_timeout(Some(Duration::from_millis(60))).unwrap();
    let port = a.local_addr().unwrap().port();
    let on = Ipv4Addr::LOCALHOST;
    // SAFETY: an address is a number of four bytes.
    unsafe {
        let (fd, from) = (b.as_raw_fd(), (&raw const on).cast());
        libc::setsockopt(fd, libc::IPPROTO_IP, libc::IP_MULTICAST_IF, from, 4);
    }
    let mut room = [0; 8];
    let error = |result: std::io::Result<()>| result.map_err(|error| error.raw_os_error());
    let mut tell = |text: &[u8]| {
        b.send_to(text, (group, port)).unwrap();
        a.recv(&mut room).map_err(|error| error.kind())
    };
    let mut seen = vec![format!("{:?}", tell(b"nobody"))];
    seen.push(format!("{:?}", error(a.join_multicast_v4(&group, &on))));
    seen.push(format!("{:?}", error(a.join_multicast_v4(&group, &on))));
    seen.push(format!("{:?}", error(a.join_multicast_v4(&on, &on))));
    seen.push(format!("{:?}", tell(b"all")));
    b.set_multicast_loop_v4(false).unwrap();
    // The loopback interface gives back what it is given, whatever that says.
    seen.push(format!("{:?}", b.multicast_loop_v4()));
    b.set_multicast_loop_v4(true).unwrap();
    b.set_multicast_ttl_v4(3).unwrap();
    seen.push(format!("{:?} {:?}", b.multicast_ttl_v4(), tell(b"again")));
    seen.push(format!("{:?}", error(a.leave_multicast_v4(&group, &on))));
    seen.push(format!("{:?}", error(a.leave_multicast_v4(&group, &on))));
    seen.push(format!("{:?}", tell(b"gone")));
    seen
}

#[test]
fn messages_are_in_a_run_what_they_are_on_real_loopback() {
    super::link_in();
    let programs = [parts_and_cuts, many_at_once, control_messages, streams_of_parts, groups];
    for program in programs {
        let real = program();
        for seed in 0..10 {
            let inside = Sim::new(seed).block_on(async move { blocking(program).await });
            assert_eq!(inside.unwrap(), real, "seed {seed}");
        }
    }
}
