//! How the disk of a node is set up.
//!
//! Owns: the settings as a user writes them, and the same checked and exact. Does not own: when a
//! fault is drawn (`faults.rs`).

use std::time::Duration;

use detsim_executor::Ratio;
use detsim_executor::event::DiskFault;

use super::Cost;
use crate::volume::{CrashProfile, VolumeConfig};

/// The disk of a node. By default an honest one, with the latencies of a solid state drive, that a
/// loss of power treats as ext4 would.
///
/// # Examples
/// ```
/// use detsim_fs::{CrashProfile, DiskConfig, DiskFaults, VolumeConfig};
/// let weak = DiskConfig {
///     volume: VolumeConfig { profile: CrashProfile::Posix, ..VolumeConfig::default() },
///     faults: DiskFaults { sync_error_rate: 0.01, ..DiskFaults::default() },
///     ..DiskConfig::default()
/// };
/// assert!(!weak.exhaustive);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DiskConfig {
    /// The file system.
    pub volume: VolumeConfig,
    /// How long calls take.
    pub latency: DiskLatency,
    /// What goes wrong.
    pub faults: DiskFaults,
    /// When the power goes by itself.
    pub power: PowerLoss,
    /// Whether a loss of power draws from the list of all sets of survivors that are allowed, where
    /// at most [`EXHAUSTIVE_ATOMS_MAX`](crate::EXHAUSTIVE_ATOMS_MAX) atoms are pending: each with
    /// the same chance, by one choice whose values are their numbers.
    pub exhaustive: bool,
}

impl DiskConfig {
    /// How often a sync lies on a disk without barriers that is set up by its profile alone.
    const LOST_SYNC_RATE: f64 = 0.1;

    /// An honest disk with a crash profile; of [`CrashProfile::NoBarrier`] one in ten syncs lies.
    ///
    /// # Examples
    /// ```
    /// use detsim_fs::{CrashProfile, DiskConfig};
    /// assert_eq!(DiskConfig::of_profile(CrashProfile::Posix).faults.lost_sync_rate, 0.0);
    /// ```
    pub fn of_profile(profile: CrashProfile) -> Self {
        let mut config = Self::default();
        config.volume.profile = profile;
        if profile == CrashProfile::NoBarrier {
            config.faults.lost_sync_rate = Self::LOST_SYNC_RATE;
        }
        config
    }
}

/// How often the power goes where it hurts: at a call that changes a file, a name or what is durable.
/// It goes before the call, while it is under way, or just after it, each as often as the others; and more
/// often at the steps on which stores rely ([`Cost::power_weight`]), where most of their mistakes show.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PowerLoss {
    /// The probability at each such call of a task of the node that is a plain write. 0 by default.
    pub rate: f64,
    /// How long until the node starts again. A second by default.
    pub back_after: Duration,
}

impl Default for PowerLoss {
    fn default() -> Self {
        Self { rate: 0.0, back_after: Duration::from_secs(1) }
    }
}

impl Cost {
    /// How many times as likely the power is to go at a call of this cost as at a plain write: 4 at a
    /// sync, a write that is durable when it returns, a rename, and a name that is taken away.
    ///
    /// # Examples
    /// ```
    /// use detsim_fs::Cost;
    /// assert_eq!([Cost::Read, Cost::Write, Cost::Sync].map(Cost::power_weight), [0, 1, 4]);
    /// ```
    pub const fn power_weight(self) -> u32 {
        match self {
            Self::Read => 0,
            Self::Write => 1,
            Self::Rename | Self::Sync => 4,
        }
    }
}

/// The least time that a call of a task takes. Up to twice that is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskLatency {
    /// A read, or a look at names and metadata. 100 microseconds by default.
    pub read: Duration,
    /// A write, or a change of names. 200 microseconds by default.
    pub write: Duration,
    /// A sync. 2 milliseconds by default.
    pub sync: Duration,
}

