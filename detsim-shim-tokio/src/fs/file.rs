//! An open file.
//!
//! Owns: [`File`]: tokio's buffering over std's file. A read fills a buffer that later reads are
//! served from; a write takes bytes into it and goes on in the background, whether or not anybody
//! waits: its error comes with the next write or flush, and whoever wants to know that it took place
//! has to flush.
//!
//! Invariants: while work goes on in the background the buffer is with it; what was read ahead and not
//! taken is given back by moving the position before anything else uses it.

#![expect(clippy::disallowed_types, reason = "the times of files are what a program says")]

mod state;

use super::call::{self, call};
use super::{FileTimes, OpenOptions};
use crate::sync::Mutex;
use detsim_executor::sleep_until;
use detsim_fs::{Cost, is_simulated};
use state::{Inner, READ_AHEAD_MAX};
use std::fmt;
use std::fs::{File as Std, Metadata, Permissions};
use std::io::{self, IoSlice, SeekFrom};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::SystemTime;
use tokio::io::{AsyncRead, AsyncSeek, AsyncWrite, ReadBuf};

/// An open file. Dropping it waits for nothing: flush it first.
///
/// # Examples
/// ```
/// use detsim_shim_tokio as tokio;
/// let sim = detsim_executor::Sim::new(7);
/// sim.block_on(async {
///     let log = tokio::fs::File::create("/tmp/log").await?;
///     log.set_len(100).await?;
///     log.sync_all().await?;
///     assert_eq!(log.metadata().await?.len(), 100);
///     std::io::Result::Ok(())
/// })
/// .unwrap()
/// .unwrap();
/// ```
pub struct File {
    std: Arc<Std>,
    inner: Mutex<Inner>,
    buffer_max: usize,
}

