//! What `protocol.rs` is written over: here std's types, in `tests/bound_model.rs` loom's.
//!
//! Owns: those names and two small functions. Does not own: any rule of the protocol.

use std::sync::PoisonError;
pub(super) use std::sync::atomic::{
    AtomicU32 as Busy, AtomicU32 as Revoke, AtomicU64, AtomicU64 as Live, Ordering,
};
pub(super) use std::sync::{Mutex, MutexGuard as Guard};

pub(super) use crate::fence::{heavy, light};

/// Locks; the data behind these locks is whole at every point where a panic can leave them.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> Guard<'_, T> {
    let _ours = crate::here::outside();
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits a moment for a section of another thread, which is a few instructions long.
pub(super) fn pause(spins: u32) {
    if spins < 100 {
        return std::hint::spin_loop();
    }
    let _ours = crate::here::outside();
    std::thread::yield_now();
}
