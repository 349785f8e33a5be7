//! Calls that few programs make: files without a name, holes, copies within the system, flags that mean nothing,
//! directories that are gone while somebody stands in them.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::mem::zeroed;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::{FileExt, MetadataExt, symlink};
use std::path::Path;
use std::ptr::null_mut;

use libc::{AT_EMPTY_PATH, AT_FDCWD, AT_SYMLINK_FOLLOW, AT_SYMLINK_NOFOLLOW, c_int};

use super::{Little, Seen, c, check, gave, libc_call, shown};

fn both(path: impl AsRef<Path>) -> File {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).unwrap()
}

/// Opens by libc, with these flags.
fn open(path: impl AsRef<Path>, flags: c_int, mode: u32) -> std::io::Result<OwnedFd> {
    // SAFETY: the path ends in a zero; the descriptor is nobody else's.
    unsafe {
        let fd = gave(libc::open(c(path).as_ptr(), flags, mode))?;
        Ok(OwnedFd::from_raw_fd(fd as c_int))
    }
}

fn opened(path: impl AsRef<Path>, flags: c_int) -> String {
    format!("open {flags:o}: {}", shown(open(path, flags, 0o644).map(drop)))
}

/// A file that has no name, and gets one.
fn files_without_a_name(dir: &Path) -> Seen {
    let mut seen = Seen::new();
    let mut see = |what: String| seen.push(what);
    let at = |name: &str| dir.join(name);
    fs::write(at("f"), "x").unwrap();
    let nameless = |flags| open(dir, libc::O_TMPFILE | flags, 0o640).map(File::from);
    see(shown(nameless(libc::O_RDONLY).map(drop)));
    see(opened(at("f"), libc::O_TMPFILE | libc::O_RDWR));
    see(opened(at("no"), libc::O_TMPFILE | libc::O_RDWR));
    see(opened(dir, libc::O_TMPFILE | libc::O_RDWR | libc::O_CREAT));
    let mut file = nameless(libc::O_RDWR).unwrap();
    see(shown(file.write(b"hello")));
    let known = |file: &File| file.metadata().map(|m| (m.len(), m.nlink(), m.mode()));
    see(shown(known(&file)));
    see(shown(fs::read_dir(dir).map(Iterator::count)));
    see(libc_call!(linkat(
        file.as_raw_fd(),
        c"".as_ptr(),
        AT_FDCWD,
        c(at("g")).as_ptr(),
        AT_EMPTY_PATH
    )));
    see(libc_call!(linkat(
        file.as_raw_fd(),
        c"".as_ptr(),
        AT_FDCWD,
        c(at("g")).as_ptr(),
        AT_EMPTY_PATH
    )));
    see(shown(known(&file)));
    see(shown(fs::read_to_string(at("g"))));
    let kept = nameless(libc::O_WRONLY | libc::O_EXCL).unwrap();
    see(libc_call!(linkat(
        kept.as_raw_fd(),
        c"".as_ptr(),
        AT_FDCWD,
        c(at("h")).as_ptr(),
        AT_EMPTY_PATH
    )));
    let by_proc = nameless(libc::O_RDWR).unwrap();
    see(shown((&by_proc).write(b"by its number")));
    let name = c(format!("/proc/self/fd/{}", by_proc.as_raw_fd()));
    see(libc_call!(linkat(
        AT_FDCWD,
        name.as_ptr(),
        AT_FDCWD,
        c(at("p")).as_ptr(),
        AT_SYMLINK_FOLLOW
    )));
    see(shown(fs::read_to_string(at("p"))));
    let gone = both(at("gone"));
    fs::remove_file(at("gone")).unwrap();
    see(libc_call!(linkat(
        gone.as_raw_fd(),
        c"".as_ptr(),
        AT_FDCWD,
        c(at("back")).as_ptr(),
        AT_EMPTY_PATH
    )));
    see(libc_call!(linkat(AT_FDCWD, c(at("f")).as_ptr(), AT_FDCWD, c(at("i")).as_ptr(), 0x8000)));
    seen
}

#[test]
fn a_file_without_a_name_gets_one() {
    check("tmpfile", Little::default(), files_without_a_name);
}

