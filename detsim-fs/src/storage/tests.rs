//! The face of the disk, and one probe for each fault: it fires, and something comes of it.

use super::*;
use expect_test::expect;

const SECTOR: usize = crate::SECTOR_BYTES;

fn contents(disk: &FaultyStorage) -> Vec<u8> {
    let mut buf = vec![0xEE; disk.size() as usize + 1];
    let len = disk.read_at(0, &mut buf).unwrap();
    buf.truncate(len);
    buf
}

fn honest() -> FaultyStorage {
    FaultyStorage::new(1, FaultProfile::default())
}

#[test]
fn reads_are_short_at_the_end_and_empty_past_it() {
    let mut disk = honest();
    disk.write_at(3, b"abc").unwrap();
    let mut buf = [9; 8];
    assert_eq!(disk.read_at(4, &mut buf).unwrap(), 2);
    assert_eq!(buf, [b'b', b'c', 9, 9, 9, 9, 9, 9]);
    assert_eq!(disk.read_at(6, &mut buf).unwrap(), 0);
    assert_eq!(disk.read_at(u64::MAX, &mut buf).unwrap(), 0);
    assert_eq!(contents(&disk), b"\0\0\0abc");
}

#[test]
fn a_gap_reads_as_zeros_and_takes_no_memory() {
    let mut disk = honest();
    disk.write_at(1 << 50, b"far").unwrap();
    disk.sync().unwrap();
    let mut buf = [9; 4];
    assert_eq!(disk.read_at((1 << 50) - 2, &mut buf).unwrap(), 4);
    assert_eq!(&buf, b"\0\0fa");
}

#[test]
fn an_empty_write_changes_nothing() {
    let mut disk = FaultyStorage::new(1, FaultProfile { max_size: 4, ..Default::default() });
    assert_eq!(disk.write_at(u64::MAX, b"").unwrap(), 0);
    assert_eq!(disk.size(), 0);
}

#[test]
fn a_full_disk_refuses_the_whole_write() {
    let mut disk = FaultyStorage::new(1, FaultProfile { max_size: 4, ..Default::default() });
    disk.write_at(0, b"ab").unwrap();
    for (offset, bytes) in [(2, &b"cde"[..]), (5, b"x"), (u64::MAX, b"xy")] {
        let error = disk.write_at(offset, bytes).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert_eq!(error.raw_os_error(), Some(ENOSPC));
    }
    assert_eq!(contents(&disk), b"ab");
    assert_eq!(disk.stats().refused_writes, 3);
    disk.write_at(2, b"cd").unwrap();
    disk.write_at(0, b"AB").unwrap();
    assert_eq!(contents(&disk), b"ABcd");
}

#[test]
fn raw_bytes_meet_no_fault() {
    let profile = FaultProfile { corrupt_byte_rate: 1.0, ..Default::default() };
    let mut disk = FaultyStorage::new(1, profile);
    disk.seed_raw(0, b"as they are");
    disk.crash();
    assert_eq!(contents(&disk), b"as they are");
}

#[test]
#[should_panic(expected = "seed_raw puts 3 bytes at 2; the disk holds 4; raise max_size")]
fn raw_bytes_beyond_the_disk_are_refused() {
    let mut disk = FaultyStorage::new(1, FaultProfile { max_size: 4, ..Default::default() });
    disk.seed_raw(2, b"abc");
}

#[test]
#[should_panic(expected = "detsim: skip_sync_rate is NaN")]
fn a_rate_that_is_no_number_is_refused() {
    FaultyStorage::new(1, FaultProfile { skip_sync_rate: f64::NAN, ..Default::default() });
}

#[test]
#[should_panic(expected = "detsim: torn_write_rate is -0.5")]
fn a_negative_rate_is_refused() {
    FaultyStorage::new(1, FaultProfile { torn_write_rate: -0.5, ..Default::default() });
}

