//! What the log of a file system holds.
//!
//! Owns: [`Change`], one effect of one call, and where it takes place. Does not own: which changes
//! may reach the medium without which others (`order.rs`).
//!
//! A call is one change, or two: a write that makes its file longer is its data, then its size. The
//! data of a write falls into atoms of a sector each; every other change is an atom by itself.

use std::rc::Rc;

use super::tree::{Ino, Name};
use crate::atom::SECTOR_BYTES;

/// A name in a directory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry {
    pub(crate) dir: Ino,
    pub(crate) name: Name,
}

/// One effect on a file system.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    /// Bytes of a file; its size stays.
    Data { ino: Ino, offset: u64, bytes: Rc<[u8]> },
    /// Another name for an inode, be it the first.
    Link { at: Entry, ino: Ino },
    /// Other permissions.
    Mode { ino: Ino, mode: u32 },
    /// A name that moves, and takes the place of another where there was one.
    Rename { from: Entry, to: Entry, ino: Ino, over: Option<Ino> },
    /// Another size, where it was `was`.
    Size { ino: Ino, size: u64, was: u64 },
    /// One name less.
    Unlink { at: Entry, ino: Ino },
}

impl Change {
    /// The inodes whose `fsync` makes it durable: a file's for what is within it, a directory's for
    /// its names.
    pub(crate) fn owners(&self) -> [Option<Ino>; 2] {
        match self {
            Self::Data { ino, .. } | Self::Mode { ino, .. } | Self::Size { ino, .. } => {
                [Some(*ino), None]
            }
            Self::Link { at, .. } | Self::Unlink { at, .. } => [Some(at.dir), None],
            Self::Rename { from, to, .. } if from.dir == to.dir => [Some(from.dir), None],
            Self::Rename { from, to, .. } => [Some(from.dir), Some(to.dir)],
        }
    }

    /// The inodes that gain or lose a name.
    pub(crate) fn named(&self) -> [Option<Ino>; 2] {
        match self {
            Self::Data { .. } | Self::Mode { .. } | Self::Size { .. } => [None, None],
            Self::Link { ino, .. } | Self::Unlink { ino, .. } => [Some(*ino), None],
            Self::Rename { ino, over, .. } => [Some(*ino), *over],
        }
    }

    /// A file that becomes longer.
    pub(crate) fn is_growth(&self) -> bool {
        matches!(self, Self::Size { size, was, .. } if size > was)
    }

    /// Data or size: what `fdatasync` is about.
    pub(crate) fn is_of_data(&self) -> bool {
        matches!(self, Self::Data { .. } | Self::Size { .. })
    }

    /// The part of a change of data that falls into one sector.
    pub(crate) fn of_sector(&self, sector: u64) -> Self {
        let Self::Data { ino, offset, bytes } = self else { return self.clone() };
        let start = (sector * SECTOR_BYTES as u64).max(*offset);
        let end = ((sector + 1) * SECTOR_BYTES as u64).min(offset + bytes.len() as u64);
        let part = &bytes[(start - offset) as usize..(end - offset) as usize];
        Self::Data { ino: *ino, offset: start, bytes: part.into() }
    }

    /// Of data: zeros for what lies at or behind a position.
    pub(crate) fn clear_behind(&mut self, end: u64) {
        let Self::Data { offset, bytes, .. } = self else { return };
        let kept = usize::try_from(end.saturating_sub(*offset)).unwrap_or(usize::MAX);
        if kept < bytes.len() {
            let mut cleared = bytes.to_vec();
            cleared[kept..].fill(0);
            *bytes = cleared.into();
        }
    }

    /// Of how many sectors it is.
    pub(crate) fn atoms(&self) -> usize {
        match self {
            Self::Data { offset, bytes, .. } => sectors(*offset, bytes.len()).count(),
            _ => 1,
        }
    }
}

/// The sectors that a stretch of bytes touches.
pub(crate) fn sectors(offset: u64, len: usize) -> std::ops::Range<u64> {
    let sector = SECTOR_BYTES as u64;
    offset / sector..(offset + len as u64).div_ceil(sector).max(offset / sector)
}
