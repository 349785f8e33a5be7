//! Remote calls in frames with a length before them.
//!
//! Owns: the server ([`serve`]) and a client that sends everything it has, says that this was all, and
//! takes the answers as they come ([`call_all`]). Invariants: every request that was sent whole is answered
//! once, in any order, also where the client has closed its direction long before.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream, ToSocketAddrs};
use tokio::sync::mpsc;

use crate::Bug;

/// What a frame may hold.
const FRAME_BYTES_MAX: usize = 4_096;
/// Answers that wait to be written.
const ANSWERS_MAX: usize = 16;
/// What a call takes.
const CALL_TIME: Duration = Duration::from_millis(5);

/// Answers calls, until it cannot take clients any more.
///
/// # Errors
/// What accepting fails with.
pub async fn serve(listener: TcpListener, bug: Bug) -> io::Result<()> {
    loop {
        let (stream, _) = listener.accept().await?;
        tokio::spawn(attend(stream, bug));
    }
}

async fn attend(stream: TcpStream, bug: Bug) {
    let (mut read, write) = stream.into_split();
    let (answers, receiver) = mpsc::channel(ANSWERS_MAX);
    let writer = tokio::spawn(write_answers(write, receiver));
    while let Ok(Some(frame)) = read_frame(&mut read).await {
        tokio::spawn(answer(frame, answers.clone()));
    }
    if bug == Bug::HalfCloseIsHangup {
        return writer.abort();
    }
    // The writer goes on until the last call has its answer, and then ends the stream.
    drop(answers);
}

/// Carries out one call: it gives back the square of a number.
async fn answer(mut frame: Vec<u8>, answers: mpsc::Sender<Vec<u8>>) {
    tokio::time::sleep(CALL_TIME).await;
    if let Some((id, number)) = parse(&frame) {
        frame = compose(id, number.wrapping_mul(number));
        // A writer that is gone has no client any more.
        let _ = answers.send(frame).await;
    }
}

async fn write_answers(mut write: OwnedWriteHalf, mut answers: mpsc::Receiver<Vec<u8>>) {
    while let Some(frame) = answers.recv().await {
        if write_frame(&mut write, &frame).await.is_err() {
            return;
        }
    }
    // The client may be gone; nobody is left to hear of it.
    let _ = write.shutdown().await;
}

/// Calls for each number at once; the answers that came until the server ended the stream, by the places of
/// the numbers.
///
/// # Errors
/// What the connection fails with.
pub async fn call_all(
    server: impl ToSocketAddrs,
    numbers: &[u64],
) -> io::Result<BTreeMap<u32, u64>> {
    let (mut read, mut write) = TcpStream::connect(server).await?.into_split();
    for (id, number) in (0..).zip(numbers) {
        write_frame(&mut write, &compose(id, *number)).await?;
    }
    write.shutdown().await?;
    let mut answers = BTreeMap::new();
    while let Some(frame) = read_frame(&mut read).await? {
        let (id, number) = parse(&frame).ok_or(io::ErrorKind::InvalidData)?;
        if answers.insert(id, number).is_some() {
            return Err(io::ErrorKind::InvalidData.into());
        }
    }
    Ok(answers)
}

fn compose(id: u32, number: u64) -> Vec<u8> {
    [&id.to_le_bytes()[..], &number.to_le_bytes()].concat()
}

fn parse(frame: &[u8]) -> Option<(u32, u64)> {
    let (id, number) = frame.split_first_chunk()?;
    Some((u32::from_le_bytes(*id), u64::from_le_bytes(number.try_into().ok()?)))
}

/// Reads a frame; `None` where the peer has ended the stream between two.
async fn read_frame(read: &mut OwnedReadHalf) -> io::Result<Option<Vec<u8>>> {
    let mut head = [0; 4];
    if read.read(&mut head[..1]).await? == 0 {
        return Ok(None);
    }
    read.read_exact(&mut head[1..]).await?;
    let bytes = u32::from_le_bytes(head) as usize;
    if bytes > FRAME_BYTES_MAX {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut frame = vec![0; bytes];
    read.read_exact(&mut frame).await?;
    Ok(Some(frame))
}

async fn write_frame(write: &mut OwnedWriteHalf, frame: &[u8]) -> io::Result<()> {
    write.write_all(&(frame.len() as u32).to_le_bytes()).await?;
    write.write_all(frame).await
}
