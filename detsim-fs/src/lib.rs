//! The simulated disk of detsim.
//!
//! Owns: the disk as a log of atoms (`atom.rs`, `disk.rs`), its sectors (`image.rs`), who survives
//! a crash (`survivors.rs`), the byte-addressed face [`FaultyStorage`] with its faults, and the file
//! system [`Volume`], and the file systems of all nodes with their faults, [`Disks`]. Does not own: who
//! calls, and waiting: nothing here waits.
//!
//! # The model
//! A write is cut into *atoms*, one for each 512-byte sector that it touches. An atom is pending
//! until something makes it durable. The running system sees all atoms; what a crash leaves is the
//! durable ones. Two rules tie atoms together:
//! - a sector reaches the medium whole or not at all, never in part;
//! - a sector reaches it as the cache holds it, so an atom that survives brings every earlier
//!   pending atom of the same sector along.
//!
//! # Example
//! ```
//! use detsim_fs::{FaultProfile, FaultyStorage};
//!
//! let mut disk = FaultyStorage::new(7, FaultProfile::default());
//! disk.write_at(0, b"kept")?;
//! disk.sync()?;
//! disk.write_at(4, b", lost")?;
//! disk.crash();
//!
//! let mut buf = [0; 16];
//! let n = disk.read_at(0, &mut buf)?;
//! assert_eq!(&buf[..n], b"kept");
//! # Ok::<(), std::io::Error>(())
//! ```

#![forbid(unsafe_code)]

mod atom;
mod disk;
mod disks;
mod errno;
mod faults;
mod profile;
mod record;
mod storage;
mod survivors;
mod volume;

pub use atom::SECTOR_BYTES;
pub use disks::{
    Cost, DiskConfig, DiskFaults, DiskLatency, Disks, FD_FIRST, Line, Place, PowerLoss,
    SHARED_MEMORY, is_simulated, wait_in_line,
};
pub use errno::{Errno, Outcome};
pub use profile::FaultProfile;
pub use record::{FaultEvent, FaultStats};
pub use storage::FaultyStorage;
pub use volume::{
    Allocation, ByteRange, CrashOutcome, CrashProfile, DirEntry, EXHAUSTIVE_ATOMS_MAX, FileKind,
    Handle, LockKind, LockOwner, Metadata, OpenFlags, Seek, SurvivorSet, SyncPoint, Times, Volume,
    VolumeConfig,
};
