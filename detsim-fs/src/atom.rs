//! Atoms: the smallest changes that reach the medium whole or not at all.
//!
//! Owns: the size of a sector. Does not own: what changes there are, and which bring which along
//! (`volume/order.rs`).

/// Bytes of a sector, the unit that a disk writes whole or not at all.
pub const SECTOR_BYTES: usize = 512;
