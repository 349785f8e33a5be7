//! The functions on paths.
//!
//! Each asks whose the path is, does the call on the disk of the node that runs, or makes the same
//! system call that libc would.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::rc::Rc;

use detsim_fs::{Cost, Disks, Errno, Metadata, OpenFlags, Outcome, Volume};
use libc::{AT_FDCWD, c_char, c_int, c_long, c_uint, mode_t, size_t, ssize_t};

use super::{
    answer, done, fifo, is_input, is_of_system, of_fd, of_path, on_file, own, shapes,
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
unsafe extern "C-unwind" fn open64(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
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
    if dir == AT_FDCWD {
        // SAFETY: the arguments are the caller's, for the same call.
        return unsafe { open64(path, flags, mode) };
    }
    if let Some(disks) = of_fd(dir) {
        let open = |disks: Rc<Disks>| {
            let Some((_, path)) = simulated!(path) else { return Err(Errno::EBADF) };
            let known = shapes::open_flags(flags);
            disks.blocking(cost(known), |disks| disks.open_within(dir, path, known, mode))
        };
        return answer(disks.and_then(open)) as c_int;
    }
    system!(SYS_openat, dir, path, flags, mode) as c_int
}

fn open_simulated(disks: &Disks, path: &Path, flags: c_int, mode: mode_t) -> Outcome<c_int> {
    let known = shapes::open_flags(flags);
    disks.blocking(cost(known), |disks| match disks.open(path, known, mode) {
        Err(Errno::ENOENT) if known.create && take_up_parents(disks, path) => {
            disks.open(path, known, mode)
        }
        outcome => outcome,
    })
}

/// An open that may make or empty a file is a change.
fn cost(flags: OpenFlags) -> Cost {
    if flags.create || flags.truncate { Cost::Write } else { Cost::Read }
}

/// A look at names and metadata.
fn look<R>(disks: &Disks, f: impl FnOnce(&mut Volume) -> Outcome<R>) -> Outcome<R> {
    disks.blocking(Cost::Read, |disks| disks.names(f))
}

/// A change of names.
fn change<R>(disks: &Disks, f: impl FnOnce(&mut Volume) -> Outcome<R>) -> Outcome<R> {
    disks.blocking(Cost::Write, |disks| disks.names(f))
}

fn looks_only(flags: c_int) -> bool {
    flags & libc::O_ACCMODE == libc::O_RDONLY && flags & (libc::O_CREAT | libc::O_TRUNC) == 0
}

// ------------------------------------------------------------ metadata

/// # Safety
/// As of libc's `stat`: the path ends in a zero, `to` is valid for writes.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn stat64(path: *const c_char, to: *mut libc::stat64) -> c_int {
    // SAFETY: the arguments are the caller's, for the same call.
    unsafe { fstatat64(AT_FDCWD, path, to, 0) }
}

/// # Safety
/// As of libc's `lstat`.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lstat64(path: *const c_char, to: *mut libc::stat64) -> c_int {
    // SAFETY: the arguments are the caller's, for the same call.
    unsafe { fstatat64(AT_FDCWD, path, to, libc::AT_SYMLINK_NOFOLLOW) }
}

