//! Programs as somebody writes them who has read a tutorial: whole servers, and what goes wrong in them.

use super::Log;
use super::tokio;

use std::io;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, copy};
use tokio::net::{TcpListener, TcpSocket, TcpStream, UdpSocket};
use tokio::spawn;
use tokio::time::timeout;

const ANY: &str = "127.0.0.1:0";

/// Answers requests of HTTP/1.1, several on a connection, until told to close.
async fn serve(stream: TcpStream) -> io::Result<()> {
    let (read, mut write) = stream.into_split();
    let mut lines = BufReader::new(read).lines();
    loop {
        let mut request = Vec::new();
        while let Some(line) = lines.next_line().await?.filter(|line| !line.is_empty()) {
            request.push(line);
        }
        let Some(first) = request.first() else { return Ok(()) };
        let path = first.split(' ').nth(1).unwrap_or("?");
        let body = format!("you asked for {path}");
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
        write.write_all(head.as_bytes()).await?;
        write.write_all(body.as_bytes()).await?;
        if request.iter().any(|line| line == "connection: close") {
            return Ok(());
        }
    }
}

pub(crate) async fn requests_in_a_row_are_answered_in_a_row(log: Log) {
    let listener = TcpListener::bind(ANY).await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            drop(spawn(serve(stream)));
        }
    }));
    let mut client = TcpStream::connect(address).await.unwrap();
    let two = "GET /a HTTP/1.1\r\n\r\nGET /b HTTP/1.1\r\nconnection: close\r\n\r\n";
    client.write_all(two.as_bytes()).await.unwrap();
    let mut all = String::new();
    log.result("answered", client.read_to_string(&mut all).await);
    log.add(all.replace("\r\n", "|"));
}

pub(crate) async fn a_hundred_connects_at_once_are_all_served(log: Log) {
    let listener = TcpListener::bind(ANY).await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            drop(spawn(async move {
                let (mut read, mut write) = stream.split();
                copy(&mut read, &mut write).await
            }));
        }
    }));
    let asks = (0..100_u8).map(|n| {
        spawn(async move {
            let mut stream = TcpStream::connect(address).await?;
            stream.write_all(&[n]).await?;
            stream.shutdown().await?;
            let mut back = Vec::new();
            stream.read_to_end(&mut back).await?;
            Ok::<_, io::Error>(back == [n])
        })
    });
    let mut served = 0;
    for ask in asks.collect::<Vec<_>>() {
        served += usize::from(ask.await.unwrap().unwrap());
    }
    log.add(served);
}

pub(crate) async fn a_reader_that_gives_up_closes_and_the_writer_hears_of_it(log: Log) {
    let listener = TcpListener::bind(ANY).await.unwrap();
    let address = listener.local_addr().unwrap();
    let client = spawn(async move {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.read_exact(&mut [0; 10]).await.unwrap();
    });
    let (mut server, _) = listener.accept().await.unwrap();
    let wrote = server.write_all(&vec![7; 64 << 20]).await.unwrap_err();
    log.add(wrote.kind() == io::ErrorKind::ConnectionReset || wrote.kind() == io::ErrorKind::BrokenPipe);
    client.await.unwrap();
}

pub(crate) async fn both_write_much_and_read_afterwards(log: Log) {
    let listener = TcpListener::bind(ANY).await.unwrap();
    let address = listener.local_addr().unwrap();
    let both = |mut stream: TcpStream| async move {
        let much = vec![7; 32 << 20];
        let is_stuck = timeout(Duration::from_millis(300), stream.write_all(&much)).await.is_err();
        (is_stuck, stream)
    };
    let (client, server) = tokio::join!(TcpStream::connect(address), listener.accept());
    let stuck = tokio::join!(both(client.unwrap()), both(server.unwrap().0));
    log.add(format!("{} {}", stuck.0.0, stuck.1.0));
}

pub(crate) async fn a_server_starts_again_on_its_port_while_clients_linger(log: Log) {
    let listener = TcpListener::bind(ANY).await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut client = TcpStream::connect(address).await.unwrap();
    let (server, _) = listener.accept().await.unwrap();
    drop((listener, server));
    log.result("end", client.read(&mut [0; 1]).await);
    let plain = TcpSocket::new_v4().unwrap();
    log.done("without reuse", plain.bind(address));
    let again = TcpListener::bind(address).await;
    log.done("tokio's bind", again);
    drop(client);
}

pub(crate) async fn a_port_of_tcp_is_not_one_of_udp(log: Log) {
    let tcp = TcpListener::bind(ANY).await.unwrap();
    let address = tcp.local_addr().unwrap();
    log.done("udp", UdpSocket::bind(address).await);
    let udp = UdpSocket::bind(ANY).await.unwrap();
    log.done("refused", TcpStream::connect(udp.local_addr().unwrap()).await);
}

pub(crate) async fn zero_linger_in_the_middle_of_bytes(log: Log) {
    let listener = TcpListener::bind(ANY).await.unwrap();
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_zero_linger().unwrap();
    let address = listener.local_addr().unwrap();
    let (client, accepted) = tokio::join!(socket.connect(address), listener.accept());
    let (mut client, mut server) = (client.unwrap(), accepted.unwrap().0);
    client.write_all(b"abc").await.unwrap();
    let mut told = [0; 3];
    server.read_exact(&mut told).await.unwrap();
    drop(client);
    log.result("reset", server.read(&mut told).await);
    log.result("then the end", server.read(&mut told).await);
    log.done("and nobody", server.write_all(b"x").await);
}

pub(crate) async fn a_dual_stack_server_names_its_clients(log: Log) {
    let listener = TcpListener::bind("[::]:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    for host in ["127.0.0.1", "::1"] {
        let (client, accepted) =
            tokio::join!(TcpStream::connect((host, port)), listener.accept());
        let (client, (_, from)) = (client.unwrap(), accepted.unwrap());
        log.add(from.ip());
        log.add(client.peer_addr().unwrap().ip());
    }
    log.done("v4 beside it", TcpListener::bind(("0.0.0.0", port)).await);
}
