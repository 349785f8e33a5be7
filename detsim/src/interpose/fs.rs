//! Files: what libc's calls of a run do is done on the simulated disk of its node.
//!
//! Owns: which calls are the simulation's (this file), and the functions themselves: those on paths
//! (`fs/paths.rs`) and on paths within a directory (`fs/at.rs`), on descriptors (`fs/descriptors.rs`) and
//! with several parts (`fs/vectors.rs`), that copy (`fs/copies.rs`), on streams of directories (`fs/directories.rs`), on whole disks
//! (`fs/whole.rs`), on FIFOs (`fs/fifo.rs`), their names without a 64 (`fs/narrow.rs`), and what they hand
//! back (`fs/shapes.rs`). Does not own: what a call does, which is `detsim_fs`'s.
//!
//! A call is the simulation's where the thread that makes it drives a run and stands in no section of
//! the kernel, and where the descriptor is one of a simulated disk, or the path is. Every path is,
//! but for those of the system (`/proc`, `/usr`, ..); `/dev/shm` is a file system of its own, in memory. The directory that the process was started in
//! is on every disk, empty; what is only looked at there, or beside the program, and was never
//! written by the run, is the real file: the inputs of a test.
//!
//! A call takes virtual time, and its task may be stopped before it; where the task is dropped meanwhile,
//! the call fails with `EIO`. Only a task that goes on calling all the same is unwound from here in the
//! end, as from `syscall`, which says why that is so bad a thing.
//!
//! Invariants: outside a run every function does what libc's does; no function panics, takes a lock
//! or allocates on that way, so that a frozen worker and a signal handler may call it.

#![expect(unsafe_code, reason = "functions that libc's callers link to")]

mod at;
mod copies;
mod descriptors;
mod directories;
mod fifo;
mod narrow;
mod paths;
mod ranges;
mod shapes;
pub(super) mod vectors;
mod whole;

use std::ffi::{CStr, OsStr};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::OnceLock;

use detsim_executor::{context, threads};
use detsim_fs::{Cost, Disks, Errno, Handle, Outcome, SHARED_MEMORY, Volume, is_simulated};
pub(super) use fifo::set_waits;
use libc::{c_char, c_int, c_long};
pub(super) use paths::system;

/// Directories whose files are the system's, in a run too.
const OF_SYSTEM: [&str; 10] =
    ["/bin", "/dev", "/etc", "/lib", "/lib64", "/nix", "/opt", "/proc", "/sys", "/usr"];

/// Where the inputs of a program are.
struct Own {
    /// The directory that the process was started in.
    home: PathBuf,
    /// The directory of the program itself.
    program: PathBuf,
}

fn own() -> &'static Own {
    static OWN: OnceLock<Own> = OnceLock::new();
    let _ours = threads::outside();
    OWN.get_or_init(|| Own {
        home: current_dir().unwrap_or_else(|| PathBuf::from("/")),
        program: program().unwrap_or_else(|| PathBuf::from("/proc")),
    })
}

fn current_dir() -> Option<PathBuf> {
    let mut buf = vec![0_u8; libc::PATH_MAX as usize];
    // SAFETY: the buffer is valid for its length.
    let len = unsafe { libc::syscall(libc::SYS_getcwd, buf.as_mut_ptr(), buf.len()) };
    // The length counts the zero at the end.
    buf.truncate(usize::try_from(len).ok()?.checked_sub(1)?);
    Some(PathBuf::from(std::ffi::OsString::from_vec(buf)))
}

fn program() -> Option<PathBuf> {
    let mut buf = vec![0_u8; libc::PATH_MAX as usize];
    let path = c"/proc/self/exe".as_ptr();
    // SAFETY: the path ends in a zero, the buffer is valid for its length.
    let len = unsafe {
        libc::syscall(libc::SYS_readlinkat, libc::AT_FDCWD, path, buf.as_mut_ptr(), buf.len())
    };
    buf.truncate(usize::try_from(len).ok()?);
    PathBuf::from(std::ffi::OsString::from_vec(buf)).parent().map(Path::to_owned)
}

/// The disks of the run that this thread drives; `None` where a call is the system's.
pub(crate) fn disks() -> Option<Rc<Disks>> {
    context::glance(|_| ())?;
    if threads::is_outside() {
        return None;
    }
    let disks = Disks::current()?;
    disks.set_home_once(|| own().home.clone());
    Some(disks)
}

/// The disks, where the path is one of theirs.
///
/// # Safety
/// `path` is null or ends in a zero.
unsafe fn of_path<'a>(path: *const c_char) -> Option<(Rc<Disks>, &'a Path)> {
    if !is_place(path, 1) {
        return None;
    }
    let disks = disks()?;
    // SAFETY: the caller vouches for it.
    let path = Path::new(OsStr::from_bytes(unsafe { CStr::from_ptr(path) }.to_bytes()));
    let is_systems =
        OF_SYSTEM.iter().any(|dir| path.starts_with(dir)) && !path.starts_with(SHARED_MEMORY);
    (!is_systems).then_some((disks, path))
}

/// Can a program have so many bytes there? None has any in the first page, and no call looks there; none has
/// anything in the system's half of all addresses.
fn is_place<T>(at: *const T, bytes: usize) -> bool {
    const FIRST: usize = 4096;
    let end = at.addr().checked_add(bytes).and_then(|end| isize::try_from(end).ok());
    end.is_some() && (bytes == 0 || at.addr() >= FIRST)
}

