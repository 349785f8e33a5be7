//! HTTP/1.1 on a bare stream.
//!
//! Owns: a server that echoes ([`serve`]), a piece at a time, as one does that makes its pages as it sends them;
//! and a client that sends all its requests before it reads an answer ([`fetch_all`]). Does not own: chunks,
//! trailers, or anything a browser would want. Invariants: requests are answered in their order, on one
//! connection; what follows a request in the buffer is the next one; a message is as long as its head says.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, ToSocketAddrs};

use crate::Bug;

/// Bytes of a head, and of a body.
const HEAD_BYTES_MAX: usize = 8_192;
const BODY_BYTES_MAX: usize = 65_536;
/// What is made of a body at once, and how long that takes.
const PIECE_BYTES: usize = 128;
const PIECE_TIME: Duration = Duration::from_millis(2);

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
    fn head(&self) -> String {
        let connection = if self.closes { "close" } else { "keep-alive" };
        let (start, bytes) = (&self.start, self.body.len());
        format!("{start}\r\nContent-Length: {bytes}\r\nConnection: {connection}\r\n\r\n")
    }

    fn encode(&self) -> Vec<u8> {
        [self.head().as_bytes(), &self.body].concat()
    }
}

/// Answers requests, until it cannot take clients any more.
///
/// # Errors
/// What accepting fails with.
pub async fn serve(listener: TcpListener) -> io::Result<()> {
    loop {
        let (stream, _) = listener.accept().await?;
        tokio::spawn(async move {
            // A client that is gone is nobody's failure.
            let _ = attend(stream).await;
        });
    }
}

async fn attend(stream: TcpStream) -> io::Result<()> {
    let mut messages = Messages { stream, buffer: Vec::new(), bug: Bug::None };
    loop {
        let answer = match messages.next().await {
            Ok(Some(request)) => respond(&request),
            Ok(None) => break,
            Err(error) if error.kind() == io::ErrorKind::InvalidData => bad_request(),
            Err(error) => return Err(error),
        };
        write(&mut messages.stream, &answer).await?;
        if answer.closes {
            break;
        }
    }
    messages.stream.shutdown().await
}

/// Writes an answer as it comes about.
async fn write(stream: &mut TcpStream, answer: &Message) -> io::Result<()> {
    stream.write_all(answer.head().as_bytes()).await?;
    for piece in answer.body.chunks(PIECE_BYTES) {
        tokio::time::sleep(PIECE_TIME).await;
        stream.write_all(piece).await?;
    }
    Ok(())
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
/// What the connection fails with, `InvalidData` for what is no HTTP, and `UnexpectedEof` where the server
/// ended the stream too early.
pub async fn fetch_all(
    server: impl ToSocketAddrs,
    requests: &[Message],
    bug: Bug,
) -> io::Result<Vec<Message>> {
    let mut stream = TcpStream::connect(server).await?;
    let all: Vec<u8> = requests.iter().flat_map(Message::encode).collect();
    stream.write_all(&all).await?;
    stream.shutdown().await?;
    let mut messages = Messages { stream, buffer: Vec::new(), bug };
    let mut answers = Vec::new();
    while let Some(answer) = messages.next().await? {
        answers.push(answer);
    }
    // A server that dies ends the stream too.
    let is_all = answers.len() == requests.len();
    if is_all { Ok(answers) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
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
            let head = parse(&self.buffer)?;
            let is_here = |head: &Head| head.bytes() <= self.buffer.len();
            if let Some(head) = head.as_ref().filter(|head| is_here(head)) {
                return Ok(Some(self.take(head)));
            }
            if self.stream.read_buf(&mut self.buffer).await? == 0 {
                return match head {
                    Some(head) if self.bug == Bug::CutBody => Ok(Some(self.take(&head))),
                    _ if self.buffer.is_empty() => Ok(None),
                    _ => Err(io::ErrorKind::UnexpectedEof.into()),
                };
            }
        }
    }

    /// Takes a message out of the buffer, or what there is of it.
    fn take(&mut self, head: &Head) -> Message {
        let bytes = head.bytes().min(self.buffer.len());
        let body = self.buffer.drain(..bytes).skip(head.head_bytes).collect();
        Message { start: head.start.clone(), body, closes: head.closes }
    }
}

/// What a message begins with.
#[derive(Debug)]
struct Head {
    start: String,
    closes: bool,
    head_bytes: usize,
    body_bytes: usize,
}

impl Head {
    fn bytes(&self) -> usize {
        self.head_bytes + self.body_bytes
    }
}

/// The first head of a buffer, where all of it is there.
fn parse(buffer: &[u8]) -> io::Result<Option<Head>> {
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
    let (mut body_bytes, mut closes) = (0, false);
    for line in lines {
        let (name, value) = line.split_once(':').ok_or_else(invalid)?;
        match name.to_ascii_lowercase().as_str() {
            "content-length" => body_bytes = value.trim().parse().map_err(|_| invalid())?,
            "connection" => closes = value.trim().eq_ignore_ascii_case("close"),
            _ => {}
        }
    }
    if body_bytes > BODY_BYTES_MAX {
        return Err(invalid());
    }
    Ok(Some(Head { start, closes, head_bytes: head_bytes + 4, body_bytes }))
}
