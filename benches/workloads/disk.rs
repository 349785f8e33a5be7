//! Files of std: 4 KiB written and synced, and read in sequence; and what a sparse file takes.
//!
//! One text for detsim, whose disk is simulated, and for tokio, whose is the real one in memory. The
//! crate that includes this supplies `crate::peer` with `simulate`, and `DISK`, the directory to use.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use bench_common::Work;
use bench_common::clock::resident_bytes;

use crate::peer;

const PAGE: usize = 4096;
const GIB: u64 = 1 << 30;
/// Pages of the file that is written or read again and again.
const PAGES: u64 = 4096;

/// Does so many operations of a workload.
pub(crate) fn run(name: &str, operations: u64) -> Option<Work> {
    match name {
        "disk-sync" => peer::simulate(1, async move { write_and_sync(operations) }),
        "disk-read" => peer::simulate(1, async move { read(operations) }),
        _ => return None,
    }
    Some(Work::of(operations))
}

/// Bytes by which the process grows for so many GiB of a sparse file, of which each has a page.
pub(crate) fn growth(check: &str, operations: u64) -> Option<i64> {
    (check == "memory-sparse").then(|| peer::simulate(1, async move { spread(operations) }))
}

/// A file that is gone with the measurement.
struct Scratch(PathBuf, File);

impl Scratch {
    fn new() -> Self {
        let path = PathBuf::from(peer::DISK).join(format!("bench-{}", std::process::id()));
        let file = File::options().read(true).write(true).create(true).truncate(true).open(&path);
        Self(path, file.expect("the directory takes files"))
    }

    fn write(&self, page: u64) {
        let written = self.1.write_all_at(&[page as u8; PAGE], page * PAGE as u64);
        written.expect("there is room");
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _gone = fs::remove_file(&self.0);
    }
}

fn write_and_sync(operations: u64) {
    let file = Scratch::new();
    for operation in 0..operations {
        file.write(operation % PAGES);
        file.1.sync_data().expect("an honest disk");
    }
}

/// The file is written first: one operation in so many that it does not count.
fn read(operations: u64) {
    let file = Scratch::new();
    (0..PAGES.min(operations)).for_each(|page| file.write(page));
    file.1.sync_data().expect("an honest disk");
    let mut bytes = [0; PAGE];
    for operation in 0..operations {
        let page = operation % PAGES.min(operations);
        file.1.read_exact_at(&mut bytes, page * PAGE as u64).expect("it was written");
        assert_eq!(bytes[0], page as u8);
    }
}

fn spread(gibibytes: u64) -> i64 {
    let file = Scratch::new();
    let before = resident_bytes();
    for gibibyte in 0..gibibytes {
        file.write(gibibyte * (GIB / PAGE as u64));
    }
    file.1.sync_data().expect("an honest disk");
    i64::try_from(resident_bytes()).expect("no memory is that large")
        - i64::try_from(before).expect("no memory is that large")
}
