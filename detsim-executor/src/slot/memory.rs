//! Memory of tasks, reused.
//!
//! Owns: free blocks by size, so that a spawn asks the allocator only for more tasks than were
//! ever alive at once. Does not own: what is in a block. Invariants: every block came from the
//! global allocator with the layout of its class, so it may go back to any pool, or to the
//! allocator; a pool keeps at most [`KEPT_MAX`] blocks of a class.
#![expect(unsafe_code, reason = "raw blocks from the global allocator")]

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::fmt;
use std::ptr::NonNull;

/// Classes are as far apart as the chunks of common allocators, and as much smaller than a multiple
/// of it as such a chunk has of its own: a block of a class wastes nothing.
const CLASS_BYTES: usize = 16;
const CHUNK_OWN_BYTES: usize = 8;
const CLASSES: usize = 128;
const ALIGN: usize = 16;
/// Blocks of one class that a pool keeps.
pub(super) const KEPT_MAX: usize = 1 << 16;

/// The pool of one simulation at a time.
pub(crate) struct Memory {
    free: [Vec<NonNull<u8>>; CLASSES],
}

/// Which blocks a layout is served from: those of its class, or none that are kept where it has none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Class {
    /// [`CLASSES`] for none.
    index: usize,
    /// What the allocator is asked for.
    layout: Layout,
}

impl Class {
    /// The class of a layout, which has at least one byte.
    pub(super) const fn of(layout: Layout) -> Self {
        assert!(layout.size() > 0, "detsim bug: a task takes room");
        let index = layout.size().saturating_add(CHUNK_OWN_BYTES).div_ceil(CLASS_BYTES);
        if index >= CLASSES || layout.align() > ALIGN {
            return Self { index: CLASSES, layout };
        }
        let bytes = index * CLASS_BYTES - CHUNK_OWN_BYTES;
        match Layout::from_size_align(bytes, ALIGN) {
            Ok(layout) => Self { index, layout },
            Err(_) => panic!("invariant: classes are small"),
        }
    }
}

impl Memory {
    /// A block of this class, of no pool.
    pub(super) fn fresh(class: &'static Class) -> NonNull<u8> {
        fresh(class.layout)
    }

    /// A block of this class.
    #[inline]
    pub(super) fn take(&mut self, class: &'static Class) -> NonNull<u8> {
        let kept = self.free.get_mut(class.index).and_then(Vec::pop);
        kept.unwrap_or_else(|| fresh(class.layout))
    }

    /// Takes a block back.
    ///
    /// # Safety
    /// The block came from [`Self::take`] with the same class, and is not used again.
    #[inline]
    pub(super) unsafe fn give(pool: Option<&mut Self>, block: NonNull<u8>, class: &'static Class) {
        match pool.and_then(|pool| pool.free.get_mut(class.index)) {
            Some(kept) if kept.len() < KEPT_MAX => kept.push(block),
            // SAFETY: a block is allocated with the layout of its class.
            _ => unsafe { dealloc(block.as_ptr(), class.layout) },
        }
    }
}

#[cold]
#[inline(never)]
fn fresh(layout: Layout) -> NonNull<u8> {
    // SAFETY: the layout has a size above zero.
    NonNull::new(unsafe { alloc(layout) }).unwrap_or_else(|| handle_alloc_error(layout))
}

impl Default for Memory {
    fn default() -> Self {
        Self { free: [const { Vec::new() }; CLASSES] }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        for (index, blocks) in self.free.iter_mut().enumerate().skip(1) {
            let bytes = index * CLASS_BYTES - CHUNK_OWN_BYTES;
            let layout =
                Layout::from_size_align(bytes, ALIGN).expect("invariant: classes are small");
            for block in blocks.drain(..) {
                // SAFETY: blocks of a class were allocated with its layout, and nobody has them.
                unsafe { dealloc(block.as_ptr(), layout) }
            }
        }
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Memory")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[repr(align(32))]
    struct Aligned(#[expect(dead_code, reason = "for its size")] [u8; 65]);

    fn check<T: 'static>(kept: bool) {
        let class: &'static Class = const { &Class::of(Layout::new::<T>()) };
        let mut pool = Memory::default();
        let first = pool.take(class);
        assert_eq!(first.as_ptr().align_offset(align_of::<T>()), 0);
        // SAFETY: just taken as one of this class.
        unsafe {
            first.as_ptr().write_bytes(7, size_of::<T>());
            Memory::give(Some(&mut pool), first, class);
        }
        assert_eq!(pool.free.iter().map(Vec::len).sum::<usize>() == 1, kept);
        let second = pool.take(class);
        assert!(!kept || first == second);
        // SAFETY: just taken as one of this class; here there is no pool.
        unsafe { Memory::give(None, second, class) };
    }

    #[test]
    fn blocks_are_reused_by_class_and_the_rest_goes_back() {
        check::<u8>(true);
        check::<[u64; 8]>(true);
        check::<[u8; 65]>(true);
        check::<[u8; 2_024]>(true);
        check::<[u8; 2_025]>(false);
        check::<Aligned>(false);
    }
}