impl File {
    /// Opens a file for reading.
    ///
    /// # Errors
    /// As std's.
    pub async fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref().to_owned();
        call(Cost::Read, move || Std::open(path)).await.map(Self::from_std)
    }

    /// Opens a file for writing, emptied, made where it is not there.
    ///
    /// # Errors
    /// As std's.
    pub async fn create(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref().to_owned();
        call(Cost::Write, move || Std::create(path)).await.map(Self::from_std)
    }

    /// Makes a file, and opens it for reading and writing.
    ///
    /// # Errors
    /// As std's: it is an error where it is there.
    pub async fn create_new<P: AsRef<Path>>(path: P) -> io::Result<Self> {
        let path = path.as_ref().to_owned();
        call(Cost::Write, move || Std::create_new(path)).await.map(Self::from_std)
    }

    /// How else to open one.
    #[must_use]
    pub fn options() -> OpenOptions {
        OpenOptions::new()
    }

    /// A file that std opened.
    pub fn from_std(std: Std) -> Self {
        Self { std: Arc::new(std), inner: Mutex::new(Inner::new()), buffer_max: READ_AHEAD_MAX }
    }

    pub(super) fn std(&self) -> &Std {
        &self.std
    }

    /// Makes everything durable that was written, once what goes on in the background is done.
    ///
    /// # Errors
    /// As std's; an error of a write that went on is this one's.
    pub async fn sync_all(&self) -> io::Result<()> {
        self.sync(false).await
    }

    /// As [`Self::sync_all`], without what is known of the file beside its bytes and its size.
    ///
    /// # Errors
    /// As [`Self::sync_all`].
    pub async fn sync_data(&self) -> io::Result<()> {
        self.sync(true).await
    }

    async fn sync(&self, data_only: bool) -> io::Result<()> {
        self.inner.lock().await.complete().await;
        let fd = self.std.as_raw_fd();
        if !is_simulated(fd) {
            return if data_only { self.std.sync_data() } else { self.std.sync_all() };
        }
        let end = call::begin(Cost::Sync).await;
        let point = call::disks().begin_sync(fd, data_only)?;
        sleep_until(end).await;
        Ok(call::disks().finish_sync(fd, point)?)
    }

    /// Cuts the file, or lets it grow by zeros.
    ///
    /// # Errors
    /// As std's.
    pub async fn set_len(&self, size: u64) -> io::Result<()> {
        let mut inner = self.inner.lock().await;
        inner.complete().await;
        inner.give_back(&self.std)?;
        let std = Arc::clone(&self.std);
        call(Cost::Write, move || std.set_len(size)).await
    }

    /// What is known of the file.
    ///
    /// # Errors
    /// As std's.
    pub async fn metadata(&self) -> io::Result<Metadata> {
        let std = Arc::clone(&self.std);
        call(Cost::Read, move || std.metadata()).await
    }

    /// Another handle: both share the position.
    ///
    /// # Errors
    /// As std's.
    pub async fn try_clone(&self) -> io::Result<Self> {
        self.inner.lock().await.complete().await;
        let std = Arc::clone(&self.std);
        let buffer_max = self.buffer_max;
        let clone = call(Cost::Read, move || std.try_clone()).await?;
        Ok(Self { buffer_max, ..Self::from_std(clone) })
    }

    /// std's file, once what goes on in the background is done.
    pub async fn into_std(mut self) -> Std {
        self.inner.get_mut().complete().await;
        Arc::try_unwrap(self.std).expect("invariant: what goes on has the only other handle")
    }

    /// std's file.
    ///
    /// # Errors
    /// This file again, where something goes on in the background.
    #[expect(clippy::result_large_err, reason = "tokio's signature")]
    pub fn try_into_std(self) -> Result<Std, Self> {
        let Self { std, inner, buffer_max } = self;
        Arc::try_unwrap(std).map_err(|std| Self { std, inner, buffer_max })
    }

    /// Sets the permissions.
    ///
    /// # Errors
    /// As std's.
    pub async fn set_permissions(&self, perm: Permissions) -> io::Result<()> {
        let std = Arc::clone(&self.std);
        call(Cost::Write, move || std.set_permissions(perm)).await
    }

    /// Sets when the file was read and written.
    ///
    /// # Errors
    /// As std's.
    pub async fn set_times(&self, times: FileTimes) -> io::Result<()> {
        let std = Arc::clone(&self.std);
        call(Cost::Write, move || std.set_times(times.into_std())).await
    }

    /// Sets when the file was written.
    ///
    /// # Errors
    /// As std's.
    pub async fn set_modified(&self, time: SystemTime) -> io::Result<()> {
        self.set_times(FileTimes::new().set_modified(time)).await
    }

    /// How many bytes are read ahead or taken by a write at most; 2 MiB at first.
    ///
    /// # Panics
    /// Where it is 0, in tokio's words.
    #[track_caller]
    pub fn set_max_buf_size(&mut self, max_buf_size: usize) {
        assert!(max_buf_size > 0, "`max_buf_size` must be greater than 0");
        self.buffer_max = max_buf_size;
    }

    /// See [`Self::set_max_buf_size`].
    pub fn max_buf_size(&self) -> usize {
        self.buffer_max
    }
}

impl AsyncRead for File {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        dst: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        this.inner.get_mut().poll_read(&this.std, this.buffer_max, cx, dst)
    }
}

impl AsyncSeek for File {
    fn start_seek(self: Pin<&mut Self>, position: SeekFrom) -> io::Result<()> {
        let this = self.get_mut();
        this.inner.get_mut().start_seek(&this.std, position)
    }

    fn poll_complete(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        self.get_mut().inner.get_mut().poll_seek(cx)
    }
}

impl AsyncWrite for File {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        src: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(src)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        this.inner.get_mut().poll_write(&this.std, this.buffer_max, cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().inner.get_mut().poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(cx)
    }
}

impl From<Std> for File {
    fn from(std: Std) -> Self {
        Self::from_std(std)
    }
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("tokio::fs::File").field("std", &self.std).finish()
    }
}
