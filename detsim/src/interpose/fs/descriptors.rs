//! The functions on descriptors.
//!
//! A descriptor of a simulated disk is known by its number. One that is left over from a run that
//! has ended, or from a process that was killed, closes without a word, as the system closed it then.

use std::slice;

use detsim_executor::{OpKind, threads};
use detsim_fs::{Allocation, Cost, Disks, Errno, LockKind, Outcome, Seek, Volume};
use libc::{c_int, c_long, c_void, mode_t, off64_t, size_t, ssize_t};

use super::paths::system;
use super::{answer, disks, done, fifo, is_place, of_fd, on_file, put, shapes};
use crate::interpose::net::calls as net;
use crate::interpose::net::ready::rung;

/// Answers for a descriptor of a simulated disk, or goes on to the system.
macro_rules! simulated {
    ($fd:expr, |$disks:ident| $do:expr) => {
        if let Some(disks) = of_fd($fd) {
            let call = |$disks: std::rc::Rc<Disks>| $do;
            return answer(disks.and_then(call)) as _;
        }
    };
}
pub(super) use simulated;

// ------------------------------------------------------------ reading and writing

/// The most bytes of one call, on Linux.
const BYTES_MAX: usize = 0x7FFF_F000;

/// # Safety
/// `to` is valid for writes of `len` bytes.
unsafe fn read_into(fd: c_int, at: Option<u64>, to: *mut c_void, len: size_t) -> Option<ssize_t> {
    let disks = of_fd(fd)?;
    let read = |disks: &Disks| {
        // What lies behind the bytes that are read stays as it is.
        let len = disks.readable(fd, at, len.min(BYTES_MAX))?;
        if len == 0 || !is_place(to, len) {
            let none = disks.read(fd, at, &mut [])?;
            return if is_place(to, len) { Ok(none) } else { Err(Errno::EFAULT) };
        }
        // SAFETY: the caller vouches for the place. Its bytes may be uninitialised; they are written
        // before they are read.
        let buf = unsafe {
            to.cast::<u8>().write_bytes(0, len);
            slice::from_raw_parts_mut(to.cast::<u8>(), len)
        };
        disks.read(fd, at, buf)
    };
    Some(answer(disks.and_then(|disks| disks.blocking(Cost::Read, read))) as ssize_t)
}

/// # Safety
/// `from` is valid for reads of `len` bytes.
unsafe fn write_from(
    fd: c_int,
    at: Option<u64>,
    from: *const c_void,
    len: size_t,
) -> Option<ssize_t> {
    let disks = of_fd(fd)?;
    let bytes: &[u8] = match len {
        _ if !is_place(from, len) => {
            return Some(answer(disks.and_then(|disks| no_bytes(&disks, fd))) as ssize_t);
        }
        0 => &[],
        // SAFETY: the caller vouches for the bytes.
        _ => unsafe { slice::from_raw_parts(from.cast::<u8>(), len.min(BYTES_MAX)) },
    };
    let write = |disks: std::rc::Rc<Disks>| {
        disks.blocking(disks.cost_of_write(fd), |disks| disks.write(fd, at, bytes))
    };
    Some(answer(disks.and_then(write)) as ssize_t)
}

/// What a write gives whose bytes are nowhere.
fn no_bytes(disks: &Disks, fd: c_int) -> Outcome<c_long> {
    match disks.with(fd, |volume, handle| volume.flags(handle))?.writes() {
        true => Err(Errno::EFAULT),
        false => Err(Errno::EBADF),
    }
}

/// # Safety
/// As of libc's `read`: `to` is valid for writes of `len` bytes.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C-unwind" fn read(fd: c_int, to: *mut c_void, len: size_t) -> ssize_t {
    // SAFETY: the caller vouches for the place.
    let read = unsafe { read_into(fd, None, to, len).or_else(|| net::reads(fd, to, len)) };
    read.unwrap_or_else(|| {
        rung(fifo::in_turn(fd, OpKind::Read, || system!(SYS_read, fd, to, len))) as ssize_t
    })
}

/// # Safety
/// As of libc's `pread`.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C-unwind" fn pread64(
    fd: c_int,
    to: *mut c_void,
    len: size_t,
    at: off64_t,
) -> ssize_t {
    let offset = match offset(at) {
        Ok(offset) => offset,
        Err(errno) => return answer::<c_long>(Err(errno)) as ssize_t,
    };
    // SAFETY: the caller vouches for the place.
    let read = unsafe { read_into(fd, Some(offset), to, len) };
    read.unwrap_or_else(|| system!(SYS_pread64, fd, to, len, at) as ssize_t)
}

