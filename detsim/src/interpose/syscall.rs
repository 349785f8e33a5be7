//! `syscall`: the door through which std and others make calls that libc has no function for.
//!
//! Owns: the symbol, and the raw call that everything is forwarded to. Does not own: what becomes of a
//! call inside of a run ([`super::futex`], [`super::entropy`]).
//!
//! A thread that waits where its task is dropped is unwound, from inside of these functions: they are
//! `C-unwind`, though their callers take them for functions that never unwind. What stands between is
//! std's (and parking_lot's) own few frames from a wait to the call, which have nothing to drop, so that
//! no cleanup is missed; the personality of one that had would end the process. Nothing else would ever
//! get a run back whose own thread waits for a lock that nobody gives back.
#![expect(unsafe_code, reason = "a function that libc's callers link to, and the call itself")]

use std::arch::asm;

use super::{entropy, fs, futex};

/// The six words of a call.
pub(super) type Words = [usize; 6];

/// libc's `syscall`. Its caller passes words in registers, whether or not the callee is variadic.
///
/// # Safety
/// As of the call that `number` names.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn syscall(
    number: libc::c_long,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
) -> libc::c_long {
    let words = [a, b, c, d, e, f];
    // SAFETY: the caller vouches for the words of its call, in each of these.
    let result = unsafe {
        match number {
            libc::SYS_futex => futex::call(words),
            libc::SYS_getrandom => entropy::call(words),
            libc::SYS_fcntl if detsim_fs::is_simulated(a as libc::c_int) => {
                return fs::control(a as libc::c_int, b as libc::c_int, c as libc::c_long).into();
            }
            libc::SYS_io_uring_setup => fs::no_ring(words),
            _ => raw(number, words),
        }
    };
    into_errno(result)
}

/// The system says what went wrong by a small negative number, libc by -1 and `errno`.
pub(super) fn into_errno(result: isize) -> libc::c_long {
    const ERRNO_MAX: isize = 4095;
    if !(-ERRNO_MAX..0).contains(&result) {
        return result as libc::c_long;
    }
    // SAFETY: the thread's own errno.
    unsafe { *libc::__errno_location() = -result as libc::c_int };
    -1
}

/// `fadvise64`, which gives its error as a number.
pub(super) fn advise(fd: libc::c_int, at: i64, len: i64, advice: libc::c_int) -> isize {
    let words = [fd as usize, at as usize, len as usize, advice as usize, 0, 0];
    // SAFETY: a hint about a descriptor touches no memory of the caller.
    unsafe { raw(libc::SYS_fadvise64, words) }
}

/// Makes the call. `errno` stays as it is.
///
/// # Safety
/// As of the call that `number` names.
#[cfg(target_arch = "x86_64")]
pub(super) unsafe fn raw(number: libc::c_long, [a, b, c, d, e, f]: Words) -> isize {
    let result: isize;
    // SAFETY: the caller vouches for the call; the registers are those that the system takes and
    // changes.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") a, in("rsi") b, in("rdx") c, in("r10") d, in("r8") e, in("r9") f,
            lateout("rcx") _, lateout("r11") _,
            options(nostack),
        );
    }
    result
}

/// Makes the call. `errno` stays as it is.
///
/// # Safety
/// As of the call that `number` names.
#[cfg(target_arch = "aarch64")]
pub(super) unsafe fn raw(number: libc::c_long, [a, b, c, d, e, f]: Words) -> isize {
    let result: isize;
    // SAFETY: the caller vouches for the call; the registers are those that the system takes.
    unsafe {
        asm!(
            "svc 0",
            inlateout("x0") a as isize => result,
            in("x1") b, in("x2") c, in("x3") d, in("x4") e, in("x5") f, in("x8") number,
            options(nostack),
        );
    }
    result
}
