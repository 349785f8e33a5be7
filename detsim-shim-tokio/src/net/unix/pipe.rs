//! Pipes.
//!
//! Mirrors tokio's. Owns: [`pipe`], [`Sender`], [`Receiver`]. Does not own: FIFOs, which are files of the
//! operating system (`fifo.rs`).

use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::OwnedFd;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use detsim_executor::OpKind;
use detsim_net::{How, Socket, Sockets};
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};

pub use super::fifo::OpenOptions;

use crate::net::descriptor::{Descriptor, no_std};
use crate::net::ready::{self, Site};
use crate::net::world;

/// The writing end of a pipe.
#[derive(Debug)]
pub struct Sender {
    socket: Socket,
    descriptor: Descriptor,
    site: Site,
}

/// The reading end of a pipe.
#[derive(Debug)]
pub struct Receiver {
    socket: Socket,
    descriptor: Descriptor,
    site: Site,
}

/// A pipe between the tasks of a program.
///
/// # Errors
/// None in a simulation.
///
/// # Panics
/// Outside of a simulation, in tokio's words.
#[track_caller]
pub fn pipe() -> io::Result<(Sender, Receiver)> {
    let site = Location::caller();
    let [sender, receiver] = world::open(Sockets::pipe);
    Ok((
        Sender { socket: sender, descriptor: Descriptor::default(), site },
        Receiver { socket: receiver, descriptor: Descriptor::default(), site },
    ))
}

impl Sender {
    crate::net::methods::ready!();
    crate::net::methods::writable!(poll_write_ready);
    crate::net::methods::writes!();

    /// An operation of the program's own on the descriptor, where the pipe is ready for it.
    ///
    /// # Errors
    /// Those of `f`; `WouldBlock` where the pipe is not ready.
    pub fn try_io<R>(&self, f: impl FnOnce() -> io::Result<R>) -> io::Result<R> {
        ready::try_io(&self.socket, Interest::WRITABLE, f)
    }

    /// # Errors
    /// Always: a simulated pipe stays in its simulation.
    pub fn into_blocking_fd(self) -> io::Result<OwnedFd> {
        Err(no_std("pipe"))
    }

    /// # Errors
    /// Always: a simulated pipe stays in its simulation.
    pub fn into_nonblocking_fd(self) -> io::Result<OwnedFd> {
        Err(no_std("pipe"))
    }
}

impl Receiver {
    crate::net::methods::ready!();
    crate::net::methods::readable!(poll_read_ready);
    crate::net::methods::reads!();

    /// An operation of the program's own on the descriptor, where the pipe is ready for it.
    ///
    /// # Errors
    /// Those of `f`; `WouldBlock` where the pipe is not ready.
    pub fn try_io<R>(&self, f: impl FnOnce() -> io::Result<R>) -> io::Result<R> {
        ready::try_io(&self.socket, Interest::READABLE, f)
    }

    /// # Errors
    /// Always: a simulated pipe stays in its simulation.
    pub fn into_blocking_fd(self) -> io::Result<OwnedFd> {
        Err(no_std("pipe"))
    }

    /// # Errors
    /// Always: a simulated pipe stays in its simulation.
    pub fn into_nonblocking_fd(self) -> io::Result<OwnedFd> {
        Err(no_std("pipe"))
    }
}

impl AsyncWrite for Sender {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(buf)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.socket.poll_write(cx, How::poller_at(OpKind::Send, self.site), bufs)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        // As in tokio: the end comes when the sender is dropped.
        Poll::Ready(Ok(()))
    }
}

impl AsyncRead for Receiver {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let how = How::poller_at(OpKind::Recv, self.site);
        let mut bufs = [IoSliceMut::new(buf.initialize_unfilled())];
        let read = ready!(self.socket.poll_read(cx, how, &mut bufs))?;
        buf.advance(read);
        Poll::Ready(Ok(()))
    }
}

crate::net::methods::descriptor!(Sender);
crate::net::methods::descriptor!(Receiver);