#[test]
fn probe_torn_write_keeps_a_prefix_and_everything_before() {
    let profile = FaultProfile { torn_write_rate: 1.0, ..Default::default() };
    let mut disk = FaultyStorage::new(1, profile);
    disk.write_at(0, b"one sector is never torn").unwrap();
    disk.write_at(SECTOR as u64, &[2; 4 * SECTOR]).unwrap();
    disk.write_at(8 * SECTOR as u64, b"lost").unwrap();
    disk.crash();
    let sectors = disk.size() / SECTOR as u64;
    assert!((2..=4).contains(&sectors), "{sectors} sectors");
    assert!(contents(&disk).starts_with(b"one sector is never torn"));
    assert!(contents(&disk)[SECTOR..].iter().all(|byte| *byte == 2));
    assert_eq!(disk.stats().torn_writes, 1);
    assert_eq!(disk.stats().reordered_crashes, 0);
}

#[test]
fn probe_corrupt_byte_shows_once_synced_and_after_a_crash() {
    let profile = FaultProfile { corrupt_byte_rate: 0.1, ..Default::default() };
    let mut disk = FaultyStorage::new(1, profile);
    let good = [7; 1000];
    disk.write_at(0, &good).unwrap();
    assert_eq!(contents(&disk), good);
    disk.sync().unwrap();
    let bad = contents(&disk);
    let changed = bad.iter().filter(|byte| **byte != 7).count();
    assert!((70..130).contains(&changed), "{changed} of 1000 changed");
    assert_eq!(disk.stats().corrupt_bytes, changed as u64);
    disk.sync().unwrap();
    disk.crash();
    assert_eq!(contents(&disk), bad);
}

#[test]
fn probe_corrupt_byte_at_rate_one_changes_every_byte() {
    let profile = FaultProfile { corrupt_byte_rate: 1.0, ..Default::default() };
    let mut disk = FaultyStorage::new(1, profile);
    disk.write_at(0, &[7; 5000]).unwrap();
    disk.sync().unwrap();
    assert!(contents(&disk).iter().all(|byte| *byte != 7));
}

#[test]
fn probe_skip_sync_leaves_the_write_pending() {
    let profile = FaultProfile { skip_sync_rate: 0.5, ..Default::default() };
    let mut disk = FaultyStorage::new(1, profile);
    let mut lost = 0;
    for round in 1..=100 {
        let skipped = disk.stats().skipped_syncs;
        disk.write_at(0, &[round]).unwrap();
        disk.sync().unwrap();
        disk.crash();
        let was_skipped = disk.stats().skipped_syncs > skipped;
        assert_eq!(contents(&disk).first() != Some(&round), was_skipped);
        lost += u32::from(was_skipped);
    }
    assert!((30..70).contains(&lost), "{lost} of 100 skipped");
}

#[test]
fn a_skipped_sync_with_nothing_pending_is_no_fault() {
    let mut disk =
        FaultyStorage::new(1, FaultProfile { skip_sync_rate: 1.0, ..Default::default() });
    disk.sync().unwrap();
    assert_eq!(disk.stats().skipped_syncs, 0);
}

#[test]
fn probe_reorder_keeps_a_later_write_without_an_earlier_one() {
    let profile = FaultProfile { reorder_rate: 1.0, ..Default::default() };
    let mut holes = 0;
    for seed in 0..100 {
        let mut disk = FaultyStorage::new(seed, profile);
        for i in 0..5 {
            disk.write_at(i * SECTOR as u64, &[1; SECTOR]).unwrap();
        }
        disk.crash();
        let hole = contents(&disk).contains(&0);
        assert_eq!(disk.stats().reordered_crashes, u64::from(hole));
        holes += u32::from(hole);
    }
    assert!((30..70).contains(&holes), "{holes} of 100 reordered");
}

#[test]
fn events_are_kept_only_while_asked_for() {
    let mut disk =
        FaultyStorage::new(1, FaultProfile { skip_sync_rate: 1.0, ..Default::default() });
    disk.crash();
    assert_eq!(disk.drain_events(), []);
    disk.record_events(true);
    disk.crash();
    disk.record_events(true);
    let crash = FaultEvent::Crash { kept: 0, torn: 0, lost: 0, reordered: false };
    assert_eq!(disk.drain_events(), [crash]);
    assert_eq!(disk.drain_events(), []);
    disk.crash();
    disk.record_events(false);
    assert_eq!(disk.drain_events(), []);
}

