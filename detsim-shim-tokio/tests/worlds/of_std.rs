//! Programs that make sockets of std's and give them to tokio, or take them from it.

use super::Log;
use super::tokio;

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream, UdpSocket};
use std::thread;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

const ANY: &str = "127.0.0.1:0";

pub(crate) async fn a_client_of_std_meets_a_listener_of_tokio(log: Log) {
    let listener = tokio::net::TcpListener::bind(ANY).await.unwrap();
    let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    client.write_all(b"hello").unwrap();
    let (mut stream, from) = listener.accept().await.unwrap();
    log.add(from == client.local_addr().unwrap());
    let mut told = [0; 5];
    stream.read_exact(&mut told).await.unwrap();
    log.add(String::from_utf8_lossy(&told));
    stream.write_all(b"bye").await.unwrap();
    drop(stream);
    let mut rest = String::new();
    log.result("rest", client.read_to_string(&mut rest));
    log.add(rest);
}

pub(crate) async fn a_listener_of_std_becomes_one_of_tokio(log: Log) {
    let listener = TcpListener::bind(ANY).unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    let listener = tokio::net::TcpListener::from_std(listener).unwrap();
    log.add(listener.local_addr().unwrap() == address);
    let client = tokio::net::TcpStream::connect(address);
    let (client, accepted) = tokio::join!(client, listener.accept());
    let (mut client, mut server) = (client.unwrap(), accepted.unwrap().0);
    client.write_all(b"x").await.unwrap();
    log.result("read", server.read(&mut [0; 8]).await);
}

pub(crate) async fn what_is_connected_can_be_accepted_at_once(log: Log) {
    let listener = TcpListener::bind(ANY).unwrap();
    listener.set_nonblocking(true).unwrap();
    log.done("nobody there", listener.accept());
    for _ in 0..3 {
        let client = TcpStream::connect(listener.local_addr().unwrap());
        log.done("connect", client);
        log.done("accept", listener.accept());
    }
    log.done("nobody left", listener.accept());
}

pub(crate) async fn a_stream_goes_to_std_and_back(log: Log) {
    let listener = tokio::net::TcpListener::bind(ANY).await.unwrap();
    let address = listener.local_addr().unwrap();
    let (client, accepted) =
        tokio::join!(tokio::net::TcpStream::connect(address), listener.accept());
    let (mut client, server) = (client.unwrap(), accepted.unwrap().0);
    let mut of_std = server.into_std().unwrap();
    log.result("nothing there", of_std.read(&mut [0; 1]));
    of_std.set_nonblocking(false).unwrap();
    client.write_all(b"Hello std!").await.unwrap();
    let mut told = [0; 10];
    of_std.read_exact(&mut told).unwrap();
    log.add(String::from_utf8_lossy(&told));
    of_std.set_nodelay(true).unwrap();
    of_std.set_nonblocking(true).unwrap();
    let mut server = tokio::net::TcpStream::from_std(of_std).unwrap();
    log.result("nodelay", server.nodelay());
    client.write_all(b"Hello tokio").await.unwrap();
    drop(client);
    let mut rest = String::new();
    log.result("rest", server.read_to_string(&mut rest).await);
    log.add(rest);
}

pub(crate) async fn a_thread_serves_with_std(log: Log) {
    let listener = TcpListener::bind(ANY).unwrap();
    let address = listener.local_addr().unwrap();
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut all = Vec::new();
        stream.read_to_end(&mut all).unwrap();
        all.reverse();
        stream.write_all(&all).unwrap();
        all.len()
    });
    let mut client = tokio::net::TcpStream::connect(address).await.unwrap();
    client.write_all(&[b"ab"[..].repeat(5_000), b"c".to_vec()].concat()).await.unwrap();
    client.shutdown().await.unwrap();
    let mut back = Vec::new();
    client.read_to_end(&mut back).await.unwrap();
    log.add(format!("{} {}", back.len(), String::from_utf8_lossy(&back[..3])));
    log.add(server.join().unwrap());
}

pub(crate) async fn errors_of_std(log: Log) {
    let listener = TcpListener::bind(ANY).unwrap();
    let address = listener.local_addr().unwrap();
    log.done("twice", TcpListener::bind(address));
    log.done("elsewhere", TcpListener::bind("9.9.9.9:0"));
    drop(listener);
    log.done("refused", TcpStream::connect(address));
    log.done("refused in time", TcpStream::connect_timeout(&address, Duration::from_secs(5)));
    let again = TcpListener::bind(address).unwrap();
    again.set_nonblocking(true).unwrap();
    log.done("nobody", again.accept());
    log.done("no peer", UdpSocket::bind(ANY).unwrap().send(b"x"));
}

pub(crate) async fn halves_and_clones_of_std(log: Log) {
    let listener = TcpListener::bind(ANY).unwrap();
    let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (server, _) = listener.accept().unwrap();
    let mut clone = server.try_clone().unwrap();
    drop(server);
    client.write_all(b"abc").unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    log.result("peek", clone.peek(&mut [0; 2]));
    let mut all = String::new();
    log.result("all", clone.read_to_string(&mut all));
    log.done("back", clone.write_all(b"de"));
    drop(clone);
    log.result("rest", client.read_to_string(&mut all));
    log.add(all);
    log.done("after its end", client.write(b"x"));
}

pub(crate) async fn datagrams_of_std(log: Log) {
    let server = UdpSocket::bind(ANY).unwrap();
    server.set_nonblocking(true).unwrap();
    log.result("nothing there", server.recv(&mut [0; 1]));
    let address = server.local_addr().unwrap();
    let server = tokio::net::UdpSocket::from_std(server).unwrap();
    let client = UdpSocket::bind(ANY).unwrap();
    client.connect(address).unwrap();
    log.result("sent", client.send(b"anybody?"));
    let mut told = [0; 64];
    let (len, from) = server.recv_from(&mut told).await.unwrap();
    log.add(format!("{len} {}", from == client.local_addr().unwrap()));
    log.result("answered", server.send_to(b"me", from).await);
    log.result("peeked", client.peek(&mut told));
    log.result("received", client.recv(&mut [0; 1]));
    client.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    log.result("no more", client.recv(&mut told));
}

pub(crate) async fn names_of_std(log: Log) {
    use std::net::ToSocketAddrs;
    let found = ("localhost", 80).to_socket_addrs().unwrap();
    log.add(found.map(|address| address.ip().is_loopback()).reduce(|a, b| a && b).unwrap());
    log.add("[::1]:7".to_socket_addrs().unwrap().next().unwrap());
    log.done("no such name", ("nobody.invalid", 1).to_socket_addrs());
}

pub(crate) async fn a_datagram_of_the_same_host_is_there_when_it_was_sent(log: Log) {
    let [sender, receiver] = [(); 2].map(|()| UdpSocket::bind(ANY).unwrap());
    receiver.set_nonblocking(true).unwrap();
    log.result("nothing there", receiver.recv(&mut [0; 8]));
    let address = receiver.local_addr().unwrap();
    for text in ["one", "three"] {
        log.result("send", sender.send_to(text.as_bytes(), address));
    }
    log.result("recv", receiver.recv(&mut [0; 8]));
    log.result("recv", receiver.recv(&mut [0; 8]));
    log.result("nothing left", receiver.recv(&mut [0; 8]));
    // Nor does the news that nobody has a port take any time.
    drop(receiver);
    sender.set_nonblocking(true).unwrap();
    sender.connect(address).unwrap();
    log.result("send", sender.send(b"lost"));
    log.result("recv", sender.recv(&mut [0; 8]));
    log.result("nothing more", sender.recv(&mut [0; 8]));
}
