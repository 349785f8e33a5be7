//! What std has no function for, and what other crates call by the names without a 64: one program on the
//! real system and in a run, with equal outcomes.

use std::ffi::{CStr, CString};
use std::fs::{self, File, OpenOptions};
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use detsim_executor::Sim;
use libc::{AT_FDCWD, c_int, c_void};

type Seen = Vec<String>;

fn c(path: impl AsRef<Path>) -> CString {
    CString::new(path.as_ref().as_os_str().as_bytes()).unwrap()
}

/// What a call gave, with the number of its error.
fn shown(name: &str, gave: impl TryInto<i64>) -> String {
    match gave.try_into().unwrap_or(i64::MAX) {
        -1 => {
            let errno = std::io::Error::last_os_error().raw_os_error();
            format!("{name}: error {errno:?}")
        }
        gave => format!("{name}: {gave}"),
    }
}

/// What a call gave that opens a file, which is closed.
fn opened(name: &str, fd: c_int) -> String {
    let said = shown(name, fd.min(3));
    // SAFETY: the descriptor is nobody else's.
    drop((fd >= 0).then(|| unsafe { std::os::fd::OwnedFd::from_raw_fd(fd) }));
    said
}

/// Makes calls, and notes what each gave.
macro_rules! calls {
    ($see:ident; $( $name:ident($($argument:expr),* $(,)?); )+) => { $(
        // SAFETY: paths end in zeros, places are valid for their lengths.
        let gave = unsafe { libc::$name($($argument),*) };
        $see.push(shown(stringify!($name), gave));
    )+ };
}

/// A null pointer to whatever a call wants.
fn nothing<T>() -> *mut T {
    std::ptr::null_mut()
}

fn files(dir: &Path) -> Seen {
    let mut seen = Seen::new();
    let path = c(dir.join("f"));
    fs::write(dir.join("f"), b"0123456789").unwrap();
    let file = OpenOptions::new().read(true).write(true).open(dir.join("f")).unwrap();
    let reads = File::open(dir.join("f")).unwrap();
    let (fd, only_reads) = (file.as_raw_fd(), reads.as_raw_fd());
    let mut buf = [b'-'; 8];
    let place = buf.as_mut_ptr().cast::<c_void>();
    // SAFETY: zeros are a value of each.
    let (mut stat, mut room): (libc::stat, libc::statvfs) = unsafe { std::mem::zeroed() };
    calls! { seen;
        pread(fd, place, 4, 8);
        pread(fd, place, 4, -1);
        pwrite(fd, c"AB".as_ptr().cast(), 2, 3);
        pwrite(only_reads, c"AB".as_ptr().cast(), 2, 3);
        lseek(fd, 2, libc::SEEK_SET);
        lseek(fd, -3, libc::SEEK_CUR);
        lseek(fd, 0, 77);
        read(fd, place, 3);
        ftruncate(fd, 5);
        ftruncate(fd, -1);
        ftruncate(only_reads, 5);
        fstat(fd, &raw mut stat);
        truncate(path.as_ptr(), 3);
        truncate(c(dir).as_ptr(), 3);
        truncate(c(dir.join("no")).as_ptr(), 3);
        stat(path.as_ptr(), &raw mut stat);
        lstat(path.as_ptr(), &raw mut stat);
        fallocate(fd, 0, 0, 9);
        fallocate(fd, 0, 0, 0);
        fallocate(only_reads, 0, 0, 9);
        posix_fallocate(fd, 0, 12);
        posix_fallocate(only_reads, 0, 12);
        posix_fadvise(fd, 0, 0, libc::POSIX_FADV_DONTNEED);
        sync_file_range(fd, 0, 5, libc::SYNC_FILE_RANGE_WRITE);
        syncfs(fd);
        fstatvfs(fd, &raw mut room);
        statvfs(path.as_ptr(), &raw mut room);
        ioctl(fd, libc::TIOCGWINSZ, place);
        isatty(fd);
        chmod(path.as_ptr(), 0o640);
        chown(path.as_ptr(), u32::MAX, u32::MAX);
        access(path.as_ptr(), libc::R_OK | libc::W_OK);
        access(path.as_ptr(), libc::X_OK);
    }
    // SAFETY: the path ends in a zero.
    seen.push(opened("creat", unsafe { libc::creat(path.as_ptr(), 0o600) }));
    calls! { seen; stat(path.as_ptr(), &raw mut stat); }
    seen.push(format!("{} {:o} {:?}", stat.st_size, stat.st_mode, &buf));
    seen.push(format!("{}", room.f_bavail > 0 && room.f_bsize == 4096));
    seen
}

