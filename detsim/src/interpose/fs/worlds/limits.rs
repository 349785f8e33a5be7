//! Programs that come to a limit: of descriptors, of room, of names, of memory, of one file system.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};
use std::ptr::{null, null_mut};

use libc::c_void;

use super::{Little, Seen, c, check, libc_call, shown};

/// Opens files until no more can be.
fn too_many_open_files(dir: &Path) -> Seen {
    let mut seen = Seen::new();
    let mut see = |what: String| seen.push(what);
    let at = |name: &str| dir.join(name);
    fs::write(at("f"), "hello").unwrap();
    fs::create_dir_all(at("d/e")).unwrap();
    let mut open = Vec::new();
    let error = loop {
        match File::open(at("f")) {
            Ok(file) => open.push(file),
            Err(error) => break error,
        }
        assert!(open.len() < 1_000, "there is no limit");
    };
    see(shown(Err::<(), _>(error)));
    see(shown(File::create(at("new")).map(drop)));
    see(shown(fs::exists(at("new"))));
    see(shown(File::open(at("no")).map(drop)));
    see(shown(File::open("").map(drop)));
    see(shown(open[0].try_clone().map(drop)));
    see(shown(fs::read_dir(dir).map(drop)));
    see(shown(fs::copy(at("f"), at("g"))));
    see(shown(fs::remove_dir_all(at("d"))));
    see(shown(OpenOptions::new().read(true).custom_flags(libc::O_PATH).open(dir).map(drop)));
    // What opens nothing goes on.
    see(shown(fs::metadata(at("f")).map(|known| known.len())));
    see(shown(fs::create_dir(at("made"))));
    see(shown(fs::rename(at("f"), at("made/f"))));
    see(libc_call!(truncate(c(at("made/f")).as_ptr(), 2)));
    see(libc_call!(truncate(c(at("made")).as_ptr(), 2)));
    see(shown(open[0].metadata().map(|known| known.len())));
    // With one less there is room for one.
    open.pop();
    see(shown(fs::write(at("new"), "x")));
    see(shown(fs::copy(at("new"), at("g"))));
    see(shown(fs::read_dir(dir).map(Iterator::count)));
    seen
}

#[test]
fn descriptors_run_out() {
    let few = Little { open_files: Some(64), ..Little::default() };
    check("emfile", few, too_many_open_files);
}

/// Fills a disk of sixteen pages.
fn a_full_disk(dir: &Path) -> Seen {
    let mut seen = Seen::new();
    let mut see = |what: String| seen.push(what);
    let at = |name: &str| dir.join(name);
    let mut file =
        OpenOptions::new().read(true).write(true).create_new(true).open(at("f")).unwrap();
    for _ in 0..6 {
        see(shown(file.write(&[7; 3 * 4096])));
    }
    see(shown(file.metadata().map(|known| (known.len(), known.blocks()))));
    see(shown(file.write(b"x")));
    see(shown(file.write(b"")));
    see(shown(file.write_at(b"over", 8)));
    see(shown(fs::write(at("g"), "x")));
    see(shown(fs::metadata(at("g")).map(|known| known.len())));
    see(shown(fs::copy(at("f"), at("h"))));
    see(shown(fs::create_dir(at("d"))));
    see(shown(symlink("f", at("s"))));
    see(shown(fs::hard_link(at("f"), at("t"))));
    see(shown(fs::rename(at("g"), at("d/g"))));
    see(shown(file.set_len(1 << 20)));
    see(shown(file.write_at(b"x", 1 << 19)));
    see(libc_call!(fallocate(file.as_raw_fd(), 0, 0, 1 << 20)));
    see(libc_call!(posix_fallocate(file.as_raw_fd(), 0, 1 << 20)));
    see(shown(file.sync_all()));
    // A page is given back, and is taken again.
    see(shown(file.set_len(15 * 4096)));
    see(shown(file.write_at(&[1; 2 * 4096], 1 << 19)));
    see(shown(file.write_at(b"x", (1 << 19) + 4096)));
    // A name that goes leaves the open file, and with it the room that it takes.
    fs::remove_file(at("t")).unwrap();
    fs::remove_file(at("f")).unwrap();
    see(shown(fs::write(at("g"), "x")));
    drop(file);
    see(shown(fs::write(at("g"), [2; 16 * 4096])));
    see(shown(fs::metadata(at("g")).map(|known| (known.len(), known.blocks()))));
    seen
}

#[test]
fn a_disk_fills_up() {
    let small = Little { disk_bytes: Some(16 * 4096), ..Little::default() };
    check("enospc", small, a_full_disk);
}

