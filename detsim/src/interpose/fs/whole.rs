//! Calls about a disk as a whole, and hints about files.
//!
//! Owns: how much room there is, `sync` and its kin, the mask of modes, and the current directory by its
//! descriptor. Invariant: a hint makes nothing durable and changes nothing that a program sees.

use std::os::fd::RawFd;
use std::rc::Rc;

use detsim_fs::{Allocation, Cost, Disks, Errno, Metadata, Outcome, Volume};
use libc::{c_char, c_int, c_uint, mode_t, off64_t};

use super::descriptors::{self, offset, simulated};
use super::paths::{look, system};
use super::{answer, disks, done, of_fd, of_path, on_file};
use crate::interpose::real::real;

type Vfs = libc::statvfs;
type Fs = libc::statfs;

const BLOCK: u64 = 4096;
/// What a disk without a limit says that it holds.
const LARGE: u64 = 1 << 44;
const NAME_MAX: u64 = 255;
/// The magic number of ext4.
const EXT4: i64 = 0xEF53;
/// The magic number of tmpfs.
const TMPFS: i64 = 0x0102_1994;

/// How much room there is.
struct Room {
    kind: i64,
    blocks: u64,
    free: u64,
}

/// The room of the file system that a file is of.
fn room(volume: &Volume, of: &Metadata) -> Room {
    if of.file_system > 0 {
        return Room { kind: TMPFS, blocks: LARGE / BLOCK, free: LARGE / BLOCK };
    }
    let (capacity, free) = volume.space();
    let taken = (capacity - free).min(LARGE) / BLOCK;
    let blocks = capacity.min(LARGE) / BLOCK;
    Room { kind: EXT4, blocks, free: blocks.saturating_sub(taken) }
}

fn as_statvfs(Room { blocks, free, .. }: Room) -> Vfs {
    // SAFETY: every field is a number, for which zeros are a value.
    let mut told: Vfs = unsafe { std::mem::zeroed() };
    (told.f_bsize, told.f_frsize, told.f_namemax) = (BLOCK, BLOCK, NAME_MAX);
    (told.f_blocks, told.f_bfree, told.f_bavail) = (blocks, free, free);
    // Names take no room.
    (told.f_files, told.f_ffree, told.f_favail) = (blocks, free, free);
    told
}

fn as_statfs(Room { kind, blocks, free }: Room) -> Fs {
    // SAFETY: every field is a number, for which zeros are a value.
    let mut told: Fs = unsafe { std::mem::zeroed() };
    told.f_type = kind as _;
    (told.f_bsize, told.f_frsize, told.f_namelen) = (BLOCK as _, BLOCK as _, NAME_MAX as _);
    (told.f_blocks, told.f_bfree, told.f_bavail) = (blocks, free, free);
    (told.f_files, told.f_ffree) = (blocks, free);
    told
}

/// A function that says how much room there is: by a path, and by a descriptor.
macro_rules! room {
    ($( $path:ident, $fd:ident, $shape:ident, $as:ident; )+) => { $(
        /// # Safety
        /// As of libc's: the path ends in a zero, `to` is valid for writes.
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $path(path: *const c_char, to: *mut $shape) -> c_int {
            // SAFETY: the caller vouches for the path.
            if let Some((disks, path)) = unsafe { of_path(path) } {
                let room = look(&disks, |volume| volume.metadata(path).map(|of| room(volume, &of)));
                // SAFETY: the caller vouches for the place.
                return done(room.map(|room| unsafe { to.write($as(room)) }));
            }
            real!($path: fn(*const c_char, *mut $shape) -> c_int, path, to)
        }

        /// # Safety
        /// As of libc's: `to` is valid for writes.
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $fd(fd: c_int, to: *mut $shape) -> c_int {
            if let Some(disks) = of_fd(fd) {
                let known = |volume: &mut Volume, handle| {
                    volume.handle_metadata(handle).map(|of| room(volume, &of))
                };
                let room = disks.and_then(|disks| disks.with(fd, known));
                // SAFETY: the caller vouches for the place.
                return done(room.map(|room| unsafe { to.write($as(room)) }));
            }
            real!($fd: fn(c_int, *mut $shape) -> c_int, fd, to)
        }
    )+ };
}

