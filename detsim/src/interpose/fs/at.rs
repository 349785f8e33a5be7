//! The functions on paths that may begin in an open directory, and those that come to the same.
//!
//! Each asks whose the path is, does the call on the disk of the node that runs, or makes the same system
//! call that libc would. A path that begins in an open directory of a simulated disk is that directory's
//! path and the rest.

use std::borrow::Cow;
use std::ffi::{CStr, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::rc::Rc;

use detsim_fs::{Cost, Disks, Errno, FileKind, Outcome, Volume};
use libc::{
    AT_EMPTY_PATH, AT_FDCWD, AT_SYMLINK_FOLLOW, AT_SYMLINK_NOFOLLOW, c_char, c_int, c_long, c_uint,
};
use libc::{gid_t, mode_t, size_t, ssize_t, timespec, uid_t};

use super::super::real::real;
use super::paths::{self, change, look, system};
use super::{answer, descriptors, done, is_input, is_of_system, is_place, of_fd, of_path};

/// A path whose call ends here.
type Place<'a> = Outcome<(Rc<Disks>, Cow<'a, Path>)>;

/// Where a call leads; `None` where it is the system's.
///
/// # Safety
/// `path` is null or ends in a zero.
unsafe fn place<'a>(dir: c_int, path: *const c_char) -> Option<Place<'a>> {
    // SAFETY: the caller vouches for it.
    let (disks, path) = unsafe { of_path(path) }?;
    if dir == AT_FDCWD || path.is_absolute() || path.as_os_str().is_empty() {
        return Some(Ok((disks, Cow::Borrowed(path))));
    }
    let known = of_fd(dir)?;
    let above = known.and_then(|disks| disks.within(dir, |volume| volume.current_dir()));
    Some(above.map(|above| (disks, Cow::Owned(above.join(path)))))
}

/// As [`place`], for a call that only looks: inputs are the system's.
///
/// # Safety
/// As of [`place`].
unsafe fn seen<'a>(dir: c_int, path: *const c_char) -> Option<Place<'a>> {
    // SAFETY: the caller vouches for it.
    let found = unsafe { place(dir, path) }?;
    match &found {
        Ok((disks, path)) if is_of_system(disks, path) => None,
        _ => Some(found),
    }
}

/// A change at a place.
fn changes(
    place: Place<'_>,
    cost: Cost,
    f: impl FnOnce(&mut Volume, &Path) -> Outcome<()>,
) -> c_int {
    done(place.and_then(|(disks, path)| change(&disks, cost, |volume| f(volume, &path))))
}

/// A function on one path: with a directory, and without.
macro_rules! at {
    ($( fn $name:ident, $plain:ident($($argument:ident: $type:ty),*), $flags:expr, $cost:ident,
        |$volume:ident, $at:ident, $bits:ident| $do:expr, $system:expr; )+) => { $(
        /// # Safety
        /// As of libc's: the path ends in a zero.
        #[unsafe(no_mangle)]
        pub(super) unsafe extern "C-unwind" fn $name(
            dir: c_int, path: *const c_char, $($argument: $type,)* flags: c_int,
        ) -> c_int {
            // SAFETY: the caller vouches for the path.
            match unsafe { place(dir, path) } {
                Some(found) => {
                    changes(found, Cost::$cost, |$volume, $at| { let $bits = flags; $do })
                }
                None => {
                    let system: fn(c_int, *const c_char, $($type,)* c_int) -> c_int = $system;
                    system(dir, path, $($argument,)* flags)
                }
            }
        }

        /// # Safety
        /// As of libc's: the path ends in a zero.
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $plain(path: *const c_char $(, $argument: $type)*) -> c_int {
            // SAFETY: the arguments are the caller's, for the same call.
            unsafe { $name(AT_FDCWD, path $(, $argument)*, $flags) }
        }
    )+ };
}

