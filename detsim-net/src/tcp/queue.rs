//! Bytes in a queue.
//!
//! Owns: [`Queue`], what one direction of a connection holds. Does not own: which of the bytes are where
//! (`lane.rs`). Invariants: bytes come out in the order in which they went in; a block that was emptied is
//! the next one to be filled, so that what is written goes to memory that was just read; no block but the
//! last has room that is unused.

use std::collections::VecDeque;

/// See the module's documentation.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    len: usize,
    /// Bytes of the first block that were taken.
    taken: usize,
    /// Bytes of the last block that are filled.
    filled: usize,
    /// The block that is read; the only one where little is on its way.
    first: Block,
    rest: VecDeque<Block>,
    /// Empty blocks, the last one to be used first.
    spare: Vec<Block>,
}

type Block = Box<[u8]>;

/// The least and the most that a block has room for.
const BLOCK_BYTES_MIN: usize = 512;
const BLOCK_BYTES_MAX: usize = 65_536;
/// Empty blocks that are kept.
const SPARE_MAX: usize = 64;

impl Queue {
    /// How many bytes there are.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Puts bytes in.
    #[inline(always)]
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let to = self.filled + bytes.len();
        match self.first.get_mut(self.filled..to) {
            Some(room) if self.rest.is_empty() => {
                room.copy_from_slice(bytes);
                self.filled = to;
                self.len += bytes.len();
            }
            _ => self.push_slowly(bytes),
        }
    }

    #[inline(never)]
    fn push_slowly(&mut self, mut bytes: &[u8]) {
        self.len += bytes.len();
        while !bytes.is_empty() {
            if self.filled == self.last_mut().len() {
                self.add_block(bytes.len());
            }
            let filled = self.filled;
            let room = &mut self.last_mut()[filled..];
            let (now, later) = bytes.split_at(bytes.len().min(room.len()));
            room[..now.len()].copy_from_slice(now);
            self.filled += now.len();
            bytes = later;
        }
    }

    fn last_mut(&mut self) -> &mut Block {
        self.rest.back_mut().unwrap_or(&mut self.first)
    }

    fn add_block(&mut self, bytes: usize) {
        // Where much is on its way all blocks are of one size, and fit again.
        let room = match self.len > BLOCK_BYTES_MAX {
            true => BLOCK_BYTES_MAX,
            false => bytes.next_power_of_two().clamp(BLOCK_BYTES_MIN, BLOCK_BYTES_MAX),
        };
        let fits = self.spare.pop().filter(|block| block.len() >= room);
        let block = fits.unwrap_or_else(|| vec![0; room].into());
        match self.filled {
            0 => self.first = block,
            _ => self.rest.push_back(block),
        }
        self.filled = 0;
    }

    /// The blocks with what was put into them.
    fn blocks(&self) -> impl Iterator<Item = &[u8]> {
        let all = 1 + self.rest.len();
        std::iter::once(&self.first)
            .chain(&self.rest)
            .enumerate()
            .map(move |(at, block)| if at + 1 == all { &block[..self.filled] } else { &block[..] })
    }

    /// Copies bytes from `offset` on into `buffer`, without taking them: as many as there are, and room for.
    pub(crate) fn peek(&self, offset: usize, buffer: &mut [u8]) -> usize {
        let (mut skip, mut done) = (self.taken + offset, 0);
        for block in self.blocks() {
            let rest = block.get(skip..).unwrap_or_default();
            skip = skip.saturating_sub(block.len());
            let bytes = rest.len().min(buffer.len() - done);
            buffer[done..done + bytes].copy_from_slice(&rest[..bytes]);
            done += bytes;
            if done == buffer.len() {
                break;
            }
        }
        done
    }

    /// Takes bytes out, as many as `buffer` has room for; there must be so many.
    #[inline(always)]
    pub(crate) fn take(&mut self, buffer: &mut [u8]) {
        let to = self.taken + buffer.len();
        // Of the only block, as small messages are.
        match self.first.get(self.taken..to) {
            Some(bytes) if self.rest.is_empty() => {
                buffer.copy_from_slice(bytes);
                self.taken = to;
                self.len -= buffer.len();
                if self.len == 0 {
                    (self.taken, self.filled) = (0, 0);
                }
            }
            _ => self.take_slowly(buffer),
        }
    }

    #[inline(never)]
    fn take_slowly(&mut self, buffer: &mut [u8]) {
        self.peek(0, buffer);
        self.consume(buffer.len());
    }

    /// Takes bytes out that were looked at.
    pub(crate) fn consume(&mut self, bytes: usize) {
        self.len -= bytes;
        self.taken += bytes;
        while self.taken >= self.first.len() {
            let Some(next) = self.rest.pop_front() else { break };
            self.taken -= self.first.len();
            let emptied = std::mem::replace(&mut self.first, next);
            self.recycle(emptied);
        }
        // The only block is filled again from its beginning.
        if self.len == 0 {
            (self.taken, self.filled) = (0, 0);
        }
    }

    fn recycle(&mut self, block: Block) {
        if self.spare.len() < SPARE_MAX {
            self.spare.push(block);
        }
    }

    /// Forgets all but the first bytes.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
        let mut end = self.taken + self.len;
        let mut kept = 0;
        for block in std::iter::once(&self.first).chain(&self.rest) {
            kept += 1;
            if end <= block.len() {
                break;
            }
            end -= block.len();
        }
        self.rest.truncate(kept - 1);
        self.filled = end;
        if self.len == 0 {
            (self.taken, self.filled) = (0, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use detsim_executor::Stream;

    #[test]
    fn it_is_a_queue_whatever_is_done_to_it() {
        let (mut stream, mut queue, mut model) =
            (Stream::new(1), Queue::default(), VecDeque::new());
        let mut next = 0_u8;
        for _ in 0..20_000 {
            let some = |stream: &mut Stream, most: usize| stream.below(most as u64 + 1) as usize;
            match stream.below(8) {
                0..4 => {
                    let most = if stream.below(20) == 0 { 200_000 } else { 300 };
                    let bytes: Vec<u8> = (0..some(&mut stream, most))
                        .map(|_| {
                            next = next.wrapping_add(1);
                            next
                        })
                        .collect();
                    queue.push(&bytes);
                    model.extend(bytes);
                }
                4..6 => {
                    let bytes = some(&mut stream, model.len());
                    queue.consume(bytes);
                    model.drain(..bytes);
                }
                6 => {
                    let mut buffer = vec![0; some(&mut stream, model.len())];
                    queue.take(&mut buffer);
                    assert!(model.drain(..buffer.len()).eq(buffer));
                }
                _ => {
                    let len = model.len() - some(&mut stream, model.len().min(100));
                    queue.truncate(len);
                    model.truncate(len);
                }
            }
            assert_eq!(queue.len(), model.len());
            let offset = some(&mut stream, model.len());
            let mut buffer = vec![0; some(&mut stream, 1_000)];
            let bytes = queue.peek(offset, &mut buffer);
            assert_eq!(bytes, buffer.len().min(model.len() - offset));
            assert!(buffer[..bytes].iter().eq(model.range(offset..offset + bytes)));
        }
    }

    #[test]
    fn small_messages_use_one_block_again_and_again() {
        let mut queue = Queue::default();
        for _ in 0..1_000 {
            queue.push(&[7; 64]);
            queue.consume(64);
        }
        assert_eq!((queue.rest.len(), queue.spare.len()), (0, 0));
        assert_eq!(queue.first.len(), BLOCK_BYTES_MIN);
    }
}
