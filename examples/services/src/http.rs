//! HTTP/1.1 on a bare stream.
//!
//! Owns: a server that echoes ([`serve`]) and a client that sends all its requests before it reads an
//! answer ([`fetch_all`]). Does not own: chunks, trailers, or anything a browser would want. Invariants: requests are
//! answered in their order, on one connection; what follows a request in the buffer is the next one.

use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, ToSocketAddrs};

use crate::Bug;

/// Bytes of a head, and of a body.
const HEAD_BYTES_MAX: usize = 8_192;
const BODY_BYTES_MAX: usize = 65_536;

/// A request, or an answer to one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The first line: `GET / HTTP/1.1`, `HTTP/1.1 200 OK`.
    pub start: String,
    /// What follows the head.
    pub body: Vec<u8>,
    /// Nothing comes after it.
    pub closes: bool,
}

impl Message {
    fn encode(&self) -> Vec<u8> {
        let connection = if self.closes { "close" } else { "keep-alive" };
        let (start, bytes) = (&self.start, self.body.len());
        let head =
            format!("{start}\r\nContent-Length: {bytes}\r\nConnection: {connection}\r\n\r\n");
        [head.as_bytes(), &self.body].concat()
    }
}

/// Answers requests, until it cannot take clients any more.
///
/// # Errors
/// What accepting fails with.
pub async fn serve(listener: TcpListener, bug: Bug) -> io::Result<()> {
    loop {
        let (stream, _) = listener.accept().await?;
        tokio::spawn(async move {
            // A client that is gone is nobody's failure.
            let _ = attend(stream, bug).await;
        });
    }
}

async fn attend(stream: TcpStream, bug: Bug) -> io::Result<()> {
    let mut messages = Messages { stream, buffer: Vec::new(), bug };
    loop {
        let answer = match messages.next().await {
            Ok(Some(request)) => respond(&request),
            Ok(None) => break,
            Err(error) if error.kind() == io::ErrorKind::InvalidData => bad_request(),
            Err(error) => return Err(error),
        };
        messages.stream.write_all(&answer.encode()).await?;
        if answer.closes {
            break;
        }
    }
    messages.stream.shutdown().await
}

/// `GET` gives the path back, `POST` the body.
fn respond(request: &Message) -> Message {
    let mut words = request.start.split(' ');
    let body = match (words.next(), words.next()) {
        (Some("GET"), Some(path)) => path.as_bytes().to_vec(),
        (Some("POST"), Some(_)) => request.body.clone(),
        _ => return bad_request(),
    };
    Message { start: "HTTP/1.1 200 OK".to_owned(), body, closes: request.closes }
}

fn bad_request() -> Message {
    Message { start: "HTTP/1.1 400 Bad Request".to_owned(), body: Vec::new(), closes: true }
}

/// Sends all requests, says that these were all, and reads the answers until the server ends the stream.
///
/// # Errors
/// What the connection fails with, and `InvalidData` for what is no HTTP.
pub async fn fetch_all(
    server: impl ToSocketAddrs,
    requests: &[Message],
) -> io::Result<Vec<Message>> {
    let mut stream = TcpStream::connect(server).await?;
    let all: Vec<u8> = requests.iter().flat_map(Message::encode).collect();
    stream.write_all(&all).await?;
    stream.shutdown().await?;
    let mut messages = Messages { stream, buffer: Vec::new(), bug: Bug::None };
    let mut answers = Vec::new();
    while let Some(answer) = messages.next().await? {
        answers.push(answer);
    }
    Ok(answers)
}

/// A stream as messages.
#[derive(Debug)]
struct Messages {
    stream: TcpStream,
    /// What came and was not taken yet.
    buffer: Vec<u8>,
    bug: Bug,
}

impl Messages {
    /// The next message; `None` where the peer has ended the stream between two.
    async fn next(&mut self) -> io::Result<Option<Message>> {
        loop {
            if let Some((message, bytes)) = parse(&self.buffer)? {
                match self.bug {
                    Bug::LostPipeline => self.buffer.clear(),
                    _ => drop(self.buffer.drain(..bytes)),
                }
                return Ok(Some(message));
            }
            if self.stream.read_buf(&mut self.buffer).await? == 0 {
                let between = self.buffer.is_empty();
                return if between { Ok(None) } else { Err(io::ErrorKind::UnexpectedEof.into()) };
            }
        }
    }
}

/// The first message of a buffer with its length, where all of it is there.
fn parse(buffer: &[u8]) -> io::Result<Option<(Message, usize)>> {
    let invalid = || io::Error::from(io::ErrorKind::InvalidData);
    let Some(head_bytes) = buffer.windows(4).position(|window| window == b"\r\n\r\n") else {
        return if buffer.len() > HEAD_BYTES_MAX { Err(invalid()) } else { Ok(None) };
    };
    let head = std::str::from_utf8(&buffer[..head_bytes]).map_err(|_| invalid())?;
    let mut lines = head.split("\r\n");
    let start = lines.next().unwrap_or_default().to_owned();
    if !start.contains("HTTP/1.1") {
        return Err(invalid());
    }
    let (mut bytes, mut closes) = (0, false);
    for line in lines {
        let (name, value) = line.split_once(':').ok_or_else(invalid)?;
        match name.to_ascii_lowercase().as_str() {
            "content-length" => bytes = value.trim().parse().map_err(|_| invalid())?,
            "connection" => closes = value.trim().eq_ignore_ascii_case("close"),
            _ => {}
        }
    }
    if bytes > BODY_BYTES_MAX {
        return Err(invalid());
    }
    let body = buffer.get(head_bytes + 4..head_bytes + 4 + bytes);
    Ok(body.map(|body| (Message { start, body: body.to_vec(), closes }, head_bytes + 4 + bytes)))
}