fn parts(dir: &Path) -> Seen {
    let mut seen = Seen::new();
    let file = OpenOptions::new().read(true).append(true).create(true).open(dir.join("f")).unwrap();
    let fd = file.as_raw_fd();
    let part = |bytes: &[u8]| libc::iovec {
        iov_base: bytes.as_ptr().cast_mut().cast(),
        iov_len: bytes.len(),
    };
    let from = [part(b"abc"), part(b""), part(b"defg")];
    let (one, two) = ([b'-'; 2], [b'-'; 9]);
    let to = [part(&one), part(&two)];
    calls! { seen;
        writev(fd, from.as_ptr(), 3);
        pwritev(fd, from.as_ptr(), 2, 0);
        writev(fd, from.as_ptr(), -1);
        writev(fd, from.as_ptr(), 0);
        preadv(fd, to.as_ptr(), 2, 3);
        preadv(fd, to.as_ptr(), 2, -1);
        preadv(fd, to.as_ptr(), 2, 99);
    }
    seen.push(format!("{one:?} {two:?} {:?}", fs::read(dir.join("f")).unwrap()));
    seen
}

fn within_directories(dir: &Path) -> Seen {
    let mut seen = Seen::new();
    fs::create_dir(dir.join("d")).unwrap();
    fs::create_dir(dir.join("e")).unwrap();
    fs::write(dir.join("d/f"), b"hello").unwrap();
    let (d, e) = (File::open(dir.join("d")).unwrap(), File::open(dir.join("e")).unwrap());
    let (d, e, file) = (d.as_raw_fd(), e.as_raw_fd(), File::open(dir.join("d/f")).unwrap());
    let mut target = [0_i8; 9];
    // SAFETY: zeros are a value of it.
    let mut stat: libc::stat = unsafe { std::mem::zeroed() };
    let times = [libc::timespec { tv_sec: 5, tv_nsec: 6 }; 2];
    calls! { seen;
        linkat(d, c"f".as_ptr(), e, c"g".as_ptr(), 0);
        renameat(d, c"f".as_ptr(), e, c"h".as_ptr());
        renameat(d, c"f".as_ptr(), e, c"h".as_ptr());
        renameat2(e, c"g".as_ptr(), e, c"h".as_ptr(), libc::RENAME_NOREPLACE);
        mkdirat(d, c"sub".as_ptr(), 0o755);
        mkdirat(d, c"sub".as_ptr(), 0o755);
        symlinkat(c"../e/h".as_ptr(), d, c"s".as_ptr());
        readlinkat(d, c"s".as_ptr(), target.as_mut_ptr().cast(), 9);
        readlinkat(e, c"h".as_ptr(), target.as_mut_ptr().cast(), 9);
        linkat(d, c"s".as_ptr(), d, c"t".as_ptr(), libc::AT_SYMLINK_FOLLOW);
        fstatat(d, c"t".as_ptr(), &raw mut stat, libc::AT_SYMLINK_NOFOLLOW);
        faccessat(d, c"s".as_ptr(), libc::R_OK, 0);
        faccessat(d, c"none".as_ptr(), libc::F_OK, 0);
        fchmodat(d, c"t".as_ptr(), 0o600, 0);
        fchownat(d, c"t".as_ptr(), u32::MAX, u32::MAX, libc::AT_SYMLINK_NOFOLLOW);
        utimensat(d, c"t".as_ptr(), times.as_ptr(), 0);
        utimensat(d, c"none".as_ptr(), times.as_ptr(), 0);
        fstatat(d, c"t".as_ptr(), &raw mut stat, 0);
        unlinkat(d, c"sub".as_ptr(), 0);
        unlinkat(d, c"sub".as_ptr(), libc::AT_REMOVEDIR);
        unlinkat(file.as_raw_fd(), c"x".as_ptr(), 0);
        openat(AT_FDCWD, c"".as_ptr(), libc::O_RDONLY);
        unlinkat(e, c"h".as_ptr(), 0);
        unlinkat(d, c"s".as_ptr(), 0);
    }
    // SAFETY: the path ends in a zero.
    seen.push(opened("openat", unsafe { libc::openat(d, c"t".as_ptr(), libc::O_RDONLY) }));
    seen.push(format!("{:o} {} {} {target:?}", stat.st_mode, stat.st_mtime, stat.st_nlink));
    seen.push(format!("{}", dir.join("e/g").exists()));
    seen
}

