//! The queue of a channel, which does not know the type of what it holds.
//!
//! A ring of bytes of one layout, so that everything a channel does is compiled once, in this crate,
//! however many types are sent. Owns: [`Ring`], the bytes; [`Items`], the type of a ring's items;
//! [`Slot`], a place outside of the ring that an item is moved from or to. Does not own: who may send.
//!
//! Invariants: every ring has a brand that no other ring of the process has, and is made together with
//! the one `Items<T>` of that brand, so what carries the brand of a ring holds or takes a `T`, and each
//! place of the ring that is in use holds the bytes of a whole `T`. Items are moved, never dropped or
//! touched otherwise: a ring that is dropped with items in it leaks them, whoever has the `Items` is
//! to take them out before.
#![expect(unsafe_code, reason = "items are moved as bytes, checked by the brand of their ring")]

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::fmt;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::ptr::{self, NonNull};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Items before a ring first grows.
const ITEMS_FIRST: usize = 8;

/// The sizes of items that are moved without a call.
const WORD: usize = 8;
const TWO_WORDS: usize = 16;
const THREE_WORDS: usize = 24;

/// A number that tells a ring from all others. Only ever compared. Even: the odd one behind it is that of
/// a slot with an item in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Brand(u64);

impl Brand {
    /// Of no ring, and no slot.
    const NONE: Self = Self(u64::MAX);

    fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(2, Relaxed))
    }

    /// Of a slot of this ring with an item in it.
    #[inline]
    fn full(self) -> Self {
        Self(self.0 + 1)
    }
}

/// A first-in, first-out queue of items of one type.
pub(super) struct Ring {
    bytes: NonNull<u8>,
    /// Of one item, its size a multiple of its alignment.
    item: Layout,
    /// Where the item of a slot begins.
    offset: usize,
    /// Items that there is memory for, and its bytes.
    capacity: usize,
    end: usize,
    /// The capacity where items are of one to three words, else 0.
    quick: usize,
    /// Where the first item begins, and where the next one will, in bytes; both wrap at `end`.
    first: usize,
    next: usize,
    len: usize,
    brand: Brand,
    /// The same where `quick` is not 0, else that of no slot.
    quick_brand: Brand,
}

// SAFETY: the bytes are only moved. They become an item again by an `Items<T>` of this ring's brand,
// which is `Send` only where `T` is.
unsafe impl Send for Ring {}

/// The type of a ring's items.
pub(super) struct Items<T> {
    brand: Brand,
    /// `Send` and `Sync` where `T` is `Send`, as a mutex is: an item crosses threads, it is not shared.
    _type: PhantomData<Box<Mutex<T>>>,
}

// No item is reached through this.
impl<T> UnwindSafe for Items<T> {}
impl<T> RefUnwindSafe for Items<T> {}

/// An empty ring, and the type of its items.
pub(super) fn ring<T>() -> (Ring, Items<T>) {
    let brand = Brand::new();
    let item = Layout::new::<T>().pad_to_align();
    let bytes = NonNull::<T>::dangling().cast();
    (
        Ring {
            bytes,
            item,
            offset: std::mem::offset_of!(Slot<T>, item),
            capacity: 0,
            end: 0,
            quick: 0,
            first: 0,
            next: 0,
            len: 0,
            brand,
            quick_brand: Brand::NONE,
        },
        Items { brand, _type: PhantomData },
    )
}

impl<T> Clone for Items<T> {
    fn clone(&self) -> Self {
        Self { brand: self.brand, _type: PhantomData }
    }
}

impl<T> Items<T> {
    /// A slot with nothing in it.
    #[inline]
    pub(super) fn empty(&self) -> Slot<T> {
        Slot { head: self.brand, item: MaybeUninit::uninit() }
    }

    /// A slot with an item in it.
    #[inline]
    pub(super) fn full(&self, item: T) -> Slot<T> {
        // No call, nor one in `drop`: these are compiled in the user's crate, which may not be optimised.
        Slot { head: Brand(self.brand.0 + 1), item: MaybeUninit::new(item) }
    }
}

/// A place for one item, outside of the ring. Made by the [`Items`] of its ring. In this order: a ring knows
/// where the item is by its alignment.
#[repr(C)]
pub(super) struct Slot<T> {
    /// Of the ring that the slot belongs to; odd where the item is there.
    head: Brand,
    item: MaybeUninit<T>,
}

