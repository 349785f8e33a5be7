//! Threads that take turns on one thread of the system.
//!
//! Owns: [`Fiber`], what a thread is while it does not run: a stack, and the register that its
//! thread-locals are found by. Does not own: who is next (`baton.rs`).
//!
//! A pooled thread is made by std like any other: with its own stack and guard page, its thread-locals,
//! its id and its name. It then gives its thread of the system up ([`Fiber::give_up`]), until it is to end
//! ([`Fiber::send_back`]): from there on the system's thread that drives the run goes on with its stack and
//! its thread-locals, and passing the baton is a jump ([`Fiber::switch_to`]) where two threads of the
//! system would need two calls and a change of address. Code that runs so can tell only by what the kernel
//! itself keeps for a thread: its number, its mask of signals, its processor time.
//!
//! Invariants: a fiber is jumped to only while it does not run, and by one thread; the thread of the
//! system that was given up takes no signal and does not touch its stack meanwhile; the register of the
//! thread-locals changes together with the stack, so that a thread always finds its own.
//!
//! That register can be written without the system on AArch64, and on x86-64 with Linux 5.9 or newer, unless
//! a tool such as valgrind says otherwise. Elsewhere every thread keeps its thread of the system: on other
//! systems and processors, with Linux before 5.9 on x86-64, under such a tool, for the threads that the program
//! itself starts, and where somebody asks for it ([`keep_threads_apart`]: under a debugger, and with
//! `DETSIM_IN_PROCESS=1`). A hold is then two hand-overs through the system and more instead of two jumps, six
//! microseconds instead of a fifth of one; runs are the same. What is written in a processor's own words is in
//! a file of its name.
#![cfg_attr(
    all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")),
    expect(unsafe_code, reason = "a change of stacks, and what its waits ask of the system")
)]

#[cfg(all(target_os = "linux", target_arch = "aarch64"))]
#[path = "fiber/aarch64.rs"]
mod processor;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[path = "fiber/x86_64.rs"]
mod processor;

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
pub(super) use everywhere::Fiber;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(super) use linux::Fiber;

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Whether pooled threads that are made from now on are to be fibers, where they can be.
static WANTED: AtomicBool = AtomicBool::new(true);

/// Has every thread that is made from now on keep its thread of the system, as debuggers like it. What
/// runs do is the same, and takes longer.
pub fn keep_threads_apart() {
    WANTED.store(false, Relaxed);
}

/// Whether a thread that is made now is to give its thread of the system up.
pub(super) fn are_wanted() -> bool {
    WANTED.load(Relaxed) && Fiber::is_possible()
}

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod linux {
    use std::ptr;
    use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::*};

    use super::processor;

    /// A thread that does not run.
    #[derive(Debug)]
    #[repr(C)]
    pub(in crate::baton) struct Fiber {
        /// Where its stack ends: what [`processor::jump`] has put there is on top.
        pub(super) stack: AtomicUsize,
        /// What the register of the thread-locals is to hold.
        pub(super) locals: AtomicUsize,
        /// Whether it may be jumped to: [`AFLOAT`] from the moment on when nobody else is on its stack.
        pub(super) afloat: AtomicU32,
    }

    const ASHORE: u32 = 0;
    pub(super) const AFLOAT: u32 = 1;
    /// The thread of the system is to take its stack back.
    const BACK: u32 = 2;

    impl Fiber {
        /// Of a thread that is about to start.
        pub(in crate::baton) const fn starting() -> Self {
            Self::new(ASHORE)
        }

        /// Of a thread that drives runs: it is on its own stack whenever it does not wait for the baton.
        pub(in crate::baton) const fn driving() -> Self {
            Self::new(AFLOAT)
        }

        const fn new(afloat: u32) -> Self {
            Self {
                stack: AtomicUsize::new(0),
                locals: AtomicUsize::new(0),
                afloat: AtomicU32::new(afloat),
            }
        }

        /// Whether the processor and the system have what it takes.
        pub(in crate::baton) fn is_possible() -> bool {
            processor::is_possible()
        }

        /// Stops here, and comes back when this fiber is jumped to.
        pub(in crate::baton) fn switch_to(&self, to: &Self) {
            to.await_afloat();
            // SAFETY: `self` is what runs, and `to` does not: it waits for the baton, which is the
            // caller's until the jump. It has been jumped from or given up before, so that what lies on
            // top of its stack is what `jump` takes from there.
            unsafe { processor::jump(self, to) }
        }

        /// Gives the calling thread of the system up, and comes back, on another, when this fiber is
        /// jumped to for the first time.
        pub(in crate::baton) fn give_up(&self) {
            let every = u64::MAX;
            let none = ptr::null_mut::<u64>();
            // SAFETY: the call reads the 8 bytes that it is told of. It is made bare, since the C library
            // would leave out two signals of its own: a handler of theirs, too, would run on a stack
            // that is somebody else's.
            unsafe {
                libc::syscall(
                    libc::SYS_rt_sigprocmask,
                    libc::SIG_BLOCK,
                    &raw const every,
                    none,
                    size_of_val(&every),
                );
            }
            // SAFETY: the fiber is this thread's, and nothing has jumped to it: it is not afloat. No signal
            // is taken from here on.
            unsafe { processor::strand(self) }
        }

        /// The fiber, which does not run, goes on where it stopped, on the thread of the system that it
        /// gave up; and is jumped to no more.
        pub(in crate::baton) fn send_back(&self) {
            self.await_afloat();
            self.afloat.store(BACK, Release);
            self.futex(libc::FUTEX_WAKE, 1);
        }

        /// The thread has ended: it is from now on of one that is about to start.
        pub(in crate::baton) fn renew(&self) {
            self.afloat.store(ASHORE, Relaxed);
        }

        fn await_afloat(&self) {
            while self.afloat.load(Acquire) == ASHORE {
                self.futex(libc::FUTEX_WAIT, ASHORE);
            }
        }

        /// Every way in which the call can fail means: look at the word again.
        fn futex(&self, operation: libc::c_int, value: u32) {
            let operation = operation | libc::FUTEX_PRIVATE_FLAG;
            let (word, no_timeout) = (self.afloat.as_ptr(), ptr::null::<libc::timespec>());
            // SAFETY: the word lives as long as `self`; the call writes to no memory.
            unsafe {
                libc::syscall(libc::SYS_futex, word, operation, value, no_timeout);
            }
        }
    }
}

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod everywhere {
    /// No thread is one here.
    #[derive(Debug)]
    pub(in crate::baton) struct Fiber(());

    impl Fiber {
        pub(in crate::baton) const fn starting() -> Self {
            Self(())
        }

        pub(in crate::baton) const fn driving() -> Self {
            Self(())
        }

        pub(in crate::baton) fn is_possible() -> bool {
            false
        }

        pub(in crate::baton) fn switch_to(&self, _: &Self) {
            unreachable!("detsim bug: a jump to a thread that is no fiber");
        }

        pub(in crate::baton) fn give_up(&self) {
            unreachable!("detsim bug: a thread that can be no fiber is to be one");
        }

        pub(in crate::baton) fn send_back(&self) {
            unreachable!("detsim bug: a thread that is no fiber is sent back");
        }

        pub(in crate::baton) fn renew(&self) {}
    }
}
