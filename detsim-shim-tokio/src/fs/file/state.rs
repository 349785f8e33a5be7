//! What goes on with an open file.
//!
//! Owns: the buffer, the work in the background, and what its end means for whoever comes next. Does
//! not own: the file.

use crate::fs::call;
use detsim_executor::JoinHandle;
use detsim_fs::Cost;
use std::fs::File as Std;
use std::future::poll_fn;
use std::io::{self, ErrorKind, IoSlice, Read, Seek, SeekFrom, Write};
use std::os::fd::AsRawFd;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::io::ReadBuf;

/// How many bytes are read ahead at most, unless it is said otherwise.
pub(super) const READ_AHEAD_MAX: usize = 2 * 1024 * 1024;

/// Bytes that were read and not taken yet.
#[derive(Debug, Default)]
struct Ahead {
    bytes: Vec<u8>,
    taken: usize,
}

/// What ended in the background.
#[derive(Debug)]
enum Ended {
    Read(io::Result<Ahead>),
    Seek(io::Result<u64>),
    Write(io::Result<()>),
}

#[derive(Debug)]
pub(super) struct Inner {
    busy: Option<JoinHandle<Ended>>,
    ahead: Ahead,
    /// A write failed that nobody waited for.
    failed: Option<ErrorKind>,
    position: u64,
}

impl Ahead {
    fn rest(&self) -> &[u8] {
        &self.bytes[self.taken..]
    }

    fn take(&mut self, dst: &mut ReadBuf<'_>) {
        let len = self.rest().len().min(dst.remaining());
        dst.put_slice(&self.rest()[..len]);
        self.taken += len;
    }

    /// How far the position is to move so that nothing was read ahead.
    fn discard(&mut self) -> i64 {
        let back = -(self.rest().len() as i64);
        *self = Self::default();
        back
    }
}

/// Moves the position back by what was read ahead.
fn back(std: &Std, by: i64) -> io::Result<()> {
    match by {
        0 => Ok(()),
        by => (&*std).seek(SeekFrom::Current(by)).map(|_| ()),
    }
}

/// What a write to a file costs.
fn cost_of_write(std: &Std) -> Cost {
    let disks = detsim::__private::disks();
    disks.map_or(Cost::Write, |disks| disks.cost_of_write(std.as_raw_fd()))
}

fn read_ahead(std: &Std, len: usize) -> io::Result<Ahead> {
    let mut bytes = vec![0; len];
    loop {
        match (&*std).read(&mut bytes) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            read => {
                bytes.truncate(read?);
                return Ok(Ahead { bytes, taken: 0 });
            }
        }
    }
}

impl Inner {
    pub(super) fn new() -> Self {
        Self { busy: None, ahead: Ahead::default(), failed: None, position: 0 }
    }

    fn start(&mut self, cost: Cost, f: impl FnOnce() -> Ended + 'static) {
        self.busy = Some(call::start(cost, f));
    }

    /// Waits for what goes on in the background; `None` where nothing does.
    fn poll_busy(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Ended>>> {
        let Some(task) = &mut self.busy else { return Poll::Ready(None) };
        let ended = ready!(Pin::new(task).poll(cx));
        self.busy = None;
        Poll::Ready(Some(ended.map_err(|_| call::gone())))
    }

    /// What a read that nobody waited for has read is kept, as is the error of a write.
    fn keep(&mut self, ended: Ended) {
        match ended {
            Ended::Read(Ok(ahead)) => self.ahead = ahead,
            Ended::Write(Err(error)) => self.failed = Some(error.kind()),
            Ended::Seek(Ok(position)) => self.position = position,
            Ended::Read(Err(_)) | Ended::Seek(Err(_)) | Ended::Write(Ok(())) => {}
        }
    }

    /// Waits for what goes on in the background.
    pub(super) async fn complete(&mut self) {
        if let Err(error) = poll_fn(|cx| self.poll_flush(cx)).await {
            self.failed = Some(error.kind());
        }
    }

    /// Gives back what was read ahead.
    pub(super) fn give_back(&mut self, std: &Std) -> io::Result<()> {
        back(std, self.ahead.discard())
    }

    pub(super) fn poll_read(
        &mut self,
        std: &Arc<Std>,
        most: usize,
        cx: &mut Context<'_>,
        dst: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            match ready!(self.poll_busy(cx)).transpose()? {
                Some(Ended::Read(read)) => {
                    self.ahead = read?;
                    self.ahead.take(dst);
                    return Poll::Ready(Ok(()));
                }
                Some(ended) => self.keep(ended),
                None if !self.ahead.rest().is_empty() || dst.remaining() == 0 => {
                    self.ahead.take(dst);
                    return Poll::Ready(Ok(()));
                }
                None => {
                    let (std, len) = (Arc::clone(std), dst.remaining().min(most));
                    self.start(Cost::Read, move || Ended::Read(read_ahead(&std, len)));
                }
            }
        }
    }

    pub(super) fn poll_write(
        &mut self,
        std: &Arc<Std>,
        most: usize,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if let Some(kind) = self.failed.take() {
            return Poll::Ready(Err(kind.into()));
        }
        while let Some(ended) = ready!(self.poll_busy(cx)).transpose()? {
            if let Ended::Write(Err(error)) = ended {
                return Poll::Ready(Err(error));
            }
            self.keep(ended);
        }
        let mut bytes: Vec<u8> = bufs.iter().flat_map(|buf| buf.iter().copied()).collect();
        bytes.truncate(most);
        let (len, std, by) = (bytes.len(), Arc::clone(std), self.ahead.discard());
        let cost = cost_of_write(&std);
        self.start(cost, move || {
            Ended::Write(back(&std, by).and_then(|()| (&*std).write_all(&bytes)))
        });
        Poll::Ready(Ok(len))
    }

    pub(super) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let Some(kind) = self.failed.take() {
            return Poll::Ready(Err(kind.into()));
        }
        match ready!(self.poll_busy(cx)).transpose()? {
            Some(Ended::Write(written)) => Poll::Ready(written),
            Some(ended) => {
                self.keep(ended);
                Poll::Ready(Ok(()))
            }
            None => Poll::Ready(Ok(())),
        }
    }

    pub(super) fn start_seek(&mut self, std: &Arc<Std>, to: SeekFrom) -> io::Result<()> {
        if self.busy.is_some() {
            return Err(io::Error::other(
                "other file operation is pending, call poll_complete before start_seek",
            ));
        }
        let (std, by) = (Arc::clone(std), self.ahead.discard());
        self.start(Cost::Read, move || Ended::Seek(back(&std, by).and_then(|()| (&*std).seek(to))));
        Ok(())
    }

    pub(super) fn poll_seek(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        while let Some(ended) = ready!(self.poll_busy(cx)).transpose()? {
            if let Ended::Seek(sought) = ended {
                if let Ok(position) = sought {
                    self.position = position;
                }
                return Poll::Ready(sought);
            }
            self.keep(ended);
        }
        Poll::Ready(Ok(self.position))
    }
}
