//! A reader of frames in a `select!`, next to commands: a command that comes in the middle of a frame
//! cuts the read off, with a part of the frame already taken from the stream.
//!
//! What is read next begins in the middle of the frame.

use std::io;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::sync::mpsc;

/// Bytes that the stream holds: less than a frame, so that one arrives in pieces.
const STREAM_BYTES: usize = 8;
const FRAMES: [&[u8]; 3] = [b"a first frame", b"a second one", b"and the last"];
/// The longest frame that is believed.
const FRAME_BYTES_MAX: usize = 64;
/// A frame starts with its length.
const HEAD_BYTES: usize = 4;

async fn write_frames(mut stream: DuplexStream) -> io::Result<()> {
    for frame in FRAMES {
        let length = frame.len() as u32;
        stream.write_all(&[&length.to_be_bytes(), frame].concat()).await?;
    }
    Ok(())
}

/// A frame, read in one go: what was read is lost where the future is dropped.
async fn read_frame(stream: &mut DuplexStream) -> io::Result<Vec<u8>> {
    let length = stream.read_u32().await? as usize;
    assert!(length <= FRAME_BYTES_MAX, "a frame of {length} bytes: the stream is out of step");
    let mut frame = vec![0; length];
    stream.read_exact(&mut frame).await?;
    Ok(frame)
}

/// Keeps what was read, so that a read which was cut off goes on where it stood.
#[derive(Debug)]
struct Frames {
    stream: DuplexStream,
    read: Vec<u8>,
}

impl Frames {
    /// The next frame. Nothing is lost where the future is dropped.
    async fn next(&mut self) -> io::Result<Vec<u8>> {
        loop {
            if let Some((head, rest)) = self.read.split_first_chunk::<HEAD_BYTES>() {
                let length = u32::from_be_bytes(*head) as usize;
                assert!(length <= FRAME_BYTES_MAX, "a frame of {length} bytes");
                if rest.len() >= length {
                    let frame = rest[..length].to_vec();
                    self.read.drain(..HEAD_BYTES + length);
                    return Ok(frame);
                }
            }
            if self.stream.read_buf(&mut self.read).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }
}

/// Sends one command, some time.
fn command() -> mpsc::Receiver<&'static str> {
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(async move {
        // Whoever has read everything does not wait for it.
        let _unheard = sender.send("report").await;
    });
    receiver
}

/// A command in the middle of a frame puts the stream out of step.
pub async fn buggy() {
    let (near, mut far) = tokio::io::duplex(STREAM_BYTES);
    let mut commands = command();
    let writer = tokio::spawn(write_frames(near));
    let mut frames = Vec::new();
    while frames.len() < FRAMES.len() {
        tokio::select! {
            Some(_report) = commands.recv() => {}
            frame = read_frame(&mut far) => frames.push(frame.expect("the stream is whole")),
        }
    }
    assert_eq!(frames, FRAMES);
    writer.await.expect("the writer does not panic").expect("the reader reads to the end");
}

/// What was read outlives the read.
pub async fn fixed() {
    let (near, far) = tokio::io::duplex(STREAM_BYTES);
    let mut commands = command();
    let writer = tokio::spawn(write_frames(near));
    let mut reader = Frames { stream: far, read: Vec::new() };
    let mut frames = Vec::new();
    while frames.len() < FRAMES.len() {
        tokio::select! {
            Some(_report) = commands.recv() => {}
            frame = reader.next() => frames.push(frame.expect("the stream is whole")),
        }
    }
    assert_eq!(frames, FRAMES);
    writer.await.expect("the writer does not panic").expect("the reader reads to the end");
}