impl<T> Slot<T> {
    /// The slot as its ring sees it.
    #[inline]
    pub(super) fn seen(&mut self) -> Seen<'_> {
        // A cast, no call: this is compiled in the user's crate, which may not be optimised.
        Seen { slot: self as *mut Self as *mut Brand, _borrowed: PhantomData }
    }

    /// Takes the item out.
    #[inline]
    pub(super) fn take(&mut self) -> Option<T> {
        if self.head.0 & 1 == 0 {
            return None;
        }
        self.head.0 -= 1;
        // SAFETY: the head said that the item is there, and says now that it is not.
        Some(unsafe { self.item.assume_init_read() })
    }
}

impl<T> Drop for Slot<T> {
    #[inline]
    fn drop(&mut self) {
        if const { std::mem::needs_drop::<T>() } {
            drop(self.take());
        }
    }
}

/// A slot, as a ring sees it: without its type, but with the brand of the ring that it belongs to. One
/// word, which goes by value. Invariant: it points to a whole slot, borrowed for as long as this is there.
pub(super) struct Seen<'a> {
    slot: *mut Brand,
    _borrowed: PhantomData<&'a mut Brand>,
}

impl Seen<'_> {
    /// The same, for a while.
    #[inline]
    pub(super) fn again(&mut self) -> Seen<'_> {
        Seen { slot: self.slot, _borrowed: PhantomData }
    }

    #[inline]
    fn head(&self) -> Brand {
        // SAFETY: a slot begins with its head, and is borrowed.
        unsafe { *self.slot }
    }

    #[inline]
    fn set_head(&mut self, head: Brand) {
        // SAFETY: as in `head`.
        unsafe { *self.slot = head }
    }
}

impl Ring {
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Moves the item of a slot to the end of the queue.
    ///
    /// # Panics
    /// Where the slot is empty or belongs to another ring.
    #[inline]
    pub(super) fn push(&mut self, mut slot: Seen<'_>) {
        if !self.push_quickly(slot.again()) {
            self.push_anyway(slot);
        }
    }

    #[inline(never)]
    fn push_anyway(&mut self, slot: Seen<'_>) {
        if self.len == self.capacity {
            self.grow();
        }
        assert!(slot.head() == self.brand.full(), "invariant: a full slot of this ring");
        // SAFETY: the slot is a full one of this ring, and there is memory.
        unsafe { self.push_sized::<false>(slot) };
    }

    /// As [`Self::push`], where that takes no call, not even one that panics; false, and nothing is
    /// moved, where it does.
    #[inline]
    pub(super) fn push_quickly(&mut self, slot: Seen<'_>) -> bool {
        let takes = self.len < self.quick && slot.head() == self.brand.full();
        if takes {
            // SAFETY: the slot is a full one of this ring, there is memory, and `quick` is not 0.
            unsafe { self.push_sized::<true>(slot) };
        }
        takes
    }

    /// Moves the item of a slot to the end of the queue.
    ///
    /// # Safety
    /// The slot is a full one of this ring, and the ring has memory for one more; `QUICK` only where
    /// `quick` is not 0.
    #[inline]
    unsafe fn push_sized<const QUICK: bool>(&mut self, mut slot: Seen<'_>) {
        let place = self.bytes.as_ptr().wrapping_add(self.next);
        let item = slot.slot.cast::<u8>().wrapping_add(self.offset);
        slot.set_head(self.brand);
        // SAFETY: the brands are the same, so both ends are places for a `T`; the slot's was full and
        // is not any more, the ring's is unused, and they are in different allocations.
        unsafe { self.copy::<QUICK>(item, place) };
        self.next = self.after(self.next);
        self.len += 1;
    }

    /// Moves the first item to a slot; false where there is none.
    ///
    /// # Panics
    /// Where the slot is full or belongs to another ring.
    #[inline]
    pub(super) fn pop(&mut self, mut slot: Seen<'_>) -> bool {
        self.pop_quickly(slot.again()) || self.pop_anyway(slot)
    }

