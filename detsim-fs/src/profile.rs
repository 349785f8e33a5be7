//! What a disk may do wrong, and how often.
//!
//! Owns: [`FaultProfile`], the settings as a user writes them, and `Rates`, the same as integers.
//! Does not own: when a fault is drawn ([`crate::faults`]).

use detsim_executor::Ratio;

/// How often a [`FaultyStorage`](crate::FaultyStorage) misbehaves. Rates are probabilities in
/// `0.0..=1.0`; all are 0 by default, which makes an honest disk: a crash loses exactly what was
/// not synced.
///
/// Raising one rate never changes the draws of another fault.
///
/// # Examples
/// ```
/// use detsim_fs::FaultProfile;
/// let profile = FaultProfile { torn_write_rate: 0.3, max_size: 1 << 20, ..FaultProfile::default() };
/// assert_eq!(profile.skip_sync_rate, 0.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FaultProfile {
    /// The probability that a write is torn by a crash: some of its 512-byte sectors reach the
    /// medium, at least one and not all. A write within one sector cannot be torn.
    ///
    /// While the disk keeps order (see `reorder_rate`) the pending writes are asked oldest first,
    /// and the first torn one is where the power went: the writes before it have reached the
    /// medium, its own sectors have as far as a prefix, the writes after it are lost. Where the
    /// order was lost, each surviving write is asked by itself and keeps any of its sectors.
    pub torn_write_rate: f64,

    /// The probability, for each byte written, that it changes on its way to the medium. That way
    /// is taken when a sync, or the crash that the write survives, makes it durable: until then
    /// reads see the good byte, from then on the bad one, crash or not. Writing the byte again
    /// heals it. Nothing reports it: only a checksum can tell.
    pub corrupt_byte_rate: f64,

    /// The probability that a [`sync`](crate::FaultyStorage::sync) returns `Ok` and does nothing.
    /// What was written stays pending until the next sync that is carried out.
    pub skip_sync_rate: f64,

    /// The probability that, at a crash, the disk has written what was pending in an order of its
    /// own. Any subset of the pending writes may then have survived: none, all, a prefix, all but
    /// one, only one, or each by a coin. At 0 a crash loses all of them, but for what a torn write
    /// proves to have been written before it.
    ///
    /// A surviving write brings along what earlier pending writes did to its sectors, as the cache
    /// of an operating system holds whole sectors.
    pub reorder_rate: f64,

    /// How large the disk may grow, in bytes. A write that would end beyond fails with
    /// [`StorageFull`](std::io::ErrorKind::StorageFull). No limit by default.
    pub max_size: u64,
}

impl Default for FaultProfile {
    fn default() -> Self {
        Self {
            torn_write_rate: 0.0,
            corrupt_byte_rate: 0.0,
            skip_sync_rate: 0.0,
            reorder_rate: 0.0,
            max_size: u64::MAX,
        }
    }
}

/// The rates of a profile, checked and exact.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rates {
    pub(crate) torn_write: Ratio,
    pub(crate) corrupt_byte: Ratio,
    pub(crate) skip_sync: Ratio,
    pub(crate) reorder: Ratio,
}

impl Rates {
    #[track_caller]
    pub(crate) fn new(profile: &FaultProfile) -> Self {
        Self {
            torn_write: Ratio::from_rate("torn_write_rate", profile.torn_write_rate),
            corrupt_byte: Ratio::from_rate("corrupt_byte_rate", profile.corrupt_byte_rate),
            skip_sync: Ratio::from_rate("skip_sync_rate", profile.skip_sync_rate),
            reorder: Ratio::from_rate("reorder_rate", profile.reorder_rate),
        }
    }
}
