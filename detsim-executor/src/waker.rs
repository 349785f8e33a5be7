//! Wakers that are one plain word.
//!
//! Owns: the packing `lane 12 | generation 28 | slot 24`, the vtables, and what waking means. Does
//! not own: the ready set. Invariants: the word is never dereferenced, so every vtable function may
//! be called from any thread at any time; a word whose generation has passed wakes nobody. The
//! address of a `static` vtable proves a waker ours.
#![expect(unsafe_code, reason = "a RawWaker is the only way to a waker without an allocation")]

use crate::here;
use crate::lane::{LANE_SHIFT, Lane};
use std::ptr;
use std::task::{Context, RawWaker, RawWakerVTable, Waker};

pub(crate) const SLOT_BITS: u32 = 24;
pub(crate) const SLOT_MASK: u64 = (1 << SLOT_BITS) - 1;
pub(crate) const GENERATION_MAX: u32 = (1 << 28) - 1;

/// The word of a task.
#[inline]
pub(crate) fn pack(lane: u32, generation: u32, slot: u32) -> u64 {
    u64::from(lane) << LANE_SHIFT | u64::from(generation) << SLOT_BITS | u64::from(slot)
}

/// Generation and slot of a word.
#[inline]
pub(crate) fn unpack(word: u64) -> (u32, u32) {
    ((word >> SLOT_BITS) as u32 & GENERATION_MAX, (word & SLOT_MASK) as u32)
}

static PLAIN: RawWakerVTable = RawWakerVTable::new(clone, wake, wake, |_| ());
/// The same, but a clone notes the stack it is made on: for the one poll that diagnoses.
static PROBING: RawWakerVTable = RawWakerVTable::new(clone_probed, wake, wake, |_| ());

fn clone(word: *const ()) -> RawWaker {
    RawWaker::new(word, &PLAIN)
}

fn clone_probed(word: *const ()) -> RawWaker {
    crate::stack::note();
    RawWaker::new(word, &PLAIN)
}

fn wake(word: *const ()) {
    wake_word(word.addr() as u64);
}

/// The waker of a word.
#[inline]
pub(crate) fn waker(word: u64) -> Waker {
    with_vtable(word, &PLAIN)
}

/// The waker of a word that notes the stack of every clone.
pub(crate) fn probing_waker(word: u64) -> Waker {
    with_vtable(word, &PROBING)
}

#[inline]
fn with_vtable(word: u64, vtable: &'static RawWakerVTable) -> Waker {
    let data = ptr::without_provenance(word as usize);
    // SAFETY: no function of the vtables dereferences the data, each may be called from any
    // thread and any number of times, and dropping does nothing.
    unsafe { Waker::from_raw(RawWaker::new(data, vtable)) }
}

/// The word of a waker of ours.
#[inline]
pub(crate) fn ours(waker: &Waker) -> Option<u64> {
    let vtable = ptr::from_ref(waker.vtable());
    (ptr::eq(vtable, &raw const PLAIN) || ptr::eq(vtable, &raw const PROBING))
        .then(|| waker.data().addr() as u64)
}

/// The waker to keep from `cx`, inside a section: one of ours is made anew, since it is a word. A
/// foreign one must have been cloned before the section, into `foreign`; where that is empty, the
/// caller leaves the section, clones, and starts over.
#[inline]
pub fn storable(cx: &Context<'_>, foreign: &mut Option<Waker>) -> Option<Waker> {
    match ours(cx.waker()) {
        Some(word) => Some(waker(word)),
        None => foreign.take(),
    }
}

/// A waker of ours that wakes nobody: for a wait that is queued before it is polled.
#[inline]
pub fn nobody() -> Waker {
    waker(NOBODY)
}

/// The word that names no task.
pub(crate) const NOBODY: u64 = 0;

/// Wakes a task by its word, from wherever.
#[inline]
pub(crate) fn wake_word(word: u64) {
    if (here::place().sim ^ word) >> LANE_SHIFT != 0 {
        return Lane::foreign_wake(word);
    }
    crate::context::with(|kernel| kernel.wake(word));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_apart_as_they_were_packed() {
        for (lane, generation, slot) in [(0, 0, 0), (4094, GENERATION_MAX, SLOT_MASK as u32)] {
            let word = pack(lane, generation, slot);
            assert_eq!(unpack(word), (generation, slot));
            assert_eq!((word >> LANE_SHIFT) as u32, lane);
        }
    }

    #[test]
    fn a_waker_of_ours_is_known_and_a_stranger_is_not() {
        let word = pack(4000, 5, 6);
        assert_eq!(ours(&waker(word)), Some(word));
        assert_eq!(ours(&waker(word).clone()), Some(word));
        assert_eq!(ours(&probing_waker(word)), Some(word));
        assert_eq!(ours(Waker::noop()), None);
    }

    #[test]
    fn nobody_is_ours_and_wakes_nobody() {
        assert_eq!(ours(&nobody()), Some(NOBODY));
        nobody().wake();
    }

    #[test]
    fn a_stale_waker_wakes_nobody() {
        // Lane 4000 was never leased, and no simulation runs here.
        waker(pack(4000, 5, 6)).wake();
    }
}
