//! The bytes of a file.
//!
//! Owns: sparse pages that copies of a file share until one of them writes, the room that is reserved, and
//! the size. Does not own: which bytes are durable.
//!
//! Invariants: a page that is absent is all zeros; none is reserved that is not absent; bytes past the size are zero in what the running
//! system sees. On the medium they may be data whose size is not durable yet: [`Contents::trim`]
//! ends that.

mod reserved;

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use reserved::Reserved;

/// Bytes of a page.
pub(crate) const PAGE: usize = 4096;

type Page = [u8; PAGE];

/// A sparse sequence of bytes. Cloning it copies no page.
#[derive(Clone, Debug, Default)]
pub(crate) struct Contents {
    pages: BTreeMap<u64, Rc<Page>>,
    reserved: Reserved,
    size: u64,
}

/// A stretch of a buffer within one page.
struct Piece {
    page: u64,
    start: usize,
    from: usize,
    len: usize,
}

impl Contents {
    /// Bytes from the first to the end.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// How many pages take room.
    pub(crate) fn pages(&self) -> u64 {
        self.pages.len() as u64 + self.reserved.count()
    }

    /// How many pages more a write would take.
    pub(crate) fn pages_missing(&self, offset: u64, len: usize) -> u64 {
        let has_room = |page| self.pages.contains_key(&page) || self.reserved.contains(page);
        pieces(offset, len).filter(|piece| !has_room(piece.page)).count() as u64
    }

    /// How many of these pages take no room yet.
    pub(crate) fn holes(&self, pages: &Range<u64>) -> u64 {
        let taken = self.pages.range(pages.clone()).count() as u64;
        pages.end - pages.start - taken - self.reserved.count_within(pages)
    }

    /// Reserves room for all of these pages that take none.
    pub(crate) fn reserve(&mut self, pages: Range<u64>) {
        let mut start = pages.start;
        for page in self.pages.range(pages.clone()).map(|(page, _)| *page) {
            self.reserved.insert(start..page);
            start = page + 1;
        }
        self.reserved.insert(start..pages.end);
    }

    /// Gives the room of these pages back: they are zeros from now on.
    pub(crate) fn punch(&mut self, pages: Range<u64>) {
        let punched: Vec<u64> = self.pages.range(pages.clone()).map(|(page, _)| *page).collect();
        punched.iter().for_each(|page| drop(self.pages.remove(page)));
        self.reserved.remove(pages);
    }

    /// Takes as much room as another copy of the file does, where the bytes are the same.
    pub(crate) fn take_room_of(&mut self, other: &Self) {
        self.pages.retain(|page, bytes| {
            other.pages.contains_key(page) || bytes.iter().any(|byte| *byte != 0)
        });
        self.reserved = Reserved::default();
        other.reserved.stretches().for_each(|pages| self.reserve(pages));
    }

    /// The stretches of bytes within this one that take room for bytes.
    pub(crate) fn stored(&self, bytes: Range<u64>) -> Vec<Range<u64>> {
        let size = PAGE as u64;
        let pages = self.pages.range(bytes.start / size..bytes.end.div_ceil(size));
        let within = |page: &u64| bytes.start.max(page * size)..bytes.end.min((page + 1) * size);
        pages.map(|(page, _)| within(page)).collect()
    }

    /// Fills `buf` from `offset` on, as far as the file goes.
    pub(crate) fn read(&self, offset: u64, buf: &mut [u8]) -> usize {
        let left = usize::try_from(self.size.saturating_sub(offset)).unwrap_or(usize::MAX);
        let len = buf.len().min(left);
        for piece in pieces(offset, len) {
            let into = &mut buf[piece.from..piece.from + piece.len];
            match self.pages.get(&piece.page) {
                Some(page) => into.copy_from_slice(&page[piece.start..piece.start + piece.len]),
                None => into.fill(0),
            }
        }
        len
    }

    /// The first byte from `at` on that is stored.
    pub(crate) fn stored_from(&self, at: u64) -> Option<u64> {
        let (page, _) = self.pages.range(at / PAGE as u64..).next()?;
        Some(at.max(page * PAGE as u64))
    }

