//! The words of a thread that every operation looks at.
//!
//! Owns: [`Words`], and how a thread finds its own: by its thread pointer. A `thread_local!` in a library is
//! found by a call of `__tls_get_addr`. The linker takes that out of a program again, but by then whoever might
//! call has put away all its registers. Does not own: what the words say ([`super`]). Invariants: they begin as
//! `sim: NOWHERE` and zeros, in each thread, without a lazy initialiser; no reference to them leaves its thread.
#![cfg_attr(
    all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)),
    expect(
        unsafe_code,
        reason = "a thread-local found without a call is out of the language's reach"
    )
)]

use std::cell::Cell;

use super::Place;
use crate::lane::Lane;

#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64"),
    not(miri)
))]
pub(super) use by_pointer::with;
#[cfg(not(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64"),
    not(miri)
)))]
pub(super) use everywhere::with;

/// See [`Place`].
#[repr(C)]
pub(super) struct Words {
    pub(super) sim: Cell<u64>,
    pub(super) lane: Cell<Option<&'static Lane>>,
    pub(super) polled: Cell<u64>,
}

impl Words {
    pub(super) fn replace(&self, place: Place) -> Place {
        Place {
            sim: self.sim.replace(place.sim),
            lane: self.lane.replace(place.lane),
            polled: self.polled.replace(place.polled),
        }
    }
}

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
mod by_pointer {
    use std::arch::{asm, global_asm};
    use std::ptr;

    use super::Words;
    use crate::here::NOWHERE;

    const _: () = assert!(size_of::<Words>() == 3 * size_of::<u64>());
    const _: () = assert!(align_of::<Words>() == align_of::<u64>());

    // The three words of `Words`, in its order.
    global_asm!(
        ".pushsection .tdata,\"awT\",%progbits",
        ".p2align 3",
        ".globl detsim_executor_words",
        "detsim_executor_words:",
        ".quad {nowhere}",
        ".quad 0",
        ".quad 0",
        ".size detsim_executor_words, 24",
        ".popsection",
        nowhere = const NOWHERE as i64,
    );

    /// Where the words of this thread are.
    #[inline(always)]
    fn address() -> *const Words {
        let address: usize;
        // SAFETY: the thread pointer, and how far the words of a thread are from it, are constants of the
        // thread: nothing is read that anybody writes.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            asm!(
                "mov {address}, qword ptr fs:[0]",
                "add {address}, qword ptr [rip + detsim_executor_words@GOTTPOFF]",
                address = out(reg) address,
                options(pure, nomem, nostack),
            );
        }
        // SAFETY: as above.
        #[cfg(target_arch = "aarch64")]
        unsafe {
            asm!(
                "mrs {address}, tpidr_el0",
                "adrp {offset}, :gottprel:detsim_executor_words",
                "ldr {offset}, [{offset}, :gottprel_lo12:detsim_executor_words]",
                "add {address}, {address}, {offset}",
                address = out(reg) address,
                offset = out(reg) _,
                options(pure, nomem, nostack, preserves_flags),
            );
        }
        ptr::with_exposed_provenance(address)
    }

    /// Calls `body` with the words of this thread.
    #[inline(always)]
    pub(in crate::here) fn with<R>(body: impl FnOnce(&Words) -> R) -> R {
        // SAFETY: the words are the thread's for as long as it lives, begin as valid ones, and are aligned;
        // they are cells, which only this thread looks at: the reference ends before this returns.
        body(unsafe { &*address() })
    }
}

#[cfg(not(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64"),
    not(miri)
)))]
mod everywhere {
    use std::cell::Cell;

    use super::Words;
    use crate::here::NOWHERE;

    thread_local! {
        static WORDS: Words = const {
            Words { sim: Cell::new(NOWHERE), lane: Cell::new(None), polled: Cell::new(0) }
        };
    }

    /// Calls `body` with the words of this thread.
    #[inline]
    pub(in crate::here) fn with<R>(body: impl FnOnce(&Words) -> R) -> R {
        WORDS.with(body)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{NOWHERE, place, replace};

    #[test]
    fn every_thread_begins_nowhere_and_has_its_own_words() {
        let before = place();
        let mut elsewhere = before;
        (elsewhere.sim, elsewhere.polled) = (7, 9);
        replace(elsewhere);
        let other = std::thread::spawn(|| {
            let found = place();
            (found.sim, found.lane.is_none(), found.polled)
        });
        assert_eq!(other.join().unwrap(), (NOWHERE, true, 0));
        let found = replace(before);
        assert_eq!((found.sim, found.polled), (7, 9));
    }
}