/// Room that is reserved is there, whoever else writes.
fn reserved_room(dir: &Path) -> Seen {
    let mut seen = Seen::new();
    let mut see = |what: String| seen.push(what);
    let file = File::create(dir.join("f")).unwrap();
    let other = File::create(dir.join("g")).unwrap();
    let fd = file.as_raw_fd();
    see(libc_call!(fallocate(fd, 0, 0, 12 * 4096)));
    see(shown(file.metadata().map(|known| (known.len(), known.blocks()))));
    see(shown(other.write_at(&[1; 8 * 4096], 0)));
    see(shown(file.write_at(&[2; 12 * 4096], 0)));
    see(shown(other.write_at(&[1; 1], 1 << 20)));
    see(libc_call!(fallocate(fd, libc::FALLOC_FL_KEEP_SIZE, 0, 13 * 4096)));
    see(libc_call!(fallocate(
        fd,
        libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE,
        4096,
        2 * 4096
    )));
    see(shown(file.metadata().map(|known| (known.len(), known.blocks()))));
    see(shown(other.write_at(&[1; 1], 1 << 20)));
    see(libc_call!(fallocate(fd, libc::FALLOC_FL_KEEP_SIZE, 12 * 4096, 4096)));
    see(shown(file.metadata().map(|known| (known.len(), known.blocks()))));
    see(shown(file.write_at(&[3; 4096], 12 * 4096)));
    see(shown(file.write_at(&[3; 1], 4096)));
    seen
}

#[test]
fn room_is_reserved() {
    let small = Little { disk_bytes: Some(16 * 4096), ..Little::default() };
    check("fallocate", small, reserved_room);
}

/// Gives a file names until no more can be: 65,000 on ext4, without a limit on some others.
fn too_many_names(dir: &Path) -> Seen {
    fs::write(dir.join("f"), "").unwrap();
    let give = |number: u32| fs::hard_link(dir.join("f"), dir.join(number.to_string()));
    let refused = (1..65_002).find_map(|number| give(number).err().map(|error| (number, error)));
    let known = fs::metadata(dir.join("f")).unwrap().nlink();
    vec![match refused {
        Some((number, error)) => format!("{number}: {}, {known} names", shown(Err::<(), _>(error))),
        None => format!("no limit, {known} names"),
    }]
}

#[test]
fn names_run_out_where_the_file_system_has_a_limit() {
    super::super::link_in();
    let inside = super::in_a_run(too_many_names, Little::default());
    assert_eq!(inside, ["65000: TooManyLinks Some(31), 65000 names"]);
    let dir = std::env::temp_dir().join(format!("detsim-emlink-{}", std::process::id()));
    let real = super::really(too_many_names, &dir, Little::default()).unwrap();
    match real[0].starts_with("no limit") {
        true => super::skip("emlink", &io::Error::other("its files have any number of names")),
        false => assert_eq!(inside, real),
    }
}

/// Hands over places that are none.
fn no_places(dir: &Path) -> Seen {
    let mut seen = Seen::new();
    let mut see = |what: String| seen.push(what);
    let path = c(dir.join("f"));
    fs::write(dir.join("f"), "hello").unwrap();
    let file = OpenOptions::new().read(true).write(true).open(dir.join("f")).unwrap();
    let reads = File::open(dir.join("f")).unwrap();
    let (fd, only_reads) = (file.as_raw_fd(), reads.as_raw_fd());
    let one = libc::iovec { iov_base: null_mut(), iov_len: 3 };
    let places: [*mut c_void; 3] = [
        null_mut(),
        std::ptr::without_provenance_mut(8),
        std::ptr::without_provenance_mut(!0 << 12),
    ];
    for place in places {
        see(libc_call!(write(fd, place, 4)));
        see(libc_call!(write(fd, place, 0)));
        see(libc_call!(pwrite(fd, place, 4, 1)));
        see(libc_call!(write(only_reads, place, 4)));
        see(libc_call!(read(fd, place, 4)));
        see(libc_call!(read(fd, place, 0)));
        see(libc_call!(pread(fd, place, 4, 1)));
        see(libc_call!(pread(fd, place, 4, 9)));
        see(libc_call!(open(place.cast(), libc::O_RDONLY)));
        see(libc_call!(mkdir(place.cast(), 0o755)));
        see(libc_call!(unlink(place.cast())));
        see(libc_call!(stat(place.cast(), null_mut())));
        see(libc_call!(access(place.cast(), libc::F_OK)));
        see(libc_call!(rename(place.cast(), path.as_ptr())));
        see(libc_call!(rename(path.as_ptr(), place.cast())));
        see(libc_call!(link(path.as_ptr(), place.cast())));
        see(libc_call!(symlink(place.cast(), path.as_ptr())));
        see(libc_call!(truncate(place.cast(), 0)));
        see(libc_call!(stat(path.as_ptr(), place.cast())));
        see(libc_call!(fstat(fd, place.cast())));
        see(libc_call!(readlink(path.as_ptr(), place.cast(), 4)));
        see(libc_call!(futimens(fd, if place.is_null() { null() } else { place.cast() })));
        see(libc_call!(writev(fd, place.cast(), 1)));
        see(libc_call!(readv(fd, place.cast(), 1)));
        see(libc_call!(fcntl(fd, libc::F_SETLK, place)));
    }
    see(libc_call!(writev(fd, &raw const one, 1)));
    see(libc_call!(preadv(fd, &raw const one, 1, 0)));
    see(shown(fs::read_to_string(dir.join("f"))));
    seen
}

