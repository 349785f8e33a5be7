//! Waiting for a socket.
//!
//! Owns: the futures of calls that wait, readiness in tokio's words, and operations of a program's own
//! (`try_io`, `async_io`). Does not own: readiness itself. Invariant: a future that is given up leaves no
//! wait behind.

use std::future::poll_fn;
use std::io;
use std::panic::Location;
use std::task::{Context, Poll};

use detsim_executor::OpKind;
use detsim_net::{How, Readiness, Socket, Ticket};
use tokio::io::{Interest, Ready};

use super::world;

/// Where a call stands in the program.
pub(crate) type Site = &'static Location<'static>;

/// The wait of one future.
struct Waiting<'a> {
    socket: &'a Socket,
    ticket: Ticket,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.socket.forget(&self.ticket);
    }
}

/// Waits for a call of a socket, as one future of several.
pub(crate) async fn wait<R>(
    socket: &Socket,
    op: OpKind,
    site: Site,
    mut call: impl FnMut(&mut Context<'_>, How<'_>) -> Poll<R>,
) -> R {
    let mut waiting = Waiting { socket, ticket: Ticket::default() };
    let mut poll = |cx: &mut Context<'_>| call(cx, How::future(op, site, &mut waiting.ticket));
    poll_fn(|cx| world::inside(|| poll(cx))).await
}

/// Lets the task be stopped here, as before any other operation.
pub(crate) async fn point(socket: &Socket, op: OpKind, site: Site) {
    wait(socket, op, site, |cx, how| socket.poll_point(cx, how)).await;
}

/// Waits until the socket is ready for something of interest.
pub(crate) async fn ready(socket: &Socket, interest: Interest, site: Site) -> io::Result<Ready> {
    let sides = [interest.is_readable(), interest.is_writable()];
    let wait = wait(socket, OpKind::Read, site, |cx, how| socket.poll_ready(cx, how, sides));
    Ok(shown(wait.await?, interest))
}

/// Polls one end for being ready.
pub(crate) fn poll_ready(
    socket: &Socket,
    cx: &mut Context<'_>,
    site: Site,
    sides: [bool; 2],
) -> Poll<io::Result<()>> {
    let how = How::poller_at(OpKind::Read, site);
    world::inside(|| socket.poll_ready(cx, how, sides)).map_ok(drop)
}

/// An operation of the program's own, where the socket is ready for it.
pub(crate) fn try_io<R>(
    socket: &Socket,
    interest: Interest,
    operation: impl FnOnce() -> io::Result<R>,
) -> io::Result<R> {
    if shown(socket.readiness()?, interest).is_empty() {
        return Err(io::ErrorKind::WouldBlock.into());
    }
    let result = operation();
    if must_wait(&result) {
        socket.clear_ready([interest.is_readable(), interest.is_writable()]);
    }
    result
}

/// An operation of the program's own, again and again until it does not have to wait.
pub(crate) async fn async_io<R>(
    socket: &Socket,
    interest: Interest,
    site: Site,
    mut operation: impl FnMut() -> io::Result<R>,
) -> io::Result<R> {
    loop {
        ready(socket, interest, site).await?;
        let result = try_io(socket, interest, &mut operation);
        if !must_wait(&result) {
            return result;
        }
    }
}

/// Whether an operation would have had to wait.
pub(crate) fn must_wait<R>(result: &io::Result<R>) -> bool {
    result.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
}

/// Readiness as tokio says it, as far as it is of interest.
fn shown(ready: Readiness, interest: Interest) -> Ready {
    union(&[
        (ready.readable && interest.is_readable(), Ready::READABLE),
        (ready.read_closed && interest.is_readable(), Ready::READ_CLOSED),
        (ready.writable && interest.is_writable(), Ready::WRITABLE),
        (ready.write_closed && interest.is_writable(), Ready::WRITE_CLOSED),
        (ready.error && interest.is_error(), Ready::ERROR),
    ])
}

/// Those of the flags that are set.
pub(crate) fn union(flags: &[(bool, Ready)]) -> Ready {
    let set = flags.iter().filter(|(is_set, _)| *is_set);
    set.fold(Ready::EMPTY, |all, (_, flag)| all | *flag)
}

/// The most that is read behind what a buffer holds at once.
#[cfg(feature = "io-util")]
pub(crate) const ROOM_BYTES_MAX: usize = 256 << 10;

/// Reads behind what a buffer holds. What `read` fills is initialised memory of ours, since a buffer's
/// own may not be.
#[cfg(feature = "io-util")]
pub(crate) fn read_buf<B: bytes::BufMut, R: Received>(
    buf: &mut B,
    read: impl FnOnce(&mut [u8]) -> io::Result<R>,
) -> io::Result<R> {
    let mut room = vec![0; buf.chunk_mut().len().min(ROOM_BYTES_MAX)];
    let received = read(&mut room)?;
    buf.put_slice(&room[..received.bytes()]);
    Ok(received)
}

/// What a read gives: a number of bytes, and perhaps who sent them.
#[cfg(feature = "io-util")]
pub(crate) trait Received {
    fn bytes(&self) -> usize;
}

#[cfg(feature = "io-util")]
impl Received for usize {
    fn bytes(&self) -> usize {
        *self
    }
}

#[cfg(feature = "io-util")]
impl<A> Received for (usize, A) {
    fn bytes(&self) -> usize {
        self.0
    }
}
