//! What a forked child does before and after its run.

use std::fs::{self, File};
use std::os::fd::AsRawFd;

/// Ties the child to its worker and keeps its mapped memory below `mapped_bytes_max`.
pub(crate) fn adopt_by(worker: i32, mapped_bytes_max: u64) {
    // SAFETY: prctl and getppid take and give plain numbers.
    let orphaned = unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        libc::getppid() != worker
    };
    if orphaned {
        exit_now(1);
    }
    let limit = libc::rlimit { rlim_cur: mapped_bytes_max, rlim_max: mapped_bytes_max };
    // SAFETY: `limit` is valid for the read. It is refused where a tighter one holds already.
    unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) };
}

/// What this process has mapped: the start of any bound, because a sanitizer reserves terabytes.
pub(crate) fn mapped_bytes() -> u64 {
    let pages = fs::read_to_string("/proc/self/statm")
        .ok()
        .and_then(|line| line.split(' ').next().and_then(|pages| pages.parse::<u64>().ok()));
    // SAFETY: sysconf takes a plain number.
    let page_bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    pages.unwrap_or(0).saturating_mul(page_bytes as u64)
}

/// Lets everything that the process prints from now on go to `output`.
pub(crate) fn redirect_output(output: &File) {
    for standard in [libc::STDOUT_FILENO, libc::STDERR_FILENO] {
        // SAFETY: dup2 takes plain numbers; both descriptors stay open.
        unsafe { libc::dup2(output.as_raw_fd(), standard) };
    }
}

/// Ends the process at once: no destructor, no exit handler, no flush.
pub(crate) fn exit_now(code: i32) -> ! {
    // SAFETY: _exit may be called at any time, in a signal handler too.
    unsafe { libc::_exit(code) }
}