room! {
    statvfs64, fstatvfs64, Vfs, as_statvfs;
    statvfs, fstatvfs, Vfs, as_statvfs;
    statfs64, fstatfs64, Fs, as_statfs;
    statfs, fstatfs, Fs, as_statfs;
}

// ------------------------------------------------------------ syncs

fn sync_everything(disks: &Disks) -> Outcome<()> {
    disks.blocking(Cost::Sync, |disks| {
        disks.sync_everything();
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C-unwind" fn sync() {
    match disks() {
        // It has no way to say that its process is dead.
        Some(disks) => drop(sync_everything(&disks)),
        None => drop(system!(SYS_sync)),
    }
}

#[unsafe(no_mangle)]
extern "C-unwind" fn syncfs(fd: c_int) -> c_int {
    simulated!(fd, |disks| sync_everything(&disks).map(|()| 0));
    system!(SYS_syncfs, fd) as c_int
}

/// Starts the write back of a part of a file, which makes nothing durable.
#[unsafe(no_mangle)]
extern "C-unwind" fn sync_file_range(fd: c_int, at: off64_t, len: off64_t, flags: c_uint) -> c_int {
    const KNOWN: c_uint = libc::SYNC_FILE_RANGE_WAIT_BEFORE
        | libc::SYNC_FILE_RANGE_WRITE
        | libc::SYNC_FILE_RANGE_WAIT_AFTER;
    simulated!(fd, |disks| {
        if flags & !KNOWN != 0 {
            return Err(Errno::EINVAL);
        }
        offset(at)?;
        offset(len)?;
        disks.with(fd, |volume, handle| volume.flags(handle)).map(|_| 0)
    });
    system!(SYS_sync_file_range, fd, at, len, flags) as c_int
}

// ------------------------------------------------------------ hints, and room that is asked for

/// Gives the number of an error, and leaves `errno` alone.
#[unsafe(no_mangle)]
pub(super) extern "C" fn posix_fadvise64(
    fd: RawFd,
    at: off64_t,
    len: off64_t,
    advice: c_int,
) -> c_int {
    match of_fd(fd) {
        Some(disks) => {
            let known = disks.and_then(|disks| disks.with(fd, |v, handle| v.flags(handle)));
            let means = (0..=libc::POSIX_FADV_NOREUSE).contains(&advice) && len >= 0;
            known.and(if means { Ok(()) } else { Err(Errno::EINVAL) }).err().map_or(0, Errno::raw)
        }
        None => -(super::super::syscall::advise(fd, at, len, advice) as c_int),
    }
}

/// Gives the number of an error, and leaves `errno` alone.
#[unsafe(no_mangle)]
pub(super) extern "C-unwind" fn posix_fallocate64(fd: c_int, at: off64_t, len: off64_t) -> c_int {
    let Some(disks) = of_fd(fd) else {
        return real!(posix_fallocate64: fn(c_int, off64_t, off64_t) -> c_int, fd, at, len);
    };
    let grow = |disks: Rc<Disks>| {
        let (at, len) = (offset(at)?, offset(len)?);
        descriptors::allocate(&disks, fd, at, len, Allocation::Reserve { grows: true })
    };
    disks.and_then(grow).err().map_or(0, Errno::raw)
}

// ------------------------------------------------------------ the process

/// What modes of new files never have.
#[unsafe(no_mangle)]
extern "C" fn umask(mask: mode_t) -> mode_t {
    match disks() {
        Some(disks) => disks.names(|volume| volume.set_umask(mask)),
        None => system!(SYS_umask, mask) as mode_t,
    }
}

#[unsafe(no_mangle)]
extern "C-unwind" fn fchdir(fd: c_int) -> c_int {
    simulated!(fd, |disks| {
        let enter = |volume: &mut Volume, handle| {
            let dir = volume.within(handle, |volume| volume.current_dir())??;
            volume.set_current_dir(&dir)
        };
        on_file(&disks, fd, Cost::Read, enter).map(|()| 0)
    });
    system!(SYS_fchdir, fd) as c_int
}

/// See [`super::link_in`].
pub(super) fn link_in() {
    std::hint::black_box(sync as *const ());
}