/// Where a file has bytes, and where it has none.
fn holes(dir: &Path) -> Seen {
    let mut seen = Seen::new();
    let mut see = |what: String| seen.push(what);
    let file = both(dir.join("f"));
    let fd = file.as_raw_fd();
    see(libc_call!(lseek(fd, 0, libc::SEEK_DATA)));
    see(libc_call!(lseek(fd, 0, libc::SEEK_HOLE)));
    file.write_at(&[1; 4096], 2 * 4096).unwrap();
    file.write_at(&[1; 10], 5 * 4096 + 7).unwrap();
    file.set_len(9 * 4096 + 5).unwrap();
    for at in [-1, 0, 4096, 8192, 8193, 12288, 20480, 20490, 24575, 24576, 36868, 36869, 40960] {
        see(format!("{at} {}", libc_call!(lseek(fd, at, libc::SEEK_DATA))));
        see(format!("{at} {}", libc_call!(lseek(fd, at, libc::SEEK_HOLE))));
    }
    see(libc_call!(lseek(fd, 0, libc::SEEK_CUR)));
    let modes =
        [libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE, libc::FALLOC_FL_KEEP_SIZE, 0];
    for (place, mode) in (0..).zip(modes) {
        see(libc_call!(fallocate(fd, mode, 8 * 1024 + place * 13, 3000)));
        see(shown(file.metadata().map(|m| (m.len(), m.blocks()))));
    }
    see(libc_call!(fallocate(fd, modes[0], 2 * 4096, 4096)));
    see(libc_call!(lseek(fd, 0, libc::SEEK_DATA)));
    see(libc_call!(fallocate(fd, modes[0], 9 * 4096, 1 << 20)));
    see(libc_call!(fallocate(fd, modes[0], 1 << 30, 1 << 20)));
    see(shown(file.metadata().map(|m| (m.len(), m.blocks()))));
    let mut bytes = vec![9; 10 * 4096];
    see(shown(file.read_at(&mut bytes, 0)));
    let there: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at] == 1).collect();
    see(format!("{} {:?} {:?}", there.len(), there.first(), there.last()));
    see(libc_call!(fallocate(fd, libc::FALLOC_FL_KEEP_SIZE, 1 << 20, 8192)));
    see(shown(file.metadata().map(|m| (m.len(), m.blocks()))));
    see(shown(file.set_len(5)));
    see(shown(file.metadata().map(|m| (m.len(), m.blocks()))));
    see(libc_call!(lseek(File::open(dir).unwrap().as_raw_fd(), 0, 77)));
    seen
}

#[test]
fn holes_are_told_from_bytes() {
    // How many blocks a file takes is each file system's own business: this is one that is known.
    check("holes", Little { disk_bytes: Some(64 << 20), ..Little::default() }, holes);
}

