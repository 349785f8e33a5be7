//! What an end of a pipe is made of.
//!
//! Owns: [`End`]: a simulated socket, or a descriptor of the operating system; how the first becomes the
//! second. Invariant: when one end of a simulated pipe is taken out as a descriptor, what was written and
//! not read goes into a pipe of the system, and the other end goes on with that at its next use.

use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};

use detsim_executor::{Bound, OpKind};
use detsim_net::{How, Side, Socket};
use tokio::io::{Interest, Ready};

use crate::io::unix::AsyncFd;
use crate::net::descriptor::Descriptor;
use crate::net::ready::{self, Site};
use crate::net::world;

/// What the end that was taken out has left for the other one.
pub(super) type Link = Arc<Bound<Option<OwnedFd>>>;

/// One end.
#[derive(Debug)]
pub(super) struct End {
    /// `None` where it never was simulated.
    simulated: Option<Simulated>,
    outside: OnceLock<AsyncFd<File>>,
    site: Site,
}

#[derive(Debug)]
struct Simulated {
    socket: Socket,
    descriptor: Descriptor,
    link: Link,
}

/// Where an operation is to take place.
enum Place<'a> {
    Simulated(&'a Socket),
    Outside(&'a AsyncFd<File>),
}

/// The most that a pipe holds, here as on Linux.
const CAPACITY: usize = 65_536;

impl End {
    pub(super) fn simulated(socket: Socket, link: Link, site: Site) -> Self {
        let descriptor = Descriptor::default();
        let simulated = Some(Simulated { socket, descriptor, link });
        Self { simulated, outside: OnceLock::new(), site }
    }

    #[track_caller]
    pub(super) fn outside(fd: OwnedFd, interest: Interest, site: Site) -> io::Result<Self> {
        let outside = OnceLock::from(AsyncFd::make(File::from(fd), interest)?);
        Ok(Self { simulated: None, outside, site })
    }

    fn place(&self) -> io::Result<Place<'_>> {
        if let Some(outside) = self.outside.get() {
            return Ok(Place::Outside(outside));
        }
        let simulated = self.simulated.as_ref().expect("invariant: an end is one of the two");
        let left = simulated.link.enter().take();
        let Some(fd) = left else { return Ok(Place::Simulated(&simulated.socket)) };
        let fd = AsyncFd::make(File::from(fd), Interest::READABLE | Interest::WRITABLE)?;
        Ok(Place::Outside(self.outside.get_or_init(|| fd)))
    }

    // ------------------------------------------------------------ readiness

    pub(super) async fn ready(&self, interest: Interest, site: Site) -> io::Result<Ready> {
        match self.place()? {
            Place::Simulated(socket) => ready::ready(socket, interest, site).await,
            Place::Outside(fd) => {
                let mut guard = fd.ready(interest).await?;
                guard.retain_ready();
                Ok(guard.ready())
            }
        }
    }

    pub(super) fn poll_read_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.place()? {
            Place::Simulated(socket) => ready::poll_ready(socket, cx, self.site, [true, false]),
            Place::Outside(fd) => fd.poll_read_ready(cx).map_ok(|mut guard| guard.retain_ready()),
        }
    }

    pub(super) fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.place()? {
            Place::Simulated(socket) => ready::poll_ready(socket, cx, self.site, [false, true]),
            Place::Outside(fd) => fd.poll_write_ready(cx).map_ok(|mut guard| guard.retain_ready()),
        }
    }

    pub(super) fn try_io<R>(
        &self,
        interest: Interest,
        f: impl FnOnce() -> io::Result<R>,
    ) -> io::Result<R> {
        match self.place()? {
            Place::Simulated(socket) => ready::try_io(socket, interest, f),
            Place::Outside(fd) => fd.try_io(interest, |_| f()),
        }
    }

    // ------------------------------------------------------------ bytes

    #[track_caller]
    pub(super) fn try_read(&self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        match self.place()? {
            Place::Simulated(socket) => socket.told(Side::Read)?.try_read(bufs),
            Place::Outside(fd) => {
                fd.try_io(Interest::READABLE, |mut file| file.read_vectored(bufs))
            }
        }
    }

    #[track_caller]
    pub(super) fn try_write(&self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
        match self.place()? {
            Place::Simulated(socket) => socket.told(Side::Write)?.try_write(bufs),
            Place::Outside(fd) => {
                fd.try_io(Interest::WRITABLE, |mut file| file.write_vectored(bufs))
            }
        }
    }

    pub(super) fn poll_read(
        &self,
        cx: &mut Context<'_>,
        buf: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let fd = match self.place()? {
            Place::Outside(fd) => fd,
            Place::Simulated(socket) => {
                let how = How::poller_at(OpKind::Recv, self.site);
                let mut bufs = [IoSliceMut::new(buf)];
                return world::inside(|| socket.poll_read(cx, how, &mut bufs));
            }
        };
        loop {
            let mut guard = ready!(fd.poll_read_ready(cx))?;
            let Ok(read) = guard.try_io(|fd| fd.get_ref().read(buf)) else { continue };
            // As in tokio: less than there was room for is all that there was.
            if read.as_ref().is_ok_and(|read| (1..buf.len()).contains(read)) {
                guard.clear_ready();
            }
            return Poll::Ready(read);
        }
    }

    pub(super) fn poll_write(
        &self,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let fd = match self.place()? {
            Place::Outside(fd) => fd,
            Place::Simulated(socket) => {
                let how = How::poller_at(OpKind::Send, self.site);
                return world::inside(|| socket.poll_write(cx, how, bufs));
            }
        };
        let offered = bufs.iter().map(|buf| buf.len()).sum();
        loop {
            let mut guard = ready!(fd.poll_write_ready(cx))?;
            let Ok(written) = guard.try_io(|fd| fd.get_ref().write_vectored(bufs)) else {
                continue;
            };
            if written.as_ref().is_ok_and(|written| (1..offered).contains(written)) {
                guard.clear_ready();
            }
            return Poll::Ready(written);
        }
    }

    // ------------------------------------------------------------ descriptors

    /// That of the pipe; of a simulated one a socket that is connected to nothing.
    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        match (self.outside.get(), &self.simulated) {
            (Some(fd), _) => fd.get_ref().as_fd(),
            (None, Some(simulated)) => simulated.descriptor.fd(),
            (None, None) => unreachable!("invariant: an end is one of the two"),
        }
    }

    /// Takes the writing end out.
    pub(super) fn into_sender(self) -> io::Result<OwnedFd> {
        self.take_out(|(reads, writes)| (writes, reads))
    }

    /// Takes the reading end out.
    pub(super) fn into_receiver(self) -> io::Result<OwnedFd> {
        self.take_out(|ends| ends)
    }

    /// Takes an end out; `sort` puts it before the other one.
    fn take_out(mut self, sort: fn((File, File)) -> (File, File)) -> io::Result<OwnedFd> {
        if let Place::Simulated(socket) = self.place()? {
            let (own, others) = sort(system_pipe(&socket.take_unread()?)?);
            self.leave(others.into());
            return Ok(own.into());
        }
        Ok(self.taken())
    }

    /// The other end goes on with this.
    fn leave(&self, fd: OwnedFd) {
        if let Some(simulated) = &self.simulated {
            *simulated.link.enter() = Some(fd);
        }
    }

    fn taken(&mut self) -> OwnedFd {
        let fd = self.outside.take().expect("invariant: an end is one of the two");
        fd.into_inner().into()
    }
}

/// A pipe of the system that does not block, with these bytes in it: the reading and the writing end.
fn system_pipe(unread: &[u8]) -> io::Result<(File, File)> {
    let (reads, writes) = io::pipe()?;
    let reads = File::from(nonblocking(reads.into(), true)?);
    let mut writes = File::from(nonblocking(writes.into(), true)?);
    debug_assert!(unread.len() <= CAPACITY, "invariant: no pipe holds more");
    writes.write_all(unread)?;
    Ok((reads, writes))
}

/// A descriptor whose operations wait.
pub(super) fn blocking(fd: OwnedFd) -> io::Result<OwnedFd> {
    nonblocking(fd, false)
}

/// Says whether operations on a descriptor wait. The call is the same for every kind of descriptor; std
/// has it for sockets.
pub(crate) fn nonblocking(fd: OwnedFd, is_nonblocking: bool) -> io::Result<OwnedFd> {
    let fd = UnixStream::from(fd);
    fd.set_nonblocking(is_nonblocking)?;
    Ok(fd.into())
}
