//! Bytes on their way from one end to the other.
//!
//! Invariant: who reads waits while there is no byte, who writes while there is no room; neither waits
//! once the pipe is closed.

use crate::sync::batch_semaphore::operate;
use crate::sync::last::Last;
use crate::sync::queue::Queue;
use crate::sync::until::{Until, Waits, wake_all};
use detsim_executor::{Bound, In, Object, OpKind, ResourceKind, Role, TaskTag};
use std::collections::VecDeque;
use std::io::{self, ErrorKind, IoSlice};
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::task::{Context, Poll};
use tokio::io::ReadBuf;

/// A pipe.
#[derive(Debug)]
pub(super) struct Pipe {
    state: Bound<State>,
}

#[derive(Debug)]
struct State {
    object: Object,
    bytes: VecDeque<u8>,
    size: usize,
    closed: bool,
    last_read: Last,
    last_written: Last,
    reading: Queue<()>,
    writing: Queue<()>,
}

// No panic leaves the state half changed.
impl UnwindSafe for Pipe {}
impl RefUnwindSafe for Pipe {}

fn reading(state: &mut State) -> Waits<'_> {
    let party = state.last_written.party(Role::LastSent);
    Waits { object: &mut state.object, queue: &mut state.reading, party }
}

fn writing(state: &mut State) -> Waits<'_> {
    let party = state.last_read.party(Role::LastReceived);
    Waits { object: &mut state.object, queue: &mut state.writing, party }
}

impl Pipe {
    #[track_caller]
    pub(super) fn new(size: usize, site: &'static Location<'static>) -> Self {
        assert!(size > 0, "`max_buf_size` must be greater than 0");
        let state = State {
            object: Object::new(ResourceKind::Stream, site),
            bytes: VecDeque::new(),
            size,
            closed: false,
            last_read: Last::NOBODY,
            last_written: Last::NOBODY,
            reading: Queue::new(),
            writing: Queue::new(),
        };
        Self { state: Bound::new(state) }
    }

    pub(super) fn poll_read(
        &self,
        until: &mut Until,
        cx: &Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        until.poll(&self.state, cx, reading, |section| {
            let waits = section.bytes.is_empty() && !section.closed && buf.remaining() > 0;
            (!waits).then(|| {
                section.last_read = used(section);
                if take(&mut section.bytes, buf) > 0 {
                    wake_all(section, writing);
                }
                Ok(())
            })
        })
    }

    pub(super) fn poll_write(
        &self,
        until: &mut Until,
        cx: &Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        until.poll(&self.state, cx, writing, |section| {
            if section.closed {
                return Some(Err(ErrorKind::BrokenPipe.into()));
            }
            let room = section.size - section.bytes.len();
            if room == 0 && bufs.iter().any(|buf| !buf.is_empty()) {
                return None;
            }
            section.last_written = used(section);
            let written = put(&mut section.bytes, bufs, room);
            if written > 0 {
                wake_all(section, reading);
            }
            Some(Ok(written))
        })
    }

    /// No more bytes come.
    pub(super) fn close(&self) {
        let mut section = self.state.enter();
        let (state, kernel) = section.both();
        operate(kernel, &mut state.object, OpKind::Close);
        state.closed = true;
        wake_all(&mut section, reading);
    }

    pub(super) fn leave_writer(&self, until: &mut Until) {
        until.cancel(&self.state, writing);
        self.close();
    }

    /// Nobody reads any more.
    pub(super) fn leave_reader(&self, until: &mut Until) {
        until.cancel(&self.state, reading);
        let mut section = self.state.enter();
        let (state, kernel) = section.both();
        operate(kernel, &mut state.object, OpKind::Close);
        state.closed = true;
        wake_all(&mut section, writing);
    }
}

/// A use by the task that runs. Where it stands is not known to a poll: the pipe's own place is.
fn used(section: &mut In<'_, State>) -> Last {
    let (state, kernel) = section.both();
    let task = kernel.map_or(TaskTag::NOBODY, |kernel| kernel.current_tag());
    Last::new(task, state.object.site())
}

/// Moves bytes to a buffer: how many.
fn take(bytes: &mut VecDeque<u8>, buf: &mut ReadBuf<'_>) -> usize {
    let count = bytes.len().min(buf.remaining());
    let (front, back) = bytes.as_slices();
    let from_front = count.min(front.len());
    buf.put_slice(&front[..from_front]);
    buf.put_slice(&back[..count - from_front]);
    bytes.drain(..count);
    count
}

/// Moves bytes from buffers, as many as there is room for: how many.
fn put(bytes: &mut VecDeque<u8>, bufs: &[IoSlice<'_>], room: usize) -> usize {
    let mut left = room;
    for buf in bufs {
        let count = buf.len().min(left);
        bytes.extend(&buf[..count]);
        left -= count;
    }
    room - left
}
