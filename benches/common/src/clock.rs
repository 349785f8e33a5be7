//! CPU time and resident memory of this process, asked of the kernel directly, and its CPU.
//!
//! Invariant: nothing here goes through libc's `clock_gettime`. Simulators define that symbol
//! themselves to serve virtual time, and one of the peers refuses the CPU clocks.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};

/// CPU time that this process has used so far, all threads, user and system, in nanoseconds.
#[must_use]
pub fn cpu_ns() -> u64 {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    used.tv_sec.unsigned_abs() * 1_000_000_000 + used.tv_nsec.unsigned_abs()
}

/// Keeps this process, with the threads that it will have, on one CPU: the first that it may use, or
/// wherever it runs where the system refuses. A worker of detsim's sweep is kept so, and threads that take
/// turns cost several times as much on two.
pub fn stay_on_one_cpu() {
    let Ok(allowed) = sched_getaffinity(None) else { return };
    let first = (0..CpuSet::MAX_CPU).find(|cpu| allowed.is_set(*cpu));
    let mut one = CpuSet::new();
    first.into_iter().for_each(|cpu| one.set(cpu));
    // Refused, it costs precision and nothing else.
    let _refused = sched_setaffinity(None, &one);
}

/// Memory of this process that is resident now, in bytes.
///
/// # Panics
/// Where `/proc/self/statm` does not exist or does not read as Linux writes it.
#[must_use]
pub fn resident_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").expect("the memory checks need /proc");
    let pages = text.split_whitespace().nth(1).expect("statm's second field is the resident pages");
    let page_size = rustix::param::page_size() as u64;
    pages.parse::<u64>().expect("statm holds whole numbers") * page_size
}
