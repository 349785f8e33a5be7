//! The disk without faults: what is durable, what is pending, and what a survivor brings along.

use super::*;
use crate::atom::SECTOR_BYTES;

fn contents(disk: &Disk) -> Vec<u8> {
    let mut buf = vec![0xEE; disk.size() as usize + 1];
    let len = disk.read(0, &mut buf);
    buf.truncate(len);
    buf
}

fn no_wear(_: u64, _: &mut [u8]) {}

fn lose_everything(disk: &mut Disk) {
    let pending = disk.pending_writes().iter().map(|write| write.atoms).sum();
    disk.crash(vec![false; pending], &mut no_wear);
}

#[test]
fn a_later_survivor_of_a_sector_brings_the_earlier_atoms_along() {
    let mut disk = Disk::default();
    disk.write(0, &[1; 2 * SECTOR_BYTES]);
    disk.write(10, &[2; 5]);
    // Atoms: sector 0, sector 1, then sector 0 again, which alone is kept.
    let keep = disk.crash(vec![false, false, true], &mut no_wear);
    assert_eq!(keep, [true, false, true]);
    let mut want = vec![1; SECTOR_BYTES];
    want[10..15].fill(2);
    assert_eq!(contents(&disk), want);
}

#[test]
fn an_earlier_survivor_leaves_the_later_atoms_behind() {
    let mut disk = Disk::default();
    disk.write(0, b"first");
    disk.write(0, b"other");
    disk.crash(vec![true, false], &mut no_wear);
    assert_eq!(contents(&disk), b"first");
}

#[test]
fn a_survivor_past_the_end_leaves_zeros_before_it() {
    let mut disk = Disk::default();
    disk.write(0, b"lost");
    disk.write(1030, b"kept");
    disk.crash(vec![false, true], &mut no_wear);
    let mut want = vec![0; 1034];
    want[1030..].copy_from_slice(b"kept");
    assert_eq!(contents(&disk), want);
}

#[test]
fn wear_shows_as_soon_as_the_bytes_are_durable() {
    let mut disk = Disk::default();
    disk.write(0, b"abc");
    assert_eq!(contents(&disk), b"abc");
    disk.flush(&mut |_, bytes| bytes[1] = b'X');
    assert_eq!(contents(&disk), b"aXc");
    disk.flush(&mut |_, _| panic!("nothing is pending"));
}

#[test]
fn an_imprint_lies_beneath_what_is_pending() {
    let mut disk = Disk::default();
    disk.write(2, b"pp");
    disk.imprint(0, b"mmmmmm");
    assert_eq!(contents(&disk), b"mmppmm");
    lose_everything(&mut disk);
    assert_eq!(contents(&disk), b"mmmmmm");
}

#[test]
fn pending_writes_are_told_apart_and_counted_in_atoms() {
    let mut disk = Disk::default();
    disk.write(500, &[1; 600]);
    disk.write(3, b"x");
    assert_eq!(
        disk.pending_writes(),
        [PendingWrite { offset: 500, atoms: 3 }, PendingWrite { offset: 3, atoms: 1 }]
    );
    disk.flush(&mut no_wear);
    assert_eq!(disk.pending_writes(), []);
}
