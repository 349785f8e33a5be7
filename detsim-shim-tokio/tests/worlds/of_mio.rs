//! Programs with no runtime but mio's `Poll`, in the middle of a run as on the system.

use super::Log;
use super::tokio;

use std::io::{ErrorKind, Read, Write};
use std::thread;
use std::time::Duration;

use mio::net::{TcpListener, TcpStream, UdpSocket};
use mio::{Events, Interest, Poll, Token, Waker};

const ANY: &str = "127.0.0.1:0";
const BOTH: Interest = Interest::READABLE.add(Interest::WRITABLE);
const LISTENER: Token = Token(0);
const CLIENT: Token = Token(1);
const SERVER: Token = Token(2);
const WAKER: Token = Token(3);

/// Polls until something is there, and says for whom.
fn next(poll: &mut Poll, events: &mut Events) -> Vec<Token> {
    loop {
        poll.poll(events, Some(Duration::from_secs(5))).unwrap();
        let mut tokens: Vec<Token> = events.iter().map(|event| event.token()).collect();
        tokens.sort_unstable();
        if !tokens.is_empty() {
            return tokens;
        }
    }
}

/// Reads as mio's users do: until it would block. The bytes, and whether the peer has ended.
fn read_all(stream: &mut TcpStream) -> (Vec<u8>, bool) {
    let (mut all, mut buffer) = (Vec::new(), [0; 16]);
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return (all, true),
            Ok(bytes) => all.extend_from_slice(&buffer[..bytes]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return (all, false),
            Err(error) => panic!("{error}"),
        }
    }
}

pub(crate) async fn an_echo_in_a_loop_of_mio(log: Log) {
    let (mut poll, mut events) = (Poll::new().unwrap(), Events::with_capacity(8));
    let mut listener = TcpListener::bind(ANY.parse().unwrap()).unwrap();
    let address = listener.local_addr().unwrap();
    poll.registry().register(&mut listener, LISTENER, Interest::READABLE).unwrap();
    let mut client = TcpStream::connect(address).unwrap();
    poll.registry().register(&mut client, CLIENT, BOTH).unwrap();
    let (mut server, mut heard, mut sent) = (None::<TcpStream>, Vec::new(), false);
    while heard.len() < 40 {
        for token in next(&mut poll, &mut events) {
            match (token, &mut server) {
                (LISTENER, server) => {
                    let (mut stream, from) = listener.accept().unwrap();
                    log.add(from == client.local_addr().unwrap());
                    log.done("nobody else", listener.accept());
                    poll.registry().register(&mut stream, SERVER, Interest::READABLE).unwrap();
                    *server = Some(stream);
                }
                (CLIENT, _) if !sent => {
                    log.result("write", client.write(&[7; 40]));
                    sent = true;
                }
                (CLIENT, _) => heard.extend(read_all(&mut client).0),
                (_, Some(server)) => {
                    let (bytes, _) = read_all(server);
                    server.write_all(&bytes).unwrap();
                }
                _ => {}
            }
        }
    }
    log.add(heard == [7; 40]);
    let mut server = server.unwrap();
    drop(client);
    assert!(next(&mut poll, &mut events).contains(&SERVER));
    log.add(format!("{:?}", read_all(&mut server)));
    tokio::task::yield_now().await;
}

pub(crate) async fn a_refused_connect_is_told_by_mio(log: Log) {
    let (mut poll, mut events) = (Poll::new().unwrap(), Events::with_capacity(8));
    let address = std::net::TcpListener::bind(ANY).unwrap().local_addr().unwrap();
    match TcpStream::connect(address) {
        Err(error) => log.add(format!("refused {:?}", error.raw_os_error())),
        Ok(mut stream) => {
            poll.registry().register(&mut stream, CLIENT, Interest::WRITABLE).unwrap();
            log.add(format!("{:?}", next(&mut poll, &mut events)));
            let error = stream.take_error().unwrap();
            log.add(format!("refused {:?}", error.and_then(|error| error.raw_os_error())));
        }
    }
    tokio::task::yield_now().await;
}

pub(crate) async fn datagrams_in_a_loop_of_mio(log: Log) {
    let (mut poll, mut events) = (Poll::new().unwrap(), Events::with_capacity(8));
    let [mut a, mut b] = [(); 2].map(|()| UdpSocket::bind(ANY.parse().unwrap()).unwrap());
    poll.registry().register(&mut a, CLIENT, Interest::READABLE).unwrap();
    poll.registry().register(&mut b, SERVER, Interest::READABLE).unwrap();
    log.result("send", a.send_to(b"ping", b.local_addr().unwrap()));
    log.add(format!("{:?}", next(&mut poll, &mut events)));
    let mut buffer = [0; 8];
    let (bytes, from) = b.recv_from(&mut buffer).unwrap();
    log.add(from == a.local_addr().unwrap());
    log.result("nothing left", b.recv_from(&mut [0; 8]).map(|(bytes, _)| bytes));
    log.result("answer", b.send_to(&buffer[..bytes], from));
    log.add(format!("{:?}", next(&mut poll, &mut events)));
    log.result("recv", a.recv(&mut buffer));
    tokio::task::yield_now().await;
}

pub(crate) async fn a_loop_of_mio_times_out_and_is_woken(log: Log) {
    let (mut poll, mut events) = (Poll::new().unwrap(), Events::with_capacity(8));
    let waker = Waker::new(poll.registry(), WAKER).unwrap();
    poll.poll(&mut events, Some(Duration::from_millis(20))).unwrap();
    log.add(events.is_empty());
    let thread = thread::spawn(move || {
        thread::sleep(Duration::from_millis(30));
        waker.wake().unwrap();
        waker
    });
    log.add(format!("{:?}", next(&mut poll, &mut events)));
    drop(thread.join().unwrap());
    tokio::task::yield_now().await;
}