fn streams(dir: &Path) -> Seen {
    let mut names = Vec::new();
    for name in ["a", "b"] {
        fs::write(dir.join(name), b"").unwrap();
    }
    // SAFETY: the stream is open until it is closed, the names end in zeros.
    unsafe {
        let stream = libc::opendir(c(dir).as_ptr());
        for _ in 0..2 {
            loop {
                let entry = libc::readdir(stream);
                if entry.is_null() {
                    break;
                }
                names.push(format!("{:?}", CStr::from_ptr((&raw const (*entry).d_name).cast())));
            }
            libc::rewinddir(stream);
        }
        libc::closedir(stream);
    }
    // The dots are listed by some systems alone.
    names.retain(|name| !name.contains('.'));
    names.sort();
    names
}

fn refusals(dir: &Path) -> Seen {
    let mut seen = Seen::new();
    let file = File::create(dir.join("f")).unwrap();
    // SAFETY: the call takes a descriptor.
    let no_stream = unsafe { libc::fdopendir(file.as_raw_fd()) }.is_null();
    seen.push(shown("fdopendir", if no_stream { -1 } else { 0 }));
    calls! { seen;
        fchdir(file.as_raw_fd());
        flock(file.as_raw_fd(), 0);
        fcntl(file.as_raw_fd(), libc::F_GETFL);
        mkdir(c(dir.join("f/d")).as_ptr(), 0o755);
        rmdir(c(dir.join("f")).as_ptr());
        statvfs(c(dir.join("none")).as_ptr(), nothing());
    }
    seen
}

#[test]
fn libc_does_in_a_run_what_it_does_on_a_real_disk() {
    super::link_in();
    let programs: [fn(&Path) -> Seen; 5] = [files, parts, within_directories, streams, refusals];
    for (number, program) in programs.into_iter().enumerate() {
        let name = format!("detsim-libc-{}-{number}", std::process::id());
        let real = std::env::temp_dir().join(name);
        fs::create_dir(&real).unwrap();
        let expected = program(&real);
        fs::remove_dir_all(&real).unwrap();
        let inside = Sim::new(7).block_on(async move {
            fs::create_dir("/data").unwrap();
            program(Path::new("/data"))
        });
        let inside = inside.unwrap();
        let pairs = inside.iter().zip(&expected).filter(|(inside, real)| inside != real);
        assert_eq!(Vec::from_iter(pairs), [], "in a run, and on the real disk");
        assert_eq!(inside.len(), expected.len());
    }
}

/// What would go past the simulation is refused.
#[test]
fn what_is_no_part_of_a_run_is_refused() {
    super::link_in();
    let seen = Sim::new(7).block_on(async {
        let mut seen = Seen::new();
        let file = File::create("/f").unwrap();
        let fd: c_int = file.as_raw_fd();
        calls! { seen;
            dup2(fd, 77);
            chroot(c"/".as_ptr());
            splice(fd, nothing(), fd, nothing(), 1, 0);
        }
        // SAFETY: a mapping that is refused is none.
        let mapped = unsafe { libc::mmap(nothing(), 1, libc::PROT_READ, libc::MAP_SHARED, fd, 0) };
        seen.push(shown("mmap", if mapped == libc::MAP_FAILED { -1 } else { 0 }));
        let before = {
            // SAFETY: the call takes a number.
            unsafe { libc::umask(0o077) }
        };
        drop(File::create("/g").unwrap());
        let mode =
            std::os::unix::fs::PermissionsExt::mode(&fs::metadata("/g").unwrap().permissions());
        seen.push(format!("{before:o} {mode:o}"));
        seen
    });
    expect_test::expect![[r#"
        [
            "dup2: error Some(9)",
            "chroot: error Some(1)",
            "splice: error Some(22)",
            "mmap: error Some(19)",
            "22 100600",
        ]
    "#]]
    .assert_debug_eq(&seen.unwrap());
}
