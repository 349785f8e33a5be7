//! What is in a directory.
//!
//! Owns: [`ReadDir`], which reads ahead as tokio's does, 32 names at a time.

use super::call::{self, call};
use detsim_executor::JoinHandle;
use detsim_fs::Cost;
use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::{FileType, Metadata};
use std::future::poll_fn;
use std::io;
use std::os::unix::fs::DirEntryExt;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// How many names are read at a time.
const AHEAD: usize = 32;

/// What is in a directory, in an order that is fixed and is not that of the names.
///
/// # Errors
/// As std's.
pub async fn read_dir(path: impl AsRef<Path>) -> io::Result<ReadDir> {
    let path = path.as_ref().to_owned();
    let chunk = call(Cost::Read, move || Chunk::new(std::fs::read_dir(path)?)).await?;
    Ok(ReadDir(State::Idle(Some(chunk))))
}

/// The names of a directory. Made by [`read_dir`].
#[derive(Debug)]
#[must_use = "streams do nothing unless polled"]
pub struct ReadDir(State);

#[derive(Debug)]
enum State {
    Busy(JoinHandle<Chunk>),
    Idle(Option<Chunk>),
}

/// Names that were read, and where to go on.
#[derive(Debug)]
struct Chunk {
    read: VecDeque<io::Result<DirEntry>>,
    rest: std::fs::ReadDir,
    is_end: bool,
}

impl Chunk {
    fn new(rest: std::fs::ReadDir) -> io::Result<Self> {
        Ok(Self { read: VecDeque::new(), rest, is_end: false }.next())
    }

    fn next(mut self) -> Self {
        while self.read.len() < AHEAD && !self.is_end {
            match self.rest.next() {
                None => self.is_end = true,
                Some(entry) => {
                    let is_error = entry.is_err();
                    self.read.push_back(entry.map(DirEntry::new));
                    if is_error {
                        break;
                    }
                }
            }
        }
        self
    }
}

impl ReadDir {
    /// The next name; `None` at the end.
    ///
    /// # Errors
    /// As std's.
    pub async fn next_entry(&mut self) -> io::Result<Option<DirEntry>> {
        poll_fn(|cx| self.poll_next_entry(cx)).await
    }

    /// As [`Self::next_entry`].
    ///
    /// # Errors
    /// As std's.
    pub fn poll_next_entry(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Option<DirEntry>>> {
        loop {
            match &mut self.0 {
                State::Busy(task) => {
                    let chunk = ready!(Pin::new(task).poll(cx));
                    self.0 = State::Idle(None);
                    self.0 = State::Idle(Some(chunk.map_err(|_| call::gone())?));
                }
                State::Idle(chunk) => {
                    let Some(known) = chunk else { return Poll::Ready(Ok(None)) };
                    if let Some(entry) = known.read.pop_front() {
                        return Poll::Ready(entry.map(Some));
                    }
                    if known.is_end {
                        return Poll::Ready(Ok(None));
                    }
                    if let Some(chunk) = chunk.take() {
                        self.0 = State::Busy(call::start(Cost::Read, move || chunk.next()));
                    }
                }
            }
        }
    }
}

/// A name in a directory.
#[derive(Debug)]
pub struct DirEntry {
    std: Arc<std::fs::DirEntry>,
    kind: Option<FileType>,
}

impl DirEntry {
    fn new(std: std::fs::DirEntry) -> Self {
        Self { kind: std.file_type().ok(), std: Arc::new(std) }
    }

    /// The path of the directory as it was given, and the name.
    pub fn path(&self) -> PathBuf {
        self.std.path()
    }

    /// The name.
    pub fn file_name(&self) -> OsString {
        self.std.file_name()
    }

    /// The number of the file.
    pub fn ino(&self) -> u64 {
        self.std.ino()
    }

    /// What is known of the file; a symbolic link is not followed.
    ///
    /// # Errors
    /// As std's.
    pub async fn metadata(&self) -> io::Result<Metadata> {
        let std = Arc::clone(&self.std);
        call(Cost::Read, move || std.metadata()).await
    }

    /// What it is; a symbolic link is not followed.
    ///
    /// # Errors
    /// As std's.
    pub async fn file_type(&self) -> io::Result<FileType> {
        if let Some(kind) = self.kind {
            return Ok(kind);
        }
        let std = Arc::clone(&self.std);
        call(Cost::Read, move || std.file_type()).await
    }
}