at! {
    fn unlinkat, unlink(), 0, Rename, |volume, at, flags| match flags {
        0 => volume.remove_file(at),
        libc::AT_REMOVEDIR => volume.remove_dir(at),
        _ => Err(Errno::EINVAL),
    }, |dir, path, flags| system!(SYS_unlinkat, dir, path, flags) as c_int;
    fn fchmodat, chmod(mode: mode_t), 0, Write, |volume, at, flags| {
        if flags & AT_SYMLINK_NOFOLLOW != 0
            && volume.symlink_metadata(at)?.kind == FileKind::Symlink
        {
            return Err(Errno::EOPNOTSUPP);
        }
        volume.set_mode(at, mode)
    }, |dir, path, mode, flags| match flags {
        0 => system!(SYS_fchmodat, dir, path, mode) as c_int,
        // libc's own work: the system's call has no flags.
        _ => real!(fchmodat: fn(c_int, *const c_char, mode_t, c_int) -> c_int, dir, path, mode, flags),
    };
    // Everybody is one user: whose a file is does not change.
    fn fchownat, chown(user: uid_t, group: gid_t), 0, Write, |volume, at, flags| {
        let _one = (user, group);
        let known = match flags & AT_SYMLINK_NOFOLLOW {
            0 => volume.metadata(at),
            _ => volume.symlink_metadata(at),
        };
        known.map(|_| ())
    }, |dir, path, user, group, flags| {
        system!(SYS_fchownat, dir, path, user, group, flags) as c_int
    };
}

/// # Safety
/// As of libc's `lchown`.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lchown(path: *const c_char, user: uid_t, group: gid_t) -> c_int {
    // SAFETY: the arguments are the caller's, for the same call.
    unsafe { fchownat(AT_FDCWD, path, user, group, AT_SYMLINK_NOFOLLOW) }
}

/// # Safety
/// As of libc's `mkdirat`.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn mkdirat(dir: c_int, path: *const c_char, mode: mode_t) -> c_int {
    if dir == AT_FDCWD {
        // SAFETY: the arguments are the caller's, for the same call.
        return unsafe { paths::mkdir(path, mode) };
    }
    // SAFETY: the caller vouches for the path.
    match unsafe { place(dir, path) } {
        Some(found) => changes(found, Cost::Write, |volume, at| volume.create_dir(at, mode)),
        None => system!(SYS_mkdirat, dir, path, mode) as c_int,
    }
}

/// # Safety
/// As of libc's `utimensat`: the path is null or ends in a zero, `times` is null or two of them.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn utimensat(
    dir: c_int,
    path: *const c_char,
    times: *const timespec,
    flags: c_int,
) -> c_int {
    if path.is_null() {
        // SAFETY: the arguments are the caller's, for the same call.
        return unsafe { descriptors::futimens(dir, times) };
    }
    // SAFETY: the caller vouches for the path.
    match unsafe { place(dir, path) } {
        Some(found) => {
            // SAFETY: the caller vouches for the times.
            let times = unsafe { descriptors::times(times) };
            let [read, written] = match times {
                Ok(times) => times,
                Err(errno) => return done(Err(errno)),
            };
            if flags & !(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) != 0 {
                return done(Err(Errno::EINVAL));
            }
            let follows = flags & AT_SYMLINK_NOFOLLOW == 0;
            changes(found, Cost::Write, |volume, at| {
                volume.set_path_times(at, follows, read, written)
            })
        }
        None => system!(SYS_utimensat, dir, path, times, flags) as c_int,
    }
}

// ------------------------------------------------------------ two names

/// # Safety
/// As of libc's `rename`.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn rename(from: *const c_char, to: *const c_char) -> c_int {
    // SAFETY: the arguments are the caller's, for the same call.
    unsafe { renameat2(AT_FDCWD, from, AT_FDCWD, to, 0) }
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

/// Does something with two places of one disk; `None` where both are the system's.
///
/// # Safety
/// Both paths end in a zero.
unsafe fn two(
    [from_dir, to_dir]: [c_int; 2],
    [from, to]: [*const c_char; 2],
    cost: Cost,
    f: impl FnOnce(&mut Volume, &Path, &Path) -> Outcome<()>,
) -> Option<c_int> {
    // SAFETY: the caller vouches for both paths.
    let places = unsafe { (place(from_dir, from), place(to_dir, to)) };
    Some(match places {
        (None, None) => return None,
        _ if !is_place(from, 1) || !is_place(to, 1) => done(Err(Errno::EFAULT)),
        (Some(from), Some(to)) => done(from.and_then(|(disks, from)| {
            let (_, to) = to?;
            change(&disks, cost, |volume| f(volume, &from, &to))
        })),
        _ => done(Err(Errno::EXDEV)),
    })
}