#[test]
fn a_place_that_is_none_is_told() {
    check("efault", Little::default(), no_places);
}

/// What no file system of the usual kinds has.
fn what_is_not_supported(dir: &Path) -> Seen {
    let mut seen = Seen::new();
    let mut see = |what: String| seen.push(what);
    fs::write(dir.join("f"), "hello").unwrap();
    symlink("f", dir.join("s")).unwrap();
    let file = OpenOptions::new().read(true).write(true).open(dir.join("f")).unwrap();
    let reads = File::open(dir.join("f")).unwrap();
    let (fd, only_reads, dir_fd) = (file.as_raw_fd(), reads.as_raw_fd(), File::open(dir).unwrap());
    let nofollow = libc::AT_SYMLINK_NOFOLLOW;
    see(libc_call!(fallocate(fd, libc::FALLOC_FL_PUNCH_HOLE, 0, 4096)));
    see(libc_call!(fallocate(fd, 0x4000, 0, 4096)));
    see(libc_call!(fallocate(only_reads, 0x4000, 0, 4096)));
    see(libc_call!(fallocate(only_reads, 0, 0, 4096)));
    see(libc_call!(fallocate(fd, 0, -1, 4096)));
    see(libc_call!(fallocate(fd, 0, 0, 0)));
    see(libc_call!(fallocate(fd, 0, 0, -1)));
    see(libc_call!(fallocate(fd, 0, i64::MAX, 1)));
    see(libc_call!(fallocate(fd, 0x4000, 0, 0)));
    see(libc_call!(fallocate(dir_fd.as_raw_fd(), 0, 0, 1)));
    see(libc_call!(fchmodat(libc::AT_FDCWD, c(dir.join("s")).as_ptr(), 0o600, nofollow)));
    see(libc_call!(fchmodat(libc::AT_FDCWD, c(dir.join("no")).as_ptr(), 0o600, nofollow)));
    see(shown(fs::read_to_string(dir.join("f"))));
    seen
}

#[test]
fn what_no_file_system_has_is_refused() {
    check("eopnotsupp", Little::default(), what_is_not_supported);
}

/// Names do not move between two file systems.
fn two_file_systems(dir: &Path) -> Seen {
    let mut seen = Seen::new();
    let mut see = |what: String| seen.push(what);
    let shm = PathBuf::from(format!("/dev/shm/detsim-worlds-{}", std::process::id()));
    fs::create_dir(&shm).unwrap();
    let (here, there) = (|name: &str| dir.join(name), |name: &str| shm.join(name));
    fs::write(here("f"), "hello").unwrap();
    fs::create_dir(here("d")).unwrap();
    fs::write(there("g"), "there").unwrap();
    let kind = |path: &Path| fs::metadata(path).map(|known| known.dev()).unwrap();
    see(format!("{}", kind(dir) != kind(&shm) && kind(&here("f")) == kind(dir)));
    see(shown(fs::rename(here("f"), there("f"))));
    see(shown(fs::rename(here("d"), there("d"))));
    see(shown(fs::rename(there("g"), here("f"))));
    see(shown(fs::rename(here("no"), there("f"))));
    see(shown(fs::rename(here("no/f"), there("f"))));
    see(shown(fs::rename(here("f"), there("no/f"))));
    see(shown(fs::hard_link(here("f"), there("f"))));
    see(shown(fs::hard_link(here("d"), there("d"))));
    see(shown(fs::hard_link(here("f"), there("g"))));
    see(shown(fs::hard_link(here("no"), there("f"))));
    let plain = libc::RENAME_NOREPLACE;
    let (from, to) = (c(here("f")), c(there("g")));
    see(libc_call!(renameat2(-1, from.as_ptr(), -1, to.as_ptr(), plain)));
    see(shown(fs::copy(here("f"), there("f"))));
    see(shown(symlink(here("f"), there("s"))));
    see(shown(fs::read_to_string(there("s"))));
    see(shown(fs::rename(there("s"), here("s"))));
    see(shown(fs::rename(there("f"), there("f2"))));
    see(shown(fs::hard_link(there("f2"), there("f3"))));
    see(shown(fs::canonicalize(there("../.././dev/shm/")).map(|at| at.display().to_string())));
    see(shown(File::open(&shm).and_then(|dir| dir.sync_all())));
    see(shown(fs::remove_dir(here("d"))));
    let mut names: Vec<_> = fs::read_dir(&shm).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    see(format!("{names:?}"));
    see(shown(fs::remove_dir_all(&shm)));
    see(shown(fs::remove_dir("/dev/shm").map_err(|error| io::Error::from(error.kind()))));
    seen
}

#[test]
fn names_do_not_move_between_file_systems() {
    check("exdev", Little::default(), two_file_systems);
}