#[test]
fn debug_is_a_summary() {
    let mut disk = honest();
    disk.write_at(0, &[0; 4096]).unwrap();
    let text = format!("{disk:?}");
    assert!(text.starts_with("FaultyStorage { size: 4096, pending_writes: 1, stats: "), "{text}");
    assert!(text.len() < 300, "{text}");
}

#[test]
fn a_torn_write_that_lost_its_order_keeps_any_of_its_sectors() {
    let profile = FaultProfile { torn_write_rate: 1.0, reorder_rate: 1.0, ..Default::default() };
    let (mut lost, mut headless) = (0, 0);
    for seed in 0..200 {
        let mut disk = FaultyStorage::new(seed, profile);
        disk.write_at(0, &[1; 4 * SECTOR]).unwrap();
        disk.crash();
        lost += u32::from(disk.size() == 0);
        headless += u32::from(contents(&disk).first() == Some(&0));
        assert!(disk.size() == 0 || disk.stats().torn_writes == 1);
    }
    assert!((80..140).contains(&lost), "{lost} of 200 lost whole");
    assert!((20..70).contains(&headless), "{headless} of 200 lost their first sector");
}

#[test]
fn a_write_after_a_torn_one_counts_as_reordered() {
    let writes = [PendingWrite { offset: 0, atoms: 2 }, PendingWrite { offset: 9, atoms: 1 }];
    let crash = |kept, torn, lost, reordered| FaultEvent::Crash { kept, torn, lost, reordered };
    assert_eq!(outcome(&writes, &[true, false, true]), crash(1, 1, 0, true));
    assert_eq!(outcome(&writes, &[false, false, true]), crash(1, 0, 1, true));
    assert_eq!(outcome(&writes, &[true, true, true]), crash(2, 0, 0, false));
    assert_eq!(outcome(&writes, &[true, false, false]), crash(0, 1, 1, false));
}

#[test]
fn a_disk_in_a_run_tells_the_trace_of_it() {
    let mut config = detsim_executor::SimConfig::default();
    config.record = true;
    let sim = Sim::with_config(3, config);
    let profile = FaultProfile {
        skip_sync_rate: 1.0,
        corrupt_byte_rate: 1.0,
        reorder_rate: 1.0,
        max_size: 600,
        ..FaultProfile::default()
    };
    sim.node("n1").enter(|| {
        let mut disk = FaultyStorage::in_run(&sim, "n1", profile);
        disk.write_at(0, b"x").unwrap();
        disk.write_at(599, b"xy").unwrap_err();
        disk.sync().unwrap();
        disk.crash();
    });
    let mut told: Vec<String> = disk_events(&sim);
    told.dedup();
    expect![[r#"
        [
            "Wrote { node: NodeId(1), offset: 0, len: 1 }",
            "Full { node: NodeId(1), offset: 599, len: 2 }",
            "SyncSkipped { node: NodeId(1) }",
            "Crashed { node: NodeId(1), survived: 0, lost: 1, torn: 0 }",
        ]
    "#]]
    .assert_debug_eq(&told);
}

#[test]
fn what_happens_to_a_disk_is_in_the_hash_of_its_run() {
    let hash = |seed, name, bytes: &[u8]| {
        let sim = Sim::new(seed);
        let profile = FaultProfile { reorder_rate: 0.5, ..FaultProfile::default() };
        let mut disk = FaultyStorage::in_run(&sim, name, profile);
        for at in 0..8 {
            disk.write_at(at * 512, bytes).unwrap();
        }
        disk.crash();
        (sim.run().unwrap().hash, contents(&disk).len())
    };
    let (first, len) = hash(1, "n1", b"x");
    assert_eq!(hash(1, "n1", b"x"), (first, len));
    assert_ne!(hash(1, "n2", b"x").0, first);
    assert_ne!(hash(1, "n1", b"y").0, first);
    // Another seed, of which other writes survive.
    let (other, _) = (2..).map(|seed| hash(seed, "n1", b"x")).find(|one| one.1 != len).unwrap();
    assert_ne!(other, first);
}

fn disk_events(sim: &Sim) -> Vec<String> {
    let moments = sim.trace().moments;
    let told = moments.iter().filter_map(|moment| match moment.event {
        detsim_executor::Event::Disk(event) => Some(format!("{event:?}")),
        _ => None,
    });
    told.collect()
}