/// # Safety
/// As of libc's `write`: `from` is valid for reads of `len` bytes.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C-unwind" fn write(
    fd: c_int,
    from: *const c_void,
    len: size_t,
) -> ssize_t {
    // SAFETY: the caller vouches for the bytes.
    let written = unsafe { write_from(fd, None, from, len).or_else(|| net::writes(fd, from, len)) };
    written.unwrap_or_else(|| {
        rung(fifo::in_turn(fd, OpKind::Write, || system!(SYS_write, fd, from, len))) as ssize_t
    })
}

/// # Safety
/// As of libc's `pwrite`.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C-unwind" fn pwrite64(
    fd: c_int,
    from: *const c_void,
    len: size_t,
    at: off64_t,
) -> ssize_t {
    let offset = match offset(at) {
        Ok(offset) => offset,
        Err(errno) => return answer::<c_long>(Err(errno)) as ssize_t,
    };
    // SAFETY: the caller vouches for the bytes.
    let written = unsafe { write_from(fd, Some(offset), from, len) };
    written.unwrap_or_else(|| system!(SYS_pwrite64, fd, from, len, at) as ssize_t)
}

pub(super) fn offset(at: off64_t) -> Outcome<u64> {
    u64::try_from(at).map_err(|_| Errno::EINVAL)
}

// ------------------------------------------------------------ positions, sizes, syncs

#[unsafe(no_mangle)]
pub(super) extern "C" fn lseek64(fd: c_int, by: off64_t, whence: c_int) -> off64_t {
    simulated!(fd, |disks| {
        let to = match whence {
            libc::SEEK_SET => Seek::Start(offset(by)?),
            libc::SEEK_CUR => Seek::Current(by),
            libc::SEEK_END => Seek::End(by),
            libc::SEEK_DATA => Seek::Data(offset(by).map_err(|_| Errno::ENXIO)?),
            libc::SEEK_HOLE => Seek::Hole(offset(by).map_err(|_| Errno::ENXIO)?),
            _ => return Err(Errno::EINVAL),
        };
        disks.with(fd, |volume, handle| volume.seek(handle, to))
    });
    system!(SYS_lseek, fd, by, whence)
}

#[unsafe(no_mangle)]
pub(super) extern "C-unwind" fn ftruncate64(fd: c_int, size: off64_t) -> c_int {
    simulated!(fd, |disks| {
        let size = offset(size)?;
        on_file(&disks, fd, Cost::Write, |volume, handle| volume.set_len(handle, size)).map(|()| 0)
    });
    system!(SYS_ftruncate, fd, size) as c_int
}

/// Bytes that are cut out of the middle of a file, or put in there, are refused.
#[unsafe(no_mangle)]
pub(super) extern "C-unwind" fn fallocate64(
    fd: c_int,
    mode: c_int,
    at: off64_t,
    len: off64_t,
) -> c_int {
    simulated!(fd, |disks| {
        let (keeps, punches) = (libc::FALLOC_FL_KEEP_SIZE, libc::FALLOC_FL_PUNCH_HOLE);
        let grows = mode & keeps == 0;
        let (at, len) = (offset(at)?, offset(len)?);
        let allocation = match mode & !keeps {
            _ if len == 0 => return Err(Errno::EINVAL),
            0 => Allocation::Reserve { grows },
            libc::FALLOC_FL_ZERO_RANGE => Allocation::Zero { grows },
            _ if mode == punches | keeps => Allocation::Punch,
            _ => return Err(Errno::EOPNOTSUPP),
        };
        allocate(&disks, fd, at, len, allocation).map(|()| 0)
    });
    system!(SYS_fallocate, fd, mode, at, len) as c_int
}

pub(super) fn allocate(
    disks: &Disks,
    fd: c_int,
    at: u64,
    len: u64,
    allocation: Allocation,
) -> Outcome<()> {
    let allocate = |volume: &mut Volume, handle| volume.allocate(handle, at, len, allocation);
    on_file(disks, fd, Cost::Write, allocate)
}

#[unsafe(no_mangle)]
extern "C-unwind" fn fsync(fd: c_int) -> c_int {
    simulated!(fd, |disks| disks.blocking_sync(fd, false).map(|()| 0));
    system!(SYS_fsync, fd) as c_int
}

#[unsafe(no_mangle)]
extern "C-unwind" fn fdatasync(fd: c_int) -> c_int {
    simulated!(fd, |disks| disks.blocking_sync(fd, true).map(|()| 0));
    system!(SYS_fdatasync, fd) as c_int
}

// ------------------------------------------------------------ metadata

