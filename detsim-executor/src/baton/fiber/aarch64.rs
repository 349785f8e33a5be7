//! The change of stacks on AArch64.
//!
//! Owns: the registers that a call preserves, and that of the thread-locals, `tpidr_el0`. Does not own:
//! when stacks are changed (`fiber.rs`). Invariant: what [`jump`] and [`strand`] leave on a stack is the
//! same.
#![expect(unsafe_code, reason = "a change of stacks is written in assembly")]

use std::arch::naked_asm;
use std::mem::offset_of;

use super::linux::{AFLOAT, Fiber};

/// Whether the processor and the system have what it takes: user code may write `tpidr_el0` everywhere.
pub(super) fn is_possible() -> bool {
    true
}

/// Leaves the registers that a call preserves on the stack of the fiber in `x0`, and notes where.
macro_rules! leave_registers {
    () => {
        concat!(
            "sub sp, sp, 176\n",
            "stp x19, x20, [sp]\n",
            "stp x21, x22, [sp, 16]\n",
            "stp x23, x24, [sp, 32]\n",
            "stp x25, x26, [sp, 48]\n",
            "stp x27, x28, [sp, 64]\n",
            "stp x29, x30, [sp, 80]\n",
            "stp d8, d9, [sp, 96]\n",
            "stp d10, d11, [sp, 112]\n",
            "stp d12, d13, [sp, 128]\n",
            "stp d14, d15, [sp, 144]\n",
            "mrs x9, fpcr\n",
            "str x9, [sp, 160]\n",
            "mrs x9, tpidr_el0\n",
            "str x9, [x0, {locals}]\n",
            "mov x9, sp\n",
            "str x9, [x0, {stack}]\n",
        )
    };
}

/// Takes from the stack what [`leave_registers`] has left there.
macro_rules! take_registers {
    () => {
        concat!(
            "ldr x9, [sp, 160]\n",
            "msr fpcr, x9\n",
            "ldp d14, d15, [sp, 144]\n",
            "ldp d12, d13, [sp, 128]\n",
            "ldp d10, d11, [sp, 112]\n",
            "ldp d8, d9, [sp, 96]\n",
            "ldp x29, x30, [sp, 80]\n",
            "ldp x27, x28, [sp, 64]\n",
            "ldp x25, x26, [sp, 48]\n",
            "ldp x23, x24, [sp, 32]\n",
            "ldp x21, x22, [sp, 16]\n",
            "ldp x19, x20, [sp]\n",
            "add sp, sp, 176\n",
        )
    };
}

/// Leaves the registers that a call preserves on the stack of `from`, notes where, and takes those of
/// `to` from its own.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn jump(from: &Fiber, to: &Fiber) {
    naked_asm!(
        leave_registers!(),
        "ldr x9, [x1, {locals}]",
        "msr tpidr_el0, x9",
        "ldr x9, [x1, {stack}]",
        "mov sp, x9",
        take_registers!(),
        "ret",
        stack = const offset_of!(Fiber, stack),
        locals = const offset_of!(Fiber, locals),
    )
}

/// Leaves on the stack of this thread what [`jump`] takes from there, says so, and waits without it
/// until it is to take from it what `jump` has left there last.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn strand(me: &Fiber) {
    naked_asm!(
        leave_registers!(),
        // What is used from here on comes back from the stack; the system preserves it.
        "mov x19, x0",
        "add x20, x0, {afloat}",
        "mov w9, {yes}",
        // From this store on the stack is that of whoever jumps here.
        "stlr w9, [x20]",
        "mov x0, x20",
        "mov x1, {wake}",
        "mov x2, 1",
        "mov x3, 0",
        "mov x8, {futex}",
        "svc 0",
        // A debugger that stops the process ends the wait, too.
        "2:",
        "mov x0, x20",
        "mov x1, {wait}",
        "mov x2, {yes}",
        "mov x3, 0",
        "mov x8, {futex}",
        "svc 0",
        "ldar w9, [x20]",
        "cmp w9, {yes}",
        "b.eq 2b",
        "ldr x9, [x19, {stack}]",
        "mov sp, x9",
        take_registers!(),
        "ret",
        stack = const offset_of!(Fiber, stack),
        locals = const offset_of!(Fiber, locals),
        afloat = const offset_of!(Fiber, afloat),
        yes = const AFLOAT,
        futex = const libc::SYS_futex,
        wake = const libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
        wait = const libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
    )
}
