//! The asymmetric fence: free on the side that runs all the time, dear on the side that rarely does.
//!
//! Owns: [`light`] and [`heavy`], and the choice between them. Does not own: the words they order
//! (`bound/protocol.rs`).
//!
//! Invariant: of a thread that stores A, calls [`light`] and loads B, and one that stores B, calls
//! [`heavy`] and loads A, at least one sees the other's store. On Linux that is what `membarrier`
//! promises: it makes every running thread of the process pass a full fence, and a thread that does
//! not run has passed one. Where the system refuses it (old gVisor, a seccomp filter), [`resting`]
//! sends every section under the gate and the fences order nothing. Elsewhere both are real fences.
#![cfg_attr(
    target_os = "linux",
    expect(unsafe_code, reason = "the C library has no safe door to membarrier")
)]

#[cfg(not(target_os = "linux"))]
pub(crate) use everywhere::{heavy, light, resting};
#[cfg(target_os = "linux")]
pub(crate) use linux::{heavy, light, resting};

#[cfg(target_os = "linux")]
mod linux {
    use std::sync::OnceLock;
    use std::sync::atomic::{Ordering, compiler_fence, fence};

    /// `MEMBARRIER_CMD_PRIVATE_EXPEDITED` of linux/membarrier.h.
    const PRIVATE_EXPEDITED: libc::c_long = 1 << 3;
    /// `MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED`.
    const REGISTER_PRIVATE_EXPEDITED: libc::c_long = 1 << 4;

    /// Whether this process has registered for the expedited command; a fork inherits it.
    static REGISTERED: OnceLock<bool> = OnceLock::new();

    fn membarrier(command: libc::c_long) -> bool {
        let none: libc::c_long = 0;
        // SAFETY: the call takes three plain numbers and touches no memory of the process.
        unsafe { libc::syscall(libc::SYS_membarrier, command, none, none) == 0 }
    }

    fn is_registered() -> bool {
        *REGISTERED.get_or_init(|| membarrier(REGISTER_PRIVATE_EXPEDITED))
    }

    /// What a lane's revoke word rests at: 0 lets biased sections in, 1 keeps them out for good.
    pub(crate) fn resting() -> u32 {
        u32::from(!is_registered())
    }

    /// The owner's side: keeps the compiler from swapping the store and the load.
    #[inline]
    pub(crate) fn light() {
        compiler_fence(Ordering::SeqCst);
    }

    /// The other side. A kernel that has registered the process carries the command out.
    #[cold]
    pub(crate) fn heavy() {
        fence(Ordering::SeqCst);
        let done = !is_registered() || membarrier(PRIVATE_EXPEDITED);
        assert!(
            done,
            "detsim: membarrier was taken away from a process that had registered for it"
        );
    }
}

#[cfg(not(target_os = "linux"))]
mod everywhere {
    use std::sync::atomic::{Ordering, fence};

    /// What a lane's revoke word rests at: biased sections are always let in.
    pub(crate) fn resting() -> u32 {
        0
    }

    /// The owner's side.
    #[inline]
    pub(crate) fn light() {
        fence(Ordering::SeqCst);
    }

    /// The other side.
    #[cold]
    pub(crate) fn heavy() {
        fence(Ordering::SeqCst);
    }
}
