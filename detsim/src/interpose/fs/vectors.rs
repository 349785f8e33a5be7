//! Reads and writes of several parts.
//!
//! Each is one call on the disk, as it is one on the system: what others do falls before or behind all of
//! its parts.

use std::slice;

use detsim_fs::{Errno, Outcome};
use libc::{c_int, c_long, c_void, iovec, off64_t, ssize_t};

use super::paths::system;
use super::{answer, descriptors, is_place, of_fd};
use crate::interpose::net::calls as net;
use crate::interpose::net::ready::rung;

/// The most parts of one call, on Linux.
const PARTS_MAX: usize = 1024;

/// # Safety
/// `parts` is valid for `count` of them.
unsafe fn parts<'a>(parts: *const iovec, count: c_int) -> Outcome<(&'a [iovec], usize)> {
    let count = usize::try_from(count).ok().filter(|count| *count <= PARTS_MAX);
    let parts = match count.ok_or(Errno::EINVAL)? {
        count if !is_place(parts, count * size_of::<iovec>()) => return Err(Errno::EFAULT),
        0 => &[],
        // SAFETY: the caller vouches for the parts.
        count => unsafe { slice::from_raw_parts(parts, count) },
    };
    let len = parts.iter().try_fold(0_usize, |sum, part| sum.checked_add(part.iov_len));
    let len = len.filter(|len| isize::try_from(*len).is_ok()).ok_or(Errno::EINVAL)?;
    if !parts.iter().all(|part| is_place(part.iov_base, part.iov_len)) {
        return Err(Errno::EFAULT);
    }
    Ok((parts, len))
}

/// Reads into all parts by one call.
///
/// # Safety
/// `to` is valid for `count` parts, and each for writes of its length.
pub(in crate::interpose) unsafe fn read_parts(
    to: *const iovec,
    count: c_int,
    read: impl FnOnce(*mut c_void, usize) -> ssize_t,
) -> ssize_t {
    // SAFETY: the caller vouches for the parts.
    let (parts, len) = match unsafe { parts(to, count) } {
        Ok(known) => known,
        Err(errno) => return answer::<c_long>(Err(errno)) as ssize_t,
    };
    let mut bytes = vec![0_u8; len];
    let got = read(bytes.as_mut_ptr().cast(), len);
    let mut rest = &bytes[..usize::try_from(got).unwrap_or(0)];
    for part in parts {
        let (own, later) = rest.split_at(part.iov_len.min(rest.len()));
        if !own.is_empty() {
            // SAFETY: the caller vouches for the part, which is at least as long.
            unsafe { part.iov_base.cast::<u8>().copy_from(own.as_ptr(), own.len()) };
        }
        rest = later;
    }
    got
}

/// Writes all parts by one call.
///
/// # Safety
/// `from` is valid for `count` parts, and each for reads of its length.
pub(in crate::interpose) unsafe fn write_parts(
    from: *const iovec,
    count: c_int,
    write: impl FnOnce(*const c_void, usize) -> ssize_t,
) -> ssize_t {
    // SAFETY: the caller vouches for the parts.
    let (parts, len) = match unsafe { parts(from, count) } {
        Ok(known) => known,
        Err(errno) => return answer::<c_long>(Err(errno)) as ssize_t,
    };
    let mut bytes: Vec<u8> = Vec::with_capacity(len);
    for part in parts.iter().filter(|part| part.iov_len > 0) {
        // SAFETY: the caller vouches for the part.
        bytes.extend_from_slice(unsafe {
            slice::from_raw_parts(part.iov_base.cast(), part.iov_len)
        });
    }
    write(bytes.as_ptr().cast(), len)
}

/// # Safety
/// As of libc's `readv`.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn readv(fd: c_int, to: *const iovec, count: c_int) -> ssize_t {
    if of_fd(fd).is_none() && net::waits(fd).is_none() {
        return rung(system!(SYS_readv, fd, to, count)) as ssize_t;
    }
    // SAFETY: the caller vouches for the parts.
    unsafe { read_parts(to, count, |to, len| descriptors::read(fd, to, len)) }
}

/// # Safety
/// As of libc's `writev`.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn writev(fd: c_int, from: *const iovec, count: c_int) -> ssize_t {
    if of_fd(fd).is_none() && net::waits(fd).is_none() {
        return rung(system!(SYS_writev, fd, from, count)) as ssize_t;
    }
    // SAFETY: the caller vouches for the parts.
    unsafe { write_parts(from, count, |from, len| descriptors::write(fd, from, len)) }
}

/// # Safety
/// As of libc's `preadv`.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C-unwind" fn preadv64(
    fd: c_int,
    to: *const iovec,
    count: c_int,
    at: off64_t,
) -> ssize_t {
    if of_fd(fd).is_none() {
        // The system takes a position in two halves, of which the upper one is none here.
        return system!(SYS_preadv, fd, to, count, at, 0) as ssize_t;
    }
    // SAFETY: the caller vouches for the parts.
    unsafe { read_parts(to, count, |to, len| descriptors::pread64(fd, to, len, at)) }
}

/// # Safety
/// As of libc's `pwritev`.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C-unwind" fn pwritev64(
    fd: c_int,
    from: *const iovec,
    count: c_int,
    at: off64_t,
) -> ssize_t {
    if of_fd(fd).is_none() {
        // As of `preadv64`.
        return system!(SYS_pwritev, fd, from, count, at, 0) as ssize_t;
    }
    // SAFETY: the caller vouches for the parts.
    unsafe { write_parts(from, count, |from, len| descriptors::pwrite64(fd, from, len, at)) }
}

/// See [`super::link_in`].
pub(super) fn link_in() {
    std::hint::black_box(readv as *const ());
}
