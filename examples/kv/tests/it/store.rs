//! The store on an honest disk.

use std::io;

use detsim_fs::{FaultProfile, FaultyStorage};
use kv::{Checksums, Kv, Recovery};

fn disk(max_size: u64) -> FaultyStorage {
    FaultyStorage::new(1, FaultProfile { max_size, ..FaultProfile::default() })
}

fn crash(kv: Kv) -> Kv {
    let mut storage = kv.into_storage();
    storage.crash();
    Kv::recover(storage, Checksums::On).unwrap()
}

#[test]
fn synced_changes_survive_and_others_do_not() {
    let mut kv = Kv::recover(disk(u64::MAX), Checksums::On).unwrap();
    kv.put(b"a", b"1").unwrap();
    kv.put(b"b", b"2").unwrap();
    kv.delete(b"a").unwrap();
    kv.sync().unwrap();
    kv.put(b"a", b"3").unwrap();
    assert_eq!(kv.get(b"a"), Some(&b"3"[..]));
    let kv = crash(kv);
    assert_eq!(kv.iter().collect::<Vec<_>>(), [(&b"b"[..], &b"2"[..])]);
    assert_eq!(kv.recovery(), Recovery { entries: 3, dropped_bytes: 0 });
}

#[test]
fn a_full_disk_leaves_the_store_as_it_was() {
    let mut kv = Kv::recover(disk(20), Checksums::On).unwrap();
    kv.put(b"a", b"12345678").unwrap();
    let error = kv.put(b"a", b"9").unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    kv.sync().unwrap();
    assert_eq!(crash(kv).get(b"a"), Some(&b"12345678"[..]));
}

#[test]
fn a_key_that_is_too_long_is_refused() {
    let mut kv = Kv::recover(disk(u64::MAX), Checksums::On).unwrap();
    let error = kv.put(&[0; 1 << 16], b"").unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    assert_eq!(kv.iter().count(), 0);
}

#[test]
fn an_entry_of_an_earlier_life_does_not_come_back() {
    let mut kv = Kv::recover(disk(u64::MAX), Checksums::On).unwrap();
    kv.put(b"a", b"1").unwrap();
    kv.put(b"b", b"2").unwrap();
    let storage = kv.into_storage();
    let mut log = vec![0; storage.size() as usize];
    storage.read_at(0, &mut log).unwrap();

    // The first entry is damaged, so the second, which is whole, is out of reach.
    let mut storage = disk(u64::MAX);
    log[0] ^= 1;
    storage.seed_raw(0, &log);
    let mut kv = Kv::recover(storage, Checksums::On).unwrap();
    assert_eq!(kv.recovery(), Recovery { entries: 0, dropped_bytes: log.len() as u64 });

    // One as long as the first would make it reachable again.
    kv.put(b"c", b"3").unwrap();
    kv.sync().unwrap();
    assert_eq!(crash(kv).iter().collect::<Vec<_>>(), [(&b"c"[..], &b"3"[..])]);
}
