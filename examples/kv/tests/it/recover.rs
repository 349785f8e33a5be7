//! Recovery takes any bytes.

use detsim_fs::{FaultProfile, FaultyStorage};
use kv::{Checksums, Kv};
use proptest::collection::vec;
use proptest::prelude::*;

fn disk(bytes: &[u8]) -> FaultyStorage {
    let mut disk = FaultyStorage::new(0, FaultProfile::default());
    disk.seed_raw(0, bytes);
    disk
}

/// Recovers from `bytes`, and demands a store that works.
fn check(bytes: &[u8], checksums: Checksums) {
    let mut kv = Kv::recover(disk(bytes), checksums).unwrap();
    let entries = kv.recovery().entries;
    kv.put(b"key", b"after").unwrap();
    kv.sync().unwrap();
    let kv = Kv::recover(kv.into_storage(), checksums).unwrap();
    assert_eq!(kv.get(b"key"), Some(&b"after"[..]));
    assert_eq!(kv.recovery().entries, entries + 1);
}

/// The log of a few puts.
fn log(checksums: Checksums) -> Vec<u8> {
    let mut kv = Kv::recover(disk(&[]), checksums).unwrap();
    for i in 0..4 {
        kv.put(&[i], &[i; 20]).unwrap();
    }
    kv.delete(&[2]).unwrap();
    let storage = kv.into_storage();
    let mut bytes = vec![0; storage.size() as usize];
    storage.read_at(0, &mut bytes).unwrap();
    bytes
}

proptest! {
    #[test]
    fn arbitrary_bytes(bytes in vec(any::<u8>(), 0..2_000)) {
        check(&bytes, Checksums::On);
        check(&bytes, Checksums::Off);
    }

    /// Bytes that are often lengths and kinds reach further than arbitrary ones.
    #[test]
    fn small_bytes(bytes in vec(0_u8..4, 0..600)) {
        check(&bytes, Checksums::On);
        check(&bytes, Checksums::Off);
    }

    #[test]
    fn damaged_logs(
        damage in vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        cut in any::<prop::sample::Index>(),
    ) {
        for checksums in [Checksums::On, Checksums::Off] {
            let mut bytes = log(checksums);
            for (at, byte) in &damage {
                *at.get_mut(&mut bytes) = *byte;
            }
            bytes.truncate(cut.index(bytes.len() + 1));
            check(&bytes, checksums);
        }
    }
}

#[test]
fn the_longest_lengths_allocate_nothing() {
    let mut bytes = vec![0xFF; 64];
    bytes[4] = 1;
    check(&bytes, Checksums::Off);
}