/// Writes to a place of the caller's.
///
/// # Safety
/// `to` is valid for writes, where it [is a place](is_place).
unsafe fn put<T>(to: *mut T, value: T) -> Outcome<()> {
    if !is_place(to, size_of::<T>()) {
        return Err(Errno::EFAULT);
    }
    // SAFETY: the caller vouches for it.
    unsafe { to.write(value) };
    Ok(())
}

/// The disks, where the descriptor is one of theirs.
fn of_fd(fd: c_int) -> Option<Outcome<Rc<Disks>>> {
    is_simulated(fd).then(|| disks().ok_or(Errno::EBADF))
}

/// A call on an open file.
fn on_file<R>(
    disks: &Disks,
    fd: c_int,
    cost: Cost,
    f: impl FnOnce(&mut Volume, Handle) -> Outcome<R>,
) -> Outcome<R> {
    disks.blocking(cost, |disks| disks.with(fd, f))
}

/// Is it the real file that is to be looked at, since the run has none of this name?
fn is_input(path: &Path, errno: Errno) -> bool {
    if !matches!(errno, Errno::ENOENT | Errno::ENOTDIR) {
        return false;
    }
    let Own { home, program } = own();
    path.is_relative() || path.starts_with(home) || path.starts_with(program)
}

/// Is there an input where the run has nothing, so that a look at it is the system's, and no part of
/// the run? What looks up the places of a stack reads the program so, once in a process.
fn is_of_system(disks: &Disks, path: &Path) -> bool {
    let known = disks.names(|volume| volume.symlink_metadata(path));
    known.err().is_some_and(|errno| is_input(path, errno))
}

/// Makes the directories on the disk that a new file needs and that are there in reality, below the
/// directory that the process was started in. True where there are any.
fn take_up_parents(disks: &Disks, path: &Path) -> bool {
    let path = own().home.join(path);
    path.starts_with(&own().home) && take_up_parents_anywhere(disks, &path)
}

/// The same, wherever the directories are.
pub(crate) fn take_up_parents_anywhere(disks: &Disks, path: &Path) -> bool {
    let path = own().home.join(path);
    let Some(parent) = path.parent().filter(|parent| is_real_dir(parent)) else { return false };
    let mut above: Vec<&Path> = parent.ancestors().collect();
    above.reverse();
    disks.names(|volume| {
        let made = |dir: &&Path| volume.create_dir(dir, 0o755).is_ok();
        above.into_iter().filter(made).count() > 0
    })
}

fn is_real_dir(path: &Path) -> bool {
    let Ok(path) = std::ffi::CString::new(path.as_os_str().as_bytes()) else { return false };
    let flags = libc::O_PATH | libc::O_DIRECTORY | libc::O_CLOEXEC;
    // SAFETY: the path ends in a zero; the descriptor is closed at once.
    unsafe {
        let fd = libc::syscall(libc::SYS_openat, libc::AT_FDCWD, path.as_ptr(), flags, 0);
        fd >= 0 && libc::syscall(libc::SYS_close, fd) == 0
    }
}

/// `fcntl` on a simulated file, by its number.
pub(super) fn control(fd: c_int, what: c_int, argument: c_long) -> c_int {
    descriptors::fcntl(fd, what, argument)
}

/// `ioctl` on a simulated file, which is no device; `None` for what is the system's.
pub(super) fn no_device(fd: c_int) -> Option<c_int> {
    let refused = |disks: Rc<Disks>| disks.with(fd, |_, _| Err(Errno::ENOTTY));
    of_fd(fd).map(|disks| done(disks.and_then(refused)))
}

/// `io_uring_setup`: a ring would pass by the simulation. Of a run it is refused, as by a kernel that has
/// none, and named.
///
/// # Safety
/// As of the call.
pub(super) unsafe fn no_ring(words: super::syscall::Words) -> isize {
    if disks().is_none() {
        // SAFETY: the caller vouches for its call.
        return unsafe { super::syscall::raw(libc::SYS_io_uring_setup, words) };
    }
    let _ours = threads::outside();
    crate::console::announce(
        "detsim: io_uring is not simulated; the call fails with ENOSYS; have the program use plain files",
    );
    -(libc::ENOSYS as isize)
}

/// A number for the caller: -1 with `errno` set where it failed.
fn answer<T: TryInto<c_long>>(outcome: Outcome<T>) -> c_long {
    match outcome {
        Ok(number) => number.try_into().unwrap_or(c_long::MAX),
        Err(errno) => {
            set_errno(errno.raw());
            -1
        }
    }
}

/// As [`answer`], for calls that give nothing but success.
fn done(outcome: Outcome<()>) -> c_int {
    answer(outcome.map(|()| 0)) as c_int
}

fn set_errno(errno: c_int) {
    // SAFETY: the place is this thread's own.
    unsafe { *libc::__errno_location() = errno };
}

/// Has the linker take these functions, where nothing else of their file is used.
pub(crate) fn link_in() {
    at::link_in();
    copies::link_in();
    descriptors::link_in();
    directories::link_in();
    fifo::link_in();
    narrow::link_in();
    paths::link_in();
    vectors::link_in();
    whole::link_in();
    super::net::link_in();
}

#[cfg(test)]
mod by_libc;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod waits;
#[cfg(test)]
mod worlds;