/// Of the flags, names that change places are refused, as by a file system that has no such thing.
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
    let rename = |volume: &mut Volume, from: &Path, to: &Path| match flags {
        0 => volume.rename(from, to),
        libc::RENAME_NOREPLACE => volume.rename_to_new(from, to),
        _ => Err(Errno::EINVAL),
    };
    // SAFETY: the caller vouches for the paths.
    unsafe { two([from_dir, to_dir], [from, to], Cost::Rename, rename) }
        .unwrap_or_else(|| system!(SYS_renameat2, from_dir, from, to_dir, to, flags) as c_int)
}

/// The open file that a call gives another name, where it names none by a path: by its number alone, or by its
/// name among the system's, as `open(2)` has it.
///
/// # Safety
/// `path` is null or ends in a zero.
unsafe fn open_file(dir: c_int, path: *const c_char, flags: c_int) -> Option<c_int> {
    if !is_place(path, 1) {
        return None;
    }
    // SAFETY: the caller vouches for it.
    let path = unsafe { CStr::from_ptr(path) }.to_bytes();
    let fd = match path.strip_prefix(b"/proc/self/fd/") {
        Some(number) if flags & AT_SYMLINK_FOLLOW != 0 => {
            str::from_utf8(number).ok()?.parse().ok()?
        }
        None if path.is_empty() && flags & AT_EMPTY_PATH != 0 => dir,
        _ => return None,
    };
    of_fd(fd).map(|_| fd)
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
    // SAFETY: the caller vouches for the paths.
    if let Some(fd) = unsafe { open_file(from_dir, from, flags) } {
        // SAFETY: as above.
        let Some(place) = (unsafe { place(to_dir, to) }) else { return done(Err(Errno::EXDEV)) };
        let link = |disks: &Disks, to: &Path| {
            disks.blocking(Cost::Write, |disks| {
                disks.with(fd, |volume, of| volume.link_open(of, to))
            })
        };
        return done(place.and_then(|(disks, to)| link(&disks, &to)));
    }
    let link = |volume: &mut Volume, from: &Path, to: &Path| match flags & !AT_EMPTY_PATH {
        0 => volume.hard_link(from, to),
        AT_SYMLINK_FOLLOW => volume.canonicalize(from).and_then(|from| volume.hard_link(&from, to)),
        _ => Err(Errno::EINVAL),
    };
    // SAFETY: the caller vouches for the paths.
    unsafe { two([from_dir, to_dir], [from, to], Cost::Write, link) }
        .unwrap_or_else(|| system!(SYS_linkat, from_dir, from, to_dir, to, flags) as c_int)
}

/// # Safety
/// As of libc's `link`.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn link(from: *const c_char, to: *const c_char) -> c_int {
    // SAFETY: the arguments are the caller's, for the same call.
    unsafe { linkat(AT_FDCWD, from, AT_FDCWD, to, 0) }
}

/// # Safety
/// As of libc's `symlinkat`: both paths end in a zero.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn symlinkat(
    target: *const c_char,
    dir: c_int,
    path: *const c_char,
) -> c_int {
    // SAFETY: the caller vouches for the path.
    match unsafe { place(dir, path) } {
        Some(_) if !is_place(target, 1) => done(Err(Errno::EFAULT)),
        Some(found) => {
            // SAFETY: the caller vouches for it.
            let target = unsafe { CStr::from_ptr(target) }.to_bytes();
            let target = Path::new(OsStr::from_bytes(target));
            changes(found, Cost::Write, |volume, at| volume.symlink(target, at))
        }
        None => system!(SYS_symlinkat, target, dir, path) as c_int,
    }
}

/// # Safety
/// As of libc's `symlink`.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn symlink(target: *const c_char, path: *const c_char) -> c_int {
    // SAFETY: the arguments are the caller's, for the same call.
    unsafe { symlinkat(target, AT_FDCWD, path) }
}

// ------------------------------------------------------------ looks

