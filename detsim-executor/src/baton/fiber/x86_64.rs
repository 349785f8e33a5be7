//! The change of stacks on x86-64.
//!
//! Owns: the registers that a call preserves, and that of the thread-locals, `fs`. Does not own: when
//! stacks are changed (`fiber.rs`). Invariant: what [`jump`] and [`strand`] leave on a stack is the same.
#![expect(unsafe_code, reason = "a change of stacks is written in assembly")]

use std::arch::naked_asm;
use std::mem::offset_of;

use super::linux::{AFLOAT, Fiber};

/// Of `AT_HWCAP2`: user code may write the bases of `fs` and `gs`.
const FSGSBASE: libc::c_ulong = 1 << 1;

/// Whether the processor and the system have what it takes.
pub(super) fn is_possible() -> bool {
    // SAFETY: the call reads what the system has told the process at its start.
    unsafe { libc::getauxval(libc::AT_HWCAP2) & FSGSBASE != 0 }
}

/// Leaves the registers that a call preserves on the stack of the fiber in `rdi`, and notes where.
macro_rules! leave_registers {
    () => {
        concat!(
            "push rbp\n",
            "push rbx\n",
            "push r12\n",
            "push r13\n",
            "push r14\n",
            "push r15\n",
            "sub rsp, 8\n",
            "stmxcsr [rsp]\n",
            "fnstcw [rsp + 4]\n",
            "rdfsbase rax\n",
            "mov [rdi + {locals}], rax\n",
            "mov [rdi + {stack}], rsp\n",
        )
    };
}

/// Takes from the stack what [`leave_registers`] has left there.
macro_rules! take_registers {
    () => {
        concat!(
            "fldcw [rsp + 4]\n",
            "ldmxcsr [rsp]\n",
            "add rsp, 8\n",
            "pop r15\n",
            "pop r14\n",
            "pop r13\n",
            "pop r12\n",
            "pop rbx\n",
            "pop rbp\n",
        )
    };
}

/// Leaves the registers that a call preserves on the stack of `from`, notes where, and takes those of
/// `to` from its own.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn jump(from: &Fiber, to: &Fiber) {
    naked_asm!(
        leave_registers!(),
        "mov rax, [rsi + {locals}]",
        "wrfsbase rax",
        "mov rsp, [rsi + {stack}]",
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
        // From this store on the stack is that of whoever jumps here.
        "mov r8, rdi",
        "lea rdi, [rdi + {afloat}]",
        "mov dword ptr [rdi], {yes}",
        "mov eax, {futex}",
        "mov esi, {wake}",
        "mov edx, 1",
        "xor r10d, r10d",
        "syscall",
        // A debugger that stops the process ends the wait, too.
        "2:",
        "mov eax, {futex}",
        "mov esi, {wait}",
        "mov edx, {yes}",
        "xor r10d, r10d",
        "syscall",
        "cmp dword ptr [rdi], {yes}",
        "je 2b",
        "mov rsp, [r8 + {stack}]",
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
