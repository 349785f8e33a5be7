//! A chat: whoever is in the room hears every line that anybody says.
//!
//! Owns: the room ([`serve`]) and a guest of it ([`Guest`]). Invariants: a line is passed on whole, to all
//! who were welcomed before it was said, the speaker included; a guest that does not keep up is sent away
//! rather than waited for.

use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream, ToSocketAddrs};
use tokio::sync::broadcast;

use crate::Bug;

/// Lines that a guest may be behind.
const LINES_MAX: usize = 64;
/// Bytes of a line; longer ones are no lines.
const LINE_BYTES_MAX: usize = 1_024;
/// What a guest hears first.
const WELCOME: &str = "welcome";

/// Runs a room, until it cannot take guests any more.
///
/// # Errors
/// What accepting fails with.
pub async fn serve(listener: TcpListener, bug: Bug) -> io::Result<()> {
    let (room, _) = broadcast::channel(LINES_MAX);
    loop {
        let (stream, _) = listener.accept().await?;
        tokio::spawn(attend(stream, room.clone(), bug));
    }
}

/// One guest's stay: it ends when the guest stops talking, however that comes about.
async fn attend(stream: TcpStream, room: broadcast::Sender<String>, bug: Bug) {
    let heard = room.subscribe();
    let (read, write) = stream.into_split();
    let speaker = tokio::spawn(pass_on(write, heard));
    let mut lines = Lines::new(read, bug);
    while let Ok(Some(line)) = lines.next().await {
        // There is a listener: this guest.
        let _ = room.send(line);
    }
    speaker.abort();
}

/// Tells a guest what is said, until it is gone or cannot keep up.
async fn pass_on(mut write: OwnedWriteHalf, mut heard: broadcast::Receiver<String>) {
    let mut line = WELCOME.to_owned();
    loop {
        line.push('\n');
        if write.write_all(line.as_bytes()).await.is_err() {
            return;
        }
        match heard.recv().await {
            Ok(next) => line = next,
            Err(_) => return,
        }
    }
}

/// Somebody in the room.
#[derive(Debug)]
pub struct Guest {
    lines: Lines,
    write: OwnedWriteHalf,
}

impl Guest {
    /// Comes in; whatever is said from now on can be heard.
    ///
    /// # Errors
    /// What connecting fails with, and `UnexpectedEof` where nobody welcomes.
    pub async fn join(room: impl ToSocketAddrs) -> io::Result<Self> {
        let (read, write) = TcpStream::connect(room).await?.into_split();
        let mut guest = Self { lines: Lines::new(read, Bug::None), write };
        match guest.hear().await? {
            Some(line) if line == WELCOME => Ok(guest),
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// Says a line.
    ///
    /// # Errors
    /// What writing fails with.
    pub async fn say(&mut self, line: &str) -> io::Result<()> {
        self.write.write_all(format!("{line}\n").as_bytes()).await
    }

    /// Hears the next line; `None` where the room is closed. Losing interest while it waits loses nothing.
    ///
    /// # Errors
    /// What reading fails with.
    pub async fn hear(&mut self) -> io::Result<Option<String>> {
        self.lines.next().await
    }
}

/// Bytes of a stream as lines.
#[derive(Debug)]
struct Lines {
    read: OwnedReadHalf,
    /// What came and is no whole line yet.
    buffer: Vec<u8>,
    bug: Bug,
}

impl Lines {
    fn new(read: OwnedReadHalf, bug: Bug) -> Self {
        Self { read, buffer: Vec::new(), bug }
    }

    async fn next(&mut self) -> io::Result<Option<String>> {
        loop {
            if let Some(line) = self.take()? {
                return Ok(Some(line));
            }
            if self.read.read_buf(&mut self.buffer).await? == 0 {
                return Ok(None);
            }
        }
    }

    /// The first line that is all here.
    fn take(&mut self) -> io::Result<Option<String>> {
        let end = self.buffer.iter().position(|byte| *byte == b'\n');
        let line: Vec<u8> = match end {
            Some(end) => self.buffer.drain(..=end).take(end).collect(),
            None if self.bug == Bug::CutLine && !self.buffer.is_empty() => {
                std::mem::take(&mut self.buffer)
            }
            None if self.buffer.len() > LINE_BYTES_MAX => {
                return Err(io::ErrorKind::InvalidData.into());
            }
            None => return Ok(None),
        };
        String::from_utf8(line).map(Some).map_err(|_| io::ErrorKind::InvalidData.into())
    }
}
