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

/// The class of a layout, where it has one.
#[inline]
fn class(layout: Layout) -> Option<usize> {
    let class = layout.size().checked_add(CHUNK_OWN_BYTES)?.div_ceil(CLASS_BYTES);
    (class < CLASSES && layout.align() <= ALIGN).then_some(class)
}

#[inline]
fn layout_of(class: usize) -> Layout {
    let bytes = class * CLASS_BYTES - CHUNK_OWN_BYTES;
    Layout::from_size_align(bytes, ALIGN).expect("invariant: classes are small")
}

impl Memory {
    /// A block for `layout`, which has at least one byte.
    #[inline]
    pub(super) fn take(pool: Option<&mut Self>, layout: Layout) -> NonNull<u8> {
        assert!(layout.size() > 0, "detsim bug: a task takes room");
        let Some(class) = class(layout) else { return fresh(layout) };
        match pool.and_then(|pool| pool.free[class].pop()) {
            Some(block) => block,
            None => fresh(layout_of(class)),
        }
    }

    /// Takes a block back.
    ///
    /// # Safety
    /// The block came from [`Self::take`] with the same layout, and is not used again.
    #[inline]
    pub(super) unsafe fn give(pool: Option<&mut Self>, block: NonNull<u8>, layout: Layout) {
        let Some(class) = class(layout) else {
            // SAFETY: a block without a class was allocated with its own layout.
            return unsafe { dealloc(block.as_ptr(), layout) };
        };
        if let Some(pool) = pool
            && pool.free[class].len() < KEPT_MAX
        {
            return pool.free[class].push(block);
        }
        // SAFETY: a block of a class was allocated with the layout of the class.
        unsafe { dealloc(block.as_ptr(), layout_of(class)) }
    }
}

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
        for (class, blocks) in self.free.iter_mut().enumerate() {
            for block in blocks.drain(..) {
                // SAFETY: blocks of a class were allocated with its layout, and nobody has them.
                unsafe { dealloc(block.as_ptr(), layout_of(class)) }
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

    #[test]
    fn blocks_are_reused_by_class_and_the_rest_goes_back() {
        let mut pool = Memory::default();
        for (size, align) in [(1, 1), (64, 8), (65, 16), (2_024, 16), (2_025, 16), (65, 32)] {
            let layout = Layout::from_size_align(size, align).unwrap();
            let first = Memory::take(Some(&mut pool), layout);
            assert_eq!(first.as_ptr().align_offset(align), 0);
            // SAFETY: just taken with this layout.
            unsafe {
                first.as_ptr().write_bytes(7, size);
                Memory::give(Some(&mut pool), first, layout);
            }
            let kept = pool.free.iter().map(Vec::len).sum::<usize>();
            let second = Memory::take(Some(&mut pool), layout);
            assert_eq!(class(layout).is_some(), first == second && kept > 0);
            // SAFETY: just taken with this layout; here there is no pool.
            unsafe { Memory::give(None, second, layout) };
        }
    }
}