/// # Safety
/// As of libc's `fstatat`.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn fstatat64(
    dir: c_int,
    path: *const c_char,
    to: *mut libc::stat64,
    flags: c_int,
) -> c_int {
    match known(dir, path, flags) {
        // SAFETY: the caller vouches for the place.
        Some(outcome) => done(outcome.map(|known| unsafe { to.write(shapes::stat(&known)) })),
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
    match known(dir, path, flags) {
        // std asks with null places whether the call exists at all.
        Some(_) if to.is_null() => done(Err(Errno::EFAULT)),
        // SAFETY: the caller vouches for the place.
        Some(outcome) => done(outcome.map(|known| unsafe { to.write(shapes::statx(&known)) })),
        None => system!(SYS_statx, dir, path, flags, mask, to) as c_int,
    }
}

/// What a call for metadata gives; `None` where it is the system's.
fn known(dir: c_int, path: *const c_char, flags: c_int) -> Option<Outcome<Metadata>> {
    let (_, path) = match simulated!(path) {
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
/// As of libc's `access`.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn access(path: *const c_char, mode: c_int) -> c_int {
    if let Some((disks, path)) = looked_at!(path) {
        let wants = |bit: c_int| mode & bit != 0;
        let ask = |volume: &mut Volume| {
            volume.access(path, wants(libc::R_OK), wants(libc::W_OK), wants(libc::X_OK))
        };
        match look(&disks, ask) {
            Err(errno) if is_input(path, errno) => {}
            outcome => return done(outcome),
        }
    }
    system!(SYS_faccessat, AT_FDCWD, path, mode) as c_int
}

/// # Safety
/// As of libc's `readlink`: the path ends in a zero, `to` is valid for `len` bytes.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn readlink(path: *const c_char, to: *mut c_char, len: size_t) -> ssize_t {
    if let Some((disks, path)) = looked_at!(path) {
        match look(&disks, |volume| volume.read_link(path)) {
            Err(errno) if is_input(path, errno) => {}
            Err(errno) => return answer::<c_long>(Err(errno)) as ssize_t,
            Ok(target) => {
                let target = target.as_os_str().as_bytes();
                let len = target.len().min(len);
                // SAFETY: the caller vouches for the place.
                unsafe { to.cast::<u8>().copy_from_nonoverlapping(target.as_ptr(), len) };
                return len as ssize_t;
            }
        }
    }
    system!(SYS_readlinkat, AT_FDCWD, path, to, len) as ssize_t
}

/// # Safety
/// As of libc's `realpath`: the path ends in a zero, `to` is null or has room for a path.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn realpath(path: *const c_char, to: *mut c_char) -> *mut c_char {
    if let Some((disks, path)) = looked_at!(path) {
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
        unsafe extern "C-unwind" fn $name(path: *const c_char $(, $argument: $type)*) -> c_int {
            if let Some((disks, $at)) = simulated!(path) {
                return done(change(&disks, |$volume| $do));
            }
            let system: fn(*const c_char $(, $type)*) -> c_long = $system;
            system(path $(, $argument)*) as c_int
        }
    )+ };
}

names! {
    fn rmdir(), |volume, at| volume.remove_dir(at),
        |path| system!(SYS_unlinkat, AT_FDCWD, path, libc::AT_REMOVEDIR);
    fn unlink(), |volume, at| volume.remove_file(at),
        |path| system!(SYS_unlinkat, AT_FDCWD, path, 0);
    fn chmod(mode: mode_t), |volume, at| volume.set_mode(at, mode),
        |path, mode| system!(SYS_fchmodat, AT_FDCWD, path, mode);
    fn chdir(), |volume, at| volume.set_current_dir(at),
        |path| system!(SYS_chdir, path);
    fn chown(_user: libc::uid_t, _group: libc::gid_t), |volume, at| volume.metadata(at).map(|_| ()),
        |path, user, group| system!(SYS_fchownat, AT_FDCWD, path, user, group, 0);
    fn lchown(_user: libc::uid_t, _group: libc::gid_t),
        |volume, at| volume.symlink_metadata(at).map(|_| ()),
        |path, user, group| {
            system!(SYS_fchownat, AT_FDCWD, path, user, group, libc::AT_SYMLINK_NOFOLLOW)
        };
}

/// # Safety
/// As of libc's `mkdir`.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn mkdir(path: *const c_char, mode: mode_t) -> c_int {
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
/// As of libc's `unlinkat`.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn unlinkat(dir: c_int, path: *const c_char, flags: c_int) -> c_int {
    let whose =
        if dir == AT_FDCWD { simulated!(path).map(|(disks, _)| Ok(disks)) } else { of_fd(dir) };
    if let (Some(disks), Some((_, path))) = (whose, simulated!(path)) {
        let remove = |volume: &mut Volume| match flags & libc::AT_REMOVEDIR != 0 {
            true => volume.remove_dir(path),
            false => volume.remove_file(path),
        };
        return done(disks.and_then(|disks| match dir {
            AT_FDCWD => change(&disks, remove),
            dir => disks.blocking(Cost::Write, |disks| disks.within(dir, remove)),
        }));
    }
    system!(SYS_unlinkat, dir, path, flags) as c_int
}

