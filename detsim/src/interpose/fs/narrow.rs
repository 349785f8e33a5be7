//! The names of functions without a 64: where the system's numbers have 64 bits, they are the same.
//!
//! std calls those with the number, other crates and C the ones without.

use libc::{c_char, c_int, c_void, iovec, mode_t, off64_t, size_t, ssize_t};

use super::{copies, descriptors, directories, paths, vectors, whole};

macro_rules! same {
    ($( fn $narrow:ident($($argument:ident: $type:ty),*) -> $gives:ty = $wide:path; )+) => { $(
        /// # Safety
        /// As of libc's function of this name.
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $narrow($($argument: $type),*) -> $gives {
            // SAFETY: the arguments are the caller's, for the same call.
            unsafe { $wide($($argument),*) }
        }
    )+ };
}

/// As [`same`], of functions that take nothing but numbers.
macro_rules! same_by_numbers {
    ($( fn $narrow:ident($($argument:ident: $type:ty),*) -> $gives:ty = $wide:path; )+) => { $(
        #[unsafe(no_mangle)]
        extern "C-unwind" fn $narrow($($argument: $type),*) -> $gives {
            $wide($($argument),*)
        }
    )+ };
}

same! {
    fn stat(path: *const c_char, to: *mut libc::stat64) -> c_int = paths::stat64;
    fn lstat(path: *const c_char, to: *mut libc::stat64) -> c_int = paths::lstat64;
    fn fstatat(dir: c_int, path: *const c_char, to: *mut libc::stat64, flags: c_int) -> c_int
        = paths::fstatat64;
    fn truncate(path: *const c_char, size: off64_t) -> c_int = paths::truncate64;
    fn pread(fd: c_int, to: *mut c_void, len: size_t, at: off64_t) -> ssize_t = descriptors::pread64;
    fn pwrite(fd: c_int, from: *const c_void, len: size_t, at: off64_t) -> ssize_t
        = descriptors::pwrite64;
    fn preadv(fd: c_int, to: *const iovec, count: c_int, at: off64_t) -> ssize_t = vectors::preadv64;
    fn pwritev(fd: c_int, from: *const iovec, count: c_int, at: off64_t) -> ssize_t
        = vectors::pwritev64;
    fn fstat(fd: c_int, to: *mut libc::stat64) -> c_int = descriptors::fstat64;
    fn sendfile(to: c_int, from: c_int, at: *mut off64_t, len: size_t) -> ssize_t
        = copies::sendfile64;
    fn readdir(of: *mut libc::DIR) -> *mut libc::dirent64 = directories::readdir64;
    fn readdir_r(of: *mut libc::DIR, to: *mut libc::dirent64, found: *mut *mut libc::dirent64) -> c_int
        = directories::readdir64_r;
    fn creat(path: *const c_char, mode: mode_t) -> c_int = creat64;
}

same_by_numbers! {
    fn lseek(fd: c_int, by: off64_t, whence: c_int) -> off64_t = descriptors::lseek64;
    fn ftruncate(fd: c_int, size: off64_t) -> c_int = descriptors::ftruncate64;
    fn fallocate(fd: c_int, mode: c_int, at: off64_t, len: off64_t) -> c_int
        = descriptors::fallocate64;
    fn posix_fallocate(fd: c_int, at: off64_t, len: off64_t) -> c_int = whole::posix_fallocate64;
    fn posix_fadvise(fd: c_int, at: off64_t, len: off64_t, advice: c_int) -> c_int
        = whole::posix_fadvise64;
}

/// # Safety
/// As of libc's `creat`: the path ends in a zero.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn creat64(path: *const c_char, mode: mode_t) -> c_int {
    const FLAGS: c_int = libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC;
    // SAFETY: the arguments are the caller's, for the same call.
    unsafe { paths::open64(path, FLAGS, mode) }
}

/// See [`super::link_in`].
pub(super) fn link_in() {
    std::hint::black_box(creat64 as *const ());
}
