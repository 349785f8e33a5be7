//! The functions on paths alone; those that may name a directory besides are in `at.rs`.
//!
//! Each asks whose the path is, does the call on the disk of the node that runs, or makes the same
//! system call that libc would.

use std::ffi::CString;
use std::path::Path;
use std::rc::Rc;

use detsim_fs::{Cost, Disks, Errno, Metadata, OpenFlags, Outcome, Volume};
use libc::{AT_FDCWD, c_char, c_int, c_long, c_uint, mode_t, off64_t, size_t};

use super::{
    answer, done, fifo, is_input, is_of_system, of_fd, of_path, on_file, own, put, shapes,
    take_up_parents,
};

/// The system's own call.
macro_rules! system {
    ($number:ident $(, $argument:expr)*) => {
        // SAFETY: the arguments are the caller's, for the same call.
        unsafe { libc::syscall(libc::$number $(, $argument)*) }
    };
}
pub(in crate::interpose) use system;

/// A path whose call ends here; `None` where it is the system's.
macro_rules! simulated {
    ($path:expr) => {
        // SAFETY: as of libc's function: the path is null or ends in a zero.
        unsafe { of_path($path) }
    };
}

/// The same, for a call that only looks.
macro_rules! looked_at {
    ($path:expr) => {
        simulated!($path).filter(|(disks, path)| !is_of_system(disks, path))
    };
}

// ------------------------------------------------------------ opening

/// # Safety
/// As of libc's `open`: the path ends in a zero.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C-unwind" fn open64(
    path: *const c_char,
    flags: c_int,
    mode: mode_t,
) -> c_int {
    let simulated = if looks_only(flags) { looked_at!(path) } else { simulated!(path) };
    if let Some((disks, path)) = simulated {
        if let Some(fd) = fifo::open(&disks, path, flags) {
            return fd;
        }
        match open_simulated(&disks, path, flags, mode) {
            Err(errno) if looks_only(flags) && is_input(path, errno) => {}
            outcome => return answer(outcome) as c_int,
        }
    }
    system!(SYS_openat, AT_FDCWD, path, flags, mode) as c_int
}

/// # Safety
/// As of libc's `open`.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn open(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    // SAFETY: the arguments are the caller's, for the same call.
    unsafe { open64(path, flags, mode) }
}

/// # Safety
/// As of libc's `openat`.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn openat64(
    dir: c_int,
    path: *const c_char,
    flags: c_int,
    mode: mode_t,
) -> c_int {
    if dir == AT_FDCWD || simulated!(path).is_some_and(|(_, path)| path.is_absolute()) {
        // SAFETY: the arguments are the caller's, for the same call.
        return unsafe { open64(path, flags, mode) };
    }
    if let Some(disks) = of_fd(dir) {
        let open = |disks: Rc<Disks>| {
            let Some((_, path)) = simulated!(path) else { return Err(Errno::EFAULT) };
            let known = shapes::open_flags(flags);
            if is_contradiction(flags) || flags & libc::O_TMPFILE == libc::O_TMPFILE {
                return Err(Errno::EINVAL);
            }
            disks.blocking(cost(known), |disks| disks.open_within(dir, path, known, mode))
        };
        return answer(disks.and_then(open)) as c_int;
    }
    system!(SYS_openat, dir, path, flags, mode) as c_int
}

fn open_simulated(disks: &Disks, path: &Path, flags: c_int, mode: mode_t) -> Outcome<c_int> {
    let known = shapes::open_flags(flags);
    if is_contradiction(flags) {
        return Err(Errno::EINVAL);
    }
    if flags & libc::O_TMPFILE == libc::O_TMPFILE {
        return disks.blocking(Cost::Write, |disks| disks.open_nameless(path, known, mode));
    }
    disks.blocking(cost(known), |disks| match disks.open(path, known, mode) {
        Err(Errno::ENOENT) if known.create && take_up_parents(disks, path) => {
            disks.open(path, known, mode)
        }
        outcome => outcome,
    })
}

/// A directory cannot be made by opening it.
fn is_contradiction(flags: c_int) -> bool {
    let both = libc::O_CREAT | libc::O_DIRECTORY;
    flags & both == both && flags & libc::O_PATH == 0
}

/// An open that may make or empty a file is a change.
fn cost(flags: OpenFlags) -> Cost {
    if flags.create || flags.truncate { Cost::Write } else { Cost::Read }
}

/// A look at names and metadata.
pub(super) fn look<R>(disks: &Disks, f: impl FnOnce(&mut Volume) -> Outcome<R>) -> Outcome<R> {
    disks.blocking(Cost::Read, |disks| disks.names(f))
}

