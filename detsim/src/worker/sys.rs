//! The system calls of parent, worker and child: the only unsafe code of the sweep.
//!
//! Owns: one safe function or type for each thing that std cannot do. Does not own: when any of
//! them is called. Invariant: what a frozen worker calls between two forks allocates nothing and
//! takes no lock.

#![expect(unsafe_code, reason = "fork, personality, shared memory and signal handlers")]

mod child;
mod freeze;
mod launch;
mod shared;
mod watchdog;

pub(crate) use child::{adopt_by, exit_now, mapped_bytes, redirect_output};
pub(crate) use freeze::freeze_main_thread;
pub(crate) use launch::{addresses_repeat, allowed_cpus, isolate, pin, take_link};
pub(crate) use shared::{
    NOTE_BYTES_MAX, OUTPUT_BYTES_MAX, RECORD_BYTES_MAX, RECORDING_BYTES_MAX, Shared, forget,
    output_file,
};
pub(crate) use watchdog::watch;

use std::io;

/// Which side of a fork this is.
#[derive(Debug)]
pub(crate) enum Fork {
    Child,
    Parent(i32),
}

/// Forks the calling thread.
///
/// In the child only this thread exists; locks that other threads held stay held. The caller is a
/// frozen worker, whose other threads hold none.
pub(crate) fn fork() -> io::Result<Fork> {
    // SAFETY: fork has no precondition. The child runs on the copy of this thread's stack; glibc
    // re-initialises its own locks.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(Fork::Child),
        pid => Ok(Fork::Parent(pid)),
    }
}

/// How a child ended.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ChildEnd {
    /// Its wait status.
    pub(crate) status: i32,
    /// Processor time that it took.
    pub(crate) busy_ns: u64,
}

/// Waits for the end of a child.
pub(crate) fn wait(pid: i32) -> io::Result<ChildEnd> {
    let mut status = 0;
    // SAFETY: an rusage is made of numbers, for which zero is a valid value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    loop {
        // SAFETY: `status` and `usage` are valid for the writes.
        if unsafe { libc::wait4(pid, &raw mut status, 0, &raw mut usage) } == pid {
            let busy_ns = time_ns(usage.ru_utime) + time_ns(usage.ru_stime);
            return Ok(ChildEnd { status, busy_ns });
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

fn time_ns(time: libc::timeval) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1_000
}

/// Processor time of this process so far. Safe in a signal handler.
pub(crate) fn busy_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is valid for the write; clock_gettime is async-signal-safe.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// The kernel's ids of this process and of the calling thread.
pub(crate) fn ids() -> (i32, i32) {
    // SAFETY: neither call has a precondition.
    unsafe { (libc::getpid(), libc::gettid()) }
}

/// Makes every thread allocate from one heap, so that addresses do not depend on who came first.
pub(crate) fn one_heap() {
    #[cfg(target_env = "gnu")]
    // SAFETY: mallopt may be called at any time.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
        libc::mallopt(libc::M_MMAP_THRESHOLD, 128 << 10);
    }
}