impl Default for DiskLatency {
    fn default() -> Self {
        let micros = Duration::from_micros;
        Self { read: micros(100), write: micros(200), sync: micros(2000) }
    }
}

/// What a disk does wrong, and how often: probabilities for each call, in `0.0..=1.0`, all 0 by
/// default.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DiskFaults {
    /// A read gives `EIO`: the sector is bad, with up to seven after it, until it is written again.
    pub read_error_rate: f64,
    /// A write gives `EIO`, and writes nothing.
    pub write_error_rate: f64,
    /// A sync gives `EIO`, as on Linux: once to each handle that is open; the pages then count as
    /// clean, so that the next sync succeeds and their data is never written.
    pub sync_error_rate: f64,
    /// A read gives fewer bytes than it could.
    pub short_read_rate: f64,
    /// A write takes fewer bytes than it could.
    pub short_write_rate: f64,
    /// A read or a write gives `EINTR`; std and tokio try again.
    pub interrupt_rate: f64,
    /// A call takes [`Self::stall`] longer.
    pub stall_rate: f64,
    /// How long a stall is. 10 seconds by default.
    pub stall: Duration,
    /// A sync reports success and makes nothing durable: a drive whose cache lies.
    pub lost_sync_rate: f64,
    /// Silent: a bit of the sector that is read has changed, until it is written again.
    pub bit_rot_rate: f64,
    /// Silent: a write reports success, and the bytes stay as they were.
    pub lost_write_rate: f64,
    /// Silent: a write reports success, and goes to another place of its file.
    pub misdirected_write_rate: f64,
    /// Silent: a read gives the bytes from before the last write there.
    pub stale_read_rate: f64,
}

impl Default for DiskFaults {
    fn default() -> Self {
        Self {
            read_error_rate: 0.0,
            write_error_rate: 0.0,
            sync_error_rate: 0.0,
            short_read_rate: 0.0,
            short_write_rate: 0.0,
            interrupt_rate: 0.0,
            stall_rate: 0.0,
            stall: Duration::from_secs(10),
            lost_sync_rate: 0.0,
            bit_rot_rate: 0.0,
            lost_write_rate: 0.0,
            misdirected_write_rate: 0.0,
            stale_read_rate: 0.0,
        }
    }
}

/// The rates of a disk, exact.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rates {
    by_fault: [Ratio; DiskFault::ALL.len()],
    pub(crate) power: Ratio,
}

impl Rates {
    #[track_caller]
    pub(crate) fn new(config: &DiskConfig) -> Self {
        let faults = &config.faults;
        let by_fault = DiskFault::ALL.map(|fault| {
            let rate = match fault {
                DiskFault::BitRot => faults.bit_rot_rate,
                DiskFault::Interrupted => faults.interrupt_rate,
                DiskFault::LostSync => faults.lost_sync_rate,
                DiskFault::LostWrite => faults.lost_write_rate,
                DiskFault::MisdirectedWrite => faults.misdirected_write_rate,
                DiskFault::ReadError => faults.read_error_rate,
                DiskFault::ShortRead => faults.short_read_rate,
                DiskFault::ShortWrite => faults.short_write_rate,
                DiskFault::Stall => faults.stall_rate,
                DiskFault::StaleRead => faults.stale_read_rate,
                DiskFault::SyncError => faults.sync_error_rate,
                DiskFault::WriteError => faults.write_error_rate,
            };
            Ratio::from_rate(&format!("{}_rate", fault.word()), rate)
        });
        Self { by_fault, power: Ratio::from_rate("power.rate", config.power.rate) }
    }

    pub(crate) fn of(&self, fault: DiskFault) -> Ratio {
        self.by_fault[fault as usize]
    }
}

/// Is this one of the faults that nothing reports, and only a checksum can tell?
pub(crate) fn is_silent(fault: DiskFault) -> bool {
    matches!(
        fault,
        DiskFault::BitRot
            | DiskFault::LostWrite
            | DiskFault::MisdirectedWrite
            | DiskFault::StaleRead
    )
}
