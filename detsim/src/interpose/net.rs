//! The network: what libc's calls of a run do is done on the simulated sockets and names of its node.
//!
//! Owns: lookups of names (`net/names.rs`) and what C calls an address (`net/shapes.rs`). Does not own: what
//! a lookup finds, which is `detsim_net`'s.
//!
//! Invariants: outside a run every function does what libc's does; no function panics, takes a lock or
//! allocates on that way.

#![expect(unsafe_code, reason = "functions that libc's callers link to")]

mod names;
mod shapes;

fn set_errno(errno: libc::c_int) {
    // SAFETY: the place is this thread's own.
    unsafe { *libc::__errno_location() = errno };
}

/// Has the linker take these functions, where nothing else of their file is used.
pub(crate) fn link_in() {
    names::link_in();
}