/// Copies that the system makes.
fn copies_within_the_system(dir: &Path) -> Seen {
    let mut seen = Seen::new();
    let mut see = |what: String| seen.push(what);
    fs::write(dir.join("from"), "0123456789").unwrap();
    let (mut from, mut to) = (both(dir.join("from")), both(dir.join("to")));
    let reads = File::open(dir.join("to")).unwrap();
    let appends = OpenOptions::new().append(true).open(dir.join("to")).unwrap();
    let (f, t) = (from.as_raw_fd(), to.as_raw_fd());
    let mut at: i64 = 3;
    see(libc_call!(copy_file_range(f, null_mut(), t, null_mut(), 4, 0)));
    see(libc_call!(copy_file_range(f, &raw mut at, t, null_mut(), 100, 0)));
    see(format!("{at} {:?} {:?}", from.stream_position(), to.stream_position()));
    see(libc_call!(copy_file_range(f, &raw mut at, t, null_mut(), 100, 0)));
    see(shown(fs::read_to_string(dir.join("to"))));
    at = 2;
    see(libc_call!(copy_file_range(f, null_mut(), t, &raw mut at, 2, 0)));
    see(format!("{at} {}", shown(fs::read_to_string(dir.join("to")))));
    at = -1;
    see(libc_call!(copy_file_range(f, &raw mut at, t, null_mut(), 2, 0)));
    at = 0;
    see(libc_call!(copy_file_range(f, &raw mut at, t, null_mut(), 2, 1)));
    see(libc_call!(copy_file_range(f, &raw mut at, reads.as_raw_fd(), null_mut(), 2, 0)));
    see(libc_call!(copy_file_range(f, &raw mut at, appends.as_raw_fd(), null_mut(), 2, 0)));
    see(libc_call!(copy_file_range(f, &raw mut at, f, null_mut(), 8, 0)));
    at = 5;
    from.seek(SeekFrom::Start(0)).unwrap();
    see(libc_call!(copy_file_range(f, &raw mut at, f, null_mut(), 3, 0)));
    see(shown(fs::read_to_string(dir.join("from"))));
    see(libc_call!(copy_file_range(f, null_mut(), t, null_mut(), 0, 0)));
    let open = File::open(dir).unwrap();
    see(libc_call!(copy_file_range(open.as_raw_fd(), null_mut(), t, null_mut(), 1, 0)));
    see(libc_call!(copy_file_range(-1, null_mut(), t, null_mut(), 1, 0)));
    from.seek(SeekFrom::Start(4)).unwrap();
    to.set_len(0).unwrap();
    to.seek(SeekFrom::Start(0)).unwrap();
    at = 1;
    see(libc_call!(sendfile(t, f, &raw mut at, 3)));
    see(format!("{at} {:?} {:?}", from.stream_position(), to.stream_position()));
    see(libc_call!(sendfile(t, f, null_mut(), 100)));
    see(libc_call!(sendfile(t, f, null_mut(), 100)));
    see(format!("{:?} {}", from.stream_position(), shown(fs::read_to_string(dir.join("to")))));
    see(libc_call!(sendfile(reads.as_raw_fd(), f, null_mut(), 1)));
    see(libc_call!(sendfile(appends.as_raw_fd(), f, null_mut(), 1)));
    let (mut ours, theirs) = std::io::pipe().unwrap();
    at = 0;
    see(libc_call!(sendfile(theirs.as_raw_fd(), f, &raw mut at, 6)));
    drop(theirs);
    let mut text = String::new();
    see(shown(ours.read_to_string(&mut text)));
    see(text);
    seen
}

#[test]
fn the_system_copies() {
    check("copies", Little::default(), copies_within_the_system);
}

/// Flags of `open` that go together with few others.
fn odd_flags_of_open(dir: &Path) -> Seen {
    use libc::{O_APPEND, O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_PATH, O_RDONLY, O_RDWR};
    use libc::{O_TRUNC, O_WRONLY};
    let mut seen = Seen::new();
    let mut see = |what: String| seen.push(what);
    let at = |name: &str| dir.join(name);
    fs::write(at("f"), "hello").unwrap();
    fs::create_dir(at("d")).unwrap();
    symlink("f", at("s")).unwrap();
    symlink("none", at("dangling")).unwrap();
    symlink("d", at("to_d")).unwrap();
    let sets = [
        O_RDONLY,
        O_WRONLY,
        O_DIRECTORY,
        O_NOFOLLOW,
        O_PATH,
        O_PATH | O_NOFOLLOW,
        O_PATH | O_CREAT,
        O_PATH | O_TRUNC | O_RDWR,
        O_PATH | O_DIRECTORY,
        O_EXCL,
        O_CREAT,
        O_CREAT | O_EXCL,
        O_CREAT | O_NOFOLLOW,
        O_CREAT | O_DIRECTORY,
        O_NOFOLLOW | O_DIRECTORY,
        O_APPEND,
        O_WRONLY | O_APPEND,
    ];
    for name in ["f", "f/", "d", "d/", "s", "s/", "dangling", "to_d", "to_d/", "f/x", ""] {
        for flags in sets {
            see(format!("{name:?} {}", opened(at(name), flags)));
        }
        for made in ["none", "f/x"] {
            let _there = fs::remove_file(at(made));
        }
    }
    see(opened(at("f"), O_TRUNC));
    see(shown(fs::metadata(at("f")).map(|m| m.len())));
    let flags = |name: &str, flags| {
        let file = open(at(name), flags, 0o600).unwrap();
        // SAFETY: the call takes a descriptor.
        shown(
            gave(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETFL) })
                .map(|bits| format!("{bits:o}")),
        )
    };
    for set in [O_RDONLY, O_RDWR, O_WRONLY | O_APPEND, O_PATH, libc::O_SYNC | O_RDWR, libc::O_DSYNC]
    {
        see(flags("f", set));
    }
    let link = open(at("s"), O_PATH | O_NOFOLLOW, 0).unwrap();
    let mut target = [0_u8; 9];
    see(shown(File::from(link.try_clone().unwrap()).metadata().map(|m| (m.is_symlink(), m.len()))));
    see(libc_call!(readlinkat(link.as_raw_fd(), c"".as_ptr(), target.as_mut_ptr().cast(), 9)));
    see(libc_call!(readlinkat(AT_FDCWD, c"".as_ptr(), target.as_mut_ptr().cast(), 9)));
    see(libc_call!(fchmod(link.as_raw_fd(), 0o600)));
    see(libc_call!(read(link.as_raw_fd(), target.as_mut_ptr().cast(), 9)));
    see(libc_call!(lseek(link.as_raw_fd(), 0, libc::SEEK_SET)));
    see(libc_call!(flock(link.as_raw_fd(), libc::LOCK_SH)));
    see(libc_call!(futimens(link.as_raw_fd(), std::ptr::null())));
    see(libc_call!(fdatasync(link.as_raw_fd())));
    seen
}

