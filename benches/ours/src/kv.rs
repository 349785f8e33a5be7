//! The key-value example's store on a disk with faults: a put and a sync, a put that is not synced,
//! a crash, a recovery.
//!
//! A disk of its own for each cycle, because recovery reads the whole log and would come to be all
//! that is measured.

use bench_common::Work;
use detsim::{FaultProfile, FaultyStorage};
use kv::{Checksums, Kv};

/// Crashes lose, tear and reorder what is pending; nothing that was synced is harmed.
const PROFILE: FaultProfile = FaultProfile {
    torn_write_rate: 0.3,
    corrupt_byte_rate: 0.0,
    skip_sync_rate: 0.0,
    reorder_rate: 0.5,
    max_size: 1 << 20,
};

/// Two sectors, so that a write can be torn.
const VALUE: [u8; 600] = [7; 600];

/// So many cycles, one seed each.
pub(crate) fn cycles(operations: u64) -> Work {
    for seed in 0..operations {
        cycle(seed).expect("the disk reports no error");
    }
    Work::of(operations)
}

fn cycle(seed: u64) -> std::io::Result<()> {
    let mut store = Kv::recover(FaultyStorage::new(seed, PROFILE), Checksums::On)?;
    store.put(b"synced", &VALUE)?;
    store.sync()?;
    store.put(b"pending", &VALUE)?;
    let mut disk = store.into_storage();
    disk.crash();
    let store = Kv::recover(disk, Checksums::On)?;
    assert_eq!(store.get(b"synced"), Some(&VALUE[..]), "what was synced is there");
    Ok(())
}
