//! The same seed gives the same disk, and one fault never shifts another.

use detsim_executor::Stream;
use detsim_fs::{FaultEvent, FaultProfile, FaultyStorage};
use expect_test::expect;

use crate::ops::{Op, contents, sequence};

const EVERYTHING: FaultProfile = FaultProfile {
    torn_write_rate: 0.3,
    corrupt_byte_rate: 0.01,
    skip_sync_rate: 0.2,
    reorder_rate: 0.5,
    max_size: 2_500,
};

/// Runs a sequence of calls and returns the events and the contents after each call.
fn run(seed: u64, profile: FaultProfile) -> (Vec<FaultEvent>, Vec<Vec<u8>>) {
    let mut disk = FaultyStorage::new(seed, profile);
    disk.record_events(true);
    let mut views = Vec::new();
    for op in sequence(&mut Stream::named(seed, "calls"), 60, 2_500) {
        match op {
            Op::Write { offset, bytes } => drop(disk.write_at(offset, &bytes)),
            Op::Read { .. } => {}
            Op::Sync => disk.sync().unwrap(),
            Op::Crash => disk.crash(),
        }
        views.push(contents(&disk));
    }
    (disk.drain_events(), views)
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_events() {
    for seed in 0..200 {
        assert_eq!(run(seed, EVERYTHING), run(seed, EVERYTHING));
    }
    assert_ne!(run(0, EVERYTHING), run(1, EVERYTHING));
}

/// For each of many rounds: was its sync skipped, and did its crash lose the order?
fn decisions(profile: FaultProfile) -> (Vec<u64>, Vec<bool>) {
    let mut disk = FaultyStorage::new(5, profile);
    let mut skips = Vec::new();
    let mut survivals = Vec::new();
    for round in 0..200_u64 {
        disk.write_at(0, &[1; 700]).unwrap();
        disk.sync().unwrap();
        skips.push(disk.stats().skipped_syncs);
        disk.sync().unwrap();
        disk.crash();
        disk.write_at(round * 512, b"one sector").unwrap();
        disk.crash();
        survivals.push(disk.size() > round * 512);
    }
    (skips, survivals)
}

#[test]
fn a_rate_that_changes_shifts_no_other_fault() {
    let profile = FaultProfile { skip_sync_rate: 0.3, reorder_rate: 0.5, ..Default::default() };
    let (skips, survivals) = decisions(profile);
    let torn = decisions(FaultProfile { torn_write_rate: 0.5, ..profile });
    assert_eq!(torn, (skips.clone(), survivals.clone()));
    let corrupt = decisions(FaultProfile { corrupt_byte_rate: 0.5, ..profile });
    assert_eq!(corrupt, (skips.clone(), survivals.clone()));
    let in_order = decisions(FaultProfile { reorder_rate: 0.0, ..profile });
    assert_eq!(in_order.0, skips);
    assert_ne!(in_order.1, survivals);
}

#[test]
fn the_events_of_a_seed_are_pinned() {
    // A change here changes every seed's run: it is a CHANGELOG entry.
    let mut events = run(9, EVERYTHING).0;
    let corrupt = |event: &FaultEvent| matches!(event, FaultEvent::CorruptByte { .. });
    events.dedup_by(|a, b| corrupt(a) && corrupt(b));
    let lines = events.iter().take(10).map(|event| format!("{event:?}\n"));
    expect![[r#"
        SkipSync { writes: 8 }
        SkipSync { writes: 11 }
        TearWrite { offset: 1242, sectors: 2, kept: 1 }
        CorruptByte { offset: 1378, was: 202, now: 71 }
        Crash { kept: 2, torn: 1, lost: 17, reordered: false }
        Crash { kept: 0, torn: 0, lost: 1, reordered: false }
        Crash { kept: 0, torn: 0, lost: 0, reordered: false }
    "#]]
    .assert_eq(&lines.collect::<String>());
}