#[test]
fn flags_of_open_mean_what_they_mean() {
    check("open", Little::default(), odd_flags_of_open);
}

/// Flags of other calls, and arguments out of range.
fn odd_arguments(dir: &Path) -> Seen {
    let mut seen = Seen::new();
    let mut see = |what: String| seen.push(what);
    let at = |name: &str| c(dir.join(name));
    fs::write(dir.join("f"), "hello").unwrap();
    fs::create_dir(dir.join("d")).unwrap();
    symlink("f", dir.join("s")).unwrap();
    symlink("none", dir.join("dangling")).unwrap();
    let file = both(dir.join("f"));
    let fd = file.as_raw_fd();
    let open_dir = File::open(dir).unwrap();
    // SAFETY: zeros are a value of both.
    let (mut stat, mut statx): (libc::stat, libc::statx) = unsafe { (zeroed(), zeroed()) };
    let (s, x) = (&raw mut stat, &raw mut statx);
    see(libc_call!(unlinkat(AT_FDCWD, at("f").as_ptr(), 1)));
    see(libc_call!(unlinkat(AT_FDCWD, at("f").as_ptr(), libc::AT_REMOVEDIR)));
    see(libc_call!(unlinkat(fd, c"x".as_ptr(), 0)));
    see(libc_call!(unlinkat(-1, c"x".as_ptr(), 0)));
    see(libc_call!(mkdirat(fd, c"x".as_ptr(), 0o755)));
    see(libc_call!(mkdirat(-1, at("made").as_ptr(), 0o1777)));
    see(libc_call!(mkdirat(open_dir.as_raw_fd(), c"".as_ptr(), 0o755)));
    see(libc_call!(fstatat(open_dir.as_raw_fd(), c"".as_ptr(), s, 0)));
    see(libc_call!(fstatat(fd, c"".as_ptr(), s, AT_EMPTY_PATH)));
    see(libc_call!(fstatat(fd, c"x".as_ptr(), s, 0)));
    see(libc_call!(fstatat(AT_FDCWD, at("f").as_ptr(), s, 0x4_0000)));
    see(libc_call!(statx(AT_FDCWD, at("f").as_ptr(), 0, 1 << 31, x)));
    see(libc_call!(statx(AT_FDCWD, at("f").as_ptr(), 0x6000, libc::STATX_SIZE, x)));
    see(libc_call!(statx(fd, c"".as_ptr(), AT_EMPTY_PATH, libc::STATX_BASIC_STATS, x)));
    see(format!(
        "{} {:o} {} {}",
        statx.stx_size, statx.stx_mode, statx.stx_nlink, statx.stx_blksize
    ));
    see(libc_call!(access(at("f").as_ptr(), 8)));
    see(libc_call!(access(at("dangling").as_ptr(), libc::F_OK)));
    see(libc_call!(faccessat(AT_FDCWD, at("dangling").as_ptr(), libc::F_OK, AT_SYMLINK_NOFOLLOW)));
    see(libc_call!(faccessat(AT_FDCWD, at("f").as_ptr(), libc::R_OK, libc::AT_EACCESS)));
    see(libc_call!(faccessat(AT_FDCWD, at("f").as_ptr(), libc::R_OK, 0x1000_0000)));
    see(libc_call!(fchmodat(AT_FDCWD, at("f").as_ptr(), 0o7777, 0)));
    see(shown(fs::metadata(dir.join("f")).map(|m| format!("{:o}", m.mode()))));
    see(libc_call!(chmod(at("d").as_ptr(), 0o1700)));
    see(shown(fs::metadata(dir.join("d")).map(|m| format!("{:o}", m.mode()))));
    let (rename, one, two) = (libc::RENAME_NOREPLACE, at("f"), at("d"));
    see(libc_call!(renameat2(AT_FDCWD, one.as_ptr(), AT_FDCWD, two.as_ptr(), rename)));
    see(libc_call!(renameat2(AT_FDCWD, one.as_ptr(), AT_FDCWD, at("g").as_ptr(), 0x80)));
    let wrong = rename | libc::RENAME_EXCHANGE;
    see(libc_call!(renameat2(AT_FDCWD, one.as_ptr(), AT_FDCWD, two.as_ptr(), wrong)));
    see(shown(fs::metadata(dir.join("d")).map(|m| m.len())));
    see(shown(fs::metadata(dir.join("f")).map(|m| m.is_dir())));
    let time = |nsec| [libc::timespec { tv_sec: -5, tv_nsec: nsec }; 2];
    for nsec in [7, libc::UTIME_OMIT, libc::UTIME_NOW, 1_000_000_000, -1] {
        let times = time(nsec);
        see(libc_call!(utimensat(AT_FDCWD, at("s").as_ptr(), times.as_ptr(), AT_SYMLINK_NOFOLLOW)));
        see(libc_call!(futimens(fd, times.as_ptr())));
        see(shown(file.metadata().map(|m| nsec != 7 || (m.mtime(), m.mtime_nsec()) == (-5, 7))));
    }
    see(libc_call!(utimensat(AT_FDCWD, at("s").as_ptr(), time(7).as_ptr(), 0x4000_0000)));
    see(libc_call!(posix_fadvise(fd, 0, 0, 77)));
    see(libc_call!(posix_fadvise(fd, 0, -1, 0)));
    see(libc_call!(sync_file_range(fd, 0, 0, 0x80)));
    see(libc_call!(sync_file_range(fd, -1, 0, 0)));
    see(libc_call!(dup(-1)));
    see(libc_call!(fcntl(fd, 12_345)));
    see(libc_call!(fcntl(fd, libc::F_SETFL, libc::O_APPEND)));
    see(shown(file.write_at(b"!", 0)));
    see(libc_call!(fcntl(fd, libc::F_SETFL, 0)));
    see(shown(file.write_at(b"?", 0)));
    see(shown(file.metadata().map(|m| m.len())));
    seen
}

