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

/// A number that tells a ring from all others. Only ever compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Brand(u64);

impl Brand {
    fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Relaxed))
    }
}

/// A first-in, first-out queue of items of one type.
pub(super) struct Ring {
    bytes: NonNull<u8>,
    /// Of one item, its size a multiple of its alignment.
    item: Layout,
    /// Items that there is memory for, and its bytes.
    capacity: usize,
    end: usize,
    /// Where the first item begins, and where the next one will, in bytes; both wrap at `end`.
    first: usize,
    next: usize,
    len: usize,
    brand: Brand,
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
        Ring { bytes, item, capacity: 0, end: 0, first: 0, next: 0, len: 0, brand },
        Items { brand, _type: PhantomData },
    )
}

impl<T> Clone for Items<T> {
    fn clone(&self) -> Self {
        Self { brand: self.brand, _type: PhantomData }
    }
}

impl<T> Items<T> {
    /// A slot as its ring sees it.
    #[inline]
    pub(super) fn seen<'a>(&self, slot: &'a mut Slot<T>) -> Seen<'a> {
        // A cast, no call: this is compiled in the user's crate, which may not be optimised.
        let item = &raw mut slot.item as *mut u8;
        Seen { item, full: &mut slot.full, brand: self.brand }
    }
}

/// A place for one item, outside of the ring.
pub(super) struct Slot<T> {
    item: MaybeUninit<T>,
    /// Whether `item` is there.
    full: bool,
}

impl<T> Slot<T> {
    #[inline]
    pub(super) fn empty() -> Self {
        Self { item: MaybeUninit::uninit(), full: false }
    }

    #[inline]
    pub(super) fn full(item: T) -> Self {
        Self { item: MaybeUninit::new(item), full: true }
    }

    /// Takes the item out.
    #[inline]
    pub(super) fn take(&mut self) -> Option<T> {
        if !self.full {
            return None;
        }
        self.full = false;
        // SAFETY: `full` said that the item is there, and says now that it is not.
        Some(unsafe { self.item.assume_init_read() })
    }
}

impl<T> Drop for Slot<T> {
    #[inline]
    fn drop(&mut self) {
        if std::mem::needs_drop::<T>() {
            drop(self.take());
        }
    }
}

/// A slot, as a ring sees it: without its type, but with the brand of the ring that it belongs to.
pub(super) struct Seen<'a> {
    item: *mut u8,
    full: &'a mut bool,
    brand: Brand,
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
    pub(super) fn push(&mut self, slot: &mut Seen<'_>) {
        assert!(slot.brand == self.brand && *slot.full, "invariant: a full slot of this ring");
        if self.len == self.capacity {
            self.grow();
        }
        let place = self.bytes.as_ptr().wrapping_add(self.next);
        *slot.full = false;
        // SAFETY: the brands are the same, so both ends are places for a `T`; the slot's was full and
        // is not any more, the ring's is unused, and they are in different allocations.
        unsafe { self.copy(slot.item, place) };
        self.next = self.after(self.next);
        self.len += 1;
    }

    /// Moves the first item to a slot; false where there is none.
    ///
    /// # Panics
    /// Where the slot is full or belongs to another ring.
    #[inline]
    pub(super) fn pop(&mut self, slot: &mut Seen<'_>) -> bool {
        assert!(slot.brand == self.brand && !*slot.full, "invariant: an empty slot of this ring");
        if self.len == 0 {
            return false;
        }
        let place = self.bytes.as_ptr().wrapping_add(self.first);
        // SAFETY: as in `push`, the other way round; the first place is in use, and is not any more.
        unsafe { self.copy(place, slot.item) };
        *slot.full = true;
        self.first = self.after(self.first);
        self.len -= 1;
        true
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
    /// `from` is valid for reads and `to` for writes of one item, and they do not overlap.
    #[inline]
    unsafe fn copy(&self, from: *const u8, to: *mut u8) {
        // SAFETY: by the caller. Two common sizes are known to the compiler.
        unsafe {
            match self.item.size() {
                8 => ptr::copy_nonoverlapping(from, to, 8),
                16 => ptr::copy_nonoverlapping(from, to, 16),
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