/// A change of names.
pub(super) fn change<R>(
    disks: &Disks,
    cost: Cost,
    f: impl FnOnce(&mut Volume) -> Outcome<R>,
) -> Outcome<R> {
    disks.blocking(cost, |disks| disks.names(f))
}

fn looks_only(flags: c_int) -> bool {
    flags & libc::O_ACCMODE == libc::O_RDONLY && flags & (libc::O_CREAT | libc::O_TRUNC) == 0
}

// ------------------------------------------------------------ metadata

/// # Safety
/// As of libc's `stat`: the path ends in a zero, `to` is valid for writes.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C-unwind" fn stat64(path: *const c_char, to: *mut libc::stat64) -> c_int {
    // SAFETY: the arguments are the caller's, for the same call.
    unsafe { fstatat64(AT_FDCWD, path, to, 0) }
}

/// # Safety
/// As of libc's `lstat`.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C-unwind" fn lstat64(
    path: *const c_char,
    to: *mut libc::stat64,
) -> c_int {
    // SAFETY: the arguments are the caller's, for the same call.
    unsafe { fstatat64(AT_FDCWD, path, to, libc::AT_SYMLINK_NOFOLLOW) }
}

/// # Safety
/// As of libc's `fstatat`.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C-unwind" fn fstatat64(
    dir: c_int,
    path: *const c_char,
    to: *mut libc::stat64,
    flags: c_int,
) -> c_int {
    match known(dir, path, flags) {
        // SAFETY: the caller vouches for the place.
        Some(outcome) => done(outcome.and_then(|known| unsafe { put(to, shapes::stat(&known)) })),
        None => system!(SYS_newfstatat, dir, path, to, flags) as c_int,
    }
}

/// # Safety
/// As of libc's `statx`.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn statx(
    dir: c_int,
    path: *const c_char,
    flags: c_int,
    mask: c_uint,
    to: *mut libc::statx,
) -> c_int {
    const RESERVED: c_uint = 1 << 31;
    match known(dir, path, flags) {
        Some(_) if mask & RESERVED != 0 => done(Err(Errno::EINVAL)),
        // SAFETY: the caller vouches for the place.
        Some(outcome) => done(outcome.and_then(|known| unsafe { put(to, shapes::statx(&known)) })),
        None => system!(SYS_statx, dir, path, flags, mask, to) as c_int,
    }
}

/// Flags that the calls for metadata know.
const STAT_FLAGS: c_int = libc::AT_SYMLINK_NOFOLLOW
    | libc::AT_NO_AUTOMOUNT
    | libc::AT_EMPTY_PATH
    | libc::AT_STATX_SYNC_TYPE;

/// What a call for metadata gives; `None` where it is the system's.
fn known(dir: c_int, path: *const c_char, flags: c_int) -> Option<Outcome<Metadata>> {
    let (_, path) = match simulated!(path) {
        Some(_)
            if flags & !STAT_FLAGS != 0
                || flags & libc::AT_STATX_SYNC_TYPE == libc::AT_STATX_SYNC_TYPE =>
        {
            return Some(Err(Errno::EINVAL));
        }
        Some((_, path)) if path.as_os_str().is_empty() && flags & libc::AT_EMPTY_PATH != 0 => {
            let known = |volume: &mut Volume, handle| volume.handle_metadata(handle);
            return Some(of_fd(dir)?.and_then(|disks| on_file(&disks, dir, Cost::Read, known)));
        }
        other => other?,
    };
    let keeps = flags & libc::AT_SYMLINK_NOFOLLOW != 0;
    let known = |volume: &mut Volume| match keeps {
        true => volume.symlink_metadata(path),
        false => volume.metadata(path),
    };
    if dir == AT_FDCWD || path.is_absolute() {
        let disks = super::disks()?;
        if is_of_system(&disks, path) {
            return None;
        }
        return match look(&disks, known) {
            Err(errno) if is_input(path, errno) => None,
            outcome => Some(outcome),
        };
    }
    let known = |disks: &Disks| disks.within(dir, known);
    Some(of_fd(dir)?.and_then(|disks| disks.blocking(Cost::Read, known)))
}