#[test]
fn odd_arguments_are_told() {
    check("arguments", Little::default(), odd_arguments);
}

/// A directory that goes while the program stands in it.
fn where_the_program_stands(dir: &Path) -> Seen {
    let mut seen = Seen::new();
    let mut see = |what: String| seen.push(what);
    let here = || std::env::current_dir().map(|at| at.strip_prefix(dir).map(Path::to_owned));
    let home = std::env::current_dir().unwrap();
    fs::create_dir_all(dir.join("d/e")).unwrap();
    fs::write(dir.join("f"), "x").unwrap();
    see(shown(std::env::set_current_dir(dir.join("f"))));
    see(shown(std::env::set_current_dir(dir.join("no"))));
    see(shown(std::env::set_current_dir(dir.join("d/e/../e/"))));
    see(shown(here()));
    see(shown(fs::write("g", "here")));
    see(shown(fs::read_to_string("../e/./g")));
    see(shown(fs::rename(dir.join("d"), dir.join("moved"))));
    see(shown(here()));
    see(shown(fs::read_to_string("g")));
    let mut small = [0_u8; 4];
    // SAFETY: the place is valid for its length.
    see(format!("{}", unsafe { libc::getcwd(small.as_mut_ptr().cast(), 4) }.is_null()));
    see(shown(Err::<(), _>(std::io::Error::last_os_error())));
    fs::remove_file("g").unwrap();
    see(shown(fs::remove_dir(".")));
    see(shown(fs::remove_dir("../e")));
    see(shown(here()));
    see(shown(fs::write("g", "nowhere")));
    see(shown(fs::create_dir("x")));
    see(shown(fs::metadata(".").map(|m| (m.is_dir(), m.nlink()))));
    see(shown(fs::metadata("..").map(|m| m.is_dir())));
    see(shown(fs::read_dir(".").map(Iterator::count)));
    see(shown(fs::canonicalize(".").map(drop)));
    see(shown(fs::metadata("../e").map(drop)));
    see(shown(std::env::set_current_dir("..")));
    see(shown(here()));
    std::env::set_current_dir(home).unwrap();
    seen
}