/// # Safety
/// As of libc's `fstat`: `to` is valid for writes.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C-unwind" fn fstat64(fd: c_int, to: *mut libc::stat64) -> c_int {
    simulated!(fd, |disks| {
        let known =
            on_file(&disks, fd, Cost::Read, |volume, handle| volume.handle_metadata(handle))?;
        // SAFETY: the caller vouches for the place.
        unsafe { put(to, shapes::stat(&known)) }.map(|()| 0)
    });
    system!(SYS_fstat, fd, to) as c_int
}

#[unsafe(no_mangle)]
extern "C-unwind" fn fchmod(fd: c_int, mode: mode_t) -> c_int {
    simulated!(fd, |disks| {
        let set = |volume: &mut Volume, handle| volume.set_handle_mode(handle, mode);
        on_file(&disks, fd, Cost::Write, set).map(|()| 0)
    });
    system!(SYS_fchmod, fd, mode) as c_int
}

#[unsafe(no_mangle)]
extern "C" fn fchown(fd: c_int, user: libc::uid_t, group: libc::gid_t) -> c_int {
    simulated!(fd, |disks| disks.with(fd, |volume, handle| volume.flags(handle)).map(|_| 0));
    system!(SYS_fchown, fd, user, group) as c_int
}

/// What two times mean: nanoseconds since the simulation began, `None` for one that stays.
///
/// # Safety
/// `times` is null or two of them, where it [is a place](is_place).
pub(super) unsafe fn times(times: *const libc::timespec) -> Outcome<[Option<i64>; 2]> {
    let now_ns = detsim_executor::context::now().as_nanos() as i64;
    if times.is_null() {
        return Ok([Some(now_ns); 2]);
    }
    if !is_place(times, 2 * size_of::<libc::timespec>()) {
        return Err(Errno::EFAULT);
    }
    // SAFETY: the caller vouches for the times.
    let times = unsafe { slice::from_raw_parts(times, 2) };
    let means = |nsec| {
        (0..1_000_000_000).contains(&nsec) || [libc::UTIME_OMIT, libc::UTIME_NOW].contains(&nsec)
    };
    if !times.iter().all(|time| means(time.tv_nsec)) {
        return Err(Errno::EINVAL);
    }
    Ok([0, 1].map(|index| match times[index] {
        time if time.tv_nsec == libc::UTIME_OMIT => None,
        time if time.tv_nsec == libc::UTIME_NOW => Some(now_ns),
        time => Some(shapes::from_1970(time.tv_sec, time.tv_nsec)),
    }))
}

/// # Safety
/// As of libc's `futimens`: `new` is null or two of them.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C-unwind" fn futimens(fd: c_int, new: *const libc::timespec) -> c_int {
    simulated!(fd, |disks| {
        // SAFETY: the caller vouches for the times.
        let [read, written] = unsafe { times(new) }?;
        let set = |volume: &mut Volume, handle| volume.set_times(handle, read, written);
        on_file(&disks, fd, Cost::Write, set).map(|()| 0)
    });
    system!(SYS_utimensat, fd, std::ptr::null::<libc::c_char>(), new, 0) as c_int
}

// ------------------------------------------------------------ descriptors themselves

#[unsafe(no_mangle)]
extern "C" fn close(fd: c_int) -> c_int {
    if of_fd(fd).is_some() {
        if let Some(disks) = disks() {
            let _left_over = disks.close(fd);
        }
        return 0;
    }
    net::closes(fd);
    rung(fifo::closing(fd, || system!(SYS_close, fd))) as c_int
}

/// The third argument is a number, a pointer or none: it is passed on as it came.
#[unsafe(no_mangle)]
pub(super) extern "C-unwind" fn fcntl(fd: c_int, what: c_int, argument: c_long) -> c_int {
    if what == libc::F_GETFD && of_fd(fd).is_some() {
        return libc::FD_CLOEXEC;
    }
    if let Some(Ok(disks)) = of_fd(fd)
        // SAFETY: as of libc's function.
        && let Some(outcome) = unsafe { super::ranges::control(&disks, fd, what, argument) }
    {
        return done(outcome);
    }
    simulated!(fd, |disks| match what {
        libc::F_SETFD => Ok(0),
        libc::F_DUPFD | libc::F_DUPFD_CLOEXEC => disks.duplicate(fd),
        libc::F_GETFL => disks.with(fd, |volume, handle| volume.flags(handle).map(shapes::bits)),
        libc::F_SETFL => disks.with(fd, |volume, handle| {
            volume.set_append(handle, argument as c_int & libc::O_APPEND != 0).map(|()| 0)
        }),
        _ => Err(Errno::EINVAL),
    });
    if let Some(done) = fifo::flags(fd, what, argument) {
        return done;
    }
    let call = || system!(SYS_fcntl, fd, what, argument);
    match what {
        libc::F_DUPFD | libc::F_DUPFD_CLOEXEC => {
            let given = fifo::copying(fd, call) as c_int;
            net::duplicated(fd, given);
            given
        }
        libc::F_SETFL => {
            let given = call() as c_int;
            net::set_waits(fd, argument as c_int & libc::O_NONBLOCK == 0);
            given
        }
        _ => call() as c_int,
    }
}

