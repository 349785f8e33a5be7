//! Waits for a word of memory: what locks, condition variables and parked threads of others are made of.
//!
//! Owns: who waits at which address. Does not own: the words. Invariant: a wait stands here until it is
//! woken, its time is over, or its thread unwinds.

/// All waits of a run for words of memory.
#[derive(Debug, Default)]
pub(crate) struct Addresses;

impl Addresses {
    pub(crate) fn clear(&mut self) {}
}