#[test]
fn a_program_stands_in_a_directory_that_goes() {
    check("cwd", Little::default(), where_the_program_stands);
}

fn lock(kind: c_int, whence: c_int, start: i64, len: i64) -> libc::flock {
    // SAFETY: every field is a number, for which zeros are a value.
    let mut lock: libc::flock = unsafe { zeroed() };
    (lock.l_type, lock.l_whence, lock.l_start, lock.l_len) = (kind as _, whence as _, start, len);
    lock
}

/// Locks of files and of their parts.
fn odd_locks(dir: &Path) -> Seen {
    use libc::{
        F_OFD_GETLK, F_OFD_SETLK, F_RDLCK, F_SETLK, F_UNLCK, F_WRLCK, SEEK_CUR, SEEK_END, SEEK_SET,
    };
    let mut seen = Seen::new();
    let mut see = |what: String| seen.push(what);
    fs::write(dir.join("f"), "0123456789").unwrap();
    let (mut one, two) = (both(dir.join("f")), both(dir.join("f")));
    let reads = File::open(dir.join("f")).unwrap();
    one.seek(SeekFrom::Start(4)).unwrap();
    let mut ask = |file: &File, command, mut asked: libc::flock| {
        let told = libc_call!(fcntl(file.as_raw_fd(), command, &raw mut asked));
        let libc::flock { l_type, l_whence, l_start, l_len, .. } = asked;
        see(format!("{command} {told} {l_type} {l_whence} {l_start} {l_len}"));
    };
    ask(&one, F_OFD_SETLK, lock(F_WRLCK, SEEK_CUR, 1, 2));
    ask(&two, F_OFD_GETLK, lock(F_WRLCK, SEEK_SET, 0, 0));
    ask(&two, F_OFD_SETLK, lock(F_RDLCK, SEEK_SET, 0, 6));
    ask(&two, F_OFD_SETLK, lock(F_RDLCK, SEEK_SET, 0, 5));
    ask(&two, F_OFD_SETLK, lock(F_WRLCK, SEEK_END, -3, 0));
    ask(&one, F_OFD_GETLK, lock(F_RDLCK, SEEK_SET, 9, 1));
    ask(&one, F_OFD_GETLK, lock(F_RDLCK, SEEK_SET, 0, 3));
    ask(&one, F_OFD_GETLK, lock(F_WRLCK, SEEK_SET, 3, -2));
    ask(&one, F_OFD_SETLK, lock(F_WRLCK, SEEK_SET, -1, 2));
    ask(&one, F_OFD_SETLK, lock(F_WRLCK, SEEK_SET, 1, -2));
    ask(&one, F_OFD_SETLK, lock(F_WRLCK, SEEK_SET, i64::MAX, 2));
    ask(&one, F_OFD_SETLK, lock(F_WRLCK, SEEK_END, i64::MAX, 2));
    ask(&one, F_OFD_SETLK, lock(77, SEEK_SET, 0, 1));
    ask(&one, F_OFD_SETLK, lock(F_WRLCK, 77, 0, 1));
    ask(&reads, F_OFD_SETLK, lock(F_WRLCK, SEEK_SET, 100, 1));
    ask(&reads, F_OFD_SETLK, lock(F_RDLCK, SEEK_SET, 100, 1));
    ask(&two, F_OFD_SETLK, lock(F_UNLCK, SEEK_SET, 0, 0));
    ask(&one, F_OFD_SETLK, lock(F_RDLCK, SEEK_SET, 0, 0));
    ask(&two, F_OFD_GETLK, lock(F_WRLCK, SEEK_SET, 2, 3));
    let mut numbered = lock(F_WRLCK, SEEK_SET, 200, 1);
    numbered.l_pid = 1;
    ask(&one, F_OFD_SETLK, numbered);
    // The process's own locks are in nobody's way but of open files', and end with any descriptor.
    ask(&two, F_OFD_SETLK, lock(F_UNLCK, SEEK_SET, 0, 0));
    ask(&one, F_OFD_SETLK, lock(F_UNLCK, SEEK_SET, 0, 0));
    ask(&one, F_SETLK, lock(F_WRLCK, SEEK_SET, 0, 0));
    ask(&two, F_SETLK, lock(F_WRLCK, SEEK_SET, 0, 0));
    ask(&two, F_OFD_SETLK, lock(F_RDLCK, SEEK_SET, 5, 1));
    drop(File::open(dir.join("f")).unwrap());
    ask(&two, F_OFD_SETLK, lock(F_RDLCK, SEEK_SET, 5, 1));
    // Those of whole files are a world of their own.
    let try_lock = libc::LOCK_NB;
    for (file, kind) in [
        (&one, libc::LOCK_SH),
        (&two, libc::LOCK_EX),
        (&two, libc::LOCK_SH),
        (&one, libc::LOCK_EX),
        (&one, libc::LOCK_UN),
        (&two, libc::LOCK_EX),
        (&one, libc::LOCK_SH),
        (&one, libc::LOCK_SH | libc::LOCK_EX),
    ] {
        see(libc_call!(flock(file.as_raw_fd(), kind | try_lock)));
    }
    let twin = two.try_clone().unwrap();
    drop(two);
    see(libc_call!(flock(one.as_raw_fd(), libc::LOCK_SH | try_lock)));
    see(libc_call!(flock(twin.as_raw_fd(), libc::LOCK_UN)));
    see(libc_call!(flock(one.as_raw_fd(), libc::LOCK_SH | try_lock)));
    seen
}

