//! With faults: whatever a crash or a sync leaves is explained by something that was allowed.

use detsim_executor::Stream;
use detsim_fs::{FaultEvent, FaultProfile, FaultyStorage, SECTOR_BYTES};

use crate::ops::contents;

type Write = (usize, Vec<u8>);

/// Writes of random bytes; none is empty.
fn writes(stream: &mut Stream, count: usize, span: u64) -> Vec<Write> {
    let write = |_| {
        let mut bytes = vec![0; 1 + stream.below(span) as usize];
        stream.fill(&mut bytes);
        (stream.below(span) as usize, bytes)
    };
    (0..count).map(write).collect()
}

fn put(image: &mut Vec<u8>, offset: usize, bytes: &[u8]) {
    let end = image.len().max(offset + bytes.len());
    image.resize(end, 0);
    image[offset..offset + bytes.len()].copy_from_slice(bytes);
}

/// The disk after `kept(write, sector)` of the writes reached it, each sector as the cache held it
/// just after the last of them.
fn image(base: &[u8], writes: &[Write], kept: impl Fn(usize, usize) -> bool) -> Vec<u8> {
    let mut image = base.to_vec();
    for (last, (offset, bytes)) in writes.iter().enumerate() {
        let first_sector = offset / SECTOR_BYTES;
        for sector in first_sector..=(offset + bytes.len() - 1) / SECTOR_BYTES {
            if kept(last, sector) {
                writes[..=last].iter().for_each(|write| put_in_sector(&mut image, write, sector));
            }
        }
    }
    image
}

fn put_in_sector(image: &mut Vec<u8>, (offset, bytes): &Write, sector: usize) {
    let from = (sector * SECTOR_BYTES).max(*offset);
    let to = ((sector + 1) * SECTOR_BYTES).min(offset + bytes.len());
    if from < to {
        put(image, from, &bytes[from - offset..to - offset]);
    }
}

/// A disk with a synced base, then `writes` pending, then a crash.
fn crashed(seed: u64, profile: FaultProfile, base: &[u8], writes: &[Write]) -> FaultyStorage {
    let mut disk = FaultyStorage::new(seed, profile);
    disk.seed_raw(0, base);
    for (offset, bytes) in writes {
        disk.write_at(*offset as u64, bytes).unwrap();
    }
    disk.crash();
    disk
}

/// Tries every seed's crash against all images that `allowed` makes.
fn check(profile: FaultProfile, allowed: impl Fn(&[u8], &[Write]) -> Vec<Vec<u8>>) {
    let mut outcomes = [0; 2];
    for seed in 0..600 {
        let mut stream = Stream::named(seed, "explained");
        let count = stream.range(1, 6) as usize;
        let span = [100, 1_500, 3_000][(seed % 3) as usize];
        let writes = writes(&mut stream, count, span);
        let mut base = vec![0; stream.below(1_000) as usize];
        stream.fill(&mut base);
        let left = contents(&crashed(seed, profile, &base, &writes));
        assert!(allowed(&base, &writes).contains(&left), "seed {seed} is not explained");
        outcomes[usize::from(left != base)] += 1;
    }
    assert!(outcomes.iter().all(|count| *count > 50), "lost, survived: {outcomes:?}");
}

#[test]
fn a_reordered_crash_leaves_a_subset_of_the_writes() {
    let profile = FaultProfile { reorder_rate: 1.0, ..Default::default() };
    check(profile, |base, writes| {
        let subsets = 0..1_u32 << writes.len();
        subsets.map(|set| image(base, writes, |write, _| set >> write & 1 == 1)).collect()
    });
}

#[test]
fn a_torn_crash_in_order_leaves_a_prefix_that_ends_in_the_torn_write() {
    let profile = FaultProfile { torn_write_rate: 0.4, ..Default::default() };
    check(profile, |base, writes| {
        let mut images = vec![base.to_vec()];
        for (torn, (offset, bytes)) in writes.iter().enumerate() {
            let last = (offset + bytes.len() - 1) / SECTOR_BYTES;
            for cut in offset / SECTOR_BYTES..last {
                let kept = |write, sector| write < torn || (write == torn && sector <= cut);
                images.push(image(base, writes, kept));
            }
        }
        images
    });
}

#[test]
fn every_sector_is_one_that_the_cache_once_held() {
    let profile =
        FaultProfile { torn_write_rate: 0.5, reorder_rate: 0.5, ..FaultProfile::default() };
    for seed in 0..2_000 {
        let mut stream = Stream::named(seed, "sectors");
        let writes = writes(&mut stream, 6, 2_000);
        let left = contents(&crashed(seed, profile, &[], &writes));
        let versions: Vec<Vec<u8>> =
            (0..=writes.len()).map(|n| image(&[], &writes[..n], |_, _| true)).collect();
        for (sector, bytes) in left.chunks(SECTOR_BYTES).enumerate() {
            let start = sector * SECTOR_BYTES;
            let was_held = versions.iter().any(|version| {
                (0..bytes.len()).all(|i| version.get(start + i).unwrap_or(&0) == &bytes[i])
            });
            assert!(was_held, "seed {seed}, sector {sector}");
        }
    }
}

#[test]
fn corruption_is_exactly_what_the_events_say() {
    let profile = FaultProfile { corrupt_byte_rate: 0.02, ..Default::default() };
    let mut total = 0;
    for seed in 0..300 {
        let mut disk = FaultyStorage::new(seed, profile);
        disk.record_events(true);
        let mut bytes = vec![0; 1_000];
        Stream::named(seed, "corrupt").fill(&mut bytes);
        disk.write_at(100, &bytes[..600]).unwrap();
        disk.write_at(700, &bytes[600..]).unwrap();
        let mut want = contents(&disk);
        disk.sync().unwrap();
        for event in disk.drain_events() {
            let FaultEvent::CorruptByte { offset, was, now } = event else {
                panic!("seed {seed}: {event:?}");
            };
            assert!(offset >= 100 && was != now);
            assert_eq!(std::mem::replace(&mut want[offset as usize], now), was);
            total += 1;
        }
        assert_eq!(contents(&disk), want, "seed {seed}");
    }
    assert!((5_000..7_000).contains(&total), "{total} of 300,000 bytes changed");
}
