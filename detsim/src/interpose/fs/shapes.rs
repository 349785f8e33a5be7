//! What the calls hand back, in the shapes of libc.
//!
//! Owns: `stat`, `statx` and `dirent` of a simulated file, and the flags of `open`. Does not own:
//! where they are written to.
//!
//! A simulated file belongs to user and group 1000, and lies on a device of its own. Its times count
//! from the first moment of the run.

use std::os::unix::ffi::OsStrExt;

use detsim_fs::{DirEntry, FileKind, Metadata, OpenFlags};
use libc::c_int;

/// The moment at which a simulation begins, in seconds since 1970.
const EPOCH_S: i64 = super::super::clock::BEGINNING.as_secs().cast_signed();
const NS_PER_S: i64 = 1_000_000_000;
const OWNER: u32 = 1000;
/// The device of the disk; those of other file systems follow.
const DEVICE: u64 = 0xDE75;
const BLOCK: u32 = 4096;
/// What a system of 64 bits says of every file; libc's own constant is 0 there.
const LARGE_FILE: c_int = if cfg!(target_arch = "aarch64") { 0o400_000 } else { 0o100_000 };

/// Seconds since 1970, and nanoseconds.
fn since_1970(ns: i64) -> (i64, i64) {
    (EPOCH_S + ns.div_euclid(NS_PER_S), ns.rem_euclid(NS_PER_S))
}

/// Nanoseconds since the simulation began.
pub(super) fn from_1970(seconds: i64, ns: i64) -> i64 {
    (seconds - EPOCH_S).saturating_mul(NS_PER_S).saturating_add(ns)
}

fn device(known: &Metadata) -> u64 {
    DEVICE + u64::from(known.file_system)
}

fn mode(known: &Metadata) -> u32 {
    let kind = match known.kind {
        FileKind::Dir => libc::S_IFDIR,
        FileKind::File => libc::S_IFREG,
        FileKind::Symlink => libc::S_IFLNK,
        FileKind::Fifo => libc::S_IFIFO,
        FileKind::Socket => libc::S_IFSOCK,
    };
    kind | known.mode
}

pub(super) fn stat(known: &Metadata) -> libc::stat64 {
    // SAFETY: every field is a number, for which zeros are a value.
    let mut stat: libc::stat64 = unsafe { std::mem::zeroed() };
    stat.st_dev = device(known);
    stat.st_ino = known.ino;
    stat.st_mode = mode(known);
    stat.st_nlink = known.links as libc::nlink_t;
    (stat.st_uid, stat.st_gid) = (OWNER, OWNER);
    stat.st_size = known.size as i64;
    stat.st_blksize = BLOCK as _;
    stat.st_blocks = known.blocks as i64;
    (stat.st_atime, stat.st_atime_nsec) = since_1970(known.times.read_ns);
    (stat.st_mtime, stat.st_mtime_nsec) = since_1970(known.times.written_ns);
    (stat.st_ctime, stat.st_ctime_nsec) = since_1970(known.times.changed_ns);
    stat
}

pub(super) fn statx(known: &Metadata) -> libc::statx {
    // SAFETY: every field is a number, for which zeros are a value.
    let mut stat: libc::statx = unsafe { std::mem::zeroed() };
    let time = |to: &mut libc::statx_timestamp, ns| {
        let (seconds, ns) = since_1970(ns);
        (to.tv_sec, to.tv_nsec) = (seconds, ns as u32);
    };
    stat.stx_mask = libc::STATX_BASIC_STATS | libc::STATX_BTIME;
    stat.stx_blksize = BLOCK;
    stat.stx_nlink = known.links;
    (stat.stx_uid, stat.stx_gid) = (OWNER, OWNER);
    stat.stx_mode = mode(known) as u16;
    stat.stx_ino = known.ino;
    stat.stx_size = known.size;
    stat.stx_blocks = known.blocks;
    let device = device(known);
    (stat.stx_dev_major, stat.stx_dev_minor) = ((device >> 8) as u32, (device & 0xFF) as u32);
    time(&mut stat.stx_atime, known.times.read_ns);
    time(&mut stat.stx_mtime, known.times.written_ns);
    time(&mut stat.stx_ctime, known.times.changed_ns);
    time(&mut stat.stx_btime, known.times.born_ns);
    stat
}

pub(super) fn dirent(entry: &DirEntry) -> libc::dirent64 {
    // SAFETY: every field is a number, for which zeros are a value.
    let mut dirent: libc::dirent64 = unsafe { std::mem::zeroed() };
    dirent.d_ino = entry.ino;
    dirent.d_reclen = size_of::<libc::dirent64>() as u16;
    dirent.d_type = match entry.kind {
        FileKind::Dir => libc::DT_DIR,
        FileKind::File => libc::DT_REG,
        FileKind::Symlink => libc::DT_LNK,
        FileKind::Fifo => libc::DT_FIFO,
        FileKind::Socket => libc::DT_SOCK,
    };
    for (to, from) in dirent.d_name.iter_mut().zip(entry.name.as_bytes()) {
        *to = from.cast_signed() as libc::c_char;
    }
    dirent
}

/// What the flags of `open` mean.
pub(super) fn open_flags(bits: c_int) -> OpenFlags {
    let has = |flag: c_int| bits & flag == flag;
    let access = bits & libc::O_ACCMODE;
    let writes = access == libc::O_WRONLY || access == libc::O_RDWR;
    let path_only = has(libc::O_PATH);
    OpenFlags {
        read: !path_only && (access == libc::O_RDONLY || access == libc::O_RDWR),
        write: !path_only && writes,
        append: writes && has(libc::O_APPEND),
        create: !path_only && has(libc::O_CREAT),
        exclusive: has(libc::O_EXCL),
        truncate: !path_only && has(libc::O_TRUNC),
        directory: has(libc::O_DIRECTORY),
        nofollow: has(libc::O_NOFOLLOW),
        path_only,
        data_sync: has(libc::O_DSYNC),
        sync: has(libc::O_SYNC),
        direct: has(libc::O_DIRECT),
    }
}

/// The flags of `open` again, as `fcntl(F_GETFL)` gives them.
pub(super) fn bits(flags: OpenFlags) -> c_int {
    if flags.path_only {
        return libc::O_PATH;
    }
    let access = match (flags.read, flags.writes()) {
        (true, true) => libc::O_RDWR,
        (false, true) => libc::O_WRONLY,
        _ => libc::O_RDONLY,
    };
    let named = [
        (flags.append, libc::O_APPEND),
        (flags.data_sync, libc::O_DSYNC),
        (flags.sync, libc::O_SYNC),
        (flags.direct, libc::O_DIRECT),
    ];
    let large = access | LARGE_FILE;
    named.iter().filter(|(is_set, _)| *is_set).fold(large, |bits, (_, bit)| bits | bit)
}