#[test]
fn locks_of_files_and_of_their_parts() {
    check("locks", Little::default(), odd_locks);
}

/// Directories as streams of entries, to and fro.
fn streams_of_entries(dir: &Path) -> Seen {
    let mut seen = Seen::new();
    let mut see = |what: String| seen.push(what);
    for n in 0..5 {
        fs::write(dir.join(format!("f{n}")), "").unwrap();
    }
    // SAFETY: the path ends in a zero.
    let stream = unsafe { libc::opendir(c(dir).as_ptr()) };
    let name = |entry: &libc::dirent64| {
        // SAFETY: names end in zeros.
        unsafe { std::ffi::CStr::from_ptr(entry.d_name.as_ptr()) }.to_owned()
    };
    // SAFETY: the stream is open, and what it gives is there until the next call.
    let next = || unsafe { libc::readdir64(stream).as_ref().map(name) };
    // SAFETY: the stream is open.
    let rewind = || unsafe { libc::rewinddir(stream) };
    let all = std::iter::from_fn(next).collect::<Vec<_>>();
    rewind();
    let again = std::iter::from_fn(next).collect::<Vec<_>>();
    see(format!("{}", all == again));
    rewind();
    let skipped: Vec<_> = std::iter::from_fn(next).take(3).collect();
    // SAFETY: the stream is open.
    let place = unsafe { libc::telldir(stream) };
    let rest: Vec<_> = std::iter::from_fn(next).collect();
    // SAFETY: the stream is open, and the place one of its own.
    unsafe { libc::seekdir(stream, place) };
    let rest_again: Vec<_> = std::iter::from_fn(next).collect();
    see(format!("{} {}", rest == rest_again, [skipped, rest].concat() == all));
    rewind();
    // SAFETY: zeros are a value of both.
    let (mut place, mut stat): (libc::dirent64, libc::stat) = unsafe { (zeroed(), zeroed()) };
    let mut found = null_mut();
    let mut told = Vec::new();
    // SAFETY: the stream is open, both places are valid.
    while unsafe { libc::readdir64_r(stream, &raw mut place, &raw mut found) } == 0
        && !found.is_null()
    {
        told.push(name(&place));
    }
    see(format!("{}", told == all));
    // SAFETY: the stream is open.
    let fd = unsafe { libc::dirfd(stream) };
    see(libc_call!(fstat(fd, &raw mut stat)));
    see(libc_call!(closedir(stream)));
    seen
}

#[test]
fn entries_are_told_to_and_fro() {
    check("entries", Little::default(), streams_of_entries);
}