/// # Safety
/// As of libc's `rename`.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn rename(from: *const c_char, to: *const c_char) -> c_int {
    match (simulated!(from), simulated!(to)) {
        (Some((disks, from)), Some((_, to))) => {
            done(change(&disks, |volume| volume.rename(from, to)))
        }
        (None, None) => system!(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to) as c_int,
        _ => done(Err(Errno::EXDEV)),
    }
}

/// # Safety
/// As of libc's `renameat`.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn renameat(
    from_dir: c_int,
    from: *const c_char,
    to_dir: c_int,
    to: *const c_char,
) -> c_int {
    // SAFETY: the arguments are the caller's, for the same call.
    unsafe { renameat2(from_dir, from, to_dir, to, 0) }
}

/// Paths below an open directory of a simulated disk are refused, and of the flags all but
/// `RENAME_NOREPLACE`.
///
/// # Safety
/// As of libc's `renameat2`.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn renameat2(
    from_dir: c_int,
    from: *const c_char,
    to_dir: c_int,
    to: *const c_char,
    flags: c_uint,
) -> c_int {
    let is_plain = from_dir == AT_FDCWD && to_dir == AT_FDCWD;
    match (simulated!(from), simulated!(to)) {
        (Some((disks, from)), Some((_, to))) if is_plain => done(match flags {
            0 => change(&disks, |volume| volume.rename(from, to)),
            libc::RENAME_NOREPLACE => change(&disks, |volume| match volume.symlink_metadata(to) {
                Err(Errno::ENOENT) => volume.rename(from, to),
                there => there.and(Err(Errno::EEXIST)),
            }),
            _ => Err(Errno::EINVAL),
        }),
        (Some(_), Some(_)) if of_fd(from_dir).or_else(|| of_fd(to_dir)).is_some() => {
            done(Err(Errno::EXDEV))
        }
        (None, None) | (Some(_), Some(_)) => {
            system!(SYS_renameat2, from_dir, from, to_dir, to, flags) as c_int
        }
        _ => done(Err(Errno::EXDEV)),
    }
}

/// # Safety
/// As of libc's `mkdirat`.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn mkdirat(dir: c_int, path: *const c_char, mode: mode_t) -> c_int {
    if dir == AT_FDCWD {
        // SAFETY: the arguments are the caller's, for the same call.
        return unsafe { mkdir(path, mode) };
    }
    if let (Some(disks), Some((_, path))) = (of_fd(dir), simulated!(path)) {
        let make = |volume: &mut Volume| volume.create_dir(path, mode);
        let make = |disks: &Disks| disks.within(dir, make);
        return done(disks.and_then(|disks| disks.blocking(Cost::Write, make)));
    }
    system!(SYS_mkdirat, dir, path, mode) as c_int
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
/// As of libc's `linkat`.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn linkat(
    from_dir: c_int,
    from: *const c_char,
    to_dir: c_int,
    to: *const c_char,
    flags: c_int,
) -> c_int {
    match (simulated!(from), simulated!(to)) {
        (Some((disks, from)), Some((_, to))) if (from_dir, to_dir) == (AT_FDCWD, AT_FDCWD) => {
            done(change(&disks, |volume| volume.hard_link(from, to)))
        }
        (None, None) => system!(SYS_linkat, from_dir, from, to_dir, to, flags) as c_int,
        _ => done(Err(Errno::EXDEV)),
    }
}

/// # Safety
/// As of libc's `link`.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn link(from: *const c_char, to: *const c_char) -> c_int {
    // SAFETY: the arguments are the caller's, for the same call.
    unsafe { linkat(AT_FDCWD, from, AT_FDCWD, to, 0) }
}

/// # Safety
/// As of libc's `symlink`: both paths end in a zero.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn symlink(target: *const c_char, path: *const c_char) -> c_int {
    if let Some((disks, path)) = simulated!(path) {
        // SAFETY: the caller vouches for it.
        let target = unsafe { std::ffi::CStr::from_ptr(target) }.to_bytes();
        let target = Path::new(std::ffi::OsStr::from_bytes(target));
        return done(change(&disks, |volume| volume.symlink(target, path)));
    }
    system!(SYS_symlinkat, target, AT_FDCWD, path) as c_int
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
