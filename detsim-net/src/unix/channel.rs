//! Bytes one way, without time.
//!
//! Owns: [`Channel`], half of a local stream or all of a pipe. Invariants: it is freed when neither end
//! is left; a reader that is gone takes its bytes along.

use std::collections::VecDeque;
use std::io::{IoSlice, IoSliceMut};

use detsim_executor::Kernel;
use detsim_executor::rng::fold;

use super::ChannelKey;
use crate::errno::{Errno, Result};
use crate::sockets::{SocketKey, World};
use crate::tcp::calls::Readiness;
use crate::waits::Side;

/// See the module's documentation.
#[derive(Debug)]
pub(crate) struct Channel {
    data: VecDeque<u8>,
    capacity: usize,
    pub(crate) reader: Option<SocketKey>,
    pub(crate) writer: Option<SocketKey>,
    /// The writer has said that nothing more will come.
    pub(crate) is_finished: bool,
    /// For the reader, once.
    pub(crate) error: Option<Errno>,
    history: u64,
}

impl Channel {
    pub(crate) fn new(reader: SocketKey, writer: SocketKey, capacity: usize) -> Self {
        Self {
            data: VecDeque::new(),
            capacity,
            reader: Some(reader),
            writer: Some(writer),
            is_finished: false,
            error: None,
            history: 0,
        }
    }

    fn is_over(&self) -> bool {
        self.is_finished || self.writer.is_none()
    }

    fn room(&self) -> usize {
        self.capacity.saturating_sub(self.data.len())
    }

    /// Bytes that can be read.
    pub(crate) fn len(&self) -> usize {
        self.data.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.data.is_empty()
    }
}

impl World {
    /// Reads, or only looks.
    pub(crate) fn channel_read(
        &mut self,
        kernel: &mut Kernel,
        key: ChannelKey,
        buffers: &mut [IoSliceMut<'_>],
        peeks: bool,
    ) -> Result<usize> {
        let channel = self.channels.get_mut(key).ok_or(Errno::BAD_FILE)?;
        let wanted: usize = buffers.iter().map(|buffer| buffer.len()).sum();
        if channel.data.is_empty() && wanted > 0 {
            return match channel.error.take() {
                Some(error) => Err(error),
                None if channel.is_over() => Ok(0),
                None => Err(Errno::AGAIN),
            };
        }
        let mut read = 0;
        for buffer in buffers {
            let len = buffer.len().min(channel.data.len() - read);
            let bytes = channel.data.range(read..read + len);
            buffer.iter_mut().zip(bytes).for_each(|(place, byte)| *place = *byte);
            read += len;
        }
        if let Some(history) = kernel.task_history() {
            *history = fold(*history, channel.history);
        }
        if peeks {
            return Ok(read);
        }
        channel.data.drain(..read);
        if let Some(writer) = channel.writer {
            self.notify(kernel, writer, Side::Write);
        }
        Ok(read)
    }

    /// Writes.
    pub(crate) fn channel_write(
        &mut self,
        kernel: &mut Kernel,
        key: ChannelKey,
        buffers: &[IoSlice<'_>],
    ) -> Result<usize> {
        let channel = self.channels.get_mut(key).ok_or(Errno::BAD_FILE)?;
        if channel.reader.is_none() || channel.is_finished {
            return Err(Errno::BROKEN_PIPE);
        }
        let offered: usize = buffers.iter().map(|buffer| buffer.len()).sum();
        let bytes = offered.min(channel.room());
        if bytes == 0 && offered > 0 {
            return Err(Errno::AGAIN);
        }
        let mut left = bytes;
        for buffer in buffers {
            let len = buffer.len().min(left);
            channel.data.extend(&buffer[..len]);
            left -= len;
        }
        let history = kernel.task_history().map_or(0, |history| *history);
        channel.history = fold(channel.history, history);
        if let Some(reader) = channel.reader.filter(|_| bytes > 0) {
            self.notify(kernel, reader, Side::Read);
        }
        Ok(bytes)
    }

    /// Takes what was written and not read, from either end.
    pub(crate) fn take_unread(&mut self, key: ChannelKey) -> Result<Vec<u8>> {
        let channel = self.channels.get_mut(key).ok_or(Errno::BAD_FILE)?;
        Ok(channel.data.drain(..).collect())
    }

    /// The reading end of a channel, as `poll` would say.
    pub(crate) fn reads(&self, key: ChannelKey) -> Readiness {
        self.channels.get(key).map_or_else(Readiness::default, |channel| Readiness {
            readable: !channel.data.is_empty() || channel.is_over() || channel.error.is_some(),
            read_closed: channel.is_over(),
            error: channel.error.is_some(),
            ..Readiness::default()
        })
    }

    /// The writing end of a channel, as `poll` would say.
    pub(crate) fn writes(&self, key: ChannelKey) -> Readiness {
        self.channels.get(key).map_or_else(Readiness::default, |channel| Readiness {
            writable: channel.room() > 0 || channel.reader.is_none() || channel.is_finished,
            write_closed: channel.reader.is_none() || channel.is_finished,
            error: channel.reader.is_none(),
            ..Readiness::default()
        })
    }

    /// One of the two ends says that nothing more will be written.
    pub(crate) fn finish_channel(&mut self, kernel: &mut Kernel, key: ChannelKey) {
        let Some(channel) = self.channels.get_mut(key) else { return };
        channel.is_finished = true;
        let (reader, writer) = (channel.reader, channel.writer);
        for (end, side) in [(reader, Side::Read), (writer, Side::Write)] {
            if let Some(end) = end {
                self.notify(kernel, end, side);
            }
        }
    }

    /// The writer is gone.
    pub(crate) fn close_writer(&mut self, kernel: &mut Kernel, key: ChannelKey) {
        let Some(channel) = self.channels.get_mut(key) else { return };
        channel.writer = None;
        match channel.reader {
            Some(reader) => self.notify(kernel, reader, Side::Read),
            None => drop(self.channels.remove(key)),
        }
    }

    /// The reader is gone.
    pub(crate) fn close_reader(&mut self, kernel: &mut Kernel, key: ChannelKey) {
        let Some(channel) = self.channels.get_mut(key) else { return };
        channel.reader = None;
        channel.data.clear();
        match channel.writer {
            Some(writer) => self.notify(kernel, writer, Side::Write),
            None => drop(self.channels.remove(key)),
        }
    }
}