    #[inline(never)]
    fn pop_anyway(&mut self, slot: Seen<'_>) -> bool {
        let is_there = self.len > 0;
        assert!(slot.head() == self.brand, "invariant: an empty slot of this ring");
        if is_there {
            // SAFETY: the slot is an empty one of this ring, and an item is there.
            unsafe { self.pop_sized::<false>(slot) };
        }
        is_there
    }

    /// As [`Self::pop`], where that takes no call, not even one that panics; false, and nothing is
    /// moved, where it does.
    #[inline]
    pub(super) fn pop_quickly(&mut self, slot: Seen<'_>) -> bool {
        let gives = self.len > 0 && slot.head() == self.quick_brand;
        if gives {
            // SAFETY: the slot is an empty one of this ring, an item is there, and `quick` is not 0.
            unsafe { self.pop_sized::<true>(slot) };
        }
        gives
    }

    /// Moves the first item to a slot, where there is one.
    ///
    /// # Safety
    /// The slot is an empty one of this ring, and the ring is not empty; `QUICK` only where `quick` is not
    /// 0.
    #[inline]
    unsafe fn pop_sized<const QUICK: bool>(&mut self, mut slot: Seen<'_>) {
        let place = self.bytes.as_ptr().wrapping_add(self.first);
        let item = slot.slot.cast::<u8>().wrapping_add(self.offset);
        // SAFETY: as in `push_sized`, the other way round; the first place is in use, and is not any more.
        unsafe { self.copy::<QUICK>(place, item) };
        slot.set_head(self.brand.full());
        self.first = self.after(self.first);
        self.len -= 1;
    }

    /// Where the item after the one at `place` begins.
    #[inline]
    fn after(&self, place: usize) -> usize {
        let next = place + self.item.size();
        if next == self.end { 0 } else { next }
    }

    /// Copies one item.
    ///
    /// # Safety
    /// `from` is valid for reads and `to` for writes of one item, and they do not overlap; `QUICK` only
    /// where items are of one to three words.
    #[inline]
    unsafe fn copy<const QUICK: bool>(&self, from: *const u8, to: *mut u8) {
        // SAFETY: by the caller. Common sizes are known to the compiler.
        unsafe {
            let size = self.item.size();
            if size == WORD {
                return ptr::copy_nonoverlapping(from, to, WORD);
            }
            match size {
                TWO_WORDS => ptr::copy_nonoverlapping(from, to, TWO_WORDS),
                size if QUICK || size == THREE_WORDS => {
                    ptr::copy_nonoverlapping(from, to, THREE_WORDS);
                }
                size => ptr::copy_nonoverlapping(from, to, size),
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        if self.item.size() == 0 {
            self.capacity = usize::MAX;
            return;
        }
        let capacity = (2 * self.capacity).max(ITEMS_FIRST);
        let layout = self.layout(capacity);
        // SAFETY: the size is not zero.
        let bytes = NonNull::new(unsafe { alloc(layout) });
        let bytes = bytes.unwrap_or_else(|| handle_alloc_error(layout));
        let until_end = self.end - self.first;
        // SAFETY: the ring is full: its items lie from the first one to the end of the old memory, then
        // from its beginning to the first one; the new memory has room for all of them.
        unsafe {
            let (from, to) = (self.bytes.as_ptr(), bytes.as_ptr());
            ptr::copy_nonoverlapping(from.add(self.first), to, until_end);
            ptr::copy_nonoverlapping(from, to.add(until_end), self.first);
        }
        let items = self.end;
        self.free();
        (self.bytes, self.capacity, self.end) = (bytes, capacity, layout.size());
        if matches!(self.item.size(), WORD | TWO_WORDS | THREE_WORDS) {
            (self.quick, self.quick_brand) = (capacity, self.brand);
        }
        (self.first, self.next) = (0, items);
    }

    fn layout(&self, capacity: usize) -> Layout {
        let size = self.item.size().checked_mul(capacity);
        let layout = size.and_then(|size| Layout::from_size_align(size, self.item.align()).ok());
        layout.expect("capacity overflow")
    }

    fn free(&mut self) {
        if self.capacity > 0 && self.item.size() > 0 {
            // SAFETY: the memory was allocated by `grow` with this layout.
            unsafe { dealloc(self.bytes.as_ptr(), self.layout(self.capacity)) };
        }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        self.free();
    }
}

impl fmt::Debug for Ring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ring").field("len", &self.len).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