/// # Safety
/// As of libc's `realpath`: the path ends in a zero, `to` is null or has room for a path.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn realpath(path: *const c_char, to: *mut c_char) -> *mut c_char {
    if let Some((disks, path)) = looked_at!(path) {
        // A relative path is one behind that of the current directory, which has to have one.
        let stands = disks.names(|volume| volume.current_dir());
        if let Some(errno) = stands.err().filter(|_| path.is_relative()) {
            answer::<c_long>(Err(errno));
            return std::ptr::null_mut();
        }
        match look(&disks, |volume| volume.canonicalize(path)) {
            Err(errno) if is_input(path, errno) => {}
            Err(errno) => {
                answer::<c_long>(Err(errno));
                return std::ptr::null_mut();
            }
            Ok(found) => {
                let bytes = CString::new(found.into_os_string().into_encoded_bytes());
                let bytes = bytes.unwrap_or_default();
                // SAFETY: a place of the caller has room for a path; a null one is replaced by
                // memory of libc, which the caller frees.
                return unsafe {
                    match to.is_null() {
                        true => libc::strdup(bytes.as_ptr()),
                        false => libc::strcpy(to, bytes.as_ptr()),
                    }
                };
            }
        }
    }
    // SAFETY: the arguments are the caller's, for the same call.
    unsafe { super::directories::real_path(path, to) }
}

// ------------------------------------------------------------ names

/// A function that changes a name: on the disk, or by the system.
macro_rules! names {
    ($( fn $name:ident($($argument:ident: $type:ty),*), |$volume:ident, $at:ident| $do:expr, $system:expr; )+) => { $(
        /// # Safety
        /// As of libc's: the path ends in a zero.
        #[unsafe(no_mangle)]
        pub(super) unsafe extern "C-unwind" fn $name(path: *const c_char $(, $argument: $type)*) -> c_int {
            if let Some((disks, $at)) = simulated!(path) {
                return done(change(&disks, Cost::Write, |$volume| $do));
            }
            let system: fn(*const c_char $(, $type)*) -> c_long = $system;
            system(path $(, $argument)*) as c_int
        }
    )+ };
}

names! {
    fn rmdir(), |volume, at| volume.remove_dir(at),
        |path| system!(SYS_unlinkat, AT_FDCWD, path, libc::AT_REMOVEDIR);
    fn chdir(), |volume, at| volume.set_current_dir(at),
        |path| system!(SYS_chdir, path);
    fn chroot(), |volume, at| volume.metadata(at).and(Err(Errno::EPERM)),
        |path| system!(SYS_chroot, path);
    fn truncate64(size: off64_t), |volume, at| cut(volume, at, size),
        |path, size| system!(SYS_truncate, path, size);
}

fn cut(volume: &mut Volume, path: &Path, size: off64_t) -> Outcome<()> {
    volume.set_path_len(path, u64::try_from(size).map_err(|_| Errno::EINVAL)?)
}

/// # Safety
/// As of libc's `mkdir`.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C-unwind" fn mkdir(path: *const c_char, mode: mode_t) -> c_int {
    if let Some((disks, path)) = simulated!(path) {
        let make = |disks: &Disks| disks.names(|volume| volume.create_dir(path, mode));
        return done(disks.blocking(Cost::Write, |disks| match make(disks) {
            Err(Errno::ENOENT) if take_up_parents(disks, path) => make(disks),
            outcome => outcome,
        }));
    }
    system!(SYS_mkdirat, AT_FDCWD, path, mode) as c_int
}

/// # Safety
/// As of libc's `openat`.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn openat(
    dir: c_int,
    path: *const c_char,
    flags: c_int,
    mode: mode_t,
) -> c_int {
    // SAFETY: the arguments are the caller's, for the same call.
    unsafe { openat64(dir, path, flags, mode) }
}

/// # Safety
/// As of libc's `getcwd`: `to` is valid for `len` bytes.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn getcwd(to: *mut c_char, len: size_t) -> *mut c_char {
    let Some(disks) = super::disks().filter(|_| !to.is_null()) else {
        return match system!(SYS_getcwd, to, len) {
            ..0 => std::ptr::null_mut(),
            _ => to,
        };
    };
    let dir = disks.names(|volume| volume.current_dir());
    let dir = dir.map(|dir| dir.into_os_string().into_encoded_bytes());
    match dir {
        Ok(dir) if dir.len() < len => {
            // SAFETY: the place has room for the path and its zero.
            unsafe {
                to.cast::<u8>().copy_from_nonoverlapping(dir.as_ptr(), dir.len());
                to.add(dir.len()).write(0);
            }
            to
        }
        Ok(_) => {
            super::set_errno(libc::ERANGE);
            std::ptr::null_mut()
        }
        Err(errno) => {
            super::set_errno(errno.raw());
            std::ptr::null_mut()
        }
    }
}

/// See [`super::link_in`].
pub(super) fn link_in() {
    std::hint::black_box((open64 as *const (), own as *const ()));
}