#[unsafe(no_mangle)]
extern "C-unwind" fn fcntl64(fd: c_int, what: c_int, argument: c_long) -> c_int {
    fcntl(fd, what, argument)
}

#[unsafe(no_mangle)]
extern "C" fn dup(fd: c_int) -> c_int {
    simulated!(fd, |disks| disks.duplicate(fd));
    let given = fifo::copying(fd, || system!(SYS_dup, fd)) as c_int;
    net::duplicated(fd, given);
    given
}

/// A lock that is not free is waited for, by a caller that wants to: in the wait graph, while the others
/// run.
#[unsafe(no_mangle)]
extern "C-unwind" fn flock(fd: c_int, what: c_int) -> c_int {
    simulated!(fd, |disks| {
        let kind = match what & !libc::LOCK_NB {
            libc::LOCK_SH => LockKind::Shared,
            libc::LOCK_EX => LockKind::Exclusive,
            libc::LOCK_UN => return disks.unlock(fd).map(|()| 0),
            _ => return Err(Errno::EINVAL),
        };
        match what & libc::LOCK_NB {
            0 => disks.lock(fd, kind).map(|()| 0),
            _ => disks.blocking(Cost::Read, |disks| disks.try_lock(fd, kind)).map(|()| 0),
        }
    });
    system!(SYS_flock, fd, what) as c_int
}

/// Two numbers for one simulated file are given by `dup` alone: a number that the caller chooses is the
/// system's.
#[unsafe(no_mangle)]
extern "C" fn dup3(from: c_int, to: c_int, flags: c_int) -> c_int {
    if of_fd(from).or_else(|| of_fd(to)).is_some() {
        let _ours = threads::outside();
        crate::console::announce(
            "detsim: a simulated file cannot have a number of the caller's choice; dup2 fails with EBADF; \
             have the program use dup",
        );
        return done(Err(Errno::EBADF));
    }
    system!(SYS_dup3, from, to, flags) as c_int
}

#[unsafe(no_mangle)]
extern "C" fn dup2(from: c_int, to: c_int) -> c_int {
    match from == to && of_fd(from).is_none() {
        // The same number is no error here, and no call that the newer function makes.
        true if system!(SYS_fcntl, from, libc::F_GETFD) >= 0 => to,
        true => -1,
        false => dup3(from, to, 0),
    }
}

/// # Safety
/// As of libc's `splice`.
#[unsafe(no_mangle)]
unsafe extern "C" fn splice(
    from: c_int,
    from_at: *mut off64_t,
    to: c_int,
    to_at: *mut off64_t,
    len: size_t,
    flags: libc::c_uint,
) -> ssize_t {
    if of_fd(from).or_else(|| of_fd(to)).is_some() {
        return answer::<c_long>(Err(Errno::EINVAL)) as ssize_t;
    }
    system!(SYS_splice, from, from_at, to, to_at, len, flags) as ssize_t
}

/// A simulated file cannot be mapped: its pages have no address.
///
/// # Safety
/// As of libc's `mmap`.
#[unsafe(no_mangle)]
unsafe extern "C" fn mmap64(
    at: *mut c_void,
    len: size_t,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: off64_t,
) -> *mut c_void {
    if of_fd(fd).is_some() && flags & libc::MAP_ANONYMOUS == 0 {
        let _ours = threads::outside();
        crate::console::announce(
            "detsim: a simulated file cannot be mapped into memory; mmap fails with ENODEV; have the \
             program read it",
        );
        super::set_errno(libc::ENODEV);
        return libc::MAP_FAILED;
    }
    system!(SYS_mmap, at, len, protection, flags, fd, offset) as *mut c_void
}

/// # Safety
/// As of libc's `mmap`.
#[unsafe(no_mangle)]
unsafe extern "C" fn mmap(
    at: *mut c_void,
    len: size_t,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: off64_t,
) -> *mut c_void {
    // SAFETY: the arguments are the caller's, for the same call.
    unsafe { mmap64(at, len, protection, flags, fd, offset) }
}

/// See [`super::link_in`].
pub(super) fn link_in() {
    std::hint::black_box(read as *const ());
}