/// # Safety
/// As of libc's `faccessat`.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn faccessat(
    dir: c_int,
    path: *const c_char,
    mode: c_int,
    flags: c_int,
) -> c_int {
    // SAFETY: the caller vouches for the path.
    if let Some(found) = unsafe { seen(dir, path) } {
        let wants = |bit: c_int| mode & bit != 0;
        let known = AT_SYMLINK_NOFOLLOW | libc::AT_EACCESS | AT_EMPTY_PATH;
        if mode & !(libc::R_OK | libc::W_OK | libc::X_OK) != 0 || flags & !known != 0 {
            return done(Err(Errno::EINVAL));
        }
        let ask = |volume: &mut Volume, at: &Path| {
            if flags & AT_SYMLINK_NOFOLLOW != 0
                && volume.symlink_metadata(at)?.kind == FileKind::Symlink
            {
                // Whoever finds it may do everything with it.
                return Ok(());
            }
            volume.access(at, wants(libc::R_OK), wants(libc::W_OK), wants(libc::X_OK))
        };
        let asked = found.and_then(|(disks, at)| match look(&disks, |volume| ask(volume, &at)) {
            Err(errno) if is_input(&at, errno) => Ok(None),
            outcome => outcome.map(Some),
        });
        match asked {
            Ok(None) => {}
            asked => return done(asked.map(|_| ())),
        }
    }
    match flags {
        0 => system!(SYS_faccessat, dir, path, mode) as c_int,
        _ => {
            real!(faccessat: fn(c_int, *const c_char, c_int, c_int) -> c_int, dir, path, mode, flags)
        }
    }
}

/// # Safety
/// As of libc's `access`.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn access(path: *const c_char, mode: c_int) -> c_int {
    // SAFETY: the arguments are the caller's, for the same call.
    unsafe { faccessat(AT_FDCWD, path, mode, 0) }
}

/// Writes as much of a path as there is place for.
///
/// # Safety
/// `to` is valid for writes of `len` bytes, where it [is a place](is_place).
unsafe fn tell(path: &Path, to: *mut c_char, len: size_t) -> Outcome<usize> {
    if len == 0 {
        return Err(Errno::EINVAL);
    }
    if !is_place(to, len) {
        return Err(Errno::EFAULT);
    }
    let path = path.as_os_str().as_bytes();
    let len = path.len().min(len);
    // SAFETY: the caller vouches for the place.
    unsafe { to.cast::<u8>().copy_from_nonoverlapping(path.as_ptr(), len) };
    Ok(len)
}

/// # Safety
/// As of libc's `readlinkat`: the path ends in a zero, `to` is valid for `len` bytes.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn readlinkat(
    dir: c_int,
    path: *const c_char,
    to: *mut c_char,
    len: size_t,
) -> ssize_t {
    // SAFETY: the caller vouches for the path.
    if let Some(fd) = unsafe { open_file(dir, path, AT_EMPTY_PATH) } {
        let read = |disks: &Disks| disks.with(fd, |volume, of| volume.read_open_link(of));
        let target = of_fd(fd).unwrap_or(Err(Errno::EBADF));
        let target = target.and_then(|disks| disks.blocking(Cost::Read, read));
        // SAFETY: the caller vouches for the place.
        return answer(target.and_then(|target| unsafe { tell(&target, to, len) })) as ssize_t;
    }
    // SAFETY: the caller vouches for the path.
    if let Some(found) = unsafe { seen(dir, path) } {
        let target = found.and_then(|(disks, at)| {
            match disks.blocking(Cost::Read, |disks| disks.names(|volume| volume.read_link(&at))) {
                Err(errno) if is_input(&at, errno) => Ok(None),
                outcome => outcome.map(Some),
            }
        });
        match target {
            Ok(None) => {}
            Err(errno) => return answer::<c_long>(Err(errno)) as ssize_t,
            // SAFETY: the caller vouches for the place.
            Ok(Some(target)) => return answer(unsafe { tell(&target, to, len) }) as ssize_t,
        }
    }
    system!(SYS_readlinkat, dir, path, to, len) as ssize_t
}

/// # Safety
/// As of libc's `readlink`.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn readlink(path: *const c_char, to: *mut c_char, len: size_t) -> ssize_t {
    // SAFETY: the arguments are the caller's, for the same call.
    unsafe { readlinkat(AT_FDCWD, path, to, len) }
}

/// See [`super::link_in`].
pub(super) fn link_in() {
    std::hint::black_box(unlinkat as *const ());
}