    /// The first byte from `at` on that is not stored.
    pub(crate) fn hole_from(&self, at: u64) -> u64 {
        let first = at / PAGE as u64;
        let stored = self.pages.range(first..).zip(first..);
        let there = stored.take_while(|((page, _), wanted)| *page == wanted).count() as u64;
        at.max((first + there) * PAGE as u64)
    }

    /// Puts bytes at `offset`; the size stays.
    pub(crate) fn write(&mut self, offset: u64, bytes: &[u8]) {
        for piece in pieces(offset, bytes.len()) {
            let page = self.pages.entry(piece.page).or_insert_with(|| {
                self.reserved.remove(piece.page..piece.page + 1);
                Rc::new([0; PAGE])
            });
            let from = &bytes[piece.from..piece.from + piece.len];
            if Rc::get_mut(page).is_none()
                && let Ok(whole) = from.try_into()
            {
                *page = Rc::new(whole);
                continue;
            }
            Rc::make_mut(page)[piece.start..piece.start + piece.len].copy_from_slice(from);
        }
    }

    /// Shares the pages that a stretch covers whole with another copy of the file, where they are the same
    /// there.
    pub(crate) fn share(&mut self, other: &Self, offset: u64, len: usize) {
        for piece in pieces(offset, len).filter(|piece| piece.len == PAGE) {
            if let (Some(own), Some(theirs)) =
                (self.pages.get_mut(&piece.page), other.pages.get(&piece.page))
                && own == theirs
            {
                *own = Rc::clone(theirs);
            }
        }
    }

    /// Moves the end. What is cut off reads as zeros where the file grows again.
    pub(crate) fn set_size(&mut self, size: u64) {
        let shrinks = size < self.size;
        self.size = size;
        if shrinks {
            self.trim();
        }
    }

    /// Zeros everything past the end.
    pub(crate) fn trim(&mut self) {
        let whole = self.size.div_ceil(PAGE as u64);
        self.pages.split_off(&whole);
        self.reserved.remove(whole..u64::MAX);
        let tail = (self.size % PAGE as u64) as usize;
        if tail > 0
            && let Some(page) = self.pages.get_mut(&(whole - 1))
            && page[tail..].iter().any(|byte| *byte != 0)
        {
            Rc::make_mut(page)[tail..].fill(0);
        }
    }
}

fn pieces(offset: u64, len: usize) -> impl Iterator<Item = Piece> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let at = offset + from as u64;
        let start = (at % PAGE as u64) as usize;
        let piece =
            Piece { page: at / PAGE as u64, start, from, len: (len - from).min(PAGE - start) };
        from += piece.len;
        (piece.len > 0).then_some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_cut_off_is_zeros_when_the_file_grows_again() {
        let mut file = Contents::default();
        file.write(0, b"hello");
        file.set_size(5);
        file.set_size(0);
        file.set_size(5);
        let mut buf = [1; 9];
        assert_eq!(file.read(0, &mut buf), 5);
        assert_eq!(&buf[..5], &[0; 5]);
    }

    #[test]
    fn pages_that_are_the_same_are_shared_where_they_are_covered() {
        let (mut one, mut two) = (Contents::default(), Contents::default());
        for file in [&mut one, &mut two] {
            file.write(0, &[7; 3 * PAGE]);
        }
        two.write(PAGE as u64, b"other");
        one.share(&two, 1, 3 * PAGE - 1);
        let shared = [0, 1, 2].map(|page| Rc::ptr_eq(&one.pages[&page], &two.pages[&page]));
        assert_eq!(shared, [false, false, true]);
        two.write(2 * PAGE as u64, &[8; PAGE]);
        let mut buf = [0; 1];
        one.set_size(3 * PAGE as u64);
        assert_eq!((one.read(2 * PAGE as u64, &mut buf), buf), (1, [7]));
    }

    #[test]
    fn a_copy_shares_its_pages_until_one_of_both_writes() {
        let mut file = Contents::default();
        file.write(PAGE as u64 - 2, b"abcd");
        file.set_size(PAGE as u64 + 2);
        let before = file.clone();
        file.write(PAGE as u64, b"X");
        assert!(Rc::ptr_eq(&file.pages[&0], &before.pages[&0]));
        let mut buf = [0; 8];
        assert_eq!(before.read(PAGE as u64 - 2, &mut buf), 4);
        assert_eq!(&buf[..4], b"abcd");
        assert_eq!(file.pages_missing(0, 3 * PAGE), 1);
    }
}
