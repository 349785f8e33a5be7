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
    NOTE_BYTES_MAX, OUTPUT_BYTES_MAX, RECORD_BYTES_MAX, Shared, forget, output_file,
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

/// Waits for the end of a child and returns its wait status.
pub(crate) fn wait(pid: i32) -> io::Result<i32> {
    let mut status = 0;
    loop {
        // SAFETY: `status` is valid for the write.
        if unsafe { libc::waitpid(pid, &raw mut status, 0) } == pid {
            return Ok(status);
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
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
