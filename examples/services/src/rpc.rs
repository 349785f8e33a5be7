//! Remote calls in frames with a length before them: payments into accounts.
//!
//! Owns: the server ([`serve`]), what it knows ([`Accounts`]), and a client that sends everything it has, says
//! that this was all, and takes the answers as they come ([`call_all`]). Invariants: every call that was sent whole
//! is answered once, in any order, also where the client has closed its direction long before; and a call
//! that comes again, since its answer was lost, is carried out once. Accounts last as long as their server's life.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
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

/// What a server knows. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Accounts {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    /// By client.
    balances: BTreeMap<u32, u64>,
    /// What calls were answered with.
    answers: BTreeMap<(u64, Call), u64>,
}

/// A payment: the how manieth of which client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Call {
    client: u32,
    id: u32,
}

impl Accounts {
    /// Carries out a payment, unless that was done before, and gives what the account holds right after it.
    /// `scope` is where it could have been done: everywhere, or on one connection.
    fn pay(&self, scope: u64, call: Call, amount: u64) -> u64 {
        let state = &mut *self.state.lock().unwrap_or_else(PoisonError::into_inner);
        *state.answers.entry((scope, call)).or_insert_with(|| {
            let balance = state.balances.entry(call.client).or_default();
            *balance += amount;
            *balance
        })
    }
}

/// Answers calls, until it cannot take clients any more.
///
/// # Errors
/// What accepting fails with.
pub async fn serve(listener: TcpListener, bug: Bug) -> io::Result<()> {
    let accounts = Accounts::default();
    for connection in 1.. {
        let (stream, _) = listener.accept().await?;
        let scope = if bug == Bug::ForgottenCalls { connection } else { 0 };
        tokio::spawn(attend(stream, accounts.clone(), scope));
    }
    Ok(())
}

async fn attend(stream: TcpStream, accounts: Accounts, scope: u64) {
    let (mut read, write) = stream.into_split();
    let (answers, receiver) = mpsc::channel(ANSWERS_MAX);
    tokio::spawn(write_answers(write, receiver));
    while let Ok(Some(frame)) = read_frame(&mut read).await {
        let (accounts, answers) = (accounts.clone(), answers.clone());
        tokio::spawn(async move {
            tokio::time::sleep(CALL_TIME).await;
            if let Some((call, amount)) = parse(&frame) {
                let answer = compose(call, accounts.pay(scope, call, amount));
                // A writer that is gone has no client any more.
                let _ = answers.send(answer).await;
            }
        });
    }
    // The writer goes on until the last call has its answer, and then ends the stream.
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

/// Pays all amounts into the account of a client, at once: what it held after each of them, by their
/// places. Whoever does so again, having got no answer, pays them once all the same, but to a server that has
/// lost its memory meanwhile.
///
/// # Errors
/// What the connection fails with, and `UnexpectedEof` where the server ended it too early.
pub async fn call_all(
    server: impl ToSocketAddrs,
    client: u32,
    amounts: &[u64],
) -> io::Result<BTreeMap<u32, u64>> {
    let (mut read, mut write) = TcpStream::connect(server).await?.into_split();
    for (id, amount) in (0..).zip(amounts) {
        write_frame(&mut write, &compose(Call { client, id }, *amount)).await?;
    }
    write.shutdown().await?;
    let mut answers = BTreeMap::new();
    while let Some(frame) = read_frame(&mut read).await? {
        let (call, balance) = parse(&frame).ok_or(io::ErrorKind::InvalidData)?;
        if answers.insert(call.id, balance).is_some() {
            return Err(io::ErrorKind::InvalidData.into());
        }
    }
    // A server that dies ends the stream too.
    let is_all = answers.len() == amounts.len();
    if is_all { Ok(answers) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

fn compose(Call { client, id }: Call, number: u64) -> Vec<u8> {
    [&client.to_le_bytes()[..], &id.to_le_bytes(), &number.to_le_bytes()].concat()
}

fn parse(frame: &[u8]) -> Option<(Call, u64)> {
    let (client, rest) = frame.split_first_chunk()?;
    let (id, number) = rest.split_first_chunk()?;
    let call = Call { client: u32::from_le_bytes(*client), id: u32::from_le_bytes(*id) };
    Some((call, u64::from_le_bytes(number.try_into().ok()?)))
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
