//! Between fork and exec of a worker, and the placing of it.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// The base of memory mappings depends on it, so it is the same for every worker.
const STACK_BYTES: libc::rlim_t = 8 << 20;

/// Makes `command` start a process whose addresses repeat, which dies with the calling thread,
/// and which finds `link` at the descriptor `at`.
pub(crate) fn isolate(command: &mut Command, link: OwnedFd, at: RawFd) {
    let before_exec = move || {
        place(link.as_raw_fd(), at)?;
        // SAFETY: prctl with these arguments touches no memory of ours.
        unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
        repeat_addresses();
        Ok(())
    };
    // SAFETY: the closure runs in the forked child and makes plain system calls only: it neither
    // allocates nor locks.
    unsafe { command.pre_exec(before_exec) };
}

/// Moves a descriptor to a number, and lets it survive exec.
fn place(fd: RawFd, at: RawFd) -> io::Result<()> {
    // SAFETY: dup2 and fcntl work on any number and fail on a bad one. Whatever was at `at` in
    // this forked child is meant to be closed.
    let placed = unsafe { libc::dup2(fd, at) >= 0 && libc::fcntl(at, libc::F_SETFD, 0) >= 0 };
    if placed { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Fixes what addresses depend on. Where that is refused, the worker finds out by itself.
fn repeat_addresses() {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is valid for both calls; personality takes plain numbers.
    unsafe {
        libc::personality((libc::personality(ASK) | libc::ADDR_NO_RANDOMIZE) as libc::c_ulong);
        if libc::getrlimit(libc::RLIMIT_STACK, &raw mut limit) == 0 {
            limit.rlim_cur = STACK_BYTES.min(limit.rlim_max);
            libc::setrlimit(libc::RLIMIT_STACK, &raw const limit);
        }
    }
}

/// The argument that only asks for the present personality.
const ASK: libc::c_ulong = 0xffff_ffff;

/// Whether this process was started with addresses that repeat.
pub(crate) fn addresses_repeat() -> bool {
    // SAFETY: asking has no precondition.
    unsafe { libc::personality(ASK) & libc::ADDR_NO_RANDOMIZE != 0 }
}

/// Takes over the connection that [`isolate`] left at `fd`.
///
/// # Errors
/// Where there is none: the variable that named it was not set by a parent.
pub(crate) fn take_link(fd: RawFd) -> io::Result<UnixStream> {
    // SAFETY: fcntl works on any number and fails on a bad one.
    if unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) } < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is open, and was placed for this process's sole use by `isolate`.
    Ok(unsafe { UnixStream::from_raw_fd(fd) })
}

/// The processors that this process may use, in order.
pub(crate) fn allowed_cpus() -> Vec<usize> {
    // SAFETY: a cpu_set_t is an array of words, for which zero is a valid value; the call writes at
    // most its size.
    let set = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::sched_getaffinity(0, size_of_val(&set), &raw mut set);
        set
    };
    // SAFETY: the index is below the size of the set.
    (0..libc::CPU_SETSIZE as usize).filter(|cpu| unsafe { libc::CPU_ISSET(*cpu, &set) }).collect()
}

/// Keeps a thread of any process on one processor. A refusal costs speed only.
pub(crate) fn pin(thread: i32, cpu: usize) {
    // SAFETY: zero is a valid cpu_set_t; CPU_SET checks its index; the call reads the set only.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpu, &mut set);
        libc::sched_setaffinity(thread, size_of_val(&set), &raw const set);
    }
}
