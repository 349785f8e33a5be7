//! Recovery takes any bytes and leaves a store that works: `cargo +nightly fuzz run recover` in
//! `examples/kv`.
#![no_main]

use detsim_fs::{FaultProfile, FaultyStorage};
use kv::{Checksums, Kv};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for checksums in [Checksums::On, Checksums::Off] {
        let mut disk = FaultyStorage::new(0, FaultProfile::default());
        disk.seed_raw(0, bytes);
        let mut kv = Kv::recover(disk, checksums).expect("the disk reports no error");
        let entries = kv.recovery().entries;
        kv.put(b"key", b"after").expect("the disk reports no error");
        kv.sync().expect("the disk reports no error");
        let kv = Kv::recover(kv.into_storage(), checksums).expect("the disk reports no error");
        assert_eq!(kv.get(b"key"), Some(&b"after"[..]));
        assert_eq!(kv.recovery().entries, entries + 1);
    }
});
