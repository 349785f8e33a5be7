//! The disk without faults: what is durable, what is pending, and what a survivor brings along.

use super::*;
use crate::atom::SECTOR_BYTES;

const A: FileId = FileId(1);
const B: FileId = FileId(2);

fn contents(disk: &Disk, file: FileId) -> Vec<u8> {
    let mut buf = vec![0xEE; disk.size(file) as usize + 1];
    let len = disk.read(file, 0, &mut buf);
    buf.truncate(len);
    buf
}

fn no_wear(_: &mut Atom) {}

fn lose_everything(disk: &mut Disk) {
    let pending = disk.pending_writes().iter().map(|write| write.atoms).sum();
    disk.crash(vec![false; pending], &mut no_wear);
}

#[test]
fn a_flush_covers_its_own_file_only() {
    let mut disk = Disk::default();
    disk.write(A, 0, b"a1");
    disk.write(B, 0, b"b1");
    disk.write(A, 1, b"a2");
    disk.flush(B, &mut no_wear);
    assert_eq!(contents(&disk, A), b"aa2");
    lose_everything(&mut disk);
    assert_eq!(contents(&disk, A), b"");
    assert_eq!(contents(&disk, B), b"b1");
}

#[test]
fn a_later_survivor_of_a_sector_brings_the_earlier_atoms_along() {
    let mut disk = Disk::default();
    disk.write(A, 0, &[1; 2 * SECTOR_BYTES]);
    disk.write(A, 10, &[2; 5]);
    // Atoms: sector 0, sector 1, then sector 0 again, which alone is kept.
    let keep = disk.crash(vec![false, false, true], &mut no_wear);
    assert_eq!(keep, [true, false, true]);
    let mut want = vec![1; SECTOR_BYTES];
    want[10..15].fill(2);
    assert_eq!(contents(&disk, A), want);
}

#[test]
fn an_earlier_survivor_leaves_the_later_atoms_behind() {
    let mut disk = Disk::default();
    disk.write(A, 0, b"first");
    disk.write(A, 0, b"other");
    disk.crash(vec![true, false], &mut no_wear);
    assert_eq!(contents(&disk, A), b"first");
}

#[test]
fn a_survivor_past_the_end_leaves_zeros_before_it() {
    let mut disk = Disk::default();
    disk.write(A, 0, b"lost");
    disk.write(A, 1030, b"kept");
    disk.crash(vec![false, true], &mut no_wear);
    let mut want = vec![0; 1034];
    want[1030..].copy_from_slice(b"kept");
    assert_eq!(contents(&disk, A), want);
}

#[test]
fn wear_shows_as_soon_as_the_bytes_are_durable() {
    let mut disk = Disk::default();
    disk.write(A, 0, b"abc");
    assert_eq!(contents(&disk, A), b"abc");
    disk.flush(A, &mut |atom| atom.bytes[1] = b'X');
    assert_eq!(contents(&disk, A), b"aXc");
    disk.flush(A, &mut |_| panic!("nothing is pending"));
}

#[test]
fn an_imprint_lies_beneath_what_is_pending() {
    let mut disk = Disk::default();
    disk.write(A, 2, b"pp");
    disk.imprint(A, 0, b"mmmmmm");
    assert_eq!(contents(&disk, A), b"mmppmm");
    lose_everything(&mut disk);
    assert_eq!(contents(&disk, A), b"mmmmmm");
}

#[test]
fn pending_writes_are_told_apart_and_counted_in_atoms() {
    let mut disk = Disk::default();
    disk.write(A, 500, &[1; 600]);
    disk.write(A, 3, b"x");
    assert_eq!(
        disk.pending_writes(),
        [PendingWrite { offset: 500, atoms: 3 }, PendingWrite { offset: 3, atoms: 1 }]
    );
    disk.flush(A, &mut no_wear);
    assert_eq!(disk.pending_writes(), []);
}
